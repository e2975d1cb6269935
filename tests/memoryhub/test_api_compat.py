"""The doors in other programs' words: the promises of the REST door, and the requests mem0's own client sends."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from banks.access import ALL_SCOPES, Access, KeyScope
from memories.models import Memory
from memories.rules.settings import Level
from memories.services.settings import write_setting
from memoryhub import api as door
from memoryhub.lib.ratelimit import Policy
from tests import factories
from tests.conftest import ApiClient
from tests.memoryhub.routes import READ, WRITE, Route, filled

pytestmark = pytest.mark.django_db
DELETE = KeyScope.MEMORIES_DELETE
SAID = {"messages": [{"role": "user", "content": "I like tea."}], "user_id": "mara"}
FACTS = {
    "write_fact": Route("POST", "/api/facts", WRITE, {"fact_text": "Likes tea."}),
    "list_facts": Route("GET", "/api/facts", READ),
    "update_fact": Route("PUT", "/api/facts/{memory}", WRITE, {"memory_bank": "Work"}),
    "list_memory_banks": Route("GET", "/api/memory-banks", READ),
}
MEM0 = {
    "mem0_add": Route("POST", "/compat/mem0/memories", WRITE, SAID),
    "mem0_list": Route("GET", "/compat/mem0/memories", READ),
    "mem0_get_all": Route("POST", "/compat/mem0/v3/memories/", READ, {"filters": {"user_id": "mara"}}),
    "mem0_search": Route("POST", "/compat/mem0/search", READ, {"query": "tea", "user_id": "mara"}),
    "mem0_get": Route("GET", "/compat/mem0/memories/{memory}", READ),
    "mem0_update": Route("PUT", "/compat/mem0/memories/{memory}", WRITE, {"text": "Something else."}),
    "mem0_delete": Route("DELETE", "/compat/mem0/memories/{memory}", DELETE),
    "mem0_history": Route("GET", "/compat/mem0/memories/{memory}/history", READ),
    "mem0_delete_all": Route("DELETE", "/compat/mem0/memories?user_id=mara", DELETE),
    "mem0_delete_entity": Route("DELETE", "/compat/mem0/entities/user/mara", DELETE),
    "mem0_entities": Route("GET", "/compat/mem0/entities", READ),
    "mem0_users": Route("GET", "/compat/mem0/v1/entities/", READ),
    "mem0_ping": Route("GET", "/compat/mem0/v1/ping/", None),
}
ROUTES = {**FACTS, **MEM0}


def sent(secret: str, route: Route, ids: dict[str, str]) -> Any:
    headers = {"Authorization": f"Bearer {secret}"}
    path, body = filled(route.path, ids), filled(route.body, ids)
    return Client(headers=headers, raise_request_exception=False).generic(
        route.method, path, b"" if body is None else json.dumps(body).encode(), content_type="application/json"
    )


@pytest.fixture
def opened(access: Access, other_access: Access) -> None:
    """mem0's door stands open in both vaults."""
    for one in (access, other_access):
        write_setting(one, Level.VAULT, "mem0_api", True)


@pytest.fixture
def key(access: Access) -> Callable[..., str]:
    """The secret of a key with these scopes."""
    return lambda *scopes: factories.make_key(access, frozenset(scopes) or ALL_SCOPES)[1]


def test_the_tables_are_complete():
    for api, routes in ((door.facts, FACTS), (door.mem0, MEM0)):
        views = {
            operation.view_func.__name__
            for router in api._get_bound_routers()
            for view in router.path_operations.values()
            for operation in view.operations
        }
        assert views == set(routes)


@pytest.mark.parametrize("name", ROUTES)
def test_without_a_key_every_route_is_401(name: str):
    answer = sent("nonsense", ROUTES[name], {"memory": "x"})
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_key")


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if route.scope])
def test_every_route_needs_its_scope(opened: None, key: Callable[..., str], own: dict[str, str], name: str):
    route = ROUTES[name]
    assert route.scope is not None
    refused = sent(key(*(ALL_SCOPES - {route.scope})), route, own)
    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope"), refused.content
    assert sent(key(route.scope, READ), route, own).status_code in {200, 201}


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if "{" in route.path])
def test_a_foreign_id_looks_like_an_unknown_one(
    opened: None, key: Callable[..., str], foreign: dict[str, str], unknown: dict[str, str], name: str
):
    """API-17 holds here too."""
    answers = [sent(key(), ROUTES[name], ids) for ids in (foreign, unknown, {"memory": "nonsense"})]
    assert [answer.status_code for answer in answers] == [404] * 3
    assert answers[0].json()["detail"] == answers[1].json()["detail"]


