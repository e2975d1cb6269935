"""The real search on small worlds: what each feature does, and that it costs nothing where there is none of it."""

from __future__ import annotations

import datetime as dt

import pytest

from memories.rules.filters import SearchQuery
from memories.rules.settings import Level
from memories.rules.vocabulary import Relation
from memories.search.recall import search_memories
from memories.services.linking import create_link
from memories.services.settings import write_setting
from tests.factories import remember

LONG = " ".join(f"Chapter {n} tells of lanterns, harbours and patience in the fog of winter." for n in range(40))


def found(access, question, **more):
    return search_memories(access, SearchQuery.parse({"query": question, **more})).hits


def order(access, question, **more):
    return [hit.memory.pk for hit in found(access, question, **more)]


def turns(access, *texts, session="s1"):
    at = dt.datetime(2024, 5, 7, 9, tzinfo=dt.UTC)
    rows = [(text, at + dt.timedelta(minutes=n)) for n, text in enumerate(texts)]
    return [remember(access, text, session_id=session, event_at=when.isoformat()).pk for text, when in rows]


def test_an_answer_is_found_through_its_question(access):
    """The neighbours in a session lend a turn their words; elsewhere the same words lend it none."""
    _, answer = turns(access, "Which instrument did you start learning?", "The cello, and my neighbours suffer.")
    stranger = remember(access, "The oboe, and my neighbours suffer.").pk
    ranked = order(access, "instrument learning")
    assert answer in ranked
    assert stranger not in ranked


def test_neighbours_the_caller_filtered_out_lend_nothing(access):
    """SRC-18: filters hold for windows too."""
    turns(access, "Which instrument did you start learning?", "The cello, and my neighbours suffer.")
    hits = found(access, "instrument learning", threshold=1.0, role="human")
    assert hits == []


def test_the_date_a_question_names(access):
    texts = ["We repaired the old boat together.", "We repaired the old boat together again."]
    days = ["2024-05-07T10:00:00Z", "2024-06-09T10:00:00Z"]
    may, june = (remember(access, text, event_at=day).pk for text, day in zip(texts, days, strict=True))
    assert order(access, "Who repaired the boat in May 2024?")[0] == may
    assert order(access, "Who repaired the boat on 9 June 2024?")[0] == june


def test_the_one_a_question_names(access):
    his = remember(access, "Tea in the morning, always green.", entities=["Bob"]).pk
    hers = remember(access, "Tea in the morning, always black.", entities=["Alice"]).pk
    assert order(access, "Which morning tea does Alice take?")[0] == hers
    assert order(access, "Which morning tea does Bob take?")[0] == his


def test_what_people_said_themselves(access):
    said = remember(access, "The deadline of the grant is on Friday.", role="human").pk
    answered = remember(access, "The deadline of the grant: plan backwards.", role="ai").pk
    assert order(access, "When is my grant deadline?") == [said, answered]


def test_a_memory_that_says_when(access):
    remember(access, "The move to Lisbon happened, boxes everywhere.")
    dated = remember(access, "The move to Lisbon happened last spring, boxes gone.").pk
    assert order(access, "When happened the move to Lisbon?")[0] == dated
    assert "time" in found(access, "When happened the move to Lisbon?")[0].legs


def test_a_long_memory_counts_as_its_best_unit(access):
    """A needle in a long memory is found like one in a short memory (CON-07)."""
    remember(access, "Lanterns and harbours in winter.")
    long = remember(access, f"{LONG} The password of the lighthouse is marmalade. {LONG}").pk
    assert order(access, "lighthouse password")[0] == long


def test_every_hit_adds_up(access):
    """SRC-16: the contributions are the score, at full precision."""
    turns(access, "Which instrument did you start learning?", "The cello, last May.", "A cello is large.")
    for profile in ("balanced", "seed"):
        write_setting(access, Level.VAULT, "search_profile", profile)
        hits = found(access, "When did you start learning the cello?")
        assert len(hits) == 3
        for hit in hits:
            assert sum(leg.contribution for leg in hit.legs.values()) == pytest.approx(hit.score, rel=1e-9)


def test_without_vectors_the_other_features_stay(access):
    """DEG-01: keyword only, and it says so."""
    write_setting(access, Level.VAULT, "embeddings", False)
    remember(access, "Tea in the morning.", entities=["Alice"])
    answer = search_memories(access, SearchQuery.parse({"query": "What tea does Alice take?"}))
    assert answer.degraded == ["embeddings"]
    assert set(answer.hits[0].legs) == {"keyword", "keyword_window", "coverage", "author"}


def test_without_words_meaning_stays(access):
    write_setting(access, Level.VAULT, "keyword_index", False)
    memory = remember(access, "Staging uses PostgreSQL 17.").pk
    assert order(access, "Which PostgreSQL does staging use?") == [memory]


def test_the_seeds_graph_leg(access):
    """SRC-04: one step along links from what was found; another word for it is not needed."""
    write_setting(access, Level.VAULT, "search_profile", "seed")
    found_first = remember(access, "The lighthouse keeper writes a diary.").pk
    linked = remember(access, "Marmalade on toast.").pk
    assert linked not in order(access, "lighthouse diary", threshold=1.0)
    create_link(access, linked, found_first, Relation.REFINES)
    hits = found(access, "lighthouse diary", threshold=1.0)
    assert [hit.memory.pk for hit in hits] == [found_first, linked]
    assert hits[1].legs["graph"].contribution == pytest.approx(0.6 / 61)


def test_the_seeds_decay(access):
    """SRC-06: of two equal ones the newer comes first."""
    write_setting(access, Level.VAULT, "search_profile", "seed")
    old = remember(access, "The lighthouse keeper writes a diary.", event_at="2020-01-01T00:00:00Z", dedup=False).pk
    new = remember(access, "The lighthouse keeper writes the diary.", dedup=False).pk
    assert order(access, "lighthouse diary") == [new, old]
