"""Witnesses that are several files: folders, branches of git repositories, files of one siglum."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proof.collation.sigla import names_of
from proof.errors import TextError
from proof.text.read import read_transcription
from proof.text.witness_source import WitnessSource
from proof.text.witnesses import apart_from, read_witnesses, witnesses_state

JUAN = "#+TITLE: 論衡\n<pb:K_WYG_{juan}-1a>¶\n{text}¶\n&KR0058;(甲/乙)¶\n"


def write_juan(folder: Path, number: int, text: str) -> None:
    (folder / f"K_{number:03}.txt").write_text(JUAN.format(juan=f"{number:03}", text=text), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two juan of one edition."""
    made = tmp_path / "KR3j0080"
    (made / "imglist").mkdir(parents=True)
    (made / "imglist" / "K_001.txt").write_text("no text", encoding="utf-8")
    (made / "Readme.org").write_text("* 論衡\n", encoding="utf-8")
    write_juan(made, 1, "逢遇")
    write_juan(made, 2, "異虛")
    return made


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=王", "-c", "user.email=wang@example.org")
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)  # noqa: S603, S607


@pytest.fixture
def repository(folder: Path) -> Path:
    """The folder as a repository with the branches WYG (checked out) and SBCK."""
    if shutil.which("git") is None:
        pytest.skip("git makes the repository that is read, and is not installed")
    git(folder, "init", "-q", "-b", "SBCK")
    write_juan(folder, 1, "逢遇篇")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "SBCK")
    git(folder, "checkout", "-q", "-b", "WYG")
    write_juan(folder, 1, "逢遇")
    git(folder, "commit", "-q", "-a", "-m", "WYG")
    return folder


@pytest.mark.parametrize(
    ("text", "siglum", "path", "revision"),
    [
        ("a.txt", "", "a.txt", ""),
        ("SBCK=a.txt", "SBCK", "a.txt", ""),
        ("四部=../KR3j0080@SBCK", "四部", "../KR3j0080", "SBCK"),
        ("KR3j0080@origin/SBCK", "", "KR3j0080", "origin/SBCK"),
        ("repository@T@SONG", "", "repository", "T@SONG"),
        ("四=repository@T@SONG", "四", "repository", "T@SONG"),
        ("here@home.txt", "", "here@home.txt", ""),
        ("a=b.txt", "", "a=b.txt", ""),
        ("x/a=b.txt", "", "x/a=b.txt", ""),
    ],
)
def test_a_witness_has_siglum_path_and_branch(tmp_path: Path, text: str, siglum: str, path: str, revision: str) -> None:
    base = tmp_path / "project"
    (base / "repository").mkdir(parents=True)
    for name in ("here@home.txt", "a=b.txt"):
        (base / name).write_text("what is there as it stands is no siglum and no branch", encoding="utf-8")
    expected = WitnessSource((base / path).resolve(), siglum, revision)
    assert WitnessSource.parse(text, base) == expected


def test_files_of_one_siglum_are_one_witness_in_the_order_in_which_they_are_named(folder: Path) -> None:
    named = [WitnessSource(folder / name, "文淵") for name in ("K_002.txt", "K_001.txt")]
    (witness,) = read_witnesses(named)
    assert [page.id for page in witness.pages] == ["K_WYG_002-1a", "K_WYG_001-1a"]
    assert names_of([witness]) == ["文淵"]
    (same,) = read_witnesses([WitnessSource.parse("文淵=K_*.txt", folder)])
    assert [page.id for page in same.pages] == ["K_WYG_001-1a", "K_WYG_002-1a"]
    assert len(read_witnesses([WitnessSource(folder / "K_001.txt"), WitnessSource(folder / "K_002.txt")])) == 2


