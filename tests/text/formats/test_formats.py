"""Files of other formats: what is read of them, and that an edit of the text is an edit of the file and no more."""

from __future__ import annotations

import io
import re
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from docx import Document
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.collation.apparatus import apparatus_of
from proof.errors import OutputError, TextError
from proof.text import formats
from proof.text.edit import Edit, edited
from proof.text.extraction import COLUMN_END, Extraction
from proof.text.formats import decoded
from proof.text.read import parse_transcription, read_transcription
from proof.text.remarks import RemarkCode
from proof.text.transcription import Format
from tests.guide import module_in_guide
from tests.text.formats.samples import SAMPLES, Sample


def extraction(sample: Sample, data: bytes | None = None) -> Extraction:
    extracted = decoded(sample.path, sample.data if data is None else data).extraction
    assert extracted is not None
    return extracted


@pytest.mark.parametrize("name", SAMPLES)
def test_the_text_of_a_file_is_read_and_without_edits_it_stays_byte_for_byte(name: str) -> None:
    sample = SAMPLES[name]
    read = decoded(sample.path, sample.data)
    assert read.text == sample.text
    assert read.container == name.split(" ", maxsplit=1)[0]
    edition = parse_transcription(read, sample.path)
    assert edition.data() == sample.data
    assert all(edition.text[stretch.start : stretch.end] == stretch.source for stretch in edition.stretches())


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_an_edit_of_the_text_is_read_again_from_the_file(data: st.DataObject) -> None:
    sample = SAMPLES[data.draw(st.sampled_from(sorted(SAMPLES)))]
    source = extraction(sample)
    characters = [piece for piece in source.pieces if piece.text != COLUMN_END]
    chosen = data.draw(st.lists(st.sampled_from(characters), min_size=1, max_size=4, unique=True))
    edits = []
    for piece in chosen:
        start = data.draw(st.integers(0, len(piece.text) - 1)) if piece.verbatim else 0
        length = data.draw(st.integers(0, len(piece.text) - start)) if piece.verbatim else len(piece.text)
        new = data.draw(st.text("龍𪚥虎", min_size=1, max_size=3))
        if piece.start + start or length:
            edits.append(Edit(piece.start + start, length, new))
    assert all(map(source.holds, edits))
    again = extraction(sample, source.edited(edits))
    assert again.text == edited(source.text, edits)
    undone, moved = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        undone.append(Edit(edit.start + moved, len(edit.replacement), source.text[edit.start : edit.end]))
        moved += len(edit.replacement) - edit.length
    if all(again.holds(edit) for edit in undone):
        assert extraction(sample, again.edited(undone)).text == source.text


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.xml", "<TEI><text><body><p>天<note place='inline'>地玄</note>黃</p></body></text></TEI>"),
        ("x.xml", "<TEI><text><body><pb n='1a'/><lb/>天<note place='inline'>地玄</note>黃</body></text></TEI>"),
        ("x.wiki", "天{{*|地玄}}黃"),
        ("x.wiki", "天<small>地玄</small>黃"),
    ],
)
def test_the_characters_of_a_note_are_deleted_and_come_back(name: str, data: str) -> None:
    source = decoded(Path(name), data.encode()).extraction
    assert source is not None
    note = Edit(source.text.index("地"), 2, "")
    empty = decoded(Path(name), source.edited([note])).extraction
    assert empty is not None
    assert empty.text == edited(source.text, [note])
    assert empty.edited([Edit(note.start, 0, "地玄")]) == data.encode()


@pytest.mark.parametrize("line", ["天&#x5730;玄黃", "天地玄黃", "<![CDATA[天地玄黃]]>"])
@pytest.mark.parametrize("region", ["天&#22320;玄黃", "天地玄黃", "<![CDATA[天地玄黃]]>"])
def test_a_correction_changes_a_character_however_each_place_writes_it(line: str, region: str) -> None:
    data = (
        f"<PcGts><Page imageFilename='a.png'><TextRegion><TextLine><TextEquiv><Unicode>{line}</Unicode></TextEquiv>"
        f"</TextLine><TextEquiv><Unicode>{region}</Unicode></TextEquiv></TextRegion></Page></PcGts>"
    ).encode()
    source = decoded(Path("x.xml"), data).extraction
    assert source is not None
    written = source.edited([Edit(source.text.index("地"), 1, "帝")]).decode()
    assert re.sub(r"<!\[CDATA\[|\]\]>", "", written).count("<Unicode>天帝玄黃</Unicode>") == 2


