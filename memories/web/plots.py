"""The plots of the overview, each from the same counts; what a plot says in words is written here too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memories.rules.plotscales import Tick, milliseconds, percent, time_ticks
from memories.rules.plotshapes import Stretch, shares, stretches
from memories.rules.rollups import Fate, Metric, rates
from memories.rules.vocabulary import GuardedService, GuardMode
from memories.search.timing import WHOLE
from memories.web.plotting import QUIET, Canvas, Plot, Series, Table, chosen
from memoryhub.lib.clock import now

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from banks.models import Bank
    from memories.rules.rollups import Grid
    from memories.search.statistics import Spell, Statistics

STANDS = {
    "active": ("Active", "tone-active"),
    "draft": ("Draft", "tone-draft"),
    "expired": ("Expired", "tone-expired"),
    "superseded": ("Replaced", "tone-superseded"),
    "archived": ("Archived", "tone-archived"),
    "discarded": ("Discarded", "tone-discarded"),
    "erased": ("Erased", "tone-erased"),
}
CALLS = {
    "ok": ("Answered", "tone-ok"),
    "error": ("Failed", "tone-failed"),
    "unreadable": ("Unreadable", "tone-unreadable"),
}
SKIPPED = {
    "guard_open": ("Skipped, guard open", "tone-guard"),
    "all_relevant": ("Skipped, near enough", "tone-all_relevant"),
    "nothing_new": ("Skipped, nothing new", "tone-nothing_new"),
    "shortcut": ("Skipped, a pattern said it", "tone-shortcut"),
    "no_model": ("Skipped, no model", "tone-no_model"),
}
ENDED = {
    "done": ("Done", "tone-done"),
    "put_back": ("Tried again", "tone-put_back"),
    "cancelled": ("Cancelled", "tone-cancelled"),
    "dead": ("Failed for good", "tone-failed"),
}
CLOCKS = {
    "": ("In store", "Memories in the store at the end of each step, by where they stood then."),
    "created": ("Stored", "Memories by when they were stored, and what has become of them since."),
    "mentioned": ("Mentioned", "Memories by the moment they tell of, and what has become of them since."),
    "recalled": ("Recalled", "Memories given to agents and people, each time it happened."),
}

GUARDS = {GuardedService.CHAT: "Language model", GuardedService.EMBEDDER: "Embedding service"}
_STAGES = ("understand", "keyword", "embed", "semantic", "pool", "rank", "model", "read")


def in_order(stages: Sequence[str]) -> list[str]:
    """The stages of a search in the order in which they run."""
    return sorted(stages, key=lambda stage: (_STAGES.index(stage) if stage in _STAGES else len(_STAGES), stage))


def memories_plot(found: Statistics, clock: str) -> Plot:
    """What the vault holds over time, or what came in, was told of or was asked for."""
    canvas = Canvas("memories", "Memories over time", found.grid)
    if clock:
        series = chosen(found.flow(Metric(clock)), STANDS)
        total = sum(sum(one.numbers) for one in series)
        if not total:
            return canvas.empty(f"Nothing was {clock} in this period.")
        return canvas.bars(series, f"{CLOCKS[clock][1]} {total:,.0f} in all.")
    series = chosen(found.level(Metric.STANDING), STANDS)
    if not series:
        return canvas.empty("Nothing has been stored yet.")
    ends = ", ".join(f"{one.numbers[-1]:,.0f} {one.name.lower()}" for one in series)
    return canvas.areas(series, f"{CLOCKS[''][1]} Now: {ends}.")


def latency_plot(found: Statistics, stage: str) -> Plot:
    """How long searches took: half, 95 and 99 in a hundred were quicker."""
    label = stage or WHOLE
    name = "Recall latency" if label == WHOLE else f"Recall latency: {label}"
    canvas = Canvas("latency", name, found.grid, written=milliseconds, marked=lambda value: milliseconds(value))
    percentiles = found.durations(label)
    looks = {"p50": "tone-first", "p95": "tone-second", "p99": "tone-third"}
    if not any(value is not None for value in percentiles["p50"]):
        return canvas.empty("No search has been timed in this period.")
    series = [Series(name, tone, percentiles[name]) for name, tone in looks.items()]
    overall = found.overall(label)
    said = ", ".join(f"{key} {milliseconds(value)}" for key, value in overall.items())
    behind = Series("searches", QUIET, found.measured_counts(label))
    plot = canvas.lines(series, f"Over the whole period: {said}.", behind=behind, log=True)
    legend = [
        replace(item, value=milliseconds(overall[item.name])) if item.name in overall else item for item in plot.legend
    ]
    return replace(plot, legend=tuple(legend))


def calls_plot(found: Statistics) -> Plot:
    """Questions to language models that were asked, and those that were not, by why."""
    canvas = Canvas("calls", "Model calls made and skipped", found.grid)
    series = chosen(found.flow(Metric.CALLED), CALLS) + chosen(found.flow(Metric.SKIPPED), SKIPPED)
    if not series:
        return canvas.empty("No model was needed in this period, so none was asked.")
    made, skipped = calls_made(found)
    return canvas.bars(series, f"{made:,} calls made, {skipped:,} skipped.")


def dedup_plot(found: Statistics) -> Plot:
    """How many of the writes said what was there already."""
    canvas = Canvas("dedup", "Duplicates among writes", found.grid, written=percent, marked=percent)
    written = found.flow(Metric.WRITTEN)
    totals = [sum(values) for values in zip(*written.values(), strict=True)]
    if not any(totals):
        return canvas.empty("Nothing has been written in this period. Writes are counted since this release.")
    none = [0] * len(totals)
    exact, near = (rates(written.get(fate, none), totals) for fate in (Fate.EXACT, Fate.NEAR))
    series = [Series("word for word", "tone-first", exact), Series("in other words", "tone-second", near)]
    same = sum(written.get(Fate.EXACT, none)) + sum(written.get(Fate.NEAR, none))
    said = f"{same:,} of {sum(totals):,} writes were duplicates ({percent(100 * same / sum(totals))})."
    return canvas.lines(series, said, behind=Series("writes", QUIET, totals))


def queue_plot(found: Statistics) -> Plot:
    """How jobs ended, and the most that waited at once."""
    canvas = Canvas("queue", "Jobs and queue", found.grid)
    series = chosen(found.flow(Metric.ENDED), ENDED)
    waiting = Series("most waiting at once", "tone-second", queue_depths(found))
    if not series and not any(waiting.numbers):
        return canvas.empty("No job has run or waited in this period.")
    if not series:
        return canvas.areas([waiting], f"At most {max(waiting.numbers):,.0f} jobs waited at once.")
    ended = ", ".join(f"{sum(one.numbers):,.0f} {one.name.lower()}" for one in series)
    return canvas.bars(series, f"{ended}; at most {max(waiting.numbers):,.0f} waited at once.", lines=[waiting])


def queue_depths(found: Statistics) -> list[int]:
    """The most jobs that waited or ran at once in each step, as far as it was seen."""
    ends = found.level(Metric.WAITING)
    peaks = found.flow(Metric.PEAK).get("", [0] * len(found.grid.starts))
    return [max(peak, sum(each[place] for each in ends.values()), 0) for place, peak in enumerate(peaks)]


def calls_made(found: Statistics) -> tuple[int, int]:
    """Calls made and calls skipped."""
    made, skipped = (sum(map(sum, found.flow(metric).values())) for metric in (Metric.CALLED, Metric.SKIPPED))
    return made, skipped


@dataclass(frozen=True, slots=True)
class Lane:
    """One guard's strip: ``stretches`` with x and width in percent."""

    name: str
    open_for: str
    stretches: list[tuple[str, str, Stretch]]
    said: str


