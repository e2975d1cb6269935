"""An answer of search taken apart for people: what each leg added to each hit, and what each stage took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from memories.rules.filters import SearchMode
from memories.web.forms import spoken
from memories.web.highlighting import Span, highlighted, shared_words
from memories.web.rows import ACTIVE, State, opened, state_of

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from banks.models import Bank
    from memories.rules.filters import SearchQuery
    from memories.rules.fusion import LegScore
    from memories.search.recall import Hit, SearchAnswer
    from memories.search.trace import Stage

#: Leg → the words for it. Their order is the order of their colours; one that is missing here is named by its own name.
LEGS = {
    "semantic": "Meaning",
    "keyword": "Words (BM25)",
    "keyword_window": "Words around it",
    "semantic_window": "Meaning around it",
    "coverage": "Share of the words",
    "phrase": "Phrases",
    "date": "Dates",
    "time": "Mentions a time",
    "author": "Who it is about",
    "first_person": "Said by themselves",
    "graph": "Links",
    "decay": "Age",
    "importance": "Importance",
    "confidence": "Confidence",
    "variety": "Variety",
}
STAGES = {
    "understand": "Understand filters",
    "keyword": "Find words",
    "embed": "Embed the question",
    "semantic": "Find meaning",
    "pool": "Read candidates",
    "rank": "Rank",
    "read": "Open the best",
}
MISSING = {"embeddings": "Meaning took no part: this vault keeps no vectors, or the embedder does not answer."}
HUES = 15


@dataclass(frozen=True, slots=True)
class Number:
    """Three digits to look at, all of them to be sure."""

    short: str
    full: str


@dataclass(frozen=True, slots=True)
class PartLine:
    """What one leg found and added; ``at`` and ``width`` place it in the bar, of 100."""

    label: str
    hue: str
    rank: int
    score: Number
    weight: Number
    added: Number
    at: float = 0.0
    width: float = 0.0


@dataclass(frozen=True, slots=True)
class HitLine:
    """One hit; ``moved`` says how it stands against the other search."""

    rank: int
    url: str
    text: list[Span] | None
    words: list[str]
    score: Number
    cosine: Number | None
    bank: Bank
    type: str
    trust: str
    created_at: dt.datetime
    state: State | None
    parts: list[PartLine]
    moved: str
    moved_tone: str

    @property
    def summary(self) -> str:
        """The bar in words."""
        return ", ".join(f"{part.label} {part.added.short}" for part in self.parts)


@dataclass(frozen=True, slots=True)
class StageLine:
    """One stage; ``at`` and ``width`` place it in the whole, of 100."""

    label: str
    ms: Number
    taken: int
    given: int
    at: float
    width: float


@dataclass(frozen=True, slots=True)
class Result:
    """One search as the lab shows it."""

    title: str
    label: str
    explanation: str
    hits: list[HitLine]
    stages: list[StageLine]
    took: Number
    missing: list[str]
    unreadable: int

    @property
    def count_text(self) -> str:
        """``3 memories``."""
        return f"{len(self.hits)} {'memory' if len(self.hits) == 1 else 'memories'}"


def result_of(title: str, query: SearchQuery, answer: SearchAnswer, other: SearchAnswer | None = None) -> Result:
    """The answer in lines; with ``other``, each hit says how it moved from there."""
    before = {hit.memory.pk: rank for rank, hit in enumerate(other.hits, start=1)} if other else None
    longest = max((sum(_positive(hit.legs)) for hit in answer.hits), default=0.0)
    return Result(
        title=title,
        label=_label(query, answer),
        explanation=_explanation(answer),
        hits=[
            _line(rank, hit, query, (answer.cosines.get(hit.memory.pk), longest), before)
            for rank, hit in enumerate(answer.hits, start=1)
        ],
        stages=_stages(answer.stages),
        took=number(answer.took_ms),
        missing=[MISSING.get(name, f"{spoken(name)} took no part.") for name in answer.degraded],
        unreadable=answer.unreadable,
    )


def number(value: float) -> Number:
    """Three significant digits, and all there are."""
    return Number(f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}", repr(value))


def _label(query: SearchQuery, answer: SearchAnswer) -> str:
    """``Keyword (24)``, ``Hybrid (24 + 31 → 40)``."""
    given = {stage.name: stage.given for stage in answer.stages}
    if "semantic" not in given:
        name = "Keyword" if query.mode == SearchMode.KEYWORD else "Keyword only"
        return f"{name} ({given.get('keyword', 0)})"
    return f"Hybrid ({given.get('keyword', 0)} + {given['semantic']} → {given.get('rank', len(answer.hits))})"


def _explanation(answer: SearchAnswer) -> str:
    """The numbers of the label in words."""
    given = {stage.name: stage.given for stage in answer.stages}
    by_words = f"{given.get('keyword', 0):,} found by words"
    if "semantic" not in given:
        return f"{by_words}; meaning took no part."
    ranked = given.get("rank", len(answer.hits))
    return f"{by_words} and {given['semantic']:,} by meaning; {ranked:,} different ones were ranked."


def legend_of(results: Sequence[Result]) -> list[PartLine]:
    """Each part that has a place in some bar, once, in the order of the bars."""
    seen = {part.label: part for result in results for hit in result.hits for part in hit.parts if part.width}
    order = [*LEGS.values()]
    return sorted(seen.values(), key=lambda part: order.index(part.label) if part.label in order else len(order))


def _line(
    rank: int, hit: Hit, query: SearchQuery, around: tuple[float | None, float], before: Mapping[UUID, int] | None
) -> HitLine:
    cosine, longest = around
    text = opened(hit.memory)
    spans = None if text is None else highlighted(text, query.query)
    state = state_of(hit.memory)
    moved, tone = _moved(rank, hit.memory.pk, before)
    return HitLine(
        rank=rank,
        url=reverse("memory", args=[hit.memory.pk]),
        text=spans,
        words=shared_words(spans or []),
        score=number(hit.score),
        cosine=None if cosine is None else number(cosine),
        bank=hit.memory.bank,
        type=hit.memory.type,
        trust=hit.memory.trust,
        created_at=hit.memory.event_at or hit.memory.created_at,
        state=None if state == ACTIVE else state,
        parts=_parts(hit.legs, longest),
        moved=moved,
        moved_tone=tone,
    )


def _moved(rank: int, memory_id: UUID, before: Mapping[UUID, int] | None) -> tuple[str, str]:
    if before is None:
        return "", ""
    if memory_id not in before:
        return "new", "note"
    steps = before[memory_id] - rank
    if not steps:
        return "same place", ""
    return (f"▲ up {steps}", "ok") if steps > 0 else (f"▼ down {-steps}", "warn")


def _place(name: str) -> int:
    return list(LEGS).index(name) if name in LEGS else len(LEGS)


def _positive(legs: Mapping[str, LegScore]) -> list[float]:
    return [max(leg.contribution, 0.0) for leg in legs.values()]


def _parts(legs: Mapping[str, LegScore], longest: float) -> list[PartLine]:
    """In the order of their colours, so that bars can be compared; what takes away has a line, no place in the bar."""
    lines, at = [], 0.0
    for name, leg in sorted(legs.items(), key=lambda item: _place(item[0])):
        width = round(100 * max(leg.contribution, 0.0) / longest, 3) if longest else 0.0
        lines.append(
            PartLine(
                label=LEGS.get(name, spoken(name)),
                hue=f"hue-{1 + _place(name) % HUES}",
                rank=leg.rank,
                score=number(leg.score),
                weight=number(leg.weight),
                added=number(leg.contribution),
                at=at,
                width=width,
            )
        )
        at = round(at + width, 3)
    return lines


def _stages(stages: Sequence[Stage]) -> list[StageLine]:
    whole = sum(stage.ms for stage in stages) or 1.0
    lines, at = [], 0.0
    for stage in stages:
        width = round(100 * stage.ms / whole, 3)
        lines.append(
            StageLine(
                label=STAGES.get(stage.name, spoken(stage.name)),
                ms=number(stage.ms),
                taken=stage.taken,
                given=stage.given,
                at=at,
                width=max(width, 0.5),
            )
        )
        at = round(at + width, 3)
    return lines
