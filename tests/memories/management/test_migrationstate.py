"""While migrations run, a new constraint or index is known without new classes of models."""

from __future__ import annotations

import pytest
from django.db import models
from django.db.migrations.operations import AddConstraint, AddIndex, CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from memories.management.migrationstate import options_in_place

CHECK = models.CheckConstraint(condition=models.Q(size__gt=0), name="size_positive")
ADDED = {
    "constraints": AddConstraint("Room", CHECK),
    "indexes": AddIndex("Room", models.Index(fields=["size"], name="room_size")),
}


def house() -> ProjectState:
    """Two models, one related to the other, with classes made of them."""
    state = ProjectState()
    pk = ("id", models.AutoField(primary_key=True))
    CreateModel("House", [pk]).state_forwards("built", state)
    to_house = models.ForeignKey("built.House", models.CASCADE)
    CreateModel("Room", [pk, ("size", models.IntegerField()), ("house", to_house)]).state_forwards("built", state)
    assert state.apps.get_models()
    return state


def known(state: ProjectState, option: str) -> tuple[list[str], list[str]]:
    """The names in a room's state and in its class."""
    meta = state.apps.get_model("built", "Room")._meta
    return [one.name for one in state.models["built", "room"].options[option]], [
        one.name for one in getattr(meta, option)
    ]


@pytest.mark.parametrize(("option", "operation"), ADDED.items())
def test_what_is_added_is_known_as_to_django(option: str, operation: Operation):
    ours, djangos = house(), house()
    before = ours.apps.get_model("built", "Room"), ours.apps.get_model("built", "House")
    with options_in_place():
        operation.state_forwards("built", ours)
    operation.state_forwards("built", djangos)
    assert known(ours, option) == known(djangos, option)
    assert (ours.apps.get_model("built", "Room"), ours.apps.get_model("built", "House")) == before
    assert djangos.apps.get_model("built", "Room") != before[0]


def test_a_state_without_classes_gets_none():
    state = ProjectState()
    CreateModel("House", [("id", models.AutoField(primary_key=True))]).state_forwards("built", state)
    with options_in_place():
        AddConstraint("House", CHECK).state_forwards("built", state)
    assert "apps" not in vars(state)
    assert [one.name for one in state.models["built", "house"].options["constraints"]] == [CHECK.name]
