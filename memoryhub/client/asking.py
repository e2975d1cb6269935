"""Language models as callers bring them: a function or an object with the one method, awaited or not."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol


class Extracts(Protocol):
    """An object that reads conversations."""

    def extract(self, prompt: str, /) -> Awaitable[str] | str:
        """The model's answer."""


class Summarizes(Protocol):
    """An object that writes summaries."""

    def summarize(self, prompt: str, /) -> Awaitable[str] | str:
        """The model's answer."""


#: A question goes in, the model's answer comes out; any model will do.
type Ask = Callable[[str], Awaitable[str] | str]


async def asked(model: Any, prompt: str, method: str = "") -> str:
    """What the model answers; JSON that was read already is written again. ``method`` is what an object may call it."""
    ask = getattr(model, method, model) if method else model
    said = ask(prompt)
    answer = await said if inspect.isawaitable(said) else said
    return answer if isinstance(answer, str) else json.dumps(answer, default=str, ensure_ascii=False)
