"""What new memories resemble, among those that are there and among each other, and what the ladder says about it.

Compared are memories of one vault, namespace, user, type and, where scoped, agent; a caller's write never meets a
memory the caller may not see. Two close memories written at the same moment may not see each other: both stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import islice
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from banks.access import Access
from memories.models import Memory
from memories.rules.calibration import own_cosine, reference_similarity
from memories.rules.dedup import NOTHING_LIKE_IT, Candidate, Decision, Ladder, decide, ladder_of, may_yield, text_ladder
from memories.rules.differences import differences, same_subject
from memories.rules.trust import may_supersede
from memories.rules.vocabulary import Difference, MemoryType, Status, Trust
from memories.search.candidates import allowed
from memories.search.keywords import keyword_leg
from memories.search.likeness import LOOKED_AT, Resembling, nearest_memories, nearest_with_labels
from memories.services.context import WriteContext
from memoryhub.lib.blindindex import hash_query
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.lib.text import normalize

#: Longer texts are indexed in several units and compared exactly only.
COMPARED_CHARACTERS = 900


#: Cosines of single precision, and the way to the calibrated scale and back, may be off by less than this.
_ROUNDING = 1e-3


@dataclass(eq=False)
class Newcomer:
    """A memory that is to be compared; ``vector`` is None where likeness in characters has to do."""

    memory: Memory
    content: str
    vector: NDArray[np.float32] | None = None


@dataclass
class Comparing:
    """What one write compares. ``prepare`` asks the database once for all; ``decide`` is then called in their order."""

    context: WriteContext
    there: dict[UUID, Memory] = field(default_factory=dict)
    near: dict[UUID, list[tuple[UUID, float]]] = field(default_factory=dict)
    #: Those of this write that will stand, and their vectors, row by row.
    written: list[Newcomer] = field(default_factory=list)
    vectors: NDArray[np.float32] | None = None

    def prepare(self, newcomers: Sequence[Newcomer]) -> None:
        """Find the neighbours of all that have vectors, in one statement per kind of index, and load them."""
        seen = [one for one in newcomers if one.vector is not None]
        space = self.context.space
        if not seen or space is None:
            return
        stacked = np.stack([one.vector for one in seen if one.vector is not None])
        embedder = space.embedder
        floor = own_cosine(embedder.name, embedder.model, min(_least(self._ladder(one)) for one in seen))
        asked = Resembling(space, stacked, floor)
        found = nearest_memories(self.context.access, asked)
        if len(seen) == 1:
            found = [self._uncrowded(asked, seen[0], found[0])]
        for one, neighbours in zip(seen, found, strict=True):
            self.near[one.memory.pk] = neighbours
        self._load({memory_id for neighbours in found for memory_id, _ in neighbours})
        if len(seen) > 1:
            # A row for each, also for those compared by their text: nothing is near a zero.
            self.vectors = np.zeros((len(newcomers), stacked.shape[1]), stacked.dtype)

    def decide(self, one: Newcomer) -> Decision:
        """What becomes of it, beside what was there and what this write has put there so far."""
        if one.vector is None:
            return self._by_text(one)
        return decide(self.candidates(one), self._ladder(one))

    def candidates(self, one: Newcomer) -> list[Candidate]:
        """The nearest it may be compared with, nearest first, as far as any rung of the ladder cares."""
        ladder = self._ladder(one)
        limit = self.context.settings_in(one.memory.bank_id)["dedup_candidates"]
        near = [(self.there[key], cosine) for key, cosine in self.near.get(one.memory.pk, ()) if key in self.there]
        near = sorted([*near, *self._among_written(one)], key=lambda pair: -pair[1])
        # Asked of the nearest only: among look-alikes there may be hundreds.
        alike = islice((pair for pair in near if _comparable(pair[0], one.memory)), limit)
        return [each for pair in alike if (each := self._candidate(one, *pair, ladder))]

    def remember(self, one: Newcomer) -> None:
        """The newcomer stands, so those after it are compared with it too (DUP-26)."""
        if self.vectors is not None:
            self.vectors[len(self.written)] = 0 if one.vector is None else one.vector
        self.written.append(one)
        self.there[one.memory.pk] = one.memory

    def forget(self, memory: Memory) -> None:
        """It was replaced or says something else, so nothing is compared with it any more."""
        self.there.pop(memory.pk, None)
        kept = [place for place, one in enumerate(self.written) if one.memory.pk != memory.pk]
        if len(kept) == len(self.written):
            return
        if self.vectors is not None:
            self.vectors[: len(kept)] = self.vectors[kept]
        self.written = [self.written[place] for place in kept]

    def plain_ladder(self, one: Newcomer) -> Ladder:
        """The rungs that hold where no checker answers."""
        settings = self.context.settings_in(one.memory.bank_id)
        return _for(one, ladder_of(settings), settings)

    def _ladder(self, one: Newcomer) -> Ladder:
        settings = self.context.settings_in(one.memory.bank_id)
        return _for(one, ladder_of(settings, has_checker=settings["update_checker"] != "none"), settings)

    def _uncrowded(
        self, asked: Resembling, one: Newcomer, neighbours: list[tuple[UUID, float]]
    ) -> list[tuple[UUID, float]]:
        """Other users' memories must not crowd out one's own; looked for only where they might have."""
        if len(neighbours) < LOOKED_AT:
            return neighbours
        self._load({memory_id for memory_id, _ in neighbours})
        if any(_comparable(self.there[key], one.memory) for key, _ in neighbours if key in self.there):
            return neighbours
        return nearest_with_labels(self.context.access, asked, one.memory)

    def _load(self, ids: set[UUID]) -> None:
        missing = ids - set(self.there)
        if missing:
            rows = _standing(self.context.access).filter(pk__in=missing).select_related("bank")
            self.there |= {row.pk: row for row in rows}

    def _among_written(self, one: Newcomer) -> list[tuple[Memory, float]]:
        if self.vectors is None or one.vector is None or not self.written:
            return []
        space = self.context.space
        assert space is not None
        cosines = self.vectors[: len(self.written)] @ one.vector
        # What no rung of the ladder would look at is most of them, and left out before anything else is asked of it.
        floor = own_cosine(space.embedder.name, space.embedder.model, _least(self._ladder(one))) - _ROUNDING
        close = [(self.written[place].memory, float(cosines[place])) for place in np.flatnonzero(cosines > floor)]
        return [(other, cosine) for other, cosine in close if other.pk in self.there]

    def _candidate(self, one: Newcomer, other: Memory, cosine: float, ladder: Ladder) -> Candidate | None:
        space = self.context.space
        assert space is not None
        similarity = reference_similarity(space.embedder.name, space.embedder.model, cosine)
        if similarity <= _least(ladder):
            return None
        return _beside(one, other, similarity)

    def _by_text(self, one: Newcomer) -> Decision:
        """Without vectors: the memories that share most words, by how alike they are in characters (DUP-17, DEG-11)."""
        settings = self.context.settings_in(one.memory.bank_id)
        rows = allowed(_alike(_standing(self.context.access), one.memory))
        if rows is None or not settings["keyword_index"]:
            return NOTHING_LIKE_IT
        terms = hash_query(self.context.access.keys.index, one.content)
        found = keyword_leg(self.context.access, rows, terms, settings["dedup_candidates"]).found
        self._load(set(found))
        ladder = _for(one, text_ladder(settings), settings)
        others = [self.there[key] for key in found if key in self.there]
        others += [other.memory for other in self.written if _comparable(other.memory, one.memory)]
        alike = [(other, _likeness(one.content, other, ladder.ask)) for other in others]
        candidates = [_beside(one, other, ratio) for other, ratio in alike if ratio > ladder.ask]
        return decide([each for each in candidates if each], ladder, "text")


def _for(one: Newcomer, ladder: Ladder, settings: dict[str, Any]) -> Ladder:
    """Few words make another preference, so what a short one is close to is for a person to look at (CON-16)."""
    short = len(one.content) < settings["short_preference_no_dedupe_length"]
    return ladder.listing() if short and one.memory.type == MemoryType.PREFERENCE else ladder


def _least(ladder: Ladder) -> float:
    return ladder.ask if ladder.has_checker else ladder.close


def _standing(access: Access) -> Any:
    """Memories of the caller that count now."""
    unexpired = Q(expires_at=None) | Q(expires_at__gt=now())
    return Memory.objects.visible_to(access).live().filter(unexpired, superseded_by=None)


def _alike(rows: Any, memory: Memory) -> Any:
    labels = ("type", "user_id", "namespace", "scope", "dedup_agent")
    for name in labels:
        value = getattr(memory, name)
        rows = rows.filter(**({f"{name}__isnull": True} if value is None else {name: value}))
    return rows


def _comparable(other: Memory, new: Memory) -> bool:
    """The same in everything duplicates must share (DUP-20), and another one (DUP-24)."""
    labels = ("type", "user_id", "scope", "dedup_agent")
    alike = all(getattr(other, name) == getattr(new, name) for name in labels)
    return alike and list(other.namespace) == list(new.namespace) and other.pk != new.pk


def _beside(one: Newcomer, other: Memory, similarity: float) -> Candidate | None:
    """The other memory as the rules see it; None when it cannot be opened or is too long to be compared."""
    try:
        text = other.content
    except (DecryptionError, UnknownKey):
        return None
    if len(text) > COMPARED_CHARACTERS:
        return None
    new = one.memory
    kept, said = Trust(other.trust), Trust(new.trust)
    accepted = other.status == Status.ACCEPTED
    return Candidate(
        id=UUID(str(other.pk)),
        similarity=similarity,
        differences=differences(text, one.content) | labelled_differently(other, new),
        stands=(accepted or new.status == Status.DRAFT)
        and kept.rank >= said.rank
        and _outlives(other, new)
        and (other.is_protected or not new.is_protected),
        yields=may_yield(other.type, other.fact_key, new.fact_key, is_protected=other.is_protected)
        and accepted
        and new.status == Status.ACCEPTED
        and said.rank >= kept.rank
        and may_supersede(said, kept)
        and same_subject(text, one.content),
    )


def labelled_differently(other: Memory, new: Memory) -> frozenset[Difference]:
    """What differs beside the texts: the same words on another day, or about somebody else, are another thing."""
    found = set()
    if other.event_at and new.event_at and other.event_at.date() != new.event_at.date():
        found.add(Difference.DATE)
    if other.entities and new.entities and not _folded(other.entities) & _folded(new.entities):
        found.add(Difference.NAME)
    return frozenset(found)


def _folded(names: Sequence[str]) -> set[str]:
    return {normalize(name) for name in names}


def _outlives(other: Memory, new: Memory) -> bool:
    return other.expires_at is None or (new.expires_at is not None and other.expires_at >= new.expires_at)


def _likeness(text: str, other: Memory, bound: float) -> float:
    try:
        left, right = normalize(text), normalize(other.content[: COMPARED_CHARACTERS + 1])
    except (DecryptionError, UnknownKey):
        return 0.0
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    # Upper bounds, each cheaper than the next: most pairs are not alike, and the ratio costs the square of the length.
    for ratio in (matcher.real_quick_ratio, matcher.quick_ratio):
        if ratio() <= bound:
            return 0.0
    return matcher.ratio()


def compares_meaning(memory: Memory, content: str) -> bool:
    """Whether more than the exact text is compared: not for turns and long texts."""
    if memory.content_hash is None or len(content) > COMPARED_CHARACTERS:
        return False
    # Two turns of a conversation that sound alike are two turns.
    return not (memory.type == MemoryType.EPISODIC and memory.session_id)
