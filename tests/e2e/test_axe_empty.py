"""Every page of an empty vault and every way to fail, light and dark, wide and narrow: axe objects to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User

from tests.e2e.auditing import NARROW, WIDE, Opener, every_path, faults, tab_of, walk
from tests.e2e.conftest import Tab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
UNKNOWN = "01890000-0000-7000-8000-000000000000"
#: A page with a form, and what is written into it so that it comes back with mistakes.
FORMS = {
    "/memories/new/": {"content": " "},
    "/banks/": {"name": " "},
    "/agents/": {"name": " "},
    "/keys/": {"name": " "},
    "/accounts/password/change/": {"oldpassword": "wrong"},
}


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, word: str, error: Exception) -> Iterator[None]:
    """The database answers no statement that has this word in it."""
    execute = psycopg.Cursor.execute

    def refused(cursor: Any, query: Any, *args: Any, **more: Any) -> Any:
        if word in (query.decode() if isinstance(query, bytes) else str(query)):
            raise error
        return execute(cursor, query, *args, **more)

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Cursor, "execute", refused)
        yield


def sent_wrong(tab: Tab, path: str, given: dict[str, str]) -> list[str]:
    """What is wrong with the page a form comes back on."""
    page = tab.open(path)
    form = page.locator("main form[method=post]", has=page.locator(f"[name={next(iter(given))}]")).first
    for name, value in given.items():
        form.locator(f"[name={name}]").evaluate("(field, value) => { field.value = value }", value)
    with page.expect_navigation():
        form.evaluate("form => HTMLFormElement.prototype.submit.call(form)")
    return faults(page)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_what_was_not_found_is_accessible(open_tab: Opener, owner: User, width: int):
    """The one of these that always runs."""
    tab = tab_of(open_tab, owner, width)
    assert walk(tab, ["/", "/memories/?q=banc:x", "/nowhere", f"/memories/{UNKNOWN}/"]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_empty_page_is_accessible(open_tab: Opener, owner: User, width: int):
    paths = every_path(owner, full=False)
    assert len(paths) > 30
    assert walk(tab_of(open_tab, owner, width), paths) == {}


@pytest.mark.slow
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_mistake_is_accessible(open_tab: Opener, owner: User, width: int):
    tab = tab_of(open_tab, owner, width)
    found = {path: sent_wrong(tab, path, given) for path, given in FORMS.items()}
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.slow
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_fault_is_accessible(
    open_tab: Opener, owner: User, viewer: User, monkeypatch: pytest.MonkeyPatch, width: int
):
    """A part that fails, a database that is away, a mistake of ours, and what one may not see."""
    tab = tab_of(open_tab, owner, width)
    away = psycopg.OperationalError("the server closed the connection unexpectedly")
    found: dict[str, list[str]] = {}
    for word in ("memories_rollup", "memories_modelcall", "memories_job", "banks_auditentry"):
        with failing(monkeypatch, word, away):
            found |= {f"{word} away: {path}": wrong for path, wrong in walk(tab, ["/", "/jobs/", "/activity/"]).items()}
    with failing(monkeypatch, "banks_bank", RuntimeError("a mistake of ours")):
        found |= walk(tab, ["/memories/"])
    other = tab_of(open_tab, viewer, width)
    found |= walk(other, ["/keys/", "/system/", "/transfer/", "/system/shred/"])
    assert found == {}
