"""Where a search loses a memory: each stage reached through the real search."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from banks.models import SettingValue
from memories.models import Embedding, Memory
from memories.rules.absence import Stage
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import AbsenceQuery
from memories.rules.vocabulary import Status
from memories.search.absence import Absence, explain_absence
from memories.services.editing import update_memory
from memories.services.lifecycle import archive_memory, change_status
from memoryhub.lib.clock import now
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import Sealed
from tests.conftest import ApiClient
from tests.factories import remember, write


def ask(access, memory: Memory, query: str = "zeppelin", **more: Any) -> Absence:
    return explain_absence(access, AbsenceQuery.parse({"query": query, "id": str(memory.pk), **more}))


def stage(*asked: Any, **more: Any) -> Stage:
    return ask(*asked, **more).verdict.stage


def test_it_is_there(access):
    """With its place, its rank and what each leg says."""
    memory = remember(access, "a zeppelin over the harbour")
    found = ask(access, memory)
    assert (found.verdict.stage, found.evidence.place, found.evidence.rank) == (Stage.IN_ANSWER, 1, 1)
    assert found.evidence.legs["keyword"].rank == 1
    assert found.score == found.least_score


def test_where_it_stands_in_life(access):
    """STA-09, SUP-07: draft, discarded, archived, replaced, expired."""
    draft = remember(access, "zeppelin draft", status="draft")
    gone = remember(access, "zeppelin discarded")
    change_status(access, gone.pk, Status.DISCARD)
    hidden = archive_memory(access, remember(access, "zeppelin archived").pk)
    old = remember(access, "zeppelin old")
    write(access, "zeppelin new", supersedes=str(old.pk))
    late = remember(access, "zeppelin late", expires_at=now() + dt.timedelta(hours=1))
    Memory.objects.filter(pk=late.pk).update(expires_at=now())
    found = [stage(access, memory) for memory in (draft, gone, hidden, old, late)]
    assert found == [Stage.DRAFT, Stage.DISCARDED, Stage.ARCHIVED, Stage.SUPERSEDED, Stage.EXPIRED]
    assert stage(access, hidden, include_archived=True) == Stage.IN_ANSWER
    before = dt.datetime(2020, 1, 1, tzinfo=dt.UTC).isoformat()
    assert stage(access, old, as_of=before) == Stage.NOT_YET_WRITTEN


def test_a_filter_that_it_did_not_pass_then_is_named(access):
    """SRC-18: by the labels it had at `as_of`, whatever it has now."""
    memory = remember(access, "a zeppelin", type="skill", status="draft")
    then = now().isoformat()
    change_status(access, memory.pk, Status.ACCEPTED)
    update_memory(access, memory.pk, MemoryChanges.parse({"type": "fact"}))
    assert stage(access, memory) == Stage.IN_ANSWER
    assert stage(access, memory, as_of=then) == Stage.DRAFT
    assert stage(access, memory, as_of=then, status="draft") == Stage.IN_ANSWER
    assert ask(access, memory, as_of=then, status="draft", type="fact").evidence.failed == ("type",)
    assert ask(access, memory, as_of=now().isoformat(), type="skill").evidence.failed == ("type",)


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ({"banks": ["Health"]}, "bank"),
        ({"type": "skill"}, "type"),
        ({"category": "semantic"}, "category"),
        ({"namespace": ["other"]}, "namespace"),
        ({"tag": ["x"]}, "tag"),
        ({"min_importance": 5}, "min_importance"),
        ({"created_before": "2020-01-01"}, "created"),
        ({"q": "bank:Health"}, "q"),
        ({"is_protected": True}, "is_protected"),
    ],
)
def test_a_filter_is_named(access, wanted, name):
    """BNK-07, MOD-12: each asked by itself, with its name."""
    found = ask(access, remember(access, "a zeppelin"), **wanted)
    assert (found.verdict.stage, found.evidence.failed) == (Stage.FILTER, (name,))


def test_the_vaults_floor_of_trust(access):
    """DESIGN §6."""
    memory = remember(access, "a zeppelin", source_kind="web")
    SettingValue.objects.create(vault=access.vault, level="vault", key="min_trust", value="stated")
    assert stage(access, memory) == Stage.MIN_TRUST
    assert stage(access, memory, min_trust="untrusted") == Stage.IN_ANSWER


def test_too_far_away_in_meaning(access):
    """SRC-17: on the scale that thresholds are stated on."""
    memory = remember(access, "The invoice of March is paid.")
    found = ask(access, memory)
    leg = found.evidence.legs["semantic"]
    assert found.verdict.stage == Stage.BELOW_THRESHOLD
    assert leg.score is not None
    assert leg.score < 0.4 == leg.threshold
    assert found.evidence.legs["keyword"].score is None


def test_outside_the_answer_and_outside_the_candidates(access):
    """SRC-01: ranked below top_k; and not ranked at all where a leg ends before it."""
    memories = [remember(access, "zeppelin " + "and many other words " * n, dedup=False) for n in range(13)]
    by_rank = {ask(access, memory, mode="keyword", top_k=3).evidence.rank: memory for memory in memories}
    assert sorted(rank or 0 for rank in by_rank) == list(range(1, 14))
    found = ask(access, by_rank[13], mode="keyword", top_k=3)
    assert (found.verdict.stage, found.evidence.total) == (Stage.OUTSIDE_TOP_K, 13)
    assert found.score is not None
    assert found.least_score is not None
    assert found.score < found.least_score
    found = ask(access, by_rank[13], mode="keyword", settings={"candidate_limit": 10})
    assert (found.verdict.stage, found.evidence.legs["keyword"].rank) == (Stage.NOT_A_CANDIDATE, 13)


def test_cut_by_the_budget(access):
    """DESIGN §5: top_k, or as many as the tokens hold."""
    for n in range(2):
        remember(access, f"zeppelin {n}")
    memory = remember(access, "zeppelin " + "and many other words " * 20)
    assert stage(access, memory, mode="keyword", max_tokens=40) == Stage.TOKEN_BUDGET


def test_not_indexed_yet_and_no_word_in_common(access):
    """MOD-42: the vector waits; and where only words are compared."""
    memory = remember(access, "The invoice of March is paid.")
    assert stage(access, memory, mode="keyword") == Stage.NO_COMMON_WORD
    Embedding.objects.filter(memory=memory).delete()
    Memory.objects.filter(pk=memory.pk).update(index_state="pending")
    assert stage(access, memory) == Stage.NOT_INDEXED


def test_a_text_that_does_not_open(access):
    """ENC-20."""
    memory = remember(access, "a zeppelin")
    Memory.objects.filter(pk=memory.pk).update(content=Sealed(b"M\x01broken"))
    assert stage(access, memory) == Stage.UNREADABLE


def test_an_unknown_memory_is_not_found(access, other_access):
    """API-17: nor another vault's."""
    for memory_id in (new_id(), remember(other_access, "a zeppelin").pk, "nonsense"):
        with pytest.raises(NotFound):
            explain_absence(access, AbsenceQuery(query="zeppelin", id=str(memory_id)))


def test_over_http(api: ApiClient):
    """The stage for programs, the sentence for people; the successor by its id."""
    old = api.send("POST", "/memories", {"content": "zeppelin old"}).json()["memory"]
    new = api.send("POST", f"/memories/{old['id']}/supersede", {"content": "zeppelin new"}).json()["memory"]
    path = "/memories/search/why-not"
    answer = api.send("POST", path, {"query": "zeppelin", "memoryId": old["id"], "topK": 5}).json()
    assert (answer["stage"], answer["filters"], answer["superseded_by"]) == ("superseded", ["archived"], new["id"])
    answer = api.send("POST", path, {"query": "zeppelin", "id": new["id"]}).json()
    assert (answer["stage"], answer["place"], answer["legs"]["keyword"]["rank"]) == ("in_answer", 1, 1)
    assert api.send("POST", path, {"query": "zeppelin"}).status_code == 422
    assert api.send("POST", path, {"query": "zeppelin", "id": "nonsense"}).status_code == 404
