"""What every line of the settings schema is made of: levels, groups, and a short way to declare a key."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

type Trusted = Literal["untrusted", "inferred", "stated", "verified"]
type Share = float


class Level(StrEnum):
    """Where a setting may be made, the widest first; a narrower level wins."""

    SYSTEM = "system"
    VAULT = "vault"
    BANK = "bank"
    AGENT = "agent"
    REQUEST = "request"


class Group(StrEnum):
    """How the settings page groups them."""

    WRITING = "Writing"
    DEDUP = "Deduplication"
    SEARCH = "Search"
    INJECTION = "Context for agents"
    BANKS = "Banks"
    CLEANUP = "Clean-up"
    LIMITS = "Limits and pruning"
    ACCESSES = "Access log"
    EVENTS = "Events and webhooks"
    SUMMARIES = "Summaries"
    SESSIONS = "Sessions"
    EXTRACTION = "Extraction"
    DREAMS = "Daily notes and dreams"
    RETENTION = "Retention"
    GUARD = "Error guard"


VAULT = (Level.SYSTEM, Level.VAULT)
BANK = (*VAULT, Level.BANK)
AGENT = (*VAULT, Level.AGENT)
CALL = (*VAULT, Level.AGENT, Level.REQUEST)
WRITE = (*VAULT, Level.BANK, Level.AGENT, Level.REQUEST)


def key(default: Any, group: Group, meaning: str, levels: tuple[Level, ...] = VAULT, **bounds: Any) -> Any:
    """A live setting."""
    extra = {"group": group, "levels": levels, "planned": bounds.pop("planned", False)}
    return Field(default, description=meaning, json_schema_extra=extra, **bounds)


def later(default: Any, group: Group, meaning: str, levels: tuple[Level, ...] = VAULT, **bounds: Any) -> Any:
    """One that nothing reads yet."""
    return key(default, group, meaning, levels, planned=True, **bounds)


def share(default: float, group: Group, meaning: str, levels: tuple[Level, ...] = VAULT, **more: Any) -> Any:
    """A number from 0 to 1."""
    return key(default, group, meaning, levels, ge=0.0, le=1.0, **more)


def weight(default: float, what: str) -> Any:
    """How much a part of the profile ``balanced`` counts; fitted by ``manage.py bench recall --fit``."""
    return key(default, Group.SEARCH, f"Weight in a balanced search: {what}.", CALL, ge=0.0, le=10.0)


def ranked(default: float, what: str) -> Any:
    """The same for the profile ``seed``."""
    return key(default, Group.SEARCH, f"Weight in profile seed: {what}.", CALL, ge=0.0, le=10.0)
