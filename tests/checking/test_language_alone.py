"""Pages that no image shows, checked by the language model from the text to the flags in the files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proof.cli import main
from proof.store import Store

MARK = "<pb:KR9z9999_WYG_001-{}>¶\n"
PAGES = (
    "十月己丑朔日有食之¶\n夫子曰學而時習之不亦說乎¶\n",
    "十二月已丑朔日有食之¶\n封燕(大守/治也)王¶\n",
)
TEXT = "".join(MARK.format(f"{n + 1}a") + page for n, page in enumerate(PAGES))


def checked(tmp_path: Path, text: str = TEXT, *options: str) -> tuple[int, list[dict[str, object]], dict[str, object]]:
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    status = main(["check", str(tmp_path / "text.txt"), "--out", str(out), "-q", *options])
    if not (out / "flags.jsonl").exists():
        return status, [], {}
    flags = [json.loads(line) for line in (out / "flags.jsonl").read_text(encoding="utf-8").splitlines()]
    return status, flags, json.loads((out / "summary.json").read_text(encoding="utf-8"))


def test_a_text_without_images_gets_the_flags_of_the_language_model_which_are_told_and_kept(tmp_path: Path) -> None:
    status, flags, summary = checked(tmp_path)
    assert status == 0
    assert summary["pages"] == {"KR9z9999_WYG_001-1a": "no image", "KR9z9999_WYG_001-2a": "no image"}
    raised = {(f["page"], f["line"], f["offset"], f["transcribed"], f["suggested"]) for f in flags if f["raised"]}
    assert raised == {("KR9z9999_WYG_001-2a", 1, 3, "已", "己"), ("KR9z9999_WYG_001-2a", 2, 3, "大", "太")}
    for flag in flags:
        assert flag["evidence"]["reason"] == "language"  # type: ignore[index]
        assert flag["bbox"] is None
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "The language model speaks for 己: " in report
    assert "十二月<mark>已</mark>丑" in report
    assert checked(tmp_path)[1] == flags
    with Store.open(tmp_path / "proof.sqlite") as store:
        kept = list(store.flags("KR9z9999"))
    assert {flag.id for flag in kept} == {flag["id"] for flag in flags}
    assert all(flag.evidence.language is not None for flag in kept)


def test_the_language_model_can_be_silenced(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    _, flags, _ = checked(tmp_path, TEXT, "--no-language-model", "--images", str(tmp_path / "images"))
    assert flags == []


def test_a_project_checks_by_its_own_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    company = "天地玄黃宇宙洪荒盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜"
    columns = [f"{company[n % 38]}曰吾{company[n * 7 % 38]}魯使來{company[n * 3 % 38]}" for n in range(60)]
    other = "".join(
        MARK.format(f"{n}a").replace("9999", "8888") + column + "¶\n" for n, column in enumerate(columns, 1)
    )
    (tmp_path / "other.txt").write_text(other, encoding="utf-8")
    model = tmp_path / "own.npz"
    assert main(["learn", str(tmp_path / "other.txt"), str(tmp_path / "none.txt"), "--out", str(model)]) == 0
    output = capsys.readouterr()
    assert f"{model}: characters: 480" in output.out
    assert "left out: " in output.err
    _, flags, _ = checked(tmp_path, MARK.format("1a") + "封魚使來朝¶\n", "--language", str(model))
    assert [(f["transcribed"], f["suggested"]) for f in flags] == [("魚", "魯")]


@pytest.mark.parametrize("options", [(), ("--script", "simplified")])
def test_a_simplified_text_is_heard_as_traditional_and_told_in_its_own_characters(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    source = "十二月已丑朔，这个时候说话的学问¶\n孔安国传曰，郑玄传曰，左氏傅曰¶\n"
    _, flags, _ = checked(tmp_path, MARK.format("1a") + source, *options)
    raised = [(f["line"], f["offset"], f["transcribed"], f["suggested"]) for f in flags if f["raised"]]
    assert raised == [(1, 3, "已", "己"), (2, 13, "傅", "传")]


def test_a_long_work_is_heard_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of each part is told at its own place, and by no other part: an error in both is no witness."""
    monkeypatch.setattr("proof.language.findings.MAX_PART_LENGTH", 1)
    for number in range(2):
        (tmp_path / f"{number}.txt").write_text(TEXT.replace("_001-", f"_00{number}-"), encoding="utf-8")
    out = tmp_path / "out"
    assert main(["check", str(tmp_path / "0.txt"), str(tmp_path / "1.txt"), "--out", str(out), "-q"]) == 0
    flags = [json.loads(line) for line in (out / "flags.jsonl").read_text(encoding="utf-8").splitlines()]
    raised = [(f["page"], f["line"], f["offset"], f["transcribed"], f["suggested"]) for f in flags if f["raised"]]
    assert raised == [
        (f"KR9z9999_WYG_00{number}-2a", *place)
        for number in range(2)
        for place in ((1, 3, "已", "己"), (2, 3, "大", "太"))
    ]
