"""Edits and restored versions: what changed, what was kept, what was refused."""

from __future__ import annotations

import pytest

from banks.access import KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry
from banks.services.agents import create_agent
from banks.services.banks import UnknownBank
from banks.services.drafts import AgentDraft
from memories.models import Embedding, Memory, MemoryIndex, Revision
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import SearchQuery
from memories.rules.settings import Level
from memories.search.reading import list_revisions
from memories.search.recall import search_memories
from memories.services.editing import restore_version, update_memory
from memories.services.lifecycle import archive_memory
from memories.services.revising import DuplicateContent, VersionUnreadable
from memories.services.settings import write_setting
from memories.services.superseding import TrustTooLow
from memoryhub.lib.crypto import DecryptionError
from memoryhub.lib.errors import Invalid, NotFound, StaleVersion
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import Sealed
from tests.factories import access_of, make_key, remember, write


def change(access, memory, expected=None, **values):
    return update_memory(access, memory.pk, MemoryChanges.parse(values), expected)


def found(access, words):
    return [hit.memory.pk for hit in search_memories(access, SearchQuery(query=words, threshold=1.0)).hits]


def test_an_edit_is_a_new_version_of_the_same_memory(access):
    """SUP-06, API-08, MOD-47: in place, with what was before kept and the audit in ids."""
    memory = remember(access, "Bob likes tea.", importance=2, tags=["drinks"])
    edited = change(access, memory, content="Bob likes coffee.", importance=5, reason="he said so")
    assert (edited.pk, edited.version, edited.content, edited.importance) == (memory.pk, 2, "Bob likes coffee.", 5)
    stored = Memory.objects.get()
    assert (stored.content, stored.tags, stored.version) == ("Bob likes coffee.", ["drinks"], 2)
    assert stored.updated_at > memory.updated_at
    assert stored.created_at == memory.created_at
    (kept,) = list_revisions(access, memory.pk)
    assert (kept.version, kept.changed, kept.reason) == (1, ["content", "importance"], "he said so")
    assert (kept.before["content"], kept.before["importance"]) == ("Bob likes tea.", 2)
    entry = AuditEntry.objects.get(action="update_memory")
    assert (entry.target_id, entry.version_before, entry.version_after) == (memory.pk, 1, 2)


def test_an_edit_is_searchable_at_once_and_the_old_words_are_gone(access):
    """CON-06, DEG-05: tokens and vector follow in the same transaction."""
    memory = remember(access, "the zeppelin is in Oslo")
    change(access, memory, content="the submarine is in Bergen")
    assert found(access, "submarine") == [memory.pk]
    assert found(access, "zeppelin") == []
    assert Embedding.objects.count() == MemoryIndex.objects.count() == 1


def test_labels_alone_touch_neither_vector_nor_tokens(access):
    """DEF-08: nothing is embedded again that did not change."""
    memory = remember(access)
    vector = Embedding.objects.get().pk
    change(access, memory, tags=["a"], bank="Work", category="episodic", role="ai", is_protected=True)
    assert Embedding.objects.get().pk == vector
    stored = Memory.objects.get()
    assert (stored.tags, stored.bank.name, stored.category, stored.role) == (["a"], "Work", "episodic", "ai")
    assert stored.is_protected


def test_what_changes_nothing_is_no_version(access):
    """API-08: the same values again leave version, history and audit alone."""
    memory = remember(access, "same", tags=["a"])
    assert change(access, memory, content=" same ", tags=["a"], bank="general").version == 1
    assert not Revision.objects.exists()
    assert AuditEntry.objects.filter(target_id=memory.pk).count() == 1


def test_null_clears_what_may_be_empty(access):
    """MOD-13: category, role and friends; content and bank may not be empty."""
    memory = remember(access, category="episodic", role="ai", fact_key="k", expires_at="2999-01-01")
    cleared = change(access, memory, category=None, role=None, fact_key=None, expires_at=None)
    assert (cleared.category, cleared.role, cleared.fact_key, cleared.expires_at) == (None, None, None, None)
    for refused in ({"content": None}, {"content": "  "}, {"bank": None}, {"importance": None}, {"type": None}):
        with pytest.raises(Invalid):
            change(access, memory, **refused)


def test_a_stale_version_changes_nothing(access):
    """API-08: 412 with the current version."""
    memory = remember(access, "v1")
    change(access, memory, content="v2")
    with pytest.raises(StaleVersion) as caught:
        change(access, memory, expected=1, content="v3")
    assert caught.value.extra == {"current_version": 2}
    assert Memory.objects.get().content == "v2"
    assert change(access, memory, expected=2, content="v3").version == 3


@pytest.mark.parametrize("which", ["unknown", "foreign", "nonsense"])
def test_what_is_not_there_cannot_be_edited(access, other_access, which):
    """API-17: foreign ids look unknown."""
    target = {"unknown": new_id(), "foreign": remember(other_access, "theirs").pk, "nonsense": "%00"}[which]
    with pytest.raises(NotFound):
        update_memory(access, str(target), MemoryChanges.parse({"content": "mine"}))
    assert Memory.objects.get(vault=other_access.vault).content == "theirs" if which == "foreign" else True


