"""The tables. A change here needs a migration in `migrations/versions`; a test compares the two.

All characters of a page are one packed value in a table of its own (see `codec`): a work of 27,000 pages has eight
million of them, they are written and read page by page, and as rows they would take ten times the space. Columns and
flags are searched, so they are rows.

The `id` of a row is called its number: page number, flag number. The id of a page is that in its transcription, the id
of a flag its stable `uid`.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedColumn, mapped_column

from proof.text.positions import Span

BigKey = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows automatically only for INTEGER


class Moment(TypeDecorator[datetime]):
    """A point in time, in UTC; some databases return it without a time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The base of all tables. Constraints have names, so that a later migration can drop them on every database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class WorkRow(Base):
    """A work; `name` is the id in its transcription (`KR1d0030`). Every check and export raises `revision`."""

    __tablename__ = "works"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(255), unique=True)
    title: Mapped[str] = mapped_column(Text)
    revision: Mapped[int] = mapped_column(default=0)


class RunRow(Base):
    """One run of a check: its settings, engine and times."""

    __tablename__ = "runs"

    id: Mapped[int] = mapped_column(primary_key=True)
    work_id: Mapped[int] = mapped_column(ForeignKey("works.id"), index=True)
    engine_name: Mapped[str] = mapped_column(String(255))
    engine_version: Mapped[str] = mapped_column(String(255))
    engine_model: Mapped[str] = mapped_column(Text)
    engine_checksum: Mapped[str] = mapped_column(String(255))
    settings: Mapped[dict[str, Any]] = mapped_column(JSON)
    texts: Mapped[list[dict[str, str]]] = mapped_column(JSON)
    version: Mapped[str] = mapped_column(String(64))
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    started: Mapped[datetime] = mapped_column(Moment)
    finished: Mapped[datetime | None] = mapped_column(Moment)


class TextRow(Base):
    """A transcription file; `version_id` is the version that was checked or written last. It is null only while the
    first version is added."""

    __tablename__ = "texts"

    id: Mapped[int] = mapped_column(primary_key=True)
    path: Mapped[str] = mapped_column(String(1024), unique=True)
    version_id: Mapped[int] = mapped_column(BigKey, nullable=True)


class TextVersionRow(Base):
    """A version of a text: its compressed `content`, and the hash `sha` of the content. Later versions have larger
    numbers; a text that returns to an earlier content gets a new version. `edits` (start, length, replacement) are
    those by which exports made it of the version before; null if no export did."""

    __tablename__ = "text_versions"
    __table_args__ = (Index(None, "text_id", "sha"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    text_id: Mapped[int] = mapped_column(ForeignKey("texts.id"))
    sha: Mapped[str] = mapped_column(String(64))
    content: Mapped[bytes] = mapped_column(LargeBinary)
    edits: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))


