"""Every page of the hub is for a signed-in member of a vault; the views get their Access from here, or never run.

Deciding it by the room a view lives in means that no view can forget to ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRedirect

from banks.access import Access, access_from_user
from memoryhub.lib.answers import request_id_of
from memoryhub.lib.errors import HubError, Kind, NotFound
from memoryhub.lib.pages import PageRequest, SeeOther, in_words, local_address, safe_next
from memoryhub.lib.problems import status_of

if TYPE_CHECKING:
    from collections.abc import Callable

ROOMS = ("banks.web.", "memories.web.")
VAULT_IN_SESSION = "vault"
# A form that could not do it returns to where it was sent from, with the reason; the others get a page of their own.
_SAID_ON_THE_PAGE = {Kind.CONFLICT, Kind.PRECONDITION, Kind.INVALID}
_PAGES = {Kind.NOT_FOUND: "404.html", Kind.DENIED: "403.html"}


class VaultAccessMiddleware:
    """Put it after the middleware of htmx and of sessions."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: PageRequest[Access], view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """Give the view its Access, or send the visitor to the login page."""
        if not view.__module__.startswith(ROOMS) or not getattr(view, "login_required", True):
            return None
        if not request.user.is_authenticated:
            return _to_login(request)
        try:
            request.access = _access_of(request)
        except NotFound:
            return render(request, "no_vault.html", status=404)
        return None

    def process_exception(self, request: PageRequest[Access], error: Exception) -> HttpResponse | None:
        """Refusals of our own as something a person can read; faults are for the outer middleware."""
        if not isinstance(error, HubError) or not _is_ours(request):
            return None
        if request.method == "POST" and error.kind in _SAID_ON_THE_PAGE:
            messages.error(request, in_words(error))
            return SeeOther(safe_next(request, _sent_from(request)))
        if error.kind in _PAGES:
            return render(request, _PAGES[error.kind], {"problem": error.message}, status=status_of(error))
        return None


def _is_ours(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and match.func.__module__.startswith(ROOMS)


def _to_login(request: PageRequest[Access]) -> HttpResponse:
    response = redirect_to_login(request.get_full_path() if request.method == "GET" else "/")
    return HttpResponseClientRedirect(response.url) if request.htmx else response


def _access_of(request: PageRequest[Access]) -> Access:
    """The vault chosen in this session, or the first by name when none is, or when that one is gone."""
    chosen = request.session.get(VAULT_IN_SESSION)
    assert request.user.is_authenticated
    try:
        return access_from_user(request.user, UUID(chosen) if chosen else None, request_id_of(request))
    except NotFound:
        if not chosen:
            raise
        del request.session[VAULT_IN_SESSION]
        return access_from_user(request.user, None, request_id_of(request))


def _sent_from(request: HttpRequest) -> str:
    """The page the form was on, by its path; the overview when the browser does not tell."""
    origin = f"{request.scheme}://{request.get_host()}/"
    referrer = request.headers.get("Referer", "")
    return local_address(request, "/" + referrer.removeprefix(origin), "/") if referrer.startswith(origin) else "/"
