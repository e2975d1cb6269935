"""Typed links a caller makes by hand (MOD-41)."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Q

from banks.access import Access, KeyScope
from banks.services.audit import Audited, record_audit
from memories.models import Link
from memories.rules.vocabulary import Relation
from memories.search.relatives import visible_ids
from memories.services.contention import despite_deadlocks
from memories.services.revising import locked_memory
from memoryhub.lib.errors import FieldError, Invalid, NotFound
from memoryhub.lib.ids import parse_id


@despite_deadlocks
def create_link(access: Access, source_id: str | UUID, target_id: str | UUID, relation: Relation) -> Link:
    """Link two memories; making the same link twice gives the same link. Needs memories:write.

    ``supersedes`` has its own verb, because it archives. Raises NotFound, Invalid.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    if relation == Relation.SUPERSEDES:
        raise Invalid(errors=[FieldError("/relation", "use_supersede", "is made by POST /memories/{id}/supersede")])
    with transaction.atomic():
        # Locked in the same order by everybody, so that two links cannot wait for each other.
        ends = {end: locked_memory(access, end) for end in sorted({str(source_id), str(target_id)})}
        source, target = ends[str(source_id)], ends[str(target_id)]
        if source.pk == target.pk:
            raise Invalid(errors=[FieldError("/target_id", "itself", "a memory cannot be linked to itself")])
        link, made = Link.objects.get_or_create(
            vault_id=access.vault_id, source=source, target=target, relation=relation.value
        )
        if made:
            record_audit(access, Audited("create_link", "link", link.pk))
    return link


@despite_deadlocks
def delete_link(access: Access, memory_id: str | UUID, link_id: str | UUID) -> Link:
    """Take away a link from or to a memory; the link as it was, not there any more. Needs memories:write.

    ``supersedes`` is taken back by restoring the older memory. Raises NotFound, Invalid.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    with transaction.atomic():
        memory = locked_memory(access, memory_id)
        ends = Q(source=memory) | Q(target=memory)
        link = Link.objects.filter(ends, vault_id=access.vault_id, pk=parse_id(link_id)).first()
        if link is None or not {link.source_id, link.target_id} <= visible_ids(
            access, [link.source_id, link.target_id]
        ):
            raise NotFound("There is no such link at this memory.")
        if link.relation == Relation.SUPERSEDES:
            raise Invalid(
                errors=[FieldError("/relation", "use_archive", "is taken back by restoring the older memory")]
            )
        record_audit(access, Audited("delete_link", "link", link.pk))
        Link.objects.filter(pk=link.pk).delete()
    return link
