"""Who answers the questions: the real search under a profile, and simple baselines beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memories.management.bench.evidence import Asked, Examination
from memories.management.bench.quality import DEPTH
from memories.rules.conversations import write_id
from memories.rules.filters import SearchQuery
from memories.rules.settings import Level
from memories.search.recall import SearchAnswer, ask_legs, search_memories, understand
from memories.services.settings import write_setting
from memoryhub.lib.text import tokenize

type Ranker = Callable[[Examination, Asked], Sequence[str]]


def query_of(asked: Asked, **more: object) -> SearchQuery:
    """The question as an agent would ask it; its conversation is the user."""
    return SearchQuery.parse({"query": asked.text, "top_k": DEPTH, "user_id": asked.conversation, **more})


def under_profile(profile: str) -> Ranker:
    """The real search; the profile is set in the question's vault first."""

    chosen: set[object] = set()

    def rank(examination: Examination, asked: Asked) -> Sequence[str]:
        if asked.access.vault_id not in chosen:
            write_setting(asked.access, Level.VAULT, "search_profile", profile)
            chosen.add(asked.access.vault_id)
        hits = search_memories(asked.access, query_of(asked)).hits
        return [examination.turns[hit.memory.pk] for hit in hits]

    return rank


def words_alone(examination: Examination, asked: Asked) -> Sequence[str]:
    """BM25 and nothing else."""
    understood = understand(asked.access, query_of(asked))
    found = ask_legs(understood, SearchAnswer()).keyword.found if understood else {}
    return [examination.turns[memory_id] for memory_id in found]


def meaning_alone(examination: Examination, asked: Asked) -> Sequence[str]:
    """Cosines and nothing else, without a floor."""
    understood = understand(asked.access, query_of(asked, threshold=0.0))
    meaning = ask_legs(understood, SearchAnswer()).meaning if understood else None
    return [examination.turns[memory_id] for memory_id in meaning.found] if meaning else []


def term_overlap(examination: Examination, asked: Asked) -> Sequence[str]:
    """How many of the question's words a turn has: what searching with grep would find."""
    words = frozenset(tokenize(asked.text))
    turns = _words_of(examination, asked.conversation)
    return sorted(turns, key=lambda turn: -len(words & turns[turn]))[:DEPTH]


def _words_of(examination: Examination, name: str) -> Mapping[str, frozenset[str]]:
    if (examination.name, name) not in _kept:
        conversation = examination.conversations[name]
        _kept[examination.name, name] = {
            write_id(conversation, turn): frozenset(tokenize(turn.content)) for turn in conversation.memories
        }
    return _kept[examination.name, name]


_kept: dict[tuple[str, str], dict[str, frozenset[str]]] = {}

RANKERS: Mapping[str, Ranker] = {
    "term overlap": term_overlap,
    "BM25 alone": words_alone,
    "dense alone": meaning_alone,
    "profile seed": under_profile("seed"),
    "profile balanced": under_profile("balanced"),
}
