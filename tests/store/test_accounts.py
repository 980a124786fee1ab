"""Accounts: valid names and passwords, roles, and the end of sessions."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from argon2 import PasswordHasher
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from proof.store import Store
from proof.store.accounts import AccountActor, AccountChange, AccountChannel, AccountError, NoAccountError, Role
from tests.store.conftest import on_both

GOOD = "四庫 full of 書"
OTHER = "another pass phrase"


@pytest.fixture
def people(store: Store) -> Store:
    """An administrator, 甲, and a proofreader, 乙."""
    store.accounts.add("甲", Role.ADMINISTRATOR, GOOD)
    store.accounts.add("乙", Role.PROOFREADER, GOOD)
    return store


@on_both
def test_a_password_is_kept_as_an_argon2_hash_and_nowhere_else(people: Store) -> None:
    with people.engine.connect() as connection:
        rows = connection.execute(text("SELECT * FROM accounts")).all()
        events = connection.execute(text("SELECT * FROM account_events")).all()
    assert len({row.password for row in rows}) == len(rows) == len(events) == 2
    assert all(row.password.startswith("$argon2id$") for row in rows)
    assert GOOD not in f"{rows} {events}"
    assert "argon2" not in str(events)


@on_both
def test_who_knows_the_password_logs_in_and_nobody_else(people: Store) -> None:
    account = people.accounts.log_in("甲", GOOD)
    assert account is not None
    assert (account.name, account.role) == ("甲", Role.ADMINISTRATOR)
    assert account.seen is not None
    for name, password in (
        ("甲", OTHER),
        ("甲", ""),
        ("丙", GOOD),
        ("", ""),
        ("甲", "x" * 100_000),
        ("甲", "\ud800"),
        ("\ud800", ""),
        ("\0", ""),
    ):
        assert people.accounts.log_in(name, password) is None


def test_a_hash_of_older_parameters_is_made_anew_at_the_next_log_in(people: Store) -> None:
    people.accounts.hasher = PasswordHasher(time_cost=2, memory_cost=128, parallelism=1)
    assert people.accounts.log_in("甲", OTHER) is None
    with people.engine.connect() as connection:
        assert "m=64,t=1" in connection.scalar(text("SELECT password FROM accounts WHERE name = '甲'"))
    for _ in range(2):
        assert people.accounts.log_in("甲", GOOD) is not None
    with people.engine.connect() as connection:
        assert "m=128,t=2" in connection.scalar(text("SELECT password FROM accounts WHERE name = '甲'"))


def test_a_name_that_cannot_be_is_refused(people: Store) -> None:
    unprintable = ["甲\n乙", "甲\u200b", "甲\u202e乙", "甲\ufe00", "乙\U000e0100", "甲\u3164", "甲\u034f"]
    for name in ("", "   ", "x" * 65, "甲", " 甲 ", *unprintable):
        with pytest.raises(AccountError):
            people.accounts.add(name, Role.READER, GOOD)
    assert len(people.accounts.everybody()) == 2


@on_both
def test_names_and_passwords_are_the_same_however_their_characters_are_put(people: Store) -> None:
    people.accounts.add("Wáng", Role.READER, unicodedata.normalize("NFC", "café crème brûlée"))
    decomposed = unicodedata.normalize("NFD", "Wáng"), unicodedata.normalize("NFD", "café crème brûlée")
    assert people.accounts.log_in(*decomposed) is not None
    for name in ("wáng", "ＷÁＮＧ", "Wáng ", decomposed[0]):
        assert people.accounts.named(name).name == "Wáng"
        with pytest.raises(AccountError, match="there is an account of this name"):
            people.accounts.add(name, Role.READER, GOOD)


def test_a_password_that_is_guessed_at_once_is_refused(people: Store) -> None:
    guessed = ("", "short", "a" * 16, "abababababab", "x\ny" * 5, "z" * 300, "Constantinople")
    for password in guessed:
        with pytest.raises(AccountError, match="password"):
            people.accounts.add("constantinople", Role.READER, password)
    number = people.accounts.add("Constantinople", Role.READER, GOOD).number
    for password in guessed:
        with pytest.raises(AccountError, match="password"):
            people.accounts.set_password(number, password)


@on_both
def test_an_administrator_is_always_left(store: Store) -> None:
    accounts = store.accounts
    with pytest.raises(AccountError, match="the first account must be an administrator's"):
        accounts.add("甲", Role.PROOFREADER, GOOD)
    assert accounts.everybody() == []
    first = accounts.add("甲", Role.ADMINISTRATOR, GOOD).number
    second = accounts.add("乙", Role.PROOFREADER, GOOD).number
    with pytest.raises(AccountError, match="甲 is the only administrator"):
        accounts.set_role(first, Role.PROOFREADER)
    with pytest.raises(AccountError, match="甲 is the only administrator"):
        accounts.set_disabled(first, True)
    accounts.set_role(second, Role.ADMINISTRATOR)
    accounts.set_disabled(first, True)
    with pytest.raises(AccountError, match="乙 is the only administrator"):
        accounts.set_disabled(second, True)


def test_what_ends_sessions_changes_what_they_hold_and_a_disabled_account_cannot_be_used(people: Store) -> None:
    account = people.accounts.named("乙")
    stamps = {account.stamp}
    people.accounts.end_sessions(account.number)
    stamps.add(people.accounts.get(account.number).stamp)
    stamps.add(people.accounts.set_password(account.number, OTHER).stamp)
    stamps.add(people.accounts.set_disabled(account.number, True).stamp)
    assert people.accounts.log_in("乙", OTHER) is None
    stamps.add(people.accounts.set_disabled(account.number, False).stamp)
    assert len(stamps) == 5
    assert people.accounts.log_in("乙", GOOD) is None
    assert people.accounts.log_in("乙", OTHER) is not None


def test_who_is_not_there_is_named(people: Store) -> None:
    with pytest.raises(NoAccountError, match="丙"):
        people.accounts.named("丙")
    with pytest.raises(NoAccountError, match="99"):
        people.accounts.set_role(99, Role.READER)


MANAGER = AccountActor("甲", AccountChannel.BROWSER)


@on_both
def test_whatever_is_done_to_an_account_leaves_an_event(people: Store) -> None:
    accounts = people.accounts
    account = accounts.add("丙", Role.READER, GOOD, provisional=True, by=MANAGER)
    accounts.set_role(account.number, Role.PROOFREADER, by=MANAGER)
    accounts.set_password(account.number, OTHER, provisional=True, by=MANAGER)
    accounts.set_password(account.number, GOOD, by=AccountActor("丙", AccountChannel.BROWSER))
    accounts.set_disabled(account.number, True, by=AccountActor("root", AccountChannel.COMMAND))
    accounts.set_disabled(account.number, False, by=MANAGER)
    events = [event for event in reversed(accounts.events()) if event.name == "丙"]
    assert [(event.change, event.was, event.now, event.person, event.channel) for event in events] == [
        (AccountChange.CREATED, "", "reader", "甲", AccountChannel.BROWSER),
        (AccountChange.ROLE, "reader", "proofreader", "甲", AccountChannel.BROWSER),
        (AccountChange.PASSWORD, "", "provisional", "甲", AccountChannel.BROWSER),
        (AccountChange.PASSWORD, "", "", "丙", AccountChannel.BROWSER),
        (AccountChange.DISABLED, "", "", "root", AccountChannel.COMMAND),
        (AccountChange.ENABLED, "", "", "甲", AccountChannel.BROWSER),
    ]
    assert [event.at for event in events] == sorted(event.at for event in events)
    newest = accounts.events(limit=3)
    assert newest + accounts.events(before=newest[-1].id) == accounts.events()
    assert [event.id for event in reversed(events)] == sorted((event.id for event in events), reverse=True)


def test_what_changes_nothing_or_is_refused_leaves_none(people: Store) -> None:
    accounts, before = people.accounts, len(people.accounts.events())
    first = accounts.named("甲").number
    accounts.set_role(first, Role.ADMINISTRATOR, by=MANAGER)
    accounts.set_disabled(first, False, by=MANAGER)
    accounts.log_in("甲", GOOD)
    accounts.end_sessions(first)
    refusals: list[Callable[[], object]] = [
        lambda: accounts.set_role(first, Role.READER, by=MANAGER),
        lambda: accounts.set_disabled(first, True, by=MANAGER),
        lambda: accounts.set_password(first, "short", by=MANAGER),
        lambda: accounts.add("甲", Role.READER, GOOD, by=MANAGER),
    ]
    for refused in refusals:
        with pytest.raises(AccountError):
            refused()
    assert len(accounts.events()) == before


@on_both
def test_the_database_itself_refuses_to_alter_what_was_done(people: Store) -> None:
    for change in ("UPDATE account_events SET person = '乙'", "DELETE FROM account_events"):
        with pytest.raises(DatabaseError, match="never altered"), people.engine.begin() as connection:
            connection.execute(text(change))
    assert len(people.accounts.events()) == 2
