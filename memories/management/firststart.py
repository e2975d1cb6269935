"""From an empty database to a hub somebody can use: keys, schema, the first person, vault and API key."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection, transaction

from banks.access import ALL_SCOPES, Door, system_access
from banks.models import KeyCheck
from banks.services.drafts import KeyDraft
from banks.services.keyring import verify_keys
from banks.services.keys import create_key
from banks.services.vaults import create_vault
from memoryhub import env as environment
from memoryhub.lib.crypto import UnknownKey
from memoryhub.lib.sealing import gate
from memoryhub.local.datadir import write_private
from memoryhub.local.keyfile import generate_secrets

if TYPE_CHECKING:
    from memoryhub.local.datadir import DataDir

FIRST_VAULT, FIRST_KEY, FIRST_USER = "Main", "first start", "admin"


@dataclass(frozen=True)
class Bootstrap:
    """What the first start tells its owner, and where everything is."""

    url: str
    admin_username: str
    admin_password: str
    api_key: str
    vault: str
    storage: list[str]


def prepare_store() -> None:
    """Secrets first, then the schema: a missing or wrong key stops everything before anything is changed.

    Raises UnknownKey, WrongKey, SecretsMissing or EnvironmentInvalid.
    """
    known = _known_keys()
    if known:
        _require_secrets(known)
        verify_keys()
    else:
        generate_secrets(environment.environment())
    environment.secrets()
    call_command("migrate", interactive=False, verbosity=0)
    verify_keys()


def bootstrap(datadir: DataDir, url: str) -> Bootstrap | None:
    """What the first start found out; made now when the store is empty. None for a store set up elsewhere.

    Later starts change the address only.
    """
    told = read_bootstrap(datadir)
    if told is None:
        if get_user_model().objects.exists():
            return None
        try:
            with transaction.atomic(), gate.session():
                told = _first(datadir, url)
                _write(datadir, told)
        except BaseException:
            datadir.bootstrap.unlink(missing_ok=True)  # it would name a person who was not made
            raise
    elif (told.url, told.storage) != (url, _storage(datadir)):
        told = Bootstrap(**(asdict(told) | {"url": url, "storage": _storage(datadir)}))
        _write(datadir, told)
    return told


def read_bootstrap(datadir: DataDir) -> Bootstrap | None:
    """What an earlier start wrote."""
    if not datadir.bootstrap.exists():
        return None
    return Bootstrap(**json.loads(datadir.bootstrap.read_text()))


def _first(datadir: DataDir, url: str) -> Bootstrap:
    password = secrets.token_urlsafe(12)
    owner = get_user_model().objects.create_superuser(FIRST_USER, password=password)
    vault = create_vault(FIRST_VAULT, owner)
    access = system_access(vault.pk, "first-start", Door.COMMAND)
    _, key = create_key(access, KeyDraft(name=FIRST_KEY, scopes=sorted(ALL_SCOPES)))
    return Bootstrap(url, FIRST_USER, password, key, str(vault.pk), _storage(datadir))


def _storage(datadir: DataDir) -> list[str]:
    """Servers of one's own leave the embedded ones' folder unmade."""
    return [folder for folder in datadir.storage if Path(folder).exists()]


def _write(datadir: DataDir, told: Bootstrap) -> None:
    write_private(datadir.bootstrap, json.dumps(asdict(told), indent=2) + "\n")


def _known_keys() -> list[int]:
    if KeyCheck._meta.db_table not in connection.introspection.table_names():
        return []
    return list(KeyCheck.objects.order_by("pk").values_list("pk", flat=True))


def _require_secrets(known: list[int]) -> None:
    try:
        environment.secrets()
    except environment.SecretsMissing as error:
        ids = ", ".join(map(str, known))
        raise UnknownKey(f"This store was sealed with encryption key {ids}. {error.message}") from None
