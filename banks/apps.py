"""The app that says whose memory it is."""

from __future__ import annotations

from django.apps import AppConfig


class BanksConfig(AppConfig):
    name = "banks"
    verbose_name = "Vaults, banks and keys"
