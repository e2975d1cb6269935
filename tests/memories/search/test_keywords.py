"""The keyword leg scores exactly as BM25 over the words themselves would, and only what may be seen."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from uuid import UUID

import pytest

from banks.access import Access
from memories.index.compaction import compact_chunk
from memories.models import Memory, MemoryIndex
from memories.rules.bm25 import bm25, corpus_of, idf
from memories.rules.filters import MemoryFilter
from memories.search import keywords
from memories.search.candidates import allowed
from memories.search.filtering import matching
from memories.search.keywords import KeywordHits, keyword_leg
from memories.services.writing import write_batch
from memoryhub.lib.blindindex import hash_query
from memoryhub.lib.text import split_units, tokenize
from tests.factories import draft, remember

WORDS = (
    "tea coffee harbour zeppelin Oslo meeting deploy server red green blue invoice 2024 v2.1 Grüße 東京都 don't".split()
)
QUESTIONS = [
    "tea",
    "zeppelin in Oslo",
    "deploy the server v2.1",
    "東京",
    "tea tea tea",
    "nowhere tea",
    "Grüße don't",
    " ".join(WORDS),
]


def corpus(size: int = 60) -> list[str]:
    chance = Random(7)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 40))) + f" n{n}" for n in range(size)]


def hits(access: Access, question: str, wanted: MemoryFilter | None = None, limit: int = 200) -> KeywordHits:
    rows = allowed(matching(access, wanted or MemoryFilter()))
    assert rows is not None
    return keyword_leg(access, rows, hash_query(access.keys.index, question), limit)


def leg(access: Access, question: str, wanted: MemoryFilter | None = None, limit: int = 200) -> Mapping[UUID, float]:
    return hits(access, question, wanted, limit).found


def by_words(texts: dict[UUID, str], question: str) -> dict[UUID, float]:
    """The reference: BM25 in Python over plain words of units, nothing keyed, nothing packed; the best unit counts."""
    documents = {(key, unit): tokenize(part) for key, text in texts.items() for unit, part in units_of(text)}
    counted = {key: {term: tokens.count(term) for term in tokens} for key, tokens in documents.items()}
    lengths = {key: len(tokens) for key, tokens in documents.items()}
    known = corpus_of(list(counted.values()), list(lengths.values()))
    query = tokenize(question, query=True)
    best: dict[UUID, float] = {}
    for (key, unit), counts in counted.items():
        best[key] = max(bm25(query, counts, lengths[key, unit], known), best.get(key, 0.0))
    return {key: score for key, score in best.items() if score > 0}


def units_of(text: str) -> list[tuple[int, str]]:
    return list(enumerate(split_units(text)))


def written(access: Access) -> dict[UUID, str]:
    write_batch(access, [draft(text) for text in corpus()])
    return {memory.pk: memory.content for memory in Memory.objects.filter(vault=access.vault)}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("packed", [False, True], ids=["in SQL", "packed"])
def test_scores_are_those_of_bm25_over_words(access, other_access, question, packed):
    """CON-07, SRC-03: to nine places, whether documents lie in the tail or are packed; other vaults weigh nothing."""
    remember(other_access, "tea zeppelin Oslo deploy 東京")
    texts = written(access)
    if packed:
        access.vault.next_doc_no = 10_000
        assert compact_chunk(access.vault_id, 0) == len(texts)
    found, expected = leg(access, question), by_words(texts, question)
    assert found.keys() == expected.keys()
    assert found
    for key, score in found.items():
        assert abs(score - expected[key]) < 1e-9
    assert list(found) == sorted(found, key=lambda key: (-found[key], key))


@pytest.mark.parametrize("packed", [False, True], ids=["in SQL", "packed"])
def test_a_memory_counts_as_its_best_unit(access, packed):
    """CON-07: a long memory is several documents; its words far apart do not help each other."""
    chance = Random(11)
    texts = {}
    for n in range(12):
        text = "\n\n".join(" ".join(chance.choices(WORDS, k=120)) for _ in range(1 + n % 4)) + f" n{n}"
        texts[remember(access, text).pk] = text
    assert MemoryIndex.objects.count() > len(texts)
    if packed:
        access.vault.next_doc_no = 10_000
        assert compact_chunk(access.vault_id, 0) == MemoryIndex.objects.count()
    for question in QUESTIONS:
        expected = by_words(texts, question)
        assert leg(access, question) == pytest.approx(expected, rel=0, abs=1e-9)
        assert expected


def test_the_commonest_words_of_a_large_vault_propose_nobody(access, monkeypatch):
    """SRC-03: what is read is bounded, rarest words first, of one word what was written last; weights stay exact."""
    quasar = remember(access, "tea and a quasar").pk
    texts = written(access)
    access.vault.next_doc_no = 10_000
    assert compact_chunk(access.vault_id, 0) == len(texts)
    tea, both = hits(access, "tea"), hits(access, "tea quasar")
    assert len(both.found) == len(tea.found) > 1
    monkeypatch.setattr(keywords, "POSTINGS_MAX", 1)
    few = hits(access, "tea quasar")
    assert list(few.found) == [quasar]
    assert few.corpus == both.corpus
    assert hits(access, "tea").found == tea.found


def test_what_words_weigh_is_handed_on(access):
    """SRC-03: what is scored later, over windows, is scored with the same weights."""
    texts = written(access)
    documents = [set(tokenize(text)) for text in texts.values()]
    question = ["tea", "zeppelin", "nowhere"]
    holding = [sum(tokenize(word)[0] in words for words in documents) for word in question]
    corpus = hits(access, " ".join(question)).corpus
    assert list(corpus.idf) == pytest.approx([idf(len(texts), count) for count in holding], rel=0, abs=1e-9)
    mean = sum(len(tokenize(text)) for text in texts.values()) / len(texts)
    assert corpus.mean_length == pytest.approx(mean, rel=0, abs=1e-9)


def test_filters_change_who_is_found_and_not_how_much_words_weigh(access):
    """SRC-18: a filtered search gives the same scores to those that pass, also when only few do."""
    texts = written(access)
    chosen = list(texts)[::7]
    Memory.objects.filter(pk__in=chosen).update(tags=["chosen"])
    everybody, few = leg(access, "tea coffee"), leg(access, "tea coffee", MemoryFilter(tag=["chosen"]))
    assert few == {key: score for key, score in everybody.items() if key in chosen}
    assert few


def test_the_limit_keeps_the_best(access):
    """SRC-03: ties in the order of their ids."""
    written(access)
    everybody = leg(access, "tea")
    assert list(leg(access, "tea", limit=5).items()) == list(everybody.items())[:5]


@pytest.mark.parametrize("question", ["", "the and of", "…", "zzzunknown"])
def test_a_question_without_a_known_word_finds_nothing(access, question):
    """SRC-20: rather than everything."""
    written(access)
    assert leg(access, question) == {}


def test_a_very_long_question_is_answered(access):
    """API-17: ten thousand characters of words are cut, not refused."""
    remember(access, "zeppelin")
    question = "zeppelin " + " ".join(f"word{n}" for n in range(2_000))
    assert len(leg(access, question[:10_000])) == 1


def test_the_index_holds_no_word(access):
    """CON-07: numbers only, and equal words are equal numbers."""
    first, second = remember(access, "zeppelin one"), remember(access, "zeppelin two")
    terms = [set(MemoryIndex.objects.get(memory=memory).terms) for memory in (first, second)]
    assert len(terms[0] & terms[1]) == 1
    assert all(-(2**63) <= term < 2**63 for term in terms[0])


@pytest.mark.parametrize(
    ("seen", "passed", "more"),
    [(125, 99, 100), (125, 50, 156), (125, 5, 1_000), (125, 0, 1_000), (1_125, 45, 1_718)],
    ids=["nearly all", "half", "few", "none", "few for the second time"],
)
def test_the_next_look_goes_as_far_as_the_filters_make_it(seen, passed, more):
    """SRC-18: sized by what passed so far and a quarter more, within bounds."""
    assert keywords._more(seen, passed, 100) == more
