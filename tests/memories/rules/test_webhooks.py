"""What is signed, how often a delivery is tried, and which addresses have the right form."""

from __future__ import annotations

import datetime as dt
import re
import time
from pathlib import Path
from typing import Any

import pytest

from memories.rules.webhooks import ATTEMPTS, encoded_secret, fault_of, is_secret, pause_after, rest_after, signature

DOCS = Path(__file__).parents[3] / "docs" / "api.md"


def test_the_spec_s_own_example():
    """Standard Webhooks 1.0.0, the example of its signature scheme."""
    secret = "whsec_plJ3nmyCDGBKInavdOK15jsl"
    body = b'{"event_type":"ping","data":{"success":true}}'
    said = signature([secret], "msg_loFOjxBNrRLzqYUf", 1731705121, body)
    assert said == "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="


def test_the_snippet_of_the_documentation_verifies():
    """docs/api.md: what receivers copy accepts what the hub signs, and nothing else."""
    code = next(one for one in re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL) if "is_genuine" in one)
    names: dict[str, Any] = {}
    exec(compile(code, str(DOCS), "exec"), names)
    old, new = encoded_secret(b"a" * 32), encoded_secret(b"b" * 32)
    at, body = int(time.time()), b'{"type":"memory.added"}'
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(at),
        "webhook-signature": signature([new, old], "msg_1", at, body),
    }
    assert names["is_genuine"](old, headers, body)
    assert names["is_genuine"](new, headers, body)
    assert not names["is_genuine"](new, headers, body + b" ")
    assert not names["is_genuine"](encoded_secret(b"c" * 32), headers, body)
    late = {**headers, "webhook-timestamp": str(at - 301)}
    assert not names["is_genuine"](new, late, body)


def test_secrets_have_the_form_of_the_spec():
    """Standard Webhooks: 24 to 64 bytes, base64, with a prefix."""
    assert is_secret(encoded_secret(b"x" * 32))
    assert not is_secret(encoded_secret(b"x" * 23))
    assert not is_secret("whsec_%%%")
    assert not is_secret("c2VjcmV0")


def test_attempts_spread_over_a_day():
    """Issue: backoff and jitter over a day or so, then an end."""
    pauses = [pause_after(attempt) for attempt in range(1, ATTEMPTS)]
    total = sum((pause for pause in pauses if pause is not None), dt.timedelta())
    assert dt.timedelta(hours=18) < total < dt.timedelta(hours=36)
    assert pause_after(ATTEMPTS) is None
    assert len({pause_after(3) for _ in range(10)}) > 1
    assert rest_after(1) < dt.timedelta(seconds=3)
    assert rest_after(1_000) <= dt.timedelta(seconds=4_320)


@pytest.mark.parametrize(
    "url",
    ["ftp://a/", "//a/", "http://", "http://u@a/", "http://a:0/", "http://a:99999/", "http://a/#b", "http://a b/", ""],
)
def test_addresses_that_are_none(url):
    """security.md §4.6: http and https only, no credentials."""
    assert fault_of(url) is not None


def test_addresses_that_are_fine():
    assert fault_of("https://example.org/hook?token=1") is None
    assert fault_of("http://[2001:db8::1]:8080/") is None
