"""Go back to an earlier version of the core document; the versions in between stay (DEF-19, TIE-18)."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from banks.access import Access, KeyScope
from banks.services.audit import Audited, record_audit
from memories.models import CoreVersion
from memories.search.coredocument import ShownDocument, read_core_document, readable_lines
from memories.services.dreaming import save_lines
from memories.services.dreamreading import lines_of_version
from memories.services.dreams import locked_document
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Denied


class DocumentOutOfReach(Denied):
    """The core document has lines this caller may not read; ask somebody who reaches all of its banks."""

    code = "document_out_of_reach"


def restore_core_version(access: Access, namespace: Sequence[str], version: int) -> ShownDocument:
    """Make a version what holds again, exactly, as a new one (0: empty); the document as it is then.

    Needs memories:write. What was noted until now is not dreamt of again. Raises NotFound, DocumentOutOfReach.
    """
    access.require(KeyScope.MEMORIES_READ, KeyScope.MEMORIES_WRITE)
    read_core_document(access, namespace, version)
    with transaction.atomic():
        document = locked_document(access, list(namespace))
        wanted = lines_of_version(access, document, version)
        present = lines_of_version(access, document, document.version)
        for lines in (wanted, present):
            if readable_lines(access, lines) != lines:
                raise DocumentOutOfReach
        if wanted != present:
            before, at = document.version, now()
            document.version, document.restored_at, document.updated_at = before + 1, at, at
            document.save(update_fields=["version", "restored_at", "updated_at"])
            made = CoreVersion(
                vault_id=access.vault_id,
                document=document,
                number=document.version,
                restored_from=version,
                actor_kind=access.actor.kind,
                actor_id=access.actor.id,
            )
            save_lines(made, wanted)
            done = Audited("restore_core_version", "core_document", document.pk, before, document.version)
            record_audit(access, done)
    return read_core_document(access, namespace)
