"""From the exported TEI every witness is put together again, and so is the base before and after its corrections."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from lxml import etree

from proof.collation.collation import collate
from proof.exports.corrections import Correction
from proof.exports.source import CorrectedSource, correct
from proof.exports.tei import tei
from proof.text.addresses import Addresses
from proof.text.contexts import context_of
from proof.text.encoding import Decoded
from proof.text.layers import Layer, LayerStretch
from proof.text.read import parse_transcription, read_transcription
from proof.text.transcription import Format, Transcription
from tests.build import transcription
from tests.sampling import cross_section

pytestmark = pytest.mark.slow


def characters(text: str) -> str:
    """What of a text is characters of it, without punctuation and spaces."""
    return "".join(cell.text for cell in LayerStretch(Layer.CANON, 0, text).cells())


def body_of(document: etree._Element) -> etree._Element:
    (body,) = document.findall(".//{*}body")
    return body


def base_of(document: etree._Element, says: str) -> str:
    """The base as it is without its corrections (`sic`) or with them (`corr`)."""

    def walk(element: etree._Element, inside: str = "") -> Iterator[str]:
        name = etree.QName(element).localname
        other = {"sic": "corr", "corr": "sic"}[says]
        left_out = name == "rdg" or (name == other and inside == "choice")
        if not left_out and element.get("place") != "foot":
            yield element.text or ""
            for child in element:
                yield from walk(child, name)
        yield element.tail or ""

    return "".join(walk(body_of(document)))


def witness_of(document: etree._Element, siglum: str) -> str:
    """A witness, by the rules that the module of the export states."""
    pieces: list[list[object]] = []
    there = False

    def put(text: str | None) -> None:
        if there and text:
            pieces[-1][1] = f"{pieces[-1][1]}{text}"

    def walk(element: etree._Element) -> None:
        nonlocal there
        name = etree.QName(element).localname
        if name == "milestone" and element.get("edRef") == f"#{siglum}":
            there = element.get("unit") == "text"
            if there:
                pieces.append([int(str(element.get("n"))), ""])
        elif name == "app":
            for reading in element:
                if f"#{siglum}" in str(reading.get("wit")).split():
                    inside(reading)
        elif name not in ("corr", "milestone") and element.get("place") != "foot":
            inside(element)
        put(element.tail)

    def inside(element: etree._Element) -> None:
        put(element.text)
        for child in element:
            walk(child)

    walk(body_of(document))
    return "".join(str(text) for _, text in sorted(pieces, key=lambda piece: int(str(piece[0]))))


def hold(base: Transcription, witnesses: Sequence[Transcription], corrected: CorrectedSource) -> etree._Element:
    """Holds the document of these to what was put in."""
    collations = [collate(base, witness) for witness in witnesses]
    document = etree.fromstring(tei(base, corrected.placed, collations=collations))
    for number, collation in enumerate(collations, start=1):
        assert characters(witness_of(document, f"w{number}")) == collation.witness.text(0, len(collation.witness))
    assert characters(base_of(document, "sic")) == text_of(base)
    again = parse_transcription(Decoded(corrected.text, "utf-8", False), base.path, base.format)
    assert characters(base_of(document, "corr")) == text_of(again)
    return document


def text_of(edition: Transcription) -> str:
    return characters("".join(stretch.source for stretch in edition.stretches()))


def some_corrections(edition: Transcription, seed: int, number: int) -> CorrectedSource:
    """Corrections of all kinds at places drawn by lot."""
    drawn = random.Random(seed)  # noqa: S311
    addresses = Addresses(edition)
    cells = [
        cell for stretch in edition.stretches() for cell in stretch.cells() if stretch.layer is not Layer.APPARATUS
    ]
    made = []
    for at in sorted(drawn.sample(range(0, len(cells) - 3, 3), min(number, len(cells) // 6))):
        cell, address = cells[at], addresses.of(cells[at].start)
        if address is None or cell.length != 1:
            continue
        length = drawn.choice([0, 1, 1])
        begin, end = addresses.line(address.page, address.line)
        original = edition.text[cell.start : cell.start + length]
        reading = drawn.choice(["甲", "乙", ""] if length else ["丙"])
        context = context_of(edition.text[begin:end], address.offset, length)
        made.append(Correction(address.page, address.line, address.offset, length, reading, original, context))
    return correct(edition, made)


def test_several_witnesses_come_back_together(shared: Path) -> None:
    base, *witnesses = (read_transcription(path) for path in sorted((shared / "seeds").glob("*.txt")))
    hold(base, witnesses, some_corrections(base, 7, 60))


def test_pairs_of_juan_come_back(shared: Path) -> None:
    kanripo = shared / "kanripo"
    heng = ("branches/KR3j0080/WYG", "branches/KR3j0080/SBCK")
    pairs = [
        (path, other)
        for mine, theirs in [heng, ("branches/KR1h0004/tls", "branches/KR1h0004/master")]
        for path in sorted((kanripo / mine).glob("*.txt"))
        if (other := kanripo / theirs / path.name).is_file()
    ]
    for work in ("KR1d0085", "KR1d0028"):
        for path in sorted((kanripo / work).glob("*.txt")):
            pairs.append((path, kanripo / "KR1d0030" / path.name.replace(work, "KR1d0030")))
    assert len(pairs) >= 10
    for number, (first, other) in enumerate(cross_section(pairs, 1, lambda pair: (pair[0].parent, pair[1].parent))):
        base = read_transcription(first)
        hold(base, [read_transcription(other)], some_corrections(base, number, 40))


LINE = "司射東面于大夫之西北耦大夫與大夫命上射曰某御于子命下射曰子與某子射卒遂命三耦取弓矢于次"


@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.data())
def test_any_witness_of_any_corrected_text_comes_back(data: st.DataObject) -> None:
    def edition(name: str) -> Transcription:
        text = LINE
        for _ in range(data.draw(st.integers(0, 5))):
            at = data.draw(st.integers(0, len(text) - 1))
            text = text[:at] + data.draw(st.text("甲乙射大", max_size=2)) + text[at + data.draw(st.integers(0, 2)) :]
        text = text[:20] + "\n" + text[20:] if data.draw(st.booleans()) else text
        return transcription(f"<!-- {{ }} -->\n　　{text}【注】\n", name, Format.INLINE)

    base = edition("base.txt")
    witnesses = [edition(f"{number}.txt") for number in range(data.draw(st.integers(1, 3)))]
    hold(base, witnesses, some_corrections(base, data.draw(st.integers(0, 1000)), data.draw(st.integers(0, 5))))


def test_a_correction_that_a_witness_bears_out_leaves_both_readings_where_they_are() -> None:
    def edition(name: str, line: str) -> Transcription:
        return transcription(f"<!-- {{ }} -->\n　　{line}【注】\n", name, Format.INLINE)

    base = edition("base.txt", LINE)
    same, right = edition("same.txt", LINE), edition("right.txt", LINE.replace("北耦", "比耦"))
    at = base.text.split("\n")[1].index("北耦")
    corrected = correct(base, [Correction("", 2, at, 1, "比", "北", person="甲")])
    document = etree.fromstring(
        tei(base, corrected.placed, collations=[collate(base, witness) for witness in (same, right)])
    )
    (app,) = document.findall(".//{*}app")
    lemma, reading = app
    assert (lemma.get("wit"), lemma.findtext(".//{*}sic"), lemma.findtext(".//{*}corr")) == ("#base #w1", "北", "比")
    assert (reading.get("wit"), reading.text, reading.get("type")) == ("#w2", "比", None)
    assert app.get("type") == "error"
    responsible = str(document.findall(".//{*}corr")[0].get("resp"))[1:]
    (statement,) = document.findall(".//{*}respStmt")
    assert statement.get("{http://www.w3.org/XML/1998/namespace}id") == responsible
    assert statement.findtext("{*}name") == "甲"


def test_a_part_that_stands_in_another_order_is_marked_once(shared: Path) -> None:
    text = next((shared / "seeds").glob("000_*")).read_text("utf-8")
    lines = [line for line in text.splitlines() if len(line) > 120][:6]
    other = [*lines[:2], lines[3], lines[2], *lines[4:]]
    base, witness = (
        transcription("\n".join(each), name, Format.INLINE) for each, name in ((lines, "a.txt"), (other, "b.txt"))
    )
    document = hold(base, [witness], correct(base, []))
    assert [mark.get("edRef") for mark in document.findall(".//{*}milestone[@type='moved']")] == ["#w1"]
    assert document.findall(".//{*}app") == []