@pytest.mark.parametrize(
    ("edit", "expected"),
    [(Edit(1, 1, "帝"), "天帝玄黃"), (Edit(1, 0, "與"), "天與地玄黃"), (Edit(2, 2, "&KR0058;"), "天地&KR0058;")],
)
def test_a_cdata_section_is_corrected_at_each_character_and_escapes_none(edit: Edit, expected: str) -> None:
    line = "<TextLine><TextEquiv><Unicode><![CDATA[{}]]></Unicode></TextEquiv></TextLine>"
    page = "<PcGts><Page imageFilename='a.png'><TextRegion>{}</TextRegion></Page></PcGts>"
    source = decoded(Path("x.xml"), page.format(line.format("天地玄黃")).encode()).extraction
    assert source is not None
    edit = Edit(source.text.index("天") + edit.start, edit.length, edit.replacement)
    assert source.holds(edit)
    assert source.edited([edit]).decode() == page.format(line.format(expected))


def test_an_index_that_is_no_number_counts_as_none() -> None:
    data = (
        "<PcGts><Page imageFilename='a.png'><ReadingOrder><OrderedGroup><RegionRefIndexed index='x' regionRef='r'/>"
        "</OrderedGroup></ReadingOrder><TextRegion id='r'><TextLine>"
        "<TextEquiv index='1'><Unicode>地</Unicode></TextEquiv><TextEquiv index='b'><Unicode>天</Unicode></TextEquiv>"
        "</TextLine></TextRegion></Page></PcGts>"
    ).encode()
    assert "天" in decoded(Path("x.xml"), data).text


def test_an_archive_with_a_damaged_member_is_refused_where_it_is_written() -> None:
    source = extraction(SAMPLES["docx"])
    with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
        style = archive.getinfo("word/styles.xml")
    at = style.header_offset + 30 + len(style.filename) + style.compress_size // 2
    damaged = source.data[:at] + bytes([source.data[at] ^ 0xFF]) + source.data[at + 1 :]
    read = extraction(SAMPLES["docx"], damaged)
    with pytest.raises(OutputError, match=r"word/styles\.xml in the archive is damaged"):
        read.edited([Edit(read.text.index("大"), 1, "小")])


def test_what_a_reader_put_between_is_no_place_for_a_correction() -> None:
    source = extraction(SAMPLES["page"])
    slash, mark = source.text.index("/"), source.text.index("<pb:")
    assert not source.holds(Edit(slash, 1, "甲"))
    assert not source.holds(Edit(mark, 3, ""))
    assert not source.holds(Edit(slash - 1, 3, "甲乙丙"))
    with pytest.raises(ValueError, match="no place"):
        source.edited([Edit(slash, 1, "甲")])
    wiki = extraction(SAMPLES["wikitext"])
    named = wiki.text.index("&SK-2593;")
    assert not wiki.holds(Edit(named + 2, 1, "甲"))
    assert wiki.edited([Edit(named, 9, "甲")]).decode().count("{{*|唐太宗甲御撰}}") == 1


def test_an_insertion_is_written_as_the_syntax_has_it() -> None:
    source = extraction(SAMPLES["alto"])
    assert b'CONTENT="\xe5\x91\xbd&amp;KR0001;&quot;\xe4\xb8\x8a"' in source.edited(
        [Edit(source.text.index("上"), 0, '&KR0001;"')]
    )


def test_a_corrected_docx_opens_and_keeps_everything_else() -> None:
    source = extraction(SAMPLES["docx"])
    changed = source.edited([Edit(source.text.index("儀"), 1, "義")])
    paragraphs = [paragraph.text for paragraph in Document(io.BytesIO(changed)).paragraphs]
    assert paragraphs == ["第一", "大射之義&射義也", "君有命"]
    with zipfile.ZipFile(io.BytesIO(source.data)) as before, zipfile.ZipFile(io.BytesIO(changed)) as after:
        assert after.testzip() is None
        assert before.namelist() == after.namelist()
        other = [name for name in before.namelist() if before.read(name) != after.read(name)]
    assert other == ["word/document.xml"]


