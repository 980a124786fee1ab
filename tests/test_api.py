"""The program from Python: the four jobs and their rows."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from proof import check, collate, export, open_project
from proof.errors import ProofError, UsageError
from tests.sample import lay_out


@pytest.mark.engine
def test_raw_files_are_checked_and_exported(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "book", 2)
    project = open_project(folder, settings={"page.column_length": 21})
    assert "column_length = 21" in (folder / "config.toml").read_text(encoding="utf-8")
    done: list[str] = []
    work = check(project, progress=lambda progress: done.append(progress.page))
    assert [page.page for page in work.pages] == sorted(done) == ["WYG0103-0192c", "WYG0103-0192d"]
    assert work.sound
    assert work.report.is_file()
    raised = [flag for flag in work.flags if flag.raised]
    assert ("WYG0103-0192d", "北", "比") in {(flag.page, flag.transcribed, flag.suggested) for flag in raised}
    assert sum(page.raised for page in work.pages) == len(raised)
    assert all(isinstance(value, str | int | float | None) for flag in raised for value in asdict(flag).values())
    assert check(folder).flags == work.flags
    (text,) = export(project)
    assert (text.complete, text.written) == (True, ())
    assert text.files[0].read_bytes() == text.text.read_bytes()


def test_a_project_is_opened_as_it_is(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "book", 1)
    open_project(folder)
    kept = (folder / "config.toml").read_bytes()
    again = open_project(folder, settings={"flags.threshold": 9.0})
    assert again.settings.flags.threshold == 9.0
    assert (folder / "config.toml").read_bytes() == kept


def test_what_is_wrong_is_raised_and_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="there is no such folder"):
        open_project(tmp_path / "nowhere")
    folder = lay_out(tmp_path / "book", 1)
    with pytest.raises(ProofError, match="nothing was decided yet"):
        export(open_project(folder))
    with pytest.raises(UsageError, match="unknown form 'klingon': choose from text, diff"):
        export(folder, forms=["klingon"])
    assert capsys.readouterr() == ("", "")


def test_witnesses_are_collated(tmp_path: Path) -> None:
    base, other = tmp_path / "base.txt", tmp_path / "other.txt"
    for path, text in ((base, "射人告具于公公升即位于席西鄉"), (other, "射人告具于公公升卽位於席西嚮")):
        path.write_text(f"---\ntitle: 大射儀\n---\n\n{text}\n", encoding="utf-8")
    (witness,) = collate(base, f"甲={other}")
    assert witness.siglum == "甲"
    read = base.read_text(encoding="utf-8")
    assert ("鄉", "嚮") in {(variant.base, variant.witness) for variant in witness.variants}
    assert all(read[each.start : each.start + each.length] == each.base for each in witness.variants)
