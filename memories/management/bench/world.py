"""A vault beside a model of it: every step is taken in both, and every read path must show what the model expects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from banks.access import Access
from memories.models import Changeset, Job, Memory
from memories.rules.bulk import BulkChange
from memories.rules.cleanupwishes import CleanupWish, PlanChoice
from memories.rules.drafts import MemoryChanges, MemoryDraft
from memories.rules.filters import ContextQuery, MemoryFilter, Presence, SearchQuery, StatusFilter
from memories.rules.vocabulary import JobState
from memories.search.injection import format_for_injection
from memories.search.listing import list_memories
from memories.search.reading import get_memory, read_memories
from memories.search.recall import search_memories
from memories.services.applying import apply_plan
from memories.services.bulk import bulk_change
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.lifecycle import archive_memory, supersede_memory
from memories.services.plans import choose_items, create_plan
from memories.services.running import run_job
from memories.services.undoing import undo_changeset
from memories.services.writing import write_memory
from memoryhub.lib.errors import NotFound

TAGS = ("red", "green", "blue")


class Difference(AssertionError):
    """The hub shows something else than the model expects."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One version of a memory."""

    word: str
    archived: bool = False
    successor: UUID | None = None
    #: Which archiving it was; 0 while it is not archived.
    since: int = 0

    @property
    def hidden(self) -> bool:
        """Whether default reads leave it out."""
        return self.archived or self.successor is not None


@dataclass(slots=True)
class Thing:
    """A memory in the model: every version it had, the present one last."""

    tag: str
    versions: list[Standing]

    @property
    def now(self) -> Standing:
        """The present version."""
        return self.versions[-1]

    def is_as(self, version: int) -> bool:
        """Whether it is what that version was: nothing came after, or all of it was taken back."""
        return self.versions[-1] == self.versions[version - 1]


@dataclass(slots=True)
class Change:
    """A changeset in the model: memory → versions before and after; what was taken back is no longer in it."""

    id: UUID
    moved: dict[UUID, tuple[int, int]] = field(default_factory=dict)


