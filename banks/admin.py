"""What superusers may look at in vaults, banks, agents and keys; people and their memberships are managed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages

from banks.access import Door, access_from_user
from banks.models import (
    Agent,
    ApiKey,
    AuditEntry,
    Bank,
    KeyBank,
    KeyCheck,
    Membership,
    PreferredBank,
    SettingValue,
    Vault,
    VaultKey,
)
from banks.services.keys import revoke_key
from memoryhub.lib.answers import request_id_of
from memoryhub.lib.errors import HubError
from memoryhub.lib.showcase import ShowcaseAdmin

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    _MembershipModelAdmin = admin.ModelAdmin[Membership]
else:  # Django's own class takes no type argument at run time.
    _MembershipModelAdmin = admin.ModelAdmin

admin.site.site_header = "MemoryHub administration"
admin.site.site_title = "MemoryHub"
admin.site.index_title = "Rows as they are"
admin.site.site_url = "/"


@admin.register(Vault)
class VaultAdmin(ShowcaseAdmin):
    """Vaults."""

    list_display = ("name", "id", "created_at")
    exact = ("name",)
    search_help_text = "A whole id or name"


@admin.register(Membership)
class MembershipAdmin(_MembershipModelAdmin):
    """Who may enter which vault. A new member can read its memories, so every change is audited."""

    list_display = ("user", "vault", "role", "created_at")
    list_filter = ("role", "vault")
    list_select_related = ("user", "vault")
    fields = ("vault", "user", "role")
    show_facets = admin.ShowFacets.ALWAYS

    def get_readonly_fields(self, request: HttpRequest, obj: Membership | None = None) -> tuple[str, ...]:
        """A membership is moved by making another one."""
        return ("vault", "user") if obj else ()

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        """Save and say so in the vault's own history."""
        super().save_model(request, obj, form, change)
        _note(request, obj, "change_member" if change else "add_member")

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        """Delete and say so."""
        _note(request, obj, "remove_member")
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        """Delete and say so, for each."""
        for membership in queryset:
            _note(request, membership, "remove_member")
        super().delete_queryset(request, queryset)


def _note(request: HttpRequest, membership: Membership, action: str) -> None:
    AuditEntry.objects.create(
        vault_id=membership.vault_id,
        actor_kind="user",
        actor_id=str(request.user.pk),
        action=action,
        target_kind="membership",
        target_id=membership.pk,
        request_id=request_id_of(request),
        door=Door.BROWSER.value,
    )


@admin.register(VaultKey)
class VaultKeyAdmin(ShowcaseAdmin):
    """Which master key wraps which data key; never the key."""

    list_display = ("vault", "version", "master_key_id", "created_at")
    list_select_related = ("vault",)


@admin.register(KeyCheck)
class KeyCheckAdmin(ShowcaseAdmin):
    """Known master keys, by id."""

    list_display = ("id", "created_at")


@admin.register(Bank)
class BankAdmin(ShowcaseAdmin):
    """Banks."""

    list_display = ("name", "vault", "slug", "is_default", "is_hidden", "created_at")
    list_filter = ("is_default", "is_hidden", "vault")
    list_select_related = ("vault",)
    show_facets = admin.ShowFacets.ALWAYS
    exact = ("name", "slug")
    search_help_text = "A whole id, name or slug"


@admin.register(Agent)
class AgentAdmin(ShowcaseAdmin):
    """Agents."""

    list_display = ("name", "vault", "default_bank", "is_isolated", "trust_ceiling", "created_at")
    list_filter = ("is_isolated", "trust_ceiling", "vault")
    list_select_related = ("vault", "default_bank")
    show_facets = admin.ShowFacets.ALWAYS
    exact = ("name",)
    search_help_text = "A whole id or name"


@admin.register(PreferredBank)
class PreferredBankAdmin(ShowcaseAdmin):
    """Which banks agents prefer."""

    list_display = ("agent", "bank", "vault")
    list_select_related = ("agent", "bank", "vault")


@admin.register(ApiKey)
class ApiKeyAdmin(ShowcaseAdmin):
    """Keys by their public part; the digest is never shown."""

    list_display = ("name", "prefix", "vault", "agent", "last_used_at", "expires_at", "revoked_at")
    list_filter = ("all_banks", ("revoked_at", admin.EmptyFieldListFilter), "vault")
    list_select_related = ("vault", "agent")
    show_facets = admin.ShowFacets.ALWAYS
    exact = ("public_id", "name")
    search_help_text = "A whole id, the eight characters of a key's public part, or its name"
    actions = ("revoke",)

    @admin.action(description="Revoke: they stop working at once", permissions=["view"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Through the service, in vaults the superuser belongs to."""
        assert request.user.is_authenticated
        for key in queryset:
            try:
                revoke_key(access_from_user(request.user, key.vault_id, request_id_of(request)), key.pk)
            except HubError as error:
                self.message_user(request, f"{key.name}: {error.message}", messages.ERROR)
            else:
                self.message_user(request, f"{key.name} no longer works.")


@admin.register(KeyBank)
class KeyBankAdmin(ShowcaseAdmin):
    """Which banks limited keys reach."""

    list_display = ("key", "bank", "vault")
    list_select_related = ("key", "bank", "vault")


@admin.register(SettingValue)
class SettingValueAdmin(ShowcaseAdmin):
    """Settings that differ from their defaults."""

    list_display = ("key", "level", "value", "vault", "target", "updated_at")
    list_filter = ("level", "vault")
    list_select_related = ("vault",)
    show_facets = admin.ShowFacets.ALWAYS
    exact = ("key",)
    search_help_text = "A whole id or key"


AuditEntry._meta.verbose_name_plural = "audit entries"


@admin.register(AuditEntry)
class AuditEntryAdmin(ShowcaseAdmin):
    """Who did what, in ids."""

    list_display = ("id", "at", "action", "target_kind", "target_id", "actor_kind", "actor_id", "vault", "request_id")
    list_filter = ("actor_kind", "target_kind", "vault")
    list_select_related = ("vault",)
    exact = ("request_id",)
    search_help_text = "A whole id or request id"
