"""The dry-run box of a bank: paste a text, see what would become of it. Nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from banks.access import KeyScope
from banks.services.banks import get_bank
from memories.rules.facts import Verdict
from memories.rules.limits import CONTENT_MAX
from memories.rules.vocabulary import Outcome
from memories.services.trying import try_text
from memories.web.rows import State, opened
from memories.web.sessions import VERDICTS
from memoryhub.lib.errors import HubError, Kind
from memoryhub.lib.pages import answer_page, in_words
from memoryhub.providers.registry import get_chat_model

if TYPE_CHECKING:
    from django.http import HttpResponse

    from memories.services.trying import Trial
    from memories.web.requests import HubRequest

OUTCOMES = {
    Outcome.CREATED: State("Would be written", "plus", "ok"),
    Outcome.SUPERSEDED: State("Would replace", "replace", "note"),
    Outcome.DUPLICATE: State("A duplicate: nothing written", "layers", "warn"),
    Outcome.UPDATED: State("Would update", "pencil", "note"),
    Outcome.IDEMPOTENT: State("Remembered already", "check"),
}
REFUSED = State("Would be refused", "ban", "bad")


@dataclass(frozen=True, slots=True)
class TrialLine:
    """One memory that would be, in words."""

    text: str
    bank: str
    state: State
    reason: str
    percent: int | None
    met_url: str
    met_text: str | None
    waits: bool


def try_it(request: HubRequest, slug: str) -> HttpResponse:
    """The box, and after it was sent what would have happened."""
    request.access.require(KeyScope.MEMORIES_WRITE)
    bank = get_bank(request.access, slug)
    text = request.POST.get("text", "").replace("\r\n", "\n").strip()
    lines, facts, mistake = [], [], ""
    if request.method == "POST":
        try:
            found = try_text(request.access, bank.name, text)
            lines, facts = [_line(found.as_it_is)], [_line(one) for one in found.facts]
        except HubError as error:
            if error.kind is not Kind.INVALID:
                raise
            mistake = in_words(error, {"content": "Text"})
    context = {
        "bank": bank,
        "text": text,
        "lines": lines,
        "facts": facts,
        "mistake": mistake,
        "has_model": get_chat_model() is not None,
        "longest": CONTENT_MAX,
    }
    return answer_page(request, "memories/try.html", context, status=422 if mistake else 200)


def _line(one: Trial) -> TrialLine:
    result = one.result
    return TrialLine(
        text=one.content,
        bank=one.bank,
        state=_state(one),
        reason=result.reason if result else one.refused,
        percent=round(100 * result.similarity) if result and result.similarity is not None else None,
        met_url=reverse("memory", args=[one.met.pk]) if one.met else "",
        met_text=opened(one.met) if one.met else None,
        waits=bool(result and result.pair_id) or one.verdict is Verdict.DRAFT,
    )


def _state(one: Trial) -> State:
    if one.result is not None:
        return OUTCOMES[one.result.outcome]
    return VERDICTS[one.verdict] if one.verdict in {Verdict.DOUBTFUL, Verdict.REFUSED} else REFUSED
