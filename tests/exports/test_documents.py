"""TEI, PAGE XML, ALTO, IIIF and Web Annotations: valid by their own schemas, and saying what the page says."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lxml import etree

from proof.collation.collation import collate
from proof.exports.alto import alto
from proof.exports.collation_notes import notes_of
from proof.exports.corrections import Correction
from proof.exports.iiif import Addressed, flag_annotations, manifest
from proof.exports.marked_pages import MarkedPage, mark
from proof.exports.note_files import house_list, with_footnotes
from proof.exports.pagexml import page_xml
from proof.exports.source import correct
from proof.exports.tei import tei
from proof.model.flags import Kind
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.text.model import Row
from proof.text.read import read_transcription
from tests.build import transcription
from tests.timing import seconds_of

pytestmark = pytest.mark.slow

PAGE = "KR1_WYG_010-1a"
TEXT = f"#+TITLE: 書\n<pb:{PAGE}>¶\n　大夫之西北耦(案比今注/訛作北據)¶\n¶\n命上射&KR0058;曰告¶\n"
MADE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TEI = {"t": "http://www.tei-c.org/ns/1.0"}

CORRECTIONS = [
    Correction(PAGE, 1, 5, 1, "比", "北"),
    Correction(PAGE, 2, 0, 0, "與", ""),
    Correction(PAGE, 3, 11, 1, "", "曰"),
    Correction(PAGE, 3, 1, 2, "射上", "上射", kind=Kind.TRANSPOSITION),
]


def marked(checked: PageResult) -> MarkedPage:
    page = mark(checked, CORRECTIONS)
    assert page is not None
    return page


@pytest.fixture(scope="session")
def page_schema(schemas: Path) -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(str(schemas / "page.xsd")))


LINES = ["大夫之西比耦", "案比今注", "訛作北據", "與", "命射上&KR0058;告"]
"""Of the page as corrected."""
Valid = Callable[[bytes], etree._Element]


@pytest.fixture
def valid(tei_schema: etree.RelaxNG) -> Valid:
    """Reads a document that is valid TEI."""

    def read(data: bytes) -> etree._Element:
        document = etree.fromstring(data)
        tei_schema.assertValid(document)
        return document

    return read


def han(text: str) -> str:
    return "".join(char for char in text if "\u3400" <= char <= "\u9fff" or char > "\U00020000")


def words(element: etree._Element | None) -> str:
    assert element is not None
    return "".join(map(str, element.itertext()))


def test_page_xml_is_valid_and_has_the_glyphs_where_they_are(checked: PageResult, page_schema: etree.XMLSchema) -> None:
    document = etree.fromstring(page_xml(marked(checked), MADE))
    page_schema.assertValid(document)
    lines = document.findall(".//{*}TextLine")
    assert [line.findtext("{*}TextEquiv/{*}Unicode") for line in lines] == LINES
    glyph = document.findall(".//{*}Glyph")[4]
    assert glyph.findtext("{*}TextEquiv/{*}Unicode") == "比"
    coords = glyph.find("{*}Coords")
    assert coords is not None
    assert coords.get("points") == "300,250 390,250 390,289 300,289"
    assert [ref.get("regionRef") for ref in document.findall(".//{*}RegionRefIndexed")] == ["c1", "c2", "c3"]


def test_alto_has_the_same_lines_and_glyphs(checked: PageResult) -> None:
    document = etree.fromstring(alto(marked(checked)))
    strings = [string.get("CONTENT") for string in document.findall(".//{*}String")]
    assert strings == LINES
    glyph = document.findall(".//{*}Glyph")[4]
    place = [glyph.get(name) for name in ("CONTENT", "HPOS", "VPOS", "WIDTH", "HEIGHT")]
    assert place == ["比", "300", "250", "90", "39"]
    contents = [str(glyph.get("CONTENT")) for glyph in document.iterfind(".//{*}Glyph")]
    assert "".join(contents) == "".join(str(string) for string in strings).replace("與", "").replace("&KR0058;", "")
    assert {len(content) for content in contents} == {1}, "the type of a glyph's content is one character"
    assert all(0.0 <= float(glyph.get("GC", "0")) <= 1.0 for glyph in document.iterfind(".//{*}Glyph"))
    known = {element.get("ID") for element in document.iter() if element.get("ID")}
    referred = {
        name for element in document.iter() for name in (element.get("TAGREFS") or element.get("REF") or "").split()
    }
    assert referred <= known


@pytest.fixture(scope="session")
def alto_schema() -> etree.RelaxNG:
    """What ALTO 4.3 defines of what is written here. The schema itself comes in no package."""
    return etree.RelaxNG(etree.parse(str(Path(__file__).with_name("alto_4_3.rng"))))


def test_alto_is_what_the_version_that_it_names_defines(checked: PageResult, alto_schema: etree.RelaxNG) -> None:
    no_columns = replace(checked, columns=(), characters=(), flags=())
    unsure = replace(checked, characters=tuple(replace(character, p_text=1.5) for character in checked.characters))
    for page in (checked, no_columns, unsure, replace(checked, image=Path("a\x01&b.png"))):
        data = alto(marked(page))
        alto_schema.assertValid(etree.fromstring(data))
        names = [element.get("ID") for element in etree.fromstring(data).iter() if element.get("ID")]
        assert len(names) == len(set(names))


KRAKEN = """
import json, sys
from kraken.lib.xml import XMLPage
print(json.dumps([[line.text, line.baseline, line.boundary] for line in XMLPage(sys.argv[1]).lines.values()]))
"""


@pytest.fixture(scope="session")
def kraken() -> str:
    """A Python that has kraken: it is large, and its dependencies are not ours."""
    python = os.environ.get("KRAKEN_PYTHON", "")
    if not python:
        pytest.skip("kraken has an environment of its own: `make test-consumers` runs this")
    return python


@pytest.mark.parametrize("form", ["page", "alto"])
def test_kraken_reads_the_lines(kraken: str, checked: PageResult, tmp_path: Path, form: str) -> None:
    path = tmp_path / "page.xml"
    path.write_bytes(page_xml(marked(checked), MADE) if form == "page" else alto(marked(checked)))
    completed = subprocess.run([kraken, "-c", KRAKEN, path], capture_output=True, text=True, check=False)  # noqa: S603
    assert completed.returncode == 0, completed.stderr
    lines = json.loads(completed.stdout.splitlines()[-1])
    assert [text for text, _, _ in lines] == LINES
    for _, baseline, boundary in lines:
        assert baseline[0][0] == baseline[-1][0], "a column is a vertical line"
        assert len(boundary) >= 4


@pytest.mark.parametrize("ending", ["¶\n", "\n"])
@pytest.mark.parametrize(("line", "offset"), [(1, 0), (1, 4), (2, 0), (2, 4)])
@pytest.mark.parametrize("page", ["1a", "1b"])
def test_an_added_column_is_where_the_text_has_it(page: str, line: int, offset: int, ending: str, valid: Valid) -> None:
    lines = ["<pb:KR1_WYG_010-1a>", "天地玄黃", "宇宙洪荒", "<pb:KR1_WYG_010-1b>", "日月盈昃", "辰宿列張"]
    edition = transcription("".join(f"{each}{ending}" for each in lines))
    start = edition.text.index(lines[line if page == "1a" else line + 3]) + offset
    added = Correction(f"KR1_WYG_010-{page}", line, offset, 0, "新增之文", "", kind=Kind.LAYOUT, start=start, column=1)
    source = correct(edition, [added])
    document = valid(tei(edition, source.placed))
    [body] = document.iterfind(".//{*}body")
    written = [line for line in source.text.split(ending) if line and not line.startswith("<pb")]
    assert columns_of(body) == written


def columns_of(body: etree._Element) -> list[str]:
    """What stands between the page and column breaks of a TEI."""
    for element in body.iter("{*}pb", "{*}cb"):
        element.text = "|"
    return [part for part in words(body).split("|") if part.strip()]


def test_every_seed_and_a_kanripo_juan_are_valid_tei_with_all_their_characters(shared: Path, valid: Valid) -> None:
    paths = [*sorted((shared / "seeds").glob("*.txt")), shared / "kanripo/KR1d0085/KR1d0085_008.txt"]
    for path in paths:
        source = read_transcription(path)
        document = valid(tei(source))
        for note in document.findall(".//{*}note[@place='foot']"):
            note.text, note[:] = "", []
        written = han(words(document.find(".//{*}body")))
        assert written == han("".join(stretch.source for stretch in source.stretches()))


def test_a_missing_note_is_a_note_in_tei_and_characters_on_its_page(valid: Valid) -> None:
    read = transcription("<pb:KR1_WYG_001-1a>¶\n司射北面[(白-日)/七]¶\n")
    note = Correction("KR1_WYG_001-1a", 1, 2, 0, "(注曰/某[金*本]也)夫", "")
    document = valid(tei(read, correct(read, [note]).placed))
    (corr,) = document.iterfind(".//t:corr", TEI)
    assert etree.tostring(corr, encoding="unicode", with_tail=False).partition(">")[2] == (
        '<note place="inline" type="commentary">注曰<lb/>某[金*本]也</note>夫</corr>'
    )


def test_tei_has_corrections_zones_and_breaks(checked: PageResult, valid: Valid) -> None:
    corrected = correct(transcription(TEXT), CORRECTIONS)
    document = valid(tei(corrected.edition, corrected.placed, [checked]))
    changes = [
        (choice.findtext("t:sic", namespaces=TEI), choice.findtext("t:corr", namespaces=TEI))
        for choice in document.iterfind(".//t:choice", namespaces=TEI)
    ]
    assert changes == [("北", "比"), ("", "與"), ("上射", "射上"), ("曰", "")]
    zones = {zone.get("{http://www.w3.org/XML/1998/namespace}id"): zone for zone in document.iterfind(".//{*}zone")}
    pointed = [str(element.get("facs")).removeprefix("#") for element in document.iterfind(".//{*}choice[@facs]")]
    assert [zones[name].get("ulx") for name in pointed] == ["300", "100", "100"]
    assert len(document.findall(".//{*}cb[@facs]")) == 3
    (page,) = document.findall(".//{*}pb")
    assert page.get("facs") == "#s1"
    note = document.find(".//{*}note")
    assert note is not None
    assert [child.tag.split("}")[1] for child in note] == ["lb"]
    assert note.get("type") == "editor"


@pytest.mark.parametrize(
    "head",
    [
        "#+PROPERTY: LASTPB <pb:KR6c0023_T_000-0748c>\n如是我聞¶\n<pb:KR6c0023_T_000-0749a>¶\n",
        "如是我聞¶\n<pb:KR3_WYG_001-1b>¶\n",
    ],
    ids=["named in the head", "implied"],
)
def test_the_page_that_a_text_begins_on_stands_before_its_first_column(head: str, valid: Valid) -> None:
    document = valid(tei(transcription(head + "著衣持鉢¶\n")))
    breaks = [str(element.tag).split("}")[1] for element in document.iterfind(".//{*}body//{*}p/*")]
    assert breaks == ["pb", "cb", "pb", "cb"]


RUNNING = "\u3000\u3000大夫之西北耦【案比今注訛作北據】\n\u3000\u3000命上射曰告\n"


def laid(text: str) -> PageResult:
    """The running text on one image: two columns of six characters, then one of what remains."""
    read = transcription(text, "running.txt")
    columns, characters = [], []
    starts = [0, text.index("\n") + 1]
    for number, cell in enumerate(cell for stretch in read.stretches() for cell in stretch.cells()):
        at, down = min(number // 6, 2), number - 6 * min(number // 6, 2)
        line = 1 if cell.start < starts[1] else 2
        area = Box(400 - 100 * at, 50, 90, 700)
        columns.append(CheckedColumn(line, area, text.split("\n")[line - 1]))
        box = Box(area.x, 50 + 40 * down, 90, 39)
        offset = cell.start - starts[line - 1]
        characters.append(CheckedCharacter(line, offset, 1, Row.MAIN, cell.text, box, cell.text, 0.9))
    return PageResult(
        "scan-7", "", Status.CHECKED, image=Path("scan-7.png"), image_size=(500, 800),
        columns=tuple(dict.fromkeys(columns)), characters=tuple(characters),
    )  # fmt: skip


def running(valid: Valid, *corrections: Correction, bare: PageResult | None = None) -> etree._Element:
    """The running text on its image, and on another that shows none of it."""
    read = transcription(RUNNING, "running.txt")
    return valid(tei(read, correct(read, corrections).placed, [laid(RUNNING), *([bare] if bare else [])]))


def pieces(document: etree._Element) -> list[str]:
    """The text of the body, cut where columns begin; of a correction what it says now."""
    parts = [""]
    for event, element in etree.iterwalk(document.find(".//{*}body"), events=("start", "end")):
        name = etree.QName(element).localname
        if event == "start" and name == "cb":
            parts.append("")
        text = element.text if event == "start" and name != "sic" else element.tail if event == "end" else ""
        parts[-1] += text or ""
    return [han(text) for text in parts]


def test_a_running_edition_on_images_has_its_surface_and_zones_too(valid: Valid) -> None:
    corrections = Correction("scan-7", 1, RUNNING.index("北"), 1, "比", "北"), Correction("scan-7", 2, 6, 1, "", "告")
    document = running(valid, *corrections)
    zones = {zone.get("{http://www.w3.org/XML/1998/namespace}id"): zone for zone in document.iterfind(".//{*}zone")}
    (page,) = document.findall(".//{*}pb")
    assert (page.get("n"), page.get("facs")) == ("scan-7", "#s1")
    columns = [zones[str(mark.get("facs"))[1:]] for mark in document.iterfind(".//{*}cb")]
    assert [zone.get("ulx") for zone in columns] == ["400", "300", "200"]
    assert pieces(document) == ["", "大夫之西比耦", "案比今注訛作", "北據命上射曰"]
    pointed = [zones[str(element.get("facs"))[1:]] for element in document.iterfind(".//{*}choice")]
    assert [(zone.get("type"), zone.get("ulx"), zone.get("uly")) for zone in pointed] == [
        ("character", "400", "210"),
        ("character", "200", "290"),
    ]


def test_an_image_that_shows_none_of_a_running_edition_is_a_surface_and_no_page(valid: Valid) -> None:
    bare = PageResult("scan-8", "", Status.CHECKED, image=Path("scan-8.png"), image_size=(500, 800))
    document = running(valid, bare=bare)
    assert len(document.findall(".//{*}surface")) == 2
    assert [mark.get("n") for mark in document.iterfind(".//{*}pb")] == ["scan-7"]


def test_tei_has_the_readings_of_witnesses(shared: Path, valid: Valid) -> None:
    base = read_transcription(next((shared / "seeds").glob("002_*")))
    witness = read_transcription(next((shared / "seeds").glob("000_*")))
    document = valid(tei(base, collations=[collate(base, witness)]))
    readings = {(words(app.find("{*}lem")), app.findtext("{*}rdg")) for app in document.iterfind(".//{*}app")}
    assert {("备", "儁"), ("聄", "翿"), ("躬", "射")} <= readings
    assert [element.text for element in document.iterfind(".//{*}witness")] == [base.path.name, witness.path.name]


def test_a_manifest_shows_the_flags_on_the_pages(checked: PageResult) -> None:
    prezi = pytest.importorskip("iiif_prezi3")
    iiif = manifest(Addressed("https://example.org/book/", "KR1_010", [checked]), "儀禮集釋")
    read = prezi.Manifest(**{name: value for name, value in iiif.items() if name != "@context"})
    (canvas,) = read.items
    assert (canvas.width, canvas.height) == (450, 800)
    assert read.viewingDirection == "right-to-left"
    (page,) = iiif["items"][0]["annotations"]
    assert [item["body"]["value"] for item in page["items"]] == [
        f"{PAGE}, 1, 5, substitution: 北 → 比",
        f"{PAGE}, layout: ∅ → ∅",
    ]
    fragment = {"conformsTo": "http://www.w3.org/TR/media-frags/", "value": "xywh=300,250,90,39"}
    selector = {"type": "FragmentSelector", **fragment}
    target = {"type": "SpecificResource", "source": iiif["items"][0]["id"], "selector": selector}
    assert page["items"][0]["target"] == target


@pytest.mark.parametrize(("suffix", "form"), [("png", "png"), ("JPG", "jpeg"), ("jfif", "jpeg"), ("bmp", "bmp")])
def test_a_manifest_says_of_what_type_an_image_is(checked: PageResult, suffix: str, form: str) -> None:
    page = replace(checked, image=Path(f"1a.{suffix}"))
    (canvas,) = manifest(Addressed("https://example.org", "KR1_010", [page]), "書")["items"]
    body = canvas["items"][0]["items"][0]["body"]
    assert (body["id"], body["format"]) == (f"https://example.org/images/1a.{suffix}", f"image/{form}")


def test_the_half_folios_of_a_plate_are_regions_of_one_canvas(checked: PageResult) -> None:
    prezi = pytest.importorskip("iiif_prezi3")
    halves = [
        replace(checked, page=f"{PAGE[:-1]}{side}", image_box=Box(left, 0, 225, 800))
        for side, left in (("a", 225), ("b", 0))
    ]
    iiif = manifest(Addressed("https://example.org", "KR1 010", halves), "書")
    prezi.Manifest(**{name: value for name, value in iiif.items() if name != "@context"})
    assert iiif["id"] == "https://example.org/KR1%20010.manifest.json"
    (canvas,) = iiif["items"]
    assert len({page["id"] for page in canvas["annotations"]}) == 2
    assert [structure["label"]["none"] for structure in iiif["structures"]] == [[half.page] for half in halves]
    regions = [structure["items"][0] for structure in iiif["structures"]]
    assert [region["source"]["id"] for region in regions] == [canvas["id"]] * 2
    assert [region["selector"]["value"] for region in regions] == ["xywh=225,0,225,800", "xywh=0,0,225,800"]


def test_a_page_without_image_has_no_coordinates_to_export(checked: PageResult) -> None:
    bare = PageResult(checked.page, checked.ref, checked.status)
    assert mark(bare) is None
    assert manifest(Addressed("https://example.org", "KR1_010", [bare]), "書")["items"] == []


@pytest.mark.parametrize("form", ["iiif", "tei"])
def test_the_images_of_four_times_as_many_pages_take_some_four_times_as_long(checked: PageResult, form: str) -> None:
    def export(number: int) -> Callable[[], object]:
        names = [f"KR1_WYG_{page:04}-1a" for page in range(number)]
        edition = transcription("".join(f"<pb:{name}>¶\n" + "司射(不/告)告¶\n" * 4 for name in names))
        assert len(edition.blocks) == 4 * number
        pages = [replace(checked, page=name, image=Path(f"{name}.png"), flags=(), characters=()) for name in names]
        if form == "tei":
            return lambda: tei(edition, pages=pages)
        return lambda: manifest(Addressed("https://example.org", "KR1", pages), "書")

    allowed = 8 * seconds_of(export(400))
    assert seconds_of(export(1600), enough=allowed) <= allowed


def test_what_xml_cannot_hold_stays_out_of_it(checked: PageResult, valid: Valid) -> None:
    text = TEXT.replace(PAGE, "KR1\x00_WYG_010-1a").replace("大夫", "大\x01夫")
    read = transcription(text)
    document = valid(tei(read))
    assert "大夫之西北耦" in words(document.find(".//{*}body"))
    page = mark(checked, [Correction(PAGE, 1, 5, 1, "比\x02", "北")])
    assert page is not None
    assert b"\xe6\xaf\x94" in page_xml(page, MADE)
    assert b"\xe6\xaf\x94" in alto(page)


def test_a_character_that_moved_is_one_note_in_every_form(valid: Valid, checked: PageResult) -> None:
    """衍 here and 脫 there: a line of the list, two linked places in TEI, one annotation with both places."""
    read = transcription(TEXT)
    moved = [
        Correction(PAGE, 3, 2, 1, "", "射", flag="f-out", moved="f-in", kind=Kind.INSERTION),
        Correction(PAGE, 3, 0, 0, "射", "", flag="f-in", moved="f-out", kind=Kind.OMISSION),
    ]
    corrected = correct(read, moved)
    notes = notes_of(corrected)
    assert house_list(notes).count("〕葉") == with_footnotes(corrected, notes).count("\n[^") == 1
    document = valid(tei(read, corrected.placed))
    choices = document.findall(".//{*}choice")
    ids = [str(choice.get("{http://www.w3.org/XML/1998/namespace}id")) for choice in choices]
    assert [choice.get("corresp") for choice in choices] == [f"#{name}" for name in ids[::-1]]
    flags = tuple(
        replace(checked.flags[0], id=half.flag, moved=half.moved, line=3, offset=half.offset, length=half.length,
                transcribed=half.original, suggested=half.replacement, kind=half.kind)
        for half in moved
    )  # fmt: skip
    (annotation,) = flag_annotations(replace(checked, flags=flags), "page.png", "flags.json")["items"]
    assert len(annotation["target"]) == 2
    assert annotation["body"]["value"] == (f"{PAGE}, 3, 1, omission: ∅ → 射; {PAGE}, 3, 3, insertion: 射 → ∅")


def test_the_apparatus_of_an_edition_is_lemma_and_reading(valid: Valid) -> None:
    text = '---\ntitle: "射"\n---\n\n東面于中西[^3]坐。\n\n[^3]: 西：原作東，據嚴本校勘記改。\n'
    read = transcription(text)
    document = valid(tei(read))
    (app,) = document.findall(".//{*}note[@place='foot']/{*}app")
    assert (app.findtext("{*}lem"), app.findtext("{*}rdg")) == ("西", "東")
    assert app.findtext("{*}note") == "西：原作東，據嚴本校勘記改。"
