"""What holds for every page: who may see it, its structure, its cost, and that nothing leads nowhere."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import NoReverseMatch, reverse

from banks.access import Access
from banks.web.shell import NAVIGATION
from tests.factories import remember

pytestmark = pytest.mark.django_db


def offered(name: str) -> bool:
    """The navigation leaves out what no room of this hub offers."""
    try:
        return bool(reverse(name))
    except NoReverseMatch:
        return False


PLACES = [place.name for _, places in NAVIGATION for place in places if offered(place.name)]
MOST_QUERIES = 15
LOGIN = "allauth.account.auth_backends.AuthenticationBackend"
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("place", [*PLACES, "new_memory"])
def test_anonymous_visitors_are_sent_to_the_login_page(client: Client, place: str):
    response = client.get(reverse(place))
    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/login/?next=")


@pytest.mark.parametrize("place", PLACES)
def test_people_without_a_vault_see_nothing(client: Client, stranger: User, vault: object, place: str):
    client.force_login(stranger, backend=LOGIN)
    response = client.get(reverse(place))
    assert response.status_code == 404
    assert "no vault" in response.content.decode()


def test_another_vaults_memory_answers_like_an_unknown_one(browser: Client, other_access: Access):
    """API-17."""
    foreign = remember(other_access, "Nobody's business.")
    known = browser.get(f"/memories/{foreign.pk}/")
    unknown = browser.get("/memories/01a1fdf4-2f67-7435-b7d0-7abfca36a300/")
    assert (known.status_code, unknown.status_code) == (404, 404)
    without_ids = [re.sub(r"Request <code>\w+", "", answer.content.decode()) for answer in (known, unknown)]
    assert without_ids[0] == without_ids[1]


def test_a_session_that_ended_under_htmx_goes_to_the_login_page(client: Client):
    response = client.get("/memories/", headers={"HX-Request": "true"})
    assert response.headers["HX-Redirect"].startswith("/accounts/login/")


@pytest.mark.parametrize("place", PLACES)
def test_each_page_is_well_built_and_cheap(browser: Client, access: Access, place: str):
    remember(access, "Something to show.", tags=["a"])
    with CaptureQueriesContext(connection) as asked:
        response = browser.get(reverse(place))
    html = response.content.decode()
    assert response.status_code == 200
    assert html.count("<h1") == 1
    assert 'aria-current="page"' in html
    assert 'href="#main"' in html
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=|(?<!placeholder=\")https?://(?!testserver)", html)
    assert response.headers["Cache-Control"] == "no-store"
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert len(asked) <= MOST_QUERIES, [query["sql"][:120] for query in asked]


def test_the_navigation_leads_somewhere(browser: Client, vault: object):
    html = browser.get("/").content.decode()
    addresses = set(re.findall(r'href="(/[^"#?]*)', html))
    for address in addresses:
        if address.startswith("/static/"):
            assert (ROOT / address.lstrip("/")).is_file(), address
        else:
            assert browser.get(unescape(address), follow=True).status_code == 200, address


def test_forms_without_a_token_are_refused(owner: User):
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner, backend=LOGIN)
    response = client.post("/banks/", {"name": "Travel"})
    assert response.status_code == 403
    assert "This form has expired" in response.content.decode()


def test_the_login_page_is_plain_and_its_button_comes_first(client: Client):
    html = client.get("/accounts/login/").content.decode()
    assert 'name="login"' in html
    assert 'name="password"' in html
    assert re.findall(r"<button[^>]*>([^<]+)", html)[0] == "Sign in"
    assert client.get("/favicon.ico").status_code in (301, 302)


def test_what_people_see_fits_its_budget():
    """Small enough for a slow line: style, our script, and all scripts together."""
    gzip = pytest.importorskip("gzip")

    def size(*names: str) -> int:
        return sum(len(gzip.compress((ROOT / "static" / name).read_bytes())) for name in names)

    assert size("css/hub.css") <= 14_000
    assert (ROOT / "static/js/hub.js").stat().st_size <= 6_000
    assert size("js/hub.js", "vendor/htmx/htmx.min.js") <= 22_000


def test_every_icon_a_page_asks_for_is_in_the_sprite():
    drawn = set(re.findall(r'id="([\w-]+)"', (ROOT / "static/icons/lucide.svg").read_text()))
    asked: set[str] = set()
    for path in (ROOT / "templates").rglob("*.html"):
        asked |= set(re.findall(r'{% icon "([\w-]+)" %}', path.read_text()))
    for path in [*(ROOT / "memories/web").glob("*.py"), *(ROOT / "banks/web").glob("*.py")]:
        asked |= {word for word in re.findall(r'"([a-z]+(?:-[a-z]+)+)"', path.read_text()) if word in drawn}
    assert asked <= drawn, asked - drawn