class World:
    """Steps take a number, which picks among what there is; with nothing to pick from, nothing happens."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.things: dict[UUID, Thing] = {}
        self.erased: dict[UUID, list[str]] = {}
        self.archivings = 0
        self.changes: list[Change] = []
        self.words = 0
        self.done: Counter[str] = Counter()

    def take(self, name: str, number: int) -> None:
        """One step in both worlds, and a look at the list. Raises Difference."""
        if _STEPS[name](self, number):
            self.done[name] += 1
        self.look_at_lists()

    # What can happen.

    def write(self, number: int) -> bool:
        """A new memory, now and then with the words of nobody else."""
        self._written(number)
        return True

    def edit(self, number: int) -> bool:
        """Other words, whatever its state."""
        if (memory_id := _pick(self.things, number)) is None:
            return False
        word = self._word()
        update_memory(self.access, memory_id, MemoryChanges(content=_text(word)))
        self._move(memory_id, word=word)
        return True

    def supersede(self, number: int) -> bool:
        """One that is recalled takes the place of another."""
        visible = self._visible()
        if len(visible) < 2:
            return False
        old = visible[number % len(visible)]
        new = visible[(number // 7 + number % len(visible) + 1) % len(visible)]
        if old == new:
            return False
        supersede_memory(self.access, old, new)
        self._move(old, archived=True, successor=new)
        return True

    def replace(self, number: int) -> bool:
        """A new one takes the place of one that is recalled."""
        if (old := _pick(self._visible(), number)) is None:
            return False
        new = self._written(number, supersedes=str(old))
        self._move(old, archived=True, successor=new)
        return True

    def archive(self, number: int) -> bool:
        """Hide one."""
        if (memory_id := _pick(self._where(archived=False), number)) is None:
            return False
        archive_memory(self.access, memory_id)
        self._move(memory_id, archived=True)
        return True

    def restore(self, number: int) -> bool:
        """Bring one back, out of its chain if need be."""
        if (memory_id := _pick(self._where(archived=True), number)) is None:
            return False
        archive_memory(self.access, memory_id, archived=False)
        self._move(memory_id, archived=False, successor=None)
        return True

    def bulk(self, number: int) -> bool:
        """Archive or restore several; what is replaced is not restored in passing."""
        chosen = [memory_id for place, memory_id in enumerate(self.things) if number >> place % 16 & 1]
        if not chosen:
            return False
        archived = number % 3 > 0
        action = "archive" if archived else "restore"
        report = bulk_change(self.access, BulkChange.parse({"action": action, "ids": list(map(str, chosen))}))
        moves = [one for one in chosen if self.things[one].now.archived != archived]
        self._changed(report.changeset, [one for one in moves if archived or self.things[one].now.successor is None])
        return True

    def clean_up(self, number: int) -> bool:
        """A plan over one tag with one unticked and one edited meanwhile; what is left is archived by the job."""
        tag = TAGS[number % len(TAGS)]
        plan = create_plan(self.access, CleanupWish(query=f"tag:{tag}"))
        named = [one for one in self._visible() if self.things[one].tag == tag]
        if plan.candidates != len(named):
            raise Difference(f"a plan names {plan.candidates} memories, not {len(named)}")
        if not named:
            return False
        spared = {named[number // 3 % len(named)]} if number % 2 else set()
        if spared:
            choice = PlanChoice(memory_ids=list(spared), ticked=False)
            plan = choose_items(self.access, plan.pk, choice)
        edited = named[number // 5 % len(named)]
        if number % 5 == 0:
            word = self._word()
            update_memory(self.access, edited, MemoryChanges(content=_text(word)))
            self._move(edited, word=word)
            spared.add(edited)
        plan = apply_plan(self.access, plan.pk, plan.count, plan.plan_hash, confirm_large=True)
        self._run(plan.job)
        self._changed(plan.changeset, [one for one in named if one not in spared])
        return True

    def undo(self, number: int) -> bool:
        """Take a changeset back; what was changed since stays as it is."""
        open_ = [change for change in self.changes if change.moved]
        if not open_:
            return False
        change = open_[number % len(open_)]
        report = undo_changeset(self.access, change.id)
        for memory_id, (before, after) in list(change.moved.items()):
            thing = self.things.get(memory_id)
            if thing is None:
                del change.moved[memory_id]
            elif thing.is_as(after):
                was = thing.versions[before - 1]
                self._move(memory_id, archived=was.archived, successor=was.successor, since=was.since)
                del change.moved[memory_id]
        if sorted(report.changed_since) != sorted(change.moved):
            raise Difference(f"an undo left {len(report.changed_since)} memories, not {len(change.moved)}")
        return True

    def erase(self, number: int) -> bool:
        """For good."""
        if (memory_id := _pick(self.things, number)) is None:
            return False
        erase_memory(self.access, memory_id)
        gone = self.things.pop(memory_id)
        self.erased[memory_id] = [one.word for one in gone.versions]
        heir = gone.now.successor  # a chain whose middle goes closes up, in its history too
        for thing in self.things.values():
            if thing.now.successor == memory_id:
                thing.versions[-1] = replace(thing.now, since=self._next())
            thing.versions = [
                replace(one, successor=heir) if one.successor == memory_id else one for one in thing.versions
            ]
        for change in self.changes:
            change.moved.pop(memory_id, None)
        return True

    def look(self, number: int) -> bool:
        """Every read path."""
        self.look_everywhere()
        return True

    # What must be seen.

    def look_at_lists(self) -> None:
        """The default list, and the list of everything. Raises Difference."""
        every = MemoryFilter(status=StatusFilter.ANY, archived=Presence.ANY)
        for where, wanted, expected in (
            ("list", MemoryFilter(), self._visible()),
            ("list of everything", every, list(self.things)),
        ):
            shown = {row.pk for row in list_memories(self.access, wanted, limit=200).items}
            self._expect(where, shown, expected)

    def look_everywhere(self) -> None:
        """Get, read, list, search and context. Raises Difference."""
        self.look_at_lists()
        for memory_id, thing in self.things.items():
            self._same(memory_id, thing, get_memory(self.access, memory_id))
        found, missing = read_memories(self.access, [*self.things, *self.erased])
        self._expect("read", {row.pk for row in found}, self.things)
        self._expect("missing", {UUID(one) for one in missing}, self.erased)
        for memory_id in self.erased:
            try:
                get_memory(self.access, memory_id)
            except NotFound:
                continue
            raise Difference("get shows what was erased")
        visible = set(self._visible())
        for memory_id in [*self._visible()[:3], *self._where(archived=True)[:3]]:
            self._search(self.things[memory_id].now.word, {memory_id} & visible, visible)
        for words in [*self.erased.values()][:2]:
            self._search(words[-1], set(), visible)
        self._read_context(visible)

    def _search(self, word: str, wanted: set[UUID], visible: set[UUID]) -> None:
        hits = search_memories(self.access, SearchQuery(query=_text(word), threshold=0.0, top_k=200)).hits
        shown = {hit.memory.pk for hit in hits}
        if not wanted <= shown <= visible:
            raise Difference(f"search shows {len(shown - visible)} hidden memories and misses {len(wanted - shown)}")
        for hit in hits:
            self._same(hit.memory.pk, self.things[hit.memory.pk], hit.memory)

    def _read_context(self, visible: set[UUID]) -> None:
        context = format_for_injection(self.access, ContextQuery(max_tokens=4_000)).injection
        if not set(context.ids) <= visible:
            raise Difference("context names what is hidden")
        hidden = [word for words in self.erased.values() for word in words]
        hidden += [thing.now.word for memory_id, thing in self.things.items() if memory_id not in visible]
        if any(f" {word} " in context.text for word in hidden):
            raise Difference("context tells what is hidden")

    def _same(self, memory_id: UUID, thing: Thing, row: Memory) -> None:
        seen = (row.content, row.version, row.archived, row.superseded_by_id)
        expected = (_text(thing.now.word), len(thing.versions), thing.now.archived, thing.now.successor)
        if seen != expected:
            raise Difference(f"{memory_id} is {seen}, not {expected}")

    def _expect(self, where: str, seen: set[UUID], expected: Sequence[UUID] | Mapping[UUID, Any]) -> None:
        if seen != set(expected):
            raise Difference(f"{where}: {len(seen - set(expected))} too many, {len(set(expected) - seen)} missing")

    # The model's own bookkeeping.

    def _written(self, number: int, **more: Any) -> UUID:
        word, tag = self._word(), TAGS[number % len(TAGS)]
        draft = MemoryDraft.parse({"content": _text(word), "tags": [tag], "dedup": False, **more})
        memory_id = UUID(str(write_memory(self.access, draft).memory.pk))
        self.things[memory_id] = Thing(tag, [Standing(word)])
        return memory_id

    def _word(self) -> str:
        """A word nobody used yet, of letters alone, so that it stays one word in every index."""
        self.words += 1
        letters = "".join(chr(ord("a") + self.words // 26**place % 26) for place in range(4))
        return f"qx{letters}"

    def _move(self, memory_id: UUID, **changed: Any) -> None:
        thing = self.things[memory_id]
        if "archived" in changed:
            changed.setdefault("since", self._next() if changed["archived"] else 0)
        thing.versions.append(replace(thing.now, **changed))

    def _next(self) -> int:
        self.archivings += 1
        return self.archivings

    def _changed(self, changeset: Changeset | None, moved: Sequence[UUID]) -> None:
        """What a changeset archived or restored."""
        if (changeset is None) != (not moved) and not (changeset is not None and not moved):
            raise Difference(f"{len(moved)} memories were to change, and no changeset says so")
        if changeset is None:
            return
        change = Change(changeset.pk)
        for memory_id in moved:
            before = len(self.things[memory_id].versions)
            change.moved[memory_id] = (before, before + 1)
            self._move(memory_id, archived=not self.things[memory_id].now.archived)
        self.changes.append(change)

    def _run(self, job: Job | None) -> None:
        if job is None or not run_job(job.pk) or Job.objects.get(pk=job.pk).state != JobState.DONE:
            raise Difference("the job of a clean-up was not done")

    def _visible(self) -> list[UUID]:
        return [memory_id for memory_id, thing in self.things.items() if not thing.now.hidden]

    def _where(self, *, archived: bool) -> list[UUID]:
        return [memory_id for memory_id, thing in self.things.items() if thing.now.archived == archived]


def _text(word: str) -> str:
    return f"The {word} house stands by the river."


def _pick(there: Sequence[UUID] | Mapping[UUID, Any], number: int) -> UUID | None:
    ids = list(there)
    return ids[number % len(ids)] if ids else None


_STEPS: Mapping[str, Callable[[World, int], bool]] = {
    "write": World.write,
    "edit": World.edit,
    "supersede": World.supersede,
    "replace": World.replace,
    "archive": World.archive,
    "restore": World.restore,
    "bulk": World.bulk,
    "clean up": World.clean_up,
    "undo": World.undo,
    "erase": World.erase,
    "look": World.look,
}
#: What a walk chooses from: writing more often, so that there is something to do things to.
STEPS = ("write", "write", "write", *_STEPS)
