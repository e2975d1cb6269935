"""Pictures of pages, taken with the system's Chromium and made small enough for a repository."""

from __future__ import annotations

import base64
import shutil
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from memoryhub.lib.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

# Those of playwright, which only developers have.
type Browser = Any
type Page = Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SCHEMES = ("light", "dark")
SIZE = {"width": 1280, "height": 800}
COLOURS = 256
#: The pixels of a PNG, which Python's standard library cannot read.
_PIXELS = """async encoded => {
    const bytes = Uint8Array.from(atob(encoded), one => one.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    const all = canvas.getImageData(0, 0, image.width, image.height).data;
    let text = '';
    for (let at = 0; at < all.length; at += 32768) text += String.fromCharCode(...all.subarray(at, at + 32768));
    return [image.width, image.height, btoa(text)];
}"""


class NoBrowser(Unavailable):
    """Pictures need Chromium and playwright: `apt-get install chromium`, then `uv sync` with the group dev."""

    code = "no_browser"


@dataclass(frozen=True)
class Login:
    """A hub and somebody in it."""

    url: str
    username: str
    password: str


@dataclass(frozen=True)
class Shot:
    """A page to take: its address, and a link on it to follow first, if any."""

    name: str
    path: str
    follow: str = ""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, without a window. Raises NoBrowser."""
    try:
        playwright_of = import_module("playwright.sync_api").sync_playwright
    except ImportError:
        raise NoBrowser from None
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        raise NoBrowser
    with playwright_of() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def take(browser: Browser, login: Login, shots: list[Shot], folder: Path) -> Iterator[Path]:
    """Each page in light and dark as ``name-scheme.png``, at twice the pixels of its size."""
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in SCHEMES:
        options: Any = {"viewport": SIZE, "color_scheme": scheme, "device_scale_factor": 2, "locale": "en-GB"}
        context = browser.new_context(reduced_motion="reduce", **options)
        page = context.new_page()
        _sign_in(page, login)
        for shot in shots:
            page.goto(login.url + shot.path)
            if shot.follow:
                page.goto(login.url + str(page.locator(shot.follow).first.get_attribute("href")))
            page.wait_for_load_state("load")
            page.evaluate("document.fonts.ready")
            path = folder / f"{shot.name}-{scheme}.png"
            path.write_bytes(_smaller(browser, page.screenshot()))
            yield path
        context.close()


def _sign_in(page: Page, login: Login) -> None:
    page.goto(f"{login.url}/accounts/login/")
    page.fill("[name=login]", login.username)
    page.fill("[name=password]", login.password)
    page.locator("button[type=submit]").first.click()
    page.wait_for_url(lambda url: "/accounts/login" not in url)


def _smaller(browser: Browser, picture: bytes) -> bytes:
    """The picture with 256 colours, which is all that a page of text has."""
    page = browser.new_page()
    width, height, encoded = page.evaluate(_PIXELS, base64.b64encode(picture).decode())
    page.close()
    pixels = np.frombuffer(base64.b64decode(encoded), dtype=np.uint8).reshape(height, width, 4)[:, :, :3]
    return as_png(pixels)


def as_png(pixels: NDArray[np.uint8]) -> bytes:
    """An indexed PNG of rows of red, green, blue: the most frequent colours, every other one as the nearest of them."""
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    colours, places, counts = np.unique(packed, return_inverse=True, return_counts=True)
    kept = colours[np.argsort(-counts, kind="stable")[:COLOURS]]
    palette = np.stack([kept >> 16, kept >> 8 & 255, kept & 255], axis=1).astype(np.int32)
    every = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1).astype(np.int32)
    nearest = np.array([int(np.argmin(((palette - one) ** 2).sum(axis=1))) for one in every], dtype=np.uint8)
    rows = nearest[places].reshape(packed.shape)
    height, width = pixels.shape[:2]
    lines = b"".join(b"\x00" + row.tobytes() for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", head), (b"PLTE", palette.astype(np.uint8).tobytes()), (b"IDAT", zlib.compress(lines, 9))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in [*parts, (b"IEND", b"")])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
