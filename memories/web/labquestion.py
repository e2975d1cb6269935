"""From the address of the recall lab to a search. An address nobody can mean is answered, not refused."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memories.models.effective import opened_settings
from memories.rules.filters import SearchMode, SearchQuery
from memories.rules.layers import INFO, SettingInfo, check_setting
from memories.rules.querylanguage import parse
from memories.rules.settings import Group, Level
from memories.rules.vocabulary import MemoryType
from memories.web.addresses import Address
from memories.web.forms import spoken
from memoryhub.lib.errors import Invalid
from memoryhub.lib.pages import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banks.access import Access
    from banks.models import Bank

SHARED = ("q", "bank", "type", "archived", "as_of")
#: Options of a request that are bounded like the setting of the same meaning.
OPTIONS: Mapping[str, str] = {"top_k": "search_top_k", "max_tokens": "context_max_tokens"}
#: Everything else of a search that a single request may set.
SETTINGS: Mapping[str, SettingInfo] = {
    key: info
    for key, info in INFO.items()
    if info.group == Group.SEARCH and Level.REQUEST in info.levels and not info.planned and key not in OPTIONS.values()
}
TUNED = (*OPTIONS, *SETTINGS)
FIRST = (*OPTIONS, "search_profile", "search_threshold", "min_trust", "candidate_limit")
LABELS = {
    "top_k": "Results",
    "max_tokens": "Tokens at most",
    "min_trust": "Least trust",
    "candidate_limit": "Candidates of each leg",
    "decay_half_life_days": "Half-life in days",
    "mmr_lambda": "Variety (MMR λ)",
}
HINTS = {"max_tokens": "How long the answer may be, in estimated tokens."}
#: Fields of a search → what the page calls them.
PLACES = {"query": "The question", "q": "The conditions", "banks": "The banks"}
NUMBER = re.compile(r"-?\d+(\.\d+)?")
OTHER = "other."
WHY = "why"
NAMES = (*SHARED, *TUNED, *(OTHER + name for name in TUNED), WHY)


@dataclass(frozen=True, slots=True)
class Option:
    """A value to choose."""

    value: str
    label: str
    selected: bool


@dataclass(frozen=True, slots=True)
class Knob:
    """One parameter as a field; empty means: as it is set for the vault, which ``usual`` says."""

    name: str
    is_first: bool
    label: str
    hint: str
    value: str
    usual: str
    options: list[Option]
    minimum: str
    maximum: str
    step: str

    @property
    def kind(self) -> str:
        """The input's type: what is no number can be shown, to be corrected, in a field of text only."""
        return "number" if not self.value or NUMBER.fullmatch(self.value) else "text"


@dataclass(frozen=True, slots=True)
class Asking:
    """What the address asks for: one search, or two to compare; what of it meant nothing."""

    address: Address
    text: str
    left: SearchQuery | None
    right: SearchQuery | None
    left_out: list[str] = field(default_factory=list)
    #: Why nothing was searched although there is a question; empty where something was.
    refused: str = ""


def asked_of_lab(address: Address, banks: Sequence[Bank], mode: SearchMode) -> Asking:
    """Never raises: values that cannot be are left out and named."""
    left_out: list[str] = []
    text = address.first("q")
    shared = _shared(address, banks, left_out)
    tuned = [_tuned(address, prefix, left_out) for prefix in ("", OTHER)]
    question = question_in(text)
    if not question:
        return Asking(address, text, None, None, left_out)
    searches = []
    for values in (tuned[0], {**tuned[0], **tuned[1]} if tuned[1] else None):
        if values is None:
            continue
        settings = {key: value for key, value in values.items() if key not in OPTIONS}
        options = {key: value for key, value in values.items() if key in OPTIONS}
        asked = {"query": question, "q": conditions_in(text), "mode": mode, "settings": settings, **options, **shared}
        try:
            searches.append(SearchQuery.parse(asked))
        except Invalid as error:
            return Asking(address, text, None, None, left_out, in_words(error, PLACES))
    return Asking(address, text, searches[0], searches[1] if len(searches) > 1 else None, left_out)


def question_in(text: str) -> str:
    """What is to be ranked: the plain words; phrases count as words too."""
    query = parse(text)
    said = sorted((part for part in (*query.words, *query.phrases) if not part.negated), key=lambda part: part.start)
    return " ".join(part.text for part in said).strip()


def conditions_in(text: str) -> str:
    """The same text with spaces for its plain words, so that a mistake keeps its place."""
    blanked = list(text)
    for word in parse(text).words:
        if not word.negated:
            blanked[word.start : word.end] = " " * (word.end - word.start)
    return "".join(blanked) if "".join(blanked).strip() else ""


def _shared(address: Address, banks: Sequence[Bank], left_out: list[str]) -> dict[str, Any]:
    known = {bank.slug: bank.name for bank in banks}
    left_out += [f"Bank “{slug}”" for slug in address.all("bank") if slug not in known]
    left_out += [f"Type “{name[:40]}”" for name in address.all("type") if name not in set(MemoryType)]
    named: dict[str, Any] = {
        "banks": [known[slug] for slug in address.all("bank") if slug in known],
        "type": [MemoryType(name) for name in address.all("type") if name in set(MemoryType)],
    }
    shared = {name: values for name, values in named.items() if values}
    if address.first("archived"):
        shared["include_archived"] = True
    if as_of := address.first("as_of"):
        try:
            shared["as_of"] = SearchQuery.parse({"query": "then", "as_of": f"{as_of}Z"}).as_of
        except Invalid as error:
            left_out.append(f"As of “{as_of[:40]}” ({error.errors[0].detail})")
    return shared


def _tuned(address: Address, prefix: str, left_out: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in TUNED:
        if raw := address.first(prefix + name):
            try:
                values[name] = _value(name, raw)
            except (ValueError, Invalid) as error:
                told = error.errors[0].detail if isinstance(error, Invalid) and error.errors else "not a number"
                left_out.append(f"{label_of(name)} “{raw[:40]}” ({told.partition(': ')[2] or told})")
    return values


def _value(name: str, raw: str) -> Any:
    key = OPTIONS.get(name, name)
    default = INFO[key].default
    return check_setting(key, raw if isinstance(default, str) else type(default)(raw), Level.REQUEST)


def label_of(name: str) -> str:
    """The parameter in words."""
    return LABELS.get(name) or spoken(name.removeprefix("search_").removesuffix("_weight"))


def knobs_of(access: Access, address: Address, prefix: str = "") -> list[Knob]:
    """Every parameter as a field, in the order of the settings."""
    usual = opened_settings(access)
    return [_knob(name, prefix, address, usual) for name in TUNED]


def _knob(name: str, prefix: str, address: Address, usual: Mapping[str, Any]) -> Knob:
    info = INFO[OPTIONS.get(name, name)]
    held = "none" if name == "max_tokens" else str(usual[info.key])
    value = address.first(prefix + name) or (address.first(name) and "" if prefix else "")
    whole = isinstance(info.default, int)
    return Knob(
        name=prefix + name,
        is_first=name in FIRST,
        label=label_of(name),
        hint=HINTS.get(name)
        or info.description.removeprefix("Weight in a balanced search: ").removeprefix("Profile seed: "),
        value=value,
        usual=(address.first(name) or held) if prefix else held,
        options=[Option(choice, spoken(choice), choice == value) for choice in info.choices],
        minimum="" if info.minimum is None else f"{info.minimum:g}",
        maximum="" if info.maximum is None else f"{info.maximum:g}",
        step="1" if whole else "any",
    )
