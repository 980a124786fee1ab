"""What the dialects of other software say of a page, and what becomes of damaged files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.model.geometry import Box
from proof.ocr.external.model import ReadingFileError
from proof.ocr.external.parse import parse_readings

HERE = Path("page.xml")

TRANSKRIBUS = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15">
<Page imageFilename="1a.png" imageWidth="1000" imageHeight="1500">
<TextRegion id="r1" custom="readingOrder {index:0;}"><Coords points="900,100 1000,100 1000,900 900,900"/>
<TextLine id="l1" custom="readingOrder {index:0;}"><Coords points="900,100 1000,100 1000,500 900,500"/>
<Baseline points="950,100 950,500"/><TextEquiv><Unicode>大射之儀</Unicode></TextEquiv></TextLine>
</TextRegion></Page></PcGts>"""

ESCRIPTORIUM = """<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description>
<MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation><fileName>1a.png</fileName></sourceImageInformation>
</Description><Layout><Page WIDTH="1000" HEIGHT="1500" PHYSICAL_IMG_NR="1" ID="p"><PrintSpace><TextBlock ID="b">
<TextLine ID="l" BASELINE="950 100 950 300"><Shape><Polygon POINTS="900 100 1000 100 1000 300 900 300"/></Shape>
<String CONTENT="君命" HPOS="900" VPOS="100" WIDTH="100" HEIGHT="200" WC="0.9">
<Glyph ID="g1" CONTENT="君" HPOS="900" VPOS="110" WIDTH="100" HEIGHT="80" GC="0.8">
<Variant CONTENT="若" VC="0.15"/></Glyph>
<Glyph ID="g2" CONTENT="命" HPOS="900" VPOS="210" WIDTH="100" HEIGHT="80" GC="0.99"/>
</String></TextLine></TextBlock></PrintSpace></Page></Layout></alto>"""

TESSERACT = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><body>
<div class='ocr_page' id='page_1' title='image "scans/1a.png"; bbox 0 0 1000 1500; ppageno 0'>
<span class='ocr_line' title="bbox 900 100 1000 300; textangle 0">
<span class='ocrx_word' title='bbox 900 100 1000 300; x_wconf 91'>
<span class='ocrx_cinfo' title='x_bboxes 900 100 1000 190; x_conf 97.5'>射</span>
<span class='ocrx_cinfo' title='x_bboxes 900 205 1000 300; x_conf 60'>人</span></span></span>
<span class='ocr_line' title="bbox 800 100 900 400">
<span class='ocrx_word' title='bbox 800 100 900 400; x_wconf 50'>宿視滌</span></span>
</div></body></html>"""


def test_a_line_of_transkribus_is_spread_along_its_box() -> None:
    (page,) = parse_readings(HERE, TRANSKRIBUS.encode())
    (line,) = page.lines
    assert (page.image, page.size, line.vertical, line.placed) == ("1a.png", (1000, 1500), True, False)
    assert [character.text for character in line.characters] == ["大", "射", "之", "儀"]
    assert line.characters[1].box == Box(900, 200, 100, 100)


def test_glyphs_of_alto_keep_places_confidences_and_variants() -> None:
    (page,) = parse_readings(HERE, ESCRIPTORIUM.encode())
    first, second = page.lines[0].characters
    assert (first.box, first.probability, first.alternatives) == (Box(900, 110, 100, 80), 0.8, (("若", 0.15),))
    assert second.text == "命"
    assert page.lines[0].placed


def test_a_line_of_alto_without_places_is_as_sure_as_its_least_sure_part() -> None:
    words = '<String CONTENT="君" WC="0.9"/><String CONTENT="命" WC="0.1"/>'
    (page,) = parse_readings(HERE, re.sub("(?s)<String.*</String>", words, ESCRIPTORIUM).encode())
    assert [character.probability for character in page.lines[0].characters] == [0.1, 0.1]


def test_hocr_has_characters_in_boxes_or_words_to_spread() -> None:
    (page,) = parse_readings(HERE, TESSERACT.encode())
    boxed, spread = page.lines
    assert page.image == "scans/1a.png"
    assert [(character.text, character.probability) for character in boxed.characters] == [("射", 0.975), ("人", 0.6)]
    assert [(character.text, character.box.y, character.probability) for character in spread.characters] == [
        ("宿", 100, 0.5),
        ("視", 200, 0.5),
        ("滌", 300, 0.5),
    ]


def test_a_line_corrected_after_its_glyphs_holds_and_takes_their_places() -> None:
    changed = ESCRIPTORIUM.replace('String CONTENT="君命"', 'String CONTENT="若命"')
    first, second = parse_readings(HERE, changed.encode())[0].lines[0].characters
    assert (first.text, first.box) == ("若", Box(900, 110, 100, 80))
    assert second.probability == 0.99


@pytest.mark.parametrize(
    ("data", "line", "what"),
    [
        (TRANSKRIBUS[:-20].encode(), 7, "not well-formed XML"),
        (b"<?xml version='1.0'?>\n<TEI/>", 2, "expected PAGE XML"),
        (TRANSKRIBUS.replace('"1000" imageH', '"wide" imageH').encode(), 3, "imageWidth is 'wide'"),
        (ESCRIPTORIUM.replace('HPOS="900" VPOS="110"', 'HPOS="nan" VPOS="110"').encode(), 6, "HPOS is 'nan'"),
        (TRANSKRIBUS.replace("Coords", "Elsewhere").replace("Baseline", "None").encode(), 3, "export it with coord"),
        (b"", None, "is not"),
    ],
)
def test_a_damaged_file_names_its_line_and_what_to_do(data: bytes, line: int | None, what: str) -> None:
    with pytest.raises(ReadingFileError, match=what) as caught:
        parse_readings(HERE, data)
    assert line is None or caught.value.line == line


def test_no_file_of_this_machine_gets_into_a_reading(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("密", encoding="utf-8")
    entity = f'<!DOCTYPE PcGts [<!ENTITY x SYSTEM "{secret.as_uri()}">]>\n<PcGts'
    data = TRANSKRIBUS.replace("<PcGts", entity, 1).replace("大射之儀", "大&x;")
    assert all(
        "密" not in c.text
        for page in parse_readings(HERE, data.encode())
        for line in page.lines
        for c in line.characters
    )


@given(st.sampled_from([TRANSKRIBUS, ESCRIPTORIUM, TESSERACT]), st.data())
def test_a_file_damaged_anywhere_is_read_or_refused(text: str, data: st.DataObject) -> None:
    content = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 12))] = data.draw(st.binary(max_size=8))
    try:
        for page in parse_readings(HERE, bytes(content)):
            assert all(0.0 <= c.probability <= 1.0 for line in page.lines for c in line.characters)
    except ReadingFileError:
        return  # refused: what it says is tested above
