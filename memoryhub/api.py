"""The REST door's frame: who may come in, how fast, in which form, and what a refusal looks like.

The routes themselves are in ``memories.api`` and ``banks.api``; a view's name is the verb and its operation id.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Sequence
from typing import Any, Never, cast

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.csp import CSP
from django.utils.datastructures import MultiValueDict
from django.views.decorators.csp import csp_override
from django.views.decorators.http import require_safe
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError, ValidationErrorContext
from ninja.openapi.docs import Swagger
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.parser import Parser
from ninja.security import APIKeyHeader, HttpBearer

from banks.access import Access, Door, InvalidKey
from banks.access.access import MissingScope
from banks.api import router as banks_router
from memories.api import router as memories_router
from memories.api.facts import router as facts_router
from memories.api.mem0 import router as mem0_router
from memories.services.idempotency import IdempotencyKeyReused, StoredAnswer, with_idempotency
from memoryhub import __version__
from memoryhub.admission import READS, WRITES, admit
from memoryhub.lib import strictjson
from memoryhub.lib.answers import bare_problem_answer, json_answer, problem_answer
from memoryhub.lib.errors import FieldError, HubError, Invalid, Malformed, NotFound, StaleVersion, Unauthenticated
from memoryhub.lib.openapi.document import Ordinary, finished
from memoryhub.lib.openapi.tags import DESCRIPTION, TAGS
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch
from memoryhub.lib.problems import TooLarge, UnsupportedMediaType
from memoryhub.lib.ratelimit import RateLimited
from memoryhub.lib.strict import sentence_of, snake_case
from memoryhub.middleware.body import QueryTooLong
from memoryhub.middleware.faults import DatabaseAway, DatabaseBusy, answer_fault

LONGEST_IDEMPOTENCY_KEY = 255
# Verbs that are POST only because their questions are long: they count as reads and are never stored for a replay.
READING_POSTS = frozenset(
    {"search_memories", "read_memories", "format_for_injection", "explain_absence", "mem0_search", "mem0_get_all"}
)
# It writes nothing and may ask a language model, which no transaction should wait for.
PREVIEWS = frozenset({"preview_extraction"})
# Their answers hold a new secret, which is shown once and kept nowhere.
SECRET_ANSWERS = frozenset({"create_key", "rotate_key"})
# Its answer is as large as the vault and changes nothing.
STREAMS = frozenset({"export_vault"})
_QUERY_WORDS = {"memory_type": "type", "memory_bank": "bank"}

#: The refusals that follow from the form of a route.
_ALWAYS = (Malformed, Unauthenticated, InvalidKey, Invalid, QueryTooLong, RateLimited, DatabaseAway, DatabaseBusy)


def _admit(request: HttpRequest, secret: str) -> Access:
    reads = request.method in ("GET", "HEAD") or _verb(request) in READING_POSTS
    return admit(request, secret, READS if reads else WRITES, Door.REST)


def _verb(request: HttpRequest) -> str | None:
    return request.resolver_match.url_name if request.resolver_match else None


class BearerKey(HttpBearer):
    """``Authorization: Bearer mh_live_…``."""

    def authenticate(self, request: HttpRequest, token: str) -> Access:
        """The Access of the key. Raises Unauthenticated."""
        return _admit(request, token.strip())


class HeaderKey(APIKeyHeader):
    """``X-API-Key: mh_live_…``."""

    param_name = "X-API-Key"

    def authenticate(self, request: HttpRequest, key: str | None) -> Access | None:
        """The Access of the key, None without one. Raises Unauthenticated."""
        return _admit(request, key.strip()) if key else None


class TokenKey(BearerKey):
    """``Authorization: Token mh_live_…``, as mem0's client sends it."""

    openapi_scheme = "token"


class StrictParser(Parser):
    """Bodies by ``strictjson``; query parameters in either spelling, one value or several."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        """The body's JSON. Raises Malformed or Invalid."""
        return cast("dict[str, Any]", strictjson.parse(request.body))

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        """Parameters by field name; a name given twice stays a list, which single-valued fields refuse."""
        parsed: dict[str, Any] = {}
        for name, values in data.lists():
            canonical = _canonical(name)
            if canonical in parsed:
                raise Invalid(errors=[FieldError(f"/{canonical}", "named_twice", "is given under two names")])
            parsed[canonical] = values if canonical in list_fields or len(values) > 1 else values[0]
        return parsed


