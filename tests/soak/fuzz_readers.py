#!/usr/bin/env python3
"""Fuzz whatever reads other people's files: texts of every format, files that texts are read out of, readings, image
lists, apparatus notes.

    python -m tests.soak.fuzz_readers [--inputs 1000000] [--seconds 0] [--seed 1] [--only text,readings,...]
        [--found DIR]

Pieces of real files are cut, joined and damaged, with marks of the formats strewn in. A reader may refuse an input
with an error of the project (ProofError); any other exception is a crash, and an input on which it computes for more
than LONGEST seconds a hang: the input is kept in --found, and the exit status is 1. The same seed makes the same
inputs.
"""

from __future__ import annotations

import argparse
import io
import random
import signal
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from rich.console import Console
from rich.table import Table

from proof.collation.apparatus import apparatus_of
from proof.errors import ProofError
from proof.images.imglist import ImageList
from proof.ocr.external.parse import parse_readings
from proof.text.addresses import Addresses
from proof.text.convert import convert
from proof.text.edit import Edit
from proof.text.encoding import decode, encode
from proof.text.formats import decoded
from proof.text.model import is_han
from proof.text.read import parse_transcription
from proof.text.transcription import Format, Transcription
from tests.text.formats.samples import SAMPLES

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 5.0
"""Seconds of computing that a reader may take for one input, all of which are short."""

LARGEST = 3000
"""Bytes of an input, about."""

DAMAGED_ARCHIVES = 0.2
"""Share of the archives that are damaged as such, not within one of their files."""
MAIN_PARTS = 0.9
"""Share of the others in which that is a file with text."""

CONSOLE = Console(width=110)
HERE = Path("fuzzed")

MARKS = {
    "text": (
        "<pb:KR1d0030_WYG_010-1a>¶|<pb:|¶|\n|\r\n|\r|(|/|)|（|）|【|】|[疏]|○释曰：|○釋曰|“|”至“|注“|"
        '<small>|</small>|[^1]|[^1]: |---\n|title: "|### |{#5.0}|<!--|-->|&KR0058;|&|;|\u3000|\x00|\ufeff|'
        "卷十 第 1a 页 WYG0103-0192c.png\n|扌|案|按|鄭注|釋文|#+PROPERTY: JUAN 10|#+TITLE: |[⿰亻人]|[|]|□|"
        "■|\U000f0000|\ue000|𠀀|\u0300|\x85|\u2028|右射|。|，|①"
    ),
    "readings": (
        '<|>|/>|<Page imageFilename="1a.png" imageWidth="9" imageHeight="9">|<TextLine>|</TextLine>|'
        '<Word>|</Word>|<Glyph>|<Coords points="1,2 3,4"/>|<Coords points=""/>|'
        '<Baseline points="1,1"/>|<Unicode>大</Unicode>|NaN|inf|-1|1e9|1e-9|99999999999999999999|'
        '<String CONTENT="大"/>|CC="09x"|&amp;|&#0;|&lol;|<!ENTITY lol "lol">|<![CDATA[|]]>|<?x?>|'
        "title='bbox 1 2 3 4'|x_bboxes 1 2|x_confs 9|class='ocr_page'|class=\"ocrx_word\"|\x00|\u3000|\u0300|"
        'xmlns=""|:'
    ),
    "files": (
        '<|>|/>|</p>|<p>|<note place="inline">|</note>|<lb n="0748c17" ed="T"/>|<pb n="0748c" xml:id="T08.0235.0748c"/>'
        '|<app>|<lem wit="#w">|<rdg>|</app>|<g ref="#CB00001"/>|<choice><sic>|<corr>|<TextLine>|</TextLine>'
        '|<Unicode>大|</Unicode>|<TextEquiv index="0">|<String CONTENT="大"/>|<w:t>大</w:t>|<w:r>|<w:sz w:val="18"/>'
        "|<small>|</small>|<ruby>|<rt>|&amp;|&#0;|&#x110000;|&lol;|<!ENTITY lol 'lol'>|<!DOCTYPE html>|<![CDATA[|]]>"
        "|<?x?>|<!--|-->|{{|}}|[[|]]|{{*||{{SKchar|25}}|{{SK anchor||{{另|甲|乙}}|<ref>|</ref>|<poem>|</poem>|==|{||-"
        "|:|;|*|#|【經文資訊】|║|T08n0235_p0748c17║|[1a]|\r|\n|\x00|\ufeff|\U000f0000|\ue000|𠀀|\u0300"
    ),
    "imglist": (
        "\t|\n|\r|010-1a00|010-1a|WYG 010-1a|WYG0103/WYG0103-0192c.png|../|/etc/x|C:\\|#|卷十|〇|十百|²|½|"
        "٣|\x00|-|a|99999999"
    ),
    "notes": (
        "案|按|訛作|誤作|原作|作|脫|衍|今注疏本|唐石經|監本|據|改正|字|下|上|此下|，|。|；|：|當作|疑作|疑衍|"
        "補|刪|從|無|云|二|十|儁|西"
    ),
}
"""Marks of the formats, strewn into the inputs; `|` divides them."""


