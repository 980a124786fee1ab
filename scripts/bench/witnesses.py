"""Measure what witnesses add and take, beside no witness at all.

    python -m scripts.bench witnesses [--pages 18] [--seeds 3]

Worn half-folios are drawn of texts of `shared/kanripo` and `shared/seeds`, errors are planted in the texts, and these
are checked against the images, no witness heard. Then witnesses are heard: other editions of the same text (an
independent error is in none of them), and copies of the text itself, as it was before the planting, with errors of
their own at several rates and a share of the planted ones besides, up to all of them.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proof.collation.witness_evidence import WEIGHTS, Parallel, WitnessEvidence, WitnessWeights, beside
from proof.facsimile.files import write_image
from proof.model.flags import Flag, Kind
from proof.settings.config import Settings
from proof.text.addresses import Addresses
from proof.text.layers import Layer
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from proof.text.variants import VariantPolicy, policy_of
from scripts.bench.drawn_pages import Trial, fits, rendered
from scripts.bench.material import TableRow, check_in, results_in
from scripts.bench.pool import Bench, Pool, score_of

RATE = 0.03
"""Errors planted, of the characters of the text."""

OWN = (0.003, 0.03)
"""Errors of its own that a copy has."""

SHARED = (0.0, 0.03, 0.1, 0.3, 1.0)
"""Of the planted errors, how many a copy has too. One that has all of them is the text itself: it is judged, the fit
does not see it."""

THRESHOLD = Settings().flags.threshold


@dataclass(frozen=True, slots=True)
class Source:
    """A text that pages are drawn of, with other editions of it; paths below `shared`. `skip` pages at its head, the
    title among them, are left out."""

    text: str
    editions: tuple[str, ...] = ()
    skip: int = 4


JUDGED = (
    Source(
        "kanripo/KR1d0028/KR1d0028_005.txt",
        ("kanripo/KR1d0030/KR1d0030_005.txt", "seeds/000_8d937d0b6d447d78.txt"),
        8,
    ),
    Source(
        "seeds/000_8d937d0b6d447d78.txt",
        ("kanripo/KR1d0030/KR1d0030_005.txt", "kanripo/KR1d0085/KR1d0085_008.txt"),
        0,
    ),
    Source("kanripo/KR1d0030/KR1d0030_002.txt", ("kanripo/KR1d0085/KR1d0085_003.txt",)),
    Source("kanripo/KR1d0087/KR1d0087_223.txt"),
)


@dataclass(frozen=True, slots=True)
class Trialled:
    """A text with planted errors, checked without witnesses. `rows` are its key; `editions` other editions of it,
    `copies` copies by the errors of their own and the share of the planted ones that they have; `twins` are second
    copies with the same shares, their own errors at other places."""

    name: str
    edition: Transcription
    policy: VariantPolicy
    flags: tuple[Flag, ...]
    truths: tuple[int | None, ...]
    texts: dict[str, list[str]]
    statuses: dict[str, str]
    rows: list[dict[str, Any]]
    editions: tuple[Parallel, ...]
    copies: dict[tuple[float, float], Parallel]
    twins: dict[tuple[float, float], Parallel]

    def heard(self, parallels: Sequence[Parallel], weights: WitnessWeights) -> list[Flag]:
        evidence = WitnessEvidence(Addresses(self.edition), tuple(parallels), self.policy, THRESHOLD, weights)
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
        check_in(made, [bad], [self._folder / f"images-{name}"])
        results = list(results_in(made / "proof.sqlite"))
        edition = read_transcription(bad)
        rows = self._bench.texts.read_key(key)
        copies, twins = {}, {}
        for own in OWN:
            for shared in SHARED:
                copies[own, shared] = self._copy(bad, rows, edition, own, shared, seed)
                twins[own, shared] = self._copy(bad, rows, edition, own, shared, seed + 5000)
        others = [read_transcription(self._bench.shared / path) for path in source.editions]
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
            tuple(beside(edition, other)[0] for other in others),
            copies,
            twins,
        )

    def _drawn(self, source: Source, name: str) -> Path:
        """The pages of a text that are drawn, as a text of their own; their images beside it."""
        clean = self._folder / f"{name}.txt"
        if clean.is_file():
            return clean
        given = self._bench.shared / source.text
        if not read_transcription(given).paged:
            whole = self._folder / f"set-{name}.txt"
            whole.write_text(set_in_columns(read_transcription(given), name), encoding="utf-8")
            given = whole
        text = read_transcription(given)
        images = self._folder / f"images-{name}"
        images.mkdir(exist_ok=True)
        chosen = [page for page in text.pages[source.skip :] if fits(page)][: self._pages]
        trials = [Trial(text, page, text.pages[max(0, text.pages.index(page) - 1)]) for page in chosen]
        lines = []
        for trial, (stem, page) in zip(trials, rendered(trials, 7), strict=True):
            write_image(images / f"{stem}.png", page.image)
            mark = f"<pb:{stem}>¶\n"
            lines.append(mark + "".join(f"{c.source}¶\n" for c in trial.page.columns))
        clean.write_text("".join(lines), encoding="utf-8")
        return clean

    def _copy(
        self, bad: Path, rows: list[dict[str, Any]], edition: Transcription, own: float, shared: float, seed: int
    ) -> Parallel:
        """The text beside a copy that has `shared` of its errors, and others of its own."""
        rng = random.Random(f"{seed} {own} {shared}")  # noqa: S311 - a measurement that can be repeated
        mended = [row for row in rows if row["class"] == "error" and rng.random() >= shared]
        path = self._folder / f"{bad.stem}-copy-{own}-{shared}-{seed}.txt"
        path.write_text(self._mended(bad, mended), encoding="utf-8")
        if not mended:
            own = 0.0
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


@dataclass(frozen=True, slots=True)
class Condition:
    """What is heard: `name` as the tables have it, and the witnesses of a trial that it means."""

    name: str
    copies: tuple[tuple[float, float], ...] = ()
    twins: tuple[tuple[float, float], ...] = ()
    edition: int | None = None

    def parallels(self, trial: Trialled) -> list[Parallel]:
        if self.edition is not None:
            return list(trial.editions[self.edition : self.edition + 1]) + [trial.copies[copy] for copy in self.copies]
        return [trial.copies[copy] for copy in self.copies] + [trial.twins[twin] for twin in self.twins]


EDITION = Condition("another edition", edition=0)
SINGLE = [Condition(f"copy, {own:.1%} own, {part:.0%} shared", ((own, part),)) for part in SHARED[:-1] for own in OWN]
ALL_SHARED = Condition("copy, 100% shared", ((0.003, 1.0),))
TABLE = [
    EDITION,
    *SINGLE,
    ALL_SHARED,
    Condition("two copies, 0% shared", ((0.003, 0.0),), ((0.003, 0.0),)),
    Condition("two copies, 100% shared", ((0.003, 1.0),), ((0.03, 1.0),)),
    Condition("another edition, and a copy with all errors", ((0.003, 1.0),), edition=0),
]


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


def judge(trials: Sequence[Trialled], condition: Condition | None, weights: WitnessWeights, bench: Bench) -> Judged:
    pool, judged = Pool(), Judged()
    for trial in trials:
        parallels = condition.parallels(trial) if condition else []
        if condition and not parallels:
            continue
        heard = trial.heard(parallels, weights) if condition else list(trial.flags)
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
    for condition in (None, *TABLE):
        judgement = judge(judged_on, condition, WEIGHTS, bench)
        yield (
            condition.name if condition else "none",
            f"{judgement.caught / max(judgement.errors, 1):.4f} ({judgement.caught} of {judgement.errors})",
            *(
                f"{value}"
                for value in (judgement.lost, judgement.gained, judgement.false, judgement.spared, judgement.added)
            ),
            f"{judgement.precision:.4f}",
        )
