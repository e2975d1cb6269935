from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any

from memoryhub.env import BASE_DIR

SETUP = """
import logging, logging.config, structlog
from memoryhub.lib.logs import logging_config
logging.config.dictConfig(logging_config("INFO", "json"))
"""


def logged(script: str) -> list[dict[str, Any]]:
    """What a process of its own writes; pytest has taken this one's logging over."""
    words = [sys.executable, "-c", SETUP + textwrap.dedent(script)]
    written = subprocess.run(words, capture_output=True, text=True, check=True, cwd=BASE_DIR).stderr
    assert "canary" not in written
    return [json.loads(line) for line in written.splitlines()]


def test_an_exception_is_logged_without_its_words():
    """GEN-05: logs hold ids, never what somebody wrote."""
    first, second = logged("""
        try:
            raise ValueError("canary words of a person")
        except ValueError:
            logging.getLogger("any").exception("it failed")
            structlog.get_logger("hub").exception("it failed too", job="id-1")
    """)
    assert first["exception"] == second["exception"] == ["builtins.ValueError"]
    assert first["frames"] == ["<string>:7 <module>"]
    assert second["job"] == "id-1"


def test_celerys_failure_line_keeps_only_name_and_id():
    (line,) = logged("""
        data = {"name": "memories.run_job", "id": "id-2", "exc": "canary", "traceback": "canary"}
        logging.getLogger("celery.app.trace").error("Task %(name)s[%(id)s] raised: %(exc)s %(traceback)s", data)
    """)
    assert line["event"] == "task memories.run_job id-2 failed"
