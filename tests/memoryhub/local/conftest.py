from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryhub.local.datadir import DataDir, prepare
from memoryhub.local.store import discard


@pytest.fixture
def datadir(tmp_path: Path) -> Iterator[DataDir]:
    """A hub's folder of its own, gone afterwards wherever its parts lie."""
    prepared = prepare(tmp_path / "hub")
    yield prepared
    discard(prepared)
