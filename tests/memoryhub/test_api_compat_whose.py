"""Whose memories mem0's requests are about: what names nobody is never everybody, least of all where it deletes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from banks.access import Access
from memories.models import Memory
from memories.rules.settings import Level
from memories.services import bulk
from memories.services.settings import write_setting
from tests.conftest import ApiClient

pytestmark = pytest.mark.django_db


@pytest.fixture
def tell(api: ApiClient, access: Access) -> Callable[..., Any]:
    """Calls an address of mem0's server or client and gives its answer."""
    write_setting(access, Level.VAULT, "mem0_api", True)

    def call(method: str, path: str, body: Any = None) -> Any:
        sent = b"" if body is None else json.dumps(body).encode()
        return api.generic(method, f"/compat/mem0{path}", sent, content_type="application/json")

    return call


@pytest.fixture
def two_users(tell: Callable[..., Any]) -> dict[str, str]:
    """User → the id of what was said for them."""
    made = {}
    for user in ("mara", "tom"):
        told = tell("POST", "/memories", {"messages": f"{user} likes tea.", "user_id": user, "run_id": "r"}).json()
        made[user] = told["results"][0]["id"]
    return made


@pytest.mark.parametrize(
    "filters",
    [{}, {"AND": []}, {"AND": [{}]}, {"OR": []}, {"NOT": []}, {"user_id": ""}, {"user_id": None}, {"user_id": []},
     {"user_id": {}}, {"user_id": {"in": []}}, {"user_id": {"in": [""]}}, {"app_id": "x"}, {"AND": [{"app_id": "x"}]}],
)  # fmt: skip
def test_a_filter_that_names_nothing_never_widens(
    tell: Callable[..., Any], two_users: dict[str, str], filters: dict[str, Any]
):
    """A program that lost the id it meant to ask with is told so, and not answered about everybody."""
    for path, body in (
        ("/v3/memories/", {}),
        ("/search", {"query": "tea"}),
        ("/v3/memories/search/", {"query": "tea"}),
    ):
        answer = tell("POST", path, {**body, "filters": filters})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/filters"), answer.content


@pytest.mark.parametrize("name", ["user_id", "agent_id", "run_id", "app_id"])
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_id_never_widens(tell: Callable[..., Any], two_users: dict[str, str], name: str, value: str):
    for answer in (
        tell("GET", f"/memories?{name}={value}"),
        tell("POST", "/search", {"query": "tea", name: value}),
        tell("DELETE", f"/memories?{name}={value}"),
        tell("DELETE", f"/v1/memories/?{name}={value}&user_id=mara"),
    ):
        assert answer.status_code == 422 and "detail" in answer.json()
    assert not Memory.objects.exclude(archived_at=None).exists()


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"OR": [{"user_id": "mara"}, {"user_id": {"in": ["tom"]}}]}, "mara tom"),
        ({"NOT": [{"user_id": "mara"}]}, "tom"),
        ({"user_id": {"ne": "tom"}}, "mara"),
        ({"AND": [{"run_id": "r"}, {"user_id": {"nin": ["mara", "nobody"]}}]}, "tom"),
        ({"user_id": "*", "created_at": {"gte": "2020-01-01", "lt": "2999-01-01T00:00:00Z"}}, "mara tom"),
        ({"created_at": {"lte": "2020-01-01"}}, ""),
        ({"run_id": "r", "user_id": {"ne": 'a" user:"mara'}}, "mara tom"),
    ],
)
def test_operators(tell: Callable[..., Any], two_users: dict[str, str], filters: dict[str, Any], found: str):
    for path, body in (("/v3/memories/", {}), ("/search", {"query": "tea", "threshold": 0})):
        rows = tell("POST", path, {**body, "filters": filters}).json()["results"]
        assert sorted(row["user_id"] for row in rows) == found.split(), path


def test_categories_are_tags(tell: Callable[..., Any], api: ApiClient, two_users: dict[str, str]):
    api.send("PATCH", f"/api/v1/memories/{two_users['tom']}", {"tags": ["drinks", "hot"]})
    for asked in ({"in": ["drinks", "cars"]}, {"contains": "hot"}):
        rows = tell("POST", "/v3/memories/", {"filters": {"categories": asked}}).json()["results"]
        assert [row["id"] for row in rows] == [two_users["tom"]]


@pytest.mark.parametrize(
    "path",
    ["/memories?user_id=mara", "/v1/memories/?user_id=mara&run_id=r", "/entities/user/mara", "/v2/entities/user/mara/"],
)
def test_all_of_one_user_is_deleted(tell: Callable[..., Any], two_users: dict[str, str], path: str):
    """Archived as one changeset, drafts and what expired too; what is protected and what is another's stays."""
    Memory.objects.filter(pk=two_users["mara"]).update(status="draft")
    answer = tell("DELETE", path)
    assert (answer.status_code, "deleted" in answer.json()["message"]) == (200, True)
    gone = Memory.objects.exclude(archived_at=None)
    assert [str(pk) for pk in gone.values_list("pk", flat=True)] == [two_users["mara"]]
    assert tell("DELETE", path).status_code == 200
    Memory.objects.filter(pk=two_users["tom"]).update(is_protected=True)
    assert "1 protected" in tell("DELETE", "/memories?user_id=tom").json()["message"]
    assert Memory.objects.get(pk=two_users["tom"]).archived_at is None


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/memories", 400),
        ("/v1/memories/", 400),
        ("/memories/", 404),
        ("/v1/memories//", 404),
        ("/memories?user_id=*", 422),
        ("/memories?user_id=mara&app_id=x", 422),
        ("/memories?user_id=mara&user_id=tom", 422),
        ("/memories?filters={}", 422),
        ("/v2/entities/user//", 404),
        ("/v2/entities/user/*/", 422),
        ("/v2/entities/user/%20/", 422),
        ("/v2/entities/app/x/", 404),
    ],
)
def test_what_names_nobody_deletes_nothing(tell: Callable[..., Any], two_users: dict[str, str], path: str, status: int):
    assert tell("DELETE", path).status_code == status
    assert not Memory.objects.exclude(archived_at=None).exists()


def test_more_than_fits_at_once_is_deleted_by_a_job(
    tell: Callable[..., Any], two_users: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bulk, "AT_ONCE", 1)
    tell("POST", "/memories", {"messages": "Something else entirely.", "user_id": "mara"})
    assert "being deleted" in tell("DELETE", "/memories?user_id=mara").json()["message"]


def test_whom_memories_are_about(tell: Callable[..., Any], two_users: dict[str, str]):
    """As the server lists them, and as the client reads them."""
    listed = tell("GET", "/entities").json()
    assert tell("GET", "/v1/entities/").json() == {"results": listed}
    told = {(one["type"], one["id"], one["total_memories"]) for one in listed}
    assert told >= {("user", "mara", 1), ("user", "tom", 1), ("run", "r", 2)}
    tell("DELETE", "/memories?user_id=mara")
    assert "mara" not in {one["name"] for one in tell("GET", "/entities").json()}


def test_an_id_may_be_a_number(tell: Callable[..., Any]):
    """The key of a row in the caller's own database."""
    tell("POST", "/memories", {"messages": "Seven likes tea.", "user_id": 7})
    assert [row["user_id"] for row in tell("GET", "/memories?user_id=7").json()["results"]] == ["7"]
    assert len(tell("POST", "/v3/memories/", {"filters": {"user_id": 7}}).json()["results"]) == 1
