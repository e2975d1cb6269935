"""Writing again under the same external id: an upsert, decided before everything else."""

from __future__ import annotations

import pytest

from banks.services.agents import create_agent
from banks.services.drafts import AgentDraft
from memories.models import Embedding, Memory, MemoryIndex, Revision
from memories.rules.settings import Level
from memories.rules.vocabulary import Outcome
from memories.services.lifecycle import archive_memory
from memories.services.revising import DuplicateContent
from memories.services.settings import write_setting
from memories.services.superseding import TrustTooLow
from memories.services.writing import write_batch
from memoryhub.lib.errors import Conflict, HubError
from memoryhub.lib.sealing import Sealed
from tests.factories import access_of, draft, make_key, remember, write

ID = {"external_write_id": "agent:run123:fact:nextjs-stack"}


def test_the_same_body_again_changes_nothing(access):
    """IDM-01, IDM-03: same id, same version, no history, no new vector."""
    first = remember(access, "The stack is Next.js.", importance=4, tags=["web"], **ID)
    vector = Embedding.objects.get(memory=first).pk
    again = write(access, "The stack is Next.js.", importance=4, tags=["web"], **ID)
    assert (again.outcome, again.memory.pk) == (Outcome.IDEMPOTENT, first.pk)
    kept = Memory.objects.get()
    assert (kept.version, kept.updated_at) == (1, first.updated_at)
    assert Embedding.objects.get(memory=first).pk == vector
    assert not Revision.objects.exists()


def test_another_body_updates_in_place(access):
    """IDM-04: content and scores change, the vector and the tokens follow, the history keeps what was."""
    first = remember(access, "The stack is Next.js.", importance=4, tags=["web"], **ID)
    vector, tokens = Embedding.objects.get().vector, MemoryIndex.objects.get().terms
    result = write(access, "The stack is Django.", importance=5, **ID)
    assert (result.outcome, result.memory.pk) == (Outcome.UPDATED, first.pk)
    kept = Memory.objects.get()
    assert (kept.content, kept.importance, kept.tags, kept.version) == ("The stack is Django.", 5, ["web"], 2)
    assert kept.updated_at > first.updated_at
    assert Embedding.objects.get().vector != vector
    assert MemoryIndex.objects.get().terms != tokens
    assert kept.content_hash != first.content_hash
    revision = Revision.objects.get()
    assert (revision.version, revision.before["content"]) == (1, "The stack is Next.js.")
    assert revision.changed == ["content", "importance"]


@pytest.mark.parametrize("is_there", [True, False], ids=["there before", "of the batch"])
@pytest.mark.parametrize("vectors", [True, False], ids=["by vectors", "by characters"])
@pytest.mark.parametrize(("first", "second"), [("E1", "E2"), ("Jonas keeps 2 goats at home.", "Ada moved to Wels.")])
def test_what_the_batch_rewrote_swallows_nothing(access, first, second, vectors, is_there):
    """IDM-04, DUP-28: the old text is nowhere any more, so it is written; the new one is there."""
    write_setting(access, Level.VAULT, "embeddings", vectors)
    texts = [(first, ID), (second, ID), (first, {}), (second, {})]
    if is_there:
        remember(access, first, **ID)
        texts = texts[1:]
    written = write_batch(access, [draft(text, **more) for text, more in texts])
    rewritten, anew, again = [each for each in written[-3:] if not isinstance(each, HubError)]
    assert rewritten.outcome == Outcome.UPDATED
    assert (anew.outcome, anew.duplicate_of) == (Outcome.CREATED, None)
    assert (again.outcome, again.duplicate_of) == (Outcome.DUPLICATE, rewritten.memory.pk)
    assert {memory.pk: memory.content for memory in Memory.objects.live()} == {
        rewritten.memory.pk: second,
        anew.memory.pk: first,
    }


def test_a_rewording_of_what_the_batch_rewrote_is_a_duplicate(access):
    """DUP-26: what comes after an upsert is compared with what it says now."""
    there = remember(access, "Ada moved to Wels.", **ID)
    lives, reworded = "Jonas lives in the old house by the lake.", "In the old house by the lake Jonas lives."
    _, again = write_batch(access, [draft(lives, **ID), draft(reworded)])
    assert not isinstance(again, HubError)
    assert (again.outcome, again.duplicate_of) == (Outcome.DUPLICATE, there.pk)
    assert Memory.objects.get().content == lives


