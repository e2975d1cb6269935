"""The ground of made-up requests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from banks.access import Access
from tests.memoryhub.conftest import one_of_everything
from tests.promises.fuzzing import Ground


@pytest.fixture
def ground(access: Access, secret: str) -> Iterator[Ground]:
    """A vault with one of everything, and a key with every scope; requests share the test's own transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield Ground(secret, one_of_everything(access))
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)
