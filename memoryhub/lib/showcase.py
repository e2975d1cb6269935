"""Admin pages that only show: no adding, editing or deleting past the services, and no surprise on big tables."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db import models

from memoryhub.lib.sealing import SealedJSONField, SealedTextField

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    _Paginator = Paginator[Any]
    _ModelAdmin = admin.ModelAdmin[Any]
else:  # Django's own classes take no type arguments at run time.
    _Paginator, _ModelAdmin = Paginator, admin.ModelAdmin

MOST_COUNTED = 10_000
_NEVER_SHOWN = (SealedTextField, SealedJSONField, models.BinaryField)


class BoundedPaginator(_Paginator):
    """Counts no further than the pages anybody leafs through; the whole table may hold millions."""

    @cached_property
    def count(self) -> int:
        """At most ``MOST_COUNTED``."""
        rows: Any = self.object_list
        return int(rows[:MOST_COUNTED].count())


class ShowcaseAdmin(_ModelAdmin):
    """Shows rows and their clear columns. Sealed and binary columns are left out; ``show_more`` adds computed ones."""

    show_more: ClassVar[tuple[str, ...]] = ()
    #: Columns of ids and of text that a search looks into; it finds whole values only.
    ids: ClassVar[tuple[str, ...]] = ("pk",)
    exact: ClassVar[tuple[str, ...]] = ()
    paginator = BoundedPaginator
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    search_fields = ("pk",)
    search_help_text = "A whole id"

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are made by the services."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are changed by the services."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are removed by the services."""
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The computed columns, then every clear one."""
        return [*self.show_more, *self.clear_columns()]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """All of them."""
        return self.get_fields(request, obj)

    def clear_columns(self) -> list[str]:
        """Names of the columns that may be shown as they are."""
        return [field.name for field in self.opts.concrete_fields if not isinstance(field, _NEVER_SHOWN)]

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> Any:
        """Exact matches only: an index answers them, and sealed text cannot be searched by the database anyway."""
        wanted = self._meant_by(search_term.strip())
        return (queryset.filter(wanted) if wanted else queryset.none()) if search_term.strip() else queryset, False

    def _meant_by(self, term: str) -> models.Q:
        wanted = models.Q()
        if isinstance(self.opts.pk, models.AutoField | models.IntegerField):
            wanted |= models.Q(pk=int(term)) if term.isdecimal() and len(term) < 19 else models.Q()
        ids = [name for name in self.ids if name != "pk" or isinstance(self.opts.pk, models.UUIDField)]
        for name in ids if _is_uuid(term) else ():
            wanted |= models.Q(**{name: term})
        for name in self.exact:
            wanted |= models.Q(**{name: term})
        return wanted


def _is_uuid(term: str) -> bool:
    try:
        UUID(term)
    except ValueError:
        return False
    return True