def _canonical(name: str) -> str:
    snake = snake_case(name)
    return _QUERY_WORDS.get(snake, snake)


class _Schemas(OpenAPISchema):
    """Ninja's schema; two shapes of one name are a mistake of ours, which ninja would pass over."""

    def add_schema_definitions(self, definitions: dict[str, Any]) -> None:
        """Keep the shapes. Raises ValueError where a name stands for two."""
        twice = [name for name, shape in definitions.items() if self.schemas.get(name, shape) != shape]
        if twice:
            raise ValueError(f"two shapes have the same name: {twice}")
        super().add_schema_definitions(copy.deepcopy(definitions))  # ninja writes into what it gave


class HubAPI(NinjaAPI):
    """NinjaAPI with verbs as operation ids and a described document."""

    def __init__(self, **said: Any) -> None:
        super().__init__(**said)
        self._documents: dict[str, OpenAPISchema] = {}

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """The view's name, which is the verb."""
        return operation.view_func.__name__

    def validation_error_from_error_contexts(
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> ValidationError:
        """Ninja's findings in the words of every other door."""
        told = super().validation_error_from_error_contexts(error_contexts)
        found = [one for each in error_contexts for one in each.pydantic_validation_error.errors(include_url=False)]
        for said, item in zip(told.errors, found, strict=True):
            said["msg"] = sentence_of(item)
        return told

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """OpenAPI 3.1 with everything a route tells of itself, its refusals and its examples; made once a process."""
        prefix = self.get_root_path(path_params or {}) if path_prefix is None else path_prefix
        if prefix not in self._documents:
            self._documents[prefix] = self._described(prefix)
        return self._documents[prefix]

    def _described(self, prefix: str) -> OpenAPISchema:
        schema = _Schemas(self, prefix)
        views = [
            one
            for router in self._get_bound_routers()
            for view in router.path_operations.values()
            for one in view.operations
        ]
        replayed = {one.view_func.__name__ for one in views if _is_replayed(one.view_func.__name__, one.methods[0])}
        ordinary = Ordinary(
            always=_ALWAYS,
            of_scope=(MissingScope,),
            of_body=(TooLarge, UnsupportedMediaType),
            of_id=(NotFound,),
            of_cursor=(CursorInvalid, CursorMismatch),
            of_version=(StaleVersion,),
            of_replay=(IdempotencyKeyReused,),
            replayed=frozenset(replayed),
        )
        finished(schema, ordinary)
        return schema


def _is_replayed(verb: str, method: str | None) -> bool:
    return method in ("POST", "PATCH") and verb not in READING_POSTS | PREVIEWS | SECRET_ANSWERS | STREAMS


def _guarded(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Around every view: unknown query parameters are refused, ``Idempotency-Key`` is honoured."""
    operation: Operation = view._ninja_operation  # type: ignore[attr-defined]
    known = frozenset(
        name
        for model in operation.models
        if model.__ninja_param_source__ == "query"
        for name in model.__ninja_flatten_map__
    )

    @functools.wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        unknown = [name for name in request.GET if _canonical(name) not in known] if request.GET else []
        if unknown:
            detail = "is not a parameter of this address"
            raise Invalid(errors=[FieldError(f"/{name[:64]}", "extra_forbidden", detail) for name in unknown])
        key = request.headers.get("Idempotency-Key") if _is_replayed(view.__name__, request.method) else None
        if key is None:
            return view(request, *args, **kwargs)
        return _once(request, key, lambda: view(request, *args, **kwargs))

    return guarded


def _once(request: HttpRequest, key: str, call: Callable[[], HttpResponse]) -> HttpResponse:
    """The answer of ``call``, or the one it gave when this key was used before (24 h)."""
    if not (0 < len(key) <= LONGEST_IDEMPOTENCY_KEY and key.isascii() and key.isprintable()):
        detail = f"must be 1 to {LONGEST_IDEMPOTENCY_KEY} printable ASCII characters"
        raise Invalid(errors=[FieldError("/Idempotency-Key", "idempotency_key", detail)])
    fingerprint = b"\0".join([str(request.method).encode(), request.get_full_path().encode(), request.body])
    access: Access = request.access  # type: ignore[attr-defined]
    answer = with_idempotency(access, key, fingerprint, lambda: _stored(call()))
    response = json_answer(answer.body, answer.status, answer.headers)
    if answer.replayed:
        response.headers["Idempotency-Replayed"] = "true"
    return response


def _stored(response: HttpResponse) -> StoredAnswer:
    headers = {name: value for name, value in response.headers.items() if name != "Content-Type"}
    return StoredAnswer(response.status_code, json.loads(response.content), headers)


def _answer(request: HttpRequest, exception: Exception) -> HttpResponse:
    answer = answer_fault(request, exception)
    if answer is None:
        raise exception
    return answer


def _answer_validation(request: HttpRequest, exception: ValidationError) -> HttpResponse:
    """Ninja's findings as pointers: ``("body", "draft", "tags", 0)`` → ``/tags/0``."""
    found = []
    for item in exception.errors:
        source, *rest = item["loc"]
        parts = rest[1:] if source == "body" else rest
        detail = item["msg"] if parts or item["type"] != "missing" else "a body is needed, in JSON"
        found.append(FieldError("".join(f"/{part}" for part in parts) or "/", item["type"], detail))
    return problem_answer(request, Invalid(errors=found))


def _answer_http_error(request: HttpRequest, exception: HttpError) -> HttpResponse:
    if isinstance(exception.__cause__, HubError):  # what the parser raised, wrapped by ninja
        return problem_answer(request, exception.__cause__)
    if exception.status_code == 401:
        return problem_answer(request, Unauthenticated())
    return bare_problem_answer(request, exception.status_code)


def _leave_to_django(request: HttpRequest, exception: Exception) -> Never:
    """A mistake of ours: logged and counted by Django, answered by ``handler500``."""
    raise exception


_HANDLERS: dict[type[Exception], Callable[[HttpRequest, Any], HttpResponse]] = {
    **dict.fromkeys((HubError, OperationalError, InterfaceError, DataError, SuspiciousOperation, Http404), _answer),
    ValidationError: _answer_validation,
    HttpError: _answer_http_error,
    Exception: _leave_to_django,
}


def _as_plain_json(handler: Callable[[HttpRequest, Any], HttpResponse]) -> Callable[[HttpRequest, Any], HttpResponse]:
    """The same problem under the type at which mem0's client looks for ``detail``."""

    def answered(request: HttpRequest, exception: Any) -> HttpResponse:
        answer = handler(request, exception)
        answer.headers["Content-Type"] = "application/json"
        answer.is_told = True  # type: ignore[attr-defined]
        return answer

    return answered


def _framed(namespace: str, auth: Sequence[Callable[..., Any]], **more: Any) -> HubAPI:
    """A door of this kind: who comes in by ``auth``, refusals as problems."""
    door = HubAPI(
        title="MemoryHub",
        version=__version__,
        description=DESCRIPTION,
        openapi_extra={"tags": TAGS},
        urls_namespace=namespace,
        auth=auth,
        parser=StrictParser(),
        docs_url=None,
        **more,
    )
    for kind, handler in _HANDLERS.items():
        door.add_exception_handler(kind, handler)
    return door


api = _framed("api", [BearerKey(), HeaderKey()])
api.add_decorator(_guarded)
api.add_router("", memories_router)
api.add_router("", banks_router)

#: The addresses of other programs: their words, the same keys, the same services.
facts = _framed("facts", [BearerKey(), HeaderKey()], openapi_url=None)
facts.add_decorator(_guarded)
facts.add_router("", facts_router)
mem0 = _framed("mem0", [BearerKey(), TokenKey(), HeaderKey()], openapi_url=None)
mem0.add_router("", mem0_router)
for _kind, _handler in _HANDLERS.items():
    mem0.add_exception_handler(_kind, _as_plain_json(_handler))

_DOCS_CSP: dict[str, Any] = {
    **settings.SECURE_CSP,
    "style-src": [CSP.SELF, CSP.UNSAFE_INLINE],
}  # Swagger UI styles itself inline


@require_safe
@csp_override(_DOCS_CSP)
def docs(request: HttpRequest) -> HttpResponse:
    """The API's reference, rendered by Swagger UI from our own static files."""
    return Swagger(settings={"persistAuthorization": False}).render_page(request, api)
