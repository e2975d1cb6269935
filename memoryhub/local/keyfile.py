"""The embedded default's secrets: made once, beside the data, for this user only."""

from __future__ import annotations

import base64
import json
import secrets
from typing import TYPE_CHECKING

from memoryhub.env import keys_file, stored_secrets
from memoryhub.local.datadir import write_private

if TYPE_CHECKING:
    from memoryhub.env import Environment


def generate_secrets(env: Environment) -> None:
    """Write what neither the environment nor ``keys.json`` has; what is there is never replaced."""
    stored = stored_secrets(env.data)
    complete = dict(stored)
    if not (env.keys or env.keys_file or stored.get("keys")):
        complete |= {"active": 1, "keys": {"1": base64.b64encode(secrets.token_bytes(32)).decode()}}
    if not (env.secret_key or env.secret_key_file):
        complete.setdefault("secret_key", secrets.token_urlsafe(48))
    if not (env.pepper or env.pepper_file):
        complete.setdefault("pepper", secrets.token_urlsafe(48))
    if complete != stored:
        write_private(keys_file(env.data), json.dumps(complete, indent=2) + "\n")


def add_master_key(env: Environment) -> int | None:
    """Add a master key to ``keys.json`` and let it wrap from now on; its id. None where the environment has the keys.

    The older ones stay: backups made before need them.
    """
    stored = stored_secrets(env.data)
    if env.keys or env.keys_file or env.active_key or not stored.get("keys"):
        return None
    newest = max(map(int, stored["keys"])) + 1
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    added = stored | {"active": newest, "keys": stored["keys"] | {str(newest): key}}
    write_private(keys_file(env.data), json.dumps(added, indent=2) + "\n")
    return newest
