"""A chat model for tests: it says what it was told to say and remembers what it was asked."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence

from pydantic import BaseModel

from memoryhub.providers.base import ProviderError
from memoryhub.providers.chat import ChatLimits, Completion, Turn, rough_tokens
from memoryhub.providers.reading import read_answer


class FakeChatModel:
    """Gives its scripted answers in order; an exception among them is raised. Without a script it fails."""

    name = "fake"
    model = "fake"

    def __init__(self, *answers: str | Exception) -> None:
        self._lock = threading.Lock()
        self._answers = deque(answers)
        self.asked: list[tuple[Turn, ...]] = []
        """The turns of every question so far."""

    def script(self, *answers: str | Exception) -> None:
        """Forget what was asked and answer like this from now on."""
        with self._lock:
            self._answers = deque(answers)
            self.asked = []

    def complete(self, turns: Sequence[Turn], limits: ChatLimits) -> Completion:
        """The next scripted answer. Raises ProviderError when nothing is scripted, or the scripted exception."""
        with self._lock:
            self.asked.append(tuple(turns))
            answer = self._answers.popleft() if self._answers else ProviderError("Nothing was scripted.")
        if isinstance(answer, Exception):
            raise answer
        tokens_in = sum(rough_tokens(turn.text) for turn in turns)
        return Completion(answer, tokens_in, rough_tokens(answer), self.model)

    def structured[T: BaseModel](
        self, turns: Sequence[Turn], schema: type[T], limits: ChatLimits
    ) -> tuple[T, Completion]:
        """The next scripted answer in the shape asked for, without a repair. Raises UnreadableAnswer."""
        completion = self.complete(turns, limits)
        return read_answer(completion.text, schema), completion
