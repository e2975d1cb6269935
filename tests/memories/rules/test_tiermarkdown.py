"""Notes, document and diary as people read them (TIE-03, TIE-04, CON-19)."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

from memories.rules.consolidation import Change, What
from memories.rules.coretext import Audience, CoreLine
from memories.rules.tiermarkdown import DiaryHead, Names, NotedLine, core_markdown, daily_markdown, diary_markdown
from memories.rules.vocabulary import NoteKind

MORNING = dt.datetime(2026, 3, 1, 9, 5, tzinfo=dt.UTC)
WORK, HEALTH = UUID(int=1), UUID(int=2)


def test_a_day():
    """A part for each conversation; a text stays on its line, whatever is in it."""
    lines = [
        NotedLine(MORNING, "kitchen", NoteKind.NEW, "One.\n# Two."),
        NotedLine(MORNING, "kitchen", NoteKind.AGAIN, "Three."),
        NotedLine(MORNING.replace(hour=12), "", NoteKind.SUMMARY, "They spoke.\nAt length."),
    ]
    assert daily_markdown(MORNING.date(), lines, left_out=2) == (
        "# 2026-03-01\n\n"
        "## 09:05 · kitchen\n\n- One. # Two.\n- Three. *(said again)*\n\n"
        "## 12:05\n\n> They spoke.\n> At length.\n\n"
        "*2 more did not fit into this note; they are remembered all the same.*\n"
    )


def test_a_document_by_bank_and_agent():
    names = Names({str(WORK): "Work", str(HEALTH): "Health"}, {"a": "forge"})
    lines = [
        CoreLine("One.", Audience(WORK), ()),
        CoreLine("Two.", Audience(WORK, "a"), ()),
        CoreLine("Three.", Audience(HEALTH), ()),
    ]
    assert core_markdown(lines, names) == (
        "# Memory\n\n## Health\n\n- Three.\n\n## Work\n\n- One.\n\n## Work, only for forge\n\n- Two.\n"
    )
    assert core_markdown([], names) == "# Memory\n"


def test_a_diary_says_why():
    """TIE-07: of every line."""
    head = DiaryHead(MORNING.date(), 4, 1, by_model=True, version_before=1, version_after=2)
    changes = [
        Change(What.CHANGED, "New.", "merged", (), "Old.\nOlder."),
        Change(What.DROPPED, "Gone.", "model", (), said="It is over."),
    ]
    assert diary_markdown(head, changes) == (
        "# Dream of 2026-03-01\n\n"
        "Read 4 lines of daily notes, back to 1 day ago. A language model worded it. "
        "The core document went from version 1 to 2.\n\n"
        "## Changed\n\n- New. *(put together by the language model)* It said: Old. / Older.\n\n"
        "## Dropped\n\n- Gone. *(dropped by the language model)* “It is over.”\n"
    )