def test_an_apparatus_behind_the_text_is_no_text_of_it_and_an_appendix_is() -> None:
    path = Path("T08n0235.xml")
    source = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>
<pb n="0748c" ed="T"/><lb n="0748c01" ed="T"/>鳩摩<anchor xml:id="beg1"/>羅什<anchor xml:id="end1"/>譯
<lb n="0748c02" ed="T"/>如是我聞
</body><back><div type="apparatus"><head>校注</head>
<p><app from="#beg1" to="#end1">
<lem>羅什</lem><rdg>羅</rdg></app></p></div>
<div type="notes"><head>大正校注</head><p><note target="#beg1">羅什一作羅</note></p></div>
<div><lb n="0748c03" ed="T"/>音釋</div></back></text></TEI>"""
    read = parse_transcription(decoded(path, source.encode()), path)
    assert [column.source for page in read.pages for column in page.columns] == ["鳩摩羅什譯", "如是我聞", "音釋"]


@pytest.mark.parametrize("pages", ['<pb n="0748c" ed="T"/><lb n="0748c01" ed="T"/>', ""])
def test_readings_are_notes_on_their_place_wherever_the_apparatus_stands(pages: str) -> None:
    path = Path("T08n0235.xml")
    source = f"""<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><listWit><witness xml:id="wit1">【宋】</witness>
<witness xml:id="wit2">【元】</witness></listWit></teiHeader><text><body>{pages}<p>鳩摩<anchor xml:id="beg1"/>羅什
<anchor xml:id="end1"/>譯如<app><lem>是</lem><rdg wit="#wit1"/></app>我聞</p></body><back><div><p>
<app from="#beg1" to="#end1"><lem>羅什</lem><rdg wit="#wit1 #wit2">羅十</rdg><rdg wit="#wit3">羅</rdg></app>
<app from="#beg2" to="#end2"><lem>佛</lem><rdg>仏</rdg></app></p></div></back></text></TEI>"""
    read = parse_transcription(decoded(path, source.encode()), path)
    notes = [(note.text, read.text[: note.anchor][-1:]) for note in read.footnotes]
    assert notes == [("羅什：宋、元作羅十", "什"), ("羅什：wit3作羅", "什"), ("是：宋無", "是")]
    assert [(note.lemma, note.verb, note.reading, note.witness) for note in apparatus_of(read)] == [
        ("羅什", "作", "羅十", "宋、元"),
        ("羅什", "作", "羅", "wit3"),
        ("是", "無", "", "宋"),
    ]
    unplaced = [remark for remark in read.remarks if remark.notice.code is RemarkCode.APPARATUS_UNPLACED]
    assert [dict(remark.notice.values) for remark in unplaced] == [{"place": 5, "text": "佛"}]


def test_the_facsimile_of_a_tei_names_the_images_of_its_pages() -> None:
    path = Path("a.xml")
    source = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><facsimile><surface xml:id="s2"><graphic url="scan%202.jpg"/>
<zone xml:id="z2"/></surface><graphic xml:id="g3" url="3.jpg"/></facsimile><text><body>
<pb n="1" facs="images/scan%201.jpg"/><lb/>大<lb/>射<pb n="2" facs="#s2"/><lb/>儀<pb n="3" facs="#g3 #g4"/><lb/>公
<pb n="4" facs="#none"/><lb/>入</body></text></TEI>"""
    read = parse_transcription(decoded(path, source.encode()), path)
    named = [(page.id, page.image) for page in read.pages]
    assert named == [("1", "images/scan 1.jpg"), ("2", "scan 2.jpg"), ("3", "3.jpg"), ("4", "")]


@pytest.mark.parametrize("pages", ['<pb n="0748c" ed="T"/><lb n="0748c01" ed="T"/>', ""])
def test_a_lemma_behind_the_text_is_corrected_with_the_words_that_it_repeats(pages: str) -> None:
    path = Path("T08n0235.xml")
    source = f"""<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>{pages}<p>鳩摩<anchor xml:id="beg1"/>羅什
<anchor xml:id="end1"/>譯<anchor xml:id="beg2"/>如是<anchor xml:id="end2"/>我聞</p></body><back><div><p>
<app from="#beg1" to="#end1"><lem>羅什</lem><rdg>羅</rdg></app>
<app from="#beg2" to="#end2"><lem>如此</lem><rdg>是</rdg></app></p></div></back></text></TEI>"""
    read = decoded(path, source.encode()).extraction
    assert read is not None
    edits = [Edit(read.text.index("什"), 1, "十"), Edit(read.text.index("是"), 1, "此")]
    written = read.edited(edits).decode()
    assert written == source.replace("羅什", "羅十").replace(
        "如是", "如此"
    )  # the other lemma has other words: it stays
    assert read.edited([Edit(read.text.index("羅"), 0, "耆")]).decode() == source.replace("鳩摩", "鳩摩耆")


