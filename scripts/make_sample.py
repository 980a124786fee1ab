"""Make the sample project's pages: twenty rendered half-folios and a transcription with known errors.

    python scripts/make_sample.py [--shared ../shared] [--out pages] [--seed 10]

The images are drawn from the complete traditional text; the transcription is an excerpt of the simplified
one, byte for byte but for the errors planted here. `planted.tsv` lists those and the excerpt's own losses.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from proof.errors import ProofError, UsageError
from proof.facsimile.files import file_stem, half_folios, write_image
from proof.facsimile.leaf import Style
from proof.facsimile.wear import LEVELS
from proof.text.model import Column, Page
from proof.text.read import read_transcription
from proof.text.transcription import Transcription

ROOT = Path(__file__).resolve().parents[1]
EXCERPT = "seeds/003_ef0b6b28549717f0.txt"
COMPLETE = "kanripo/KR1d0030/KR1d0030_010.txt"
PAGES = 20
TRANSCRIPTION = "dasheyi.txt"
KEY = "planted.tsv"
STYLE = Style(fonts=("TW-Kai", "TW-Kai-Ext-B"), weight=8.0)
WEAR = LEVELS["moderate"]


@dataclass(frozen=True, slots=True)
class Plant:
    """An error: `wrong` stands in place of `right`, after `before`, with which the column begins."""

    folio: str
    line: int
    before: str
    right: str
    wrong: str
    kind: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the key; positions are those of the transcription as written."""

    page: str
    line: int
    offset: int
    length: int
    transcribed: str
    reading: str
    kind: str
    klass: str
    origin: str


PLANTS = (
    Plant("1b", 5, "司射东面于大夫之西", "比", "北", "substitution"),
    Plant("2b", 6, "上射东面下射西面上射", "揖", "", "omission"),
    Plant("3b", 3, "兼挟乘矢皆", "内还", "还内", "transposition"),
    Plant("4a", 4, "退者与进者相左相揖(案此下", "今", "令", "substitution"),
    Plant("5b", 3, " 者谓", "矢", "失", "substitution"),
    Plant("10a", 1, " 郑注司射不告", "", "告", "insertion"),
)
"""A look-alike that the note beside it speaks of, and one in a note; a character passed over, two that
changed places, one written twice."""

LOSSES = (
    Plant("5a", 8, "", "与", "", "omission"),
    Plant("6a", 1, " 郑注", "传", "傅", "substitution"),
    Plant("8a", 1, "", "三", "", "omission"),
)
"""What the excerpt had lost before anything was planted: two columns of one character, and 𫝊 (傳)."""


def excerpt(source: Transcription) -> str:
    """The text of the first half-folios, from the head of the file."""
    following = source.pages[PAGES]
    return "".join(source.text.splitlines(keepends=True)[: following.file_line - 1])


def column_of(pages: Iterable[Page], plant: Plant) -> tuple[Page, Column]:
    for page in pages:
        if str(page.folio) == plant.folio:
            return page, page.columns[plant.line - 1]
    raise UsageError(f"half-folio {plant.folio} is not in the excerpt")


def planted(text: str, pages: tuple[Page, ...]) -> tuple[str, list[Row]]:
    """The text with the errors planted, and the key. Raises UsageError where the text is another."""
    rows: list[Row] = []
    edits: list[tuple[int, str, str]] = []
    for plant, origin in [(plant, "planted") for plant in PLANTS] + [(loss, "natural") for loss in LOSSES]:
        page, column = column_of(pages, plant)
        stands = plant.before + (plant.right if origin == "planted" else plant.wrong)
        if not column.source.startswith(stands) or (not stands and column.source):
            raise UsageError(f"{page.id} {plant.line}: {column.source!r} does not begin with {stands!r}")
        offset = len(plant.before)
        rows.append(
            Row(page.id, plant.line, offset, len(plant.wrong), plant.wrong, plant.right, plant.kind, "error", origin)
        )
        if origin == "planted":
            edits.append((column.start + offset, plant.right, plant.wrong))
    for start, right, wrong in sorted(edits, reverse=True):
        text = text[:start] + wrong + text[start + len(right) :]
    order = {page.id: number for number, page in enumerate(pages)}
    return text, sorted(rows, key=lambda row: (order[row.page], row.line, row.offset))


def key_text(rows: Iterable[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE)
    writer.writerow("class" if field.name == "klass" else field.name for field in fields(Row))
    writer.writerows(astuple(row) for row in rows)
    return out.getvalue()


def facsimile_pages(complete: Transcription, source: Transcription) -> Transcription:
    """The first half-folios of the complete text under the references of the excerpt."""
    matched = []
    for drawn, named in zip(complete.pages[:PAGES], source.pages[:PAGES], strict=True):
        if drawn.folio != named.folio or len(drawn.columns) != len(named.columns):
            raise UsageError(f"{drawn.id} and {named.id} are not the same half-folio")
        matched.append(replace(drawn, ref=named.ref, juan=named.juan))
    return replace(complete, pages=tuple(matched))


def make(shared: Path, out: Path, seed: int) -> list[str]:
    """Write images, transcription and key into `out`; returns a line for each thing worth telling."""
    source, complete = read_transcription(shared / EXCERPT), read_transcription(shared / COMPLETE)
    text, rows = planted(excerpt(source), source.pages[:PAGES])
    drawn = facsimile_pages(complete, source)
    out.mkdir(parents=True, exist_ok=True)
    messages, size = [], 0
    for name, page in half_folios(drawn, STYLE, WEAR, seed):
        path = out / f"{name}.png"
        write_image(path, page.image)
        size += path.stat().st_size
        messages += [f"{name}: no font holds {character}" for character in page.missing]
    for leftover in set(out.glob("WYG*.png")) - {out / f"{file_stem(page)}.png" for page in drawn.pages}:
        messages.append(f"{leftover} is not of this sample: remove it")
    (out / TRANSCRIPTION).write_bytes(text.encode(source.decoded.encoding))
    (out / KEY).write_text(key_text(rows), encoding="utf-8", newline="\n")
    return [*messages, f"{out}: {len(drawn.pages)} half-folios ({size / 1e6:.2f} MB), {len(rows)} known errors"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="folder of the source texts")
    parser.add_argument("--out", type=Path, default=ROOT / "pages", help="folder to write to")
    parser.add_argument("--seed", type=int, default=10, help="seed of hand and wear")
    options = parser.parse_args()
    try:
        messages = make(options.shared, options.out, options.seed)
    except ProofError as problem:
        sys.stderr.write(f"{problem}\n")
        return problem.exit_code
    sys.stdout.writelines(f"{line}\n" for line in messages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
