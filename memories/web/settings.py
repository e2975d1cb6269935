"""Every setting: what it means, what holds and who says so; changed level by level with plain forms (CFG-02)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from banks.services.agents import list_agents
from banks.services.audit import list_audit
from banks.services.banks import list_banks
from memories.rules.layers import DEFAULT, INFO, SettingInfo, SettingInvalid, canonical_key
from memories.rules.presets import PRESETS
from memories.rules.settings import Group, Level
from memories.rules.settingtext import bounds_of, kind_of, options_of, parsed, typed
from memories.services.settings import held_by, survey_settings, write_setting
from memories.web.actors import names_of
from memories.web.addresses import Address
from memories.web.choices import Choice
from memories.web.forms import spoken
from memories.web.history import in_words
from memoryhub.lib.errors import NotFound
from memoryhub.lib.pages import SeeOther, answer_page, safe_next, say

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    from uuid import UUID

    from django.http import HttpResponse

    from banks.access import Access
    from banks.models import Agent, AuditEntry, Bank, SettingValue
    from memories.web.requests import HubRequest

RECENT = 100
SHOWN_CHANGES = 5


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting with the value that holds."""

    info: SettingInfo
    value: str
    source: str
    is_default: bool
    bounds: str
    levels: str
    url: str


@dataclass(frozen=True, slots=True)
class ChosenValue:
    """What one level says of a setting, with the form that changes it."""

    level: str
    title: str
    target: str
    value: str | None
    field: str
    updated_at: dt.datetime | None
    may_change: bool


@dataclass(frozen=True, slots=True)
class Preset:
    """A set of values to start from."""

    name: str
    values: list[str]
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Lens:
    """For whom the values are shown: the whole vault, one of its banks, one of its agents."""

    bank: Bank | None = None
    agent: Agent | None = None


def settings(request: HubRequest) -> HttpResponse:
    """All of them in groups, those of one group, or those that speak of some words."""
    access = request.access
    banks, agents, rows = list_banks(access, include_hidden=True), list_agents(access), survey_settings(access)
    lens = _lens(request, banks, agents)
    here = Address(
        request.path, tuple((name, request.GET[name]) for name in ("bank", "agent") if request.GET.get(name))
    )
    words = request.GET.get("q", "").strip()[:100]
    groups = _groups(access, rows, lens, words)
    context = {
        "groups": groups,
        "count": sum(len(group["lines"]) for group in groups),
        "q": words,
        "kept": here.values,
        "lens": lens,
        "lenses": [
            Choice("The whole vault", request.path, selected=lens == Lens()),
            *(
                Choice(f"Bank {one.name}", str(Address(request.path).having(bank=one.slug)), selected=one == lens.bank)
                for one in banks
            ),
            *(
                Choice(
                    f"Agent {one.name}",
                    str(Address(request.path).having(agent=str(one.pk))),
                    selected=one == lens.agent,
                )
                for one in agents
            ),
        ],
        "presets": _presets(access, rows),
        "preset_url": reverse("change_setting", args=["preset"]),
        "may_change": access.has(KeyScope.SETTINGS_ADMIN),
        "changes": _changes(access),
    }
    return answer_page(request, "memories/settings.html", context)


def _lens(request: HubRequest, banks: Sequence[Bank], agents: Sequence[Agent]) -> Lens:
    bank = next((one for one in banks if one.slug == request.GET.get("bank")), None)
    agent = next((one for one in agents if str(one.pk) == request.GET.get("agent")), None)
    return Lens(bank, None if bank else agent)


def _groups(access: Access, rows: Sequence[SettingValue], lens: Lens, words: str) -> list[dict[str, Any]]:
    held = held_by(access, rows, lens.bank.pk if lens.bank else None, lens.agent.pk if lens.agent else None)
    groups: dict[Group, list[SettingLine]] = {}
    wanted = words.casefold().split()
    for key, info in INFO.items():
        told = f"{key} {key.replace('_', ' ')} {info.description} {info.group.value}".casefold()
        if all(word in told for word in wanted):
            value, source = held[key]
            line = SettingLine(
                info=info,
                value=in_words(value),
                source=source,
                is_default=source == DEFAULT,
                bounds=bounds_of(info),
                levels=", ".join(level.value for level in info.levels),
                url=reverse("setting", args=[key]),
            )
            groups.setdefault(info.group, []).append(line)
    return [
        {"title": group.value, "id": group.name.lower(), "lines": groups[group]} for group in Group if group in groups
    ]


def _presets(access: Access, rows: Sequence[SettingValue]) -> list[Preset]:
    chosen = held_by(access, rows, None, None)["preset"].value
    return [
        Preset(name, [f"{key} {in_words(value)}" for key, value in values.items()], name == chosen)
        for name, values in PRESETS.items()
    ]


