"""Pictures of pages: small, readable by anybody, and a sentence where they cannot be taken."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from django.core.management import call_command

from memories.management.pictures import COLOURS, NoBrowser, as_png


def test_a_picture_keeps_its_most_frequent_colours():
    pixels = np.zeros((4, 300, 3), dtype=np.uint8)
    pixels[0, :, 0] = np.arange(300) % 256
    pixels[1, :, 1] = np.arange(300) // 2
    pixels[2, :] = (250, 251, 252)
    picture = as_png(pixels)
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", picture[16:24]) == (300, 4)
    palette = picture[picture.index(b"PLTE") + 4 :][: COLOURS * 3]
    data = picture.index(b"IDAT")
    size = int.from_bytes(picture[data - 4 : data])
    rows = zlib.decompress(picture[data + 4 : data + 4 + size])
    assert len(rows) == 4 * 301
    place = rows[2 * 301 + 1]
    assert tuple(palette[place * 3 : place * 3 + 3]) == (250, 251, 252)


def test_without_chromium_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoBrowser, match="apt-get install chromium"):
        call_command("screenshots")
