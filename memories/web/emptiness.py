"""Why nothing stands on a list: which of its conditions took most away, and where the list without it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.rules.queryedits import parsed
from memories.rules.querytext import without
from memories.search.tally import count_without

if TYPE_CHECKING:
    from collections.abc import Iterable

    from banks.access import Access
    from memories.search.filtering import Conditions
    from memories.web.addresses import Address
    from memories.web.choices import Chip

SHOWN = 3
#: A name in the address → the filter it stands for.
_FILTERS = {"age": "created", "created_after": "created", "created_before": "created"}
_CREATED = ("age", "created_after", "created_before")
_STANDING = ("status", "archived")


@dataclass(frozen=True, slots=True)
class Blame:
    """A condition, how many would be there without it, and where."""

    label: str
    count: int
    url: str


def blame(access: Access, here: Address, given: Conditions, chips: Iterable[Chip]) -> list[Blame]:
    """The conditions without which something is there, the one that hides most first."""
    labels: dict[str, list[str]] = {}
    for chip in chips:
        labels.setdefault(_FILTERS.get(chip.name, chip.name), []).append(chip.label)
    found: list[tuple[str, tuple[str, ...], str]] = []
    for name, said in labels.items():
        if name not in {"q", "standing"}:
            names = _CREATED if name == "created" else (name,)
            found.append((", ".join(said), (name,), str(here.without(*names))))
    found += _of_the_text(here)
    if "standing" in labels:
        found.append((labels["standing"][0], _STANDING, str(here.without(*_STANDING))))
    else:
        anywhere = here.having(status="any", archived="any")
        found.append(("Active: drafts, archived and replaced ones are hidden", _STANDING, str(anywhere)))
    counts = count_without(access, given, [filters for _, filters, _ in found])
    blamed = [Blame(label, count, url) for (label, _, url), count in zip(found, counts, strict=True) if count]
    return sorted(blamed, key=lambda one: -one.count)[:SHOWN]


def _of_the_text(here: Address) -> list[tuple[str, tuple[str, ...], str]]:
    """The words, and the conditions of each field; all of it at once where phrases were looked for."""
    text = here.first("q")
    query = parsed(text)
    if not text:
        return []
    if query.phrases:
        return [(f"“{text}”", ("q",), str(here.without("q")))]
    found: list[tuple[str, tuple[str, ...], str]] = []
    for field in dict.fromkeys(term.field for term in query.terms):
        terms = [term for term in query.terms if term.field == field]
        said = " ".join(text[term.start : term.end] for term in terms)
        found.append((said, (f"q:{field}",), str(here.having(q=without(text, *terms)))))
    if query.words:
        said = " ".join(text[word.start : word.end] for word in query.words)
        found.append((f"“{said}”", ("q",), str(here.having(q=without(text, *query.words)))))
    return found
