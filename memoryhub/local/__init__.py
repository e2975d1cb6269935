"""The hub on one machine: its data folder, its embedded servers and the processes it runs."""

from __future__ import annotations
