"""Notices are codes with values: what earlier versions wrote as English sentences is known again by its pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

BATCH = 1000
"""Rows that are rewritten together."""

ONE = {"number": 1}

SENTENCES: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("room", "room for %(number)s characters", {}),
    ("part-of-cell", "%(number)s of a cell", {}),
    ("ink-unread", "ink that the engine did not read", {}),
    ("carries-later", "this image carries %(page)s, one page on", ONE),
    ("carries-later", "this image carries %(page)s, %(number)s pages on", {}),
    ("carries-earlier", "this image carries %(page)s, one page back", ONE),
    ("carries-earlier", "this image carries %(page)s, %(number)s pages back", {}),
    ("carries-other", "this image carries none of the pages around this one", {}),
    ("hardly-read", "hardly anything can be read on this image", {}),
    ("inverted", "light characters on a dark ground: the image was inverted", {}),
    ("several-files", "several files would do: %(file)s is used, not %(others)s", {}),
    ("several-readings", "several readings would do: %(file)s is used, not %(others)s", {}),
    ("line-without-place", "%(where)s: the line has no %(what)s and is passed over", {}),
    ("not-ruled", "no ruled columns were found", {}),
    ("level-lines", "%(number)s level line across the columns (a table or registers)", {}),
    ("level-lines", "%(number)s level lines across the columns (a table or registers)", {}),
    ("read-by-page-pipeline", "%(why)s; read by the page pipeline of %(engine)s", {}),
    ("sequence", "after %(one)s comes %(other)s: %(what)s", {}),
    ("unnumbered", "a page without number", {}),
    ("juan-back", "a juan starts, but the images go back", {}),
    ("juan-on-same-image", "a juan starts on the image of the page before", {}),
    ("volume-within-juan", "the images change volume, or from quadrants to plates, within a juan", {}),
    ("same-page", "the same page twice", {}),
    ("half-folios-missing", "one half-folio is missing between them", ONE),
    ("half-folios-missing", "%(number)s half-folios are missing between them", {}),
    ("pages-back", "the pages go back by %(number)s", {}),
    ("folio-stays", "the folio stays while the images advance by %(number)s", {}),
    ("image-stays", "one image for two pages, the folios advance by %(number)s", {}),
    ("unequal-steps", "the folios advance by %(folios)s, the images by %(images)s", {}),
    ("no-memory", "there is not enough memory for this page", {}),
    ("check-broke", "%(path)s: the check broke on this page (%(error)s); please report it", {}),
    (
        "assigned-gone",
        "%(image)s: this image was assigned by %(person)s and is in no image folder now; assign another",
        {},
    ),
)
"""Code, sentence and values of every notice that stores may hold, in this order: the first that matches is meant."""

AS_TOLD = "as-told"
FIGURES = frozenset({"number", "folios", "images"})
NESTED = frozenset({"why", "one", "other", "what"})
"""Values that may be sentences themselves."""

PLACE = re.compile(r"%\((\w+)\)s")

Json = dict[str, Any]


def _pattern(sentence: str) -> re.Pattern[str]:
    pieces = PLACE.split(sentence)  # text, name, text, name, ... text
    parts = [re.escape(piece) if n % 2 == 0 else _any_value(piece) for n, piece in enumerate(pieces)]
    return re.compile("".join(parts), re.DOTALL)


def _any_value(name: str) -> str:
    return rf"(?P<{name}>-?\d+(?:\.\d+)?)" if name in FIGURES else rf"(?P<{name}>.+?)"


PATTERNS = tuple((code, _pattern(sentence), fixed) for code, sentence, fixed in SENTENCES)


def notice_of(sentence: str) -> Json:
    """The notice that a sentence was; one that is not known keeps its words."""
    return _known(sentence) or {"code": AS_TOLD, "values": {"text": sentence}}


def _known(sentence: str) -> Json | None:
    for code, pattern, fixed in PATTERNS:
        if found := pattern.fullmatch(sentence):
            values = {name: _value(name, it) for name, it in found.groupdict().items()}
            return {"code": code, "values": {**values, **fixed}}
    return None


def _value(name: str, text: str) -> Any:
    if name in FIGURES:
        return float(text) if "." in text else int(text)
    return (_known(text) or text) if name in NESTED else text


def sentence_of(notice: Json) -> str:
    """The sentence that earlier versions had for a notice."""
    values = {name: sentence_of(it) if isinstance(it, dict) else it for name, it in notice["values"].items()}
    if notice["code"] == AS_TOLD:
        return str(values["text"])
    known = [(sentence, fixed) for code, sentence, fixed in SENTENCES if code == notice["code"]]
    # of two sentences the one with fixed values is meant where these are the notice's
    fitting = [sentence for sentence, fixed in known if not fixed or fixed.items() <= values.items()]
    return fitting[0] % values if fitting else " ".join([notice["code"], *map(str, values.values())])


def upgrade() -> None:
    op.add_column("pages", sa.Column("notice", sa.JSON(none_as_null=True), nullable=True))
    _rewrite("pages", ("message", "notices"), ("notice", "notices"), _page_in_codes)
    _rewrite("runs", ("findings",), ("findings",), lambda run: (list(map(notice_of, run.findings)),))
    _rewrite("flags", ("reason", "evidence"), ("evidence",), _flag_in_codes)
    op.drop_column("pages", "message")


def downgrade() -> None:
    op.add_column("pages", sa.Column("message", sa.Text(), nullable=False, server_default=""))
    _rewrite("pages", ("notice", "notices"), ("message", "notices"), _page_in_words)
    _rewrite("runs", ("findings",), ("findings",), lambda run: (list(map(sentence_of, run.findings)),))
    _rewrite("flags", ("reason", "evidence"), ("evidence",), _flag_in_words)
    op.drop_column("pages", "notice")


def _page_in_codes(page: Any) -> Sequence[Any]:
    return notice_of(page.message) if page.message else None, list(map(notice_of, page.notices))


def _page_in_words(page: Any) -> Sequence[Any]:
    return sentence_of(page.notice) if page.notice else "", list(map(sentence_of, page.notices))


def _flag_in_codes(flag: Any) -> Sequence[Any] | None:
    """What the ink said; and the note of a wrong image, which alone was a sentence: others are what an image shows."""
    evidence = dict(flag.evidence)
    if "ink" in evidence:
        evidence["ink"] = notice_of(evidence["ink"])
    if flag.reason == "image mismatch" and "note" in evidence:
        evidence["notice"] = notice_of(evidence.pop("note"))
    return None if evidence == flag.evidence else (evidence,)


def _flag_in_words(flag: Any) -> Sequence[Any] | None:
    evidence = dict(flag.evidence)
    if "ink" in evidence:
        evidence["ink"] = sentence_of(evidence["ink"])
    if "notice" in evidence:
        evidence["note"] = sentence_of(evidence.pop("notice"))
    return None if evidence == flag.evidence else (evidence,)


KINDS: dict[str, Any] = {"message": sa.Text(), "reason": sa.String(255), "notice": sa.JSON(none_as_null=True)}


def _rewrite(
    name: str, read: Sequence[str], written: Sequence[str], made_of: Callable[[Any], Sequence[Any] | None]
) -> None:
    """Write the columns `written` of every row of a table anew, as `made_of` makes them of the columns `read`; None
    leaves a row as it is."""
    columns = dict.fromkeys((*read, *written))
    table = sa.table(name, sa.column("id", sa.Integer()), *(sa.column(c, KINDS.get(c, sa.JSON())) for c in columns))
    asked = sa.select(table.c.id, *(table.c[column] for column in read)).order_by(table.c.id).limit(BATCH)
    fresh = {column: sa.bindparam(f"new_{column}", type_=table.c[column].type) for column in written}
    change = sa.update(table).where(table.c.id == sa.bindparam("row")).values(fresh)
    last, connection = -1, op.get_bind()
    while rows := connection.execute(asked.where(table.c.id > last)).all():
        last = rows[-1].id
        new = [(row.id, values) for row in rows if (values := made_of(row)) is not None]
        if new:
            names = [f"new_{column}" for column in written]
            connection.execute(change, [{"row": id_} | dict(zip(names, it, strict=True)) for id_, it in new])
