"""Every form of a corrected text as files: all say what was decided, and nothing that was rejected."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZipFile

import pytest
from lxml import etree
from PIL import Image

from proof.errors import OutputError, UsageError
from proof.exports.decided_corrections import decided_in
from proof.exports.files import FORMS, Material, write_export
from proof.exports.source import correct
from proof.model.flags import Flag
from proof.model.result import PageResult
from proof.store import Store
from proof.store.decision_records import Verdict
from proof.text.read import read_transcription
from tests.build import by_hand, check_files, say
from tests.build import flag as raised
from tests.exports.conftest import PAGE, page_of


def test_each_form_is_written(material: Material, tmp_path: Path) -> None:
    written = write_export(material, list(FORMS), tmp_path / "out")
    names = {str(path.relative_to(tmp_path / "out")) for path in written}
    forms = ("txt", "diff", "notes.txt", "decided.csv", "footnotes.txt", "docx", "html", "tei.xml", "manifest.json")
    on_images = {"page/WYG0103-0192c.xml", "alto/WYG0103-0192c.xml", "annotations/KR1_WYG_010-1a.json"}
    assert names == {f"KR1_010.{form}" for form in forms} | on_images
    assert (tmp_path / "out/KR1_010.txt").read_text(encoding="utf-8") == material.corrected.text
    assert (tmp_path / "out/KR1_010.diff").read_bytes().startswith(b"diff --git a/KR1_010.txt b/KR1_010.txt\n")
    record = json.loads((tmp_path / "out/KR1_010.manifest.json").read_text(encoding="utf-8"))
    assert record["id"] == "https://example.org/book/KR1_010.manifest.json"


def test_pages_on_one_image_do_not_overwrite_one_another(
    material: Material, checked: PageResult, tmp_path: Path
) -> None:
    both = replace(material, pages=[checked, replace(checked, page="KR1_WYG_010-1b")])
    written = write_export(both, ["page"], tmp_path / "out")
    assert sorted(path.name for path in written) == [
        "WYG0103-0192c_KR1_WYG_010-1a.xml",
        "WYG0103-0192c_KR1_WYG_010-1b.xml",
    ]


def test_images_of_one_name_in_two_folders_stay_apart(material: Material, tmp_path: Path) -> None:
    (page,) = material.pages
    pages: list[PageResult] = []
    for folder, ident in (("v1", "1a"), ("v2", "1b")):
        image = tmp_path / folder / "001.png"
        image.parent.mkdir()
        Image.new("L", (450, 800), len(pages)).save(image)
        pages.append(replace(page, page=f"KR1_WYG_010-{ident}", image=image))
    both = replace(material, pages=[*pages, replace(page, page="KR1_WYG_010-2a")])
    names = ["WYG0103-0192c.png", "v1_001.png", "v2_001.png"]
    (bag,) = write_export(both, ["bagit"], tmp_path / "out")
    assert sorted(file.name for file in (bag / "data/images").iterdir()) == names
    assert sorted(file.stem + ".png" for file in (bag / "data/page").iterdir()) == names
    (file,) = write_export(both, ["iiif"], tmp_path / "out")
    bodies = [canvas["items"][0]["items"][0]["body"]["id"] for canvas in json.loads(file.read_bytes())["items"]]
    assert sorted(bodies) == [f"https://example.org/book/images/{name}" for name in names]
    flags = [json.loads(file.read_bytes()) for file in write_export(both, ["annotations"], tmp_path / "out")]
    assert len({page["items"][0]["target"]["source"] for page in flags}) == len(names)


@pytest.mark.parametrize("form", [form.name for form in FORMS.values() if form.on_images])
def test_what_lies_on_images_needs_checked_pages(material: Material, tmp_path: Path, form: str) -> None:
    for pages in ([], [replace(page, image=None) for page in material.pages]):
        with pytest.raises(UsageError, match="run proof check first"):
            write_export(replace(material, pages=pages), [form], tmp_path / "out")


def test_a_manifest_needs_its_address(material: Material, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--base"):
        write_export(replace(material, base=""), ["iiif"], tmp_path / "out")


def test_the_source_is_not_overwritten_by_the_way(material: Material) -> None:
    with pytest.raises(OutputError, match="is the source itself"):
        write_export(material, ["text"], material.corrected.edition.path.parent)


COLUMNS = ["　大夫(案/)之西北耦", "", "命上射曰告"]
INSERTED, REJECTED, BY_HAND, TAKEN, COPY = "甲", "乙", "丙", "丁", "戊"


def flag(uid: str, line: int, offset: int, text: str, suggested: str) -> Flag:
    return raised(line, offset, text, suggested, name=PAGE, source=COLUMNS[line - 1], id=uid)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every form of the text, as its files read, one behind the other. An insertion into an empty half-row before main
    text and a substitution are taken, one is rejected, one kept although the copy reads otherwise, and a character is
    corrected by hand."""
    tmp_path = tmp_path_factory.mktemp("forms")
    path = tmp_path / "KR1_010.txt"
    path.write_text(f"<pb:{PAGE}>¶\n" + "".join(f"{source}¶\n" for source in COLUMNS), encoding="utf-8")
    edition = read_transcription(path)
    half = COLUMNS[0].index(")")
    flags = (
        flag("f-half", 1, half, "", INSERTED),
        flag("f-no", 1, COLUMNS[0].index("北"), "北", REJECTED),
        flag("f-yes", 3, 0, "命", TAKEN),
        flag("f-copy", 3, 1, "上", COPY),
    )
    page = replace(page_of(COLUMNS), flags=flags)
    with Store.open(tmp_path / "proof.sqlite") as store:
        check_files(store, [(path, page)])
        for uid, verdict in (("f-half", Verdict.TAKE), ("f-no", Verdict.KEEP), ("f-yes", Verdict.TAKE)):
            say(store, uid, verdict, person="某")
        say(store, "f-copy", Verdict.RETAIN, COPY, "某")
        by_hand(store, 3, 4, BY_HAND, person="某")
        decided = decided_in(store, edition)
        corrected = correct(decided.edition, decided.corrections)
        pages = list(store.results(work="KR1"))
    material = Material(
        corrected, datetime(2026, 1, 2, tzinfo=UTC), pages, rejected=decided.rejected, base="https://example.org/book"
    )
    return {form: "".join(map(text_of, write_export(material, [form], tmp_path / form))) for form in FORMS}


