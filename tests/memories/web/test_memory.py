"""One memory in the browser: read, write, edit, go back, and two people at once."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks.access import Access
from memories.models import Memory
from memories.rules.drafts import MemoryChanges
from memories.rules.vocabulary import AccessPurpose, Relation
from memories.services.accesses import flush_accesses, record_accesses
from memories.services.editing import update_memory
from memories.services.linking import create_link
from tests.factories import access_of, make_key, remember

pytestmark = pytest.mark.django_db
MOST_QUERIES = 15


def page(client: Client, memory: Memory, **headers: str) -> str:
    response = client.get(f"/memories/{memory.pk}/", headers=headers)
    assert response.status_code == 200
    return unescape(response.content.decode())


def form_of(client: Client, address: str) -> dict[str, str]:
    """The form's fields as a browser without JavaScript would send them back."""
    form = client.get(address).context["page"].form
    values = {name: form[name].value() for name in form.fields}
    return {
        name: form.fields[name].widget.format_value(value) if hasattr(value, "year") else str(value)
        for name, value in values.items()
        if value not in (None, False)
    }


def test_a_page_shows_content_labels_provenance_and_times(browser: Client, access: Access):
    memory = remember(
        access, "Anna plays the cello.", bank="Interests", tags=["music"], entities=["Anna"], session_id="s-1",
        external_write_id="ext-9", event_at="2026-03-14T10:00:00Z", extra={"mood": "glad"},
    )  # fmt: skip
    html = page(browser, memory)
    for shown in ("Anna plays the cello.", "Interests", "#music", "Anna", "s-1", "ext-9", "14 Mar", '"mood": "glad"'):
        assert shown in html, shown


def test_an_edit_is_a_new_version_with_its_words_in_the_history(browser: Client, access: Access):
    """MIG-13: who changed it, when, why, and which words."""
    memory = remember(access, "The stand-up is at 9:30.")
    address = f"/memories/{memory.pk}/edit/"
    sent = form_of(browser, address) | {
        "content": "The stand-up is at 10:15.",
        "importance": "5",
        "reason": "Tom asked",
    }
    response = browser.post(address, sent)
    assert response.status_code == 303
    html = page(browser, memory)
    assert "Saved as version 2." in html
    assert re.search(r"<del>.*30.*</del>", html)
    assert re.search(r"<ins>.*15.*</ins>", html)
    assert "Tom asked" in html
    assert "Importance:" in html
    assert "by alice" in html


def test_saving_an_untouched_form_changes_nothing(browser: Client, access: Access):
    memory = remember(
        access, "First line.\nSecond line.", tags=["a"], entities=["Smith, John"], event_at="2026-03-14T10:00:42Z"
    )
    address = f"/memories/{memory.pk}/edit/"
    sent = form_of(browser, address)
    sent["content"] = sent["content"].replace("\n", "\r\n")
    assert browser.post(address, sent).status_code == 303
    after = Memory.objects.get(pk=memory.pk)
    assert (after.version, after.entities, after.event_at) == (1, ["Smith, John"], memory.event_at)


def test_a_stale_edit_shows_both_versions_and_loses_nothing(browser: Client, access: Access):
    memory = remember(access, "The meeting is on Monday.")
    address = f"/memories/{memory.pk}/edit/"
    mine = form_of(browser, address) | {"content": "The meeting is on Tuesday.", "bank": "work"}
    update_memory(access, memory.pk, MemoryChanges(content="The meeting is on Friday."))
    response = browser.post(address, mine)
    assert response.status_code == 412
    html = unescape(response.content.decode())
    assert "Somebody changed this memory" in html
    assert re.search(r"<ins>.*Friday.*</ins>", html), "theirs"
    assert "The meeting is on Tuesday.</textarea>" in html, "mine, still in the field"
    assert re.search(r"Bank:</span>.* theirs General, yours Work", html)
    assert Memory.objects.get(pk=memory.pk).content == "The meeting is on Friday."

    again = mine | {"version": re.search(r'name="version" value="(\d+)"', html)[1]}  # type: ignore[index]
    assert browser.post(address, again).status_code == 303
    after = Memory.objects.get(pk=memory.pk)
    assert (after.content, after.version) == ("The meeting is on Tuesday.", 3)


def test_htmx_swaps_the_form_in_and_the_page_back(browser: Client, access: Access):
    memory = remember(access, "Swap me.")
    asked = {"HX-Request": "true", "HX-Target": "memory"}
    part = browser.get(f"/memories/{memory.pk}/edit/", headers=asked).content.decode()
    assert part.lstrip().startswith('<div id="memory"')
    assert "<textarea" in part
    response = browser.post(f"/memories/{memory.pk}/archive/", headers=asked)
    assert response.status_code == 303
    swapped = browser.get(response["Location"], headers=asked).content.decode()
    assert "Archived." in swapped
    assert 'hx-swap-oob="true"' in swapped


