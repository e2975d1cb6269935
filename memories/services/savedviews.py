"""Save a list under a name, find it again, change it, forget it. Others see it only when it is shared."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from banks.access import Access, KeyScope
from banks.models import Vault
from banks.services.audit import Audited, record_audit
from memories.models import SavedView
from memories.rules.savedviews import VIEWS_MAX, ViewDraft
from memoryhub.lib.errors import Conflict, NotFound
from memoryhub.lib.ids import parse_id
from memoryhub.lib.sealing import opened


class TooManyViews(Conflict):
    """There are 50 saved views of yours; delete one before you save another."""

    code = "too_many_views"


def list_views(access: Access) -> list[SavedView]:
    """One's own and the shared ones, oldest first. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    return list(_seen(access))


def save_view(access: Access, draft: ViewDraft) -> SavedView:
    """A new view; one of one's own with the same name is replaced. Needs memories:read, to share memories:write.

    Raises TooManyViews.
    """
    access.require(KeyScope.MEMORIES_READ, *([KeyScope.MEMORIES_WRITE] if draft.is_shared else []))
    with transaction.atomic():
        # Two that are saved at once wait for each other, so that a name stands once.
        Vault.objects.select_for_update(no_key=True).filter(pk=access.vault_id).first()
        mine = list(_own(access))
        same = next((view for view in mine if (opened(view, "name") or "").casefold() == draft.name.casefold()), None)
        if same is None and len(mine) >= VIEWS_MAX:
            raise TooManyViews
        view = same or SavedView(vault_id=access.vault_id, owner=owner_of(access))
        view.name, view.address = draft.name, draft.address
        view.is_shared, view.is_pinned = draft.is_shared, draft.is_pinned
        view.save()
        record_audit(access, Audited("save_view", "saved_view", view.pk))
    return view


def delete_view(access: Access, view_id: str | UUID) -> None:
    """Forget one of one's own. Needs memories:read. Raises NotFound, also for a view of somebody else."""
    access.require(KeyScope.MEMORIES_READ)
    with transaction.atomic():
        view = _own(access).filter(pk=parse_id(view_id)).first()
        if view is None:
            raise NotFound("There is no such view of yours.")
        record_audit(access, Audited("delete_view", "saved_view", view.pk))
        view.delete()


def owner_of(access: Access) -> str:
    """Whose views the caller's are."""
    return f"{access.actor.kind}:{access.actor.id}"


def _own(access: Access) -> QuerySet[SavedView]:
    return SavedView.objects.filter(vault_id=access.vault_id, owner=owner_of(access))


def _seen(access: Access) -> QuerySet[SavedView]:
    return SavedView.objects.filter(Q(owner=owner_of(access)) | Q(is_shared=True), vault_id=access.vault_id)
