"""How far a memory is believed: a function of where it came from, never of what it says."""

from __future__ import annotations

from memories.rules.vocabulary import TRUST_OF_SOURCE, ActorKind, SourceKind, Status, Trust


def default_source(actor_kind: str) -> SourceKind:
    """People state; agents infer."""
    return SourceKind.USER_STATED if actor_kind == ActorKind.USER else SourceKind.AGENT_INFERRED


def lower(left: Trust, right: Trust) -> Trust:
    """The less believed of two, as for anything derived from both."""
    return min(left, right, key=lambda trust: trust.rank)


def trust_of(source: SourceKind, ceiling: Trust = Trust.VERIFIED) -> Trust:
    """What a source is worth, at most what its agent is allowed to claim."""
    return lower(TRUST_OF_SOURCE[source], ceiling)


def first_status(asked: Status | None, trust: Trust, draft_threshold: Trust) -> Status:
    """Below the vault's threshold a person looks first; else what was asked, or accepted (STA-02, CON-10)."""
    if trust.rank < draft_threshold.rank:
        return Status.DRAFT
    return asked or Status.ACCEPTED


def may_supersede(new: Trust, old: Trust) -> bool:
    """An untrusted memory never replaces one that is believed more."""
    return new is not Trust.UNTRUSTED or old is Trust.UNTRUSTED