def test_a_witness_in_several_formats_is_refused(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("學而時習之不亦說乎\n", encoding="utf-8")
    (tmp_path / "2.txt").write_text("<pb:KR1_WYG_001-1a>¶\n學而時習之¶\n", encoding="utf-8")
    with pytest.raises(TextError, match=r"several formats \(\w+, \w+\)"):
        read_witnesses([WitnessSource(tmp_path)])


def test_a_branch_is_read_whatever_is_checked_out(repository: Path, tmp_path: Path) -> None:
    (sbck,) = read_witnesses([WitnessSource(repository, "", "SBCK")])
    (wyg,) = read_witnesses([WitnessSource(repository, "本", "WYG")])
    assert ("逢遇篇" in sbck.text, "逢遇篇" in wyg.text) == (True, False)
    assert names_of([sbck, wyg]) == ["SBCK", "本"]
    assert sbck.parts[-1].path == Path(f"{repository}@SBCK") / "K_002.txt"
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    (fetched,) = read_witnesses([WitnessSource(clone, "", "SBCK")])
    assert fetched.text == sbck.text, "a clone has the other branches as those of its origin"


def test_what_was_read_of_a_branch_is_known_until_it_changes(repository: Path) -> None:
    source = WitnessSource(repository, "", "WYG")
    before = witnesses_state([source])
    assert witnesses_state([source]) == before
    write_juan(repository, 1, "累害")
    git(repository, "commit", "-q", "-a", "-m", "another")
    assert witnesses_state([source]) != before


def test_what_was_read_of_a_folder_is_known_until_a_file_is_changed_renamed_or_divided(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("學而時習之\n不亦說乎\n", encoding="utf-8")
    states = [witnesses_state([WitnessSource(tmp_path)])]
    (tmp_path / "1.txt").rename(tmp_path / "2.txt")
    states.append(witnesses_state([WitnessSource(tmp_path)]))
    (tmp_path / "1.txt").write_text("學而時習之\n", encoding="utf-8")
    (tmp_path / "2.txt").write_text("不亦說乎\n", encoding="utf-8")
    states.append(witnesses_state([WitnessSource(tmp_path)]))
    assert len(set(states)) == 3


def test_a_branch_whose_commit_is_lost_is_told(repository: Path) -> None:
    (repository / ".git/refs/heads/SBCK").write_text("1" * 40 + "\n", encoding="ascii")
    for read in (read_witnesses, witnesses_state):
        with pytest.raises(TextError, match="branch SBCK cannot be read"):
            read([WitnessSource(repository, "", "SBCK")])


def test_a_branch_within_a_folder_of_branches_is_named_as_it_is_asked_for(repository: Path) -> None:
    git(repository, "branch", "edition/1900", "WYG")
    with pytest.raises(TextError, match="there are: SBCK, WYG, edition/1900"):
        read_witnesses([WitnessSource(repository, "", "1900")])
    assert read_witnesses([WitnessSource(repository, "", "edition/1900")])


def test_a_branch_or_folder_that_is_not_there_is_told_with_those_that_are(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(TextError, match="has no branch CHANT; there are: SBCK, WYG"):
        read_witnesses([WitnessSource(repository, "", "CHANT")])
    with pytest.raises(TextError, match="is not a git repository"):
        read_witnesses([WitnessSource(tmp_path, "", "SBCK")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(TextError, match="is a folder without texts"):
        read_witnesses([WitnessSource(tmp_path / "empty")])


def test_without_the_library_that_reads_branches_the_extra_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("dulwich.", "proof.text.branches"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("proof.text.branches", raising=False)
    monkeypatch.setitem(sys.modules, "dulwich", None)
    with pytest.raises(TextError, match=r"branch SBCK is read with dulwich: pip install 'hanproof\[git\]'"):
        read_witnesses([WitnessSource(folder, revision="SBCK")])


def test_a_text_is_no_witness_of_itself(folder: Path) -> None:
    (witness,) = read_witnesses([WitnessSource(folder, "本")])
    own = read_transcription(folder / "K_001.txt")
    rest = apart_from(witness, own)
    assert rest is not None
    assert ([page.id for page in rest.pages], rest.siglum) == (["K_WYG_002-1a"], "本")
    assert apart_from(read_transcription(folder / "K_001.txt"), own) is None
