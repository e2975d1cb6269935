"""Counts over REST."""

from __future__ import annotations

import pytest

from banks.access import KeyScope
from tests.factories import remember

pytestmark = pytest.mark.django_db


def test_every_series_has_a_number_for_each_step(api, access):
    remember(access, "Something.")
    told = api.send("GET", "/stats?period=7d").json()
    assert (told["period"], told["step_seconds"], len(told["starts"])) == ("7d", 21_600, 28)
    assert told["series"]["memories"]["active"] == [0] * 27 + [1]
    assert told["series"]["created"]["active"][-1] == 1
    assert told["series"]["writes"]["created"][-1] == 1
    for labels in told["series"].values():
        assert all(len(numbers) == 28 for numbers in labels.values())
    assert list(told["banks"].values()) == [{"active": 1}]
    assert told["guard"] == []


def test_only_what_is_asked_for_is_told(api, access):
    remember(access, "Something.")
    told = api.send("GET", "/stats?series=created&series=queue").json()
    assert set(told["series"]) == {"created", "queue"}
    assert told["banks"] == {}
    assert api.send("GET", "/stats?series=nonsense").status_code == 422
    assert api.send("GET", "/stats?period=1y").status_code == 422


def test_it_is_for_operators_and_of_their_banks_only(api_with, access):
    remember(access, "At work.", bank="Work")
    remember(access, "At home.", bank="Personal")
    assert api_with(KeyScope.MEMORIES_READ).send("GET", "/stats").status_code == 403
    told = api_with(KeyScope.OPS_READ, banks=["Work"]).send("GET", "/stats").json()
    assert told["series"]["memories"]["active"][-1] == 1
    assert len(told["banks"]) == 1
