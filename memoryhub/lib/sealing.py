"""Sealed model fields and the gate that must be open to read them.

Built on django-cryptography's encrypted-field layer; its cipher, serialisation and key handling are replaced by the
AES-256-GCM envelope of ``memoryhub.lib.crypto``, bound to model, field, vault and record (ENC-02, 03, 10, 18, 19).
A sealed model needs a client-side ``pk`` and a ``vault_id`` before it is saved.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models.query_utils import DeferredAttribute
from django_cryptography.fields import EncryptedMixin

from memoryhub.lib.crypto import CryptoError, VaultKeys
from memoryhub.lib.errors import Kind


class VaultLocked(CryptoError):
    """Sealed content was touched without permission for its vault; obtain an Access for that vault first."""

    code = "vault_locked"
    kind = Kind.INTERNAL


class NotSealed(CryptoError):
    """A sealed column was written around the model's save(); use save() or bulk_create()."""

    code = "not_sealed"


class _Gate:
    """Which vaults the running request or job may open. Empty by default, so a forgotten filter raises (ENC-19)."""

    def __init__(self) -> None:
        self._open: ContextVar[dict[UUID, VaultKeys] | None] = ContextVar("open_vaults", default=None)

    @contextmanager
    def session(self) -> Iterator[None]:
        """A fresh, empty set of open vaults for one request, job or command; forgotten at its end."""
        token = self._open.set({})
        try:
            yield
        finally:
            self._open.reset(token)

    def unlock(self, vault_id: UUID, keys: VaultKeys) -> None:
        """Let this session open ``vault_id``. Only ``banks.access`` calls it. Raises VaultLocked outside a session."""
        opened = self._open.get()
        if opened is None:
            raise VaultLocked("No session is open; wrap the work in gate.session().")
        opened[vault_id] = keys

    def keys_for(self, vault_id: UUID) -> VaultKeys:
        """The keys of an unlocked vault. Raises VaultLocked."""
        keys = (self._open.get() or {}).get(vault_id)
        if keys is None:
            raise VaultLocked
        return keys


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


def _associated_data(field: models.Field[Any, Any], instance: models.Model) -> bytes:
    """What a ciphertext is bound to: moved to another model, field, vault or record it does not open."""
    vault_id: UUID = instance.vault_id  # type: ignore[attr-defined]
    parts = (field.model._meta.label_lower.encode(), field.attname.encode(), vault_id.bytes, instance.pk.bytes)
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
        keys = gate.keys_for(instance.vault_id)  # type: ignore[attr-defined]
        return self.from_bytes(keys.unseal(sealed.data, _associated_data(self, instance)))

    def pre_save(self, model_instance: models.Model, add: bool) -> Sealed | None:
        value = model_instance.__dict__.get(self.attname)
        if value is None or isinstance(value, Sealed):
            return value
        keys = gate.keys_for(model_instance.vault_id)  # type: ignore[attr-defined]
        return Sealed(keys.seal(self.to_bytes(value), _associated_data(self, model_instance)))

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
