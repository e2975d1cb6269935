"""The numbers of the first page that lead somewhere: tiles, what waits for a person, the first steps of a new vault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from banks.access import KeyScope
from memories.rules.plotscales import milliseconds, percent
from memories.rules.rollups import DAY, Fate, Metric, Stands
from memories.search.timing import WHOLE
from memories.web.addresses import Address
from memories.web.plots import calls_made

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from banks.access import Access
    from memories.search.statistics import Statistics
    from memories.services.inbox import Inbox
    from memories.services.reviewing import Waiting


@dataclass(frozen=True, slots=True)
class Tile:
    """One number, a word more, and the list behind it."""

    label: str
    icon: str
    number: str
    more: str
    url: str


@dataclass(frozen=True, slots=True)
class InboxLine:
    """So much waits, and where."""

    label: str
    icon: str
    count: int
    url: str
    hot: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a first run."""

    words: str
    more: str
    done: bool
    url: str
    link: str


def tiles(
    counts: Mapping[UUID, Mapping[str, int]], found: Statistics | None, inbox: Inbox | None, period: str
) -> list[Tile]:
    """What there is now, and what happened in the period."""
    listed = Address(reverse("memories"))
    stands = _summed(counts)
    put_away = stands.get(Stands.ARCHIVED, 0) + stands.get(Stands.SUPERSEDED, 0)
    given = [
        Tile("Active memories", "library", f"{stands.get(Stands.ACTIVE, 0):,}", "agents recall these", str(listed)),
        Tile("Archived", "archive", f"{put_away:,}", "replaced ones too", str(listed.having(archived="true"))),
    ]
    if found is not None:
        given += _of_period(found, period)
    if inbox is not None:
        going = "or running" if inbox.jobs_waiting else "nothing to do"
        given.append(Tile("Jobs waiting", "list-checks", f"{inbox.jobs_waiting:,}", going, reverse("jobs")))
    return given


def _of_period(found: Statistics, period: str) -> list[Tile]:
    here = reverse("overview")
    fates = {label: sum(values) for label, values in found.flow(Metric.CREATED).items()}
    added, erased = sum(fates.values()), fates.get(Stands.ERASED, 0)
    took, searches = found.overall(WHOLE), sum(found.measured_counts(WHOLE))
    written = {fate: sum(values) for fate, values in found.flow(Metric.WRITTEN).items()}
    writes, same = sum(written.values()), written.get(Fate.EXACT, 0) + written.get(Fate.NEAR, 0)
    made, skipped = calls_made(found)
    since = found.grid.since.strftime("%Y-%m-%d" if found.grid.step == DAY else "%Y-%m-%dT%H:%MZ")
    those = str(Address(reverse("memories")).having(status="any", archived="any", created_after=since))
    return [
        Tile("Added", "plus", f"{added:,}", f"in {period}" + (f", {erased:,} erased" if erased else ""), those),
        Tile("Searches", "search", f"{searches:,}", f"in {period}", reverse("recall")),
        Tile(
            "Recall, p95",
            "timer",
            milliseconds(took["p95"]),
            f"p50 {milliseconds(took['p50'])}",
            f"{here}#latency-card",
        ),
        Tile(
            "Duplicates",
            "copy",
            percent(100 * same / writes if writes else None),
            f"of {writes:,} write{'' if writes == 1 else 's'}",
            "#dedup-card",
        ),
        Tile("Model calls", "brain", f"{made:,}", f"{skipped:,} skipped", reverse("model_calls")),
    ]


def _summed(counts: Mapping[UUID, Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for of_bank in counts.values():
        for label, count in of_bank.items():
            found[label] = found.get(label, 0) + count
    return found


def inbox_lines(access: Access, inbox: Inbox, waiting: Waiting | None) -> list[InboxLine]:
    """What waits for a person; only what there is."""
    lines = []
    if waiting is not None:
        lines = [
            InboxLine("Drafts to review", "file-pen", waiting.drafts, reverse("review")),
            InboxLine("Possible duplicates", "copy", waiting.duplicates, reverse("review_duplicates")),
            InboxLine(
                "Contradictions", "triangle-alert", waiting.contradictions, reverse("review_contradictions"), True
            ),
        ]
    lines += [
        InboxLine("Clean-up plans to review", "brush-cleaning", inbox.plans, reverse("cleanup")),
        InboxLine("Jobs that failed for good", "circle-x", inbox.jobs_failed, reverse("jobs") + "?state=dead", True),
    ]
    if access.has(KeyScope.KEYS_ADMIN):
        ending = InboxLine("Keys that end within 14 days", "key-round", inbox.keys_expiring, reverse("keys"), True)
        lines.append(ending)
    return [line for line in lines if line.count]


def first_steps(access: Access, inbox: Inbox | None) -> list[Step]:
    """From an empty vault to the first memory, each with its page for whoever may open it."""
    keys, used = (inbox.keys, inbox.keys_used) if inbox else (0, 0)
    return [
        Step(
            "Make a key for your agent",
            f"{keys} key{'' if keys == 1 else 's'} can be used."
            if keys
            else "It is shown once, so have the agent ready.",
            keys > 0,
            reverse("keys") if access.has(KeyScope.KEYS_ADMIN) else "",
            "Keys",
        ),
        Step(
            "Connect it",
            "A key has been used: an agent has called."
            if used
            else "Copy the lines for your client into its settings.",
            used > 0,
            reverse("connect"),
            "Connect an agent",
        ),
        Step(
            "Remember something",
            "Let the agent write, or write the first one yourself.",
            False,
            reverse("new_memory") if access.has(KeyScope.MEMORIES_WRITE) else "",
            "Write one",
        ),
    ]
