"""Every page of a full vault in a wide window, light and dark: axe objects to nothing, nothing sticks out."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from tests.e2e.auditing import WIDE, Opener, every_path, tab_of, walk

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_every_full_page_is_accessible(open_tab: Opener, owner: User):
    paths = every_path(owner, full=True)
    assert len(paths) > 60
    assert walk(tab_of(open_tab, owner, WIDE), paths) == {}
