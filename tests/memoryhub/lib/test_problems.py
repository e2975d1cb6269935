"""Every kind of failure has a status, and a problem says what to do without saying too much."""

from __future__ import annotations

from memoryhub.lib.answers import headers_of
from memoryhub.lib.errors import FieldError, HubError, Invalid, Kind, StaleVersion, Unauthenticated, Unavailable
from memoryhub.lib.problems import MOST_ERRORS_SHOWN, STATUS_OF, problem, problem_of_status, status_of


def test_every_kind_has_a_status():
    assert set(STATUS_OF) == set(Kind)


def test_a_problem_names_the_fields():
    """API-17: validation errors name the field."""
    told = problem(Invalid(errors=[FieldError("/content", "missing", "Field required")]), instance="/x", request_id="r")
    assert told["status"] == 422
    assert told["code"] == "invalid"
    assert told["request_id"] == "r"
    assert told["instance"] == "/x"
    assert told["errors"] == [{"pointer": "/content", "code": "missing", "detail": "Field required"}]


def test_extra_members_never_replace_standard_ones():
    told = problem(StaleVersion(extra={"current": 7, "status": 200}), instance="/x", request_id="r")
    assert told["current"] == 7
    assert told["status"] == 412


def test_a_long_list_of_errors_is_cut():
    errors = [FieldError(f"/{number}", "x", "x") for number in range(500)]
    assert len(problem(Invalid(errors=errors), instance="/", request_id="")["errors"]) == MOST_ERRORS_SHOWN


def test_internal_errors_keep_their_words_to_themselves():
    told = problem(HubError("the database password is swordfish"), instance="/", request_id="r")
    assert told["status"] == 500
    assert "swordfish" not in str(told)


def test_bare_statuses_are_problems_too():
    assert problem_of_status(404, instance="/", request_id="")["code"] == "not_found"
    assert problem_of_status(405, instance="/", request_id="")["code"] == "method_not_allowed"
    assert problem_of_status(400, instance="/", request_id="")["title"] == "Bad Request"
    assert problem_of_status(500, instance="/", request_id="")["code"] == "internal"


def test_refusals_carry_the_headers_clients_wait_for():
    assert headers_of(Unauthenticated())["WWW-Authenticate"].startswith("Bearer")
    assert headers_of(Unavailable())["Retry-After"] == "2"
    assert headers_of(Invalid()) == {}
    assert status_of(Unavailable()) == 503
