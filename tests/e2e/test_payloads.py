"""Three hundred texts that want to be programs, in every field somebody can write, on every page there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Set
from itertools import batched
from typing import Any
from urllib.parse import quote_plus

import pytest
from django.contrib.auth.models import User
from django.test import Client

from banks.access import access_from_user
from banks.models import Membership
from banks.services.drafts import BankDraft
from memoryhub.lib.errors import Invalid
from tests.addresses import pages
from tests.conftest import PASSWORD
from tests.e2e.conftest import Tab
from tests.e2e.payloads import PAYLOADS, disarmed
from tests.factories import make_vault
from tests.fullvault import FullVault, Voice

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

#: Before any script of a page: what payloads call is noted, and what the policy stops.
WATCH = """
window.fired = [];
for (const name of ['alert', 'confirm', 'prompt', 'open']) window[name] = (...all) => { fired.push(name + ': ' + all) };
document.addEventListener('securitypolicyviolation', event =>
    fired.push('violation: ' + event.violatedDirective + ' ' + event.blockedURI));
"""
#: Elements by tag and names of attributes, and every address that is no path of this hub.
READ = """() => {
    const shapes = {}, led = [];
    for (const element of document.querySelectorAll('*')) {
        const shape = element.tagName.toLowerCase() + '[' + element.getAttributeNames().sort().join(' ') + ']';
        shapes[shape] = (shapes[shape] || 0) + 1;
        for (const name of ['href', 'src', 'action', 'formaction', 'hx-get', 'hx-post', 'hx-delete']) {
            const address = element.getAttribute(name);
            const own = /^([/?#][^/\\\\]|[/?#]?$)/.test(address) || (address || '').startsWith(location.origin + '/');
            if (address !== null && !own) led.push(name + '=' + address);
        }
    }
    return {shapes, led, fired, title: document.title};
}"""
CHUNK = 3
#: What stands there depends on what a text says, or on who looked first.
LOOKS_AROUND = ("/recall/", "/memories/0", "/banks/")
LONG_QUERY = 3_000


def is_name(name: str) -> bool:
    try:
        BankDraft.parse({"name": name})
    except Invalid:
        return False
    return True


def voices() -> tuple[Voice, Voice]:
    """The same vault told twice: as it should never run, and with as many letters that cannot."""
    chunks = [" ".join(each) for each in batched(PAYLOADS, CHUNK)]
    named = [payload for payload in PAYLOADS if len(payload) <= 50 and is_name(payload) and is_name(disarmed(payload))]
    banks = {disarmed(name).casefold(): name for name in named}
    chosen = list(banks.values())[::12]
    evil = Voice(chunks, PAYLOADS, chosen, query=quote_plus(" ".join(PAYLOADS)[:LONG_QUERY]))
    words, lines, names = ([disarmed(one) for one in said] for said in (chunks, PAYLOADS, chosen))
    return evil, Voice(words, lines, names, query=evil.query)


def owner_of(voice: Voice, name: str) -> tuple[User, dict[str, list[str]]]:
    person = User.objects.create_user(name, password=PASSWORD)
    vault = make_vault(voice(0, 100))
    Membership.objects.create(vault=vault, user=person, role="owner")
    return person, FullVault(access_from_user(person, vault.pk, "test"), voice, rows=len(voice.words)).fill()


def paths_of(person: User, ids: dict[str, list[str]], query: str) -> list[str]:
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return pages(client, ids, query)


class Walk:
    """One person's way through every page, and what came of it."""

    def __init__(self, tab: Tab, person: User) -> None:
        self.tab = tab
        self.asked: list[str] = []
        tab.context.add_init_script(WATCH)
        tab.page.on("request", lambda request: self.asked.append(request.url))
        tab.sign_in(person)

    def look(self, path: str) -> dict[str, Any]:
        """What is there, with every later page of a list added."""
        page = self.tab.open(path)
        found: dict[str, Any] = page.evaluate(READ)
        found["shapes"] = Counter(found["shapes"])
        while (following := page.locator(f"a[rel=next][href^='{path.split('?')[0]}?']")).count():
            page = self.tab.open(str(following.first.get_attribute("href")))
            more = page.evaluate(READ)
            found["shapes"].update(more["shapes"])
            found["led"] += more["led"]
            found["fired"] += more["fired"]
        return found

    @property
    def foreign(self) -> list[str]:
        """Requests no page makes."""
        own = (self.tab.root, "data:image")
        return [url for url in self.asked if "beacon" in url.split("?")[0] or not url.startswith(own)]


def faults(path: str, evil: dict[str, Any], tame: dict[str, Any], known: Set[str]) -> list[str]:
    """What the texts did to a page; ``known`` are the shapes that templates make.

    What a page finds beside a memory depends on what it says, and when a bank was last read on who looked first: there
    only shapes can be compared, not how many.
    """
    more = evil["shapes"] - tame["shapes"]
    if path.startswith(LOOKS_AROUND):
        more = Counter({shape: count for shape, count in more.items() if shape not in known})
    return [*evil["fired"], *evil["led"], *(f"{count} more {shape}" for shape, count in more.items())]


@pytest.mark.slow
def test_no_stored_text_runs_anywhere(open_tab: Callable[..., Tab]):
    """S8: nothing executes, nothing violates, nothing is asked for, and no element is there that a template did not
    make: as many of each kind as where harmless texts of the same length stand.
    """
    assert len(set(PAYLOADS)) >= 200
    told = []
    for voice, name in zip(voices(), ("mallory", "trudy"), strict=True):
        person, ids = owner_of(voice, name)
        told.append((Walk(open_tab(), person), paths_of(person, ids, voice.query)))
    (evil, evil_paths), (tame, tame_paths) = told
    assert len(evil_paths) == len(tame_paths)
    looks = [tame.look(path) for path in tame_paths]
    known = {shape for look in looks for shape in look["shapes"]}
    checked = ((path, faults(path, evil.look(path), look, known)) for path, look in zip(evil_paths, looks, strict=True))
    assert {path: wrong for path, wrong in checked if wrong} == {}
    assert evil.foreign == []
    assert evil.tab.complaints == tame.tab.complaints