def test_archive_restore_and_undo_are_posts_that_return(browser: Client, access: Access):
    memory = remember(access, "Come and go.")
    html = unescape(
        browser.post(f"/memories/{memory.pk}/archive/", {"next": "/memories/?q=come"}, follow=True).content.decode()
    )
    assert "Archived." in html
    undo = re.search(r'action="([^"]+)" class="inline">.*?Undo', html, re.DOTALL)
    assert undo
    assert Memory.objects.get(pk=memory.pk).archived
    browser.post(undo[1])
    assert not Memory.objects.get(pk=memory.pk).archived


def test_a_form_cannot_send_anybody_elsewhere(browser: Client, access: Access):
    memory = remember(access, "Stay here.")
    for target in ("https://evil.example/", "//evil.example/", "javascript:alert(1)"):
        assert (
            browser.post(f"/memories/{memory.pk}/protect/", {"next": target})["Location"] == f"/memories/{memory.pk}/"
        )


def test_an_earlier_version_comes_back(browser: Client, access: Access):
    """SUP-06."""
    memory = remember(access, "Version one.")
    update_memory(access, memory.pk, MemoryChanges(content="Version two."))
    browser.post(f"/memories/{memory.pk}/versions/1/restore/", {"version": "1"})
    assert Memory.objects.get(pk=memory.pk).content == "Version two.", "based on a stale version"
    browser.post(f"/memories/{memory.pk}/versions/1/restore/", {"version": "2"})
    assert Memory.objects.get(pk=memory.pk).content == "Version one."


def test_drafts_are_approved_or_discarded_once(browser: Client, access: Access):
    """STA-05, STA-07."""
    memory = remember(access, "Perhaps true.", status="draft")
    assert "Approve" in page(browser, memory)
    browser.post(f"/memories/{memory.pk}/approve/")
    assert Memory.objects.get(pk=memory.pk).status == "accepted"
    again = browser.post(f"/memories/{memory.pk}/approve/", follow=True)
    assert "cannot become accepted" in unescape(again.content.decode())


def test_the_chain_and_links_lead_to_each_other(browser: Client, access: Access):
    """SUP-06, MOD-41."""
    old = remember(access, "She lives in Bremen.")
    new = remember(access, "She lives in Kiel.", supersedes=str(old.pk))
    other = remember(access, "Kiel lies by the sea.")
    create_link(access, other.pk, new.pk, Relation.SUPPORTS)
    html = page(browser, new)
    assert "How it was replaced" in html
    assert f'href="/memories/{old.pk}/"' in html
    assert "Supported by" in html
    assert "A newer memory replaced this one." in page(browser, old)


def test_a_new_memory_goes_through_the_same_door(browser: Client, access: Access):
    assert browser.get("/memories/new/?bank=health").status_code == 200
    fields = {"content": "Allergic to peanuts.", "bank": "health", "type": "constraint", "importance": "5",
              "confidence": "4", "tags": "food, safety"}  # fmt: skip
    response = browser.post("/memories/new/", fields)
    assert response.status_code == 303
    memory = Memory.objects.get()
    assert (memory.content, memory.bank.name, memory.tags) == ("Allergic to peanuts.", "Health", ["food", "safety"])
    assert (memory.source_kind, memory.trust) == ("user_stated", "stated")
    again = browser.post("/memories/new/", fields, follow=True)
    assert "remembered already" in again.content.decode()
    assert Memory.objects.count() == 1


def test_what_is_refused_stays_in_the_form(browser: Client, access: Access):
    response = browser.post(
        "/memories/new/", {"content": "x" * 20, "bank": "health", "type": "fact", "importance": "3", "confidence": "3",
                           "tags": "t" * 65}
    )  # fmt: skip
    assert response.status_code == 422
    assert "x" * 20 in response.content.decode()
    assert 'aria-invalid="true"' in response.content.decode()
    assert not Memory.objects.exists()


def test_a_viewer_reads_and_is_offered_nothing_to_change(vault: object, viewer: object, access: Access):
    memory = remember(access, "Only to read.")
    client = Client()
    client.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")  # type: ignore[arg-type]
    html = page(client, memory)
    assert "You can read this memory, not change it." in html
    assert client.post(f"/memories/{memory.pk}/archive/").status_code == 403
    assert not Memory.objects.get(pk=memory.pk).archived


