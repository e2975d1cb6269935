"""Sealed model fields and the gate that must be open to read them.

Built on django-cryptography's encrypted-field layer; its cipher, serialisation and key handling are replaced by the
AES-256-GCM envelope of ``memoryhub.lib.crypto``, bound to model, field, vault and record (ENC-02, 03, 10, 18, 19).
A sealed model needs a client-side ``pk`` and a ``vault_id`` before it is saved.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models.query_utils import DeferredAttribute
from django_cryptography.fields import EncryptedMixin

from memoryhub.lib.crypto import CryptoError, DecryptionError, UnknownKey, VaultKeys
from memoryhub.lib.errors import Kind

#: What the database calls its refusal of a value sealed under a key the vault does not have (any more).
SEALED_UNDER_KNOWN_KEY = "sealed_under_known_key"


class VaultLocked(CryptoError):
    """Sealed content was touched without permission for its vault; obtain an Access for that vault first."""

    code = "vault_locked"
    kind = Kind.INTERNAL


class NotSealed(CryptoError):
    """A sealed column was written around the model's save(); use save() or bulk_create()."""

    code = "not_sealed"


@dataclass(slots=True)
class _Opened:
    """A vault's keys, and how to learn of those it got since."""

    keys: VaultKeys
    renew: Callable[[], VaultKeys] | None


class _Gate:
    """Which vaults the running request or job may open. Empty by default, so a forgotten filter raises (ENC-19)."""

    def __init__(self) -> None:
        self._open: ContextVar[dict[UUID, _Opened] | None] = ContextVar("open_vaults", default=None)

    @contextmanager
    def session(self) -> Iterator[None]:
        """A fresh, empty set of open vaults for one request, job or command; forgotten at its end."""
        token = self._open.set({})
        try:
            yield
        finally:
            self._open.reset(token)

    def unlock(self, vault_id: UUID, keys: VaultKeys, renew: Callable[[], VaultKeys] | None = None) -> None:
        """Let this session open ``vault_id``. Only ``banks.access`` calls it. Raises VaultLocked outside a session."""
        opened = self._open.get()
        if opened is None:
            raise VaultLocked("No session is open; wrap the work in gate.session().")
        opened[vault_id] = _Opened(keys, renew)

    def keys_for(self, vault_id: UUID) -> VaultKeys:
        """The keys of an unlocked vault. Raises VaultLocked."""
        return self._vault(vault_id).keys

    def renew(self, vault_id: UUID) -> VaultKeys:
        """The keys of an unlocked vault as they are now: it may have got a new one since. Raises VaultLocked."""
        vault = self._vault(vault_id)
        if vault.renew is not None:
            vault.keys = vault.keys.joined(vault.renew())
        return vault.keys

    def renew_all(self) -> None:
        """The same for every vault this session has unlocked."""
        for vault_id in list(self._open.get() or {}):
            self.renew(vault_id)

    def _vault(self, vault_id: UUID) -> _Opened:
        vault = (self._open.get() or {}).get(vault_id)
        if vault is None:
            raise VaultLocked
        return vault


gate = _Gate()


