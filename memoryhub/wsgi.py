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

from django.db import OperationalError, connection  # noqa: E402

from banks.services.keyring import verify_keys  # noqa: E402
from memories.search.timing import start_timing  # noqa: E402
from memories.services.accesses import start_recording  # noqa: E402
from memories.services.pulse import start_pulse  # noqa: E402
from memoryhub.providers.registry import get_embedder  # noqa: E402

try:
    verify_keys()  # … and with wrong ones
except OperationalError:
    # The database is away: requests say so with 503, and `manage.py up` and `doctor` check the keys when it is back.
    connection.close()

embedder = get_embedder()
if embedder is not None and embedder.local:
    embedder.embed(["warm"])  # or the first search would wait for the vectors to load

start_recording()
start_timing()
start_pulse()
