"""How accounts come about (an operator makes them, nobody signs up), and how guessing at one is kept from locking it.

A browser that has signed in before is known by a signed cookie, and its attempts are counted by themselves: whatever
strangers try from wherever, behind the same proxy too, the owner's own browser gets in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal import ratelimit
from django.conf import settings
from django.core import signing
from django.shortcuts import render
from django.utils.crypto import get_random_string

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse

KNOWN_COOKIE = "memoryhub_known"
_KNOWN_FOR = 400 * 24 * 3600
#: People of one browser that it is known for; the one who signed in longest ago is forgotten.
_PEOPLE = 4
_SALT = "memoryhub.known-browser"


class ClosedAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth is untyped here
    """Allauth without registration, and with limits that a stranger cannot use up for somebody else."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Always no."""
        return False

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Said here; allauth's own page for it is not routed."""
        return render(request, "403.html", {"problem": "This account is switched off."}, status=403)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Whose attempts are counted together: an address, or a browser that is known for the name it says."""
        name = request.POST.get("login", "") if request.method == "POST" else ""
        mark = _marks(request).get(name.strip().lower())
        return f"known-browser-{mark}" if mark else str(super().get_client_ip(request))

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt, of a stranger also with those of all other strangers. Raises ValidationError."""
        super().pre_authenticate(request, **credentials)
        name = credentials.get("username", "").lower()
        if name in _marks(request):
            return
        anywhere = ratelimit.consume(request, app="allauth.account", action="login_failed_anywhere", key=name)
        if anywhere is None:
            raise self.validation_error("too_many_login_attempts")
        self._login_failed_rl_usage.usage += anywhere.usage

    def post_login(self, request: HttpRequest, user: User, **more: Any) -> HttpResponse:
        """From now on this browser is known."""
        response: HttpResponse = super().post_login(request, user, **more)
        name, known = user.get_username().lower(), _marks(request)
        mark = known.pop(name, None) or get_random_string(22)
        kept = dict([*known.items(), (name, mark)][-_PEOPLE:])
        response.set_cookie(
            KNOWN_COOKIE,
            signing.dumps(kept, salt=_SALT),
            max_age=_KNOWN_FOR,
            path=settings.LOGIN_URL,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
        return response

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """A name as one address, or one known browser, tries it."""
        return f"{super()._get_login_attempts_cache_key(request, **credentials)}:{ratelimit.get_ip(request)}"


def _marks(request: HttpRequest) -> dict[str, str]:
    """Name → the mark this browser got when somebody signed in with it; empty for a stranger's."""
    try:
        found = signing.loads(request.COOKIES.get(KNOWN_COOKIE, ""), salt=_SALT, max_age=_KNOWN_FOR)
    except signing.BadSignature:
        return {}
    return dict(found)