class Hang(BaseException):
    """An input took too long; no reader can catch it by mistake."""


def read_text(data: bytes) -> None:
    """Every format, the one that is recognised and those that are named; what is read can be used and turned."""
    decoded = decode(HERE, data)
    if encode(HERE, decoded.text, decoded.encoding, decoded.bom) != data:
        raise AssertionError("written back, the bytes are others")
    for form in (None, *Format):
        try:
            edition = parse_transcription(decoded, HERE, form)
        except ProofError:
            continue
        _used(edition)


def read_file(data: bytes) -> None:
    """A file whose text is read out of it; `data` names it in its first line. Unchanged it is written back as it came,
    and what is corrected in its text is read again."""
    name, _, content = data.partition(b"\n")
    path = Path(name.decode())
    read = decoded(path, content)
    source = read.extraction
    if source is not None and source.edited([]) != content:
        raise AssertionError("written back, the bytes are others")
    edition = parse_transcription(read, path)
    _used(edition)
    places = [place for stretch in edition.stretches() for place in range(stretch.start, stretch.end)]
    edits = [Edit(place, 1, "龍") for place in places if is_han(edition.text[place])]
    for edit in [edit for edit in edits if source is not None and source.holds(edit)][:3]:
        again = decoded(path, edition.data([edit]))
        if again.text != edition.text[: edit.start] + "龍" + edition.text[edit.end :]:
            raise AssertionError(f"what was corrected is not read again: {edit}")


def _used(edition: Transcription) -> None:
    for stretch in edition.stretches():
        if edition.text[stretch.start : stretch.end] != stretch.source:
            raise AssertionError(f"a stretch is not what stands at its place: {stretch}")
        for cell in stretch.cells():
            if not stretch.start <= cell.start < cell.start + cell.length <= stretch.end:
                raise AssertionError(f"a character stands outside its stretch: {cell} in {stretch}")
    addresses = Addresses(edition)
    for at in range(0, len(edition.text), 7):
        place = addresses.of(at)
        if place is not None and addresses.start(place) != at:
            raise AssertionError(f"place {at} leads to {place} and not back")
    apparatus_of(edition)
    for target in Format:
        try:
            convert(edition, target, work="KR1d0030")
        except ProofError:
            continue


def read_notes(data: bytes) -> None:
    """A line is a note: as a footnote, and as a remark of editors in a column."""
    lines = data.decode("utf-8", "replace").splitlines()
    notes = "".join(f"[^{number}]: {line}\n" for number, line in enumerate(lines))
    columns = "".join(f"大射(案{line})¶\n" for line in lines)
    for text in (f"大射\n{notes}", f"<pb:KR1d0030_WYG_010-1a>¶\n{columns}"):
        apparatus_of(parse_transcription(decode(HERE, text.encode()), HERE))


