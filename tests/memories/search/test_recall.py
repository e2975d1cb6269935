"""Search as a whole: legs fused, filters in each, and honest about what was missing."""

from __future__ import annotations

import datetime as dt
from typing import Any
from uuid import UUID

import psycopg
import pytest
import time_machine

from banks.access import KeyScope
from banks.access.access import MissingScope
from banks.models import SettingValue
from banks.services.banks import UnknownBank
from memories.models import Embedding, Memory, MemoryIndex
from memories.rules.filters import SearchMode, SearchQuery
from memories.rules.layers import SettingInvalid
from memories.rules.tokens import estimate_tokens, fitting
from memories.search.recall import SearchAnswer, search_memories
from memories.services.lifecycle import archive_memory
from memoryhub.env import environment
from memoryhub.lib.errors import Invalid
from memoryhub.lib.sealing import Sealed
from memoryhub.providers.registry import get_embedder
from tests.factories import access_of, make_key, remember

QUESTION = "zeppelin"
WORDS = {"keyword", "keyword_window", "coverage"}
MEANING = {"semantic", "semantic_window"}


def search(access, query=QUESTION, **more) -> SearchAnswer:
    return search_memories(access, SearchQuery.parse({"query": query, **more}))


def ids(answer: SearchAnswer) -> list[UUID]:
    return [hit.memory.pk for hit in answer.hits]


def test_words_and_meaning_are_put_together(access):
    """SRC-01, SRC-16: each hit says what each leg found, and the score is the sum of their parts."""
    both = remember(access, "A zeppelin flew over Oslo.")
    meaning = remember(access, "An airship was seen above the Norwegian capital.")
    remember(access, "The invoice of March is paid.")
    answer = search(access, "zeppelin over Oslo", threshold=0.2)
    assert ids(answer)[0] == both.pk
    for hit in answer.hits:
        assert hit.score == pytest.approx(sum(leg.contribution for leg in hit.legs.values()))
        assert set(hit.legs) <= WORDS | MEANING
    assert set(answer.hits[0].legs) == WORDS | MEANING
    assert (answer.degraded, answer.unreadable) == ([], 0)
    assert answer.took_ms > 0
    assert meaning.pk in ids(search(access, "airship capital"))


@pytest.mark.parametrize("profile", ["balanced", "seed"])
def test_the_threshold_is_for_meaning_alone(access, profile):
    """SRC-17, DEF-16: at the highest threshold words are found all the same, and nothing by its meaning alone."""
    SettingValue.objects.create(vault=access.vault, level="vault", key="search_profile", value=profile)
    words = remember(access, "zeppelin schedule and many other things that have nothing to do with it")
    meaning = remember(access, "An airship was seen above the Norwegian capital.")
    assert ids(search(access, "a flying dirigible", threshold=0.4)) == [meaning.pk]
    assert ids(search(access, "a flying dirigible", threshold=1.0)) == []
    answer = search(access, threshold=1.0)
    assert ids(answer) == [words.pk]
    assert "keyword" in answer.hits[0].legs


def test_every_stage_says_what_it_took(access):
    """SRC-16: in the order they ran, and together no more than the whole took."""
    remember(access, "a zeppelin over the harbour")
    answer = search(access)
    names = [stage.name for stage in answer.stages]
    assert names == ["understand", "keyword", "embed", "semantic", "pool", "rank", "read"]
    assert 0 < sum(stage.ms for stage in answer.stages) <= answer.took_ms
    assert (answer.stages[-1].taken, answer.stages[-1].given) == (1, 1)


