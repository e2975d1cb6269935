"""Every form of every page, sent with texts that want to be programs: what comes back shows them as texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from banks.access import access_from_user
from banks.models import Membership
from tests.addresses import pages
from tests.fullvault import FullVault

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

MARK = "zq7"
EVIL = f"\"'><script>{MARK}</script><img src=x onerror={MARK}>{{{{7*7}}}}"
#: What would be left of it where a page writes it as it is: out of a text, or out of an attribute.
RAW = re.compile(rf"<script>{MARK}|<img src=x onerror|\"'>|49}}")
WRITTEN = {"text", "search", "url", "email", "password", "number", "date", "datetime-local", "textarea", "select"}
#: Signing out would end the walk.
SKIPPED = {"/accounts/logout/"}
_ID = re.compile(r"[0-9a-f-]{36}")


@dataclass
class FoundForm:
    """A form as a page has it: name → kind of each field, and what stands in it."""

    action: str
    method: str
    files: bool
    kinds: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The same for the same form about another row."""
        return self.method, _ID.sub("id", self.action.partition("?")[0]), tuple(sorted(self.kinds))


class _Forms(HTMLParser):
    def __init__(self, path: str) -> None:
        super().__init__()
        self.path, self.found, self.by_id = path, list[FoundForm](), dict[str, FoundForm]()
        self.open: FoundForm | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "form":
            multi = said.get("enctype") == "multipart/form-data"
            self.open = FoundForm(said.get("action") or self.path, said.get("method", "get").lower(), multi)
            self.found.append(self.open)
            self.by_id[said.get("id", "")] = self.open
        form = self.by_id.get(said["form"]) if said.get("form") else self.open
        if form is not None and tag in {"input", "textarea", "select", "button"} and (name := said.get("name")):
            form.kinds[name] = said.get("type", "text") if tag == "input" else tag
            form.values.setdefault(name, said.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.open = None


def forms_of(path: str, html: str) -> list[FoundForm]:
    parser = _Forms(path)
    parser.feed(html)
    return parser.found


def filled(form: FoundForm, everything: bool) -> dict[str, Any]:
    """Its fields with evil texts: all that are written in, or also what nobody sees."""
    said: dict[str, Any] = {}
    for name, kind in form.kinds.items():
        if name == "csrfmiddlewaretoken":
            continue
        if kind == "file":
            said[name] = SimpleUploadedFile(f"{MARK}<script>.jsonl", EVIL.encode())
        else:
            said[name] = EVIL if everything or kind in WRITTEN else form.values[name]
    return said


def submissions(form: FoundForm) -> Iterator[dict[str, Any]]:
    for everything in (False, True):
        yield filled(form, everything)


def send(client: Client, form: FoundForm, said: dict[str, Any]) -> Any:
    """The answer and where it leads to; nothing of it stays."""
    with transaction.atomic():
        if form.method == "get":
            answer = client.get(form.action.partition("?")[0], said)
        else:
            answer = client.post(form.action, said, follow=True, headers={"Referer": f"http://testserver{form.action}"})
        transaction.set_rollback(True)
    return answer


def test_no_form_writes_what_was_sent_as_it_is(vault: Any):
    """S8: in the fields that are shown again, in the sentences about them, in the news of the next page."""
    person = User.objects.create_superuser("mallory")
    Membership.objects.create(vault=vault, user=person, role="owner")
    client = Client(raise_request_exception=False)
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    ids = FullVault(access_from_user(person, vault.pk, "test"), rows=12).fill()
    forms: dict[Any, FoundForm] = {}
    for path in pages(client, ids):
        for form in forms_of(path, client.get(path).content.decode()):
            if form.action not in SKIPPED:
                forms.setdefault(form.shape, form)
    wrong, shown = {}, 0
    for shape, form in forms.items():
        for said in submissions(form):
            answer = send(client, form, said)
            html = b"".join(answer.streaming_content).decode() if answer.streaming else answer.content.decode()
            if answer.status_code >= 500 or RAW.search(html):
                wrong[shape[:2]] = (answer.status_code, (RAW.search(html) or ["", ""])[0])
            shown += f"&lt;script&gt;{MARK}" in html
    assert wrong == {}
    assert len(forms) > 80, "the walk found the forms"
    assert shown > 40, "many of them show again what was sent"
