"""Export & import: the whole vault out after the password, a file in after a look at what it would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.http import StreamingHttpResponse
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from banks.services.banks import UnknownBank
from memories.rules.exchange import FileRefused
from memories.rules.importers.kinds import TITLES, ImportKind, title_of
from memories.rules.imports import FileWish, Found, ImportOptions
from memories.rules.limits import LABEL_MAX
from memories.rules.vocabulary import ImportState
from memories.services.exporting import export_vault
from memories.services.imports import apply_import, check_import, fail_import, get_import, list_imports
from memories.services.received import stage_file
from memories.web.jobwords import row_of_job
from memories.web.reauthentication import confirmed_by_password, password_field
from memories.web.receiving import SealingUpload
from memories.web.rows import State
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Denied, HubError
from memoryhub.lib.pages import SeeOther, answer_page, say

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from memories.models import VaultImport
    from memories.web.requests import HubRequest

STATES = {
    ImportState.RECEIVING: State("Incomplete", "circle-dashed", "note"),
    ImportState.CHECKING: State("Checking", "loader-circle", "note"),
    ImportState.CHECKED: State("Waits for your yes", "eye", "note"),
    ImportState.IMPORTING: State("Importing", "loader-circle", "note"),
    ImportState.DONE: State("Imported", "circle-check", "ok"),
    ImportState.FAILED: State("Not imported", "triangle-alert", "bad"),
}
#: What a check may find that a yes could make something of; links and turns are only read by it.
IMPORTABLE = {Found.NEW.value, Found.CHANGED.value, Found.READ.value}
NOTHING = State("Nothing to import", "circle-check", "ok")
GOING = {ImportState.CHECKING, ImportState.IMPORTING}
FATES = ("new", "same", "changed", "updated", "refused", "read", "left_out")


class ExportForm(forms.Form):
    """What else is to be in the file, and the password once more."""

    password = password_field("Asked again, because the file holds everything in plain text.")
    revisions = forms.BooleanField(label="Also what memories were before their changes", required=False)


class SourceForm(forms.Form):
    """Whose file it is, and where its memories go."""

    kind = forms.ChoiceField(
        label="From",
        required=False,
        choices=[("", "Find out"), *((kind.value, TITLES[kind]) for kind in ImportKind)],
    )
    bank = forms.CharField(
        label="Into the bank",
        required=False,
        max_length=50,
        help_text="The name of a bank, for a file of another program. Empty: the default bank.",
    )


def transfer(request: HubRequest) -> HttpResponse:
    """Both ways, and the newest imports."""
    request.access.require(KeyScope.EXPORT)
    return _page(request, ExportForm())


@require_POST
@sensitive_post_parameters("password")
def export(request: HubRequest) -> Any:
    """The file, streamed, if the password is right."""
    request.access.require(KeyScope.EXPORT)
    form = ExportForm(request.POST)
    if not confirmed_by_password(request, form):
        return _page(request, form)
    lines = export_vault(request.access, with_revisions=form.cleaned_data["revisions"])
    name = f"{slugify(request.access.vault.name) or 'vault'}-{now():%Y-%m-%d}.jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingHttpResponse(lines, content_type="application/x-ndjson", headers=headers)


@csrf_exempt  # asked for inside, once the file has a place to go: reading the form is what takes the file in
@require_POST
def upload(request: HubRequest) -> HttpResponse:
    """Take a file in and have it checked; nothing is imported yet."""
    request.access.require(KeyScope.IMPORT)
    receiving = SealingUpload(request)
    request.upload_handlers = [receiving]
    try:
        answer: HttpResponse = _received(request)
    except HubError as error:
        if not isinstance(error, UnknownBank):  # that one is gone already
            _give_up(receiving, error)
        if not isinstance(error, FileRefused | UnknownBank):
            raise
        return _page(request, ExportForm(), _said_at(error, SourceForm(request.POST)))
    if answer.status_code != SeeOther.status_code:
        _give_up(receiving, Denied("The form it came with was not ours."))
    return answer


def _said_at(error: HubError, source: SourceForm) -> SourceForm:
    """The form as it was sent, with what is wrong at the field it is about."""
    if source.is_valid():
        source.add_error("bank" if isinstance(error, UnknownBank) else None, error.message)
    return source


def _give_up(receiving: SealingUpload, error: HubError) -> None:
    """What was taken in of a file is dropped when nothing can be made of it."""
    if receiving.import_id is None:
        return
    found = get_import(receiving.access, receiving.import_id)
    if found.state == ImportState.RECEIVING:
        fail_import(found, error)


@csrf_protect
def _received(request: HubRequest) -> HttpResponse:
    receiving, files = request.upload_handlers[0], request.FILES
    if isinstance(receiving, SealingUpload) and receiving.refused is not None:
        raise receiving.refused
    if not files or not isinstance(receiving, SealingUpload) or receiving.import_id is None:
        raise FileRefused("Choose a file first; it is the one an export gave you.")
    if receiving.foreign is not None:
        form = SourceForm(request.POST)
        if not form.is_valid():
            raise FileRefused("Say from the list whose file it is, then send it again.")
        stage_file(request.access, receiving.import_id, _wish_of(receiving, form), bytes(receiving.foreign))
    check_import(request.access, receiving.import_id)
    return SeeOther(reverse("import_report", args=[receiving.import_id]))


def _wish_of(receiving: SealingUpload, form: SourceForm) -> FileWish:
    kind, bank = form.cleaned_data["kind"], form.cleaned_data["bank"].strip()
    name = (receiving.file_name or "file")[:LABEL_MAX]
    return FileWish(name=name, kind=ImportKind(kind) if kind else None, bank=bank or None)


def import_report(request: HubRequest, import_id: UUID) -> HttpResponse:
    """What the check found, and what was made of it; asks again by itself while it is going on."""
    found = get_import(request.access, import_id)
    made = found.state in {ImportState.IMPORTING, ImportState.DONE}
    context = {
        "found": found,
        "state": _state_of(found),
        "is_going": found.state in GOING,
        "is_checked": found.state == ImportState.CHECKED,
        "is_offered": found.state == ImportState.CHECKED and _has_something(found),
        "row": row_of_job(found.job, request.access.has(KeyScope.OPS_WRITE)) if found.job else None,
        "counts": _counted(found.made if made else found.found),
        "title": title_of(found.kind),
        "is_export": found.kind == ImportKind.MEMORYHUB,
        "refused": [_place(found, line) for line in found.refused or []],
        "may_believe": request.access.has(KeyScope.MEMORIES_APPROVE),
        "here": request.path,
    }
    return answer_page(request, "memories/import.html", context, part="import")


@require_POST
def apply(request: HubRequest, import_id: UUID) -> HttpResponse:
    """The yes to a checked file."""
    names = ("dedup", "update", "keep_provenance")
    chosen = {name: name in request.POST for name in names}
    apply_import(request.access, import_id, ImportOptions(dry_run=False, **chosen))
    say(request, "The import has begun.")
    return SeeOther(reverse("import_report", args=[import_id]))


def _page(request: HubRequest, form: ExportForm, source: SourceForm | None = None) -> HttpResponse:
    rows = [
        {"found": one, "state": _state_of(one), "title": title_of(one.kind)} for one in list_imports(request.access)
    ]
    source = source or SourceForm()
    context = {"form": form, "source": source, "rows": rows, "vault": request.access.vault}
    wrong = form.errors or source.errors
    return answer_page(request, "memories/transfer.html", context, status=422 if wrong else 200)


def _state_of(found: VaultImport) -> State:
    checked = found.state == ImportState.CHECKED
    return NOTHING if checked and not _has_something(found) else STATES[ImportState(found.state)]


def _has_something(found: VaultImport) -> bool:
    return any(IMPORTABLE & {fate for fate, count in counts.items() if count} for counts in found.found.values())


def _place(found: VaultImport, line: dict[str, Any]) -> dict[str, Any]:
    """A line that is not taken, and where it stands in the file it came from."""
    is_export = found.kind == ImportKind.MEMORYHUB
    return {**line, "place": f"Line {line['line']}" if is_export else f"Record {line['line'] - 1}"}


def _counted(counts: dict[str, dict[str, int]]) -> dict[str, Any]:
    """The report as a table: kinds down, fates across, only the fates there are."""
    fates = [fate for fate in FATES if any(fate in found for found in counts.values())]
    rows = [(kind, [found.get(fate, 0) for fate in fates]) for kind, found in sorted(counts.items())]
    return {"fates": fates, "rows": rows}
