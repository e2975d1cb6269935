"""Connecting an agent: the right lines for each client, and a light that turns green with the first call."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import shlex
import subprocess
import tomllib
from html import unescape
from typing import Any

import httpx2
import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from banks.access import Access
from banks.web.connect import ways_to_connect
from memories.services.accesses import flush_accesses
from memoryhub.env import BASE_DIR
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


def lines(slug: str, hub: str) -> list[str]:
    """What the tab of a way has to copy."""
    return [part.lines for way in ways_to_connect(hub) if way.slug == slug for part in way.parts]


def tools_at(url: str, headers: dict[str, str]) -> int:
    """How many tools a client of that address is told of."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = httpx2.post(url, json=asked, headers={"Accept": "application/json", **headers}, timeout=30)
    return len(answer.raise_for_status().json()["result"]["tools"])


@pytest.mark.django_db(transaction=True)
def test_the_configurations_reach_the_hub(live_server: Any, access: Access):
    """Each as its program's documentation spells it, read the way that program reads it, with the key put in."""
    secret = make_key(access)[1]
    keyed = {"${env:MEMORYHUB_KEY}": secret, "${input:memoryhub-key}": secret}

    def entry(text: str, root: str) -> dict[str, Any]:
        for placeholder, value in keyed.items():
            text = text.replace(placeholder, value)
        found: dict[str, Any] = json.loads(text)[root]["memoryhub"]
        return found

    cursor = entry(lines("cursor", live_server.url)[0], "mcpServers")
    assert tools_at(cursor["url"], cursor["headers"]) == 7
    vscode_lines = lines("vscode", live_server.url)[0]
    vscode = entry(vscode_lines, "servers")
    assert vscode["type"] == "http"
    assert tools_at(vscode["url"], vscode["headers"]) == 7
    assert json.loads(vscode_lines)["inputs"][0]["password"] is True
    command, toml = lines("codex", live_server.url)
    codex = tomllib.loads(toml)["mcp_servers"]["memoryhub"]
    assert shlex.split(command)[4:] == ["--url", codex["url"], "--bearer-token-env-var", codex["bearer_token_env_var"]]
    assert tools_at(codex["url"], {"Authorization": f"Bearer {secret}"}) == 7


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("slug", ["claude-code", "gemini"])
def test_the_commands_reach_the_hub(live_server: Any, access: Access, slug: str):
    """As a shell takes them apart: options, a name, the address, the header with the key."""
    words = shlex.split(lines(slug, live_server.url)[0].replace("$MEMORYHUB_KEY", make_key(access)[1]))
    assert words[1:3] == ["mcp", "add"]
    assert words[words.index("--transport") + 1] == "http"
    address, header = words[words.index("memoryhub") + 1], words[words.index("--header") + 1]
    name, value = header.split(": ", 1)
    assert tools_at(address, {name: value}) == 7


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_lines_for_a_shell_and_for_python_run(
    live_server: Any, access: Access, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """curl, the library, the official one of the protocol, and the program that is started: copied and run."""
    monkeypatch.setenv("MEMORYHUB_KEY", make_key(access)[1])
    for command in lines("curl", live_server.url):
        told = subprocess.run(["bash", "-ec", command], capture_output=True, text=True, timeout=300)
        assert "code" not in json.loads(told.stdout), told.stdout
    _, library = lines("python", live_server.url)
    exec(compile(library, "library", "exec"), {})
    assert "Prefers oat milk in coffee." in capsys.readouterr().out
    program, protocol = lines("stdio", live_server.url)
    exec(compile(protocol, "protocol", "exec"), {})
    assert "Prefers oat milk in coffee." in capsys.readouterr().out
    started = json.loads(program)["mcpServers"]["memoryhub"]
    environment = {**os.environ, **started["env"], "MEMORYHUB_KEY": os.environ["MEMORYHUB_KEY"]}
    arguments = [str(BASE_DIR) if word == "path/to/memoryhub" else word for word in started["args"]]
    asked = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n'
    answered = subprocess.run(
        [started["command"], *arguments], input=asked, env=environment, capture_output=True, text=True, timeout=300
    )
    assert len(json.loads(answered.stdout)["result"]["tools"]) == 7, answered.stderr


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


def test_a_client_of_the_protocol_turns_it_green_with_its_first_call(browser: Client, access: Access):
    """Before any tool is called: that it asks which there are is enough."""
    key, secret = make_key(access, name="laptop")
    html = page(browser, f"/connect/?way=codex&key={key.pk}")
    assert "Waiting" in light(browser, html)
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = ApiClient(secret).post(
        "/mcp", asked, content_type="application/json", headers={"Accept": "application/json"}
    )
    assert answer.status_code == 200
    assert "“laptop”" in light(browser, html)


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
