"""Two vaults with one of everything, to ask every route about."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import pytest

from banks.access import Access
from banks.models import Vault
from banks.services.agents import create_agent
from banks.services.banks import create_bank
from banks.services.drafts import AgentDraft, BankDraft
from memories.models import Job
from memories.services.erasing import erase_memory
from memories.services.plans import create_plan
from memoryhub.lib import ids
from tests import factories

UNKNOWN = "01890000-0000-7000-8000-000000000000"


def one_of_everything(access: Access) -> dict[str, str]:
    """Name → id."""
    memory = factories.remember(access, "Something to ask about.")
    successor = factories.remember(access, "Something newer.")
    webhook = factories.make_webhook(access)
    return {
        "webhook": str(webhook.pk),
        "delivery": str(webhook.deliveries.get().pk),
        "memory": str(memory.pk),
        "successor": str(successor.pk),
        "plan": str(create_plan(access).pk),
        "changeset": str(factories.archive_together(access, "Something old.").pk),
        "pair": str(factories.make_pair(memory, successor).pk),
        "dream": str(factories.dreamt_of(access, memory).pk),
        "bank": str(create_bank(access, BankDraft(name="Attic")).pk),
        "agent": str(create_agent(access, AgentDraft(name="Clerk")).pk),
        "key": str(factories.make_key(access)[0].pk),
        "job": str(Job.objects.create(vault=access.vault, kind="embed_memories", state="dead").pk),
        "receipt": str(erase_memory(access, factories.remember(access, "Something erased.").pk).pk),
        "import": str(factories.make_import(access).pk),
        "session": factories.converse(access, str(ids.new_id()), "Something said.").sid,
    }


@dataclass(frozen=True)
class Furnished:
    """A vault with one of everything, which the tests of a module have one after the other."""

    vault: Vault
    ids: dict[str, str]

    @classmethod
    def make(cls, name: str) -> Furnished:
        vault = factories.make_vault(name)
        return cls(vault, one_of_everything(factories.operator(vault)))

    def lent(self) -> Vault:
        """As it was made. Its configuration never has the version it had in an earlier test, where it was another."""
        Vault.objects.filter(pk=self.vault.pk).update(config_version=next(_versions))
        return Vault.objects.get(pk=self.vault.pk)


_versions = count(1_000_000, 1_000)


@pytest.fixture(scope="module")
def furnished(common_ground: None) -> Furnished:
    """The vault of tests that ask for ``own``."""
    return Furnished.make("Furnished")


@pytest.fixture(scope="module")
def other_furnished(common_ground: None) -> Furnished:
    """The other vault of tests that ask for ``foreign``."""
    return Furnished.make("Furnished elsewhere")


@pytest.fixture
def vault(request: pytest.FixtureRequest, db: None) -> Vault:
    """The vault most tests happen in: empty, but for tests that ask for ``own``."""
    if "own" in request.fixturenames:
        lent: Vault = request.getfixturevalue("furnished").lent()
        return lent
    return factories.make_vault("Home")


@pytest.fixture
def other_vault(request: pytest.FixtureRequest, db: None) -> Vault:
    """A vault nobody of the first one may know of: empty, but for tests that ask for ``foreign``."""
    if "foreign" in request.fixturenames:
        lent: Vault = request.getfixturevalue("other_furnished").lent()
        return lent
    return factories.make_vault("Elsewhere")


@pytest.fixture
def own(furnished: Furnished, access: Access) -> dict[str, str]:
    """One of everything in the key's vault."""
    return dict(furnished.ids)


@pytest.fixture
def foreign(other_furnished: Furnished, other_access: Access) -> dict[str, str]:
    """One of everything in another vault."""
    return dict(other_furnished.ids)


@pytest.fixture
def unknown() -> dict[str, str]:
    """Well-formed ids of nothing."""
    return dict.fromkeys(
        (
            *("memory", "successor", "pair", "bank", "agent", "key", "job", "session", "webhook", "delivery"),
            *("changeset", "plan", "receipt", "import", "dream"),
        ),
        UNKNOWN,
    )


@pytest.fixture
def back_from_the_future(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids made while travelling ahead would keep all later ones there, for their clock never runs backwards."""
    monkeypatch.setattr(ids, "_last_ticks", ids._last_ticks)