class PageRow(Base):
    """A page with its result from the last check.

    `page` is its id; pages with the same id are numbered by `repeat` from 0. `run_id` is the last run that had the
    page, `result_run_id` the run that read it. `key` identifies the image, text, engine and settings of the result. The
    page begins at code point `start` of version `version_id` of its text; `lines` has the start of each column from
    there, and its length, by column number. An `absent` page is no longer in its transcription. `changed_after` is the
    number of page events when the text was last found changed.
    """

    __tablename__ = "pages"
    __table_args__ = (
        UniqueConstraint("work_id", "page", "repeat"),
        Index(None, "run_id", "position"),
        Index(None, "work_id", "text", "position"),
        Index(None, "page"),
        Index(None, "ref"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    work_id: Mapped[int] = mapped_column(ForeignKey("works.id"))
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    result_run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    page: Mapped[str] = mapped_column(String(255))
    repeat: Mapped[int]
    position: Mapped[int]
    text: Mapped[str] = mapped_column(String(1024))
    text_id: Mapped[int | None] = mapped_column(ForeignKey("texts.id"))
    version_id: Mapped[int | None] = mapped_column(BigKey)
    start: Mapped[int] = mapped_column(default=0)
    lines: Mapped[dict[str, list[int]]] = mapped_column(JSON, default=dict)
    juan: Mapped[str] = mapped_column(String(255))
    folio: Mapped[str] = mapped_column(String(64))
    absent: Mapped[bool] = mapped_column(default=False)
    key: Mapped[str] = mapped_column(String(128), index=True)
    ref: Mapped[str] = mapped_column(String(255))
    status: Mapped[str] = mapped_column(String(32))
    notice: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    image: Mapped[str | None] = mapped_column(Text)
    image_sha: Mapped[str] = mapped_column(String(128), index=True)
    width: Mapped[int]
    height: Mapped[int]
    box: Mapped[list[float] | None] = mapped_column(JSON(none_as_null=True))
    skew: Mapped[float] = mapped_column(Double)
    characters_checked: Mapped[int]
    notices: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    seconds: Mapped[float] = mapped_column(Double)
    changed_after: Mapped[int] = mapped_column(default=0)

    @property
    def spans(self) -> dict[int, Span]:
        """The places of the columns in the version of the text, by column number."""
        return {int(number): Span(self.start + begin, length) for number, (begin, length) in self.lines.items()}


class ColumnRow(Base):
    """A column of a page: its number in the transcription, its box, and its source text."""

    __tablename__ = "columns"

    page_id: Mapped[int] = mapped_column(ForeignKey("pages.id"), primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int]
    x: Mapped[float] = mapped_column(Double)
    y: Mapped[float] = mapped_column(Double)
    w: Mapped[float] = mapped_column(Double)
    h: Mapped[float] = mapped_column(Double)
    source: Mapped[str] = mapped_column(Text)


class CharactersRow(Base):
    """All characters of a page, packed by `codec`."""

    __tablename__ = "characters"

    page_id: Mapped[int] = mapped_column(ForeignKey("pages.id"), primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class GlyphRow(Base):
    """The occurrences of a character on a page, `count` of them: their places and shapes, packed by `glyphs`."""

    __tablename__ = "glyphs"

    work_id: Mapped[int] = mapped_column(ForeignKey("works.id"), primary_key=True)
    text: Mapped[str] = mapped_column(String(64), primary_key=True)
    page_id: Mapped[int] = mapped_column(ForeignKey("pages.id"), primary_key=True, index=True)
    count: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class FlagRow(Base):
    """A flag; `uid` is its stable id, `origin` the value of an `Origin`, `ordinal` its index among the findings of its
    page. A flag that the last check did not find becomes stale.

    `line`, `offset` and `length` are its place in the columns of its page when that was checked. `start` and `extent`
    are its place in version `version_id` of its text, and `reads` are the characters there: those `transcribed` or,
    after an export, those decided (`texts`). A flag has lost its place if this is not the present version of the text.
    `former` orders what was deleted at one place, or put in and taken out again, as it stood there: flags that deleted
    the same characters, in several works, have the same number.
    `state` and `reading` are those after the last of `version` decisions."""

    __tablename__ = "flags"
    __table_args__ = (
        UniqueConstraint("page_id", "uid"),
        Index(None, "work_id", "stale", "raised", "score"),
        # covers all columns that counting pairs needs, so that the rows themselves are not read
        Index("ix_flags_pairs", "work_id", "stale", "transcribed", "suggested", "raised", "origin", "state", "page_id"),
        Index(None, "work_id", "id"),
        Index(None, "uid"),
        Index(None, "text_id", "version_id", "start"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    work_id: Mapped[int] = mapped_column(ForeignKey("works.id"))
    page_id: Mapped[int] = mapped_column(ForeignKey("pages.id"))
    uid: Mapped[str] = mapped_column(String(64))
    last_run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    origin: Mapped[str] = mapped_column(String(16))
    stale: Mapped[bool] = mapped_column(default=False)
    ordinal: Mapped[int] = mapped_column(default=0)
    ref: Mapped[str] = mapped_column(String(255))
    line: Mapped[int]
    offset: Mapped[int]
    length: Mapped[int]
    kind: Mapped[str] = mapped_column(String(32))
    transcribed: Mapped[str] = mapped_column(Text)
    suggested: Mapped[str] = mapped_column(Text)
    score: Mapped[float] = mapped_column(Double)
    raised: Mapped[bool]
    x: Mapped[float | None] = mapped_column(Double)
    y: Mapped[float | None] = mapped_column(Double)
    w: Mapped[float | None] = mapped_column(Double)
    h: Mapped[float | None] = mapped_column(Double)
    context: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(String(255))
    rule: Mapped[str] = mapped_column(String(255))
    evidence: Mapped[dict[str, Any]] = mapped_column(JSON)
    state: Mapped[str] = mapped_column(String(16), default="open")
    reading: Mapped[str] = mapped_column(Text, default="")
    version: Mapped[int] = mapped_column(default=0)
    text_id: Mapped[int | None] = mapped_column(ForeignKey("texts.id"))
    version_id: Mapped[int | None] = mapped_column(BigKey)
    start: Mapped[int | None]
    extent: Mapped[int] = mapped_column(default=0)
    reads: Mapped[str] = mapped_column(Text, default="")
    former: Mapped[int] = mapped_column(default=0)

    @property
    def span(self) -> Span:
        """The place in the version of the text; at its beginning if the flag has none."""
        return Span(self.start or 0, self.extent)


def _of_kind(*column: Any) -> MappedColumn[Any]:
    """A column that only some kinds of acts use; it is null in others."""
    return mapped_column(*column, nullable=True, use_existing_column=True)


class ActRow(Base):
    """An act of a person; `act` is its kind. Rows are only added: the database refuses to change or delete them.

    `key` is that of the request, `about` the number of the act that this one undoes. Columns of several kinds:
    `version` counts the acts of one kind on one flag or page from 1, `state` is the state after the act."""

    __tablename__ = "acts"
    __table_args__ = (UniqueConstraint("key"), Index(None, "work_id", "act", "id"))
    __mapper_args__ = {"polymorphic_on": "act"}  # noqa: RUF012 - SQLAlchemy expects this form

    def __init_subclass__(cls, act: str, **options: Any) -> None:
        """A kind of acts, called `act` in the table."""
        cls.__mapper_args__ = {"polymorphic_identity": act}
        super().__init_subclass__(**options)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    act: Mapped[str] = mapped_column(String(16))
    work_id: Mapped[int] = mapped_column(ForeignKey("works.id"))
    key: Mapped[str] = mapped_column(String(64), default=lambda: uuid.uuid4().hex)
    person: Mapped[str] = mapped_column(String(255))
    at: Mapped[datetime] = mapped_column(Moment, default=lambda: datetime.now(UTC))
    about: Mapped[int | None] = mapped_column(BigKey, index=True)


class FlagAct:
    """An act on a flag, with the place and the evidence of the flag at that time."""

    flag_id: Mapped[int] = _of_kind(BigKey, ForeignKey("flags.id"))
    version: Mapped[int] = _of_kind()
    batch: Mapped[str] = _of_kind(String(64))
    verdict: Mapped[str] = _of_kind(String(16))
    was_state: Mapped[str] = _of_kind(String(16))
    state: Mapped[str] = _of_kind(String(16))
    was: Mapped[str] = _of_kind(Text)
    reading: Mapped[str] = _of_kind(Text)
    note: Mapped[str] = _of_kind(Text)
    authority: Mapped[str] = _of_kind(Text)
    copy_reads: Mapped[str] = _of_kind(Text)
    uid: Mapped[str] = _of_kind(String(64))
    page: Mapped[str] = _of_kind(String(255))
    ref: Mapped[str] = _of_kind(String(255))
    line: Mapped[int] = _of_kind()
    offset: Mapped[int] = _of_kind()
    length: Mapped[int] = _of_kind()
    kind: Mapped[str] = _of_kind(String(32))
    transcribed: Mapped[str] = _of_kind(Text)
    suggested: Mapped[str] = _of_kind(Text)
    context: Mapped[str] = _of_kind(Text)
    evidence: Mapped[dict[str, Any]] = _of_kind(JSON)


class DecisionRow(FlagAct, ActRow, act="decision"):
    """A decision on a flag."""


class ReadingRow(FlagAct, ActRow, act="reading"):
    """A decision on a flag in blind double proofreading. Each person has a chain of their own, ordered by `id`;
    `version` is null."""


class PageEventRow(ActRow, act="page"):
    """A change of a page's state; the last one is valid."""

    page_id: Mapped[int] = _of_kind(ForeignKey("pages.id"))
    version: Mapped[int] = _of_kind()
    state: Mapped[str] = _of_kind(String(16))
    note: Mapped[str] = _of_kind(Text)


class LayoutOverrideRow(ActRow, act="layout"):
    """A layout override of a page: its layout, its image (a path inside the image folders), or neither, which restores
    detection. The last one is valid."""

    page_id: Mapped[int] = _of_kind(ForeignKey("pages.id"))
    version: Mapped[int] = _of_kind()
    layout: Mapped[dict[str, Any] | None] = _of_kind(JSON(none_as_null=True))
    image: Mapped[str] = _of_kind(Text)
    quadrant: Mapped[str] = _of_kind(String(1))


class CommentRow(ActRow, act="comment"):
    """A comment on a flag (with the id `uid` and the place of the flag at that time), or else on a page. `state`, the
    value of a `CommentState`, and the person `assigned` are those after the comment; those of the last comment, by
    `at`, are valid."""

    page_id: Mapped[int] = _of_kind(ForeignKey("pages.id"))
    flag_id: Mapped[int | None] = _of_kind(BigKey, ForeignKey("flags.id"))
    uid: Mapped[str] = _of_kind(String(64))
    text: Mapped[str] = _of_kind(Text)
    state: Mapped[str] = _of_kind(String(16))
    assigned: Mapped[str] = _of_kind(String(255))
    line: Mapped[int] = _of_kind()
    offset: Mapped[int] = _of_kind()
    transcribed: Mapped[str] = _of_kind(Text)
    suggested: Mapped[str] = _of_kind(Text)
    context: Mapped[str] = _of_kind(Text)


class AssignmentRow(ActRow, act="assignment"):
    """The assignment of a page to the person `assigned` (`state` is `given`), or its end (`back`). The last one of a
    page is valid."""

    page_id: Mapped[int] = _of_kind(ForeignKey("pages.id"))
    state: Mapped[str] = _of_kind(String(16))
    assigned: Mapped[str] = _of_kind(String(255))
    batch: Mapped[str] = _of_kind(String(64))


class ReportRow(ActRow, act="report"):
    """A report of an error by a reader without an account: column `line` of a page has `transcribed` where it should
    have `reading`. A row `about` a report settles or dismisses it. `state` is the value of a `ReportState`."""

    page_id: Mapped[int] = _of_kind(ForeignKey("pages.id"))
    line: Mapped[int] = _of_kind()
    transcribed: Mapped[str] = _of_kind(Text)
    reading: Mapped[str] = _of_kind(Text)
    note: Mapped[str] = _of_kind(Text)
    state: Mapped[str] = _of_kind(String(16))


class RuleRow(ActRow, act="rule"):
    """A rule that two characters are variants in a work, set (`holds`) or lifted. The last row of a pair is valid.
    `planted`: the pair occurred only in seeded errors when the rule was set, so that it hides only these."""

    transcribed: Mapped[str] = _of_kind(Text)
    suggested: Mapped[str] = _of_kind(Text)
    holds: Mapped[bool] = _of_kind()
    planted: Mapped[bool] = _of_kind()


_acts = Base.metadata.tables["acts"].c
UniqueConstraint(_acts.act, _acts.flag_id, _acts.version)
UniqueConstraint(_acts.act, _acts.page_id, _acts.version)
Index(None, _acts.flag_id)
Index(None, _acts.page_id)
Index(None, _acts.state, _acts.assigned)
Index(None, _acts.transcribed, _acts.suggested)


class AccountRow(Base):
    """An account. `handle` is the normalised `name` for look-up, `password` an argon2 hash. Sessions contain `stamp`
    and API tokens `token_stamp`, and are invalid once it changes; without a `token_stamp` there are no tokens.
    `provisional`: the password must be changed. `made` and `seen` are the times of its creation and of the last
    log-in."""

    __tablename__ = "accounts"
    __table_args__ = (UniqueConstraint("name"), UniqueConstraint("handle"))

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(255))
    handle: Mapped[str] = mapped_column(String(255))
    role: Mapped[str] = mapped_column(String(32))
    password: Mapped[str] = mapped_column(Text)
    disabled: Mapped[bool] = mapped_column(default=False)
    provisional: Mapped[bool] = mapped_column(default=False)
    stamp: Mapped[str] = mapped_column(String(64))
    token_stamp: Mapped[str] = mapped_column(String(64), default="")
    made: Mapped[datetime] = mapped_column(Moment)
    seen: Mapped[datetime | None] = mapped_column(Moment)


class AccountEventRow(Base):
    """A change of an account. Rows are only added: the database refuses to change or delete them. `way` is the browser,
    or the command line, where `person` is the user of the machine."""

    __tablename__ = "account_events"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    deed: Mapped[str] = mapped_column(String(16))
    was: Mapped[str] = mapped_column(String(32))
    now: Mapped[str] = mapped_column(String(32))
    person: Mapped[str] = mapped_column(String(255))
    way: Mapped[str] = mapped_column(String(16))
    at: Mapped[datetime] = mapped_column(Moment)


class LibraryRow(Base):
    """A folder of a library: its path, its work, the result of its last check, and its position in the order of
    checking."""

    __tablename__ = "library"

    folder: Mapped[str] = mapped_column(String(512), primary_key=True)
    work: Mapped[str] = mapped_column(String(255), default="", index=True)
    state: Mapped[str] = mapped_column(String(16))
    trouble: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    turn: Mapped[int]


class CacheRow(Base):
    """A cached value under a `key` of all that it depends on; only its writer knows the format of `data`."""

    __tablename__ = "readings"

    key: Mapped[str] = mapped_column(String(128), primary_key=True)
    size: Mapped[int]
    used: Mapped[datetime] = mapped_column(Moment, index=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)
