"""Which turns of a conversation a model is shown again: newest first, tool calls whole (STM-02 … STM-11).

A window is a tail of the conversation, with two exceptions: system messages always stay, and so does the newest human
message, whatever the limits. An ai message and the results of its calls are one block: they come and go together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memories.rules.vocabulary import Role


@dataclass(frozen=True, slots=True)
class Item:
    """What windowing needs to know of a message: ``calls`` are ids an ai message asks for, ``answers`` is the one a
    tool's result belongs to."""

    role: Role
    tokens: int = 0
    calls: tuple[str, ...] = ()
    answers: str | None = None
    #: Whether it says something besides calling tools.
    speaks: bool = True


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """None means no limit. ``messages`` counts what is not a system message."""

    rounds: int | None = None
    tokens: int | None = None
    messages: int | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """The place of a message in the conversation; ``stripped`` when its calls are left out for want of results."""

    place: int
    stripped: bool = False


@dataclass(frozen=True, slots=True)
class _Block:
    """Messages that come and go together; decided by the place of the first."""

    kept: tuple[Kept, ...]
    tokens: int

    @property
    def start(self) -> int:
        return self.kept[0].place


def window(items: Sequence[Item], limits: WindowLimits) -> list[Kept]:
    """The messages to show, in the order of the conversation.

    In this order: the newest ``messages`` (STM-10), the last ``rounds``, a round starting at a human message (STM-08),
    whole blocks only (STM-04, STM-09), and of these the newest that fit ``tokens``.
    """
    said = [place for place, item in enumerate(items) if item.role is not Role.SYSTEM]
    newest_human = next((place for place in reversed(said) if items[place].role is Role.HUMAN), None)
    start = max(_start_by_messages(said, limits.messages), _start_by_rounds(items, said, limits.rounds))
    blocks = [block for block in _blocks(items, start) if block.start != newest_human]
    always = [Kept(place) for place, item in enumerate(items) if item.role is Role.SYSTEM or place == newest_human]
    spent = sum(items[one.place].tokens for one in always)
    kept = [one for block in _fitting(blocks, limits.tokens, spent) for one in block.kept]
    return sorted([*always, *kept], key=lambda one: one.place)


def _start_by_messages(said: Sequence[int], limit: int | None) -> int:
    return said[-limit] if limit is not None and len(said) > limit else 0


def _start_by_rounds(items: Sequence[Item], said: Sequence[int], limit: int | None) -> int:
    humans = [place for place in said if items[place].role is Role.HUMAN]
    return humans[-limit] if limit is not None and len(humans) >= limit else 0


def _fitting(blocks: Sequence[_Block], budget: int | None, spent: int) -> list[_Block]:
    """The newest blocks up to the first that does not fit: a hole in a conversation would mislead."""
    if budget is None:
        return list(blocks)
    kept: list[_Block] = []
    for block in reversed(blocks):
        spent += block.tokens
        if spent > budget:
            break
        kept.append(block)
    return kept


def _blocks(items: Sequence[Item], start: int) -> Iterator[_Block]:
    """Blocks that begin at ``start`` or later. Results whose call was cut off, or never made, belong to none."""
    results = _results(items)
    for place in range(start, len(items)):
        item = items[place]
        if item.role in {Role.SYSTEM, Role.TOOL}:
            continue
        answers = results.get(place, {})
        if not item.calls:
            yield _Block((Kept(place),), item.tokens)
        elif set(item.calls) <= set(answers):
            block = (place, *sorted(answers.values()))
            yield _Block(tuple(map(Kept, block)), sum(items[each].tokens for each in block))
        elif item.speaks:
            yield _Block((Kept(place, stripped=True),), item.tokens)


def _results(items: Sequence[Item]) -> dict[int, dict[str, int]]:
    """Place of an ai message → call id → place of its (first) result: that of the nearest earlier call of this id."""
    asked: dict[str, int] = {}
    found: dict[int, dict[str, int]] = {}
    for place, item in enumerate(items):
        asked |= dict.fromkeys(item.calls, place)
        if item.role is Role.TOOL and item.answers in asked:
            found.setdefault(asked[item.answers], {}).setdefault(item.answers, place)
    return found


def whole_until(items: Sequence[Item], place: int) -> int:
    """The last cut at or before ``place`` that separates no call from its result and keeps the newest human message
    after it (SUM-09): everything before the cut may be summarised."""
    humans = [each for each, item in enumerate(items) if item.role is Role.HUMAN]
    cut = min(place, humans[-1]) if humans else place
    spans = [(asked, max(answers.values())) for asked, answers in _results(items).items()]
    while torn := [asked for asked, last in spans if asked < cut <= last]:
        cut = min(torn)
    return max(cut, 0)