def test_a_search_asks_the_database_little(access, monkeypatch):
    """API-06: the configuration's version, the tail, who passes, the nearest, the candidates, the texts."""
    memory = remember(access, "a zeppelin over the harbour")
    assert ids(search(access)) == [memory.pk]
    said: list[object] = []
    execute = psycopg.Cursor.execute

    def counted(cursor, query, *args, **options):
        said.append(query)
        return execute(cursor, query, *args, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    search(access)
    assert len(said) == 6


def test_remembered_filters_know_what_time_it_is(access):
    """SRC-18: filters are compiled once, and what expires in between is not found any more."""
    remember(access, "zeppelin", expires_at="2999-01-01T00:00:00Z")
    assert len(search(access).hits) == 1
    with time_machine.travel(dt.datetime(3000, 1, 1, tzinfo=dt.UTC)):
        assert search(access).hits == []


def test_a_changed_setting_holds_for_the_next_search(access):
    """CFG-01: what is remembered is remembered by the version of the vault's configuration."""
    remember(access, "zeppelin one", source_kind="web")
    assert len(search(access).hits) == 1
    setting = SettingValue.objects.create(vault=access.vault, level="vault", key="min_trust", value="inferred")
    assert search(access).hits == []
    setting.delete()
    assert len(search(access).hits) == 1


FILTERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "type": ({"type": "skill"}, {"type": "skill"}),
    "category": ({"category": "episodic"}, {"category": ["episodic"]}),
    "role": ({"role": "tool"}, {"role": "tool"}),
    "bank": ({"bank": "Health"}, {"banks": ["health"]}),
    "user": ({"user_id": "u"}, {"user_id": "u"}),
    "agent": ({"agent_id": "a"}, {"agent_id": "a"}),
    "session": ({"session_id": "s"}, {"session_id": "s"}),
    "task": ({"task_id": "t"}, {"task_id": "t"}),
    "tag": ({"tags": ["x", "y"]}, {"tag": ["y"]}),
    "entity": ({"entities": ["Ada"]}, {"entity": "Ada"}),
    "namespace": ({"namespace": ["a", "b"]}, {"namespace": ["a", "b"]}),
    "importance": ({"importance": 5}, {"min_importance": 4}),
    "trust": ({"source_kind": "user_stated"}, {"min_trust": "stated"}),
    "created": ({"created_at": "2020-01-01"}, {"created_before": "2021-01-01"}),
    "status": ({"status": "draft"}, {"status": "draft"}),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_holds_in_each_leg(access, name):
    """SRC-11, SRC-14, SRC-15, SRC-18, MOD-12: what does not pass is found neither by its words nor by its meaning."""
    labels, wanted = FILTERS[name]
    hit = remember(access, "a zeppelin over the harbour", **labels)
    for text in ("a zeppelin over the harbour!", "the zeppelin", "a zeppelin in the sky"):
        remember(access, text, dedup=False)
    answer = search(access, "a zeppelin over the harbour", threshold=0.0, **wanted)
    assert ids(answer) == [hit.pk]
    assert set(answer.hits[0].legs) >= {"semantic", "keyword"}


def test_an_unknown_bank_is_named(access):
    """BNK-07: rather than an empty answer."""
    with pytest.raises(UnknownBank) as refused:
        search(access, banks=["Work", "Sport"])
    assert [error.pointer for error in refused.value.errors] == ["/banks/1"]


@pytest.mark.parametrize("value", ["", "  ", "x" * 10_001, "a\x00b", 7, None])
def test_a_question_must_be_one(access, value):
    """API-17: 1 to 10,000 characters with something in them."""
    with pytest.raises(Invalid):
        search(access, value)


@pytest.mark.parametrize("top_k", [0, 201, True, 2.5, "3"])
def test_top_k_has_bounds(access, top_k):
    """API-17: strict integers from 1 to 200."""
    with pytest.raises(Invalid):
        search(access, topK=top_k)


def test_top_k_cuts_after_ranking(access):
    """SRC-01: the best, in the same order as with more."""
    for n in range(12):
        remember(access, f"zeppelin {n} " + "and so on " * n)
    everybody = ids(search(access, threshold=0.0, top_k=200))
    assert len(everybody) == 12
    assert ids(search(access, threshold=0.0, top_k=3)) == everybody[:3]


def test_a_token_budget_cuts_after_whole_hits(access):
    """SRC-01: instead of top_k; the first ones of the same order, as long as they fit as they are shown."""
    for n in range(14):
        remember(access, f"zeppelin {n} " + "and so on " * (n + 1))
    everybody = search(access, threshold=0.0, top_k=200).hits
    costs = [estimate_tokens(hit.memory.content) for hit in everybody]
    places = range(len(costs))
    assert ids(search(access, threshold=0.0, max_tokens=10_000)) == [hit.memory.pk for hit in everybody]
    for budget in (1, costs[0], sum(costs[:3]), sum(costs[:3]) + 1):
        hits = search(access, threshold=0.0, max_tokens=budget).hits
        assert [hit.memory.pk for hit in hits] == [
            everybody[place].memory.pk for place in fitting(places, costs.__getitem__, budget)
        ]
    assert len(ids(search(access, threshold=0.0, max_tokens=10_000, top_k=3))) == 3
    short = search(access, threshold=0.0, max_tokens=60 * 14, compact=True)
    assert len(short.hits) == 14


@pytest.mark.parametrize("budget", [0, -1, 200_001, True, "5", 2.5])
def test_a_token_budget_has_bounds(access, budget):
    """API-17: strict integers from 1 to 200,000."""
    with pytest.raises(Invalid):
        search(access, max_tokens=budget)


def test_without_an_embedder_words_are_enough(access, monkeypatch):
    """DEG-02: configured as `none`: keyword search, and the answer says what is missing."""
    before = remember(access, "a zeppelin")
    monkeypatch.setenv("MEMORYHUB_EMBEDDER", "none")
    environment.cache_clear()
    get_embedder.cache_clear()
    try:
        later = remember(access, "another zeppelin")
        answer = search(access)
    finally:
        monkeypatch.undo()
        environment.cache_clear()
        get_embedder.cache_clear()
    assert (set(ids(answer)), answer.degraded) == ({before.pk, later.pk}, ["embeddings"])
    assert not Embedding.objects.filter(memory=later).exists()
    assert Memory.objects.get(pk=later.pk).index_state == "off"


def test_a_vault_may_keep_no_words(access):
    """CON-07, CFG-01: switched off, nothing about words is stored and meaning still finds."""
    SettingValue.objects.create(vault=access.vault, level="vault", key="keyword_index", value=False)
    memory = remember(access, "a zeppelin over the harbour")
    assert not MemoryIndex.objects.exists()
    answer = search(access, "a zeppelin over the harbour")
    assert ids(answer) == [memory.pk]
    assert set(answer.hits[0].legs) == MEANING


def test_a_hit_that_does_not_open_is_skipped_and_counted(access):
    """ENC-20, DEF-10: the others fill its place up to top_k."""
    memories = [remember(access, f"zeppelin {n}") for n in range(6)]
    best = search(access, threshold=0.0).hits[0].memory
    Memory.objects.filter(pk=best.pk).update(content=Sealed(b"M\x01broken"))
    answer = search(access, threshold=0.0, top_k=5)
    assert (len(answer.hits), answer.unreadable) == (5, 1)
    assert best.pk not in ids(answer)
    assert set(ids(answer)) <= {memory.pk for memory in memories}


def test_a_vaults_own_floor_of_trust(access):
    """DESIGN §6: nothing is hidden unless a vault asks for it; a caller may look below and says so."""
    web, stated = (
        remember(access, "zeppelin one", source_kind="web"),
        remember(access, "zeppelin two", source_kind="user_stated"),
    )
    assert set(ids(search(access))) == {web.pk, stated.pk}
    SettingValue.objects.create(vault=access.vault, level="vault", key="min_trust", value="inferred")
    assert ids(search(access)) == [stated.pk]
    assert set(ids(search(access, min_trust="untrusted"))) == {web.pk, stated.pk}


def test_searching_changes_nothing(access):
    """SRC-01: no version, no history, no lock."""
    memory = remember(access, "a zeppelin")
    search(access)
    stored = Memory.objects.get(pk=memory.pk)
    assert (stored.version, stored.updated_at) == (1, memory.updated_at)


def test_searching_needs_to_read(access):
    """API-17: a writing key finds nothing out."""
    with pytest.raises(MissingScope):
        search(access_of(make_key(access, frozenset({KeyScope.MEMORIES_WRITE}))[1]))


def test_an_empty_vault_answers(access):
    """DEG-02: nothing found, nothing missing."""
    answer = search(access)
    assert (answer.hits, answer.degraded) == ([], [])


def test_words_alone_ask_no_embedder(access):
    """API-06: the mode of somebody who is still typing; nothing is missing, so nothing is degraded."""
    remember(access, "The bicycle has a flat tyre.")
    answer = search_memories(access, SearchQuery(query="bicycle", mode=SearchMode.KEYWORD))
    assert [hit.memory.content for hit in answer.hits] == ["The bicycle has a flat tyre."]
    assert answer.degraded == []
    assert not {"embed", "semantic"} & {stage.name for stage in answer.stages}


TOLD = [
    "The driver is written in C, not in Go.",
    "Vitamin K2 with the fish.",
    "京都の天気は晴れです。",
    "The call getUserById is slow behind api.example.com/v2.",
    "서버가 느립니다",
]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        *[("C", 0), ("go", 0), ("K2", 1), ("京", 2), ("天気", 2), ("サーバー 天気", 2)],
        *[("user", 3), ("GETUSERBYID", 3), ("v2", 3), ("example", 3), ("서버", 4)],
    ],
)
def test_short_words_unspaced_scripts_and_identifiers(access, question, place):
    """SRC-19: found by words alone: one or two characters, CJK, identifiers whole and in parts."""
    memories = [remember(access, text).pk for text in TOLD]
    answer = search_memories(access, SearchQuery(query=question, mode=SearchMode.KEYWORD))
    assert ids(answer)[0] == memories[place]
    assert len(answer.hits) <= 2