def test_a_character_without_code_point_before_the_first_page_is_left_out_with_a_remark() -> None:
    path = Path("a.xml")
    source = '<TEI><text><body><g ref="#CB00001"/><pb n="1b"/><lb/>大</body></text></TEI>'
    read = parse_transcription(decoded(path, source.encode()), path)
    assert [page.id for page in read.pages] == ["1b"]
    assert RemarkCode.LINES_ON_NO_PAGE in [remark.notice.code for remark in read.remarks]


def test_the_first_of_two_page_lines_may_follow_a_byte_order_mark() -> None:
    assert decoded(Path("x.txt"), "\ufeff[1a]\n大射\n[1b]\n公入\n".encode()).container == "page-lines"


@pytest.mark.parametrize("beside", ["㐀\U00020000", "\uf967", "\U0002f800", "〇"])
def test_a_text_of_rare_characters_alone_has_page_lines_too(beside: str) -> None:
    assert decoded(Path("x.txt"), f"[1a]\n{beside}\n[1b]\n{beside}\n".encode()).container == "page-lines"


@pytest.mark.parametrize("mark", ["", "【文淵閣】"])
def test_a_table_of_contents_in_org_is_neither_wikitext_nor_a_text(mark: str) -> None:
    path = Path("Readme.org")
    links = "".join(f" - [[file:KR1x0001_{juan:03}.txt::{juan:03}-1a][卷{juan}]]\n" for juan in range(4))
    source = f"\ufeff#+TITLE: 射義 / WYG\n#+DATE: 2026-01-01\n* 版本\n | WYG|{mark}|\n* 目次\n{links}".encode()
    file = decoded(path, source)
    assert file.container != "wikitext"
    with pytest.raises(TextError, match="is a table of contents"):
        parse_transcription(file, path)


def test_the_cells_of_a_wikitext_table_are_text_and_what_a_template_names_is_remarked() -> None:
    source = "==學而==\n{| class=wikitable\n! 丙 !! 丁\n|-\n| 甲 || 乙\n|}\n子曰{{模板:甲|文=有朋自遠方來}}學而時習之"
    path = Path("a.wiki")
    read = parse_transcription(decoded(path, source.encode()), path)
    assert (
        "".join(cell.text for stretch in read.stretches() for cell in stretch.cells()) == "學而丙丁甲乙子曰學而時習之"
    )
    assert [dict(remark.notice.values)["text"] for remark in read.remarks] == ["有朋自遠方來"]


