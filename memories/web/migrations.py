"""The ledger of what changed the store, and the buttons that move a vault's data (MIG-12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from memories.rules.datamigrations import DataMigration, MigrationState
from memories.search.history import list_migrations
from memories.services.migrating import migration_jobs, start_migration, what_can_move
from memories.web.jobwords import row_of_job
from memories.web.rows import State
from memoryhub.lib.pages import SeeOther, answer_page, say, submitted

if TYPE_CHECKING:
    from django.http import HttpResponse

    from memories.web.requests import HubRequest

STATES = {
    MigrationState.RUNNING: State("Running", "loader-circle", "note"),
    MigrationState.DONE: State("Done", "circle-check", "ok"),
    MigrationState.FAILED: State("Failed", "triangle-alert", "bad"),
    MigrationState.CANCELLED: State("Cancelled", "ban"),
}
STARTED = {
    DataMigration.REEMBED: "The vault is being re-embedded. Searches stay in the space they are in until it is done.",
    DataMigration.RESEAL: "The vault has a new data key. What was sealed before is being sealed anew.",
    DataMigration.REINDEX: "The index is being compared with what it is made of.",
}


class StartForm(forms.Form):
    """What to move, and for a re-embedding, where to."""

    kind = forms.ChoiceField(choices=[(kind.value, kind.value) for kind in DataMigration])
    target = forms.CharField(required=False, max_length=255)


def migrations(request: HubRequest) -> HttpResponse:
    """Schema and data migrations, newest first; asks again by itself while one is running."""
    return _page(request, StartForm())


@require_POST
def start(request: HubRequest) -> HttpResponse:
    """Begin a data migration; what is refused is said on the page."""
    form = StartForm(request.POST)
    begun = submitted(form, lambda: _begin(request, form))
    if begun is None:
        return _page(request, form, status=422)
    say(request, STARTED[begun])
    return SeeOther(reverse("migrations"))


def _begin(request: HubRequest, form: StartForm) -> DataMigration:
    kind = DataMigration(form.cleaned_data["kind"])
    start_migration(request.access, kind, form.cleaned_data["target"] or None)
    return kind


def _page(request: HubRequest, form: StartForm, status: int = 200) -> HttpResponse:
    records = list_migrations(request.access)
    may_change = request.access.has(KeyScope.OPS_WRITE)
    jobs = {key: row_of_job(job, may_change) for key, job in migration_jobs(request.access, records).items()}
    rows = [
        {"record": record, "state": STATES[MigrationState(record.state)], "job": jobs.get(record.pk)}
        for record in records
    ]
    context = {
        "rows": rows,
        "form": form,
        "movable": what_can_move(request.access),
        "may_change": may_change,
        "is_going": any(record.state == MigrationState.RUNNING for record in records),
        "here": reverse("migrations"),
    }
    return answer_page(request, "memories/migrations.html", context, part="migrations", status=status)
