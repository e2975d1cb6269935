#!/usr/bin/env python
"""The door for people at a terminal: ``uv run manage.py up``, and every other command of the hub."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")

# Django reads its settings, and with them the data folder, before it reads the options of a command. To `bench`, which
# has a hub of its own, and to `rotate_keys` --data says something else: conversations, and which keys.
OTHER_DATA = {"bench", "rotate_keys"}
for position, word in enumerate([] if OTHER_DATA & {*sys.argv[1:2]} else sys.argv[2:], start=2):
    if word.startswith("--data="):
        os.environ["MEMORYHUB_DATA"] = word.removeprefix("--data=")
    elif word == "--data" and position + 1 < len(sys.argv):
        os.environ["MEMORYHUB_DATA"] = sys.argv[position + 1]

# Where Python may not write beside its sources, read what the hub's processes compiled (local/commands.py).
if sys.dont_write_bytecode:
    home = os.environ.get("MEMORYHUB_DATA") or Path(__file__).resolve().parent / "var"
    sys.pycache_prefix = str(Path(home).expanduser().resolve() / "bytecode")

from django.core.management import execute_from_command_line, load_command_class  # noqa: E402

from memoryhub.env import environment  # noqa: E402
from memoryhub.lib.errors import HubError  # noqa: E402
from memoryhub.local.embedded import embedded_database  # noqa: E402

# `up` and `restore` run the servers themselves, `bench` and `screenshots` a hub of their own, `mcp` calls one; the
# others need no rows.
STAND_ALONE = {
    "up",
    "restore",
    "bench",
    "screenshots",
    "mcp",
    "help",
    "check",
    "makemigrations",
    "collectstatic",
    "export_openapi_schema",
    "startapp",
    "--help",
    "-h",
    "--version",
}


# A client waits while it starts, so the hub's apps, which it has no use for, stay unread.
WITHOUT_APPS = {"mcp"}


def main(words: list[str]) -> None:
    """Run one command with the database it needs; a failure the hub knows is one sentence and exit code 1."""
    command = words[1] if len(words) > 1 else "help"
    stand_alone = command in STAND_ALONE or "--help" in words or "-h" in words
    try:
        env = environment()
        own_server = not stand_alone and env.database_url is None
        with embedded_database(Path(env.data)) if own_server else nullcontext():
            if command in WITHOUT_APPS:
                load_command_class("memories", command).run_from_argv(words)
            else:
                execute_from_command_line(words)
    except HubError as error:
        sys.stderr.write(f"{error.message}\n")
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv)
