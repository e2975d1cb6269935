"""Every page in narrow and wide windows, full of what should never be markup: nothing sticks out, nothing complains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from banks.access import Access
from banks.models import Vault
from banks.services.agents import create_agent
from banks.services.banks import create_bank
from banks.services.drafts import AgentDraft, BankDraft
from memories.models import Job, Session, Webhook
from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupwishes import CleanupWish
from memories.rules.drafts import MemoryChanges
from memories.services.editing import update_memory
from memories.services.plans import create_plan
from tests.clusters import old as old_memories
from tests.clusters import summarise
from tests.e2e.conftest import Tab
from tests.factories import archive_together, converse, dreamt_of, make_key, make_pair, make_webhook, remember

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

AXE = (Path(__file__).parent / "vendor/axe/axe.min.js").read_text()
EVIL = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{ 7*7 }}</textarea></title><b hx-get=/ hx-trigger=load>"
)
LONG = "https://example.org/" + "endless" * 40
#: The narrowest; and where the navigation, the columns of tables and all of it begin to stand side by side.
WIDTHS = (320, 720, 1020, 1280)


SIMPLE = [
    *("settings/", "settings/?q=nothing+<b>", "settings/dedup/", "settings/cleanup_rules/"),
    *("connect/", "connect/?way=python", "connect/call/", "activity/?door=user", "activity/?request=none"),
    *("activity/", "activity/model-calls/", "activity/erasures/", "memories/none/"),
]


def hooks(access: Access) -> list[str]:
    """The pages of a webhook with a nasty name."""
    hook = make_webhook(access)
    Webhook.objects.filter(pk=hook.pk).update(name=EVIL[:100])
    return ["webhooks/", f"webhooks/{hook.pk}/"]


@pytest.fixture
def pages(access: Access) -> list[str]:
    """Addresses of every page of a vault whose every field holds something nasty."""
    old = remember(access, EVIL + " once", entities=[EVIL], tags=["<b>tag"], session_id=EVIL, user_id=EVIL)
    memory = remember(
        access, EVIL, supersedes=str(old.pk), agent_id=EVIL, fact_key=EVIL, extra={EVIL: EVIL}, task_id=EVIL,
        external_write_id=EVIL, type="episodic", importance=1, created_at="2025-01-01T00:00:00Z",
    )  # fmt: skip
    update_memory(access, memory.pk, MemoryChanges(content=EVIL + " again", tags=["<i>"], reason=EVIL))
    remember(access, LONG, status="draft", tags=["t" * 64])
    remember(access, EVIL + " maybe", status="draft", session_id=EVIL, agent_id=EVIL)
    more, less = (remember(access, f"{EVIL} is {age}.", dedup=False) for age in (30, 31))
    make_pair(more, less, differences=["number", "negation"])
    make_pair(memory, more, kind="contradiction")
    create_bank(access, BankDraft(name="W" * 50, description=LONG))
    Vault.objects.filter(pk=access.vault_id).update(name="V" * 100)
    agent = create_agent(access, AgentDraft(name=EVIL[:100], description=LONG, default_bank="W" * 50))
    key, _ = make_key(access, name=EVIL[:100])
    job = Job.objects.create(
        vault=access.vault, kind="embed_memories", state="running", done=1, total=3, error=LONG, stage="<b>"
    )
    turns: list[Any] = [
        EVIL,
        {"role": "ai", "content": LONG, "tool_calls": [{"id": "a", "name": EVIL[:200], "arguments": EVIL}]},
    ]
    session = converse(access, EVIL[:255].replace("/", ""), *turns, user_id=EVIL, task_id=EVIL)
    Session.objects.filter(pk=session.pk).update(summarized_through=1)
    for user in ("once", "again"):  # one cluster that was summarised and one that waits
        old_memories(access, *(f"{EVIL} is {age}, see {LONG}." for age in (40, 41, 42)), user_id=user, tags=["<b>old"])
        if user == "once":
            summarise(access)
    one, other = f"memories/{memory.pk}/", f"memories/{old.pk}/"
    lists = [
        "memories/",
        "memories/?q=script&type=fact&age=7d",
        "memories/?status=any&archived=any",
        "memories/?q=none",
        "memories/?q=banc%3A%3Cb%3E+created%3A" + "endless" * 40 + "+-tag%3A%3Ci%3E+script",
    ]
    lab = "recall/?q="
    labs = ["recall/", f"{lab}script", f"{lab}bank:work", f"{lab}endless+%3Cb%3E+banc:x&top_k=x&other.top_k=2"]
    places = ["", *hooks(access), *lists, *labs, "memories/new/", one, f"{one}edit/", f"{one}erase/", other]
    plan = create_plan(access, CleanupWish.parse({"rules": list(CleanupRule), "query": "archived:any"}))
    changed = archive_together(access, EVIL + " one", LONG + " two")
    bank = "banks/work/"
    places += ["banks/", "banks/#new", bank, f"{bank}retention/?look=1", f"{bank}try/", "system/", "system/shred/"]
    places += ["agents/", "agents/#new", f"agents/{agent.pk}/", "keys/", "keys/#new", f"keys/{key.pk}/"]
    places += ["jobs/", f"jobs/{job.pk}/", "migrations/", "transfer/", "summaries/"]
    places += ["activity/changesets/", f"changesets/{changed.pk}/"]
    places += ["cleanup/", f"cleanup/plans/{plan.pk}/", f"cleanup/plans/{plan.pk}/?view=alike"]
    places += ["sessions/", f"sessions/{session.pk}/?max_rounds=x", "sessions/?user_id=nobody"]
    dream = dreamt_of(access, remember(access, f"{EVIL} of old {LONG}", confidence=5))
    dreamt_of(access, remember(access, f"{EVIL} twice", confidence=5))
    dreams = "summaries/dreams/"
    places += ["summaries/daily/", "summaries/core/", "summaries/core/2/", dreams, f"{dreams}{dream.pk}/"]
    places += ["review/", "review/?source_kind=agent_inferred", "review/duplicates/", "review/contradictions/"]
    places += ["?period=24h&clock=created", "?period=90d&clock=mentioned&stage=rank", "palette/", "palette/?q=script"]
    of_memory = ["near/", "raw/", "connections/", "connections/?steps=2", "?list=&left=1&right=2"]
    places += [f"{one}{part}" for part in of_memory]
    places += SIMPLE
    return [f"/{place}" for place in places]


def outcome(tab: Tab) -> list[str]:
    """What axe finds in the narrowest window, and in which windows the page is wider than they are."""
    tab.page.evaluate(AXE)
    found = tab.page.evaluate("axe.run().then(result => result.violations.map(v => v.id + ': ' + v.nodes[0].html))")
    for width in reversed(WIDTHS):
        tab.page.set_viewport_size({"width": width, "height": 800})
        wider = tab.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        found += [f"{wider} px too wide for {width}"] if wider > 0 else []
    return list(found)


@pytest.mark.slow
def test_every_page_fits_its_window_whatever_was_written(open_tab: Callable[..., Tab], owner: User, pages: list[str]):
    """UI: with the longest words there are in every field, from 320 px up."""
    tab = open_tab(viewport={"width": WIDTHS[0], "height": 800}, color_scheme="light")
    faults: dict[str, list[str]] = {}
    tab.open("/accounts/login/")
    faults["login"] = outcome(tab)
    tab.sign_in(owner)
    for address in pages:
        tab.open(address)
        faults[address] = outcome(tab)
    assert {address: found for address, found in faults.items() if found} == {}
    assert [text for text in tab.complaints if "404" not in text] == []
