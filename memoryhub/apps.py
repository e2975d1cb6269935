"""The hub as a Django app, so that every process knows the Celery app before a task is named."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig

from memoryhub.celery import app as celery_app

__all__ = ["HubAdminConfig", "HubConfig", "celery_app"]


class HubConfig(AppConfig):
    """Wiring only; it has no models."""

    name = "memoryhub"
    verbose_name = "MemoryHub"


class HubAdminConfig(AdminConfig):
    """Django's admin, with a site of our own."""

    default_site = "memoryhub.adminsite.HubAdminSite"