class Sealed:
    """The bytes as they lie in the database; prints nothing of them."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"<sealed, {len(self.data)} bytes>"


class SealedAttribute(DeferredAttribute):
    """Opens on the first read and remembers; a list that shows no content decrypts nothing (ENC-20)."""

    def __get__(self, instance: models.Model | None, cls: type | None = None) -> Any:
        value = super().__get__(instance, cls)
        if not isinstance(value, Sealed) or instance is None:
            return value
        opened = instance.__dict__.setdefault("_opened", {})
        name = self.field.attname
        if name not in opened:
            opened[name] = self.field.open(value, instance)  # type: ignore[attr-defined]
        return opened[name]

    def __set__(self, instance: models.Model, value: Any) -> None:
        instance.__dict__.setdefault("_opened", {}).pop(self.field.attname, None)
        instance.__dict__[self.field.attname] = value


def associated_data(field: models.Field[Any, Any], vault_id: UUID, pk: UUID) -> bytes:
    """What a ciphertext is bound to: moved to another model, field, vault or record it does not open."""
    return _bound_to(field.model, field.attname, vault_id) + _PK_LENGTH + pk.bytes


_PK_LENGTH = len(UUID(int=0).bytes).to_bytes(2)


@lru_cache(maxsize=4096)
def _bound_to(model: type[models.Model], name: str, vault_id: UUID) -> bytes:
    parts = (model._meta.label_lower.encode(), name.encode(), vault_id.bytes)
    return b"mh1" + b"".join(len(part).to_bytes(2) + part for part in parts)


class SealedField(EncryptedMixin):
    """The common half of the sealed fields; subclasses say how a value becomes bytes and back."""

    descriptor_class = SealedAttribute
    base_class: type[models.Field[Any, Any]]
    wasinstance = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Past EncryptedMixin.__init__ on purpose: it would build the CBC cipher that must never run here.
        super(EncryptedMixin, self).__init__(*args, **kwargs)
        self.key = self.ttl = self._fernet = None  # type: ignore[assignment]

    def to_bytes(self, value: Any) -> bytes:
        raise NotImplementedError

    def from_bytes(self, data: bytes) -> Any:
        raise NotImplementedError

    def open(self, sealed: Sealed, instance: models.Model) -> Any:
        """The plain value. Raises VaultLocked, UnknownKey or DecryptionError."""
        vault_id: UUID = instance.vault_id  # type: ignore[attr-defined]
        aad = associated_data(self, vault_id, instance.pk)
        try:
            return self.from_bytes(gate.keys_for(vault_id).unseal(sealed.data, aad))
        except UnknownKey:
            # Sealed since this session began, under a key the vault has got since.
            return self.from_bytes(gate.renew(vault_id).unseal(sealed.data, aad))

    def pre_save(self, model_instance: models.Model, add: bool) -> Sealed | None:
        return self.seal(model_instance.__dict__.get(self.attname), model_instance)

    def seal(self, value: Any, instance: models.Model) -> Sealed | None:
        """A value as the instance's row would hold it. Raises VaultLocked."""
        if value is None or isinstance(value, Sealed):
            return value
        vault_id: UUID = instance.vault_id  # type: ignore[attr-defined]
        aad = associated_data(self, vault_id, instance.pk)
        return Sealed(gate.keys_for(vault_id).seal(self.to_bytes(value), aad))

    def get_prep_value(self, value: Any) -> Any:
        return value

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if value is None:
            return None
        if not isinstance(value, Sealed):
            raise NotSealed
        return connection.Database.Binary(value.data)

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        return value if hasattr(value, "as_sql") else self.get_db_prep_value(value, connection)

    def from_db_value(self, value: Any, *args: Any) -> Sealed | None:
        return None if value is None else Sealed(bytes(value))

    def to_python(self, value: Any) -> Any:
        return value

    def value_to_string(self, obj: models.Model) -> str:
        raise NotSealed("Sealed fields are not serialised; use the hub's own export.")

    def clone(self) -> Any:
        _, _, args, kwargs = self.deconstruct()
        return type(self)(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super(EncryptedMixin, self).deconstruct()
        return name, f"{type(self).__module__}.{type(self).__name__}", args, kwargs


def sealed_columns() -> dict[type[models.Model], list[SealedField]]:
    """Every model that holds sealed values, by table, and its sealed fields: what a new key has to reach."""
    found = {
        model: [field for field in model._meta.concrete_fields if isinstance(field, SealedField)]
        for model in apps.get_models()
    }
    return {model: found[model] for model in sorted(found, key=lambda one: one._meta.db_table) if found[model]}


class SealedTextField(SealedField, models.TextField):  # type: ignore[type-arg]
    """Text, sealed at rest."""

    base_class = models.TextField

    def to_bytes(self, value: Any) -> bytes:
        return str(value).encode()

    def from_bytes(self, data: bytes) -> str:
        return data.decode()


class SealedJSONField(SealedField, models.JSONField):  # type: ignore[misc]
    """A JSON value, sealed at rest."""

    base_class = models.JSONField

    def to_bytes(self, value: Any) -> bytes:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()

    def from_bytes(self, data: bytes) -> Any:
        return json.loads(data)


def opened(row: models.Model, field: str) -> Any:
    """The value of a sealed field, or None when it does not open (any more)."""
    try:
        return getattr(row, field)
    except (DecryptionError, UnknownKey):
        return None
