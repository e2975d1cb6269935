"""What axe finds on a page, in light and in dark, and whether the page is wider than its window."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page

from banks.access import access_from_user
from tests.addresses import pages
from tests.e2e.conftest import Tab
from tests.fullvault import FullVault

AXE = (Path(__file__).parent / "vendor/axe/axe.min.js").read_text()
#: Whatever another scheme can change: with the same elements nothing else has to be asked again.
OF_COLOURS = "{runOnly: ['color-contrast', 'link-in-text-block']}"
#: After a scheme was switched: whatever fades is done with it.
SETTLED = """async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    for (const one of document.getAnimations()) one.finish();
    await new Promise(requestAnimationFrame);
}"""
WIDE, NARROW = 1280, 360
ROWS = 12
#: What there is in a vault that was only just made.
NOTHING = {"slug": ["work"], "key": ["dedup_skip_threshold"]}


def violations(page: Page, options: str = "{}") -> list[str]:
    """What axe objects to, and still does when whatever faded has settled."""
    asked = f"axe.run({options}).then(result => result.violations.map(v => v.id + ': ' + v.nodes[0].html.slice(0, 99)))"
    found: list[str] = page.evaluate(asked)
    if found:
        page.evaluate(SETTLED)
        found = page.evaluate(asked)
    return found


def faults(page: Page) -> list[str]:
    """What is wrong with the page that is open, in both schemes."""
    if page.evaluate("document.doctype === null"):
        return []  # a part of a page, put into it by htmx
    page.emulate_media(color_scheme="light")
    page.evaluate(SETTLED)
    page.evaluate(AXE)
    found = violations(page)
    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    page.emulate_media(color_scheme="dark")
    page.evaluate(SETTLED)
    found += [f"dark: {each}" for each in violations(page, OF_COLOURS)]
    return [*found, *([f"{wider} px too wide"] if wider > 0 else [])]


def walk(tab: Tab, paths: Iterable[str]) -> dict[str, list[str]]:
    """Address → what is wrong there; only those with something."""
    found = {path: faults(tab.open(path)) for path in paths}
    return {path: wrong for path, wrong in found.items() if wrong}


def every_path(person: User, *, full: bool) -> list[str]:
    """The addresses of all pages: of a vault with everything, or of one with nothing, whose lists alone there are."""
    ids = FullVault(access_from_user(person, None, "test"), rows=ROWS).fill() if full else NOTHING
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return pages(client, ids, partly=not full)


type Opener = Callable[..., Tab]


def tab_of(open_tab: Opener, person: User, width: int) -> Tab:
    """A signed-in tab of that width."""
    tab = open_tab(viewport={"width": width, "height": 800}, reduced_motion="reduce")
    tab.sign_in(person)
    return tab
