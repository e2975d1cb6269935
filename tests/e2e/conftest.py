"""A real Chromium against a real server: whoever signs in here does it through the login page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, expect, sync_playwright

from tests.conftest import PASSWORD

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: Milliseconds a page may take on a machine that does much else; nothing here measures how fast it is.
PATIENCE = 30_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for a module. Playwright keeps a loop running in this thread, which Django must be told is fine."""
    if CHROMIUM is None:
        pytest.skip("No Chromium on this machine; on Debian: apt-get install chromium")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


class Tab:
    """A page that remembers everything a person should never see."""

    def __init__(self, context: BrowserContext, root: str) -> None:
        self.context = context
        self.javascript = True
        self.page: Page = context.new_page()
        self.root = root
        self.complaints: list[str] = []
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._dismiss)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def _dismiss(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, path: str) -> Page:
        """Go there, by address."""
        self.page.goto(self.root + path)
        return self.page

    def sign_in(self, person: User) -> Page:
        """Through the form, as a person does it."""
        page = self.open("/")
        page.fill("[name=login]", person.get_username())
        page.fill("[name=password]", PASSWORD)
        page.locator("button[type=submit]").first.click()
        page.wait_for_url(self.root + "/")
        return page


@pytest.fixture
def open_tab(chromium: Browser, live_server: Any) -> Iterator[Callable[..., Tab]]:
    """A function that opens a tab; its words go to Playwright's new_context."""
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> Tab:
        context = chromium.new_context(**options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        tab = Tab(context, live_server.url)
        tab.javascript = options.get("java_script_enabled", True)
        return tab

    yield make
    for context in contexts:
        context.close()


@pytest.fixture(params=[True, False], ids=["with JavaScript", "without JavaScript"])
def tab(request: pytest.FixtureRequest, open_tab: Callable[..., Tab]) -> Tab:
    """Everything works in both."""
    return open_tab(java_script_enabled=request.param)