def test_more_history_costs_no_more_queries(browser: Client, access: Access):
    memory = remember(access, "Version 0.")

    def cost() -> int:
        with CaptureQueriesContext(connection) as asked:
            page(browser, memory)
        return len(asked)

    for number in range(1, 4):
        update_memory(access, memory.pk, MemoryChanges(content=f"Version {number}."))
    cost()  # what is remembered of the vault's banks
    few = cost()
    for number in range(4, 10):
        update_memory(access, memory.pk, MemoryChanges(content=f"Version {number}."))
    assert cost() == few <= MOST_QUERIES


def test_the_access_log_is_on_the_page(browser: Client, access: Access):
    """PRN-07: who, when, for what question and at which rank; opening the page is no access."""
    flush_accesses()
    memory = remember(access, "The kettle is in the garage.")
    reader = access_of(make_key(access, name="reader")[1])
    assert "Not recalled or read" in page(browser, memory)
    for number in range(12):
        record_accesses(reader, [memory.pk], AccessPurpose.SEARCH, f"where is <kettle> {number}?")
    flush_accesses()
    html = browser.get(f"/memories/{memory.pk}/").content.decode()
    assert "“where is &lt;kettle&gt; 11?”" in html
    assert "key “reader”" in html
    assert "kettle&gt; 1?" not in html
    older = unescape(re.search(r'rel="next" href="([^"#]+)#accesses"', html)[1])  # type: ignore[index]
    assert "<kettle> 1?" in unescape(browser.get(older).content.decode())
    assert "<kettle> 11?" in unescape(browser.get(f"/memories/{memory.pk}/?before=nonsense").content.decode())
    flush_accesses()
    assert Memory.objects.get(pk=memory.pk).access_count == 1


def test_from_the_list_one_walks_through_it(browser: Client, access: Access):
    """Previous and next are neighbours in the list somebody came from, in its order and with its filters."""
    one, two, three = (remember(access, text, bank="Work") for text in ("First rain.", "A cello.", "Port 8000."))
    remember(access, "Elsewhere.", bank="Health")
    from_list = {"Referer": "http://testserver/memories/?bank=work&sort=created_at"}
    html = page(browser, two, **from_list)
    before, after = (re.search(rf'rel="{rel}" href="([^"]+)"', html) for rel in ("prev", "next"))
    assert before
    assert after
    assert f"/memories/{one.pk}/?list=" in before[1]
    assert f"/memories/{three.pk}/?list=" in after[1]
    end = unescape(browser.get(after[1]).content.decode())
    assert 'rel="next"' not in end
    assert 'href="/memories/?bank=work&sort=created_at"' in end
    assert 'rel="next"' not in page(browser, two)
    assert 'rel="next"' not in page(browser, two, Referer="http://evil.example/memories/?bank=work")
    with CaptureQueriesContext(connection) as asked:
        page(browser, two, **from_list)
    assert len(asked) <= MOST_QUERIES


def test_any_two_versions_are_compared(browser: Client, access: Access):
    memory = remember(access, "Tea at four.", importance=2)
    update_memory(access, memory.pk, MemoryChanges(content="Tea at five."))
    update_memory(access, memory.pk, MemoryChanges(content="Tea at six.", importance=5))
    html = unescape(browser.get(f"/memories/{memory.pk}/?left=1&right=3").content.decode())
    compared = html[html.index("From version 1 to version 3") :][:1500]
    assert re.search(r"<del>.*four.*</del>", compared)
    assert re.search(r"<ins>.*six.*</ins>", compared)
    assert "Importance:" in compared
    for nonsense in ("left=x&right=1", "left=9&right=1", "left=1"):
        assert "From version" not in unescape(browser.get(f"/memories/{memory.pk}/?{nonsense}").content.decode())


def test_it_is_replaced_and_moved_by_plain_forms(browser: Client, access: Access):
    old = remember(access, "She lives in Bremen.", bank="Work", tags=["home"])
    response = browser.post(f"/memories/{old.pk}/replace/", {"content": "She lives in Kiel."})
    new = Memory.objects.get(superseded=old)
    assert response["Location"] == f"/memories/{new.pk}/"
    assert (new.content, new.tags) == ("She lives in Kiel.", ["home"])
    browser.post(f"/memories/{new.pk}/move/", {"bank": "health", "version": str(new.version), "reason": "Not work"})
    new.refresh_from_db()
    assert new.bank.name == "Health"
    html = page(browser, new)
    assert "Not work" in html
    assert "“Health”" in html


def test_raw_shows_what_programs_get(browser: Client, access: Access):
    memory = remember(access, "Raw <b>text</b>.")
    html = browser.get(f"/memories/{memory.pk}/raw/").content.decode()
    assert "ETag <code>&quot;v1&quot;</code>" in html
    assert "Raw &lt;b&gt;text&lt;/b&gt;." in html
    assert "wordllama" in html