def test_an_edit_to_an_unknown_bank_is_refused(access):
    """BNK-11: PUT may reassign the bank, to one there is."""
    memory = remember(access)
    assert change(access, memory, memory_bank="hobby").bank.name == "Interests"
    with pytest.raises(UnknownBank):
        change(access, memory, bank="Sport")


def test_an_edit_into_a_twin_is_refused(access):
    """CON-08: 409 `duplicate_content`; nothing is half changed, and archived twins do not count."""
    twin, memory = remember(access, "tea"), remember(access, "coffee")
    with pytest.raises(DuplicateContent):
        change(access, memory, content="TEA!", importance=5)
    stored = Memory.objects.get(pk=memory.pk)
    assert (stored.content, stored.importance, stored.version) == ("coffee", 3, 1)
    assert found(access, "coffee") == [memory.pk]
    archive_memory(access, twin.pk)
    assert change(access, memory, content="TEA!").content == "TEA!"


def test_trust_rises_only_by_approval(access):
    """DESIGN §6: writers may lower it; raising needs the scope; rewriting makes it what the writer is worth."""
    writer = access_of(make_key(access, frozenset({KeyScope.MEMORIES_WRITE}))[1])
    memory = remember(access, source_kind="agent_inferred")
    assert change(writer, memory, trust="untrusted").trust == "untrusted"
    with pytest.raises(MissingScope):
        change(writer, memory, trust="verified")
    assert change(access, memory, trust="verified").trust == "verified"
    assert change(writer, memory, importance=5).trust == "verified"
    assert change(writer, memory, content="rewritten").trust == "inferred"


def test_a_version_comes_back(access):
    """MIG-13: content and labels of then, as the newest version; the versions between are kept."""
    memory = remember(access, "v1", importance=1, tags=["a"], event_at="2024-05-06T07:08:09Z", bank="Work")
    change(access, memory, content="v2", importance=5, event_at=None, bank="Health")
    change(access, memory, content="v3", tags=["b"])
    restored = restore_version(access, memory.pk, 1, expected_version=3)
    assert (restored.version, restored.content, restored.importance, restored.tags) == (4, "v1", 1, ["a"])
    assert restored.event_at == memory.event_at
    assert Memory.objects.get().bank.name == "Work"
    assert found(access, "v1") == [memory.pk]
    assert [kept.before["content"] for kept in list_revisions(access, memory.pk)] == ["v3", "v2", "v1"]
    assert restore_version(access, memory.pk, 3).content == "v3"


def test_restoring_changes_neither_status_nor_archive(access):
    """MIG-13: a version says what the memory said, not where it stood."""
    memory = remember(access, "v1")
    change(access, memory, content="v2")
    archive_memory(access, memory.pk)
    restored = restore_version(access, memory.pk, 1)
    assert (restored.content, restored.archived) == ("v1", True)


def test_restoring_does_not_launder_trust(access):
    """DESIGN §6: text from the web does not become what a person verified since."""
    memory = remember(access, "from the web", source_kind="web")
    change(access, memory, content="checked and corrected", trust="verified")
    assert restore_version(access, memory.pk, 1).trust == "untrusted"


@pytest.mark.parametrize("version", [0, 2, 99, -1])
def test_a_version_that_is_not_kept_cannot_come_back(access, version):
    """API-17: named as such; the current version is none of the past."""
    memory = remember(access, "v1")
    change(access, memory, content="v2")
    with pytest.raises(NotFound):
        restore_version(access, memory.pk, version)


def test_a_version_that_does_not_open_cannot_come_back(access):
    """ENC-20: and the others can."""
    memory = remember(access, "v1")
    change(access, memory, content="v2")
    change(access, memory, content="v3")
    Memory.objects.filter(pk=memory.pk).update(content=Sealed(b"M\x01damaged"))
    change(access, memory, importance=5)
    with pytest.raises(VersionUnreadable):
        restore_version(access, memory.pk, 3)
    with pytest.raises(DecryptionError):
        _ = Memory.objects.get().content
    assert restore_version(access, memory.pk, 2).content == "v2"
    assert Memory.objects.get().content == "v2"


def test_a_restored_twin_is_refused(access):
    """CON-08: 409 `duplicate_content` also here."""
    memory = remember(access, "tea")
    change(access, memory, content="coffee")
    assert write(access, "tea").memory.pk != memory.pk
    with pytest.raises(DuplicateContent):
        restore_version(access, memory.pk, 1)
    assert Memory.objects.get(pk=memory.pk).content == "coffee"


def test_an_edit_reaches_recall_only_where_a_write_would(access, vault):
    """DESIGN §6: below the vault's threshold new content is refused, so nothing gets past review by editing."""
    write_setting(access, Level.VAULT, "draft_threshold", "inferred")
    agent = create_agent(access, AgentDraft.parse({"name": "doubtful", "trust_ceiling": "untrusted"}))
    doubtful = access_of(make_key(access, frozenset({KeyScope.MEMORIES_WRITE}), agent=str(agent.pk))[1])
    memory = remember(access, "The account is 111.", source_kind="user_stated")
    with pytest.raises(TrustTooLow):
        change(doubtful, memory, content="The account is 666.")
    assert Memory.objects.get(pk=memory.pk).content == "The account is 111."
