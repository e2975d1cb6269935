"""Banks: compared trimmed and without case, kept as written, one of them always the default."""

from __future__ import annotations

import pytest

from banks.access import KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry, Bank
from banks.services.banks import (
    BankNameTaken,
    DefaultBankStays,
    UnknownBank,
    archive_bank,
    create_bank,
    find_bank,
    get_bank,
    list_banks,
    name_key,
    update_bank,
)
from banks.services.drafts import BankChanges, BankDraft
from memoryhub.lib.errors import Invalid, NotFound
from tests.factories import access_of, make_key, remember


def create(access, name, **more):
    return create_bank(access, BankDraft.parse({"name": name, **more}))


def test_a_vault_starts_with_seven_banks(access):
    """BNK-03, BNK-09: General first, the default; each says what belongs in it."""
    banks = list_banks(access)
    assert [bank.name for bank in banks] == [
        "General",
        "Events",
        "Health",
        "Interests",
        "Personal",
        "Relationships",
        "Work",
    ]
    assert [bank.is_default for bank in banks] == [True] + [False] * 6
    assert all(bank.description for bank in banks)


@pytest.mark.parametrize("said", ["Home Lab", "  home   LAB ", "HOME LAB", "home-lab", "ｈｏｍｅ　ｌａｂ"])
def test_a_name_of_two_words_survives(access, said):
    """BNK-13: kept as written, found however it is written, also by slug, width and id."""
    bank = create(access, " Home  Lab ")
    assert bank.name == "Home Lab"
    assert find_bank(access, said).pk == find_bank(access, str(bank.pk)).pk == bank.pk
    assert remember(access, bank=said).bank_id == bank.pk


@pytest.mark.parametrize("name", ["work", " WORK ", "Ｗork", "Hobby", "hobbies"])
def test_a_name_can_be_taken_once(access, name):
    """BNK-13, CON-05: also under another spelling, and an alias is taken too."""
    with pytest.raises(BankNameTaken):
        create(access, name)
    assert Bank.objects.filter(vault=access.vault).count() == 7


@pytest.mark.parametrize("name", ["", "   ", "x" * 51, "a\x00b", "\ud800", "\ufdfa" * 50, None, 7])
def test_a_name_must_be_one(access, name):
    """API-17: 1 to 50 characters that can be stored."""
    with pytest.raises(Invalid):
        create(access, name)


def test_names_without_letters_and_names_alike_get_slugs_of_their_own(access):
    """BNK-13: 東京 and 🎉 are names as well; `C++` and `C` are two banks."""
    slugs = {create(access, name).slug for name in ("東京", "🎉", "☂")}
    assert len(slugs) == 3
    one, two = create(access, "C"), create(access, "C++")
    assert one.slug != two.slug
    assert find_bank(access, "C++").pk == two.pk


@pytest.mark.parametrize("names", [("C", "C++", "C#"), ("Ünter", "Unter"), ("a" * 50, "a" * 49 + "á")])
def test_different_names_with_one_slug_are_different_banks(access, names):
    """BNK-13: also where a renamed bank still has the slug; each is found by its name and by its slug."""
    renamed = create(access, names[0])
    update_bank(access, renamed.slug, BankChanges.parse({"name": "Elsewhere"}))
    banks = [create(access, name) for name in names]
    assert len({bank.slug for bank in [renamed, *banks]}) == len(names) + 1
    for bank in banks:
        assert find_bank(access, bank.name).pk == bank.pk


@pytest.mark.parametrize("name", ["\u200b", "\u2060\u00ad\ufeff", "\u3164", "\u2800 \u200d", "\ufe0f", "\x07"])
def test_a_name_can_be_seen(access, name):
    """BNK-13: nobody can choose, or type, a bank without a visible character."""
    for refused in (lambda: create(access, name), lambda: BankChanges.parse({"name": name})):
        with pytest.raises(Invalid) as caught:
            refused()
        assert [error.pointer for error in caught.value.errors] == ["/name"]


