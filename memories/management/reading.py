"""Files that commands read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memories.rules.conversations import ConversationsUnreadable


def read_json(path: Path) -> Any:
    """The parsed file. Raises ConversationsUnreadable in one sentence."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ConversationsUnreadable(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise ConversationsUnreadable(f"{path} is not text in UTF-8.") from None
    except json.JSONDecodeError as error:
        raise ConversationsUnreadable(f"{path} is not JSON (line {error.lineno}: {error.msg}).") from None
    except RecursionError:
        raise ConversationsUnreadable(f"{path} is nested too deeply to be a file of conversations.") from None