def read_list(data: bytes) -> None:
    LIST.write_bytes(data)
    ImageList.read(LIST)


def read_readings(data: bytes) -> None:
    parse_readings(HERE, data)


LIST = Path(tempfile.mkdtemp(prefix="proof-fuzz-")) / "imglist.txt"
READERS: dict[str, Callable[[bytes], None]] = {
    "text": read_text,
    "files": read_file,
    "readings": read_readings,
    "imglist": read_list,
    "notes": read_notes,
}


def samples(name: str, shared: Path) -> list[bytes]:
    """Real material for a reader to begin from."""
    if name == "files":
        return [f"{sample.path}\n".encode() + sample.data for sample in SAMPLES.values()]
    if name == "readings":
        tests = (ROOT / "tests/ocr/external/test_parse.py").read_text(encoding="utf-8")
        return [part.encode() for part in tests.split('"""')[1::2] if "<" in part]
    if name == "imglist":
        return [path.read_bytes() for path in sorted(shared.rglob("imglist/*.txt"))[:4]]
    texts = sorted((shared / "seeds").glob("*.txt")) + sorted((shared / "kanripo").glob("*/*_00[0-9].txt"))[::3]
    texts += sorted((ROOT / "pages").glob("*.txt"))
    if name == "text":
        return [path.read_bytes() for path in texts]
    notes = [
        note.text for path in texts for note in apparatus_of(parse_transcription(decode(path, path.read_bytes()), path))
    ]
    return ["\n".join(notes[start : start + 5]).encode() for start in range(0, len(notes), 5)]


class Mutator:
    """Inputs of a reader, each from a piece of a real file."""

    def __init__(self, name: str, real: Sequence[bytes], rng: random.Random) -> None:
        self._data = real
        self._real = [data.decode("utf-8", "surrogateescape") for data in real]
        self._marks = MARKS[name].split("|")
        self._whole = name == "readings"
        self._files = name == "files"
        self._rng = rng

    def __call__(self) -> bytes:
        if not self._files:
            return self._damaged(self._piece())
        name, _, data = self._rng.choice(self._data).partition(b"\n")
        return (
            name + b"\n" + (self._archive(data) if zipfile.is_zipfile(io.BytesIO(data)) else self._damaged_data(data))
        )

    def _archive(self, data: bytes) -> bytes:
        """An archive with one of its files damaged, or itself."""
        if self._rng.random() < DAMAGED_ARCHIVES:
            at = self._rng.randrange(len(data))
            return data[:at] + bytes([self._rng.randrange(256)]) + data[at + self._rng.choice((0, 1, 40)) :]
        target = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(target, "w") as after:
            names = before.namelist()
            main = [name for name in names if name.endswith(("document.xml", ".xhtml", ".opf"))]
            chosen = self._rng.choice(main if self._rng.random() < MAIN_PARTS else names)
            for name in names:
                content = before.read(name)
                after.writestr(name, self._damaged_data(content) if name == chosen else content)
        return target.getvalue()

    def _damaged_data(self, data: bytes) -> bytes:
        return self._damaged(data.decode("utf-8", "surrogateescape"), len(data) + LARGEST)

    def _damaged(self, text: str, largest: int = LARGEST) -> bytes:
        rng = self._rng
        for _ in range(rng.choice((0, 1, 1, 2, 3, 5, 8, 20))):
            at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
            to = min(to, at + rng.choice((0, 1, 1, 2, 10, 50)))
            how = rng.randrange(5)
            if how <= 1:
                new = rng.choice(self._marks) * rng.choice((1, 1, 1, 1, 2, 30))
            elif how == 2:
                new = ""
            elif how == 3:
                new = text[at:to] * rng.choice((2, 3, 40))
            else:
                new = chr(
                    rng.choice((rng.randrange(1, 128), rng.randrange(0x2E80, 0xA000), rng.randrange(0xE000, 0x30000)))
                )
            text = (text[:at] + new + text[to:])[:largest]
        data = text.encode("utf-8", "surrogatepass" if rng.random() < 0.01 else "replace")
        if data and rng.random() < 0.03:
            at = rng.randrange(len(data))
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        return data

    def _piece(self) -> str:
        rng = self._rng
        parts = []
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            real = rng.choice(self._real)
            if self._whole:
                return real
            size = rng.choice((20, 100, 200, 300))
            at = rng.randrange(max(1, len(real) - size))
            if rng.random() < 0.5:  # from the beginning of a line: most marks stand there
                at = real.rfind("\n", 0, at) + 1
            parts.append(real[at : at + size])
        return "".join(parts)