@pytest.mark.parametrize("control", "\u202a\u202b\u202d\u202e\u202c\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
def test_a_name_reads_in_one_direction(access, control):
    """BNK-13: a name with bidi controls could pass for another; right-to-left names need none."""
    for refused in (lambda: create(access, f"Wo{control}rk"), lambda: BankChanges.parse({"name": f"Wo{control}rk"})):
        with pytest.raises(Invalid):
            refused()


def test_names_in_other_scripts_and_pictures_are_names(access):
    """BNK-13: right-to-left letters, joined emoji and joiners inside a word."""
    for name in ("עבודה", "عمل", "👩\u200d💻", "می\u200cخواهم"):
        assert create(access, name).name == name


def test_a_name_is_not_the_id_of_another_bank(access):
    """BNK-13: who writes an id means that bank; a bank may carry its own id, or one of nothing."""
    work, health = get_bank(access, "Work"), get_bank(access, "Health")
    for name in (str(work.pk), str(work.pk).upper(), work.pk.hex):
        with pytest.raises(BankNameTaken, match="id of another bank"):
            create(access, name)
        with pytest.raises(BankNameTaken, match="id of another bank"):
            update_bank(access, "Health", BankChanges.parse({"name": name}))
    assert find_bank(access, str(work.pk)).pk == work.pk
    assert get_bank(access, "Health").pk == health.pk
    assert update_bank(access, "Work", BankChanges.parse({"name": str(work.pk)})).pk == work.pk


def test_the_same_name_in_another_vault(access, other_access):
    """MOD-31: vaults do not share names."""
    assert create(access, "Garden").pk != create(other_access, "Garden").pk


def test_renaming_keeps_the_memories(access):
    """BNK-11: they are in the bank, whatever it is called; the old name is free again."""
    memory = remember(access, bank="Work")
    update_bank(access, "work", BankChanges.parse({"name": "Job"}))
    memory.refresh_from_db()
    assert memory.bank.name == "Job"
    with pytest.raises(UnknownBank):
        find_bank(access, "Nowhere")
    assert create(access, "Work").name == "Work"


def test_renaming_onto_another_or_an_alias_is_refused(access):
    """BNK-13: as in creating."""
    for name in ("HEALTH", "hobby"):
        with pytest.raises(BankNameTaken):
            update_bank(access, "Work", BankChanges.parse({"name": name}))
    assert get_bank(access, "Work").name == "Work"


def test_there_is_always_one_default(access):
    """BNK-01: another one takes over; the default cannot be hidden, and becoming it shows a bank again."""
    archive_bank(access, "Work")
    assert "Work" not in [bank.name for bank in list_banks(access)]
    update_bank(access, "Work", BankChanges.parse({"is_default": True}))
    assert [bank.name for bank in Bank.objects.filter(vault=access.vault, is_default=True)] == ["Work"]
    assert remember(access).bank.name == "Work"
    for refused in ({"is_hidden": True}, {"is_hidden": True, "is_default": True}):
        with pytest.raises(DefaultBankStays):
            update_bank(access, "Work", BankChanges.parse(refused))


def test_a_hidden_bank_keeps_its_memories(access):
    """BNK-02: it leaves the lists, and is there when named."""
    memory = remember(access, bank="Work")
    archive_bank(access, "Work")
    assert find_bank(access, "Work").pk == memory.bank_id
    assert "Work" in [bank.name for bank in list_banks(access, include_hidden=True)]


def test_changing_needs_its_scope_and_leaves_an_audit(access):
    """MIG-13: in ids."""
    bank = create(access, "Garden")
    archive_bank(access, "Garden")
    actions = AuditEntry.objects.filter(target_id=bank.pk).order_by("id").values_list("action", flat=True)
    assert list(actions) == ["create_bank", "update_bank"]
    reader = access_of(make_key(access, frozenset({KeyScope.MEMORIES_READ}))[1])
    with pytest.raises(MissingScope):
        create(reader, "x")
    with pytest.raises(MissingScope):
        archive_bank(reader, "Work")


def test_a_limited_key_sees_its_banks_only(access):
    """BNK-02: others look unknown, in lists and by name."""
    limited = access_of(make_key(access, banks=["Work"])[1])
    assert [bank.name for bank in list_banks(limited)] == ["Work"]
    with pytest.raises(NotFound):
        get_bank(limited, "Health")
    with pytest.raises(NotFound):
        update_bank(limited, "Health", BankChanges.parse({"name": "x"}))


def test_what_two_names_share():
    """BNK-13: NFKC, single spaces, casefold."""
    assert name_key("  Straße  1 ") == name_key("STRASSE 1")
    assert name_key("a b") != name_key("ab")
