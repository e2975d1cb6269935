"""``bench statemachine``: random walks through everything that can happen to memories, checked against a simple model.

A step is a name and a number; what the number picks depends on what there is. The same steps always do the same, so
a walk that goes wrong can be shortened and repeated. The model is what a person would expect: see ``world.py``.
"""

from __future__ import annotations

import random
from collections import Counter

from rich.console import Console

from banks.access import system_access
from banks.services.vaults import create_vault
from memories.management.bench.client import BenchFailed
from memories.management.bench.world import STEPS, Difference, World
from memoryhub.lib.errors import HubError
from memoryhub.lib.ids import new_id, short_id
from memoryhub.lib.sealing import gate

LENGTH = 50
#: What no walk may end in: no step asks for anything the hub would have to refuse.
FAULTS = (Difference, HubError)
type Walk = list[tuple[str, int]]


def walk_of(seed: int, length: int = LENGTH) -> Walk:
    """The steps of one walk."""
    dice = random.Random(seed)
    return [(dice.choice(STEPS), dice.randrange(1_000_000)) for _ in range(length)]


def take_walk(walk: Walk) -> Counter[str]:
    """Take the steps in a vault of its own and look at every read path; what was done. Raises Difference."""
    with gate.session():
        world = World(system_access(create_vault(f"walk {short_id(new_id())}").pk, "walk"))
        for name, number in walk:
            world.take(name, number)
        world.look_everywhere()
        return world.done


def measure_statemachine(runs: int, seed: int, console: Console) -> str:
    """Take so many walks; what was done in all. Raises BenchFailed with the fewest steps after which they differ."""
    done: Counter[str] = Counter()
    for run in range(seed, seed + runs):
        walk = walk_of(run)
        try:
            done += take_walk(walk)
        except FAULTS as error:
            raise BenchFailed(f"seed {run}: {error}; it also goes wrong with {_shortest(walk)}") from error
        if (run - seed) % 100 == 99:
            console.print(f"{run - seed + 1:,} of {runs:,} walks")
    counted = ", ".join(f"{count:,} × {name}" for name, count in done.most_common())
    return f"{runs:,} walks of {LENGTH} steps, no difference: {counted}"


def _shortest(walk: Walk) -> Walk:
    """The walk without the steps that it also goes wrong without, tried one by one from the end."""
    kept = list(walk)
    for place in reversed(range(len(walk))):
        shorter = kept[:place] + kept[place + 1 :]
        try:
            take_walk(shorter)
        except FAULTS:
            kept = shorter
    return kept