def test_an_archived_row_is_updated_and_stays_archived(access):
    """IDM-05: the answer shows it is archived."""
    memory = archive_memory(access, remember(access, "old", **ID).pk)
    result = write(access, "new", **ID)
    assert (result.outcome, result.memory.archived) == (Outcome.UPDATED, True)
    kept = Memory.objects.get(pk=memory.pk)
    assert kept.archived
    assert kept.content == "new"


def test_the_id_is_asked_before_the_content(access):
    """IDM-03: a known id wins over an equal text elsewhere; two live twins are refused, not merged."""
    remember(access, "tea")
    mine = remember(access, "coffee", **ID)
    with pytest.raises(DuplicateContent):
        write(access, "tea", **ID)
    assert Memory.objects.get(pk=mine.pk).content == "coffee"
    assert Memory.objects.count() == 2


def test_a_replayed_supersession_is_the_same_write(access):
    """IDM-03, SUP-01: the second time the old memory is superseded already, by this very write."""
    old = remember(access, "v1")
    first = write(access, "v2", supersedes=str(old.pk), **ID)
    assert first.outcome == Outcome.SUPERSEDED
    again = write(access, "v2", supersedes=str(old.pk), **ID)
    assert (again.outcome, again.memory.pk) == (Outcome.IDEMPOTENT, first.memory.pk)
    (in_batch,) = write_batch(access, [draft("v2", supersedes=str(old.pk), **ID)])
    assert not isinstance(in_batch, Exception)
    assert in_batch.outcome == Outcome.IDEMPOTENT


def test_the_same_id_in_another_vault_is_another_memory(access, other_access):
    """IDM-02: unique per vault."""
    assert remember(access, "x", **ID).pk != remember(other_access, "x", **ID).pk


def test_an_isolated_agent_cannot_overwrite_what_is_not_its_own(access):
    """MOD-25: knowing another agent's external id is no permission; the answer shows nothing of it."""
    theirs = remember(access, "the other agent's", **ID)
    create_agent(access, AgentDraft.parse({"name": "hermit", "isolated": True}))
    hermit = access_of(make_key(access, agent="hermit")[1])
    with pytest.raises(Conflict) as caught:
        write(hermit, "mine now", **ID)
    assert str(theirs.pk) not in f"{caught.value.message} {caught.value.extra}"
    assert Memory.objects.get(pk=theirs.pk).content == "the other agent's"
    own = remember(hermit, "its own", external_write_id="hermit:1")
    assert write(hermit, "its own, edited", external_write_id="hermit:1").memory.pk == own.pk


def test_a_key_cannot_overwrite_a_memory_in_a_bank_it_does_not_reach(access):
    """BNK-02: the id belongs to somebody else's bank."""
    theirs = remember(access, "in health", bank="Health", **ID)
    limited = access_of(make_key(access, banks=["Work"])[1])
    with pytest.raises(Conflict):
        write(limited, "mine now", bank="Work", **ID)
    assert Memory.objects.get(pk=theirs.pk).content == "in health"


def test_an_untrusted_source_lowers_what_it_rewrites(access):
    """DESIGN §6: new content is believed no more than who sent it; the same content loses nothing."""
    remember(access, "stated", source_kind="user_stated", **ID)
    assert write(access, "stated", source_kind="web", **ID).memory.trust == "stated"
    with pytest.raises(TrustTooLow):
        write(access, "rewritten", source_kind="web", **ID)
    assert write(access, "rewritten", source_kind="agent_inferred", **ID).memory.trust == "inferred"
    assert write(access, "rewritten again", source_kind="user_stated", **ID).memory.trust == "inferred"


def test_a_broken_row_is_mended_by_writing_it_again(access):
    """ENC-20, IDM-04: content that does not open any more counts as different, and is replaced."""
    memory = remember(access, "text", **ID)
    Memory.objects.filter(pk=memory.pk).update(content=Sealed(b"M\x01damaged"))
    result = write(access, "text", **ID)
    assert result.outcome == Outcome.UPDATED
    assert Memory.objects.get(pk=memory.pk).content == "text"