@dataclass(frozen=True, slots=True)
class GuardStrip:
    """When the guards were open, on the same axis as the plot of calls above it."""

    lanes: list[Lane]
    axis: list[Tick]
    table: Table


def guard_strip(grid: Grid, spells: Sequence[Spell], names: Mapping[str, str]) -> GuardStrip:
    """Every guard has a lane, also one that was never open: that is what one wants to see."""
    at = min(now(), grid.until)
    lanes, rows = [], list[tuple[str, ...]]()
    for service, name in names.items():
        mine = [spell for spell in spells if spell.service == service]
        states = []
        for spell in mine:
            end = spell.ended_at or at
            states.append((GuardMode.OPEN.value, spell.opened_at, min(spell.probes_at, end)))
            states.append((GuardMode.HALF_OPEN.value, spell.probes_at, end))
            rows.append((name, f"{spell.opened_at:%-d %b, %H:%M}", _minutes(spell, end), spell.error or "–"))
        found = stretches(states, grid.since, grid.until)
        drawn = [(f"{100 * one.x:.3f}%", f"{100 * one.width:.3f}%", one) for one in found]
        said = f"{name}: paused {len(mine)} time{'' if len(mine) == 1 else 's'} in this period"
        lanes.append(Lane(name, f"{len(mine)} ×" if mine else "never", drawn, said))
    return GuardStrip(
        lanes, time_ticks(grid.starts, grid.step), Table(("Guard", "Paused (UTC)", "For", "After"), tuple(rows))
    )


def _minutes(spell: Spell, end: object) -> str:
    length = (end - spell.opened_at).total_seconds()  # type: ignore[operator]
    return f"{length / 3600:.1f} h" if length >= 5400 else f"{max(1, round(length / 60))} min"


@dataclass(frozen=True, slots=True)
class BankShare:
    """One bank's active memories, their share of all, and how long its bar is in percent."""

    bank: Bank
    url: str
    count: int
    share: str
    width: str


def bank_shares(banks: Sequence[Bank], counts: Mapping[UUID, Mapping[str, int]], url: str) -> list[BankShare]:
    """Banks by their active memories, the fullest first."""
    sized = sorted(((counts.get(bank.pk, {}).get("active", 0), bank) for bank in banks), key=lambda pair: -pair[0])
    total = sum(count for count, _ in sized)
    widths = shares([count for count, _ in sized])
    return [
        BankShare(
            bank, f"{url}?bank={bank.slug}", count, percent(100 * count / total if total else 0), f"{100 * width:.1f}%"
        )
        for (count, bank), width in zip(sized, widths, strict=True)
    ]
