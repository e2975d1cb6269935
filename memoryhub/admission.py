"""Who may come in through the doors of programs, and how fast: one place for REST and MCP."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from banks.access import Access, Door, access_from_secret
from memoryhub.env import environment
from memoryhub.lib.answers import request_id_of
from memoryhub.lib.ratelimit import Policy, RateLimited, RateLimiter

READS = Policy("reads", environment().rate_limit_reads)
WRITES = Policy("writes", environment().rate_limit_writes)
_limiter = RateLimiter(settings.CELERY_BROKER_URL)


def admit(request: HttpRequest, secret: str, policy: Policy, door: Door) -> Access:
    """The Access behind ``secret``, after spending one of its requests. Raises Unauthenticated, RateLimited.

    Cookies are never looked at.
    """
    access = access_from_secret(secret, request_id_of(request), door)
    request.access = access  # type: ignore[attr-defined]
    spend(request, access, policy)
    return access


def spend(request: HttpRequest, access: Access, policy: Policy) -> None:
    """Count one request of the caller's key; the answer's headers say what is left. Raises RateLimited."""
    try:
        standing = _limiter.spend(policy, str(access.actor.id))
    except RateLimited as error:
        request.answer_headers = error.standing.headers  # type: ignore[attr-defined]
        raise
    request.answer_headers = standing.headers  # type: ignore[attr-defined]
