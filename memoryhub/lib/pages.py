"""How pages answer: whole, or just the part htmx asked for; forms that lose nothing; redirects that stay here.

A page that changed something redirects with 303. A browser follows it, and so does htmx, whose headers then make the
next page answer with its part only; so with and without JavaScript there is one way through a view.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog
from django.contrib import messages
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme

from memoryhub.lib.errors import HubError, Kind, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django.forms import BaseForm
    from django_htmx.middleware import HtmxDetails


log = structlog.get_logger(__name__)


class PageRequest[A](HttpRequest):
    """A request of somebody signed in, with their access to the vault they look at."""

    access: A
    htmx: HtmxDetails


class SeeOther(HttpResponseRedirect):
    """303: done, now GET this."""

    status_code = 303


def answer_page(
    request: PageRequest[Any], template: str, context: Mapping[str, Any], *, part: str = "", status: int = 200
) -> HttpResponse:
    """The page, or its ``part`` (a template partial and the id it replaces) when htmx asked to replace that."""
    wanted = part and request.htmx and request.htmx.target == part and not request.htmx.history_restore_request
    response = render(request, f"{template}#{part}" if wanted else template, dict(context), status=status)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    response.headers["Cache-Control"] = "no-store"
    return response


@dataclass(frozen=True, slots=True)
class Failed:
    """A part of a page that could not be made: what it was, why, and what works all the same (parts/failed.html)."""

    what: str
    why: str
    still: str = ""

    @property
    def failed(self) -> Failed:
        """Itself; what went well has no such attribute, so a template asks ``{% if part.failed %}``."""
        return self


def part_of[T](make: Callable[[], T], what: str, still: str = "") -> T | Failed:
    """What ``make`` gives; where something it needs is away, the words about that, so that the rest of the page stands.

    So it is with what whoever looks may not see. Mistakes of ours are not caught, and nothing is inside a transaction,
    which a failed statement would end.
    """
    try:
        return make()
    except HubError as error:
        if error.kind not in _LEFT_OUT:
            raise
        why = error.message
    except (OperationalError, InterfaceError):
        why = "The database did not answer in time."
    except OSError:
        why = "What it needs did not answer."
    log.warning("page.part_failed", part=what, exc_info=True)
    return Failed(what, why, still)


_LEFT_OUT = {Kind.UNAVAILABLE, Kind.DENIED}


def whole[T](part: T | Failed) -> T:
    """A part that another one is made of. Raises Unavailable with the same words where it failed."""
    if isinstance(part, Failed):
        raise Unavailable(part.why)
    return part


def say(request: HttpRequest, text: str, undo: str = "") -> None:
    """Show ``text`` on the next page; ``undo`` is the address whose POST takes the change back."""
    messages.success(request, text, extra_tags=undo)


def warn(request: HttpRequest, text: str) -> None:
    """Show on the next page why nothing was done."""
    messages.error(request, text)


def safe_next(request: HttpRequest, default: str) -> str:
    """Where the form wants to return to, if that is on this hub."""
    return local_address(request, request.POST.get("next") or request.GET.get("next") or "", default)


def came_from(request: PageRequest[Any]) -> str:
    """The path of the page that htmx says it stands on; empty without one, and for what is no address."""
    try:
        return request.htmx.current_url_abs_path or ""
    except ValueError:  # the header is the browser's word
        return ""


def local_address(request: HttpRequest, wanted: str, default: str) -> str:
    """``wanted`` if it is a path on this hub; a browser takes ``//name`` for another host."""
    allowed = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if allowed and wanted.startswith("/") else default


def submitted[T](form: BaseForm, act: Callable[[], T]) -> T | None:
    """What ``act`` gives for a form that was sent and is well-formed; None otherwise, with the reasons in the form."""
    if not form.is_bound or not form.is_valid():
        return None
    try:
        return act()
    except HubError as error:
        if error.kind not in _ABOUT_THE_FORM:
            raise
        _add_errors(form, error)
        return None


_ABOUT_THE_FORM = {Kind.INVALID, Kind.CONFLICT}


def in_words(error: HubError, places: Mapping[str, str] | None = None) -> str:
    """What a service refused, for a page without a form around it; ``places`` are the page's names of fields."""
    told = []
    for item in error.errors:
        field = item.pointer.strip("/").split("/")[0]
        told.append(f"{(places or {}).get(field, field.replace('_', ' ').capitalize() or 'Input')}: {item.detail}")
    return "; ".join(told) or error.message


def _add_errors(form: BaseForm, error: HubError) -> None:
    """Put what a service refused beside the fields it names, and the rest on top of the form."""
    for item in error.errors:
        field = item.pointer.strip("/").split("/")[0]
        known = field in form.fields
        form.add_error(field if known else None, item.detail if known else f"{field or 'input'}: {item.detail}")
    if not error.errors:
        form.add_error(None, error.message)
