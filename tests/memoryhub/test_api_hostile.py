"""Input nobody sends by accident: the right 4xx problem, nothing changed, never a 5xx."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection

from memories.models import Memory
from tests.conftest import ApiClient
from tests.memoryhub.routes import ROUTES, filled

NUL = "a\0b"
SURROGATE = "a\ud800b"
DEEP: Any = "x"
for _ in range(20):
    DEEP = {"x": DEEP}
MAX_INT8 = 2**63


def raw(value: Any) -> bytes:
    """JSON as a careless client would write it: lone surrogates escaped, NaN allowed."""
    return json.dumps(value).encode()


# Fields of a memory, by what is wrong with them.
FIELDS: dict[str, dict[str, Any]] = {
    "content: NUL": {"content": NUL},
    "content: lone surrogate": {"content": SURROGATE},
    "content: empty after trimming": {"content": " \n\t "},
    "content: too long": {"content": "x" * 100_001},
    "content: a number": {"content": 5},
    "content: null": {"content": None},
    "content: a list": {"content": ["x"]},
    "importance: beyond int8": {"importance": MAX_INT8},
    "importance: negative": {"importance": -1},
    "importance: zero": {"importance": 0},
    "importance: six": {"importance": 6},
    "importance: a fraction": {"importance": 2.5},
    "importance: a whole float": {"importance": 3.0},
    "importance: a boolean": {"importance": True},
    "importance: text": {"importance": "3"},
    "confidence: beyond any integer": {"confidence": 10**300},
    "type: unknown": {"type": "opinion"},
    "type: NUL": {"type": "fact\0"},
    "tags: NUL": {"tags": [NUL]},
    "tags: 33 of them": {"tags": [str(number) for number in range(33)]},
    "tags: too long": {"tags": ["x" * 65]},
    "tags: not a list": {"tags": "work"},
    "tags: nested": {"tags": [["x"]]},
    "entities: 65 of them": {"entities": [str(number) for number in range(65)]},
    "entities: lone surrogate": {"entities": [SURROGATE]},
    "extra: NUL in a value": {"extra": {"a": {"b": NUL}}},
    "extra: NUL in a key": {"extra": {NUL: 1}},
    "extra: lone surrogate in a value": {"extra": {"a": [SURROGATE]}},
    "extra: lone surrogate in a key": {"extra": {SURROGATE: 1}},
    "extra: NaN": {"extra": {"a": float("nan")}},
    "extra: infinity": {"extra": {"a": float("inf")}},
    "extra: too deep": {"extra": DEEP},
    "extra: too large": {"extra": {"a": "x" * 9000}},
    "extra: a list": {"extra": [1]},
    "user_id: too long": {"user_id": "x" * 256},
    "session_id: NUL": {"session_id": NUL},
    "external_write_id: empty": {"external_write_id": ""},
    "fact_key: an object": {"fact_key": {"a": 1}},
    "expires_at: no date": {"expires_at": "soon"},
    "expires_at: a number": {"expires_at": 1e308},
    "expires_at: year 10000": {"expires_at": "10000-01-01T00:00:00Z"},
    "expires_at: out of range by its zone": {"expires_at": "9999-12-31T23:59:59-23:59"},
    "event_at: year 0": {"event_at": "0000-01-01T00:00:00Z"},
    "created_at: year 1, eastern zone": {"created_at": "0001-01-01T00:00:00+14:00"},
    "namespace: five parts": {"namespace": ["a", "b", "c", "d", "e"]},
    "namespace: empty": {"namespace": []},
    "dedup: text": {"dedup": "yes"},
    "status: unknown": {"status": "published"},
    "bank: unknown": {"bank": "'; DROP TABLE memories_memory; --"},
    "bank: too long": {"bank": "x" * 300},
    "unknown field": {"surprise": 1},
    "id": {"id": "01890000-0000-7000-8000-000000000000"},
    "twice under two names": {"external_write_id": "a", "externalWriteId": "b"},
    "trust is not the writer's to say": {"trust": "verified"},
}
BODIES: dict[str, tuple[bytes, int]] = {
    "nothing": (b"", 422),
    "a blank": (b" ", 400),
    "half an object": (b'{"content": "x"', 400),
    "trailing comma": (b'{"content": "x",}', 400),
    "single quotes": (b"{'content': 'x'}", 400),
    "not JSON": (b"content=x", 400),
    "null": (b"null", 422),
    "a list": (b"[]", 422),
    "a text": (b'"x"', 422),
    "a number": (b"7", 422),
    "NaN": (b"NaN", 422),
    "1e400": (b'{"content": "x", "extra": {"a": 1e400}}', 422),
    "-Infinity": (b'{"content": "x", "extra": {"a": -Infinity}}', 422),
    "twin keys": (b'{"content": "x", "content": "y"}', 422),
    "5,000 deep": (b'{"content": "x", "extra": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001, 422),
    "5,000 open brackets": (b"[" * 5000, 422),
    "UTF-16": ('{"content": "x"}'.encode("utf-16"), 400),
    "UTF-16 without a mark": ('{"content": "x"}'.encode("utf-16-le"), 400),
    "Latin-1": ('{"content": "ü"}'.encode("latin-1"), 400),
    "a byte order mark": (b"\xef\xbb\xbf" + b'{"content": "x"}', 400),
    "overlong UTF-8": (b'{"content": "\xc0\x80"}', 400),
    "a surrogate in UTF-8": (b'{"content": "\xed\xa0\x80"}', 400),
    "raw NUL": (b'{"content": "\x00"}', 400),
    "a number of 5,000 digits": (b'{"content": "x", "importance": ' + b"9" * 5000 + b"}", 422),
    "six mebibytes": (b'{"content": "' + b"x" * (6 * 1024 * 1024) + b'"}', 413),
}
QUERIES = [
    "limit=-1", "limit=0", "limit=201", "limit=1e9", "limit=99999999999999999999", "limit=x", "limit=", "limit=2.5",
    "offset=-5", "cursor=%00", "cursor=x", "q=%00", "q=" + "x" * 10_001, "q=" + "x" * 20_000, "bank=Garage",
    "bank=%00", "type=opinion", "status=x", "archived=maybe", "min_importance=9", "created_after=soon",
    "created_before=99999-01-01", "created_after=9999-12-31T23:59:59-23:59", "sort=content", "sort=-created_at;drop",
    "facets=content", "user_id=" + "x" * 256, "tag=" + "x" * 65, "min_trust=total", "compact=perhaps", "%00=1",
    "a[]=1", "&".join(f"p{number}=1" for number in range(1200)), "is_protected=2",
]  # fmt: skip
ODDITIES = [NUL, SURROGATE, "", " ", "x" * 3000, 5, None, [], {}, True, MAX_INT8, 1.5]
IDS = ["%00", "nonsense", "1", "'", "%F0%9F%98%80", "..%2f..%2fetc", "x" * 3000, "0" * 32, "null", "%ff", "{id}"]


@pytest.fixture
def untouched(api: ApiClient) -> Any:
    """Checks at the end that nothing was stored."""
    yield
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memories_memory")
        assert cursor.fetchone() == (0,)


def refused(answer: Any, *statuses: int) -> dict[str, Any]:
    """The problem, after checking that it is one and that it names the request."""
    assert answer.status_code in (statuses or range(400, 500)), answer.content
    assert answer.headers["Content-Type"] == "application/problem+json"
    told: dict[str, Any] = answer.json()
    assert told["status"] == answer.status_code
    assert told["request_id"] == answer.headers["X-Request-Id"]
    return told


@pytest.mark.parametrize("name", FIELDS)
def test_a_hostile_field(api: ApiClient, untouched: None, name: str):
    """API-17: 422, and the pointer leads to the field. In a write, in a batch and in a change."""
    body = {"content": "fine", **FIELDS[name]}
    told = refused(api.send("POST", "/memories", raw(body)), 422)
    assert told["errors"]
    batch = api.send("POST", "/memories/batch", raw({"items": [body]}))
    if batch.status_code == 200:  # what is not even JSON fails as a whole
        (item,) = batch.json()["results"]
        assert (item["status"], item["problem"]["status"]) == (422, 422)
    else:
        refused(batch, 422)
    refused(api.send("PATCH", "/memories/01890000-0000-7000-8000-000000000000", raw(FIELDS[name])), 404, 422)


@pytest.mark.parametrize("name", BODIES)
def test_a_hostile_body(api: ApiClient, untouched: None, name: str):
    body, status = BODIES[name]
    for path in ("/memories", "/memories/batch", "/memories/search", "/memories/read", "/banks", "/keys"):
        told = refused(api.send("POST", path, body), status)
        assert len(json.dumps(told)) < 20_000


@pytest.mark.parametrize("path", ["/memories", "/jobs", "/settings"])
def test_a_hostile_query(api: ApiClient, path: str):
    for query in QUERIES:
        refused(api.send("GET", f"{path}?{query}"), 400, 422)


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if "{" in route.path])
def test_a_hostile_id(api: ApiClient, name: str):
    route = ROUTES[name]
    kinds = ["memory", "successor", "pair", "bank", "agent", "key", "job", "session", "changeset", "plan"]
    kinds += ["receipt", "import", "webhook", "delivery"]
    known = dict.fromkeys(kinds, "01890000-0000-7000-8000-000000000000") | {"bank": "Work"}
    for identifier in IDS:
        path = filled(route.path, dict.fromkeys(kinds, identifier))
        refused(api.send(route.method, path, filled(route.body, known)), 404, 405, 422)


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if isinstance(route.body, dict)])
def test_every_body_field_of_every_route(api: ApiClient, own: dict[str, str], name: str):
    """Whatever stands in any one field: an answer below 500."""
    route = ROUTES[name]
    body = filled(route.body, own)
    for key in body:
        for value in ODDITIES:
            answer = api.send(route.method, filled(route.path, own), raw({**body, key: value}))
            assert answer.status_code < 500, (key, answer.content)
            if answer.status_code >= 400:
                refused(answer)


@pytest.mark.parametrize("content_type", ["text/plain", "", "multipart/form-data; boundary=x", "application/xml"])
def test_a_body_that_is_not_said_to_be_json(api: ApiClient, untouched: None, content_type: str):
    answer = api.generic("POST", "/api/v1/memories", b'{"content": "x"}', content_type=content_type)
    assert refused(answer, 415)["code"] == "unsupported_media_type"


@pytest.mark.parametrize(
    "headers",
    [
        {"If_Match": "\x7f"},
        {"If_Match": '"v' + "9" * 400 + '"'},
        {"If_None_Match": "," * 5000},
        {"X_Request_Id": "x" * 10_000},
        {"Accept": "text/html"},
        {"Idempotency_Key": "é"},
        {"X_API_Key": "\ud800"},
    ],
)
def test_hostile_headers(api: ApiClient, own: dict[str, str], headers: dict[str, str]):
    for method, body in (("GET", None), ("PATCH", {"importance": 4})):
        assert api.send(method, f"/memories/{own['memory']}", body, **headers).status_code < 500
    assert Memory.objects.count() == 3


def test_the_words_of_an_error_hold_nothing_of_the_input(api: ApiClient):
    """Memory text must not travel into logs by way of an error."""
    answer = api.send("POST", "/memories", {"content": "fine", "importance": "the secret word is swordfish"})
    assert "swordfish" not in answer.content.decode()


@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        (b"", "/", "a body is needed, in JSON"),
        (b"[]", "/", "must be a JSON object"),
        (b'{"content": " "}', "/content", "Value should have at least 1 character, not 0"),
        (b'{"content": "x", "extra": []}', "/extra", "must be a JSON object"),
        (b'{"content": "x", "colour": 1}', "/colour", "is not known here; leave it out, or correct its name"),
        (b'{"content": "x", "expires_at": "9999-12-31T00:00:00Z"}', "/expires_at",
         "must lie between 0001-01-02 and 9999-12-30"),
        (b'{"content": "x", "expires_at": "0000-01-01"}', "/expires_at",
         "must be an ISO 8601 date and time such as 2026-11-21T10:00:00Z"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_to_somebody_who_knows_json(api: ApiClient, body: bytes, pointer: str, detail: str):
    """And neither Python nor the library that reads it."""
    answer = api.generic("POST", "/api/v1/memories", body, content_type="application/json")
    (told,) = answer.json()["errors"]
    assert (answer.status_code, told["pointer"], told["detail"]) == (422, pointer, detail)


def test_what_else_is_told_in_a_sentence(api: ApiClient):
    """A compressed body, a version that is none, a host name nobody allowed."""
    path = "/api/v1/memories"
    packed = api.generic("POST", path, b"x", content_type="application/json", headers={"Content-Encoding": "gzip"})
    assert (packed.status_code, "compressed" in packed.json()["detail"]) == (415, True)
    made = api.send("POST", "/memories", {"content": "x"}).json()["memory"]
    stale = api.send("PATCH", f"/memories/{made['id']}", {"importance": 5}, If_Match="seven")
    assert (stale.status_code, "not what If-Match names" in stale.json()["detail"]) == (412, True)
    elsewhere = api.get(path, headers={"Host": "hub.example.org"})
    assert (elsewhere.status_code, "MEMORYHUB_ALLOWED_HOSTS" in elsewhere.json()["detail"]) == (400, True)
