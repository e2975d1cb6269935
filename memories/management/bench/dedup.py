"""``bench dedup``: what a write does with labelled pairs: precision and recall of skipping and superseding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import batched

from rich.console import Console
from rich.table import Table

from banks.access import Access, system_access
from banks.services.vaults import create_vault
from memories.management.bench.pairs import Expected, Label, Pair, halves, read_pairs
from memories.rules.drafts import MemoryDraft
from memories.rules.limits import BATCH_MAX
from memories.rules.vocabulary import Outcome
from memories.services.writing import write_batch
from memoryhub.lib.errors import HubError
from memoryhub.lib.ids import new_id, short_id
from memoryhub.lib.sealing import gate

DONE: Mapping[Outcome, Expected] = {Outcome.DUPLICATE: Expected.SKIP, Outcome.SUPERSEDED: Expected.SUPERSEDE}


@dataclass(frozen=True, slots=True)
class Score:
    """Of what was done how much was right, and of what was to be done how much was."""

    done: int
    right: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.right / self.done if self.done else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 1.0


def measure_dedup() -> str:
    """Write every pair into a vault of its own and say how well it went, all together and on the half held out."""
    with gate.session():
        access = system_access(create_vault(f"bench dedup {short_id(new_id())}").pk, "bench dedup")
        pairs = read_pairs()
        done = settle_pairs(access, pairs)
    judged = list(zip(pairs, done, strict=True))
    parts = {"all pairs": judged, "held out": halves(judged)[1]}
    return "\n".join([*(_scores(name, part) for name, part in parts.items()), _by_label(parts["all pairs"])])


def settle_pairs(access: Access, pairs: Sequence[Pair]) -> list[Expected]:
    """What the hub does with the newer of each pair; every pair belongs to a user of its own, so pairs never meet."""
    _written(access, pairs, [pair.older for pair in pairs])
    return [DONE.get(outcome, Expected.KEEP) for outcome in _written(access, pairs, [pair.newer for pair in pairs])]


def score(judged: Sequence[tuple[Pair, Expected]], what: Expected) -> Score:
    """How well one verdict was given."""
    return Score(
        done=sum(done is what for _, done in judged),
        right=sum(done is what is pair.label.expected for pair, done in judged),
        wanted=sum(pair.label.expected is what for pair, _ in judged),
    )


def _written(access: Access, pairs: Sequence[Pair], texts: Sequence[str]) -> list[Outcome]:
    drafts = [
        MemoryDraft.parse({"content": text, "user_id": f"pair-{n}", "fact_key": pair.fact_key})
        for n, (pair, text) in enumerate(zip(pairs, texts, strict=True))
    ]
    results = [result for batch in batched(drafts, BATCH_MAX) for result in write_batch(access, batch)]
    for result in results:
        if isinstance(result, HubError):
            raise result
    return [result.outcome for result in results if not isinstance(result, HubError)]


def _scores(name: str, judged: Sequence[tuple[Pair, Expected]]) -> str:
    table = Table(title=f"Deduplication: {name} ({len(judged)})", title_justify="left")
    for column in ("verdict", "done", "right", "wanted", "precision", "recall"):
        table.add_column(column, justify="left" if column == "verdict" else "right")
    for what in (Expected.SKIP, Expected.SUPERSEDE):
        found = score(judged, what)
        shares = (f"{found.precision:.3f}", f"{found.recall:.3f}")
        table.add_row(what, str(found.done), str(found.right), str(found.wanted), *shares)
    return _printed(table)


def _by_label(judged: Sequence[tuple[Pair, Expected]]) -> str:
    table = Table(title="What became of each kind of pair", title_justify="left")
    table.add_column("pair")
    for what in Expected:
        table.add_column(what, justify="right")
    for label in Label:
        counts = Counter(done for pair, done in judged if pair.label is label)
        table.add_row(label, *(str(counts[what]) for what in Expected))
    return _printed(table)


def _printed(table: Table) -> str:
    screen = Console(width=100, force_terminal=False, color_system=None)
    with screen.capture() as printed:
        screen.print(table)
    return printed.get()
