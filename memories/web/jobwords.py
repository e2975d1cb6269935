"""Jobs in words: what each kind does, how it stands, how long it still takes, what to do when it failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse

from memories.rules.progress import is_silent
from memories.rules.retries import MAX_ATTEMPTS
from memories.rules.vocabulary import JobState
from memories.web.forms import spoken
from memories.web.rows import State
from memoryhub.lib.clock import now
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import parse_id

if TYPE_CHECKING:
    from uuid import UUID

    from memories.models import Job

STATES = {
    JobState.PENDING: State("Waiting", "clock", "note"),
    JobState.RUNNING: State("Running", "loader-circle", "note"),
    JobState.DONE: State("Done", "circle-check", "ok"),
    JobState.DEAD: State("Failed", "triangle-alert", "bad"),
    JobState.CANCELLED: State("Cancelled", "ban"),
}
SILENT = State("Possibly stuck", "triangle-alert", "warn")
DEFERRED = State("Deferred", "timer", "note")
GOING = {JobState.PENDING, JobState.RUNNING}
WHAT_FOR = {
    "embed_memories": "Gives waiting memories their vectors, so that search finds them by meaning.",
    "keep_index": "Packs the word index and builds the index of vectors, so that search stays fast.",
    "reembed_memories": "Makes vectors of another model beside those that are searched, then switches.",
    "reseal_memories": "Seals everything anew under the vault's newest data key; the older keys then go.",
    "reindex_memories": "Compares the index with what it is made of, mends it, and makes vectors that are missing.",
    "check_updates": "Asks the language model whether new memories repeat, update or contradict old ones.",
    "dream": "Reads daily notes and writes the next version of the core document.",
    "extract_session": "Reads a conversation and keeps the facts in it.",
    "apply_cleanup": "Archives what was chosen of a clean-up plan, in one changeset.",
    "summarize_memories": "Writes summaries of clusters of old memories.",
    "plan_cleanup": "Makes the clean-up plan that a schedule asks for; nothing is archived by looking.",
    "erase_subject": "Erases everything about somebody, for good.",
    "enforce_retention": "Archives or purges what the policies of the banks no longer keep.",
    "import_vault": "Takes an exported file in, line by line.",
    "bulk_change": "Changes many memories as one; it can be undone from its changeset.",
    "undo_changeset": "Takes a large change back, memory by memory.",
    "summarize_session": "Writes the running summary of a conversation.",
}
#: What a job is called where its name in code says little to a person.
NAMES = {
    "embed_memories": "Make vectors",
    "keep_index": "Keep the index",
    "reembed_memories": "Re-embed",
    "reseal_memories": "Reseal",
    "reindex_memories": "Re-index",
    "check_updates": "Compare with old memories",
    "extract_session": "Read a conversation",
    "apply_cleanup": "Clean-up",
    "summarize_memories": "Summarise memories",
    "plan_cleanup": "Scheduled clean-up plan",
    "erase_subject": "Erase everything about somebody",
    "enforce_retention": "Retention",
    "import_vault": "Import",
    "bulk_change": "Change many memories",
    "undo_changeset": "Undo a large change",
    "summarize_session": "Summarise a conversation",
}
_HOUR, _MINUTE = 3_600, 60


#: What a job's ids lead to: the word for it, its page, and what is to be seen there.
LEADS_TO = {
    "changeset": ("Changeset", "changeset", "What it changed, and undo"),
    "changeset_id": ("Changeset", "changeset", "What it changed, and undo"),
    "plan_id": ("Clean-up plan", "plan", "What was planned"),
    "import_id": ("Import", "import_report", "What became of the file"),
    "session": ("Session", "session", "The conversation"),
    "dream": ("Dream", "dream", "What it read, and what it did"),
    "erasure": ("Receipt", "erasure", "What was erased, in counts"),
}
_COUNTED = {"memory_ids": "Memories", "clusters": "Clusters", "count": "Memories"}
#: With whose permission it acts, and how soon: no news for a person.
_OURS = {"mandate", "urgent"}


@dataclass(frozen=True, slots=True)
class About:
    """One thing a job is about: a page of its own, or a number or an id."""

    label: str
    value: str
    url: str = ""


def about_of(job: Job) -> list[About]:
    """What its row says it works on, as links where there is a page (ids only, DESIGN law 5)."""
    found = []
    for name, value in job.ref.items():
        if name in _OURS or value in (None, ""):
            continue
        identifier = _identifier(value)
        if name in LEADS_TO and identifier:
            label, page, told = LEADS_TO[name]
            found.append(About(label, told, reverse(page, args=[identifier])))
        elif name in _COUNTED:
            found.append(About(_COUNTED[name], intcomma(len(value) if isinstance(value, list) else value)))
        elif name == "migration":
            found.append(About("Migration", "Migrations", reverse("migrations")))
        elif not isinstance(value, dict | list):
            found.append(About(spoken(name), str(value)))
    return found


def _identifier(value: object) -> UUID | None:
    try:
        return parse_id(value)
    except NotFound:
        return None


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as a person reads it, and what may be done with it."""

    job: Job
    kind: str
    what_for: str
    state: State
    #: ``340 of 1,200 · 25 a second``, and its three parts.
    progress: str
    counted: str
    speed: str
    left: str
    percent: int
    #: ``12 s ago``: when it was last heard of.
    heard: str
    about: list[About]
    advice: str
    url: str
    retry_url: str
    cancel_url: str

    @property
    def is_silent(self) -> bool:
        """Whether it should be running, and its worker is gone."""
        return self.state is SILENT

    @property
    def is_going(self) -> bool:
        """Whether it may still change by itself."""
        return JobState(self.job.state) in GOING


