"""`proof bench`: a verifier scored on a benchmark: texts with known errors, and images of their pages."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from proof.checking.executor import engine_settings
from proof.checking.pipeline import check
from proof.checking.transcribed import transcribed
from proof.commands.options import CHECKING, setting_options
from proof.errors import UsageError
from proof.images.find import ImageIndex
from proof.images.imglist import find_image_lists
from proof.model.result import Status
from proof.ocr.page import PageEngine
from proof.ocr.registry import open_page_engine
from proof.quality.benchmark import Finding, KeyRow, Score, must_stand, read_findings, read_key, score
from proof.settings.config import Settings
from proof.text.formats import text_suffixes
from proof.text.model import Script
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from proof.text.variants import policy_of

KEY = "key.tsv"
"""The file of planted errors in the folder of a benchmark."""
TEXTS = "texts"
IMAGES = "images"
IMAGE_LISTS = "imglist"

PAGE_PIPELINE = "paddleocr"
"""The engine that transcribes whole pages."""

FINDINGS = "flags.jsonl"
"""The file with the findings of a check, in its folder of reports."""


@click.command("bench")
@click.argument("folder", type=click.Path(path_type=Path))
@setting_options(name for name in CHECKING if not name.startswith("project."))
@click.option(
    "--findings",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Score these findings of another program, a JSON object a line, instead of a check's.",
)
@click.option("--transcribe", is_flag=True, help="Score the naive verifier: transcribe each page, and compare.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Keep the findings and score.json here.")
@click.option("--details", is_flag=True, help="List the errors that were missed and the false findings.")
def command(
    folder: Path, given: dict[str, Any], findings: Path | None, transcribe: bool, out: Path | None, details: bool
) -> int:
    """Score a verifier on a benchmark of known errors.

    FOLDER holds texts/ (transcriptions with page marks), images/ (of their pages; with an imglist/ where their names
    do not tell), and key.tsv: every error of the texts, with its class, planted or real.

    Without an option it is the check of this program that is scored. The score is recall by class of error, what was
    falsely raised in 1,000 characters, and how far stated probabilities are those of errors (calibration).
    """
    rows = read_key(folder / KEY)
    texts = [read_transcription(path) for path in _texts(folder)]
    with tempfile.TemporaryDirectory() as temporary:
        kept = out or Path(temporary)
        kept.mkdir(parents=True, exist_ok=True)
        if findings is not None:
            findings_made, checked = read_findings(findings), _pages(texts)
        elif transcribe:
            settings = replace(engine_settings(Settings().replace(given)), name=PAGE_PIPELINE, model="")
            findings_made, checked = naive_findings(folder, texts, open_page_engine(settings), kept)
        else:
            findings_made, checked = own_findings(folder, texts, Settings().replace(given), kept)
        measured = score(findings_made, checked, [row for row in rows if _is_there(row, texts)])
        (kept / "score.json").write_text(json.dumps(measured.as_dict(), ensure_ascii=False, indent=1), encoding="utf-8")
    for line in lines_of(measured, details=details):
        click.echo(line)
    return 0


def _texts(folder: Path) -> list[Path]:
    """The transcriptions of a benchmark. Raises UsageError."""
    where = folder / TEXTS
    files = sorted(path for path in where.glob("*") if path.suffix.lower() in text_suffixes()) if where.is_dir() else []
    if not files:
        raise UsageError(f"{where} has no texts: a benchmark has {TEXTS}/, {IMAGES}/ and {KEY}")
    return files


def _pages(texts: Sequence[Transcription]) -> dict[str, list[str]]:
    """The columns of all pages."""
    return {page.id: [column.source for column in page.columns] for text in texts for page in text.pages}


def _is_there(row: KeyRow, texts: Sequence[Transcription]) -> bool:
    """Whether a row of the key is in the text. Raises TextError if the text has no such place, UsageError if it is
    different there."""
    columns = next((page.columns for text in texts for page in text.pages if page.id == row.page), ())
    must_stand(row, [column.source for column in columns])
    source = columns[row.line - 1].source
    if source[row.offset : row.offset + row.length] != row.transcribed:
        raise UsageError(f"{KEY}: {row} does not stand in {TEXTS}/: the key is one of other texts")
    return True


def _images(folder: Path, texts: Sequence[Transcription]) -> ImageIndex:
    given = folder / IMAGE_LISTS
    lists = [
        path for text in texts for path in find_image_lists(text.path, text.pages, given if given.is_dir() else None)
    ]
    return ImageIndex([folder / IMAGES], dict.fromkeys(lists))


def own_findings(
    folder: Path, texts: Sequence[Transcription], settings: Settings, out: Path
) -> tuple[list[Finding], dict[str, list[str]]]:
    """The findings of a check, and the pages that it checked on images."""
    given = folder / IMAGE_LISTS
    project = {
        "project.texts": [text.path for text in texts],
        "project.images": [folder / IMAGES],
        "project.imglist": given if given.is_dir() else None,
        "project.out": out,
        "store.url": f"sqlite:///{out / 'proof.sqlite'}",
    }
    check(settings.replace(project), None)
    statuses = json.loads((out / "summary.json").read_text(encoding="utf-8"))["pages"]
    pages = {page: lines for page, lines in _pages(texts).items() if statuses.get(page) == Status.CHECKED.value}
    return read_findings(out / FINDINGS), pages


def naive_findings(
    folder: Path, texts: Sequence[Transcription], engine: PageEngine, out: Path
) -> tuple[list[Finding], dict[str, list[str]]]:
    """The differences from a transcription of the pages by `engine`, without forms of one word."""
    index = _images(folder, texts)
    fold = policy_of(Script.TRADITIONAL).fold
    findings: list[Finding] = []
    pages = {}
    for text in texts:
        for page, differences in transcribed(text, index, engine, fold):
            findings += differences
            pages[page.id] = [column.source for column in page.columns]
    lines = (json.dumps(finding.as_dict(), ensure_ascii=False) + "\n" for finding in findings)
    (out / FINDINGS).write_text("".join(lines), encoding="utf-8")
    return findings, pages


def lines_of(measured: Score, *, details: bool = False) -> Iterator[str]:
    """A score as lines of text."""
    yield f"{measured.pages} pages, {measured.characters} characters"
    for category, recall in measured.recall.items():
        bounds = f"{recall.low:.3f} to {recall.high:.3f}"
        yield f"{category} errors found: {recall.found} of {recall.errors}, {recall.share:.3f} ({bounds})"
    yield f"false findings: {measured.false}, {measured.false_per_1000:.2f} in 1,000 characters"
    if measured.found:
        yield f"right reading suggested: {measured.suggested} of {measured.found}"
    if measured.average_precision is not None:
        yield f"average precision: {measured.average_precision:.3f}"
    if measured.calibration is not None:
        yield f"calibration: Brier {measured.calibration.brier:.3f} over {measured.calibration.findings} findings"
        for band in measured.calibration.reliability:
            counts = f"{band.count} findings, stated {band.stated:.2f}, true {band.true:.2f}"
            yield f"  {band.low:.1f} to {band.high:.1f}: {counts}"
    for name, places in (("missed", measured.missed), ("false", measured.false_findings)) if details else ():
        yield from (f"{name} {place}" for place in places)
