"""A transcription becomes image files under the names that its pages have, with a file of true boxes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from proof.errors import OutputError, TextError, UsageError
from proof.facsimile.files import Rendering, file_stem, half_folios, plates, render, run, strip_of
from proof.facsimile.wear import LEVELS, Wear
from proof.text.read import read_transcription
from proof.text.transcription import Transcription

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

pytestmark = pytest.mark.usefixtures("kai")


@pytest.fixture
def mirror(tmp_path: Path) -> Transcription:
    path = tmp_path / "mirror.txt"
    path.write_text(MIRROR, encoding="utf-8")
    return read_transcription(path)


def boxes(rendering: Rendering) -> list[dict[str, object]]:
    return [json.loads(line) for line in rendering.boxes.read_text(encoding="utf-8").splitlines()]


def test_images_are_named_by_their_references(mirror: Transcription, tmp_path: Path) -> None:
    rendering = render(mirror, tmp_path / "out")
    assert [path.name for path in rendering.images] == [
        "WYG0103-0192c.png",
        "WYG0103-0192d.png",
        "WYG0103-0193a.png",
    ]
    assert all(path.is_file() for path in rendering.images)


def test_pages_without_a_reference_are_named_by_their_ids(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(KANRIPO, encoding="utf-8")
    rendering = run(text, tmp_path / "out")
    assert [path.name for path in rendering.images] == ["KR1d0030_WYG_010-1a.png", "KR1d0030_WYG_010-1b.png"]
    assert rendering.missing == ("&KR0058;",)


def test_every_box_names_a_place_in_the_source(mirror: Transcription, tmp_path: Path) -> None:
    rows = boxes(render(mirror, tmp_path / "out"))
    columns = {(page.id, column.number): column.source for page in mirror.pages for column in page.columns}
    assert len(rows) == sum(not cell.blank for page in mirror.pages for c in page.columns for cell in c.cells)
    for row in rows:
        source = columns[str(row["page"]), int(str(row["line"]))]
        offset, length = int(str(row["offset"])), int(str(row["length"]))
        assert source[offset : offset + length] == row["text"]
    assert {row["row"] for row in rows if row["line"] == 1 and row["page"] == "WYG0103-0192d"} == {
        "main",
        "right",
        "left",
    }


def test_the_image_files_hold_the_pixels_that_were_drawn(mirror: Transcription, tmp_path: Path) -> None:
    paths = render(mirror, tmp_path / "out", wear=LEVELS["light"], seed=5).images
    for path, (name, drawn) in zip(paths, half_folios(mirror, wear=LEVELS["light"], seed=5), strict=True):
        assert path.stem == name
        with Image.open(path) as image:
            assert image.mode == "1"
            assert np.array_equal(np.asarray(image.convert("L")), drawn.image)


def test_a_photograph_is_written_with_its_tones(mirror: Transcription, tmp_path: Path) -> None:
    with Image.open(render(mirror, tmp_path / "out", wear=Wear(grey=True)).images[0]) as image:
        assert image.mode == "L"


def test_only_the_first_page_of_a_juan_carries_the_seal(mirror: Transcription) -> None:
    sealed = [drawn.image for _, drawn in half_folios(mirror, wear=Wear(seal=0.6))]
    plain = [drawn.image for _, drawn in half_folios(mirror, wear=Wear())]
    same = [np.array_equal(one, other) for one, other in zip(sealed, plain, strict=True)]
    assert same == [False, True, True]
    assert (sealed[0] < 128).sum() > (plain[0] < 128).sum()


@pytest.mark.slow
def test_plates_carry_the_half_folios_of_one_printed_page(mirror: Transcription, tmp_path: Path) -> None:
    sheets = dict(plates(mirror))
    assert {name: [half.ref for half in drawn.halves] for name, drawn in sheets.items()} == {
        "WYG0103-0192": ["WYG0103-0192c", "WYG0103-0192d"],
        "WYG0103-0193": ["WYG0103-0193a"],
    }
    lower = sheets["WYG0103-0192"]
    assert min(one.box.y for one in lower.characters) > lower.image.shape[0] / 2
    rendering = render(mirror, tmp_path / "out", draw=plates)
    assert [path.name for path in rendering.images] == ["WYG0103-0192.png", "WYG0103-0193.png"]


def test_pages_without_a_place_on_a_plate_are_named(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(KANRIPO, encoding="utf-8")
    with pytest.raises(UsageError, match="KR1d0030_WYG_010-1a has no image reference"):
        run(text, tmp_path / "out", draw=plates)


def test_the_fold_strip_says_title_juan_and_leaf(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(KANRIPO, encoding="utf-8")
    transcription = read_transcription(text)
    strip = strip_of(transcription, transcription.pages[1])
    assert (strip.title, strip.juan, strip.leaf) == ("儀禮集釋", "卷十", 1)


def test_an_id_cannot_lead_out_of_the_folder(mirror: Transcription) -> None:
    assert file_stem(replace(mirror.pages[0], id="../../etc/passwd", ref=None)) == ".._.._etc_passwd"


def test_a_folder_that_cannot_be_written_is_named(mirror: Transcription, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, no folder")
    with pytest.raises(OutputError, match=r"blocked.*name another folder"):
        render(mirror, blocked)


def test_progress_counts_the_images_written(mirror: Transcription, tmp_path: Path) -> None:
    seen: list[int] = []
    render(mirror, tmp_path / "out", progress=seen.append)
    assert seen == [1, 2, 3]


def test_a_transcription_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TextError, match=r"nowhere\.txt"):
        run(tmp_path / "nowhere.txt", tmp_path / "out")
