"""The audit in lines: what was done together is one, nothing is lost between two pages, and one request shows all."""

from __future__ import annotations

from banks.access import Access
from banks.models import AuditEntry
from banks.services.audit import Audited, AuditFilter, record_audit
from banks.services.auditlines import AuditLine, list_audit_lines
from memories.services.undoing import undo_changeset
from memories.services.writing import write_batch
from tests.factories import access_of, archive_together, draft, make_key, remember


def lines(access: Access, **more: object) -> list[tuple[str, int]]:
    return [(one.entry.action, one.count) for one in list_audit_lines(access, 50, **more)]  # type: ignore[arg-type]


def test_a_changeset_is_one_line_and_its_undo_another(access):
    """UI: fifty-six lines for one undo tell nobody anything."""
    changeset = archive_together(access, "One.", "Two.", "Three.")
    between = remember(access, "In between.")
    undo_changeset(access, changeset.pk)
    assert lines(access)[:3] == [("undo_changeset", 3), ("write_memory", 1), ("archive_memories", 3)]
    newest, middle = list_audit_lines(access, 2)
    assert newest.entry.changeset_id == changeset.pk
    assert middle.entry.target_id == between.pk


def test_what_one_request_wrote_is_one_line_and_can_be_unfolded(access):
    robot = access_of(make_key(access)[1])
    write_batch(robot, [draft(f"Locker {number} holds skates.", dedup=False) for number in range(5)])
    record_audit(access, Audited("create_bank", "bank", None))
    write_batch(robot, [draft(f"Shelf {number} holds boots.", dedup=False) for number in range(3)])
    assert lines(access)[:3] == [("write_memory", 3), ("create_bank", 1), ("write_memory", 5)]
    unfolded = lines(access, wanted=AuditFilter(request_id=robot.request_id))
    assert unfolded.count(("write_memory", 1)) == 8


def test_pages_join(access):
    """What was left out of a page because it was folded is not what the next page begins with."""
    for number in range(4):
        archive_together(access, f"Left {number}.", f"Right {number}.")
        remember(access, f"Single {number}.")
    whole, found, before = list_audit_lines(access, 100), list[AuditLine](), None
    while page := list_audit_lines(access, 3, before):
        found += page[:2]
        if len(page) < 3:
            found += page[2:]
            break
        before = page[2].entry.pk + 1
    assert found == whole


def test_filters_hold_within_the_lines(access):
    archive_together(access, "One.", "Two.")
    remember(access, "Three.")
    assert lines(access, wanted=AuditFilter(action="archive_memories")) == [("archive_memories", 2)]
    assert lines(access, wanted=AuditFilter(door="mcp")) == []
    total = AuditEntry.objects.filter(vault_id=access.vault_id).count()
    assert total > len(lines(access))
