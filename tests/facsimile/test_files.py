"""A transcription becomes image files under the names that its pages have, with a file of true boxes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from proof.errors import OutputError, UsageError
from proof.facsimile.files import Rendering, file_stem, half_folios, plates, render
from proof.facsimile.leaf import Style
from proof.facsimile.wear import LEVELS
from proof.text.transcription import Transcription
from tests.build import transcription

MIRROR = """卷十
卷十 第 1a 页 WYG0103-0192c.png
钦定四库全书
 仪礼集释卷十
大射仪
卷十 第 1b 页 WYG0103-0192d.png
司射东面于大夫之西比耦大夫与大夫(案比今注疏/本讹作北据)

卒遂比众耦
卷十 第 2a 页 WYG0103-0193a.png
众耦立于大夫之南
"""
KANRIPO = """#+TITLE: 儀禮集釋
#+PROPERTY: JUAN 卷十
<pb:KR1d0030_WYG_010-1a>¶
欽定四庫全書¶
<pb:KR1d0030_WYG_010-1b>¶
司射&KR0058;東面¶
"""
SMALL = Style(scale=0.5)

pytestmark = pytest.mark.usefixtures("kai")


@pytest.fixture(scope="module")
def mirror() -> Transcription:
    return transcription(MIRROR)


@pytest.fixture(scope="module")
def rendered(mirror: Transcription, kai: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Rendering, list[int]]:
    """The pages as files, and how many were written each time that this was told."""
    assert kai
    counts: list[int] = []
    out = tmp_path_factory.mktemp("rendered") / "out"
    return render(mirror, out, SMALL, LEVELS["light"], 5, counts.append), counts


def test_the_pixels_that_were_drawn_are_written_in_files_named_by_the_references(
    mirror: Transcription, rendered: tuple[Rendering, list[int]]
) -> None:
    rendering, counts = rendered
    names = ["WYG0103-0192c.png", "WYG0103-0192d.png", "WYG0103-0193a.png"]
    assert [path.name for path in rendering.images] == names
    assert counts == [1, 2, 3]
    for path, (name, drawn) in zip(rendering.images, half_folios(mirror, SMALL, LEVELS["light"], 5), strict=True):
        assert path.stem == name
        with Image.open(path) as image:
            assert image.mode == "1"
            assert np.array_equal(np.asarray(image.convert("L")), drawn.image)


def test_every_box_names_a_place_in_the_source(mirror: Transcription, rendered: tuple[Rendering, list[int]]) -> None:
    rows = [json.loads(line) for line in rendered[0].boxes.read_text(encoding="utf-8").splitlines()]
    columns = {(page.id, column.number): column.source for page in mirror.pages for column in page.columns}
    assert len(rows) == sum(not cell.blank for page in mirror.pages for c in page.columns for cell in c.cells)
    for row in rows:
        source = columns[row["page"], row["line"]]
        assert source[row["offset"] : row["offset"] + row["length"]] == row["text"]
    halves = {row["row"] for row in rows if (row["page"], row["line"]) == ("WYG0103-0192d", 1)}
    assert halves == {"main", "right", "left"}


@pytest.mark.slow
def test_plates_carry_the_half_folios_of_one_printed_page(mirror: Transcription, tmp_path: Path) -> None:
    sheets = dict(plates(mirror, SMALL))
    assert {name: [half.ref for half in drawn.halves] for name, drawn in sheets.items()} == {
        "WYG0103-0192": ["WYG0103-0192c", "WYG0103-0192d"],
        "WYG0103-0193": ["WYG0103-0193a"],
    }
    lower = sheets["WYG0103-0192"]
    assert min(character.box.y for character in lower.characters) > lower.image.shape[0] / 2
    rendering = render(mirror, tmp_path / "out", SMALL, draw=plates)
    assert [path.name for path in rendering.images] == ["WYG0103-0192.png", "WYG0103-0193.png"]


def test_pages_without_a_reference_are_named_by_their_ids_and_have_no_place_on_a_plate(tmp_path: Path) -> None:
    text = transcription(KANRIPO)
    rendering = render(text, tmp_path / "out", SMALL)
    assert [path.name for path in rendering.images] == ["KR1d0030_WYG_010-1a.png", "KR1d0030_WYG_010-1b.png"]
    assert rendering.missing == ("&KR0058;",)
    with pytest.raises(UsageError, match="KR1d0030_WYG_010-1a has no image reference"):
        render(text, tmp_path / "out", draw=plates)


def test_an_id_cannot_lead_out_of_the_folder(mirror: Transcription) -> None:
    assert file_stem(replace(mirror.pages[0], id="../../etc/passwd", ref=None)) == ".._.._etc_passwd"


def test_what_cannot_be_read_or_written_is_named(mirror: Transcription, tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file, no folder")
    with pytest.raises(OutputError, match=r"blocked.*name another folder"):
        render(mirror, tmp_path / "blocked")
