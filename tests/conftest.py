"""Fixtures everybody shares: a vault, who may do what in it, and clients with a key or a session."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.test.utils import override_settings

from banks.access import ALL_SCOPES, Access, KeyScope
from banks.models import Membership, Vault
from memoryhub.lib.sealing import gate
from tests import described, factories
from tests.emptying import quick_emptying

PASSWORD = "correct horse battery staple"

# A busy machine is no finding.
hypothesis.settings.register_profile("patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("patient")


@pytest.fixture(autouse=True, scope="session")
def _cheap_passwords() -> Iterator[None]:
    """Hashing a password takes half a second on purpose; the tests make hundreds of people."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(autouse=True, scope="session")
def _quick_emptying() -> Iterator[None]:
    with quick_emptying():
        yield


@pytest.fixture(autouse=True)
def _session() -> Iterator[None]:
    """Every test runs in a session of its own, as a request would."""
    with gate.session():
        yield


@pytest.fixture(scope="module")
def common_ground(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """What a module's fixtures make upon it is made once; each test's own transaction is a part of this one's.

    The tests that stand on it are the last of their module.
    """
    with django_db_blocker.unblock(), gate.session():
        ground = transaction.atomic()
        ground._from_testcase = True  # type: ignore[attr-defined]  # as Django's own tests may begin durable ones
        with ground:
            yield
            transaction.set_rollback(True)


@pytest.fixture
def vault(db: None) -> Vault:
    """The vault most tests happen in."""
    return factories.make_vault("Home")


@pytest.fixture
def access(vault: Vault) -> Access:
    """May do everything in ``vault``."""
    return factories.operator(vault)


@pytest.fixture
def other_vault(db: None) -> Vault:
    """A vault nobody of the first one may know of."""
    return factories.make_vault("Elsewhere")


@pytest.fixture
def other_access(other_vault: Vault) -> Access:
    """May do everything in ``other_vault``."""
    return factories.operator(other_vault)


@pytest.fixture
def secret(access: Access) -> str:
    """A key with every scope."""
    return factories.make_key(access)[1]


class ApiClient(Client):
    """A client that sends JSON with an API key."""

    def __init__(self, secret: str) -> None:
        super().__init__(headers={"Authorization": f"Bearer {secret}"}, raise_request_exception=False)

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The response to a JSON request; header names with underscores. Fails where it is not as described."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        address = path if path.startswith("/api/") else f"/api/v1{path}"
        answer: Any = self.generic(
            method,
            address,
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode(),
            content_type="application/json",
            headers=named,
        )
        described.check(answer, method, address)
        return answer


@pytest.fixture
def api(secret: str) -> ApiClient:
    """REST with every scope."""
    return ApiClient(secret)


@pytest.fixture
def api_with(access: Access) -> Callable[..., ApiClient]:
    """REST with the scopes named."""

    def make(*scopes: KeyScope, **more: Any) -> ApiClient:
        return ApiClient(factories.make_key(access, frozenset(scopes) or ALL_SCOPES, **more)[1])

    return make


@pytest.fixture
def owner(vault: Vault) -> User:
    """Alice owns the vault."""
    return _member(vault, "alice", "owner")


@pytest.fixture
def viewer(vault: Vault) -> User:
    """Bob may read it."""
    return _member(vault, "bob", "viewer")


@pytest.fixture
def stranger(db: None) -> User:
    """Charlie may nothing."""
    return User.objects.create_user("charlie", password=PASSWORD)


def _member(vault: Vault, name: str, role: str) -> User:
    user = User.objects.create_user(name, password=PASSWORD)
    Membership.objects.create(vault=vault, user=user, role=role)
    return user


@pytest.fixture
def browser(owner: User) -> Client:
    """Alice, logged in."""
    client = Client()
    client.force_login(owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client
