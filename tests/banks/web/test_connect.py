"""Connecting an agent: the right lines for each client, and a light that turns green with the first call."""

from __future__ import annotations

import datetime as dt
import re
from html import unescape

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from banks.access import Access
from banks.web.connect import ways_to_connect
from memories.services.accesses import flush_accesses
from memoryhub.lib.clock import now
from tests.conftest import ApiClient
from tests.factories import make_key

pytestmark = pytest.mark.django_db


def page(client: Client, address: str, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200
    return unescape(response.content.decode())


def light(client: Client, html: str) -> str:
    """What the polling part answers next."""
    url = re.search(r'id="first-call"[^>]*hx-get="([^"]+)"', html)
    assert url
    return page(client, url[1], **{"HX-Request": "true", "HX-Target": "first-call"})


@pytest.mark.parametrize("way", [way.slug for way in ways_to_connect("http://x")])
def test_each_way_has_its_lines_with_this_hubs_address(browser: Client, access: Access, way: str):
    html = page(browser, f"/connect/?way={way}")
    assert "http://testserver" in html
    assert "MEMORYHUB_KEY" in html
    assert re.search(r'aria-current="page">[^<]+</a>', html)


def test_a_chosen_key_shows_its_prefix_and_never_more(browser: Client, access: Access):
    key, secret = make_key(access, name="laptop")
    html = page(browser, f"/connect/?way=codex&key={key.pk}")
    assert f"export MEMORYHUB_KEY={key.prefix}_…" in html
    assert secret not in html
    assert f"way=curl&key={key.pk}" in html


def test_the_light_waits_turns_green_and_stops(browser: Client, access: Access):
    secret = make_key(access, name="laptop")[1]
    html = page(browser, "/connect/")
    waiting = light(browser, html)
    assert 'hx-trigger="every 2s"' in waiting
    assert "<html" not in waiting
    assert ApiClient(secret).send("POST", "/memories", {"content": "Prefers oat milk."}).status_code == 201
    green = light(browser, waiting)
    assert "Connected." in green
    assert "“laptop”" in green
    assert "wrote something" in green
    assert "hx-trigger" not in green
    assert "Connected." in light(browser, page(browser, "/connect/")), "a plain reload goes on where it was"


def test_asking_who_one_is_and_searching_are_calls_too(browser: Client, access: Access):
    one, other = (make_key(access, name=name) for name in ("one", "other"))
    html = page(browser, f"/connect/?key={other[0].pk}")
    ApiClient(one[1]).send("GET", "/whoami")
    assert "Waiting" in light(browser, html), "another key than the one that is waited for"
    ApiClient(other[1]).send("POST", "/memories/search", {"query": "oat milk"})
    flush_accesses()
    assert "“other”" in light(browser, html)


def test_a_chosen_key_that_called_before_the_page_was_opened_is_connected(browser: Client, access: Access):
    key, secret = make_key(access, name="laptop")
    ApiClient(secret).send("POST", "/memories", {"content": "Prefers oat milk."})
    with time_machine.travel(now() + dt.timedelta(hours=3)):
        assert "“laptop”" in light(browser, page(browser, f"/connect/?key={key.pk}"))
        assert "Waiting" in light(browser, page(browser, "/connect/"))


def test_another_vaults_calls_and_yesterdays_turn_nothing_green(browser: Client, access: Access, other_access: Access):
    secret = make_key(other_access, name="stranger")[1]
    html = page(browser, "/connect/")
    ApiClient(secret).send("POST", "/memories", {"content": "Elsewhere."})
    assert "Waiting" in light(browser, html)
    assert "Waiting" in page(browser, "/connect/call/?since=nonsense&key=nonsense")


def test_a_viewer_sees_the_lines_and_no_keys(viewer: User, access: Access):
    make_key(access, name="laptop")
    client = Client()
    client.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")
    html = page(client, "/connect/")
    assert "laptop" not in html
    assert "curl -s http://testserver/api/v1/whoami" in html
    assert client.get("/connect/call/").status_code == 403