def _changes(access: Access) -> list[tuple[AuditEntry, str]]:
    """Who changed settings lately; for whoever may read the audit."""
    if not access.has(KeyScope.OPS_READ):
        return []
    entries = [one for one in list_audit(access, RECENT) if one.action == "write_setting"][:SHOWN_CHANGES]
    who = names_of(access, {(one.actor_kind, one.actor_id) for one in entries})
    return [(one, who((one.actor_kind, one.actor_id))) for one in entries]


def setting(request: HubRequest, key: str) -> HttpResponse:
    """One setting: what it means, what every level says of it, and a form for each."""
    return _page(request, _known(key))


def _page(request: HubRequest, info: SettingInfo, refused: SettingInvalid | None = None) -> HttpResponse:
    """With what was ``refused`` beside what was typed."""
    access, at = request.access, request.POST.get("at", "")
    rows = [row for row in survey_settings(access) if row.key == info.key or row.key == "preset"]
    held = held_by(access, rows, None, None)[info.key]
    banks = list_banks(access, include_hidden=True) if Level.BANK in info.levels else []
    agents = list_agents(access) if Level.AGENT in info.levels else []
    context = {
        "info": info,
        "kind": kind_of(info.key),
        "options": options_of(info.key),
        "bounds": bounds_of(info),
        "default": in_words(info.default),
        "value": in_words(held.value),
        "source": held.source,
        "is_default": held.source == DEFAULT,
        "chosen": _chosen(access, info, [row for row in rows if row.key == info.key], {"bank": banks, "agent": agents}),
        "targets": [
            *(("bank", one.slug, one.name, at == f"bank:{one.slug}") for one in banks),
            *(("agent", str(one.pk), one.name, at == f"agent:{one.pk}") for one in agents),
        ],
        "field": ",".join(request.POST.getlist("value")) if refused else typed(held.value),
        "errors": [one.detail for one in refused.errors] or [refused.message] if refused else [],
        "may_change": access.has(KeyScope.SETTINGS_ADMIN),
        "can_request": Level.REQUEST in info.levels and not info.planned,
    }
    return answer_page(request, "memories/setting.html", context, status=422 if refused else 200)


def _known(key: str) -> SettingInfo:
    try:
        return INFO[canonical_key(key)]
    except SettingInvalid:
        raise NotFound("There is no such setting.") from None


def _chosen(
    access: Access, info: SettingInfo, rows: Sequence[SettingValue], named: dict[str, Any]
) -> list[ChosenValue]:
    """System and vault always, banks and agents where something is said of them."""
    may_change = access.has(KeyScope.SETTINGS_ADMIN)
    stored = {(row.level, row.target): row for row in rows}
    places: list[tuple[Level, UUID | None, str, str]] = [
        (Level.SYSTEM, None, "The whole hub", ""),
        (Level.VAULT, None, "This vault", ""),
    ]
    for level in (Level.BANK, Level.AGENT):
        for one in named[level.value]:
            if (level.value, one.pk) in stored:
                places.append((level, one.pk, f"{spoken(level.value)} {one.name}", str(one.pk)))
    return [
        _place(stored.get((level.value, target)), level, title, text, may_change=may_change and level != Level.SYSTEM)
        for level, target, title, text in places
        if level in info.levels
    ]


def _place(row: SettingValue | None, level: Level, title: str, target: str, *, may_change: bool) -> ChosenValue:
    return ChosenValue(
        level=level.value,
        title=title,
        target=target,
        value=in_words(row.value) if row else None,
        field=typed(row.value) if row else "",
        updated_at=row.updated_at if row else None,
        may_change=may_change,
    )


@require_POST
def change(request: HubRequest, key: str) -> HttpResponse:
    """Set one value at one level, or take it back."""
    info, said = _known(key), request.POST
    level, _, target = said.get("at", "vault").partition(":")
    if level not in set(Level):
        raise SettingInvalid("That form names no level; open the page again.")
    is_reset = "reset" in said
    text = ",".join(said.getlist("value")) if kind_of(info.key) == "list" else said.get("value", "")
    try:
        value = None if is_reset else parsed(info.key, text)
        held = write_setting(request.access, Level(level), info.key, value, target or None)
    except SettingInvalid as refused:
        return _page(request, info, refused)
    done = "Taken back" if is_reset else "Set"
    say(request, f"{done}: {info.key} is {in_words(held.value)} now, by {held.source}.")
    return SeeOther(safe_next(request, reverse("setting", args=[info.key])))
