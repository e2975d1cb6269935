"""How the parts of the hub are, each in words, each with the place where more is said."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.urls import reverse

from memories.rules.vocabulary import GuardedService, GuardMode
from memories.web.rows import State
from memoryhub.lib.workers import view_broker
from memoryhub.providers.base import ProviderError
from memoryhub.providers.registry import get_chat_model, get_embedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memories.services.inbox import Inbox
    from memories.web.modelcalls import GuardRow

_OK, _BAD, _WARN = ("circle-check", "ok"), ("circle-x", "bad"), ("triangle-alert", "warn")


@dataclass(frozen=True, slots=True)
class Vital:
    """One part of the hub: its state as icon and words, a word more, and where it is told in full."""

    name: str
    state: State
    more: str
    url: str
    at: dt.datetime | None = None


def store_vitals(inbox: Inbox) -> list[Vital]:
    """The database, which has just answered, and the index in it."""
    kind = "Vector graph" if inbox.has_graph else "Exact scan"
    if inbox.index_failed:
        state = State(f"{inbox.index_failed:,} not indexed", *_WARN)
    elif inbox.not_indexed:
        state = State(f"{inbox.not_indexed:,} wait", "clock", "note")
    else:
        state = State("Complete", *_OK)
    failed = reverse("jobs") + "?state=dead" if inbox.index_failed else f"{reverse('system')}#parts-title"
    return [
        Vital("Database", State("Answers", *_OK), f"PostgreSQL {inbox.postgres}", f"{reverse('system')}#parts-title"),
        Vital("Index", state, f"{kind}, pgvector {inbox.pgvector}", failed),
    ]


def broker_vitals() -> list[Vital]:
    """The broker, and the workers it has heard of; both asked in one short call."""
    seen, url = view_broker(settings.CELERY_BROKER_URL), f"{reverse('system')}#parts-title"
    if not seen.answers:
        waiting = "Writes go on, jobs wait"
        return [
            Vital("Broker", State("Does not answer", *_BAD), waiting, url),
            Vital("Workers", State("Unknown", "circle-dashed", "warn"), "They report to the broker", reverse("jobs")),
        ]
    broker = Vital("Broker", State("Answers", *_OK), "Valkey or Redis", url)
    if not seen.workers or seen.latest is None:
        none = State("None running", *_WARN)
        return [broker, Vital("Workers", none, "Jobs wait until one starts", reverse("jobs"))]
    latest = dt.datetime.fromtimestamp(seen.latest, dt.UTC)
    # One program answers for all its processes, however many `--workers` there are.
    state = State("Running" if seen.workers == 1 else f"{seen.workers} programs run", *_OK)
    return [broker, Vital("Workers", state, "Sign of life", reverse("jobs"), latest)]


def model_vitals(guards: Sequence[GuardRow]) -> list[Vital]:
    """The guard of the language model."""
    url = f"{reverse('system')}#guards"
    chat = next((row for row in guards if row.view.service is GuardedService.CHAT), None)
    if chat is None or chat.view.mode is GuardMode.CLOSED:
        if get_chat_model() is None:
            return [Vital("Model guard", State("No model", "circle-dashed"), "Nothing is asked of a model", url)]
        return [Vital("Model guard", State("Lets through", *_OK), "Calls go out", url)]
    words = {GuardMode.OPEN: ("Paused", *_BAD), GuardMode.HALF_OPEN: ("Trying", *_WARN)}
    return [Vital("Model guard", State(*words[chat.view.mode]), "Nothing is asked meanwhile", url)]


def embedder_vitals(guards: Sequence[GuardRow]) -> list[Vital]:
    """The embedder, and whether its guard holds it back."""
    url = f"{reverse('system')}#parts-title"
    try:
        embedder = get_embedder()
    except ProviderError as error:
        return [Vital("Embedder", State("Does not answer", *_BAD), error.message, url)]
    if embedder is None:
        return [Vital("Embedder", State("Off", "circle-dashed"), "Search is by words only", url)]
    held = any(row.is_open for row in guards if row.view.service is GuardedService.EMBEDDER)
    state = State("Paused", *_BAD) if held else State("Ready", *_OK)
    return [Vital("Embedder", state, f"{embedder.name}, {embedder.model}", url)]
