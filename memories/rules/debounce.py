"""When a busy conversation is read: after a quiet moment, but not put off for ever (TIE-10, TIE-16, CON-20)."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

# "Remember that …", "actually, it is …": what somebody says so that it is kept, or because it was kept wrong.
_SIGNAL = re.compile(
    r"\b(?:please )?(?:remember|don'?t forget|note|keep in mind)\b(?:,| that| this| my| i\b| for )"
    r"|^(?:no,|actually,|correction:|that'?s (?:wrong|not right)|i (?:meant|misspoke))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait: seconds of quiet, and the most since the first message that waits; fewer messages than
    ``few`` wait the most."""

    quiet: int = 30
    most: int = 300
    few: int = 1


def due_at(first: dt.datetime, last: dt.datetime, waiting: int, patience: Patience) -> dt.datetime:
    """When to read a conversation whose unread messages came from ``first`` to ``last``."""
    latest = first + dt.timedelta(seconds=patience.most)
    return latest if waiting < patience.few else min(last + dt.timedelta(seconds=patience.quiet), latest)


def is_signal(text: str) -> bool:
    """Whether a person asks to be remembered or corrects something: such a message is read at once (TIE-11)."""
    return _SIGNAL.search(text[:500].strip().replace("’", "'")) is not None
