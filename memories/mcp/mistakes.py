"""What the protocol's library says of a message that is none, in words its author can act on."""

from __future__ import annotations

import json
from typing import Any

from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    CallToolRequestParams,
    InitializeRequestParams,
    PaginatedRequestParams,
)
from pydantic import BaseModel, ValidationError

from memories.mcp.exchange import Answer

NO_MESSAGE = (
    'This is no message: send one object with "jsonrpc": "2.0", a method, params that are an object, and an id unless'
    " it is a notification. There are no batches."
)
NO_ID = "An id is a text or a whole number; a message without one is a notification, and is not answered."
_PARAMS: dict[str, type[BaseModel]] = {
    "initialize": InitializeRequestParams,
    "tools/call": CallToolRequestParams,
    "tools/list": PaginatedRequestParams,
}
_LONGEST_REFUSAL = 8192
_MISTAKES_TOLD = 5


def tell_mistakes(body: bytes, answer: Answer) -> Answer:
    """The library's answer to ``body``; where it refuses the message itself, what is wrong with that.

    The library takes a request with an id that is none for a notification, tells of a batch in the words of its parser,
    and of wrong params only that they are wrong.
    """
    if answer.status == 202:
        asked = _object(body)
        is_request = "id" in asked and "method" in asked
        return _refused(INVALID_REQUEST, NO_ID) if is_request else answer
    error = _object(answer.body).get("error") if len(answer.body) <= _LONGEST_REFUSAL else None
    if not isinstance(error, dict) or error.get("code") != INVALID_PARAMS:
        return answer
    said = str(error.get("message"))
    if said.startswith("Validation error:"):
        return _refused(INVALID_REQUEST, NO_MESSAGE)
    asked = _object(body)
    if said == "Invalid request parameters" and (wrong := _wrong_in(asked)):
        return _refused(INVALID_PARAMS, f"{said}: {wrong}.", answer.status, asked.get("id"))
    return answer


def _refused(code: int, message: str, status: int = 400, number: Any = None) -> Answer:
    told = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
    return Answer(status, [("Content-Type", "application/json")], json.dumps(told).encode())


def _wrong_in(asked: dict[str, Any]) -> str:
    """Which params are wrong; nothing where the method takes none of ours."""
    takes = _PARAMS.get(str(asked.get("method")))
    if takes is None:
        return ""
    try:
        takes.model_validate(asked.get("params") or {}, by_name=False)
    except ValidationError as refused:
        found = refused.errors(include_url=False, include_context=False, include_input=False)[:_MISTAKES_TOLD]
        return "; ".join(f"{'/'.join(map(str, one['loc']))}: {one['msg']}" for one in found)
    return ""


def _object(body: bytes) -> dict[str, Any]:
    """An object in JSON; an empty one for anything else."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