@pytest.mark.parametrize("name", MEM0)
def test_mem0s_door_is_shut_until_it_is_opened(key: Callable[..., str], own: dict[str, str], name: str):
    answer = sent(key(), MEM0[name], own)
    assert (answer.status_code, "mem0_api" in answer.json()["detail"]) == (404, True)


def test_requests_are_counted(opened: None, key: Callable[..., str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(door, "READS", Policy("reads", 1))
    secret = key()
    assert [sent(secret, FACTS["list_facts"], {}).status_code, sent(secret, MEM0["mem0_search"], {}).status_code] == [
        200,
        429,
    ]


# ---- facts


def test_a_fact_there_and_back(api: ApiClient, access: Access):
    """CON-02: 0.7 is step 4, 0.8 comes back; the bank may be chosen and changed."""
    fact = {"fact_text": "User loves coffee in the morning", "fact_key": "preference_coffee", "importance": 0.7}
    made = api.send("POST", "/api/facts", fact | {"memory_bank": "Personal"})
    assert made.status_code == 201
    body = made.json()
    assert (body["importance"], body["memory_bank"], body["fact_key"]) == (0.8, "Personal", "preference_coffee")
    assert Memory.objects.get(pk=body["id"]).importance == 4
    assert api.send("POST", "/api/facts", fact | {"memory_bank": "Personal"}).status_code == 200
    assert [one["id"] for one in api.send("GET", "/api/facts?bank=Personal").json()] == [body["id"]]
    assert api.send("GET", "/api/facts?memory_bank=Work").json() == []
    moved = api.send("PUT", f"/api/facts/{body['id']}", {"memory_bank": "Work", "importance": 0})
    assert (moved.status_code, moved.json()["memory_bank"], moved.json()["importance"]) == (200, "Work", 0.2)
    assert [one["fact_text"] for one in api.send("GET", "/api/facts?bank=work").json()] == [fact["fact_text"]]


@pytest.mark.parametrize(
    "share,step", [(0.0, 1), (0.2, 1), (0.4, 2), (0.5, 3), (0.6, 3), (0.7, 4), (1.0, 5), (1, 5), (0, 1)]
)
def test_shares_are_steps(api: ApiClient, share: float, step: int):
    made = api.send("POST", "/api/facts", {"fact_text": "Likes tea", "importance": share}).json()
    assert (Memory.objects.get(pk=made["id"]).importance, made["importance"]) == (step, step / 5)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"fact_text": ""},
        {"fact_text": "a\0"},
        {"fact_text": "x", "importance": 2},
        {"fact_text": "x", "importance": "0.5"},
        {"fact_text": "x", "importance": True},
        {"fact_text": "x", "memory_bank": "Nowhere"},
        {"fact_text": "x", "content": "y"},
    ],
)
def test_what_is_no_fact_is_refused_by_its_field(api: ApiClient, body: dict[str, Any]):
    answer = api.send("POST", "/api/facts", body)
    assert (answer.status_code, bool(answer.json()["errors"])) == (422, True)


def test_facts_in_camel_case_and_in_banks_there_are_not(api: ApiClient):
    """BNK-10, BNK-11, BNK-13: either spelling, any case of the bank; an unknown one is named, asked for or given."""
    fact = {"factText": "Likes tea", "factKey": "preference_tea", "memoryBank": " personal ", "isProtected": True}
    body = api.send("POST", "/api/facts", fact).json()
    assert (body["fact_text"], body["memory_bank"], body["is_protected"]) == ("Likes tea", "Personal", True)
    assert [one["id"] for one in api.send("GET", "/api/facts?memoryBank=personal").json()] == [body["id"]]
    path = f"/api/facts/{body['id']}"
    unknown = [
        api.send("GET", "/api/facts?bank=Nowhere"),
        api.send("PUT", path, {"memory_bank": "Nowhere"}),
        api.send("POST", "/api/facts", fact | {"memoryBank": "Nowhere"}),
    ]
    assert [(one.status_code, one.json()["code"]) for one in unknown] == [(422, "unknown_bank")] * 3
    assert api.send("PUT", path, {"importance": 1.01}).json()["errors"][0]["pointer"] == "/importance"
    assert (api.send("DELETE", path).status_code, api.send("GET", "/api/facts?wrong=1").status_code) == (405, 422)


