"""The typed environment: every variable the hub reads, and the secrets it must have.

Read once per process. A mistake is reported as one sentence that lists everything that is wrong (CFG-01).
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from memoryhub.lib.errors import HubError

if TYPE_CHECKING:
    from collections.abc import Mapping

BASE_DIR = Path(__file__).resolve().parent.parent
SECRET_CHARACTERS = 32
#: How far WordLlama's vectors may be cut: its model was trained so that the first numbers say most.
WORDLLAMA_DIMENSIONS = (256, 128, 64)


class EnvironmentInvalid(HubError):
    """An environment variable has a value the hub cannot use."""

    code = "environment"


class SecretsMissing(HubError):
    """A secret the hub cannot run without is not there."""

    code = "secrets_missing"


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """One embedder, as the environment describes it."""

    provider: str
    url: str | None
    model: str | None
    key: SecretStr | None
    dimensions: int | None
    allow_private: bool


class Environment(BaseSettings):
    """What the surroundings say; the names are ``MEMORYHUB_`` and the field in capitals unless an alias is given."""

    model_config = SettingsConfigDict(env_prefix="MEMORYHUB_", env_ignore_empty=True, extra="ignore", frozen=True)

    data: Path = BASE_DIR / "var"
    database_url: str | None = Field(None, validation_alias="DATABASE_URL")
    broker_url: str | None = Field(None, validation_alias="BROKER_URL")

    keys: SecretStr | None = None
    keys_file: Path | None = None
    active_key: int | None = Field(None, ge=1)
    secret_key: SecretStr | None = Field(None, min_length=SECRET_CHARACTERS)
    secret_key_file: Path | None = None
    pepper: SecretStr | None = Field(None, min_length=SECRET_CHARACTERS)
    pepper_file: Path | None = None

    debug: bool = False
    allowed_hosts: str = ""
    public_url: str | None = Field(None, pattern=r"^https?://[^/\s]+/?$")
    process: Literal["web", "worker", "command"] = "command"
    web_workers: int = Field(1, ge=1, le=32)
    web_threads: int = Field(8, ge=1, le=64)
    rate_limit_reads: int = Field(30_000, ge=0)  # requests a minute and key; 0 is no limit
    rate_limit_writes: int = Field(12_000, ge=0)
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["json", "console"] = "json"

    embedder: Literal["wordllama", "openai", "none"] = "wordllama"
    embedder_url: str | None = None
    embedder_model: str | None = None
    embedder_key: SecretStr | None = None
    embedder_dimensions: int | None = Field(None, ge=1, le=4000)
    embedder_allow_private: bool = False
    embedder_timeout: float = Field(30.0, ge=0.1, le=100.0)  # seconds a job waits for one answer
    embedder_query_timeout: float = Field(1.5, gt=0.0, le=30.0)  # seconds a search waits for its vector

    # What vaults are re-embedded into while the one above still answers for those that are not yet.
    next_embedder: Literal["wordllama", "openai"] | None = None
    next_embedder_url: str | None = None
    next_embedder_model: str | None = None
    next_embedder_key: SecretStr | None = None
    next_embedder_dimensions: int | None = Field(None, ge=1, le=4000)
    next_embedder_allow_private: bool = False

    llm: Literal["extractive", "openai", "fake"] = "extractive"
    llm_url: str | None = None
    llm_model: str | None = None
    llm_key: SecretStr | None = None
    llm_allow_private: bool = False
    llm_timeout: float = Field(60.0, ge=0.1, le=100.0)  # seconds for one question, a repaired answer included

    @model_validator(mode="after")
    def _embedders_are_complete(self) -> Self:
        for prefix, one in (("EMBEDDER", self.embedding), ("NEXT_EMBEDDER", self.next_embedding)):
            if one is not None and one.provider == "openai" and not (one.url and one.model):
                raise ValueError(
                    f"MEMORYHUB_{prefix}=openai also needs MEMORYHUB_{prefix}_URL and MEMORYHUB_{prefix}_MODEL"
                )
            if one is not None and one.provider == "wordllama" and one.dimensions not in {None, *WORDLLAMA_DIMENSIONS}:
                raise ValueError(f"MEMORYHUB_{prefix}_DIMENSIONS of wordllama is one of {WORDLLAMA_DIMENSIONS}")
        return self

    @model_validator(mode="after")
    def _llm_is_complete(self) -> Self:
        if self.llm == "openai" and not (self.llm_url and self.llm_model):
            raise ValueError("MEMORYHUB_LLM=openai also needs MEMORYHUB_LLM_URL and MEMORYHUB_LLM_MODEL")
        return self

    @property
    def embedding(self) -> EmbedderSettings:
        """The embedder vaults begin with."""
        return EmbedderSettings(
            self.embedder,
            self.embedder_url,
            self.embedder_model,
            self.embedder_key,
            self.embedder_dimensions,
            self.embedder_allow_private,
        )

    @property
    def next_embedding(self) -> EmbedderSettings | None:
        """The embedder vaults are to move to; None when nothing is planned."""
        if self.next_embedder is None:
            return None
        return EmbedderSettings(
            self.next_embedder,
            self.next_embedder_url,
            self.next_embedder_model,
            self.next_embedder_key,
            self.next_embedder_dimensions,
            self.next_embedder_allow_private,
        )

    @property
    def hosts(self) -> list[str]:
        """The host names the web server answers to; this machine's own by default."""
        named = [host.strip() for host in self.allowed_hosts.split(",") if host.strip()]
        public = [self.public_url.split("//")[1].rstrip("/").rsplit(":", 1)[0]] if self.public_url else []
        return ["localhost", ".localhost", "127.0.0.1", "[::1]", *public, *named]

    @property
    def is_https(self) -> bool:
        """Whether people reach the hub over https (MEMORYHUB_PUBLIC_URL says so)."""
        return bool(self.public_url and self.public_url.startswith("https://"))


