"""The frame of the REST door: who comes in, what every route promises."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client
from pydantic import BaseModel, ValidationError

from banks.access import ALL_SCOPES, Access, KeyScope
from memoryhub import api as door
from memoryhub.lib.ratelimit import Policy
from tests import factories
from tests.conftest import PASSWORD, ApiClient
from tests.memoryhub.routes import READ, ROUTES, WRITE, Route, filled

EXPORT = "run: uv run manage.py export_openapi_schema --api memoryhub.api.api --indent 1 --output docs/openapi.json"
OPENAPI = Path(__file__).parents[2] / "docs" / "openapi.json"


def operations() -> dict[str, Any]:
    return {
        operation.view_func.__name__: operation
        for router in door.api._get_bound_routers()
        for view in router.path_operations.values()
        for operation in view.operations
    }


def sent(client: ApiClient, route: Route, ids: dict[str, str], body_ids: dict[str, str] | None = None) -> Any:
    return client.send(route.method, filled(route.path, ids), filled(route.body, body_ids or ids))


def test_the_table_of_routes_is_complete():
    assert set(ROUTES) == set(operations())


def test_every_route_asks_for_a_key():
    """A route that forgot its auth would be open to everybody."""
    for name, operation in operations().items():
        assert [type(auth) for auth in operation.auth_callbacks] == [door.BearerKey, door.HeaderKey], name


@pytest.mark.parametrize("name", ROUTES)
def test_without_a_key_every_route_is_401(db: None, name: str):
    answer = sent(ApiClient("nonsense"), ROUTES[name], {})
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_key")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    bare = Client().generic(ROUTES[name].method, "/api/v1" + ROUTES[name].path)
    assert (bare.status_code, bare.json()["code"]) == (401, "unauthenticated")
    assert bare.headers["X-Request-Id"] == bare.json()["request_id"]


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if route.scope is not None])
def test_every_route_needs_its_scope(api_with: Callable[..., ApiClient], own: dict[str, str], name: str):
    """A key with every scope but the one is refused and told which; with the one alone it gets through the door."""
    route = ROUTES[name]
    assert route.scope is not None
    refused = sent(api_with(*(ALL_SCOPES - {route.scope})), route, own)
    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope"), refused.content
    assert refused.json()["missing_scopes"] == [route.scope]
    allowed = sent(api_with(route.scope, READ, *route.not_ones_own), route, own)
    assert allowed.status_code not in {401, 403} or allowed.json()["code"] == "wider_than_creator", allowed.content


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if route.method != "GET"])
def test_a_reading_key_changes_nothing(api_with: Callable[..., ApiClient], own: dict[str, str], name: str):
    route = ROUTES[name]
    answer = sent(api_with(READ, KeyScope.OPS_READ), route, own)
    assert answer.status_code == (200 if name in door.READING_POSTS else 403), answer.content


def test_erasing_needs_a_scope_of_its_own(api_with: Callable[..., ApiClient], own: dict[str, str]):
    path = f"/memories/{own['memory']}?erase=true"
    assert api_with(READ, WRITE, KeyScope.MEMORIES_DELETE).send("DELETE", path).status_code == 403
    assert api_with(KeyScope.MEMORIES_ERASE).send("DELETE", path).status_code == 200


def comparable(answer: Any, ids: dict[str, str]) -> tuple[int, str, dict[str, str]]:
    """An answer without what differs between any two requests."""
    text = answer.content.decode()
    for identifier in {*ids.values(), answer.headers["X-Request-Id"]}:
        text = text.replace(identifier, "ID")
    headers = {name: value for name, value in answer.headers.items() if name not in {"X-Request-Id", "RateLimit"}}
    return answer.status_code, text, {**headers, "Content-Length": ""}


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if "{" in route.path])
def test_a_foreign_id_looks_like_an_unknown_one(
    api: ApiClient, foreign: dict[str, str], unknown: dict[str, str], own: dict[str, str], name: str
):
    """API-17: byte for byte, over every route with an id."""
    of_foreign = comparable(sent(api, ROUTES[name], foreign, own), foreign)
    of_unknown = comparable(sent(api, ROUTES[name], unknown, own), unknown)
    assert of_foreign == of_unknown
    assert of_foreign[0] == 404
    nonsense = sent(api, ROUTES[name], dict.fromkeys(unknown, "nonsense"), own)
    assert nonsense.status_code == 404


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if route.body_ids])
def test_a_foreign_id_in_a_body_looks_like_an_unknown_one(
    api: ApiClient, foreign: dict[str, str], unknown: dict[str, str], own: dict[str, str], name: str
):
    """API-17, also for ids that are not in the address."""
    for id_name in ROUTES[name].body_ids:
        answers = [
            comparable(sent(api, ROUTES[name], own, {**own, id_name: ids[id_name]}), ids) for ids in (foreign, unknown)
        ]
        assert answers[0] == answers[1]
        assert answers[0][0] in {404, 422}


def test_reading_foreign_ids_finds_nothing(api: ApiClient, foreign: dict[str, str], own: dict[str, str]):
    answer = api.send("POST", "/memories/read", {"ids": [foreign["memory"], own["memory"]]}).json()
    assert [memory["id"] for memory in answer["results"]] == [own["memory"]]
    assert answer["missing"] == [foreign["memory"]]
    for query in ("something", "newer"):
        hits = api.send("POST", "/memories/search", {"query": query, "threshold": 0}).json()["results"]
        assert not {hit["id"] for hit in hits} & set(foreign.values())


def test_both_headers_carry_a_key(secret: str, access: Access):
    assert Client(headers={"Authorization": f"Bearer {secret}"}).get("/api/v1/whoami").status_code == 200
    assert Client(headers={"Authorization": f"bearer  {secret}"}).get("/api/v1/whoami").status_code == 200
    assert Client(headers={"X-API-Key": secret}).get("/api/v1/whoami").status_code == 200
    assert Client().get(f"/api/v1/whoami?api_key={secret}").status_code == 401
    assert Client(headers={"Authorization": f"Basic {secret}"}).get("/api/v1/whoami").status_code == 401


@pytest.mark.parametrize("change", ["", "x", "flip", "truncated", "unknown", "ünïcode", "x" * 10_000])
def test_a_wrong_key_is_refused(secret: str, change: str):
    wrong = {
        "flip": secret[:-10] + ("A" if secret[-10] != "A" else "B") + secret[-9:],
        "truncated": secret[:-1],
        "unknown": secret.replace(secret[8:16], "AAAAAAAA"),
    }.get(change, change)
    answer = Client(headers={"X-API-Key": wrong}).get("/api/v1/whoami")
    assert (answer.status_code, answer.headers["Content-Type"]) == (401, "application/problem+json")


def test_an_expired_or_revoked_key_is_refused(api: ApiClient, access: Access, back_from_the_future: None):
    soon = datetime.now(UTC) + timedelta(hours=1)
    key, secret = factories.make_key(access, expires_at=soon)
    client = ApiClient(secret)
    assert client.send("GET", "/whoami").status_code == 200
    with time_machine.travel(soon + timedelta(seconds=1)):
        assert client.send("GET", "/whoami").status_code == 401
    assert client.send("GET", "/whoami").status_code == 200
    api.send("DELETE", f"/keys/{key.pk}")
    refused = client.send("POST", "/memories", {"content": "too late"})
    assert (refused.status_code, refused.json()["code"]) == (401, "invalid_key")
    assert api.send("GET", "/memories").json()["total"] == 0


def test_a_session_is_no_key(browser: Client, owner: Any):
    """Cookies are ignored, so that no page can make a browser write."""
    assert browser.get("/api/v1/whoami").status_code == 401
    assert browser.post("/api/v1/memories", {"content": "x"}, content_type="application/json").status_code == 401
    assert PASSWORD


def test_unknown_paths_and_methods_are_problems(api: ApiClient):
    for method, path, status in (
        ("GET", "/nowhere", 404),
        ("PUT", "/memories", 405),
        ("GET", "/memories/search", 405),
        ("GET", "/memories/", 404),
        ("TRACE", "/whoami", 405),
    ):
        answer = api.send(method, path)
        assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json"), path
        assert answer.json()["request_id"] == answer.headers["X-Request-Id"]


def test_head_is_get_without_a_body(api: ApiClient, own: dict[str, str]):
    path = f"/memories/{own['memory']}"
    full, head = api.send("GET", path), api.send("HEAD", path)
    assert (head.status_code, head.content, head.headers["ETag"]) == (200, b"", '"v1"')
    assert head.headers["Content-Length"] == str(len(full.content))
    assert api.send("HEAD", "/memories/nonsense").status_code == 404
    assert api.send("HEAD", "/memories/search").status_code == 405


def test_an_unknown_parameter_is_named(api: ApiClient, own: dict[str, str]):
    """A misspelt filter must not show everything."""
    for path in ("/memories?baank=Work", "/banks?x=1", f"/memories/{own['memory']}?full=1", "/whoami?x"):
        answer = api.send("GET", path)
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (422, "extra_forbidden")
    assert api.send("GET", "/memories?limit=1&limit=2").status_code == 422
    assert api.send("GET", "/memories?memoryType=fact&type=skill").status_code == 422


def test_what_needs_nothing_said_needs_no_body():
    """Where `{}` would do, so does nothing at all; a change that names nothing is asked for what it changes."""
    for operation in operations().values():
        bodies = [model for model in operation.models if model.__ninja_param_source__ == "body"]
        for field in (one for model in bodies for one in model.model_fields.values() if "POST" in operation.methods):
            kind = field.annotation
            if field.is_required() and isinstance(kind, type) and issubclass(kind, BaseModel):
                with pytest.raises(ValidationError):
                    kind.model_validate({})


def test_answers_are_not_stored_by_anybody_on_the_way(api: ApiClient):
    assert api.send("GET", "/memories").headers["Cache-Control"] == "no-store"


class TestRateLimit:
    """A minute's quota, per key, told in headers."""

    @pytest.fixture
    def tight(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(door, "READS", Policy("reads", 3))
        monkeypatch.setattr(door, "WRITES", Policy("writes", 2))

    @time_machine.travel("2026-01-01T00:00:20Z", tick=False)
    def test_the_quota_is_told_and_kept(self, tight: None, access: Access):
        client = ApiClient(factories.make_key(access)[1])
        answers = [client.send("GET", "/whoami") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert answers[0].headers["RateLimit-Policy"] == '"reads";q=3;w=60'
        assert answers[0].headers["RateLimit"] == '"reads";r=2;t=40'
        assert answers[3].headers["Retry-After"] == "40"
        assert answers[3].json()["code"] == "rate_limited"
        assert answers[3].headers["RateLimit"] == '"reads";r=0;t=40'
        assert client.send("POST", "/memories/search", {"query": "x"}).status_code == 429
        statuses = [client.send("POST", "/memories", {"content": f"{n}"}).status_code for n in range(3)]
        assert statuses == [201, 201, 429]
        assert ApiClient(factories.make_key(access)[1]).send("GET", "/whoami").status_code == 200

    def test_the_defaults(self, api: ApiClient):
        assert api.send("GET", "/whoami").headers["RateLimit-Policy"] == '"reads";q=30000;w=60'
        answer = api.send("POST", "/memories", {"content": "x"})
        assert answer.headers["RateLimit-Policy"] == '"writes";q=12000;w=60'


class TestIdempotencyKey:
    """A repeated POST or PATCH is answered, not done again."""

    def test_the_same_request_gets_the_same_answer(self, api: ApiClient):
        body = {"content": "Once.", "dedup": False}
        first = api.send("POST", "/memories", body, Idempotency_Key="k-1")
        again = api.send("POST", "/memories", body, Idempotency_Key="k-1")
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.content == again.content
        assert "Idempotency-Replayed" not in first.headers
        assert again.headers["Idempotency-Replayed"] == "true"
        for name in ("ETag", "Location", "Content-Type"):
            assert first.headers[name] == again.headers[name]
        assert api.send("GET", "/memories").json()["total"] == 1

    def test_another_request_is_refused(self, api: ApiClient, own: dict[str, str]):
        api.send("POST", "/memories", {"content": "Once."}, Idempotency_Key="k-1")
        for method, path, body in (
            ("POST", "/memories", {"content": "Twice."}),
            ("POST", "/memories/batch", {"items": [{"content": "Once."}]}),
            ("PATCH", f"/memories/{own['memory']}", {"content": "Once."}),
        ):
            answer = api.send(method, path, body, Idempotency_Key="k-1")
            assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")

    def test_a_change_is_made_once(self, api: ApiClient, own: dict[str, str]):
        path = f"/memories/{own['memory']}"
        for _ in range(3):
            answer = api.send("PATCH", path, {"importance": 5}, Idempotency_Key="change")
            assert answer.json()["version"] == 2

    def test_a_refused_request_may_be_corrected_under_the_same_key(self, api: ApiClient):
        assert api.send("POST", "/memories", {"content": ""}, Idempotency_Key="k").status_code == 422
        assert api.send("POST", "/memories", {"content": "x", "bank": "Garage"}, Idempotency_Key="k").status_code == 422
        assert api.send("POST", "/memories", {"content": "x"}, Idempotency_Key="k").status_code == 201

    def test_keys_of_different_callers_do_not_meet(self, api: ApiClient, access: Access):
        other = ApiClient(factories.make_key(access)[1])
        api.send("POST", "/memories", {"content": "Mine.", "dedup": False}, Idempotency_Key="k")
        answer = other.send("POST", "/memories", {"content": "Yours."}, Idempotency_Key="k")
        assert (answer.status_code, "Idempotency-Replayed" in answer.headers) == (201, False)

    @pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "ünïcode"])
    def test_a_key_that_is_none_is_refused(self, api: ApiClient, key: str):
        answer = api.send("POST", "/memories", {"content": "x"}, Idempotency_Key=key)
        assert answer.status_code == 422
        assert api.send("GET", "/memories").json()["total"] == 0

    def test_a_new_secret_is_never_kept(self, api: ApiClient):
        body = {"name": "k", "scopes": ["memories:read"]}
        secrets = {api.send("POST", "/keys", body, Idempotency_Key="k").json()["key"] for _ in range(2)}
        assert len(secrets) == 2


class TestReference:
    """OpenAPI and its page."""

    def test_the_committed_description_is_the_one_served(self, client: Client):
        served = client.get("/api/v1/openapi.json").json()
        assert served == json.loads(OPENAPI.read_text()), EXPORT

    def test_the_page_comes_from_this_server_alone(self, client: Client):
        page = client.get("/api/docs")
        assert page.status_code == 200
        assert "://" not in page.content.decode().replace("http://www.w3.org", "")
        policy = page.headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy
        assert "unsafe-eval" not in policy
        assert "unsafe-inline" not in client.get("/accounts/login/").headers["Content-Security-Policy"]