def test_banks_are_listed(api: ApiClient):
    """BNK-09."""
    banks = api.send("GET", "/api/memory-banks").json()
    assert {"General", "Personal", "Work"} <= {bank["name"] for bank in banks}
    assert [bank["name"] for bank in banks if bank["is_default"]] == ["General"]


# ---- mem0


@pytest.mark.parametrize("client", [False, True], ids=["server", "client"])
@pytest.mark.parametrize("scheme", ["Bearer", "Token", "X-API-Key"])
def test_a_memory_in_mem0s_words(opened: None, key: Callable[..., str], client: bool, scheme: str):
    """Added, found, read, changed, deleted, remembered in its history: at the server's addresses and the client's."""
    secret = key()
    headers = {"X-API-Key": secret} if scheme == "X-API-Key" else {"Authorization": f"{scheme} {secret}"}
    one = "/compat/mem0/v1/memories/{}/" if client else "/compat/mem0/memories/{}"

    def call(method: str, path: str, body: Any = None) -> Any:
        return Client(headers=headers).generic(
            method, path, b"" if body is None else json.dumps(body).encode(), content_type="application/json"
        )

    add = "/compat/mem0/v3/memories/add/" if client else "/compat/mem0/memories"
    (made,) = call("POST", add, {**SAID, "metadata": {"room": "kitchen"}}).json()["results"]
    assert (made["memory"], made["event"]) == ("I like tea.", "ADD")
    assert call("POST", add, SAID).json()["results"][0] == made | {"event": "NONE"}
    search = "/compat/mem0/v3/memories/search/" if client else "/compat/mem0/search"
    (hit,) = call(
        "POST", search, {"query": "what tea?", "filters": {"AND": [{"user_id": "mara"}]}, "threshold": 0}
    ).json()["results"]
    assert (hit["id"], hit["user_id"], hit["metadata"]) == (made["id"], "mara", {"room": "kitchen"})
    assert call("POST", search, {"query": "tea", "user_id": "tom"}).json() == {"results": []}
    listed = (
        call("POST", "/compat/mem0/v3/memories/", {"filters": {"user_id": "mara"}})
        if client
        else call("GET", f"{add}?user_id=mara&top_k=5")
    )
    assert [row["id"] for row in listed.json()["results"]] == [made["id"]]
    assert call("PUT", one.format(made["id"]), {"text": "I like coffee."}).json()["memory"] == "I like coffee."
    assert call("GET", one.format(made["id"])).json()["memory"] == "I like coffee."
    assert "deleted" in call("DELETE", one.format(made["id"])).json()["message"]
    assert call("GET", one.format(made["id"])).status_code == 404
    assert Memory.objects.get(pk=made["id"]).archived_at is not None
    history = call("GET", (one.rstrip("/") + "/history" + ("/" if client else "")).format(made["id"])).json()
    assert [(turn["event"], turn["old_memory"], turn["new_memory"]) for turn in history] == [
        ("ADD", None, "I like tea."),
        ("UPDATE", "I like tea.", "I like coffee."),
        ("DELETE", "I like coffee.", None),
    ]


@pytest.fixture
def tell(opened: None, key: Callable[..., str]) -> Callable[..., Any]:
    """Calls an address of the client and gives its answer."""
    secret = key()

    def call(method: str, path: str, body: Any = None) -> Any:
        return sent(secret, Route(method, f"/compat/mem0{path}", None, body), {})

    return call


def test_pages_of_the_client_end(tell: Callable[..., Any]):
    """The client sends page and page_size beside the body; whoever follows ``next`` sees each memory once."""
    for number in range(5):
        tell("POST", "/v3/memories/add/", {"messages": f"I count {number} sheep.", "user_id": "mara"})
    asked, seen, path = {"filters": {"user_id": "mara"}}, [], "/v3/memories/?page=1&page_size=2"
    while path:
        answer = tell("POST", path, asked).json()
        assert answer["count"] == 5
        seen.append([row["memory"][8] for row in answer["results"]])
        path = (answer["next"] or "").removeprefix("http://testserver/compat/mem0")
    assert seen == [["4", "3"], ["2", "1"], ["0"]]
    assert answer["previous"].endswith("?page=2&page_size=2")
    behind = tell("POST", "/v3/memories/?page=9&page_size=2", asked).json()
    assert (behind["results"], behind["next"], behind["count"]) == ([], None, 5)
    too_far = tell("POST", "/v3/memories/?page=5001&page_size=2", asked)
    assert (too_far.status_code, too_far.json()["errors"][0]["pointer"]) == (422, "/page")


