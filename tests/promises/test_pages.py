"""What holds for every page there is, with long lists: what it asks the database, what it weighs, what it may load."""

from __future__ import annotations

import gzip
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from banks.access import access_from_user
from tests.addresses import VARIANTS, pages, patterns
from tests.contracts.tree import ROOT, offences
from tests.fullvault import FullVault
from tests.markup import breaches

MOST_QUERIES = 15
#: More, by the name of the page. Two searches side by side are asked one after the other.
MORE_QUERIES = {"recall": 22}
#: Bytes, compressed: a page with long lists, all our scripts with htmx, all our style sheets.
MOST_HTML, MOST_SCRIPT, MOST_STYLE = 60_000, 30_000, 16_000
#: Statements that only hold a transaction together.
FRAMING = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
STYLED = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
NEVER = {"allowEval", "allowScriptTags", "includeIndicatorStyles"}


class Asked(list[str]):
    """The statements sent to the database, also those that do not go through Django."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    statements, execute = Asked(), psycopg.Cursor.execute

    def noted(cursor: Any, query: Any, *args: Any, **more: Any) -> Any:
        words = query.decode() if isinstance(query, bytes) else str(query)
        if not words.lstrip().upper().startswith(FRAMING):
            statements.append(words)
        return execute(cursor, query, *args, **more)

    monkeypatch.setattr(psycopg.Cursor, "execute", noted)
    return statements


def weight(content: bytes, level: int = 6) -> int:
    return len(gzip.compress(content, level))


def faults(answer: Any, asked: Asked) -> list[str]:
    """What a page must not be."""
    html = answer.content.decode()
    most = MORE_QUERIES.get(answer.resolver_match.url_name, MOST_QUERIES)
    return [
        *([f"answers {answer.status_code}"] if answer.status_code != 200 else []),
        *([f"asks the database {len(asked)} times"] if len(asked) > most else []),
        *([f"weighs {weight(answer.content)} bytes"] if weight(answer.content) > MOST_HTML else []),
        *(f"{name} is {answer.get(name)}" for name, value in HEADERS.items() if answer.get(name) != value),
        *breaches(html, ["http://testserver"]),
    ]


@pytest.mark.django_db
def test_every_page_is_cheap_light_and_strict(browser: Client, owner: User, asked: Asked):
    """UI: at most 15 queries, session and person included, 60 kB of HTML, the strict policy and nothing against it."""
    ids = FullVault(access_from_user(owner, None, "test")).fill()
    found = {}
    for path in pages(browser, ids):
        asked.clear()
        answer = browser.get(path)
        if wrong := faults(answer, asked):
            found[path] = wrong
    assert found == {}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/health/live", "/api/v1/memories", "/api/docs", "/accounts/login/", "/nowhere", "/mcp"]
)
def test_every_other_answer_is_as_strict(client: Client, path: str):
    """The page of the API's documentation alone may style itself: it is made by somebody else's script."""
    wanted = HEADERS | ({"Content-Security-Policy": STYLED} if path == "/api/docs" else {})
    assert {name: client.get(path).get(name) for name in HEADERS} == wanted


def test_the_policy_is_this_one():
    assert "; ".join(" ".join([name, *value]) for name, value in settings.SECURE_CSP.items()) == POLICY


def test_scripts_and_styles_are_small():
    scripts = [*ROOT.glob("static/js/**/*.js"), ROOT / "static/vendor/htmx/htmx.min.js"]
    # That of the API's reference dresses somebody else's page, which loads none of the others.
    styles = [path for path in ROOT.glob("static/css/**/*.css") if path.name != "reference.css"]
    assert sum(weight(path.read_bytes(), 9) for path in scripts) <= MOST_SCRIPT
    assert sum(weight(path.read_bytes(), 9) for path in styles) <= MOST_STYLE


def test_htmx_evaluates_nothing_and_stays_at_home():
    html = (ROOT / "templates/document.html").read_text()
    told = re.search(r"name=\"htmx-config\" content='(.*?)'", html)
    assert told
    config = json.loads(unescape(told[1]))
    assert {name for name in NEVER if config[name] is not False} == set()
    assert config["selfRequestsOnly"] is True
    assert config["historyCacheSize"] == 0


def test_no_template_holds_script_or_style():
    """UI: also in branches that no test renders."""

    def law(path: Path) -> list[str]:
        html = re.sub(r"{#.*?#}|{% comment.*?endcomment %}", "", path.read_text(), flags=re.S)
        return breaches(re.sub(r"{%.*?%}|{{.*?}}", "x", html, flags=re.S))

    assert offences(law, sorted(ROOT.glob("templates/**/*.html"))) == []


def test_no_script_of_ours_writes_markup_or_evaluates():
    words = r"\b(?:eval|Function|innerHTML\s*=|outerHTML\s*=|insertAdjacentHTML|document\.write|setTimeout\(\s*[\"'])"
    assert offences(lambda path: re.findall(words, path.read_text()), sorted(ROOT.glob("static/js/**/*.js"))) == []


def test_the_variants_name_pages():
    assert set(VARIANTS) <= {name for name, _ in patterns()}
