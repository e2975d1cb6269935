from __future__ import annotations

import pytest

from memoryhub.local.memorysize import memory_settings, settings_for


@pytest.mark.parametrize(
    ("memory", "building", "buffers"), [(512, "64MB", "128MB"), (4_096, "512MB", "512MB"), (65_536, "2048MB", "2048MB")]
)
def test_a_machine_is_used_within_bounds(memory, building, buffers):
    settings = settings_for(memory, 65_536)
    assert (settings["maintenance_work_mem"], settings["shared_buffers"]) == (building, buffers)
    assert "dynamic_shared_memory_type" not in settings


def test_a_build_in_parallel_does_not_need_the_shared_memory_of_a_container():
    assert settings_for(8_192, 64)["dynamic_shared_memory_type"] == "mmap"


def test_this_machine_has_settings():
    assert all(value for value in memory_settings().values())
