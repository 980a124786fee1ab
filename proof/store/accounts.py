"""Accounts: roles, passwords as argon2 hashes, and the stamps of sessions and tokens.

An account can be disabled, but is never deleted or renamed, since decisions bear the name of their author. Every
session of an account holds its `stamp`; a new stamp ends all of them. Each change of an account adds an event in the
same transaction. Events are never changed or deleted.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from proof.errors import PublicError
from proof.locale.marking import _
from proof.store.lookup import Sessions, StorePart, filled
from proof.store.models import AccountEventRow, AccountRow

LONGEST_NAME = 64
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 256
MIN_DISTINCT_CHARACTERS = 5
"""Minimum number of different characters in a password."""
MAX_PROVISIONAL_AGE = timedelta(days=14)
"""Age up to which a password that another person set can be used for the first log-in."""
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that names must not contain: with invisible characters two names could look alike."""
_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Invisible characters of other categories (Unicode's Default_Ignorable_Code_Point), mostly variation selectors."""
_UNAMBIGUOUS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Characters of generated passwords, without those that are easily confused (i, l, o, 0, 1)."""
_HASH_SLOTS = BoundedSemaphore(2)
"""Limits the number of hashes that are computed at the same time: each takes 64 MiB of memory."""


class Role(StrEnum):
    """The roles of accounts. Each has the rights of the one before."""

    READER = "reader"
    PROOFREADER = "proofreader"
    ADMINISTRATOR = "administrator"


class AccountChange(StrEnum):
    """The kinds of changes of an account."""

    CREATED = "created"
    ROLE = "role"
    PASSWORD = "password"  # noqa: S105 - the name of a change
    DISABLED = "disabled"
    ENABLED = "enabled"
    TOKEN = "token"  # noqa: S105 - the name of a change
    TOKENS_REVOKED = "tokens revoked"


class AccountChannel(StrEnum):
    """The channel by which an account is changed."""

    BROWSER = "browser"
    COMMAND = "command line"
    PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class AccountActor:
    """Who changes an account, and by which channel: the owner of an account, or the user of the machine."""

    person: str
    channel: AccountChannel


UNNAMED_PROGRAM = AccountActor("", AccountChannel.PROGRAM)
"""The actor of changes for which a program names no person."""


class AccountError(PublicError):
    """An invalid name or password, or a change that would leave no administrator."""

    http_status = 422


class ExpiredPasswordError(PublicError):
    """A provisional password that is right, but was set too long ago."""

    http_status = 403


class NoAccountError(PublicError):
    """There is no such account."""

    http_status = 404


@dataclass(frozen=True, slots=True)
class Account:
    """An account. `provisional`: another person set its password, which must be changed. Its sessions hold `stamp`, its
    tokens hold `token_stamp`, '' if there are none. `made` is the time of its creation, `seen` of the last log-in."""

    number: int
    name: str
    role: Role
    disabled: bool
    provisional: bool
    stamp: str
    token_stamp: str
    made: datetime
    seen: datetime | None


@dataclass(frozen=True, slots=True)
class AccountEvent:
    """A change of the account with this `number` and `name`. For the changes `role` and `created`, `was` and `now` are
    roles; for `password`, `now` is "provisional" if the owner must change it. `person` made the change."""

    id: int
    number: int
    name: str
    change: AccountChange
    was: str
    now: str
    person: str
    channel: AccountChannel
    at: datetime


class Accounts(StorePart):
    """The accounts of a store, as `Store.accounts`."""

    def __init__(self, reading: Sessions, writing: Sessions) -> None:
        super().__init__(reading, writing)
        self.hasher = PasswordHasher()

    def everybody(self) -> list[Account]:
        """All accounts, sorted by name."""
        with self._reading() as session:
            return [_account(row) for row in session.scalars(select(AccountRow).order_by(AccountRow.handle))]

    def get(self, number: int) -> Account:
        """The account with this number. Raises NoAccountError."""
        with self._reading() as session:
            return _account(_row(session, number, to_change=False))

    def named(self, name: str) -> Account:
        """The account with this name, in any case and width. Raises NoAccountError."""
        with self._reading() as session:
            row = session.scalar(select(AccountRow).where(AccountRow.handle == handle(name)))
            if row is None:
                raise NoAccountError(_("there is no account %(name)s; `proof user list` names them"), name=name)
            return _account(row)

    def events(self, *, before: int | None = None, limit: int = 50) -> list[AccountEvent]:
        """Changes of accounts, newest first, at most `limit`; with `before`, only those before the event of that id."""
        query = select(AccountEventRow, AccountRow.name).join(AccountRow, AccountRow.id == AccountEventRow.account_id)
        if before is not None:
            query = query.where(AccountEventRow.id < before)
        with self._reading() as session:
            rows = session.execute(query.order_by(AccountEventRow.id.desc()).limit(limit))
            return [_event(row, name) for row, name in rows]

    def add(
        self, name: str, role: Role, password: str, *, provisional: bool = False, by: AccountActor = UNNAMED_PROGRAM
    ) -> Account:
        """Create an account; the first must be an administrator's. Raises AccountError."""
        name = proper_name(name)
        _check_password(password, name)
        hashed = self._hash(password)
        try:
            with self._writing() as session:
                if role is not Role.ADMINISTRATOR and not _administrators(session):
                    raise AccountError(
                        _("the first account must be an administrator's: nobody could manage the others")
                    )
                row = AccountRow(
                    name=name,
                    handle=handle(name),
                    role=role.value,
                    password=hashed,
                    provisional=provisional,
                    stamp=_new_stamp(),
                    made=datetime.now(UTC),
                )
                session.add(row)
                session.flush()
                _add_event(session, row, AccountChange.CREATED, by, now=role.value)
                return _account(row)
        except IntegrityError:
            raise AccountError(
                _("%(name)s: there is an account of this name already; names are never used again"), name=name
            ) from None

    def log_in(self, name: str, password: str) -> Account | None:
        """The account, if the password is right and the account is not disabled.

        An unknown name takes as long as a wrong password. A hash with outdated parameters is replaced. Raises
        ExpiredPasswordError for a provisional password that is too old.
        """
        with self._reading() as session:
            row = session.scalar(select(AccountRow).where(AccountRow.handle == handle(name)))
            number, stored_hash = (row.id, row.password) if row else (0, _dummy_hash(self.hasher))
        if not self._verify(stored_hash, password) or not number:
            return None
        new_hash = self._hash(password) if self.hasher.check_needs_rehash(stored_hash) else stored_hash
        with self._writing() as session:
            row = _row(session, number)
            if row.disabled or row.password != stored_hash:  # the password may have been changed meanwhile
                return None
            if row.provisional and datetime.now(UTC) - _password_set_at(session, row) > MAX_PROVISIONAL_AGE:
                raise ExpiredPasswordError(
                    _("this first password was handed over more than %(days)s days ago; have another one set"),
                    days=MAX_PROVISIONAL_AGE.days,
                )
            row.password, row.seen = new_hash, datetime.now(UTC)
            session.flush()
            return _account(row)

    def is_password(self, number: int, password: str) -> bool:
        """Whether this is the password of the account. Raises NoAccountError."""
        with self._reading() as session:
            stored_hash = _row(session, number, to_change=False).password
        return self._verify(stored_hash, password)

    def set_password(
        self, number: int, password: str, *, provisional: bool = False, by: AccountActor = UNNAMED_PROGRAM
    ) -> Account:
        """Set the password of an account, which ends its sessions and tokens. Raises AccountError, NoAccountError."""
        _check_password(password, self.get(number).name)
        hashed = self._hash(password)
        with self._writing() as session:
            row = _row(session, number)
            row.password, row.provisional, row.stamp, row.token_stamp = hashed, provisional, _new_stamp(), ""
            _add_event(session, row, AccountChange.PASSWORD, by, now="provisional" if provisional else "")
            session.flush()
            return _account(row)

    def set_role(self, number: int, role: Role, *, by: AccountActor = UNNAMED_PROGRAM) -> Account:
        """Set the role of an account. Raises NoAccountError, and AccountError for the last administrator."""
        with self._writing() as session:
            row = _row(session, number)
            if role is not Role.ADMINISTRATOR:
                _must_not_be_last(session, row)
            if row.role != role.value:
                _add_event(session, row, AccountChange.ROLE, by, row.role, role.value)
            row.role = role.value
            session.flush()
            return _account(row)

    def set_disabled(self, number: int, disabled: bool, *, by: AccountActor = UNNAMED_PROGRAM) -> Account:
        """Disable an account or enable it again; either ends its sessions and tokens. Raises NoAccountError, and
        AccountError for the last administrator."""
        with self._writing() as session:
            row = _row(session, number)
            if disabled:
                _must_not_be_last(session, row)
            if row.disabled != disabled:
                _add_event(session, row, AccountChange.DISABLED if disabled else AccountChange.ENABLED, by)
            row.disabled, row.stamp, row.token_stamp = disabled, _new_stamp(), ""
            session.flush()
            return _account(row)

    def end_sessions(self, number: int) -> None:
        """End the sessions of an account in all browsers. Raises NoAccountError."""
        with self._writing() as session:
            _row(session, number).stamp = _new_stamp()

    def allow_token(self, number: int, *, by: AccountActor = UNNAMED_PROGRAM) -> Account:
        """Prepare an account for making a token; returns it with its token stamp. Raises NoAccountError."""
        with self._writing() as session:
            row = _row(session, number)
            row.token_stamp = row.token_stamp or _new_stamp()
            _add_event(session, row, AccountChange.TOKEN, by)
            return _account(row)

    def revoke_tokens(self, number: int, *, by: AccountActor = UNNAMED_PROGRAM) -> None:
        """End all tokens of an account. Raises NoAccountError."""
        with self._writing() as session:
            row = _row(session, number)
            row.token_stamp = ""
            _add_event(session, row, AccountChange.TOKENS_REVOKED, by)

    def _hash(self, password: str) -> str:
        with _HASH_SLOTS:
            return self.hasher.hash(_normalised(password))

    def _verify(self, stored_hash: str, password: str) -> bool:
        if len(password) > LONGEST_PASSWORD:
            return False
        try:
            with _HASH_SLOTS:
                return self.hasher.verify(stored_hash, _normalised(password))
        except (VerificationError, InvalidHashError):
            return False


def new_password() -> str:
    """A random password to hand over: four groups of four letters and digits that are not easily confused."""
    return "-".join("".join(secrets.choice(_UNAMBIGUOUS) for _ in range(4)) for _ in range(4))


def handle(name: str) -> str:
    """The key by which a name is looked up, without differences of case and width. Accepts any text."""
    return _normalised(name).replace("\0", "\ufffd").casefold().strip()


def proper_name(name: str) -> str:
    """A name in its stored form. Raises AccountError for an invalid name."""
    name = unicodedata.normalize("NFC", name).strip()
    if not 1 <= len(name) <= LONGEST_NAME or len(handle(name)) > 255:
        raise AccountError(_("a name has 1 to %(most)s characters"), most=LONGEST_NAME)
    if _IGNORABLE.search(name) or any(unicodedata.category(char) in _INVISIBLE_CATEGORIES for char in name):
        raise AccountError(_("a name has no line endings and no characters that do not show"))
    return name


def _check_password(password: str, name: str) -> None:
    """Raise AccountError for a password that is not allowed, or too easily guessed, for an account of this name."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise AccountError(
            _("a password has %(least)s to %(most)s characters"), least=SHORTEST_PASSWORD, most=LONGEST_PASSWORD
        )
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in password):
        raise AccountError(_("a password has no control characters"))
    if len(set(password)) < MIN_DISTINCT_CHARACTERS or handle(password) == handle(name):
        raise AccountError(
            _("that password is guessed at once; take one of at least %(least)s different characters"),
            least=MIN_DISTINCT_CHARACTERS,
        )


def _normalised(typed: str) -> str:
    """A typed text in a normal form (NFKC), since keyboards and input methods differ in the forms that they give."""
    return unicodedata.normalize("NFKC", typed).encode("utf-8", "replace").decode()


def _new_stamp() -> str:
    return secrets.token_hex(16)


@cache
def _dummy_hash(hasher: PasswordHasher) -> str:
    """A hash for verifying the password of an unknown name, so that this takes as long as for a known one."""
    return hasher.hash(secrets.token_hex(16))


def _row(session: Session, number: int, *, to_change: bool = True) -> AccountRow:
    """The row of an account, locked if it is `to_change`. Raises NoAccountError."""
    row = session.get(AccountRow, number, with_for_update=to_change)
    if row is None:
        raise NoAccountError(_("there is no account %(number)s"), number=number)
    return row


def _password_set_at(session: Session, row: AccountRow) -> datetime:
    """When the password of an account was set."""
    set_password = AccountEventRow.deed.in_([AccountChange.CREATED.value, AccountChange.PASSWORD.value])
    last = select(func.max(AccountEventRow.id)).where(AccountEventRow.account_id == row.id, set_password)
    at = session.scalar(select(AccountEventRow.at).where(AccountEventRow.id == last.scalar_subquery()))
    return at or row.made


def _administrators(session: Session) -> int:
    """The number of enabled administrators, whose rows are locked."""
    is_administrator = AccountRow.role == Role.ADMINISTRATOR.value, AccountRow.disabled.is_(False)
    return len(session.scalars(select(AccountRow.id).where(*is_administrator).with_for_update()).all())


def _must_not_be_last(session: Session, row: AccountRow) -> None:
    """Raise AccountError for the last administrator."""
    is_administrator = row.role == Role.ADMINISTRATOR.value and not row.disabled
    if is_administrator and _administrators(session) == 1:
        raise AccountError(_("%(name)s is the only administrator: make another one first"), name=row.name)


def _add_event(
    session: Session, row: AccountRow, change: AccountChange, by: AccountActor, was: str = "", now: str = ""
) -> None:
    event = AccountEventRow(
        account_id=row.id,
        deed=change.value,
        was=was,
        now=now,
        person=by.person,
        way=by.channel.value,
        at=datetime.now(UTC),
    )
    session.add(event)
    session.flush()


def _event(row: AccountEventRow, name: str) -> AccountEvent:
    change, channel = AccountChange(row.deed), AccountChannel(row.way)
    return filled(AccountEvent, row, number=row.account_id, name=name, change=change, channel=channel)


def _account(row: AccountRow) -> Account:
    return filled(Account, row, number=row.id, role=Role(row.role))
