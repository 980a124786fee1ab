"""Measure what witnesses add and take, beside no witness at all.

    python -m scripts.bench witnesses [--pages 18] [--seeds 3]

Worn half-folios are drawn of texts of `shared/kanripo` and `shared/seeds`, errors are planted in the texts, and these
are checked against the images, no witness heard. Then one witness is heard: a copy of the text as it was before the
planting, with errors of its own at several rates and a share of the planted ones besides, up to all of them.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from proof.collation.witness_evidence import Parallel, WitnessEvidence, beside
from proof.model.flags import Flag, Kind
from proof.settings.config import Settings
from proof.text.addresses import Addresses
from proof.text.layers import Layer
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from proof.text.variants import VariantPolicy, policy_of
from scripts.bench.drawn_pages import Trial, fits, rendered
from scripts.bench.material import TableRow, check_in, results_in, write_drawn
from scripts.bench.pool import Bench, Pool, score_of

RATE = 0.03
"""Errors planted, of the characters of the text."""

COPIES = [*product((0.003, 0.03), (0.0, 0.03, 0.1, 0.3)), (0.0, 1.0)]
"""The copies that are heard: how many errors of its own each has, and how many of the planted ones. One that has all of
them is the text itself."""

THRESHOLD = Settings().flags.threshold


@dataclass(frozen=True, slots=True)
class Source:
    """A text that pages are drawn of; its path below `shared`. `skip` pages at its head, the title among them, are left
    out."""

    text: str
    skip: int = 4


JUDGED = (
    Source("kanripo/KR1d0028/KR1d0028_005.txt", 8),
    Source("seeds/000_8d937d0b6d447d78.txt", 0),
    Source("kanripo/KR1d0030/KR1d0030_002.txt"),
    Source("kanripo/KR1d0087/KR1d0087_223.txt"),
)


@dataclass(frozen=True, slots=True)
class Trialled:
    """A text with planted errors, checked without witnesses. `rows` are its key;
    `copies` copies by the errors of their own and the share of the planted ones that they have."""

    name: str
    edition: Transcription
    policy: VariantPolicy
    flags: tuple[Flag, ...]
    truths: tuple[int | None, ...]
    texts: dict[str, list[str]]
    statuses: dict[str, str]
    rows: list[dict[str, Any]]
    copies: dict[tuple[float, float], Parallel]

    def heard(self, parallels: Sequence[Parallel]) -> list[Flag]:
        evidence = WitnessEvidence(Addresses(self.edition), tuple(parallels), self.policy, THRESHOLD)
        return [evidence.with_witnesses(flag) for flag in self.flags]


def set_in_columns(edition: Transcription, name: str) -> str:
    """A running edition as page marks and columns: eight of 21, the classic in full width, all else as notes."""
    columns: list[str] = []
    column, room = "", 21
    for stretch in edition.stretches():
        if stretch.layer in (Layer.APPARATUS, Layer.LEMMA, Layer.HEADING):
            continue
        cells = [cell.text for cell in stretch.cells() if len(cell.text) == 1]
        while cells:
            if not room:
                columns.append(column)
                column, room = "", 21
            if stretch.layer in (Layer.CANON, Layer.UNDIVIDED):
                taken, cells = cells[:room], cells[room:]
                column, room = column + "".join(taken), room - len(taken)
            else:
                taken, cells = cells[: 2 * room], cells[2 * room :]
                half = (len(taken) + 1) // 2
                column += f"({''.join(taken[:half])}/{''.join(taken[half:])})"
                room -= half
    columns.append(column)
    return "".join(
        f"<pb:{name}_SET_{at // 16 + 1:03}-{at // 16 + 1}{'ab'[at // 8 % 2]}>¶\n"
        + "".join(f"{column}¶\n" for column in columns[at : at + 8])
        for at in range(0, len(columns), 8)
    )


class Trials:
    """Draws, plants, checks and hears; all it makes lies in `folder`."""

    def __init__(self, bench: Bench, folder: Path, pages: int) -> None:
        self._bench = bench
        self._folder = folder
        self._pages = pages

    def of(self, source: Source, seed: int) -> Trialled:
        name = Path(source.text).stem[:12]
        clean = self._drawn(source, name)
        bad, key = self._bench.plant(clean, seed, RATE, "", None)
        tag = f"{name}-{seed}"
        (made := self._folder / tag).mkdir(exist_ok=True)
        check_in(made, [bad], [self._folder / name])
        results = list(results_in(made / "proof.sqlite"))
        edition = read_transcription(bad)
        rows = self._bench.texts.read_key(key)
        flags = tuple(flag for result in results for flag in result.flags if flag.kind not in (Kind.LAYOUT, Kind.AUDIT))
        return Trialled(
            tag,
            edition,
            policy_of(edition.script, None),
            flags,
            truths(flags, rows, self._bench.score.meets),
            self._bench.texts.read_pages(bad),
            {result.page: result.status.value for result in results},
            rows,
            {copy: self._copy(bad, rows, edition, *copy, seed) for copy in COPIES},
        )

    def _drawn(self, source: Source, name: str) -> Path:
        """The pages of a text that are drawn, as a text of their own, with their images beside it."""
        clean = self._folder / name / f"{name}.txt"
        if clean.is_file():
            return clean
        given = self._bench.shared / source.text
        if not read_transcription(given).paged:
            whole = self._folder / f"set-{name}.txt"
            whole.write_text(set_in_columns(read_transcription(given), name), encoding="utf-8")
            given = whole
        text = read_transcription(given)
        chosen = [page for page in text.pages[source.skip :] if fits(page)][: self._pages]
        trials = [Trial(text, page, text.pages[max(0, text.pages.index(page) - 1)]) for page in chosen]
        write_drawn(clean.parent, rendered(trials, 7), lambda _: []).rename(clean)
        return clean

    def _copy(
        self, bad: Path, rows: list[dict[str, Any]], edition: Transcription, own: float, shared: float, seed: int
    ) -> Parallel:
        """The text beside a copy that has `shared` of its errors, and others of its own."""
        rng = random.Random(f"{seed} {own} {shared}")  # noqa: S311 - a measurement that can be repeated
        mended = [row for row in rows if row["class"] == "error" and rng.random() >= shared]
        path = self._folder / f"{bad.stem}-copy-{own}-{shared}-{seed}.txt"
        path.write_text(self._mended(bad, mended), encoding="utf-8")
        spoiled, _ = self._bench.plant(path, 900 + seed, own, "", None)
        return beside(edition, read_transcription(spoiled))[0]

    def _mended(self, bad: Path, rows: Iterable[dict[str, Any]]) -> str:
        at: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for row in rows:
            at.setdefault((row["page"], row["line"]), []).append(row)
        out = []
        for raw, page, number, body in self._bench.texts.walk(self._bench.texts.read(bad)):
            line = body
            for row in sorted(at.get((page, number), ()), key=lambda judgement: -judgement["offset"]):
                line = line[: row["offset"]] + row["reading"] + line[row["offset"] + row["length"] :]
            out.append(line + raw[len(body) :] if number else raw)
        return "".join(out)


# what a flag is


def truths(flags: Sequence[Flag], rows: Iterable[dict[str, Any]], meets: Any) -> tuple[int | None, ...]:
    """Whether each flag is an error; None for one on an error that a better flag has, and for variants."""
    errors = [row for row in rows if row["class"] == "error"]
    claimed: set[int] = set()
    indices: list[int | None] = [None] * len(flags)
    for number in sorted(range(len(flags)), key=lambda judgement: -flags[judgement].score):
        if flags[number].kind is Kind.VARIANT:
            continue
        record = flags[number].as_dict()
        met = [at for at, row in enumerate(errors) if meets(record, row)]
        fresh = [at for at in met if at not in claimed]
        if fresh:
            claimed.add(fresh[0])
        if fresh or not met:
            indices[number] = int(bool(fresh))
    return tuple(indices)


@dataclass(slots=True)
class Judged:
    """What came of hearing, pooled over texts: `lost` errors raised without witnesses and not with them, `gained`
    the other way round; `spared` and `added` the same of false flags."""

    errors: int = 0
    caught: int = 0
    false: int = 0
    precision: float = 0.0
    lost: int = 0
    gained: int = 0
    spared: int = 0
    added: int = 0


def judge(trials: Sequence[Trialled], copy: tuple[float, float] | None) -> Judged:
    pool, judged = Pool(), Judged()
    for trial in trials:
        heard = trial.heard([trial.copies[copy]] if copy else [])
        for before, after, truth in zip(trial.flags, heard, trial.truths, strict=True):
            if truth is None:
                continue
            if before.raised and not after.raised:
                judged.lost += truth
                judged.spared += not truth
            elif after.raised and not before.raised:
                judged.gained += truth
                judged.added += not truth
        tag = trial.name
        pool.flags += [{**flag.as_dict(), "page": f"{flag.page}#{tag}"} for flag in heard]
        pool.rows += [{**row, "page": f"{row['page']}#{tag}"} for row in trial.rows]
        pool.texts |= {f"{page}#{tag}": lines for page, lines in trial.texts.items()}
        pool.statuses |= {f"{page}#{tag}": status for page, status in trial.statuses.items()}
    result = score_of(pool)
    judged.errors, judged.caught, judged.false = result["errors"], result["caught"], result["false"]
    judged.precision = result["average_precision"]
    return judged


HEADINGS = ("witness", "caught", "lost", "gained", "false flags", "spared", "added", "AP")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=18, help="half-folios of each text")
    parser.add_argument("--seeds", type=int, default=3, help="times that errors are planted in each text")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    bench = Bench(options.shared, options.folder, False)
    trials = Trials(bench, options.folder, options.pages)
    judged_on = [trials.of(source, 400 + seed) for seed in range(options.seeds) for source in JUDGED]
    for copy in (None, *COPIES):
        judgement = judge(judged_on, copy)
        yield (
            "copy, {:.1%} own, {:.0%} shared".format(*copy) if copy else "none",
            f"{judgement.caught / max(judgement.errors, 1):.4f} ({judgement.caught} of {judgement.errors})",
            *(
                f"{value}"
                for value in (judgement.lost, judgement.gained, judgement.false, judgement.spared, judgement.added)
            ),
            f"{judgement.precision:.4f}",
        )