@dataclass(frozen=True, repr=False)
class Secrets:
    """The master keys by id, which of them seals new data, Django's secret key and the pepper of API keys."""

    keys: Mapping[int, bytes]
    active: int
    secret_key: str
    pepper: bytes


@cache
def environment() -> Environment:
    """The environment of this process. Raises EnvironmentInvalid naming every variable that is wrong."""
    try:
        return Environment()
    except ValidationError as error:
        raise EnvironmentInvalid(_sentence(error)) from None


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable as an operator may see it: never the value of a secret, and who said it."""

    name: str
    value: str
    source: Literal["environment", "file", "default"]


def configuration() -> list[Variable]:
    """Every variable the hub reads, with the value that holds; secrets only as set or not set."""
    env = environment()
    return [_variable(env, field) for field in Environment.model_fields]


def _variable(env: Environment, field: str) -> Variable:
    value = getattr(env, field)
    name = str(Environment.model_fields[field].validation_alias or f"MEMORYHUB_{field.upper()}")
    is_set = field in env.model_fields_set
    if field in _IN_FILE and not is_set:
        return Variable(name, "Set, not shown", "file")
    return Variable(name, _shown(value), "environment" if is_set else "default")


#: Kept in ``keys.json`` or a file of their own where the environment does not say them.
_IN_FILE = {"keys", "secret_key", "pepper"}


def _shown(value: object) -> str:
    match value:
        case None | "":
            return "Not set"
        case SecretStr():
            return "Set, not shown"
        case bool():
            return "Yes" if value else "No"
        case str() if "://" in value:
            return _without_password(value)
        case _:
            return str(value)


def _without_password(address: str) -> str:
    """An address may carry a name and a password before its host, and more behind its question mark."""
    scheme, _, rest = address.partition("://")
    authority, slash, path = rest.partition("?")[0].partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"


@cache
def secrets() -> Secrets:
    """The secrets, from the environment or else from ``keys.json`` in the data folder.

    Raises SecretsMissing when one is not there and EnvironmentInvalid when one cannot be read.
    """
    env = environment()
    stored = stored_secrets(env.data)
    keys, active = _master_keys(env, stored)
    secret_key = _text(env.secret_key, env.secret_key_file) or stored.get("secret_key")
    pepper = _text(env.pepper, env.pepper_file) or stored.get("pepper")
    found = {"MEMORYHUB_KEYS": keys, "MEMORYHUB_SECRET_KEY": secret_key, "MEMORYHUB_PEPPER": pepper}
    missing = [name for name, value in found.items() if not value]
    if missing or active is None or not secret_key or not pepper:
        raise SecretsMissing(
            f"Missing: {', '.join(missing)}. Set them, or bring back {keys_file(env.data)} of this hub; "
            "without the encryption key nothing that is stored can be read."
        )
    return Secrets(keys=keys, active=active, secret_key=secret_key, pepper=pepper.encode())


def reread_secrets() -> None:
    """Forget what was read: the files may say more than when this process started."""
    secrets.cache_clear()


def keys_file(data: Path) -> Path:
    """Where the embedded default keeps the secrets it made."""
    return data.expanduser().resolve() / "keys.json"


def stored_secrets(data: Path) -> dict[str, Any]:
    """The content of ``keys.json``, empty when there is none. Raises EnvironmentInvalid when it is damaged."""
    path = keys_file(data)
    try:
        stored = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise EnvironmentInvalid(f"{path} cannot be read ({type(error).__name__}); restore it from a backup.") from None
    if not isinstance(stored, dict):
        raise EnvironmentInvalid(f"{path} does not hold the hub's secrets; bring it back from a backup.")
    return stored


def parse_keys(text: str) -> dict[int, bytes]:
    """``1:BASE64,2:BASE64`` as key ids and bytes. Raises EnvironmentInvalid."""
    pairs = [part.strip().partition(":") for part in text.replace("\n", ",").split(",") if part.strip()]
    return _decoded({key_id.strip(): value.strip() for key_id, _, value in pairs}, "MEMORYHUB_KEYS")


def _master_keys(env: Environment, stored: Mapping[str, Any]) -> tuple[dict[int, bytes], int | None]:
    text = _text(env.keys, env.keys_file)
    if text and text.startswith("{"):
        stored, text = json.loads(text), None
    keys = parse_keys(text) if text else _decoded(stored.get("keys", {}), "keys.json")
    active = env.active_key or (None if text else stored.get("active")) or max(keys, default=None)
    return keys, active


def _decoded(pairs: Mapping[str, str], source: str) -> dict[int, bytes]:
    keys: dict[int, bytes] = {}
    for key_id, value in pairs.items():
        try:
            keys[int(key_id)] = base64.b64decode(value, validate=True)
        except (ValueError, binascii.Error):
            raise EnvironmentInvalid(
                f"{source} must look like 1:BASE64,2:BASE64, with 32 random bytes each; key {key_id[:12]!r} does not."
            ) from None
    return keys


def _text(value: SecretStr | None, path: Path | None) -> str | None:
    if value is not None:
        return value.get_secret_value()
    if path is None:
        return None
    try:
        return path.read_text().strip()
    except OSError as error:
        raise EnvironmentInvalid(f"The secret file {path} cannot be read: {error.strerror}.") from None


def _sentence(error: ValidationError) -> str:
    wrong = []
    for item in error.errors(include_url=False, include_input=False):
        name = str(item["loc"][0]) if item["loc"] else ""
        variable = name if name.isupper() else f"MEMORYHUB_{name.upper()}"
        wrong.append(f"{variable}: {item['msg']}" if name else item["msg"].removeprefix("Value error, "))
    return f"The environment is not usable: {'; '.join(wrong)}."
