"""A drawn page image, a store with what a check found on it, and a client of the application over them."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from flask import Flask, session
from flask.testing import FlaskClient
from flask_wtf.csrf import generate_csrf
from PIL import Image, ImageDraw

from proof.model.flags import Evidence, Flag, Kind, flag_id
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.settings.config import Settings
from proof.store import PagePlace, RunInfo, Store, TextInfo
from proof.store.database import file_of
from proof.store.glyphs import SHAPE_LENGTH, Shapes
from proof.store.saving import CheckedResult
from proof.store.texts import sha_of
from proof.text.model import Row
from proof.text.positions import Span
from proof.text.read import read_transcription

WORK = "dasheyi"
PITCH, WIDTH, RIGHT, TOP = 56, 100, 900, 120
LINES = ["射人告具于公公升即位", "小臣師納卿大夫卿大夫", "司馬命量人量侯道與乏"]
SCRIPT = "<script>window.broken=1</script>"


def cell(line: int, offset: int) -> Box:
    """Where the character at `offset` of column `line` stands on the drawn page."""
    return Box(RIGHT - line * WIDTH + 20, TOP + offset * PITCH, 60, PITCH)


@cache
def _drawn() -> bytes:
    """A page with a square of ink for each character, as a file."""
    image = Image.new("L", (1000, 800), 255)
    pen = ImageDraw.Draw(image)
    for line in range(1, len(LINES) + 1):
        pen.rectangle([RIGHT - line * WIDTH, TOP - 10, RIGHT - (line - 1) * WIDTH, 750], outline=0, width=3)
        for offset in range(len(LINES[line - 1])):
            box = cell(line, offset)
            pen.rectangle([box.x + 8, box.y + 8, box.right - 8, box.bottom - 8], fill=40)
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def draw_page(path: Path) -> str:
    """Writes the drawn page; gives the hash of the file."""
    path.write_bytes(_drawn())
    return hashlib.sha256(_drawn()).hexdigest()


def wrong(page: str, line: int, offset: int, suggested: str, score: float, kind: Kind = Kind.SUBSTITUTION) -> Flag:
    """A raised flag at that place."""
    text = LINES[line - 1][offset]
    context = f"{LINES[line - 1][max(offset - 3, 0) : offset]}[{text}]{LINES[line - 1][offset + 1 : offset + 4]}"
    seen = ((suggested, 0.95), ("吉", 0.02), ("古", 0.01), (text, 0.001)) if suggested else ()
    return Flag(
        page=page,
        ref=page,
        line=line,
        offset=offset,
        length=1,
        kind=kind,
        transcribed=text,
        suggested=suggested,
        score=score,
        raised=True,
        bbox=cell(line, offset),
        evidence=Evidence("posterior", p_text=0.001, p_best=0.95, alternatives=seen),
        context=context,
        id=flag_id(page, line, kind, context, 0),
    )


def checked(page: str, image: Path, sha: str, flags: tuple[Flag, ...]) -> PageResult:
    """What a check finds on the drawn page."""
    characters = tuple(
        CheckedCharacter(line, offset, 1, Row.MAIN, text, cell(line, offset), text, 0.99)
        for line, source in enumerate(LINES, 1)
        for offset, text in enumerate(source)
    )
    columns = tuple(
        CheckedColumn(line, Box(RIGHT - line * WIDTH, TOP - 10, WIDTH, 640), source)
        for line, source in enumerate(LINES, 1)
    )
    return PageResult(
        page,
        page,
        Status.CHECKED,
        image=image,
        image_sha=sha,
        image_size=(1000, 800),
        image_box=Box(0, 0, 1000, 800),
        characters_checked=len(characters),
        columns=columns,
        characters=characters,
        flags=flags,
    )


def shapes_of(result: PageResult, odd: tuple[int, int] | None = None) -> Shapes:
    """Shapes of the characters: the same for the same character, but for the one at `odd` (column, offset)."""
    shapes = np.zeros((len(result.characters), SHAPE_LENGTH), np.int8)
    for number, character in enumerate(result.characters):
        kind = 0 if (character.line, character.offset) == odd else ord(character.text)
        shapes[number] = np.random.default_rng(kind).integers(0, 60, SHAPE_LENGTH)
    return shapes


@dataclass(frozen=True)
class Served:
    """A project and its application."""

    settings: Settings
    store: Store
    app: Flask
    sha: str

    @property
    def client(self) -> FlaskClient:
        """A browser of its own, that has been given a token against forged requests."""
        return with_token(self.app.test_client())


def csrf_token(page: str) -> str:
    """The token against forged requests that a page gives its scripts."""
    match = re.search(r'name="csrf" content="([^"]+)"', page)
    assert match, page
    return match[1]


def with_token(client: FlaskClient) -> FlaskClient:
    """The client, which sends a token against forged requests from now on. No page is made to get one."""
    with client.application.test_request_context():
        client.environ_base["HTTP_X_CSRFTOKEN"] = generate_csrf()
        made = dict(session)
    with client.session_transaction() as kept:
        kept.update(made)
    return client


ODD = {2: (1, 6)}
"""By page, from 0, the place of a glyph that looks like no other."""


def fill(store: Store, folder: Path, pages: int = 3, work: str = WORK) -> str:
    """A check over pages that share one image: four flags a page, one of them hidden, one with markup in it.

    An empty store in a file gets a copy of what the first of its kind was filled with. Another work than WORK has its
    text in `folder`, so that it can be exported.
    """
    sha = draw_page(folder / "page.png")
    file = file_of(store.engine.url)
    if file is None or store.latest_run() is not None or work != WORK:
        _fill(store, folder, sha, pages, work)
        return sha
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        _filled(pages).backup(connection)
        connection.execute("UPDATE pages SET image = ?", [str(folder / "page.png")])
        connection.commit()
    return sha


@cache
def _filled(pages: int) -> sqlite3.Connection:
    kept = sqlite3.connect(":memory:")
    with TemporaryDirectory() as folder:
        with Store.open(Path(folder) / "proof.sqlite") as store:
            _fill(store, Path(folder), draw_page(Path(folder) / "page.png"), pages)
        with closing(sqlite3.connect(Path(folder) / "proof.sqlite")) as made:
            made.backup(kept)
    return kept


def _fill(store: Store, folder: Path, sha: str, pages: int, work: str = WORK) -> None:
    text, content = "text.txt", ""
    lines: list[dict[int, Span]] = []
    for n in range(pages):
        content += f"卷十 第 {n + 1}a 页 WYG0103-{192 + n:04d}a.png\n"
        lines.append({})
        for number, line in enumerate(LINES, 1):
            lines[n][number] = Span(len(content), len(LINES[number - 1]))
            content += f"{line}\n"
    if work != WORK:
        (folder / f"{work}.txt").write_text(content, encoding="utf-8")
        text = str(folder / f"{work}.txt")
    texts = (TextInfo(text, sha_of(content), "mirror", "traditional", content),)
    run = store.begin_run(RunInfo(work, "大射儀", texts, EngineIdentity("null", "1", "", "")))
    for number in range(pages):
        page = f"WYG0103-{192 + number:04d}a"
        flags = (
            wrong(page, 1, 2, "吿", 9.0 - number),
            wrong(page, 2, 5, SCRIPT, 5.0 - number / 10),
            wrong(page, 3, 6, "", 4.0, Kind.INSERTION),
            replace(wrong(page, 3, 8, "道", 1.0, Kind.VARIANT), raised=False),
        )
        result = checked(page, folder / "page.png", sha, flags)
        place = PagePlace(number, text, "卷十", f"{number + 1}a", lines=lines[number], sha=sha_of(content))
        store.save_pages(run, [CheckedResult(place, "", result, shapes=shapes_of(result, ODD.get(number)))])
    store.finish_run(run, whole=True)


def add_page(
    store: Store, result: PageResult, *, work: str = WORK, text: str = "text.txt", shapes: Shapes | None = None
) -> int:
    """A whole run over a text of that one page; gives its number."""
    content, lines = "", dict[int, Span]()
    if Path(text).is_file():
        read = read_transcription(Path(text))
        content = read.text
        lines = {column.number: Span(column.start, len(column.source)) for column in read.pages[0].columns}
    else:
        for column in result.columns:
            lines[column.number] = Span(len(content), len(column.source))
            content += f"{column.source}\n"
    texts = (TextInfo(text, sha_of(content), "mirror", "traditional", content),)
    run = store.begin_run(RunInfo(work, "大射儀", texts, EngineIdentity("null", "1", "", "")))
    place = PagePlace(0, text, "卷十", "1a", lines=lines, sha=sha_of(content))
    store.save_pages(run, [CheckedResult(place, "", result, shapes=shapes)])
    store.finish_run(run, whole=True)
    return run


def settings_in(folder: Path) -> Settings:
    """The settings of a project in `folder`."""
    (folder / "config.toml").write_text('[project]\ntitle = "大射儀"\nimages = ["."]\n', encoding="utf-8")
    return Settings.load(folder)