class Harness:
    """Runs a reader and keeps what made it fail."""

    def __init__(self, found: Path) -> None:
        self._found = found
        self.inputs: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.slowest: dict[str, float] = {}
        self._seen: set[tuple[str, str]] = set()
        signal.signal(signal.SIGPROF, self._hung)

    @staticmethod
    def _hung(number: int, frame: FrameType | None) -> None:
        raise Hang

    def run(self, name: str, data: bytes) -> None:
        self.inputs[name] += 1
        began = time.perf_counter()
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        try:
            READERS[name](data)
        except ProofError:
            self.refused[name] += 1
        except (Exception, Hang) as error:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._keep(name, data, error)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        self.slowest[name] = max(self.slowest.get(name, 0.0), time.perf_counter() - began)

    def _keep(self, name: str, data: bytes, error: BaseException) -> None:
        """The first input of a kind of failure: the same exception at the same place is one kind."""
        self.failed[name] += 1
        last = traceback.extract_tb(error.__traceback__)[-1]
        kind = (type(error).__name__, f"{Path(last.filename).name}:{last.lineno}")
        if kind in self._seen:
            return
        self._seen.add(kind)
        self._found.mkdir(parents=True, exist_ok=True)
        path = self._found / f"{name}-{kind[0]}-{kind[1].replace(':', '-')}"
        path.write_bytes(data)
        path.with_suffix(".log").write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        CONSOLE.print(f"{name}: {kind[0]} at {kind[1]}: {str(error)[:200]} (kept as {path})", markup=False)


def report(harness: Harness, seconds: float) -> None:
    table = Table(title=f"Readers fuzzed: {sum(harness.inputs.values()):,} inputs in {seconds:,.0f} s")
    for column in ("reader", "inputs", "refused by name", "crashed or hung", "slowest"):
        table.add_column(column, justify="left" if column == "reader" else "right")
    for name, count in harness.inputs.items():
        slowest = f"{harness.slowest[name]:.2f} s"
        table.add_row(name, f"{count:,}", f"{harness.refused[name]:,}", f"{harness.failed[name]:,}", slowest)
    CONSOLE.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=0, help="stop after so many seconds; 0: never")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(READERS), help="which readers")
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), help="folder for inputs that fail")
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    options = parser.parse_args(arguments)
    names = options.only.split(",")
    harness = Harness(options.found)
    rng = random.Random(options.seed)  # noqa: S311 - inputs that can be made again
    mutators = {name: Mutator(name, samples(name, options.shared), rng) for name in names}
    began = reported = time.monotonic()
    for number in range(options.inputs):
        name = names[number % len(names)]
        harness.run(name, mutators[name]())
        now = time.monotonic()
        if options.seconds and now - began > options.seconds:
            break
        if now - reported > 60:
            reported = now
            CONSOLE.print(f"{number + 1:,} inputs after {now - began:,.0f} s")
    report(harness, time.monotonic() - began)
    return 1 if harness.failed else 0


if __name__ == "__main__":
    sys.exit(main())
