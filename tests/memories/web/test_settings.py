"""Settings in the browser: found, understood, changed level by level, taken back."""

from __future__ import annotations

from html import unescape

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks.access import Access
from banks.models import SettingValue
from memories.rules.layers import INFO
from memories.rules.settings import Level
from memories.rules.settingtext import kind_of
from memories.services.settings import read_settings, write_setting

pytestmark = pytest.mark.django_db


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return unescape(response.content.decode())


def test_every_setting_is_there_with_value_source_and_bounds(browser: Client, access: Access):
    """CFG-02."""
    write_setting(access, Level.VAULT, "search_top_k", 25)
    with CaptureQueriesContext(connection) as asked:
        html = page(browser, "/settings/")
    assert len(asked) <= 15
    assert all(f"<code>{key}</code>" in html for key in INFO)
    assert "1 to 200" in html
    assert "Changed lately" in html
    line = html[html.index("<code>search_top_k</code>") :][:600]
    assert ">25<" in line
    assert "Vault" in line


def test_words_find_settings(browser: Client, access: Access):
    html = page(browser, "/settings/?q=half+life")
    assert "decay_half_life_days" in html
    assert "content_max_length" not in html
    assert "No setting speaks of “xylophone”" in page(browser, "/settings/?q=xylophone")


def test_a_value_is_set_and_taken_back_for_the_vault_and_for_a_bank(browser: Client, access: Access):
    sent = browser.post("/settings/search_top_k/change/", {"at": "vault", "value": "25"}, follow=True)
    assert "search_top_k is 25 now, by vault" in unescape(sent.content.decode())
    assert read_settings(access)["search_top_k"].value == 25
    browser.post("/settings/content_max_length/change/", {"at": "bank:work", "value": "500"})
    stored = SettingValue.objects.get(level="bank")
    assert (stored.key, stored.value) == ("content_max_length", 500)
    html = page(browser, "/settings/content_max_length/")
    assert "Bank Work" in html
    assert ">500<" in page(browser, "/settings/?bank=work&q=content_max")
    browser.post("/settings/content_max_length/change/", {"at": f"bank:{stored.target}", "reset": "1"})
    browser.post("/settings/search_top_k/change/", {"at": "vault", "reset": "1"})
    assert not SettingValue.objects.filter(vault=access.vault).exists()


@pytest.mark.parametrize(("key", "value", "why"), [("search_top_k", "900", "less than or equal to 200"),
                                                   ("search_top_k", "many", "must be a whole number"),
                                                   ("search_profile", "best", "Input should be")])  # fmt: skip
def test_what_is_out_of_bounds_is_refused_in_words(browser: Client, access: Access, key: str, value: str, why: str):
    sent = {"at": "vault", "value": value}
    response = browser.post(
        f"/settings/{key}/change/", sent, follow=True, headers={"Referer": f"http://testserver/settings/{key}/"}
    )
    html = unescape(response.content.decode())
    assert why in html
    assert response.status_code == 422
    assert f'value="{value}"' in html or kind_of(key) == "choice", "what was typed stands there"
    assert not SettingValue.objects.exists()


def test_what_nothing_reads_is_not_offered(browser: Client, access: Access):
    """A switch without a wire could be taken for protection."""
    planned = [key for key, info in INFO.items() if info.planned]
    assert page(browser, "/settings/").count("Not in use yet") == len(planned)
    for key in planned:
        html = page(browser, f"/settings/{key}/")
        assert "Nothing reads this setting yet" in html
        assert 'name="value"' not in html
    browser.post(f"/settings/{planned[0]}/change/", {"at": "vault", "value": "team"})
    assert not SettingValue.objects.exists()


def test_a_preset_is_chosen_with_one_button(browser: Client, access: Access):
    browser.post("/settings/preset/change/", {"at": "vault", "value": "seed", "next": "/settings/"})
    html = page(browser, "/settings/?q=max_total_memories")
    assert ">200<" in html
    assert "Vault: preset seed" in html


def test_a_viewer_changes_nothing_and_an_unknown_key_is_nowhere(viewer: User, access: Access):
    client = Client()
    client.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert "You can read settings, not change them." in page(client, "/settings/dedup/")
    assert client.post("/settings/dedup/change/", {"at": "vault", "value": "false"}).status_code == 403
    assert client.get("/settings/nothing/").status_code == 404
    assert client.post("/settings/dedup/change/", {"at": "system", "value": "false"}).status_code in {303, 403}
    assert not SettingValue.objects.exists()
