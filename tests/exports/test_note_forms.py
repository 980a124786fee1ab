"""The corrected text with its notes as DOCX and HTML: what a reader of either finds."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lxml import etree

from proof.exports.collation_notes import notes_of
from proof.exports.corrections import Correction
from proof.exports.docx import docx
from proof.exports.forms.cbeta import collation_list, marked_text
from proof.exports.forms.tei_notes import NAMESPACE, apparatus_document
from proof.exports.forms.wikisource import running_page
from proof.exports.note_files import with_footnotes
from proof.exports.note_page import note_page
from proof.exports.noted_text import noted_text
from proof.exports.source import CorrectedSource, correct
from proof.exports.tei import tei
from proof.model.flags import Kind
from proof.text.read import read_transcription
from tests.build import transcription

PAGE = "KR1_WYG_010-1a"
TEXT = f"<pb:{PAGE}>¶\n　大夫之西北耦(案比今注/訛作北據)¶\n司射不告告者揖耦以¶\n<pb:KR1_WYG_010-1b>¶\n射于庭¶\n"
APP, XML_ID = f"{{{NAMESPACE}}}app", "{http://www.w3.org/XML/1998/namespace}id"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def corrected(text: str = TEXT) -> CorrectedSource:
    return correct(
        transcription(text),
        [
            Correction(PAGE, 2, 7, 2, "以耦", "耦以", authority="影像", person="甲"),
            Correction(PAGE, 2, 3, 1, "", "告", authority="理校", person="乙"),
            Correction(PAGE, 1, 5, 1, "比", "北", authority="四庫", person="甲", readings=(("四庫", "比"),)),
            Correction(PAGE, 1, 3, 0, "與", "", person="甲"),
            Correction("KR1_WYG_010-1b", 1, 3, 0, "中", "", person="乙"),
        ],
    )


def written(source: CorrectedSource) -> bytes:
    notes = notes_of(source)
    return docx(noted_text(source, notes), notes, "儀禮", datetime(2026, 1, 2, tzinfo=UTC))


def part(document: bytes, name: str) -> etree._Element:
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        return etree.fromstring(archive.read(name))


def footnotes_of(document: bytes) -> dict[str | None, str]:
    """The text of each footnote by its id."""
    notes = part(document, "word/footnotes.xml")
    return {note.get(f"{W}id"): "".join(map(str, note.itertext())).strip() for note in notes}


def test_tracked_changes_accepted_give_the_corrected_text_and_refused_the_text_as_it_was() -> None:
    body = part(written(corrected()), "word/document.xml")
    accepted = "".join(node.text or "" for node in body.iter(f"{W}t"))
    assert "大夫與之西比耦案比今注訛作北據司射不告者揖以耦" in accepted
    for change in list(body.iter(f"{W}ins")):
        parent = change.getparent()
        assert parent is not None
        parent.remove(change)
    refused = "".join(node.text or "" for node in body.iter(f"{W}t", f"{W}delText"))
    assert "大夫之西北耦案比今注訛作北據司射不告告者揖耦以" in refused
    made = {(node.get(f"{W}author"), node.get(f"{W}date")) for node in body.iter(f"{W}del")}
    assert made == {("甲", "2026-01-02T00:00:00Z"), ("乙", "2026-01-02T00:00:00Z")}


def test_every_note_is_a_footnote_at_its_place() -> None:
    document = written(corrected())
    notes = footnotes_of(document)
    referred = [node.get(f"{W}id") for node in part(document, "word/document.xml").iter(f"{W}footnoteReference")]
    assert [notes[number] for number in referred] == [
        "與：原脫，今補。",
        "比：原作北，四庫本作比，從四庫本改。",
        "告：原衍，據理校刪。",
        "以耦：原作耦以，據影像乙正。",
        "中：原脫，今補。",
    ]
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        assert b"/word/footnotes.xml" in archive.read("[Content_Types].xml")
        dates = {member.date_time for member in archive.infolist()}
    assert dates == {(2026, 1, 2, 0, 0, 0)}, "the same document is the same file whenever it is written"


def test_the_document_is_read_again_as_the_corrected_text(tmp_path: Path) -> None:
    path = tmp_path / "text.docx"
    path.write_bytes(written(corrected()))
    again = "".join(cell.text for stretch in read_transcription(path).stretches() for cell in stretch.cells())
    assert "大夫與之西比耦" in again
    assert "司射不告者揖以耦" in again


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not on this machine")
def test_libreoffice_finds_every_change_and_footnote(tmp_path: Path) -> None:
    (tmp_path / "text.docx").write_bytes(written(corrected()))
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", "odt", "--outdir", str(tmp_path), "text.docx"]
    subprocess.run(command, check=True, cwd=tmp_path, capture_output=True)  # noqa: S603
    with zipfile.ZipFile(tmp_path / "text.odt") as archive:
        content = archive.read("content.xml").decode()
    counts = [len(re.findall(f"<text:{name}[ >]", content)) for name in ("insertion", "deletion", "note")]
    assert counts == [4, 3, 5]


def test_titles_and_what_does_not_fill_its_column_stand_alone_and_full_columns_are_one_paragraph() -> None:
    columns = (
        "欽定四庫全書",
        "儀禮集釋卷十",
        "司射適西階西倚扑升自西階東面請射于公",
        "公許遂適西階上命賓御于公",
        "諸公卿",
    )
    source = correct(transcription(f"<pb:{PAGE}>¶\n" + "".join(f"{column}¶\n" for column in columns)), [])
    paragraphs = ["".join(run.text for run in paragraph.runs) for paragraph in noted_text(source, notes_of(source))]
    assert paragraphs == [*columns[:2], columns[2] + columns[3] + columns[4]]


def test_the_page_has_the_text_with_its_changes_and_every_note_linked() -> None:
    source = corrected()
    notes = notes_of(source)
    page = etree.HTML(note_page(noted_text(source, notes), notes, "儀禮 <b>"))
    assert "".join(element.text or "" for element in page.iter("ins")) == "與比以耦中"
    assert "".join(element.text or "" for element in page.iter("del")) == "北告耦以"
    targets = {(link.get("href") or "").removeprefix("#") for link in page.iter("a")}
    assert targets == {element.get("id") for element in page.iter() if element.get("id")}
    assert len(targets) == 10
    assert page.findtext(".//h1") == "儀禮 <b>"
    assert page.findtext(".//dd") == "文淵閣四庫全書本"


ANNOTATED = (
    "### 數獲 {#5}\n\n東面于中[^b]東坐。<small>固東[^a]面矣。</small>\n\n"
    "[^a]: 編者按。\n[^b]: 中，射器。\n[^c]: 未引。\n"
)


def annotated() -> CorrectedSource:
    return correct(transcription(ANNOTATED), [Correction("", 3, 8, 1, "西", "東")])


def test_footnotes_that_an_edition_has_itself_are_in_the_document_at_their_places() -> None:
    document = written(annotated())
    footnotes = footnotes_of(document)
    body = part(document, "word/document.xml")
    said = [
        node.text if node.tag == f"{W}t" else f"[{footnotes[node.get(f'{W}id')]}]"
        for node in body.iter(f"{W}t", f"{W}footnoteReference")
    ]
    assert "".join(map(str, said)).endswith(
        "東面于中[中，射器。]西[西：原作東，今改。]坐。固東[編者按。]面矣。[未引。]"
    )


def test_footnotes_that_an_edition_has_itself_stand_behind_the_collation_notes_of_the_page() -> None:
    source = annotated()
    page = note_page(noted_text(source, notes_of(source)), notes_of(source), "書").decode()
    words = re.sub(r"<[^>]+>|\s", "", page.partition("<main>")[2])
    assert words == (
        "數獲東面于中[1]東西〔一〕坐。固東[2]面矣。[3]"
        "校勘記〔一〕第三行東面于中〔西〕坐固東面西：原作東，今改。附注[1]中，射器。[2]編者按。[3]未引。"
    )


def test_footnotes_that_an_edition_has_itself_are_references_on_wikisource() -> None:
    page = running_page(transcription(ANNOTATED))
    assert "東面于中<ref>中，射器。</ref>東坐。{{*|固東}}<ref>編者按。</ref>{{*|面矣。}}" in page


def columns_corrected() -> CorrectedSource:
    """A column that was missing is put in, and a surplus one deleted."""
    text = TEXT.replace("司射", "司馬命量人¶\n司射")
    added, surplus = text.index("　大夫"), text.index("司馬")
    return correct(
        transcription(text),
        [
            Correction(PAGE, 1, 0, 0, "具饌于阼階", "", kind=Kind.LAYOUT, start=added, column=1, authority="影像"),
            Correction(PAGE, 2, 0, 5, "", "司馬命量人", kind=Kind.LAYOUT, start=surplus, authority="影像"),
        ],
    )


def test_a_column_stands_in_every_form_without_the_mark_of_its_end(tmp_path: Path) -> None:
    source = columns_corrected()
    assert [edit.edit.replacement for edit in source.placed] == ["具饌于阼階¶\n", ""]
    notes = notes_of(source)
    page = etree.HTML(note_page(noted_text(source, notes), notes, "儀禮"))
    assert [element.text for element in page.iter("ins", "del")] == ["具饌于阼階", "司馬命量人"]
    assert "¶" not in etree.tostring(part(written(source), "word/document.xml"), encoding="unicode")
    assert "具饌于阼階[^1]¶\n　大夫" in with_footnotes(source, notes)
    placed = list(source.placed)
    assert "\n[>具饌于阼階]¶\n　大夫" in marked_text(source.edition.text, placed)
    assert "¶\n[司馬命量人>]¶\n司射" in marked_text(source.edition.text, placed)
    assert [line.split("\t")[1] for line in collation_list(placed, source.edition.script).splitlines()] == [
        "具饌于阼階【校】，〔－〕【原】（據影像）",
        "〔－〕【校】，司馬命量人【原】（據影像）",
    ]
    document = etree.fromstring(tei(source.edition, source.placed))
    assert [corr.xpath("name(*)") for corr in document.iter(f"{{{NAMESPACE}}}corr")] == ["cb", ""]
    assert "¶" not in etree.tostring(document, encoding="unicode")


def test_an_apparatus_of_tei_has_what_was_decided_and_who_reads_otherwise(tei_schema: etree.RelaxNG) -> None:
    notes = notes_of(corrected(), names={"四庫": "文淵閣四庫全書本"})
    document = etree.fromstring(etree.tostring(apparatus_document(notes, "儀禮")))
    tei_schema.assertValid(document)
    witnesses = {
        element.get(XML_ID): "".join(map(str, element.itertext())) for element in document.iterfind(".//{*}witness")
    }
    assert witnesses == {"base": "底本text.txt", "copy": "影像", "w1": "四庫本文淵閣四庫全書本"}
    entries = [
        [(etree.QName(element).localname, element.get("wit"), element.text) for element in app]
        for app in document.iterfind(".//{*}app")
    ]
    assert entries[:3] == [
        [("lem", None, "與"), ("rdg", "#base", None), ("note", None, "與：原脫，今補。")],
        [("lem", "#w1", "比"), ("rdg", "#base", "北"), ("note", None, "比：原作北，四庫本作比，從四庫本改。")],
        [("lem", None, None), ("rdg", "#base", "告"), ("note", None, "告：原衍，據理校刪。")],
    ]
    assert entries[3][0] == ("lem", "#copy", "以耦")
    assert [app.get("loc") for app in document.iterfind(".//{*}app")][-1] == "KR1_WYG_010-1b 1"


def test_a_text_that_is_kept_and_one_in_doubt_are_readings_beside_it(tei_schema: etree.RelaxNG) -> None:
    text = transcription(TEXT)
    kept = Correction(PAGE, 1, 5, 1, "北", "北", copy_reads="比", authority="四庫", readings=(("四庫", "比"),))
    doubt = Correction(PAGE, 2, 0, 1, "司", "司", doubt="同", start=text.text.index("司"))
    document = apparatus_document(notes_of(correct(text, [kept]), [doubt]), "儀禮")
    tei_schema.assertValid(etree.fromstring(etree.tostring(document)))
    first, second = (
        [(element.get("wit") or element.get("type"), element.text) for element in app][:2] for app in document.iter(APP)
    )
    assert first == [("#base", "北"), ("#w1", "比")]
    assert second == [("#base", "司"), ("conjecture", "同")]