def test_what_expires_expires(tell: Callable[..., Any]):
    """A day until which a memory holds is kept, shown, moved and taken back; the day itself still counts."""
    today = dt.datetime.now(dt.UTC).date()
    said = {"messages": "The ticket is valid.", "user_id": "mara", "timestamp": 1_700_000_000}
    (made,) = tell("POST", "/memories", {**said, "expiration_date": str(today)}).json()["results"]
    memory = Memory.objects.get(pk=made["id"])
    assert memory.expires_at == dt.datetime.combine(today, dt.time.max, dt.UTC)
    assert memory.event_at == dt.datetime(2023, 11, 14, 22, 13, 20, tzinfo=dt.UTC)
    assert tell("GET", f"/memories/{made['id']}").json()["expiration_date"] == str(today)
    path = f"/v1/memories/{made['id']}/"
    assert tell("PUT", path, {"expiration_date": "2099-12-31"}).json()["expiration_date"] == "2099-12-31"
    assert tell("PUT", path, {"expiration_date": None}).json()["expiration_date"] is None
    assert tell("PUT", path, {"timestamp": "2026-01-02T03:04:05Z"}).status_code == 200
    yesterday = str(today - dt.timedelta(days=1))
    tell("PUT", path, {"expiration_date": yesterday})
    assert tell("POST", "/v3/memories/", {"filters": {"user_id": "mara"}}).json()["results"] == []
    for odd in ({"expiration_date": "tomorrow"}, {"timestamp": 1e30}, {"timestamp": True}, {}):
        assert tell("PUT", path, odd).status_code == 422, odd


def test_metadata_is_laid_over_what_there_was(tell: Callable[..., Any]):
    (made,) = tell("POST", "/memories", {**SAID, "metadata": {"room": "kitchen", "n": 1}}).json()["results"]
    told = tell("PUT", f"/memories/{made['id']}", {"metadata": {"n": 2}}).json()
    assert told["metadata"] == {"room": "kitchen", "n": 2}


def test_what_was_deleted_is_there_no_more(tell: Callable[..., Any]):
    (made,) = tell("POST", "/memories", SAID).json()["results"]
    path = f"/memories/{made['id']}"
    assert tell("DELETE", path).status_code == 200
    assert [tell("DELETE", path).status_code, tell("PUT", path, {"text": "x"}).status_code] == [404, 404]
    assert {turn["role"] for turn in tell("GET", f"{path}/history").json()} == {"user"}


def test_refusals_are_read_by_the_client(tell: Callable[..., Any]):
    """It looks for ``detail`` in answers of exactly this type."""
    answer = tell("GET", "/v1/memories/nonsense/")
    assert (answer.headers["Content-Type"], "detail" in answer.json()) == ("application/json", True)


def test_what_mem0_refuses_is_refused(opened: None, key: Callable[..., str]):
    secret = key()
    nobody = sent(secret, Route("POST", "/compat/mem0/memories", WRITE, {"messages": SAID["messages"]}), {})
    assert (nobody.status_code, nobody.json()["code"]) == (400, "identifier_required")
    odd = {"query": "x", "filters": {"OR": [{"user_id": "a"}, {"run_id": "r"}]}}
    assert sent(secret, Route("POST", "/compat/mem0/search", READ, odd), {}).status_code == 422


def test_turns_are_kept_whole_or_not_at_all(opened: None, key: Callable[..., str]):
    """``infer`` takes what the user said; without it every turn but the system's. One bad turn writes none."""
    turns = [{"role": role, "content": f"{role} says so"} for role in ("system", "user", "assistant")]
    secret = key()
    for infer, count in ((True, 1), (False, 2)):
        body = {"messages": turns, "user_id": "mara", "infer": infer}
        answer = sent(secret, Route("POST", "/compat/mem0/memories", WRITE, body), {})
        assert len(answer.json()["results"]) == count
    bad = {"messages": [*turns, {"role": "user", "content": "x" * 100_001}], "user_id": "tom"}
    assert sent(secret, Route("POST", "/compat/mem0/memories", WRITE, bad), {}).status_code == 422
    assert not Memory.objects.filter(user_id="tom").exists()
