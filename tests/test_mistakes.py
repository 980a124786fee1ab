"""Mistakes at the command line: each is told with the file, the line and what to do, and ends with 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.cli import main

TEXT = "<pb:KR9x0001_SIM_001-1a>¶\n射人告具于公¶\n"

FILES = {
    "text.txt": TEXT.encode(),
    "empty.txt": b"",
    "bytes.txt": bytes(range(128, 256)) * 9,
    "utf16.txt": TEXT.encode("utf-16"),
    "pairs.tsv": b"a\n",
    "broken.jsonl": b"{not json\n",
    "short.jsonl": b'{"page": "x"}\n',
    "bad.zip": b"PK\x05\x06" + bytes(18),
    "toml/config.toml": b"[project\ntexts = 1",
    "slip/config.toml": b"[page]\n\ncolums = 9\n",
    "binary/config.toml": b"\xff\xfe\x00",
    "full/file": b"",
}

MISTAKES = {
    "chekc": "chekc",
    "check": "nothing to check",
    "check text.txt --no-sense": "--images",
    "check text.txt --images nowhere": "nowhere does not exist",
    "check text.txt --images full --rows many": "page.rows must be a whole number",
    "check text.txt --images full --engine ppcor": "did you mean ppocr?",
    "check text.txt --images full --imglist list.txt": "list.txt",
    "check --config other.toml": "other.toml",
    "check --config slip": "config.toml:3: [page] has no setting colums; did you mean columns?",
    "render text.txt": "--out",
    "render text.txt --out drawn --wear worn": "render.wear",
    "check empty.txt": "empty.txt: the file is empty: give a transcription with page marks",
    "check bytes.txt": "bytes.txt:1: not UTF-8 text, and no other encoding that is known here: convert it to UTF-8",
    "check utf16.txt": "utf16.txt: not UTF-8; it looks like UTF-16 LE: convert it to UTF-8",
    "check full": "full: a folder; name its files, such as",
    "check none.txt": "none.txt: there is no such file",
    "check text.txt --images text.txt": "text.txt is a file; name the folder it lies in",
    "check text.txt --variants pairs.tsv": "pairs.tsv:1: a pair is two characters and a class",
    "check text.txt --columns 1000": "page.columns must be from 0 to 60, not 1000",
    "check --config toml": "config.toml:1: is not valid TOML",
    "check --config binary": "config.toml:1: is not UTF-8; save the file in that encoding",
    "check --library full": "no work lies in it: each is a folder with config.toml, or with texts",
    "export text.txt --corrections broken.jsonl": "broken.jsonl:1: expected one JSON object",
    "export text.txt --corrections short.jsonl": "short.jsonl:1: expected 'line': page, line, offset",
    "export text.txt --corrections none.jsonl": "none.jsonl: the corrections cannot be read",
    "export text.txt --choose 乾": "write a character and its form in the text, such as 乾=干",
    "backup x.zip --keep 3 --verify": "give one of the two",
    "backup bad.zip --verify": "bad.zip: is no backup of proof: name a file that `proof backup` made",
    "restore bad.zip full": "full: is not empty; name a new folder",
    "render text.txt --font nofont --out r": "'nofont': no such file or family on this machine; install one",
    "collate text.txt text.txt": "is the base itself: name each file once",
    "collate text.txt full@WYG": "full: is no git repository, so it has no branch WYG",
    "convert text.txt --to kanripo --encoding klingon": "'klingon' is no text encoding: name one such as utf-8",
    "fetch file:///etc/hostname --to f": "is no web address: it must begin with http:// or https://",
    "init toml": "config.toml:1: is not valid TOML",
    "init full": "full: no text of any of the formats lies in it; name texts with --texts",
    "demo full": "full is not empty: name a new folder for the sample",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_told_with_what_to_do(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == 2
    told = capsys.readouterr().err
    assert MISTAKES[line] in told
    assert "Traceback" not in told
