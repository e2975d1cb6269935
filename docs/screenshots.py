"""Takes the README's pictures: `uv run python -m docs.screenshots`.

Starts a throwaway hub with the sample vault, logs in like a person and photographs pages with the system's Chromium,
light and dark, into docs/images/. Nothing is drawn by hand, so the pictures show what the code does.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from memories.management.bench.hub import Hub, throwaway_hub

IMAGES = Path(__file__).with_name("images")
PAGES = {
    "memories": "/memories/",
    "memory": "/memories/",
    "recall": "/recall/?q=who+looks+after+the+backups",
    "cleanup": "/cleanup/",
    "banks": "/banks/",
}
SCHEMES = ("light", "dark")
SIZE = {"width": 1280, "height": 800}
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def photograph(browser: Browser, hub: Hub, scheme: str, names: list[str]) -> None:
    """Every named page in one colour scheme."""
    context = browser.new_context(
        viewport=SIZE, color_scheme=scheme, device_scale_factor=1.5, reduced_motion="reduce", locale="en-GB"
    )
    page = context.new_page()
    page.goto(f"{hub.url}/accounts/login/")
    page.fill("[name=login]", hub.username)
    page.fill("[name=password]", hub.password)
    page.locator("button[type=submit]").first.click()
    page.wait_for_url(lambda url: "login" not in url)
    for name in names:
        page.goto(f"{hub.url}{PAGES[name]}")
        if name == "memory":
            page.locator("main a[href^='/memories/0']").first.click()
            page.wait_for_load_state("networkidle")
        path = IMAGES / f"{name}-{scheme}.png"
        page.screenshot(path=path)
        print(path)
    context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*PAGES], help="pages (the memory list)")
    names = parser.parse_args().names or ["memories"]
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        sys.exit("Chromium is not installed: apt-get install chromium")
    IMAGES.mkdir(exist_ok=True)
    with throwaway_hub("--demo") as hub, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for scheme in SCHEMES:
            photograph(browser, hub, scheme, names)
        browser.close()


if __name__ == "__main__":
    main()
