"""The web server's entry: ``granian --interface wsgi memoryhub.wsgi:application``."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

from memoryhub.env import secrets
from memoryhub.local.processes import leave_with_parent

leave_with_parent()  # granian does not take its workers along when it is killed
os.environ["MEMORYHUB_PROCESS"] = "web"  # settings give the web, and only the web, a connection pool
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
secrets()  # refuse to serve without the encryption keys

application = get_wsgi_application()