def text_of(file: Path) -> str:
    """What a file reads; of a DOCX file its document and its footnotes."""
    if file.suffix != ".docx":
        return file.read_text(encoding="utf-8-sig")
    with ZipFile(file) as archive:
        parts = [name for name in archive.namelist() if name in ("word/document.xml", "word/footnotes.xml")]
        return "".join(archive.read(name).decode("utf-8") for name in parts)


@pytest.mark.parametrize("form", list(FORMS))
def test_every_form_has_what_was_decided_and_nothing_that_was_rejected(written: dict[str, str], form: str) -> None:
    assert [correction for correction in (INSERTED, BY_HAND, TAKEN) if correction not in written[form]] == []
    assert REJECTED not in written[form]


def test_an_insertion_into_an_empty_half_row_is_in_that_half_row(written: dict[str, str]) -> None:
    assert f"　大夫(案/{INSERTED})之西北耦¶" in written["text"]
    tei = etree.fromstring(written["tei"].encode())
    [note] = tei.iterfind(".//{*}body//{*}note[@place='inline']")
    assert "".join(map(str, note.itertext())) == f"案{INSERTED}"
    page = etree.fromstring(written["page"].encode())
    rows = [str(line.get("custom")).split(":")[1].strip(";}") for line in page.iterfind(".//{*}TextLine")]
    lines = [line.findtext("{*}TextEquiv/{*}Unicode") for line in page.iterfind(".//{*}TextLine")]
    assert rows == ["default", "note-right", "note-left", "default", "default"]
    assert lines == ["大夫", "案", INSERTED, "之西北耦", f"{TAKEN}上射曰{BY_HAND}"]
    alto = etree.fromstring(written["alto"].encode())
    assert [element.get("CONTENT") for element in alto.iterfind(".//{*}String")] == lines
