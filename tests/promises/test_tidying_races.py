"""A clean-up, its undoing, edits and erasures all at once: nothing lost, nothing twice, nothing without a reason."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from banks.access import Access
from banks.models import AuditEntry, Vault
from memories.models import ChangesetItem, CleanupPlanItem, Embedding, Job, Memory, MemoryIndex, Revision
from memories.rules.cleanupwishes import CleanupWish
from memories.rules.drafts import MemoryChanges
from memories.rules.undoing import Refusal
from memories.services import applying
from memories.services.applying import apply_plan
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.lifecycle import archive_memory
from memories.services.plans import create_plan, get_plan
from memories.services.running import run_job
from memories.services.undoing import undo_changeset
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, HubError, NotFound
from tests.factories import operator, remember
from tests.racing import together

pytestmark = pytest.mark.django_db(transaction=True)
MANY, ROUNDS = 48, 24
type Said = dict[UUID, list[str]]


def editing(vault: Vault, ids: list[UUID], seed: int, said: Said) -> Callable[[], None]:
    """Texts, labels and protection changed at random; what a text was set to is noted once it is committed."""

    def run() -> None:
        access = operator(vault)
        dice = random.Random(seed)
        for turn in range(ROUNDS):
            target = dice.choice(ids)
            changes: dict[str, Any] = dice.choice(
                [
                    {"content": f"Edited by {seed} in turn {turn}."},
                    {"importance": dice.randint(1, 5)},
                    {"is_protected": True},
                ]
            )
            try:
                done = update_memory(access, target, MemoryChanges.parse(changes))
            except NotFound:
                continue  # erased meanwhile
            if "content" in changes and done.content == changes["content"]:
                said.setdefault(target, []).append(changes["content"])

    return run


def moving(vault: Vault, ids: list[UUID], seed: int) -> Callable[[], None]:
    def run() -> None:
        access = operator(vault)
        dice = random.Random(seed)
        for _ in range(ROUNDS):
            try:
                archive_memory(access, dice.choice(ids), archived=dice.random() < 0.5, reason="at random")
            except (NotFound, Conflict):
                continue

    return run


def erasing(vault: Vault, ids: list[UUID]) -> Callable[[], None]:
    def run() -> None:
        access = operator(vault)
        for target in ids:
            erase_memory(access, target)

    return run


def undoing(vault: Vault, changeset_id: UUID) -> Callable[[], None]:
    def run() -> None:
        access = operator(vault)
        for _ in range(4):
            try:
                undo_changeset(access, changeset_id)
            except HubError as error:
                assert error.code in {"changeset_growing", "changeset_undone", "not_found"}

    return run


def whole(ids: list[UUID], erased: set[UUID], said: Said) -> None:
    """Every version is kept once, told of in the audit once, and holds every text that somebody was told was saved."""
    for target in ids:
        memory = Memory.objects.filter(pk=target).first()
        kept = list(Revision.objects.filter(memory_id=target).order_by("version"))
        if target in erased:
            left = [
                one.objects.filter(memory_id=target).count()
                for one in (Revision, ChangesetItem, Embedding, MemoryIndex)
            ]
            assert (memory, left) == (None, [0, 0, 0, 0])
            assert AuditEntry.objects.filter(target_id=target, action="erase_memory").count() == 1
            continue
        assert memory is not None
        assert [one.version for one in kept] == list(range(1, memory.version))
        told = AuditEntry.objects.filter(target_kind="memory", target_id=target, version_after__isnull=False)
        versions = told.order_by("version_after").values_list("version_after", flat=True)
        assert list(versions) == list(range(1, memory.version + 1))
        texts = {memory.content, *(one.before["content"] for one in kept)}
        assert texts.issuperset(said.get(target, [])), "an edit was lost"


@pytest.mark.parametrize("seed", range(3))
def test_applying_undoing_editing_and_erasing_at_once(access: Access, monkeypatch: pytest.MonkeyPatch, seed: int):
    """CLN-01, PRN-14, DESIGN §7: whoever comes first wins, whoever comes second is told, and every step is kept."""
    monkeypatch.setattr(applying, "BATCH", 6)
    old = {
        "created_at": (now() - dt.timedelta(days=60)).isoformat(),
        "type": "episodic",
        "importance": 2,
        "dedup": False,
    }
    vault = access.vault
    ids = [UUID(str(remember(access, f"Episode {number} of {seed}.", **old).pk)) for number in range(MANY)]
    dice = random.Random(seed)
    gone = dice.sample(ids, 8)
    said: Said = {}
    plan = create_plan(access, CleanupWish())
    started = apply_plan(access, plan.pk, plan.count, plan.plan_hash, confirm_large=True)
    changeset_id, job_id = UUID(str(started.changeset_id)), UUID(str(started.job_id))
    calls: list[Callable[[], Any]] = [lambda: run_job(job_id), undoing(vault, changeset_id), moving(vault, ids, seed)]
    calls += [editing(vault, ids, 10 * seed + number, said) for number in range(2)] + [erasing(vault, gone[:4])]
    assert [one for one in together(calls) if isinstance(one, Exception)] == []
    whole(ids, set(gone[:4]), said)
    assert Job.objects.get(pk=job_id).state == "done"
    assert get_plan(access, plan.pk).state in {"applied", "undone"}
    assert not CleanupPlanItem.objects.filter(plan_id=plan.pk, outcome="").exists()

    more = [undoing(vault, changeset_id), undoing(vault, changeset_id), moving(vault, ids, seed + 90)]
    more += [editing(vault, ids, 100 + seed, said), erasing(vault, gone[4:])]
    assert [one for one in together(more) if isinstance(one, Exception)] == []
    whole(ids, set(gone), said)
    for item in ChangesetItem.objects.filter(changeset_id=changeset_id):
        assert item.undone_at is not None or item.refused in set(Refusal), "neither undone nor told why not"
    for memory in Memory.objects.filter(pk__in=ids):
        undone = ChangesetItem.objects.filter(
            changeset_id=changeset_id, memory=memory, undone_at__isnull=False
        ).exists()
        assert not (undone and memory.archived and str(memory.archived_reason).startswith("clean-up"))
