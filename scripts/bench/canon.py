"""Measure the check on pages of printed canons without rules: errors raised, false flags, seconds.

    python -m scripts.bench canon [--only planted,clean,speed] [--first 1] [--seeds 2] [--canon QL,HW]
                   [--sheet FILE.png]

Planted and clean as in `planted`, on the pages of `shared/facsimile/canon`. There is no list of the errors that the
texts have themselves, so a place where text and print really differ counts as false. `--sheet` draws every flag that is
raised on the clean text: its glyph with the transcribed and the suggested character, to be judged by eye.
`canon_seen.tsv` has such judgements (page, line, offset, suggested, seen: `image` if the image has another character
than the text, `form` if it has another form of it, else `text`). The number of false flags that they leave is printed
beside the number of all. Speed: processor time of reading and judging a page, by its characters, compared with the
dense ruled half-folios of JMML.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from proof.checking.executor import checker_for, engine_settings
from proof.images.find import ImageIndex
from proof.images.load import load_image
from proof.ocr.registry import open_engine
from proof.settings.config import Settings
from proof.text.read import read_transcription
from proof.verify.pairing import neighbours_of
from scripts.bench.crops import change_of, pictures, write_sheet
from scripts.bench.material import TableRow, results_in, tell
from scripts.bench.pool import Bench, Case, Pool

CANONS = {"QL": "KX1a0001_001.txt", "HW": "KX1a0003_001.txt"}
RATE = 0.03
ROUNDS = 3
SEEN = Path(__file__).with_name("canon_seen.tsv")

Place = tuple[str, int, int, str]


class Canon:
    """The pages of one canon."""

    def __init__(self, bench: Bench, name: str) -> None:
        folder = bench.shared / "facsimile" / "canon" / name
        self.name = name
        self.case = Case(name, folder / CANONS[name], folder / "images", None, "")
        self._bench = bench

    def planted(self, seeds: Iterable[int], rate: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """What came of the seeds together, and the flags that are raised."""
        pool = Pool()
        for seed in seeds:
            text, key = self._bench.plant(self.case.text, seed, rate, "", None)
            self._bench.run(pool, self.store(seed, rate).stem, text, self.case.images, None, key, "")
        return self._bench.scored(pool), [flag for flag in pool.flags if flag["raised"]]

    def store(self, seed: int, rate: float) -> Path:
        """The store of the check of a seed."""
        return self._bench.folder / f"{self.name}-{seed}-{rate:g}.sqlite"


def place_of(flag: dict[str, Any]) -> Place:
    return flag["page"].split("#")[0], flag["line"], flag["offset"], flag["suggested"]


def seen_by_eye() -> dict[Place, str]:
    """What somebody saw at places."""
    rows = (line.split("\t") for line in SEEN.read_text(encoding="utf-8").splitlines()[1:] if line)
    return {(page, int(line), int(offset), suggested): seen for page, line, offset, suggested, seen in rows}


def seconds_a_character(bench: Bench, names: Sequence[str]) -> Iterator[tuple[str, float, float]]:
    """Of the ruled pages and of each canon: milliseconds of processor time a page and a character, the least of
    `ROUNDS` rounds, all warm."""
    settings = Settings()
    engine = open_engine(engine_settings(settings))
    canons = [(name, Canon(bench, name).case) for name in names]
    for name, cases in (("ruled", bench.cases[:2]), *((name, [case]) for name, case in canons)):
        texts = [read_transcription(case.text) for case in cases]
        lists = [case.imglist for case in cases if case.imglist]
        index = ImageIndex([cases[0].images], lists)
        checker = checker_for(settings, engine, texts[0].script)
        spent = []
        for _ in range(ROUNDS + 1):
            started, characters, pages = time.process_time(), 0, 0
            for text in texts:
                for number, page in enumerate(text.pages):
                    image = index.find(page)
                    assert image is not None
                    around = neighbours_of(text.pages, number)
                    result = checker.check(page, "", image, load_image(image.path), around)
                    characters, pages = characters + result.characters_checked, pages + 1
            spent.append(time.process_time() - started)
        least = 1000 * min(spent[1:])
        yield name, least / pages, least / characters


def clean_rows(canon: Canon, options: argparse.Namespace) -> Iterator[tuple[str, str, str, str]]:
    scores, flags = canon.planted((options.first,), 0.0)
    counts = f"{scores['false']} in {scores['characters']} characters"
    yield f"{canon.name}: false flags per 1,000", f"{scores['false_per_1000']:.2f}", "", counts
    flags = sorted((flag for flag in flags if flag["kind"] != "layout"), key=lambda flag: place_of(flag)[:3])
    if options.sheet:
        number_of = {place_of(flag): number for number, flag in enumerate(flags, 1)}
        shown = [
            (f"{number_of[place]} {change_of(flag)}", picture)
            for flag, picture in pictures(results_in(canon.store(options.first, 0.0)))
            if (place := (flag.page, flag.line, flag.offset, flag.suggested)) in number_of
        ]
        write_sheet(shown, options.sheet.with_name(f"{options.sheet.stem}-{canon.name}.png"))
    known = seen_by_eye()
    seen = [known.get(place_of(flag), "not looked at") for flag in flags]
    for number, (flag, verdict) in enumerate(zip(flags, seen, strict=True), 1):
        page, line, offset, suggested = place_of(flag)
        change = f"{flag['transcribed']}→{suggested}"
        tell(f"{number:3} {page} {line}:{offset} {flag['kind']} {change} {flag['score']:.2f} {verdict}")
    left, forms = sum(verdict in ("text", "not looked at") for verdict in seen), seen.count("form")
    rate = f"{1000 * left / scores['characters']:.2f}"
    yield f"{canon.name}: the same by eye", rate, "", f"{left}, and {forms} forms of the same character"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", default="planted,clean,speed")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--canon", default="QL,HW")
    parser.add_argument("--sheet", type=Path)


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    bench = Bench(options.shared, options.folder, False)
    wanted, names = options.only.split(","), options.canon.split(",")
    for canon in (Canon(bench, name) for name in names):
        if "planted" in wanted:
            scores, _ = canon.planted(range(options.first, options.first + options.seeds), RATE)
            counts = f"{scores['caught']} of {scores['errors']}"
            yield f"{canon.name}: planted errors raised", f"{scores['recall']:.4f}", "", counts
            mended = scores["caught"] + scores["mended"]
            share = f"{mended / max(scores['errors'], 1):.4f}"
            yield f"{canon.name}: the same with those mended beside another", share, "", str(mended)
            tell(*scores["missed"], sep="\n")
        if "clean" in wanted:
            yield from clean_rows(canon, options)
    if "speed" in wanted:
        rows = list(seconds_a_character(bench, names))
        for name, page, character in rows:
            times = f"{character / rows[0][2]:.2f} times the ruled"
            yield f"{name}: processor time", f"{page:.0f} ms a page, {character:.2f} ms a character", "1.5", times
