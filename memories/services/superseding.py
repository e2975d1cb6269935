"""Supersession: the new one stands, the old one is archived and names its successor (SUP-01…03, 07, 08)."""

from __future__ import annotations

from difflib import SequenceMatcher
from uuid import UUID

from banks.access import Access
from memories.models import DuplicatePair, Link, Memory
from memories.rules.differences import differences
from memories.rules.drafts import MemoryDraft
from memories.rules.trust import lower, may_rewrite, may_supersede
from memories.rules.vocabulary import MemoryCategory, MemoryType, PairKind, Relation, Role, Status, Trust
from memories.search.relatives import visible_ids
from memories.services.comparing import COMPARED_CHARACTERS
from memories.services.context import WriteContext
from memories.services.revising import Change, change_memory
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, FieldError, NotFound
from memoryhub.lib.ids import parse_id


class AlreadySuperseded(Conflict):
    """That memory was replaced already; supersede its successor, named in `head_id`, instead."""

    code = "already_superseded"


class TrustTooLow(Conflict):
    """What is trusted so little cannot replace what is trusted more; let a person write it or raise its trust."""

    code = "trust_too_low"


class SupersedesItself(Conflict):
    """A memory cannot supersede itself or one of its own successors."""

    code = "supersedes_itself"


def check_successor(access: Access, old_id: str | UUID, *, lock: bool = False) -> Memory:
    """The memory to be replaced. Raises NotFound (also for another vault's), AlreadySuperseded naming the head."""
    rows = Memory.objects.visible_to(access)
    if lock:
        rows = rows.select_for_update(of=("self",), no_key=True)
    old = rows.filter(pk=parse_id(old_id)).first()
    if old is None:
        error = FieldError("/supersedes", "not_found", "is not a memory of this vault")
        raise NotFound("There is no memory with the id in `supersedes`.", errors=[error])
    if old.superseded_by_id is not None:
        head = head_of(access, old).pk
        raise AlreadySuperseded(extra={"head_id": str(head)} if head in visible_ids(access, [head]) else {})
    return old


def rewritten_trust(context: WriteContext, memory: Memory, writer: Trust) -> Trust:
    """What the memory is worth with new content from ``writer``. Raises TrustTooLow where it would get past review."""
    threshold = Trust(context.settings_in(memory.bank_id)["draft_threshold"])
    if memory.status == Status.ACCEPTED and not may_rewrite(writer, Trust(memory.trust), threshold):
        raise TrustTooLow
    return lower(Trust(memory.trust), writer)


def succeeding(old: Memory, draft: MemoryDraft) -> MemoryDraft:
    """``draft`` as the successor of ``old``: what it does not name stays as it was, the content and its date aside."""
    named = draft.model_fields_set
    kept = {
        "type": MemoryType(old.type),
        "category": MemoryCategory(old.category) if old.category else None,
        "role": Role(old.role) if old.role else None,
        "importance": old.importance,
        "confidence": old.confidence,
        "entities": old.entities,
        "tags": old.tags,
        "fact_key": old.fact_key,
        "is_protected": old.is_protected,
    }
    unnamed = {name: value for name, value in kept.items() if name not in named}
    return draft.model_copy(update={**unnamed, "supersedes": str(old.pk)})


def head_of(access: Access, memory: Memory) -> Memory:
    """The newest memory of the chain; every chain has one and no cycle (SUP-07)."""
    while memory.superseded_by_id is not None:
        memory = Memory.objects.in_vault(access.vault_id).get(pk=memory.superseded_by_id)
    return memory


def retire(context: WriteContext, old: Memory, new: Memory, reason: str = "", changeset_id: UUID | None = None) -> bool:
    """Link ``new`` to the locked ``old`` and archive it; while ``new`` is not accepted only the link is made.

    Whether the old one was archived. Raises TrustTooLow, SupersedesItself.
    """
    if not may_supersede(Trust(new.trust), Trust(old.trust)):
        raise TrustTooLow
    if new.pk == old.pk or head_of(context.access, new).pk == old.pk:
        raise SupersedesItself
    Link.objects.get_or_create(
        vault_id=context.access.vault_id, source=new, target=old, relation=Relation.SUPERSEDES.value
    )
    if new.status != Status.ACCEPTED:
        return False
    values = {
        "superseded_by_id": new.pk,
        "archived_at": old.archived_at or now(),
        "archived_reason": reason or "superseded",
    }
    change_memory(context, old, Change("supersede_memory", values, reason, changeset_id))
    return True


def fulfil_promises(context: WriteContext, accepted: Memory) -> list[UUID]:
    """Retire what an accepted draft was written to replace; where another was faster, a person decides between them."""
    promised = Link.objects.filter(source=accepted, relation=Relation.SUPERSEDES.value).values_list("target_id")
    rows = list(Memory.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=promised).order_by("id"))
    for old in rows:
        if old.superseded_by_id is not None:
            _leave_rivals(head_of(context.access, old), accepted)
    return [old.pk for old in rows if old.superseded_by_id is None and retire(context, old, accepted)]


def _leave_rivals(head: Memory, accepted: Memory) -> None:
    """Two memories were written to replace the same one and both are accepted now."""
    if head.pk == accepted.pk:
        return
    head_text, accepted_text = (row.content[:COMPARED_CHARACTERS] for row in (head, accepted))
    pair = DuplicatePair(
        vault_id=head.vault_id,
        older=head,
        newer=accepted,
        similarity=SequenceMatcher(None, head_text, accepted_text, autojunk=False).ratio(),
        kind=PairKind.CONTRADICTION.value,
        differences=sorted(differences(head_text, accepted_text)),
    )
    DuplicatePair.objects.bulk_create([pair], ignore_conflicts=True)
