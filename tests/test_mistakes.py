"""A hundred mistakes at the command line: each is told with the file, the line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.cli import main

TEXT = "<pb:KR9x0001_SIM_001-1a>¶\n射人告具于公¶\n"

FILES = {
    "text.txt": TEXT.encode(),
    "empty.txt": b"",
    "bytes.txt": bytes(range(128, 256)) * 9,
    "pairs.tsv": b"a\n",
    "broken.jsonl": b"{not json\n",
    "bad.zip": b"PK\x05\x06" + bytes(18),
    "toml/config.toml": b"[project\ntexts = 1",
    "slip/config.toml": b"[page]\n\ncolums = 9\n",
    "full/file": b"",
    "words.txt": b"just words\n",
    "nothing.bin": b"nothing of a model",
    "png.png": b"hello",
    "cut.png": b"\x89PNG\r\n\x1a\n" + bytes(40),
    "cut.docx": b"PK\x03\x04" + bytes(60),
    "page.xml": b"<PcGts><Page",
    "store.sqlite": b"not a database, and long enough to be taken for one" * 4,
    "lost/config.toml": b'[project]\ntexts = ["none.txt"]\n',
    "wrong/config.toml": b'[project]\ntexts = "text.txt"\n\n[page]\nrows = -1\nscript = "seal"\n\n[serv]\na = 1\n',
    "good/config.toml": b'[project]\ntexts = ["text.txt"]\n',
    "good/text.txt": TEXT.encode(),
}

MISTAKES = {
    "check --config slip": "config.toml:3: [page] has no setting colums; did you mean columns?",
    "render text.txt": "--out",
    "check empty.txt": "empty.txt: the file is empty: give a transcription with page marks",
    "check bytes.txt": "bytes.txt:1: not UTF-8 text, and no other encoding that is known here: convert it to UTF-8",
    "check text.txt --images text.txt": "text.txt is a file; name the folder it lies in",
    "check text.txt --variants pairs.tsv": "pairs.tsv:1: a pair is two characters and a class",
    "check --config toml": "config.toml:1: is not valid TOML",
    "check --library full": "no work lies in it: each is a folder with config.toml, or with texts",
    "export text.txt --corrections broken.jsonl": "broken.jsonl:1: expected one JSON object",
    "export text.txt --corrections none.jsonl": "none.jsonl: the corrections cannot be read",
    "backup bad.zip --verify": "bad.zip: is no backup of proof: name a file that `proof backup` made",
    "restore bad.zip full": "full: is not empty; name a new folder",
    "render text.txt --font nofont --out r": "'nofont': no such file or family on this machine; install one",
    "collate text.txt text.txt": "is the base itself: name each file once",
    "collate text.txt full@WYG": "full: is no git repository, so it has no branch WYG",
    "fetch file:///etc/hostname --to f": "is no web address: it must begin with http:// or https://",
    "init full": "full: no text of any of the formats lies in it; name texts with --texts",
    "demo full": "full is not empty: name a new folder for the sample",
    "chekc text.txt": "No such command 'chekc'",
    "check": "nothing to check: name a transcription (proof check TEXT --images DIR)",
    "check text.txt --colums 8": "Did you mean one of: '--cluster', '--columns', '--out'?",
    "check text.txt --images nowhere": "nowhere does not exist",
    "check text.txt --model none.onnx": "none.onnx: cannot be read (No such file or directory); name an ONNX file",
    "check text.txt --engine replay": "the engine replay needs a recording: name its file",
    "check text.txt --engine replay --recording words.txt": "words.txt: not a recording of format 2, or damaged;",
    "check text.txt --out text.txt": "text.txt: cannot be written to (File exists); allow writing, or name another",
    "check text.txt --language nothing.bin": "nothing.bin: no model of the language, or a damaged one; make one with",
    "check text.txt --store nonsense": "is no database address; write it like sqlite:///folder/proof.sqlite",
    "check text.txt --store sqlite:///store.sqlite": "store.sqlite: this is no store; name another file, or move this",
    "check text.txt --witnesses bytes.txt": "bytes.txt:1: not UTF-8 text",
    "check text.txt --device tpu": "engine.device is 'tpu': give cpu, gpu or gpu:<number>",
    "check --config lost": "config.toml:2: project.texts:",
    "check --config wrong": "config.toml:5: page.rows must be from 1 to 100, not -1",
    "check cut.docx": "cut.docx: is an archive, and neither DOCX nor EPUB: unpack it, and name the texts in it",
    "check cut.png": "cut.png: is an image: name it with --images, and give a text",
    "check --library none": "none: there is no such folder; name the one that holds the works",
    "export": "nothing to export: name a transcription (proof export TEXT), or run in the folder of a project",
    "export text.txt": "nothing was decided yet: there is no store",
    "backup none.zip --verify": "none.zip: cannot be read or written (No such file or directory); check its name",
    "recover": "there is no store, so nothing was checked here yet: run proof check first; projects lie in",
    "report": "there is no store, so nothing was checked here yet",
    "user token 甲 --config good": "there is no account 甲; `proof user list` names them",
    "learn empty.txt --out m": "none of the texts can be read: nothing was learned",
    "convert text.txt --to plain --out full": "full: cannot be written (Is a directory)",
    "collate text.txt none.txt": "none.txt: cannot be read (No such file or directory): check its name and permissions",
    "carry text.txt text.txt": "text.txt is named twice: name the text that was decided, then the other one",
    "render text.txt --out text.txt": "text.txt: the facsimile cannot be written (File exists); name another folder",
    "fetch none.json --to f": "none.json: cannot be read (No such file or directory): name a IIIF manifest or an",
    "fetch page.xml --to f": "page.xml:1: is no IIIF manifest: it is a web page; name the address of the manifest",
    "fetch http://127.0.0.1:1/m.json --to f": "it is not asked; if that is meant, as in a museum's own network, add",
    "init none": "none: there is no such folder; name one with texts, or name these with --texts",
    "init good": "config.toml is there already: change it in an editor, or name another folder",
    "pair a b c": "or give --texts TEXT --images DIR",
    "demo text.txt": "Directory 'text.txt' is a file",
}

UNUSABLE = {
    "layout none.png --out o": "none.png: there is no such file",
    "layout png.png --out o": "png.png: is not an image of a known kind; convert it to PNG",
    "layout cut.png --out o": "cut.png: is cut short or damaged: its header cannot be read; fetch or export the file",
    "layout full --out o": "full: is a folder: name its files, such as full/*.png",
    "check text.txt --images full": "full holds no image (PNG, JPEG,",
    "check text.txt --imglist words.txt": "words.txt: no line understood: a line of an image list has",
}
"""Mistakes in one of the things that are named: the others are done, and the command ends with 1."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("line", "status", "told"),
    [*((line, 2, told) for line, told in MISTAKES.items()), *((line, 1, told) for line, told in UNUSABLE.items())],
)
def test_a_mistake_is_told_with_what_to_do(
    line: str, status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == status
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said
