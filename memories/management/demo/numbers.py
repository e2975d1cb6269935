"""The sample vault's ninety days in numbers: invented like its memories, so that the plots tell their story.

How often it was asked and how long that took, what a model was asked before its service failed twice, the jobs that
ran. What came in is counted from the memories themselves. The numbers are the same at every telling.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING
from uuid import UUID

from memories.models import GuardSpell, Rollup, Tally
from memories.rules.rollups import Fate, Metric, Span, cell_of
from memories.rules.vocabulary import GuardedService
from memories.search.timing import WHOLE
from memories.services.rollups import fill_rollups
from memoryhub.lib.bulk import insert_rows

if TYPE_CHECKING:
    from banks.access import Access

DAYS = 90
#: The last days are told by the hour.
BY_THE_HOUR = 8
HOURS = (7, 9, 11, 13, 15, 17, 19, 22)
#: Milliseconds of each stage; the whole is their sum.
STAGES = {"understand": 0.4, "keyword": 1.1, "embed": 0.2, "semantic": 1.6, "pool": 0.9, "rank": 0.7, "read": 1.2}
#: Days ago, hour, minutes: when the model's service failed.
FAILURES = ((41, 13, 95), (4, 15, 190))
COOLDOWN = dt.timedelta(minutes=5)
ERROR = "The model service answered 503: it is overloaded."

type Count = tuple[dt.datetime, Metric, str, int, UUID | None]


def tell_numbers(access: Access, today: dt.datetime) -> int:
    """Write the numbers in the transaction that tells the story, over those of the telling itself; how many."""
    vault_id = access.vault_id
    fill_rollups(vault_id)
    told = {Metric.WRITTEN, Metric.ENDED, Metric.CALLED, Metric.SKIPPED, Metric.TOOK, Metric.RECALLED}
    Tally.objects.filter(vault_id=vault_id, metric__in=[metric.value for metric in told]).delete()
    created = Tally.objects.filter(vault_id=vault_id, metric=Metric.CREATED.value)
    counts = Counter[Count]()
    for at, bank_id, n in created.values_list("at", "bank_id", "n"):
        counts[at, Metric.WRITTEN, Fate.CREATED.value, 0, bank_id] += n
    midnight, random = today.replace(hour=0, minute=0, second=0, microsecond=0), Random(7)
    for days_ago in range(DAYS - 1, -1, -1):
        for at, share in _moments(midnight - dt.timedelta(days=days_ago), days_ago, today):
            counts.update(_hour(at, share, days_ago, random))
    rows = [
        Tally(vault_id=vault_id, at=at, metric=metric.value, label=label, cell=cell, bank_id=bank_id, n=n)
        for (at, metric, label, cell, bank_id), n in counts.items()
        if n > 0
    ]
    insert_rows(rows)
    _queues(vault_id, {at for at, *_ in counts if at <= today}, today, random)
    _spells(vault_id, midnight, today)
    return len(rows)


def _moments(day: dt.datetime, days_ago: int, today: dt.datetime) -> Iterator[tuple[dt.datetime, float]]:
    """When something is counted, and which share of the day it stands for; nothing after now."""
    hours = HOURS if days_ago < BY_THE_HOUR else (12,)
    for hour in hours:
        at = day + dt.timedelta(hours=hour)
        if at <= today:
            yield at, 1 / len(hours)


def _hour(at: dt.datetime, share: float, days_ago: int, random: Random) -> Counter[Count]:
    grown = 1 - 0.65 * days_ago / DAYS
    busy = grown * (0.45 if at.weekday() >= 5 else 1.0) * random.uniform(0.75, 1.25) * share
    found = Counter[Count]()
    found.update(_searches(at, round(140 * busy), days_ago, random))
    for metric, label, a_day in (
        (Metric.WRITTEN, Fate.EXACT, 4 * (1.7 - grown)),
        (Metric.WRITTEN, Fate.NEAR, 1.4),
        (Metric.WRITTEN, Fate.UPDATED, 9),
        (Metric.RECALLED, "active", 520),
        (Metric.RECALLED, "superseded", 4),
        (Metric.SKIPPED, "shortcut", 6),
        (Metric.SKIPPED, "nothing_new", 9),
        (Metric.SKIPPED, "all_relevant", 14),
        (Metric.CALLED, "ok", 17),
        (Metric.TOKENS, "in", 16_000),
        (Metric.TOKENS, "out", 2_600),
        (Metric.ENDED, "done", 11),
        (Metric.ENDED, "put_back", 0.4),
    ):
        found[at, metric, str(label), 0, None] += int(a_day * busy + random.random())
    for day, hour, minutes in FAILURES:
        if day == days_ago and (at.hour == 12 or abs(at.hour - hour) <= 1):
            found[at, Metric.CALLED, "error", 0, None] += 5
            found[at, Metric.SKIPPED, "guard_open", 0, None] += minutes // 7
            found[at, Metric.ENDED, "put_back", 0, None] += 6
            found[at, Metric.CALLED, "ok", 0, None] = 1
    return found


def _searches(at: dt.datetime, searches: int, days_ago: int, random: Random) -> Counter[Count]:
    """Thirty are timed and stand for the rest; the index was built thirty days ago, which one sees."""
    found = Counter[Count]()
    slow = 1.9 if days_ago > 30 else 1.0
    samples = max(1, min(searches, 30))
    for number in range(samples):
        stands_for = searches // samples + (number < searches % samples)
        whole = 0.0
        for stage, usual in STAGES.items():
            ms = usual * random.lognormvariate(0, 0.28) * (slow if stage in ("keyword", "semantic") else 1)
            ms *= 5 if random.random() < 0.012 else 1
            whole += ms
            found[at, Metric.TOOK, stage, cell_of(ms), None] += stands_for
        found[at, Metric.TOOK, WHOLE, cell_of(whole), None] += stands_for
    return found


def _queues(vault_id: UUID, moments: set[dt.datetime], today: dt.datetime, random: Random) -> None:
    """The most that waited at once: a few on most days, many while the model's service was away."""
    longest: dict[tuple[Span, dt.datetime], int] = {}
    for at in sorted(moments):
        away = any((today.date() - at.date()).days == day for day, _, _ in FAILURES)
        depth = random.randint(6, 9) if away else random.randint(0, 3)
        for span, start in ((Span.HOUR, at), (Span.DAY, at.replace(hour=0))):
            longest[span, start] = max(depth, longest.get((span, start), 0))
    insert_rows(
        [
            Rollup(vault_id=vault_id, span=span.value, at=start, metric=Metric.PEAK.value, label="", n=depth)
            for (span, start), depth in longest.items()
            if depth
        ]
    )


def _spells(vault_id: UUID, midnight: dt.datetime, today: dt.datetime) -> None:
    for day, hour, minutes in FAILURES:
        opened = midnight - dt.timedelta(days=day) + dt.timedelta(hours=hour, minutes=10)
        if opened + dt.timedelta(minutes=minutes) > today:
            continue
        GuardSpell.objects.create(
            vault_id=vault_id,
            service=GuardedService.CHAT.value,
            opened_at=opened,
            probes_at=opened + COOLDOWN * 6,
            ended_at=opened + dt.timedelta(minutes=minutes),
            error=ERROR,
        )
