"""Every form of a corrected text as a file of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from proof.errors import OutputError, UsageError
from proof.exports.corrections import Correction
from proof.exports.files import FORMS, Material, write_export
from proof.exports.source import correct
from proof.model.result import PageResult
from proof.text.read import read_transcription

PAGE = "KR1_WYG_010-1a"
TEXT = f"<pb:{PAGE}>¶\n　大夫之西北耦(案比今注/訛作北據)¶\n¶\n命上射&KR0058;曰告¶\n"
MADE = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def material(tmp_path: Path, checked: PageResult) -> Material:
    path = tmp_path / "source" / "KR1_010.txt"
    path.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8")
    corrected = correct(read_transcription(path), [Correction(PAGE, 1, 5, 1, "比", "北")])
    return Material(corrected, MADE, [checked], base="https://example.org/book")


def test_each_form_is_written(material: Material, tmp_path: Path) -> None:
    written = write_export(material, list(FORMS), tmp_path / "out")
    names = {str(path.relative_to(tmp_path / "out")) for path in written}
    assert names == {
        "KR1_010.txt",
        "KR1_010.diff",
        "KR1_010.notes.txt",
        "KR1_010.decided.csv",
        "KR1_010.footnotes.txt",
        "KR1_010.docx",
        "KR1_010.html",
        "KR1_010.tei.xml",
        "page/WYG0103-0192c.xml",
        "alto/WYG0103-0192c.xml",
        "KR1_010.manifest.json",
        "annotations/KR1_WYG_010-1a.json",
    }
    assert (tmp_path / "out/KR1_010.txt").read_text(encoding="utf-8") == TEXT.replace("西北", "西比")
    assert (tmp_path / "out/KR1_010.diff").read_bytes().startswith(b"diff --git a/KR1_010.txt b/KR1_010.txt\n")
    told = json.loads((tmp_path / "out/KR1_010.manifest.json").read_text(encoding="utf-8"))
    assert told["id"] == "https://example.org/book/KR1_010.manifest.json"


def test_pages_on_one_image_do_not_overwrite_one_another(
    material: Material, checked: PageResult, tmp_path: Path
) -> None:
    both = replace(material, pages=[checked, replace(checked, page="KR1_WYG_010-1b")])
    written = write_export(both, ["page"], tmp_path / "out")
    assert sorted(path.name for path in written) == [
        "WYG0103-0192c_KR1_WYG_010-1a.xml",
        "WYG0103-0192c_KR1_WYG_010-1b.xml",
    ]


@pytest.mark.parametrize("form", [form.name for form in FORMS.values() if form.on_images])
def test_what_lies_on_images_needs_checked_pages(material: Material, tmp_path: Path, form: str) -> None:
    with pytest.raises(UsageError, match="run proof check first"):
        write_export(replace(material, pages=[]), [form], tmp_path / "out")


def test_a_manifest_needs_its_address(material: Material, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--base"):
        write_export(replace(material, base=""), ["iiif"], tmp_path / "out")


def test_the_source_is_not_overwritten_by_the_way(material: Material) -> None:
    with pytest.raises(OutputError, match="is the source itself"):
        write_export(material, ["text"], material.corrected.edition.path.parent)
