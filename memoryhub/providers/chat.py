"""What a chat model is: two methods, whoever is behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from pydantic import BaseModel

from memoryhub.providers.base import ProviderError


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the question."""

    role: Literal["system", "user", "assistant"]
    text: str


def rough_tokens(text: str) -> int:
    """What a text may have cost where nobody says: four bytes a token."""
    return len(text.encode(errors="replace")) // 4 + 1


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back and what it cost; after a repair the tokens of both attempts."""

    text: str
    tokens_in: int
    tokens_out: int
    model: str


@dataclass(frozen=True, slots=True)
class ChatLimits:
    """How long an answer may be, in tokens, and how many seconds all of it may take (None: as configured)."""

    tokens: int = 2_048
    seconds: float | None = None


class UnreadableAnswer(ProviderError):
    """The model answered, but not with what was asked for; nothing was decided from it."""

    code = "unreadable_answer"

    def __init__(self, message: str | None = None, *, completion: Completion | None = None) -> None:
        super().__init__(message)
        self.completion = completion
        """What it cost all the same."""


@runtime_checkable
class ChatModel(Protocol):
    """Answers questions in words or in a given shape. Safe to share between threads."""

    @property
    def name(self) -> str:
        """The provider, as the ledger names it."""

    @property
    def model(self) -> str:
        """The model, as configured."""

    def complete(self, turns: Sequence[Turn], limits: ChatLimits) -> Completion:
        """The answer as text. Raises ProviderError."""

    def structured[T: BaseModel](
        self, turns: Sequence[Turn], schema: type[T], limits: ChatLimits
    ) -> tuple[T, Completion]:
        """The answer as ``schema``, asked for again once when it cannot be read (EXT-05, EXT-18).

        Raises UnreadableAnswer, ProviderError.
        """
