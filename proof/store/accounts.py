"""Accounts: roles, passwords as argon2 hashes, and the stamp that the sessions of an account share.

An account is disabled, never deleted or renamed: decisions bear the name of their author. Every session of an account
holds its `stamp`; a new stamp ends all of them. Each change of an account adds an event in the same transaction. Events
are never changed or deleted.
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
from proof.store.lookup import Sessions, StorePart
from proof.store.models import AccountEventRow, AccountRow

LONGEST_NAME = 64
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 256
LEAST_DIFFERENT = 5
HANDED_OVER_FOR = timedelta(days=14)
"""How long a password that somebody else has set is good for a log-in: it is for the first one."""
_BREAKING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that no name has: what does not show could make two names look alike."""
_NOT_SHOWN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""What of other categories is not shown by itself (Unicode's Default_Ignorable_Code_Point), variation selectors above
all."""
_TYPED = "abcdefghjkmnpqrstuvwxyz23456789"
_HASHING = BoundedSemaphore(2)
"""A hash takes 64 MiB: a crowd at the door may not take all memory."""


class Role(StrEnum):
    """Roles; each includes the rights of the one before."""

    READER = "reader"
    PROOFREADER = "proofreader"
    ADMINISTRATOR = "administrator"


class Deed(StrEnum):
    """Changes of an account."""

    CREATED = "created"
    ROLE = "role"
    PASSWORD = "password"  # noqa: S105 - the name of a deed
    DISABLED = "disabled"
    ENABLED = "enabled"
    TOKEN = "token"  # noqa: S105 - the name of a deed
    TOKENS_REVOKED = "tokens revoked"


class AccountChannel(StrEnum):
    """The channel by which an account is changed."""

    BROWSER = "browser"
    COMMAND = "command line"
    PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class By:
    """The author of a change of an account: the owner of another account, or the user of the machine."""

    person: str
    way: AccountChannel


UNSAID = By("", AccountChannel.PROGRAM)
"""A program that does not say for whom."""


class AccountError(PublicError):
    """A name, password or role that cannot be."""

    http_status = 422


class ExpiredPasswordError(PublicError):
    """The password is right, and was handed over too long ago."""

    http_status = 403


class NoAccountError(PublicError):
    """There is no such account."""

    http_status = 404


@dataclass(frozen=True, slots=True)
class Account:
    """An account. `provisional`: another person set its password, which must be changed. Sessions hold `stamp`, tokens
    `token_stamp`, which is empty where there are none. `seen` is the time of the last log-in."""

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
    """Something that was done to the account `number` of `name`. `was` and `now` are roles where it is about them;
    a `PASSWORD` that its owner is to change is `provisional` now."""

    id: int
    number: int
    name: str
    deed: Deed
    was: str
    now: str
    person: str
    way: AccountChannel
    at: datetime


class Accounts(StorePart):
    """The accounts of a store; `Store.accounts` is one."""

    def __init__(self, reading: Sessions, writing: Sessions) -> None:
        super().__init__(reading, writing)
        self.hasher = PasswordHasher()

    def everybody(self) -> list[Account]:
        """All accounts, in the order of their names."""
        with self._reading() as session:
            return [_account(row) for row in session.scalars(select(AccountRow).order_by(AccountRow.handle))]

    def get(self, number: int) -> Account:
        """The account of that number. Raises NoAccountError."""
        with self._reading() as session:
            return _account(_row(session, number, to_change=False))

    def named(self, name: str) -> Account:
        """The account of that name, however its letters are written. Raises NoAccountError."""
        with self._reading() as session:
            row = session.scalar(select(AccountRow).where(AccountRow.handle == handle(name)))
            if row is None:
                raise NoAccountError(_("there is no account %(name)s; `proof user list` names them"), name=name)
            return _account(row)

    def events(self, *, before: int | None = None, limit: int = 50) -> list[AccountEvent]:
        """Changes of accounts, newest first, from the one before the event `before` on."""
        query = select(AccountEventRow, AccountRow.name).join(AccountRow, AccountRow.id == AccountEventRow.account_id)
        if before is not None:
            query = query.where(AccountEventRow.id < before)
        with self._reading() as session:
            rows = session.execute(query.order_by(AccountEventRow.id.desc()).limit(limit))
            return [_event(row, name) for row, name in rows]

    def add(self, name: str, role: Role, password: str, *, provisional: bool = False, by: By = UNSAID) -> Account:
        """Make an account; the first must be an administrator's. Raises AccountError."""
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
                _note(session, row, Deed.CREATED, by, now=role.value)
                return _account(row)
        except IntegrityError:
            raise AccountError(
                _("%(name)s: there is an account of this name already; names are never used again"), name=name
            ) from None

    def log_in(self, name: str, password: str) -> Account | None:
        """The account, if the password is right and the account is not disabled. An unknown name takes as long.

        A hash with outdated parameters is replaced. Raises ExpiredPasswordError for a provisional password that is too
        old.
        """
        with self._reading() as session:
            row = session.scalar(select(AccountRow).where(AccountRow.handle == handle(name)))
            number, known = (row.id, row.password) if row else (0, _nobodys(self.hasher))
        if not self._verify(known, password) or not number:
            return None
        fresh = self._hash(password) if self.hasher.check_needs_rehash(known) else known
        with self._writing() as session:
            row = _row(session, number)
            if row.disabled or row.password != known:  # changed while it was looked at
                return None
            if row.provisional and datetime.now(UTC) - _set_at(session, row) > HANDED_OVER_FOR:
                raise ExpiredPasswordError(
                    _("this first password was handed over more than %(days)s days ago; have another one set"),
                    days=HANDED_OVER_FOR.days,
                )
            row.password, row.seen = fresh, datetime.now(UTC)
            session.flush()
            return _account(row)

    def holds(self, number: int, password: str) -> bool:
        """Whether this is the password of the account."""
        with self._reading() as session:
            known = _row(session, number, to_change=False).password
        return self._verify(known, password)

    def set_password(self, number: int, password: str, *, provisional: bool = False, by: By = UNSAID) -> Account:
        """Give an account another password; all its sessions and tokens end. Raises AccountError, NoAccountError."""
        _check_password(password, self.get(number).name)
        hashed = self._hash(password)
        with self._writing() as session:
            row = _row(session, number)
            row.password, row.provisional, row.stamp, row.token_stamp = hashed, provisional, _new_stamp(), ""
            _note(session, row, Deed.PASSWORD, by, now="provisional" if provisional else "")
            session.flush()
            return _account(row)

    def set_role(self, number: int, role: Role, *, by: By = UNSAID) -> Account:
        """Give an account another role. Raises AccountError for the last administrator."""
        with self._writing() as session:
            row = _row(session, number)
            if role is not Role.ADMINISTRATOR:
                _must_not_be_last(session, row)
            if row.role != role.value:
                _note(session, row, Deed.ROLE, by, row.role, role.value)
            row.role = role.value
            session.flush()
            return _account(row)

    def set_disabled(self, number: int, disabled: bool, *, by: By = UNSAID) -> Account:
        """Shut an account, which ends all its sessions and tokens, or open it again. Raises AccountError for the last
        administrator."""
        with self._writing() as session:
            row = _row(session, number)
            if disabled:
                _must_not_be_last(session, row)
            if row.disabled != disabled:
                _note(session, row, Deed.DISABLED if disabled else Deed.ENABLED, by)
            row.disabled, row.stamp, row.token_stamp = disabled, _new_stamp(), ""
            session.flush()
            return _account(row)

    def end_sessions(self, number: int) -> None:
        """End all sessions of an account, in every browser."""
        with self._writing() as session:
            _row(session, number).stamp = _new_stamp()

    def allow_token(self, number: int, *, by: By = UNSAID) -> Account:
        """An account of which a token can be made. Raises NoAccountError."""
        with self._writing() as session:
            row = _row(session, number)
            row.token_stamp = row.token_stamp or _new_stamp()
            _note(session, row, Deed.TOKEN, by)
            return _account(row)

    def revoke_tokens(self, number: int, *, by: By = UNSAID) -> None:
        """End all tokens of an account. Raises NoAccountError."""
        with self._writing() as session:
            row = _row(session, number)
            row.token_stamp = ""
            _note(session, row, Deed.TOKENS_REVOKED, by)

    def _hash(self, password: str) -> str:
        with _HASHING:
            return self.hasher.hash(_letters(password))

    def _verify(self, known: str, password: str) -> bool:
        if len(password) > LONGEST_PASSWORD:
            return False
        try:
            with _HASHING:
                return self.hasher.verify(known, _letters(password))
        except (VerificationError, InvalidHashError):
            return False


def new_password() -> str:
    """A password to hand over: four groups of four letters and digits that are not taken for each other."""
    return "-".join("".join(secrets.choice(_TYPED) for _ in range(4)) for _ in range(4))


def handle(name: str) -> str:
    """The key by which a name is looked up: without differences of case and width. Takes any text."""
    return _letters(name).replace("\0", "\ufffd").casefold().strip()


def proper_name(name: str) -> str:
    """A name in the form in which it is stored. Raises AccountError for an invalid one."""
    name = unicodedata.normalize("NFC", name).strip()
    if not 1 <= len(name) <= LONGEST_NAME or len(handle(name)) > 255:
        raise AccountError(_("a name has 1 to %(most)s characters"), most=LONGEST_NAME)
    if _NOT_SHOWN.search(name) or any(unicodedata.category(char) in _BREAKING for char in name):
        raise AccountError(_("a name has no line endings and no characters that do not show"))
    return name


def _check_password(password: str, name: str) -> None:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise AccountError(
            _("a password has %(least)s to %(most)s characters"), least=SHORTEST_PASSWORD, most=LONGEST_PASSWORD
        )
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in password):
        raise AccountError(_("a password has no control characters"))
    if len(set(password)) < LEAST_DIFFERENT or handle(password) == handle(name):
        raise AccountError(
            _("that password is guessed at once; take one of at least %(least)s different characters"),
            least=LEAST_DIFFERENT,
        )


