"""Measure how runs of missing and of surplus characters are found on drawn pages.

    python -m scripts.bench passages [--pages 20] [--seed 501] [--times 3] [--places head,half-row]
        [--texts KR1d0085]

Half-folios of `shared/kanripo` are drawn in many styles. Of each, `--times` spoiled texts are checked: in each one run
of 1 to 12 characters is left out or put in, at the head, in the middle or at the foot of a column, in a half-row of a
note, over the end of a half-row, or over the end of a column. What is put in is a passage of another page, or the
characters before it once more. Prints, by kind and place: how many runs were raised at all, how many by one flag, how
many by one question, how many columns are right after all suggestions are accepted, and the false flags in all other
columns.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from proof.errors import UsageError
from proof.facsimile.files import write_image
from proof.images.find import FoundBy, PageImage
from proof.images.load import load_image
from proof.model.flags import Flag, Kind, questions
from proof.text.column import parse_column
from proof.text.edit import Edit, edited
from proof.text.model import Cell, Column, Page, Row
from proof.text.read import read_transcription
from proof.verify.page import Checker
from scripts.bench.drawn_pages import Trial, choose, rendered
from scripts.bench.material import TableRow, engine_and_checker, tell

TEXTS = "KR1d0030,KR1d0031,KR1d0085"
LONGEST = 12
PLACES = "head", "middle", "foot", "half-row", "half-row end", "column end"


@dataclass(frozen=True)
class Spoiled:
    """The lines of a page with one run missing (`kind` omission) or too many (insertion) at such a `place`; `lines`
    are the numbers of those that it is in, from 1, `size` how many characters it has."""

    kind: Kind
    place: str
    size: int
    lines: tuple[int, ...]
    sources: tuple[str, ...]


@dataclass
class Count:
    """Runs, and what came of them."""

    runs: int = 0
    raised: int = 0
    one_flag: int = 0
    one_question: int = 0
    written: int = 0
    flags: int = 0
    false: int = 0


def spoil(sources: Sequence[str], kind: Kind, place: str, dice: random.Random, other: str) -> Spoiled | None:
    """The lines with a run at such a place; None where they have no such place. `other` is text that is put in."""
    numbers = list(range(len(sources)))
    dice.shuffle(numbers)
    for number in numbers:
        cells = [cell for run in parse_column(sources[number]).runs for cell in run.cells if cell.glyph]
        size = dice.choice((1, 2, 2, 3, 3, 4, 5, 6, 8, 10, LONGEST))
        spot = _spot(cells, place, min(size, len(cells) // 2), kind, dice)
        if place == "column end":
            after = number + 1
            if size < 2 or after >= len(sources) or (kind is Kind.OMISSION and not sources[after].strip()):
                continue
            following = [cell for run in parse_column(sources[after]).runs for cell in run.cells if cell.glyph]
            first = dice.randint(1, size - 1)
            if len(cells) < 2 * first + 2 or len(following) < 2 * (size - first) + 2:
                continue
            one = _changed(
                sources[number], cells, len(cells) - (first if kind is Kind.OMISSION else 0), first, kind, other
            )
            rest = _changed(sources[after], following, 0, size - first, kind, other[first:])
            changed = [*sources]
            changed[number], changed[after] = one, rest
            return Spoiled(kind, place, size, (number + 1, after + 1), tuple(changed))
        if spot is None:
            continue
        begin, count = spot
        changed = [*sources]
        again = "".join(cell.text for cell in cells[max(begin - count, 0) : begin] if cell.han)
        text = again if len(again) >= count and dice.random() < 0.4 else other
        changed[number] = _changed(sources[number], cells, begin, count, kind, text)
        return Spoiled(kind, place, count, (number + 1,), tuple(changed))
    return None


def _spot(cells: Sequence[Cell], place: str, size: int, kind: Kind, dice: random.Random) -> tuple[int, int] | None:
    """The cell at which a run begins, and how many it has; what is put in goes before that cell."""
    taken = size if kind is Kind.OMISSION else 0
    if not size or len(cells) < size + 3:
        return None
    rows = [cell.row for cell in cells]
    if place == "head":
        begin = 0
    elif place == "foot":
        begin = len(cells) - taken
    else:
        ends = [n for n in range(1, len(cells)) if rows[n - 1] is not rows[n]]
        if place == "half-row end":
            crossed = [n for n in ends if rows[n - 1] is Row.RIGHT and rows[n] is Row.LEFT]
            if size < 2 or not crossed:
                return None
            begin = dice.choice(crossed) - (dice.randint(1, size - 1) if taken else 0)
        else:
            wanted = {Row.MAIN} if place == "middle" else {Row.RIGHT, Row.LEFT}
            spots = [
                n
                for n in range(1, len(cells) - max(taken, 1))
                if {*rows[n - 1 : n + taken + 1]} <= wanted and len({*rows[n - 1 : n + taken + 1]}) == 1
            ]
            if not spots:
                return None
            begin = dice.choice(spots)
        if begin < 1 or begin + taken >= len(cells):
            return None
    return begin, size


def _changed(source: str, cells: Sequence[Cell], begin: int, size: int, kind: Kind, other: str) -> str:
    """A line without `size` characters from cell `begin` on, or with as many of `other` before it. What is put in over
    the end of a half-row stands on both sides of it."""
    if kind is Kind.OMISSION:
        gone = cells[begin : begin + size]
        return edited(source, [Edit(cell.offset, cell.length, "") for cell in gone])
    if begin >= len(cells):
        end = cells[-1].offset + cells[-1].length
        return edited(source, [Edit(end, 0, other[:size])])
    if begin and cells[begin - 1].row is Row.RIGHT:
        slash = source.find("/", cells[begin - 1].offset)
        before = cells[begin - 1].offset + cells[begin - 1].length
        if before <= slash < before + size and cells[begin].row is Row.LEFT:
            first = size // 2
            return edited(source, [Edit(slash, 0, other[:first]), Edit(slash + 1, 0, other[first:size])])
    return edited(source, [Edit(cells[begin].offset, 0, other[:size])])


def page_of(page: Page, sources: Sequence[str]) -> Page:
    """The page with other lines."""
    columns = tuple(Column(n, source, 0, n, parse_column(source).runs) for n, source in enumerate(sources, 1))
    return replace(page, cut=columns)


def taken(source: str, flags: Sequence[Flag]) -> str:
    """A line with what is raised in it taken as suggested."""
    edits = [Edit(flag.offset, flag.length, flag.suggested) for flag in flags if flag.kind is not Kind.LAYOUT]
    try:
        return edited(source, edits)
    except UsageError as error:  # flags that contradict each other write nothing
        return str(error)


def spoiled_texts(
    page: Page, places: Sequence[str], times: int, first: int, others: Sequence[str], dice: random.Random
) -> Iterator[Spoiled]:
    """At most `times` spoiled texts of a page, with a run at each of the places in turn, from the `first` on."""
    sources = [column.source for column in page.columns]
    kinds = [(kind, place) for place in places for kind in (Kind.OMISSION, Kind.INSERTION)]
    made = 0
    for step in range(len(kinds)):
        kind, place = kinds[(first + 5 * step) % len(kinds)]
        other = others[dice.randrange(len(others))]
        start = dice.randrange(max(len(other) - LONGEST, 1))
        one = spoil(sources, kind, place, dice, other[start : start + LONGEST])
        if one is not None:
            yield one
            made += 1
        if made == times:
            return


def counted(checker: Checker, trials: Sequence[Trial], options: argparse.Namespace) -> dict[tuple[Kind, str], Count]:
    counts: dict[tuple[Kind, str], Count] = defaultdict(Count)
    others = ["".join(c.text for column in t.page.columns for c in column.cells if c.han) for t in trials]
    with tempfile.TemporaryDirectory() as folder:
        for number, (trial, drawn) in enumerate(rendered(trials, options.seed)):
            path = Path(folder) / f"{trial.page.id}.png"
            write_image(path, drawn.image)
            image = PageImage(path, "", FoundBy.REFERENCE)
            readings = checker.readings(image, partial(load_image, path))
            dice = random.Random(f"{options.seed} {trial.page.id}")  # noqa: S311 - a measurement that can be repeated
            aside = [text for n, text in enumerate(others) if n != number and len(text) > LONGEST]
            for spoiled in spoiled_texts(trial.page, options.places.split(","), options.times, number, aside, dice):
                result = checker.judge(page_of(trial.page, spoiled.sources), "", image, readings, ())
                count = counts[spoiled.kind, spoiled.place]
                score(count, spoiled, trial.page, result.flags, checker.policy.fold, details=options.details)
            path.unlink()
    return counts


def score(
    count: Count, one: Spoiled, page: Page, flags: Sequence[Flag], fold: Callable[[str], str], *, details: bool
) -> None:
    """Add what came of a run; forms of one word (`fold`) are read as each other."""
    raised = [flag for flag in flags if flag.raised]
    there = [flag for flag in raised if flag.line in one.lines]
    chosen_flags = [flag for flag in questions(flags) if flag.raised and flag.line in one.lines]
    away = [flag for flag in raised if flag.line not in one.lines]
    right = all(
        "".join(map(fold, taken(one.sources[n - 1], [f for f in there if f.line == n])))
        == "".join(map(fold, page.columns[n - 1].source))
        for n in one.lines
    )
    count.runs += 1
    count.raised += bool(there)
    count.one_flag += len(there) == 1
    count.one_question += len(chosen_flags) == 1
    count.written += right
    count.flags += len(there)
    count.false += len(away)
    if details and (len(chosen_flags) != 1 or away or not right):
        tell(f"{page.id} {one.kind} {one.place} {one.size} columns {one.lines}")
        for n in one.lines:
            tell(f"   true {page.columns[n - 1].source}\n   text {one.sources[n - 1]}")
        for flag in sorted([*there, *away], key=lambda flag: (flag.line, flag.offset)):
            what = f"{flag.line}.{flag.offset} {flag.kind} {flag.context} {flag.transcribed}→{flag.suggested}"
            tell(f"   {what} {flag.score:.1f} {flag.evidence.reason} {flag.evidence.note}")


HEADINGS = ("kind", "place", "runs", "raised", "one flag", "one question", "written", "flags", "false elsewhere")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--seed", type=int, default=501)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--places", default=",".join(PLACES))
    parser.add_argument("--texts", default=TEXTS)


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    files = sorted(
        path for work in options.texts.split(",") for path in (options.shared / "kanripo" / work).glob("*.txt")
    )
    texts = [read_transcription(path) for path in files]
    trials = choose(texts, options.pages, options.seed)
    counts = counted(engine_and_checker(texts[0].script)[1], trials, options)
    for (kind, place), count in sorted(counts.items()):
        yield kind, place, *map(str, asdict(count).values())
    sums = map(sum, zip(*(asdict(count).values() for count in counts.values()), strict=True))
    yield "all", "", *map(str, sums)