@pytest.mark.parametrize(
    ("source", "read", "remarked"),
    [
        ("大-{射}-儀", "大射儀", []),
        ("從-{人|亻}-部", "從亻部", ["-{人|"]),
        ("-{zh-hans:云;zh-hant:雲}-從龍", "云從龍", [";zh-hant:雲}-"]),
        ("-{zh-tw: 雲 ; zh-hant:云;}-從龍", "云從龍", ["-{zh-tw: 雲 ; zh-hant"]),
        ("-{R|zh-hant:甲}-", "zh-hant:甲", []),
        ("-{zh;zh-tw|甲}-乙", "甲乙", []),
        ("-{甲：乙;丙}-", "甲：乙;丙", []),
        ("甲-{H|云=>zh-tw:雲}-乙", "甲乙", ["-{H|云=>zh-tw:雲}-"]),
        ("甲{{*|乙-{人|亻}-丙}}", "甲<small>乙亻丙</small>", ["-{人|"]),
        ("甲-{[[弘|宏]]}-乙", "甲宏乙", []),
        ("<nowiki>-{甲|乙}-</nowiki>", "-{甲|乙}-", ["-{甲|乙}-"]),
        ("甲-{乙丙", "甲-{乙丙", ["甲-{乙丙"]),
    ],
)
def test_the_markup_of_variants_is_read_as_a_wiki_shows_it(source: str, read: str, remarked: list[str]) -> None:
    data = f"{source}\n".encode()
    extraction = decoded(Path("x.wiki"), data).extraction
    assert extraction is not None
    assert extraction.text.split("---\n\n", 1)[1].strip() == read
    assert [dict(notice.values)["text"] for _, notice in extraction.remarks] == remarked
    assert extraction.edited([]) == data
    han = re.findall(r"[\u4e00-\u9fff]", read)[-1]
    written = extraction.edited([Edit(extraction.text.rindex(han), 1, "龜")]).decode()
    assert written.count("龜") == 1
    assert sorted(written.replace("龜", han)) == sorted(data.decode())


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.xml", b"<PcGts><Page>", r"a\.xml:1: is not well-formed XML"),
        ("a.xml", b'<!DOCTYPE TEI [<!ENTITY a "b">]>\n<TEI/>', r"a\.xml:1: declares an entity"),
        ("a.xml", b'<?xml version="1.0" encoding="big5"?><TEI/>', r"a\.xml:1: is XML in BIG5: save it as UTF-8"),
        ("a.xml", b"<TEI>" * 300, "more than 200 elements"),
        ("a.xml", "<rss>大</rss>".encode(), "is XML of another kind: PAGE, ALTO and TEI can be read"),
        ("a.html", "<!DOCTYPE html><p>大</p>".encode(), "is HTML: save its text as plain text"),
        ("b.html", "<!DOCTYPE html><p>大<small>小</small></p>".encode(), "is HTML: save its text as plain text"),
        ("a.json", '{"text": "大"}'.encode(), "is JSON"),
        ("a.toml", '# 項目\n[project]\ntitle = "儀禮集釋"\n'.encode(), "is a settings file"),
        ("a.csv", '頁,文\n1,大學之道\n2,"在明,明德"\n'.encode(), "is a table"),
        ("b.csv", "title,text\r\n大學,大學之道\r\n中庸,【天命】之謂性\r\n".encode(), "is a table"),
        ("a.tsv", "大學\t大學之道\n\n中庸\t天命之謂性\n論語\t學而時習之\n".encode(), "is a table"),
        ("a.docx", b"PK\x03\x04rest", "is an archive, and neither DOCX nor EPUB"),
        ("a.pdf", b"%PDF-1.7", "is a PDF: name it among the images"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1", "is a document of an old version of Word: save it as DOCX"),
    ],
)
def test_what_is_not_read_is_refused_with_advice_that_fits(
    tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(TextError, match=message):
        read_transcription(tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        "床前明月光,疑是地上霜\n舉頭望明月,低頭思故鄉\n春眠不覺曉,處處聞啼鳥\n",
        "床前明月光,\n疑是地上霜,\n舉頭望明月,\n",
        "\t大學之道\n\t在明明德\n\t在親民\n",
        "大學之道，在明明德、親民\n天命之謂性，率性、之謂道\n學而時習之，不亦、說乎\n",
    ],
)
def test_verses_and_indented_lines_are_no_table(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    assert read_transcription(tmp_path / "a.txt").format is Format.PLAIN


def test_a_format_is_added_by_an_entry_point_as_the_documentation_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = module_in_guide("coltsv")
    entry = EntryPoint("coltsv", "coltsv:FORMAT", formats.ENTRY_POINTS)
    monkeypatch.setattr(EntryPoint, "load", lambda self: module["FORMAT"])
    monkeypatch.setattr(formats, "entry_points", lambda group: [entry])
    formats.text_formats.cache_clear()
    (tmp_path / "a.coltsv").write_bytes("1a\t大射\n1a\t射人\n1b\t告具\n".encode())
    try:
        read_in = read_transcription(tmp_path / "a.coltsv")
    finally:
        formats.text_formats.cache_clear()
    assert [len(page.columns) for page in read_in.pages] == [2, 1]
    assert read_in.data([]) == (tmp_path / "a.coltsv").read_bytes()
    at = read_in.text.index("人")
    assert read_in.data([Edit(at, 1, "宮")]) == "1a\t大射\n1a\t射宮\n1b\t告具\n".encode()
