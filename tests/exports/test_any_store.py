"""Whatever stands in a store: the command gives each text what was decided for it, in its script, and nothing else."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from proof.cli import main
from proof.model.flags import Evidence, Flag, Kind, context_of
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.store import Store
from proof.store.decision_records import State, Verdict
from proof.store.models import FlagRow
from proof.text.model import Script
from tests.standing import by_hand, check_files, page_number, say
from tests.wide import examples

pytestmark = pytest.mark.slow

COLUMNS = {
    Script.TRADITIONAL: ("大夫之西北耦東面于堂下", "命上射曰某御于子退"),
    Script.SIMPLIFIED: ("大夫之西北耦东面于堂下", "命上射曰某御于子退"),
}
WRITTEN = {
    Script.TRADITIONAL: {"後": "後", "傳": "傳", "𫝊": "𫝊", "传": "傳", "比": "比", "": ""},
    Script.SIMPLIFIED: {"後": "后", "后": "后", "傳": "传", "𫝊": "𫝊", "传": "传", "比": "比", "": ""},
}
"""How readings are to be written in a text of each script; 𫝊, which has no simplification, as a person typed it."""
PEOPLE = ("甲", "乙", "丙")


@dataclass
class Checked:
    """A text of a work, and what is to be read at the places that people decided: by column and offset."""

    work: str
    name: str
    script: Script
    pages: Sequence[str]
    flagged: list[tuple[str, int, int, str]]
    expected: dict[tuple[str, int, int], str] = field(default_factory=dict)

    def source(self) -> str:
        return self.corrected({})

    def corrected(self, readings: dict[tuple[str, int, int], str]) -> str:
        lines = []
        for page in self.pages:
            lines.append(f"<pb:{page}>¶\n")
            for line, column in enumerate(COLUMNS[self.script], 1):
                told = "".join(readings.get((page, line, at), char) for at, char in enumerate(column))
                lines.append(f"{told}¶\n")
        return "".join(lines)


@st.composite
def projects(draw: st.DrawFn) -> list[Checked]:
    """Works with texts that share page ids, file names and places in all ways that are possible in one store."""
    texts = []
    for work in draw(st.lists(st.sampled_from(["KR1", "KR2", "KR3"]), min_size=1, max_size=3, unique=True)):
        for name in draw(st.lists(st.sampled_from(["a.txt", "b.txt"]), min_size=1, max_size=2, unique=True)):
            script = draw(st.sampled_from(list(Script)))
            pages = draw(st.lists(st.sampled_from(["KR1_WYG_010-1a", "KR1_WYG_010-1b", "KR2_WYG_001-1a"]),
                                  min_size=1, max_size=2, unique=True))  # fmt: skip
            places = st.tuples(st.sampled_from(pages), st.integers(1, 2), st.integers(0, 8))
            flagged = draw(st.lists(places, max_size=4, unique=True))
            readings = [draw(st.sampled_from(sorted({*WRITTEN[script].values()} - {"𫝊"}))) for _ in flagged]
            told = [(*place, reading) for place, reading in zip(flagged, readings, strict=True)]
            texts.append(Checked(work, f"{work}/{name}", script, sorted(pages), told))
    return texts


def result(text: Checked, page: str) -> PageResult:
    columns = COLUMNS[text.script]
    flags = tuple(
        Flag(
            page, "ref", line, at, 1, Kind.SUBSTITUTION if reading else Kind.INSERTION, columns[line - 1][at], reading,
            5.0, True, None, Evidence("posterior"), context_of(columns[line - 1], at, 1), f"f-{line}-{at}",
        )
        for own, line, at, reading in text.flagged
        if own == page
    )  # fmt: skip
    shown = tuple(CheckedColumn(n, Box(0, 0, 9, 99), source) for n, source in enumerate(columns, 1))
    return PageResult(page, "ref", Status.CHECKED, columns=shown, flags=flags)


def check(store: Store, folder: Path, texts: Sequence[Checked]) -> None:
    """One run over the texts of one work."""
    found = [(folder / text.name, result(text, page)) for text in texts for page in text.pages]
    check_files(store, found, work=texts[0].work, script={folder / text.name: text.script.value for text in texts})


def decide(store: Store, folder: Path, text: Checked, data: st.DataObject) -> None:
    """Somebody says something of a place of the text, flagged or not."""
    person = data.draw(st.sampled_from(PEOPLE))
    free = [
        (page, line, at)
        for page in text.pages
        for line in (1, 2)
        for at in range(9)
        if (page, line, at) not in text.expected and (page, line, at) not in {one[:3] for one in text.flagged}
    ]
    if not text.flagged or data.draw(st.booleans()):
        place = data.draw(st.sampled_from(free))
        reading = data.draw(st.sampled_from(sorted(set(WRITTEN[text.script]) - {""})))
        page, line, at = place
        by_hand(store, line, at, reading, person=person, work=text.work, page=page, text=folder / text.name)
        text.expected[place] = WRITTEN[text.script][reading]
        return
    page, line, at, _ = data.draw(st.sampled_from(text.flagged))
    verdict = data.draw(
        st.sampled_from([Verdict.TAKE, Verdict.TYPED, Verdict.KEEP, Verdict.UNSURE, Verdict.COPY, Verdict.UNDO])
    )
    with store._reading() as session:
        on_page = FlagRow.page_id == page_number(store, text.work, page, folder / text.name)
        query = select(FlagRow.id, FlagRow.version).where(FlagRow.uid == f"f-{line}-{at}", on_page)
        number, version = session.execute(query).one()
    if verdict is Verdict.UNDO and (not version or store.decisions.history(number)[-1].verdict is Verdict.UNDO):
        return
    reading = data.draw(st.sampled_from(sorted(WRITTEN[text.script]))) if verdict is Verdict.TYPED else ""
    if verdict is Verdict.TYPED and not reading:
        verdict = Verdict.DELETE
    made = say(store, number, verdict, reading, person, work=text.work)
    if made.state is State.CORRECTED:
        text.expected[page, line, at] = WRITTEN[text.script][made.reading]
    else:
        text.expected.pop((page, line, at), None)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(projects(), st.data())
def test_every_text_gets_what_was_decided_for_it_in_its_script_and_nothing_else(
    texts: list[Checked], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as named:
        folder = Path(named).resolve()
        of_work: dict[str, list[Checked]] = {}
        for text in texts:
            path = folder / text.name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.source(), encoding="utf-8", newline="")
            of_work.setdefault(text.work, []).append(text)
        with Store.open(folder / "out" / "proof.sqlite") as store:
            for checked in of_work.values():
                check(store, folder, checked)
            for _ in range(data.draw(st.integers(0, 12))):
                if data.draw(st.integers(0, 5)) == 0:
                    check(store, folder, of_work[data.draw(st.sampled_from(sorted(of_work)))])
                decide(store, folder, data.draw(st.sampled_from(texts)), data)
        for text in texts:
            path = folder / text.name
            store_url = f"sqlite:///{folder / 'out' / 'proof.sqlite'}"
            out = folder / "corrected" / text.work
            assert main(["export", str(path), "--out", str(out), "--store", store_url, "--form", "text"]) == 0
            assert (out / path.name).read_text(encoding="utf-8") == text.corrected(text.expected)
            assert path.read_text(encoding="utf-8") == text.source()
