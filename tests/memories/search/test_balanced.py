"""The real search on small worlds: what each feature does, and that it costs nothing where there is none of it."""

from __future__ import annotations

import datetime as dt

import pytest

from memories.models import Memory
from memories.rules.filters import SearchQuery
from memories.rules.settings import Level
from memories.rules.vocabulary import Relation
from memories.search.recall import search_memories
from memories.services.linking import create_link
from memories.services.settings import write_setting
from memoryhub.lib.sealing import Sealed
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


def test_what_a_question_quotes(access):
    """SRC-19, DESIGN §5.2: the same words in another order are worth less; seen in the opened texts, in any script."""
    other = remember(access, "The harbour: blue. The boat: green, and it needs paint.").pk
    exact = remember(access, "A note on the blue boat of the harbour, which needs paint.").pk
    assert order(access, 'Who paints "the blue  BOAT"?')[0] == exact
    hits = {hit.memory.pk: hit for hit in found(access, "Who paints “the blue boat” in the harbour?")}
    assert hits[exact].legs["phrase"].score == 1
    assert "phrase" not in hits[other].legs
    assert "phrase" not in found(access, 'What is "blue"?')[0].legs
    chinese = remember(access, "我们每天 晚上备份数据库。").pk
    hit = next(hit for hit in found(access, '什么时候 "每天 晚上" 备份') if hit.memory.pk == chinese)
    assert hit.legs["phrase"].score == 1


def test_a_phrase_that_does_not_open_breaks_nothing(access):
    """ENC-20: it says nothing, and is counted when it comes to showing it."""
    broken = remember(access, "A note on the blue boat.").pk
    kept = remember(access, "The blue boat needs paint.").pk
    Memory.objects.filter(pk=broken).update(content=Sealed(b"M\x01broken"))
    assert order(access, 'Who paints "the blue boat"?') == [kept]


def test_the_more_important_of_equals(access):
    """DESIGN §5.5: importance 5 before 1, and so with confidence; a vault may switch it off."""
    pairs = {"importance": (1, 5), "confidence": (2, 4)}
    for name, levels in pairs.items():
        low, high = (
            remember(access, "The ferry leaves at noon.", dedup=False, tags=[name], **{name: level}).pk
            for level in levels
        )
        assert order(access, "When does the ferry leave?", tag=name) == [high, low]
        best = found(access, "When does the ferry leave?", tag=name)[0]
        assert best.legs[name].contribution > 0
        write_setting(access, Level.VAULT, f"{name}_boost", 0.0)
        assert order(access, "When does the ferry leave?", tag=name) == [low, high]


def test_copies_do_not_fill_the_first_places(access):
    """SRC-07: twelve copies and three others: the others are among the first four."""
    for _ in range(12):
        remember(access, "The ferry to the island leaves at noon.", dedup=False)
    others = {
        remember(access, text).pk
        for text in ("The ferry has a bar.", "Tickets for the ferry cost nine crowns.", "A ferry needs no bridge.")
    }
    asked = {"question": "When does the ferry to the island leave?", "threshold": 0.0}
    assert others <= set(order(access, **asked)[:4])
    write_setting(access, Level.VAULT, "balanced_mmr_lambda", 1.0)
    assert not others & set(order(access, **asked)[:4])


def test_age_counts_from_the_newest_candidate(access):
    """SRC-06: off unless a vault asks for it, and then an archive of last century is ranked like one of today."""
    days = ["1999-01-01T10:00:00Z", "1999-03-01T10:00:00Z"]
    old, new = (remember(access, "The ferry leaves at noon.", dedup=False, event_at=day).pk for day in days)
    assert order(access, "ferry") == [old, new]
    write_setting(access, Level.VAULT, "balanced_half_life_days", 30)
    hits = found(access, "ferry")
    assert [hit.memory.pk for hit in hits] == [new, old]
    assert "decay" not in hits[0].legs
    assert hits[1].legs["decay"].score == pytest.approx(max(0.3, 0.5 ** (59 / 30)))


def test_the_graph_when_it_counts(access):
    """SRC-04: in balanced only with a weight; then what is linked is a candidate and gets its share."""
    first = remember(access, "The lighthouse keeper writes a diary.").pk
    linked = remember(access, "Marmalade on toast.").pk
    create_link(access, linked, first, Relation.REFINES)
    assert order(access, "lighthouse diary", threshold=1.0) == [first]
    write_setting(access, Level.VAULT, "graph_weight", 0.3)
    hits = found(access, "lighthouse diary", threshold=1.0)
    assert [hit.memory.pk for hit in hits] == [first, linked]
    assert hits[1].legs["graph"].contribution == pytest.approx(0.3)


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
