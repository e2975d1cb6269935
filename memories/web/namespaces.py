"""Which namespace a page shows, and the links to the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.search.notes import DEFAULT, list_namespaces
from memories.web.addresses import Address, address_of
from memories.web.choices import Choice

if TYPE_CHECKING:
    from memories.web.requests import HubRequest


@dataclass(frozen=True, slots=True)
class InNamespace:
    """The namespace asked for, and a link to this page for each there is; no links where there is only one."""

    namespace: list[str]
    choices: list[Choice]

    def at(self, path: str) -> Address:
        """An address of another page about the same namespace."""
        return in_namespace(path, self.namespace)


def asked_namespace(request: HubRequest) -> InNamespace:
    """From ``?namespace=a&namespace=b``; the default one when none is named."""
    asked = address_of(request.path, request.GET, ["namespace"]).all("namespace") or list(DEFAULT)
    there = list_namespaces(request.access)
    if len(there) == 1 and asked == list(DEFAULT) and "namespace" not in request.GET:
        asked = there[0]
    known = there if asked in there else [*there, asked]
    choices = [Choice(" / ".join(one), str(in_namespace(request.path, one)), selected=one == asked) for one in known]
    return InNamespace(asked, choices if len(choices) > 1 else [])


def in_namespace(path: str, namespace: list[str]) -> Address:
    """The address of a page about that namespace; the default one needs no name."""
    return Address(path, () if namespace == list(DEFAULT) else tuple(("namespace", part) for part in namespace))