def _letters(typed: str) -> str:
    """A typed text in one normal form, whatever the keyboard."""
    return unicodedata.normalize("NFKC", typed).encode("utf-8", "replace").decode()


def _new_stamp() -> str:
    return secrets.token_hex(16)


@cache
def _nobodys(hasher: PasswordHasher) -> str:
    """A hash against which the password of an unknown name is verified."""
    return hasher.hash(secrets.token_hex(16))


def _row(session: Session, number: int, *, to_change: bool = True) -> AccountRow:
    row = session.get(AccountRow, number, with_for_update=to_change)
    if row is None:
        raise NoAccountError(_("there is no account %(number)s"), number=number)
    return row


def _set_at(session: Session, row: AccountRow) -> datetime:
    """When the password of an account was set."""
    deeds = AccountEventRow.deed.in_([Deed.CREATED.value, Deed.PASSWORD.value])
    last = select(func.max(AccountEventRow.id)).where(AccountEventRow.account_id == row.id, deeds)
    at = session.scalar(select(AccountEventRow.at).where(AccountEventRow.id == last.scalar_subquery()))
    return at or row.made


def _administrators(session: Session) -> int:
    can = AccountRow.role == Role.ADMINISTRATOR.value, AccountRow.disabled.is_(False)
    return len(session.scalars(select(AccountRow.id).where(*can).with_for_update()).all())


def _must_not_be_last(session: Session, row: AccountRow) -> None:
    is_one = row.role == Role.ADMINISTRATOR.value and not row.disabled
    if is_one and _administrators(session) == 1:
        raise AccountError(_("%(name)s is the only administrator: make another one first"), name=row.name)


def _note(session: Session, row: AccountRow, deed: Deed, by: By, was: str = "", now: str = "") -> None:
    done = AccountEventRow(
        account_id=row.id, deed=deed.value, was=was, now=now, person=by.person, way=by.way.value, at=datetime.now(UTC)
    )
    session.add(done)
    session.flush()


def _event(row: AccountEventRow, name: str) -> AccountEvent:
    return AccountEvent(
        row.id, row.account_id, name, Deed(row.deed), row.was, row.now, row.person, AccountChannel(row.way), row.at
    )


def _account(row: AccountRow) -> Account:
    stamps = row.stamp, row.token_stamp
    return Account(row.id, row.name, Role(row.role), row.disabled, row.provisional, *stamps, row.made, row.seen)