def row_of_job(job: Job, may_change: bool) -> JobRow:
    """``may_change``: whether whoever looks may cancel and retry."""
    state, going = JobState(job.state), job.pace
    done = job.total if state == JobState.DONE else job.done
    counted = f"{intcomma(done)} of {intcomma(job.total)}" if job.total else ""
    fast = speed(going.rate) if counted and going.rate else ""
    stopped = state in {JobState.DEAD, JobState.CANCELLED}
    return JobRow(
        job=job,
        kind=NAMES.get(job.kind) or spoken(job.kind),
        what_for=WHAT_FOR.get(job.kind, ""),
        state=_state(job),
        progress=" · ".join(filter(None, (counted, fast))),
        counted=counted,
        speed=fast,
        left=f"{lasting(going.seconds_left)} left" if going.seconds_left is not None else "",
        percent=min(100, job.done * 100 // job.total) if job.total else 0,
        heard=ago((now() - job.seen_at).total_seconds()) if job.seen_at else "",
        about=about_of(job),
        advice=_advice(job),
        url=reverse("job", args=[job.pk]),
        retry_url=reverse("retry_job", args=[job.pk]) if may_change and stopped else "",
        cancel_url=reverse("cancel_job", args=[job.pk]) if may_change and state in GOING else "",
    )


def _state(job: Job) -> State:
    if job.state == JobState.RUNNING and is_silent(job.seen_at, now()):
        return SILENT
    if job.state == JobState.PENDING and job.stage == "deferred":
        return DEFERRED
    return STATES[JobState(job.state)]


def speed(rate: float) -> str:
    """``1,250 a second``, ``12 a minute``."""
    return f"{intcomma(round(rate))} a second" if rate >= 1 else f"{max(round(rate * 60), 1)} a minute"


def lasting(seconds: float) -> str:
    """``about 40 s``, ``about 3 min``, ``about 2 h``; rounded up to what a person can plan with."""
    if seconds < 5:
        return "a few seconds"
    for size, unit in ((_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= size * 1.5:
            return f"about {round(seconds / size)} {unit}"
    return f"about {round(seconds / 5) * 5} s"


def ago(seconds: float) -> str:
    """``just now``, ``12 s ago``, ``3 min ago``, ``2 h ago``: to the second, because a minute of silence is news."""
    for size, unit in ((24 * _HOUR, "d"), (_HOUR, "h"), (_MINUTE, "min"), (1, "s")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


def _advice(job: Job) -> str:
    """What a person can do about how it stands; nothing where nothing is to be done."""
    match JobState(job.state):
        case JobState.DEAD:
            return "Put right what it says, then retry: it goes on where it stopped."
        case JobState.CANCELLED if job.error:
            return ""
        case JobState.CANCELLED:
            return "What was done before stays done. Retry goes on from there."
        case JobState.PENDING if job.stage == "deferred":
            return "It was not the job that failed; it goes on by itself as soon as it can."
        case JobState.PENDING if job.error:
            return f"Attempt {job.attempts} of {MAX_ATTEMPTS} failed. It is tried again by itself."
        case JobState.RUNNING if is_silent(job.seen_at, now()):
            return (
                "No sign of life any more: its worker is gone. Another one goes on in a moment, from where it stopped."
            )
        case _:
            return ""
