"""What a folder holds that can be checked."""

from __future__ import annotations

from pathlib import Path

from proof.settings.material import MAX_NAMED_TEXTS, find_images, find_texts
from tests.sample import lay_out

PAGED = "<pb:KR1d0030_WYG_010-1a>¶\n大射儀¶\n"


def write(path: Path, text: str = PAGED) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_texts_are_told_from_other_files_by_their_format(tmp_path: Path) -> None:
    texts = (write(tmp_path / "a.txt"), write(tmp_path / "b.md", "經文【注文】經文\n"))
    write(tmp_path / "README.md", "說明【必讀】\n")
    write(tmp_path / "Readme.org", "說明【必讀】\n")
    write(tmp_path / "notes.txt", "call 李 on Monday\n")
    (tmp_path / "data.txt").write_bytes(b"\xff\xfe\x00\x01")
    write(tmp_path / "juan" / "c.txt")
    assert find_texts(tmp_path) == texts


def test_texts_may_lie_in_folders_of_their_own(tmp_path: Path) -> None:
    text = write(tmp_path / "text" / "a.txt")
    write(tmp_path / "imglist" / "a.txt")
    write(tmp_path / ".git" / "a.txt")
    assert find_texts(tmp_path) == (text,)
    assert find_texts(tmp_path / ".git" / "..") == (tmp_path / ".git" / ".." / "text" / "a.txt",)


def test_many_texts_are_named_by_a_pattern(tmp_path: Path) -> None:
    texts = [write(tmp_path / f"{number:03}.txt") for number in range(MAX_NAMED_TEXTS + 1)]
    assert find_texts(tmp_path) == (tmp_path / "*.txt",)
    write(tmp_path / "notes.txt", "no text\n")
    assert find_texts(tmp_path) == tuple(texts)


def test_images_lie_in_the_folder_or_in_those_below(tmp_path: Path) -> None:
    lay_out(tmp_path, 1)
    (tmp_path / "empty").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "picture.png").touch()
    (tmp_path / "scans" / "1").mkdir(parents=True)
    (tmp_path / "scans" / "1" / "book.pdf").touch()
    assert find_images(tmp_path) == (tmp_path / "images", tmp_path / "scans")
    assert find_images(tmp_path / "images") == (tmp_path / "images",)
    assert find_images(tmp_path / "empty") == ()
