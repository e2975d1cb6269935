from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User

from banks.access import ALL_SCOPES, access_from_secret
from memories.management.firststart import bootstrap, read_bootstrap
from memoryhub.local.datadir import DataDir, prepare
from memoryhub.local.store import discard

pytestmark = pytest.mark.django_db


@pytest.fixture
def datadir(tmp_path: Path) -> Iterator[DataDir]:
    prepared = prepare(tmp_path / "hub")
    yield prepared
    discard(prepared)


def test_the_first_start_makes_a_person_a_vault_and_a_key_with_every_scope(datadir: DataDir):
    """STA-03: everything a newcomer needs is in one private file."""
    told = bootstrap(datadir, "http://127.0.0.1:8000")
    assert told is not None
    assert told == read_bootstrap(datadir)
    assert stat.S_IMODE(datadir.bootstrap.stat().st_mode) == 0o600
    access = access_from_secret(told.api_key, "")
    assert (str(access.vault_id), access.scopes) == (told.vault, ALL_SCOPES)
    person = authenticate(username=told.admin_username, password=told.admin_password)
    assert isinstance(person, User)
    assert person.is_superuser
    assert told.storage == [str(datadir.root)]


def test_later_starts_change_the_address_only(datadir: DataDir):
    first = bootstrap(datadir, "http://127.0.0.1:8000")
    second = bootstrap(datadir, "http://127.0.0.1:9000")
    assert first is not None and second is not None
    assert second.url == "http://127.0.0.1:9000"
    assert (second.admin_password, second.api_key) == (first.admin_password, first.api_key)
    assert User.objects.count() == 1


def test_a_store_set_up_elsewhere_is_left_as_it_is(datadir: DataDir):
    User.objects.create_user("somebody")
    assert bootstrap(datadir, "http://127.0.0.1:8000") is None
    assert not datadir.bootstrap.exists()
    assert User.objects.count() == 1
