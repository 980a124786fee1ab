"""`proof bench`: scores a verifier on a benchmark, texts with known errors and images of their pages."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from proof.checking.executor import engine_settings
from proof.checking.naive_verifier import transcribed
from proof.checking.pipeline import check
from proof.commands.options import CHECKING, setting_options
from proof.errors import UsageError
from proof.images.find import ImageIndex
from proof.images.imglist import find_image_lists
from proof.locale.marking import _
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
    help="Score these findings of another program instead, one JSON object a line.",
)
@click.option("--transcribe", is_flag=True, help="Score the naive verifier: transcribe each page, and compare.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Keep the findings and score.json here.")
@click.option("--details", is_flag=True, help="List the errors that were missed and the false findings.")
def command(
    folder: Path, given: dict[str, Any], findings: Path | None, transcribe: bool, out: Path | None, details: bool
) -> int:
    """Score a verifier on a benchmark of known errors.

    FOLDER contains texts/ (transcriptions with page marks), images/ (of their pages; with an imglist/ if their names do
    not match), and key.tsv: every error of the texts, with its class, planted or real.

    By default the check of this program is scored. The score is the recall by class of error, the number of false flags
    in 1,000 characters, and the calibration of the stated probabilities.
    """
    rows = read_key(folder / KEY)
    texts = [read_transcription(path) for path in _texts(folder)]
    with tempfile.TemporaryDirectory() as temporary:
        results = out or Path(temporary)
        results.mkdir(parents=True, exist_ok=True)
        if findings is not None:
            scored, checked = read_findings(findings), _pages(texts)
        elif transcribe:
            settings = replace(engine_settings(Settings().replace(given)), name=PAGE_PIPELINE, model="")
            scored, checked = naive_findings(folder, texts, open_page_engine(settings), results)
        else:
            scored, checked = own_findings(folder, texts, Settings().replace(given), results)
        for row in rows:
            _must_be_in_text(row, texts)
        measured = score(scored, checked, rows)
        summary = json.dumps(measured.as_dict(), ensure_ascii=False, indent=1)
        (results / "score.json").write_text(summary, encoding="utf-8")
    for line in lines_of(measured, details=details):
        click.echo(line)
    return 0


def _texts(folder: Path) -> list[Path]:
    """The transcriptions of a benchmark. Raises UsageError."""
    where = folder / TEXTS
    files = sorted(path for path in where.glob("*") if path.suffix.lower() in text_suffixes()) if where.is_dir() else []
    if not files:
        raise UsageError(
            _("%(folder)s has no texts: a benchmark has %(texts)s/, %(images)s/ and %(key)s"),
            folder=where,
            texts=TEXTS,
            images=IMAGES,
            key=KEY,
        )
    return files


def _pages(texts: Sequence[Transcription]) -> dict[str, list[str]]:
    """The sources of the columns of each page, by page id."""
    return {page.id: [column.source for column in page.columns] for text in texts for page in text.pages}


def _must_be_in_text(row: KeyRow, texts: Sequence[Transcription]) -> None:
    """Raises TextError if the texts lack the place of a row of the key, UsageError if they read otherwise there."""
    columns = next((page.columns for text in texts for page in text.pages if page.id == row.page), ())
    must_stand(row, [column.source for column in columns])
    source = columns[row.line - 1].source
    if source[row.offset : row.offset + row.length] != row.transcribed:
        raise UsageError(_("%(key)s: %(row)s is not in the texts: the key belongs to other texts"), key=KEY, row=row)


def _images(folder: Path, texts: Sequence[Transcription]) -> ImageIndex:
    lists: dict[Path, None] = {}
    for text in texts:
        lists |= dict.fromkeys(find_image_lists(text.path, text.pages, _image_lists(folder)))
    return ImageIndex([folder / IMAGES], lists, [page for text in texts for page in text.pages])


def _image_lists(folder: Path) -> Path | None:
    """The folder of image lists of a benchmark; None if it has none."""
    lists = folder / IMAGE_LISTS
    return lists if lists.is_dir() else None


def own_findings(
    folder: Path, texts: Sequence[Transcription], settings: Settings, out: Path
) -> tuple[list[Finding], dict[str, list[str]]]:
    """The findings of a check, and the columns of the pages that it checked on images, by page id."""
    project = {
        "project.texts": [text.path for text in texts],
        "project.images": [folder / IMAGES],
        "project.imglist": _image_lists(folder),
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
    """The differences from the engine's own transcription of each page, without variant forms of one word, and the
    columns of these pages, by page id."""
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
    if details:
        yield from (f"missed {place}" for place in measured.missed)
        yield from (f"false {place}" for place in measured.false_findings)
