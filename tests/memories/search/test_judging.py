"""Re-ranking by a language model: on request, bounded, explained, and never needed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memories.models import Embedding, Memory, ModelCall
from memories.rules.filters import SearchQuery
from memories.rules.settings import Level
from memories.search.recall import SearchAnswer, search_memories
from memories.services.settings import write_setting
from memoryhub.lib.metrics import LLM_CALLS_SKIPPED
from memoryhub.providers.base import ProviderError
from memoryhub.providers.fake_chat import FakeChatModel
from tests.endpoint import chat_model
from tests.factories import remember

DOWN = ProviderError("The model cannot be reached.")


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeChatModel]:
    with chat_model(monkeypatch) as model:
        yield model


@pytest.fixture
def zeppelins(access) -> list[Memory]:
    """Five that are found; the vault wants a model's opinion."""
    write_setting(access, Level.VAULT, "use_llm_for_relevance", True)
    return [remember(access, f"a zeppelin stood in shed {n} {'and another one ' * n}") for n in range(5)]


def search(access, query="zeppelin", **more) -> SearchAnswer:
    return search_memories(access, SearchQuery(query=query, **more))


def places(answer: SearchAnswer, memories: list[Memory]) -> list[int]:
    order = {memory.pk: place for place, memory in enumerate(memories)}
    return [order[hit.memory.pk] for hit in answer.hits]


def skipped(reason: str) -> float:
    return float(LLM_CALLS_SKIPPED.labels("rerank", reason)._value.get())


def test_off_unless_asked_for(access, chat):
    """OPT-01, OPT-05."""
    remember(access, "zeppelin")
    assert search(access).degraded == []
    assert chat.asked == []
    assert ModelCall.objects.count() == 0


def test_the_models_choice_comes_first_and_is_explained(access, chat, zeppelins):
    """OPT-05, SRC-16: the others follow as they were; scores still fall and are the sum of their parts."""
    before = places(search(access, settings={"use_llm_for_relevance": False}), zeppelins)
    chat.script('{"labels": ["m4", "m2", "m77", "m4"]}')
    answer = search(access)
    assert places(answer, zeppelins) == [before[3], before[1], before[0], before[2], before[4]]
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    for hit in answer.hits:
        assert hit.score == pytest.approx(sum(leg.contribution for leg in hit.legs.values()))
    assert [hit.legs["model"].rank for hit in answer.hits[:2]] == [1, 2]
    assert all("model" not in hit.legs for hit in answer.hits[2:])
    assert answer.degraded == []
    assert "model" in {stage.name for stage in answer.stages}
    row = ModelCall.objects.get()
    assert (row.purpose, row.result, len(row.subjects)) == ("rerank", "ok", 5)


def test_only_the_best_are_shown_and_only_as_data(access, chat, zeppelins):
    """OPT-02, EXT-19."""
    write_setting(access, Level.VAULT, "llm_top_n", 2)
    write_setting(access, Level.VAULT, "llm_candidate_limit", 3)
    chat.script('{"labels": ["m3", "m2", "m1"]}')
    answer = search(access)
    (system, user) = chat.asked[0]
    assert "zeppelin" not in system.text
    assert [line.split(":")[0] for line in user.text.split("\n")[1:-1]] == ["question", "m1", "m2", "m3"]
    assert sum("model" in hit.legs for hit in answer.hits) == 2


@pytest.mark.parametrize("answer", [DOWN, "no idea", '{"labels": "all"}'])
def test_without_an_answer_the_ranking_stands(access, chat, zeppelins, answer):
    """DEG-12: and the search says what was missing."""
    before = places(search(access, settings={"use_llm_for_relevance": False}), zeppelins)
    chat.script(answer)
    degraded = search(access)
    assert places(degraded, zeppelins) == before
    assert degraded.degraded == ["reranking"]


def test_the_open_guard_is_not_waited_for(access, chat, zeppelins):
    """GRD-09: five searches tried; the sixth does not."""
    chat.script(*[DOWN] * 5)
    for _ in range(6):
        assert search(access).degraded == ["reranking"]
    assert len(chat.asked) == 5
    latest = ModelCall.objects.latest("created_at")
    assert (latest.result, latest.reason) == ("skipped", "guard_open")


def test_nobody_is_asked_when_all_of_the_best_are_near(access, chat):
    """OPT-04, MET-04: skipped, and counted as skipped with its reason."""
    write_setting(access, Level.VAULT, "use_llm_for_relevance", True)
    remember(access, "a zeppelin over Oslo")
    counted = skipped("all_relevant")
    answer = search(access, "a zeppelin over Oslo")
    assert answer.degraded == []
    assert chat.asked == []
    row = ModelCall.objects.get()
    assert (row.result, row.reason, row.subjects) == ("skipped", "all_relevant", [answer.hits[0].memory.pk])
    assert skipped("all_relevant") == counted + 1


def test_nothing_found_is_no_call_saved(access, chat):
    """DEF-03."""
    write_setting(access, Level.VAULT, "use_llm_for_relevance", True)
    remember(access, "the invoice of March")
    assert search(access, "xylophone", threshold=1.0).hits == []
    assert (ModelCall.objects.count(), chat.asked) == (0, [])


def test_without_a_model_it_says_so(access, zeppelins):
    """GEN-02: the setting is on, nobody is there."""
    assert search(access).degraded == ["reranking"]
    assert ModelCall.objects.get().reason == "no_model"


def test_what_only_words_found_is_worth_asking(access, chat, zeppelins):
    """DEF-04: a candidate without a vector is not "near"."""
    Embedding.objects.all().delete()
    chat.script('{"labels": ["m1"]}')
    search(access)
    assert len(chat.asked) == 1
