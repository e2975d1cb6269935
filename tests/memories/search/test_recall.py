"""Search as a whole: legs fused, filters in each, and honest about what was missing."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from banks.access import KeyScope
from banks.access.access import MissingScope
from banks.models import SettingValue
from banks.services.banks import UnknownBank
from memories.models import Embedding, Memory, MemoryIndex
from memories.rules.filters import SearchQuery
from memories.search.recall import SearchAnswer, search_memories
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


def test_a_search_asks_the_database_little(access, django_assert_num_queries):
    """API-06: settings and space are remembered; three for the legs, one for the texts, one for what has changed.

    The candidates come in a sixth, read in binary, which is not counted here.
    """
    memory = remember(access, "a zeppelin over the harbour")
    assert ids(search(access)) == [memory.pk]
    with django_assert_num_queries(5):
        search(access)


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
    """SRC-18, MOD-12: what does not pass is found neither by its words nor by its meaning."""
    labels, wanted = FILTERS[name]
    hit = remember(access, "a zeppelin over the harbour", **labels)
    for text in ("a zeppelin over the harbour!", "the zeppelin", "a zeppelin in the sky"):
        remember(access, text, dedup=False)
    answer = search(access, "a zeppelin over the harbour", threshold=0.0, **wanted)
    assert ids(answer) == [hit.pk]
    assert set(answer.hits[0].legs) >= {"semantic", "keyword"}


def test_an_unknown_bank_is_named(access):
    """BNK-07: rather than an empty answer."""
    with pytest.raises(UnknownBank):
        search(access, banks=["Sport"])


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
