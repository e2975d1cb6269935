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


def trust_of_writer(actor_kind: str, ceiling: Trust = Trust.VERIFIED) -> Trust:
    """What somebody's own words are worth when they rewrite a memory; the hub itself changes nothing about it."""
    if actor_kind == ActorKind.SYSTEM:
        return Trust.VERIFIED
    return trust_of(default_source(actor_kind), ceiling)


def first_status(asked: Status | None, trust: Trust, draft_threshold: Trust) -> Status:
    """Below the vault's threshold a person looks first; else what was asked, or accepted (STA-02, CON-10)."""
    if trust.rank < draft_threshold.rank:
        return Status.DRAFT
    return asked or Status.ACCEPTED


def may_supersede(new: Trust, old: Trust) -> bool:
    """An untrusted memory never replaces one that is believed more."""
    return new is not Trust.UNTRUSTED or old is Trust.UNTRUSTED


def may_rewrite(writer: Trust, current: Trust, threshold: Trust) -> bool:
    """Whether new content from such a writer may stand where believed content stood, under the vault's threshold.

    Otherwise an untrusted agent would reach recall through an edit that its own writes may not.
    """
    return may_supersede(writer, current) and (writer.rank >= current.rank or writer.rank >= threshold.rank)