HOSTILE = ["%", "_", "100%", "a & b | !c <-> d:*", "';DROP TABLE memories_memory;--", '"', '"open', '""""', "\\", "((("]
HOSTILE += [
    "%(vault)s %s {0}",
    "\u202e\ufeff",
    "😀" * 50,
    "-" * 9_999,
    '"' + "a b " * 40 + '"',
    "is:archived -x",
    "a" * 10_000,
]


@pytest.mark.parametrize("profile", ["balanced", "seed"])
def test_a_question_is_data(access, profile):
    """SRC-20: whatever it holds is looked for, never obeyed; only what shares a word or a meaning is found."""
    remember(access, "a zeppelin over the harbour")
    settings = {"search_profile": profile, "graph_weight": 1.0}
    for question in HOSTILE:
        assert search(access, question, threshold=1.0, settings=settings).hits == []


def test_conditions_beside_the_question(access):
    """SRC-19, SRC-20: they narrow, a mistake is named and narrows nothing, and they may show what is hidden."""
    kept = remember(access, "The bicycle is at the station.", bank="Work", tags=["bike"])
    hidden = remember(access, "The bicycle was stolen.", bank="Work")
    remember(access, "The bicycle is blue.", bank="Personal")
    archive_memory(access, hidden.pk)

    def found(q: str) -> set[object]:
        return {hit.memory.pk for hit in search_memories(access, SearchQuery(query="bicycle", q=q)).hits}

    assert found("bank:work") == {kept.pk}
    assert found("is:archived") == {hidden.pk}
    assert found('-"blue" tag:bike') == {kept.pk}
    answer = search_memories(access, SearchQuery(query="bicycle", q="banc:work"))
    assert len(answer.hits) == 2
    assert [(mistake.start, mistake.end) for mistake in answer.mistakes] == [(0, 5)]


def test_settings_of_one_request(access):
    """CFG-02: what a request asks for holds for it alone; what cannot be set like this is named."""
    remember(access, "The bicycle has a flat tyre.")
    for settings, weight in (({"semantic_weight": 3.0}, 3.0), ({}, 1.0)):
        (hit,) = search_memories(access, SearchQuery(query="bicycle", settings=settings)).hits
        assert hit.legs["semantic"].weight == weight
    wrong = {"search_profile": "best", "pruning_batch_size": 5, "nonsense": 1, "date_weight": 0}
    with pytest.raises(SettingInvalid) as caught:
        search_memories(access, SearchQuery(query="bicycle", settings=wrong))
    named = {error.pointer for error in caught.value.errors}
    assert {"/settings/pruning_batch_size", "/settings/nonsense", "/settings/search_profile"} <= named


def test_the_plain_cosines_are_told(access):
    memory = remember(access, "The bicycle has a flat tyre.")
    answer = search_memories(access, SearchQuery(query="bicycle with a flat tyre"))
    assert 0.2 < answer.cosines[memory.pk] <= 1.0001
