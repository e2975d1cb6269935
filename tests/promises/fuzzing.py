"""Requests made up from the OpenAPI document, sent to the real stack; each finds the same ground and leaves none.

Three kinds for every operation: borders of each field one by one, valid input at random, and input that is wrong
somewhere. Of the valid ones every other speaks of what is there (ids, banks, counts), so that not all of it is 404.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import hypothesis
import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction
from hypothesis import HealthCheck
from schemathesis import Case, GenerationMode
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.core import NOT_SET
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests import described
from tests.memoryhub.routes import ROUTES, filled

type Checks = Sequence[CheckFunction]

CHECKS: Checks = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
#: An item that is wrong fails alone there; the answer is 200 and says so.
EACH_BY_ITSELF = frozenset({"write_memories"})
#: These need something to have happened just before: a change, a decision, a plan that was looked at, a job that waits.
IN_ANOTHER_STATE = frozenset({"restore_version", "reopen_pair", "apply_plan", "apply_import", "cancel_job"})
#: Of one operation: so many borders at most, so many at random, valid and wrong.
BORDERS, VALID, WRONG = 150, 45, 18
#: So many of each operation at least.
LEAST = 50
#: Groups of routes that are tried out together → how many requests at least; somewhat fewer than are made up today.
SHARES: Mapping[tuple[str, ...], int] = {
    ("memories",): 1_050,
    ("recall", "lifecycle"): 1_200,
    ("review", "relations", "clean-up", "summaries"): 1_850,
    ("sessions", "tiers", "events", "export and import"): 3_150,
    ("banks", "agents", "keys", "settings", "operations", "erasure"): 2_850,
}
#: So many in all.
PROMISED = 10_000

SCHEMA = schemathesis.openapi.from_dict(described.document())
QUIET = hypothesis.settings(
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)


def operations_of(*tags: str) -> list[str]:
    """The operations of some groups of routes."""
    return [name for name, operation in described.operations().items() if set(operation["tags"]) & set(tags)]


@dataclass
class Ground:
    """What is there: a key with every scope, and the ids of one of everything."""

    secret: str
    ids: dict[str, str]
    app: WSGIHandler = field(default_factory=WSGIHandler)
    sent: Counter[str] = field(default_factory=Counter)
    fine: Counter[str] = field(default_factory=Counter)

    def try_out(self, name: str) -> None:
        """Every kind of request to one operation. Fails on the first answer that is not as described."""
        operation = SCHEMA.find_operation_by_id(name)
        self._send_what_is_fine(name)
        borders = SCHEMA.iter_coverage_cases(
            operation, generation_modes=list(GenerationMode), generation_config=SCHEMA.config.generation
        )
        own = (case for case in borders if case.method.upper() == operation.method.upper())
        for turn, case in enumerate(itertools.islice(own, BORDERS)):
            self.send(name, case, is_here=turn % 2 == 0)
        for mode, most in ((GenerationMode.POSITIVE, VALID), (GenerationMode.NEGATIVE, WRONG)):
            self._send_at_random(name, mode, most)

    def try_out_all(self, tags: tuple[str, ...], subtests: pytest.Subtests) -> None:
        """Every operation of one share, and then that the share was kept."""
        for name in operations_of(*tags):
            with subtests.test(name):
                self.try_out(name)
        self.check_how_much_was_tried(SHARES[tags])

    def check_how_much_was_tried(self, share: int) -> None:
        """Enough in all, enough of each operation, and of each some that went well."""
        assert self.sent.total() >= share, f"{self.sent.total()} requests were made up where {share} are promised"
        few = {name: count for name, count in self.sent.items() if count < LEAST}
        never_fine = [name for name in self.sent if not self.fine[name] and name not in IN_ANOTHER_STATE]
        assert (few, never_fine) == ({}, []), f"too few requests {few}, none went well {never_fine}"

    def _send_what_is_fine(self, name: str) -> None:
        """The request of the table of routes, which is valid and speaks of what is there."""
        route = ROUTES[name]
        path, _, query = filled(route.path, self.ids).partition("?")
        operation = SCHEMA.find_operation_by_id(name)
        case = operation.Case(
            path_parameters=described.parameters_of(operation.path, f"{described.BASE}{path}"),
            query=dict(parse_qsl(query)),
            body=NOT_SET if route.body is None else filled(route.body, self.ids),
            media_type=None if route.body is None else "application/json",
        )
        self.send(name, case, checks=CHECKS[:-1])

    def _send_at_random(self, name: str, mode: GenerationMode, most: int) -> None:
        operation = SCHEMA.find_operation_by_id(name)
        turns = itertools.count()

        @hypothesis.settings(QUIET, max_examples=most)
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        def each(case: Case[Any]) -> None:
            self.send(name, case, is_here=mode is GenerationMode.POSITIVE and next(turns) % 2 == 0)

        each()

    def send(self, name: str, case: Case[Any], *, is_here: bool = False, checks: Checks = CHECKS) -> None:
        """One request, its answer held against the document, and everything as it was before."""
        if is_here:
            self._speak_of_what_is_here(case)
        if case.query and _is_number(case.query.get("wait")):
            case.query["wait"] = 0
        with transaction.atomic():
            response = case.call(app=self.app, headers={"Authorization": f"Bearer {self.secret}"})
            transaction.set_rollback(True)
        self.sent[name] += 1
        self.fine[name] += 200 <= response.status_code < 300
        wanted = [check for check in checks if check is not negative_data_rejection or name not in EACH_BY_ITSELF]
        case.validate_response(response, checks=wanted)
        told = described.operations()[name]
        if response.status_code >= 400 and str(response.status_code) in told["responses"]:
            code = response.json()["code"]
            known = described.codes_of(told, response.status_code)
            assert code in known, f"{name} {response.status_code} is not described with the code {code}"

    def _speak_of_what_is_here(self, case: Case[Any]) -> None:
        """Put ids that there are into the places of ids."""
        for name in case.path_parameters or ():
            case.path_parameters[name] = self.ids.get(_IN_ADDRESS.get(name, ""), _VALUES.get(name, ""))
        for name in ("If-Match", "If-None-Match", "Idempotency-Key"):
            if case.headers:
                case.headers.pop(name, None)
        for name in ("cursor", "before", "after", "as_of"):
            (case.query or {}).pop(name, None)
        if isinstance(case.body, dict):
            case.body = {name: self._here(name, value) for name, value in case.body.items()}

    def _here(self, name: str, value: Any) -> Any:
        of = self.ids.get(_IN_BODY.get(name, ""), _VALUES.get(name))
        if of is None or value is None:
            return value
        return [of] if isinstance(value, list) else of


def _is_number(value: Any) -> bool:
    return str(value).replace(".", "", 1).isdigit()


#: Parameters of addresses and fields of bodies, by what of the ground they name.
_IN_ADDRESS = {
    **{f"{name}_id": name for name in "memory bank agent key pair plan changeset job receipt webhook delivery".split()},
    "import_id": "import",
    "dream_id": "dream",
    "sid": "session",
}
_IN_BODY = {
    **dict.fromkeys(["ids", "memory_ids", "supersedes", "id", "keeper"], "memory"),
    **dict.fromkeys(["by_id", "target_id"], "successor"),
}
_VALUES = {
    "version": 1,
    "date": dt.datetime.now(dt.UTC).date().isoformat(),
    **dict.fromkeys(["bank", "banks", "default_bank", "preferred_banks", "target"], "Work"),
    "agent": "Clerk",
    "namespace": "default",
}
