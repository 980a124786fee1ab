"""Exports in single forms, read by other programs (poppler, qpdf, git, mwparserfromhell, bagit, iiif-prezi3) and by the
program's own readers."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import bagit
import mwparserfromhell
import pypdfium2
import pytest
from lxml import etree

from proof.errors import UsageError
from proof.exports import forms
from proof.exports.corrections import Correction
from proof.exports.files import Material, form_names, needs_pages, write_export
from proof.exports.forms.pdf import CellCodes
from proof.exports.forms.wikisource import _line
from proof.exports.source import correct
from proof.model.geometry import Box
from proof.ocr.external.parse import parse_readings
from proof.store.page_states import PageState
from proof.text.read import read_transcription
from tests.exports.conftest import PAGE, TEXT
from tests.guide import module_in_guide

LINES = ["大夫之西比耦", "案比今注", "訛作北據", "與", "命上𪚥&KR0058;曰告"]
"""The lines of the page as corrected."""


def export(material: Material, form: str, folder: Path) -> list[Path]:
    return write_export(material, [form], folder)


def output_of(*command: str | Path) -> str:
    """The output of a command, which must succeed; skips the test if it is not installed."""
    name = shutil.which(str(command[0]))
    if name is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([name, *map(str, command[1:])], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_a_pdf_is_sound_and_its_text_is_what_was_corrected(material: Material, tmp_path: Path) -> None:
    (file,) = export(material, "pdf", tmp_path / "out")
    output_of("qpdf", "--check", file)
    text = output_of("pdftotext", "-raw", file, "-")
    assert "".join(text.split()) == "".join(LINES)
    assert "Title:           書" in output_of("pdfinfo", file)


def test_words_are_found_in_a_pdf_although_their_glyphs_are_apart_and_of_different_sizes(
    material: Material, tmp_path: Path
) -> None:
    (page,) = material.pages
    smaller = [
        replace(character, box=replace(character.box, h=character.box.h * (0.5 + 0.1 * (n % 5))))
        for n, character in enumerate(page.characters)
    ]
    (file,) = export(replace(material, pages=[replace(page, characters=tuple(smaller))]), "pdf", tmp_path / "out")
    assert {line for line in LINES if line.isalpha()} <= set(output_of("pdftotext", file, "-").split())


def test_each_character_of_a_pdf_lies_on_its_glyph(material: Material, tmp_path: Path) -> None:
    (page,) = material.pages
    (file,) = export(material, "pdf", tmp_path / "out")
    with pypdfium2.PdfDocument(file) as document:
        text = document[0].get_textpage()
        assert "".join(text.get_text_range().split()).replace("與", "") == "".join(LINES).replace("與", "")
        height = document[0].get_height()
        for char in ("大", "案", "耦", "曰", "告"):
            at = len(text.get_text_range().partition(char)[0].encode("utf-16-le")) // 2
            left, bottom, right, top = (value * 300 / 72 for value in text.get_charbox(at, loose=True))
            box = next(character.box for character in page.characters if character.text == char)
            x, y = (left + right) / 2, height * 300 / 72 - (top + bottom) / 2
            assert abs(x - box.centre[0]) < box.w / 2
            assert abs(y - box.centre[1]) < box.h / 2


def test_a_pdf_of_half_a_plate_shows_that_half(material: Material, tmp_path: Path) -> None:
    (page,) = material.pages
    half = replace(material, pages=[replace(page, image_box=Box(0, 0, 450, 400))])
    (file,) = export(half, "pdf", tmp_path / "out")
    assert "Page size:       108 x 96 pts" in output_of("pdfinfo", file)


def test_a_pdf_may_have_as_many_characters_as_there_are_codes() -> None:
    codes = CellCodes()
    assert [codes[chr(0x10000 + number)] for number in range(0xFFFF)] == list(range(1, 0x10000))
    assert codes[chr(0x10000)] == 1
    with pytest.raises(UsageError, match="more than 65,535"):
        codes[chr(0x1FFFF)]


def test_hocr_is_read_again_with_its_boxes(material: Material, tmp_path: Path) -> None:
    (file,) = export(material, "hocr", tmp_path / "out")
    assert file.name == "WYG0103-0192c.hocr"
    root = etree.parse(file).getroot()
    lines = root.findall(".//{*}span[@class='ocr_line']")
    assert ["".join(map(str, line.itertext())) for line in lines] == LINES
    (read,) = parse_readings(file, file.read_bytes())
    assert read.image == "WYG0103-0192c.png"
    assert all(line.vertical and line.placed for line in read.lines)
    assert ["".join(character.text for character in line.characters) for line in read.lines] == [
        line.replace("&", "").replace(";", "") for line in LINES
    ]
    (page,) = material.pages
    first = root.find(".//{*}span[@class='ocrx_cinfo']")
    assert first is not None
    x, y, w, h = page.characters[0].box.rounded()
    assert first.get("title", "").startswith(f"x_bboxes {x} {y} {x + w} {y + h}")


def test_a_page_of_wikisource_has_the_level_of_its_state_and_is_read_again(material: Material, tmp_path: Path) -> None:
    levels = {}
    for state in (None, *PageState):
        in_state = replace(material, states={} if state is None else {PAGE: state})
        (file,) = export(in_state, "wikisource", tmp_path / str(state))
        text = file.read_text(encoding="utf-8")
        levels[state] = int(text.split('level="')[1][0])
        code = mwparserfromhell.parse(text)
        assert [str(template) for template in code.filter_templates()] == ["{{*|案比今注訛作北據}}"]
        again = read_transcription(file)
        assert again.decoded.container == "wikitext"
        words = "".join(cell.text for stretch in again.stretches() for cell in stretch.cells())
        assert words == "".join(LINES)
    assert list(levels.values()) == [1, 1, 3, 4, 2]


@pytest.mark.parametrize(("breaks", "page"), [(("<pb n='1a'/><lb/>", "<lb/>"), "1a"), (("<p>", "</p><p>"), "")])
def test_the_apparatus_of_an_edition_is_in_every_form_with_notes(
    material: Material, tmp_path: Path, breaks: tuple[str, str], page: str
) -> None:
    (tmp_path / "a.xml").write_text(
        f"<TEI><text><body>{breaks[0]}鳩<app><lem>摩</lem><rdg wit='#宋'>磨</rdg></app>羅<note place='inline'>什"
        f"<app><lem>譯</lem><rdg wit='#宋'>釋</rdg></app></note>{breaks[1]}如<app><lem>是</lem><rdg wit='#元'/></app>"
        f"{'' if page else '</p>'}</body></text></TEI>",
        encoding="utf-8",
    )
    edition = read_transcription(tmp_path / "a.xml")
    line = 1 if page else 1 + [line[:1] for line in edition.text.splitlines()].index("鳩")
    corrections = [Correction(page, line, 1, 1, "麼", "摩"), Correction(page, line, 2, 0, "耆", "")]
    source = replace(material, corrected=correct(edition, corrections), pages=())
    assert not source.corrected.refused
    wikisource, footnotes = export(source, "wikisource", tmp_path / "out") + export(source, "footnotes", tmp_path)
    text = wikisource.read_text(encoding="utf-8")
    noted = "鳩麼<ref>摩：宋作磨</ref>耆羅{{*|什譯}}<ref>譯：宋作釋</ref>"
    assert noted in text
    assert "如是<ref>是：元無</ref>" in text
    text = footnotes.read_text(encoding="utf-8")
    assert [line.partition(" ")[2] for line in text.splitlines() if line.startswith("[^")] == [
        "麼：原作摩，今改。",
        "摩：宋作磨",
        "耆：原脫，今補。",
        "譯：宋作釋",
        "是：元無",
    ]


@pytest.mark.parametrize("sign", " *#:;=")
def test_a_line_that_begins_like_markup_of_wikisource_is_text_there(sign: str) -> None:
    assert re.match(r"&#32;大|<nowiki>.</nowiki>大", _line(f"{sign}大夫"))
    assert str(mwparserfromhell.parse(_line(f"{sign}大夫")).strip_code(normalize=True)) == f"{sign}大夫"


def test_git_takes_the_commit_with_its_author_and_message(material: Material, tmp_path: Path) -> None:
    (file,) = export(material, "commits", tmp_path / "out")
    repository = tmp_path / "repository"
    repository.mkdir()
    git = ("git", "-C", repository, "-c", "user.name=王", "-c", "user.email=wang@example.org")
    output_of(*git, "init", "-q")
    (repository / "KR1_010.txt").write_text(TEXT, encoding="utf-8")
    output_of(*git, "add", "-A")
    output_of(*git, "commit", "-q", "-m", "first")
    output_of(*git, "am", file)
    assert (repository / "KR1_010.txt").read_bytes() == material.corrected.data
    assert output_of(*git, "log", "-1", "--format=%an|%ae|%s") == "某甲|unknown@invalid|KR1_010: 3 corrections\n"
    message = output_of(*git, "log", "-1", "--format=%b")
    assert "〔一〕葉一上第一行　大夫之西〔比〕耦案比今　比：原作北，據影像改。\n" in message
    assert "Co-authored-by: 某乙" in message
    unchanged = replace(material, corrected=correct(material.corrected.edition, []))
    assert export(unchanged, "commits", tmp_path / "none") == []


def test_the_message_of_a_commit_has_the_notes_on_what_it_changes(material: Material, tmp_path: Path) -> None:
    before = Correction(PAGE, 1, 0, 1, "大", "太", start=TEXT.index("大夫"), person="某甲")
    doubted = replace(before, original="大", doubt="太")
    (file,) = export(replace(material, noted=[before, doubted]), "commits", tmp_path)
    numbers = re.findall("^〔(.)〕", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert numbers == ["一", "二", "三"]


def test_a_bag_is_valid_and_has_text_images_and_page_xml(material: Material, tmp_path: Path) -> None:
    for _ in range(2):  # a second export replaces the first
        (bag,) = export(material, "bagit", tmp_path / "out")
    read = bagit.Bag(str(bag))
    read.validate()
    assert sorted(read.payload_files()) == [
        "data/images/WYG0103-0192c.png",
        "data/page/WYG0103-0192c.xml",
        "data/text/KR1_010.txt",
    ]
    assert (bag / "data/text/KR1_010.txt").read_bytes() == material.corrected.data
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["KR1_010.bag"]


def test_the_text_supplements_its_canvas_and_links_open_a_place(material: Material, tmp_path: Path) -> None:
    prezi = pytest.importorskip("iiif_prezi3")
    page, links = export(material, "text-annotations", tmp_path / "out")
    record = json.loads(page.read_text(encoding="utf-8"))
    prezi.AnnotationPage(**{name: value for name, value in record.items() if name != "@context"})
    assert [item["body"]["value"] for item in record["items"]] == LINES
    assert {item["motivation"] for item in record["items"]} == {"supplementing"}
    (manifest,) = export(material, "iiif", tmp_path / "out")
    known = json.loads(manifest.read_text(encoding="utf-8"))
    assert all(item["target"].startswith(f"{known['items'][0]['id']}#xywh=") for item in record["items"])
    head, *rows = links.read_text(encoding="utf-8").splitlines()
    assert head.split("\t")[-1] == "iiif-content"
    state = rows[0].split("\t")[-1]
    target = json.loads(base64.urlsafe_b64decode(state + "=" * (-len(state) % 4)))
    assert target["partOf"] == [{"id": known["id"], "type": "Manifest"}]
    assert target["id"].startswith(f"{known['items'][0]['id']}#xywh=")


def test_cbeta_writes_what_stood_and_what_stands(material: Material, tmp_path: Path) -> None:
    text, notes = export(material, "cbeta", tmp_path / "out")
    assert "西[北>比]耦" in text.read_text(encoding="utf-8")
    assert f"{PAGE}01\t比【校】，北【原】（據影像）\n" in notes.read_text(encoding="utf-8")
    known = [Correction(PAGE, 1, 5, 1, "比", "北", authority="SBCK", readings=(("SBCK", "比"),))]
    corrected = correct(material.corrected.edition, known)
    _, notes = export(replace(material, corrected=corrected), "cbeta", tmp_path / "of a witness")
    assert notes.read_text(encoding="utf-8") == f"{PAGE}01\t比【校】，北【原】（從叢刊本）\n"


def test_a_form_is_added_by_an_entry_point_as_the_documentation_does(
    material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = module_in_guide("errata")
    entry = EntryPoint("errata", "errata:FORM", forms.ENTRY_POINTS)
    monkeypatch.setattr(EntryPoint, "load", lambda self: module["FORM"])
    monkeypatch.setattr(forms, "entry_points", lambda group, name="errata": [entry] if name == "errata" else [])
    assert "errata" in form_names()
    (file,) = export(material, "errata", tmp_path / "out")
    assert f"{PAGE}\t1\t北\t比\n" in file.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="there is no form other"):
        needs_pages(["other"])
