"""A hundred mistakes at the command line: each is told with the file, the line and what to do, in Chinese too."""

from __future__ import annotations

import os
import re
from importlib import import_module
from pathlib import Path

import pytest

from proof.cli import COMMANDS, main
from tests.sampling import cross_section

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
    "words.txt": b"just words\n",
    "nothing.bin": b"nothing of a model",
    "png.png": b"hello",
    "cut.png": b"\x89PNG\r\n\x1a\n" + bytes(40),
    "cut.pdf": b"%PDF-1.4 broken",
    "cut.docx": b"PK\x03\x04" + bytes(60),
    "page.xml": b"<PcGts><Page",
    "half.jsonl": b'{"page":"KR9x0001_SIM_001-1a","line":1,"offset":9,"length":1}\n',
    "store.sqlite": b"not a database, and long enough to be taken for one" * 4,
    "lost/config.toml": b'[project]\ntexts = ["none.txt"]\n',
    "wrong/config.toml": b'[project]\ntexts = "text.txt"\n\n[page]\ncolumn_length = -1\nscript = "seal"\n\n'
    b"[serv]\na = 1\n",
    "good/config.toml": b'[project]\ntexts = ["text.txt"]\n',
    "good/text.txt": TEXT.encode(),
    "memory/config.toml": b'[project]\ntexts = ["../text.txt"]\n\n[store]\nurl = "sqlite:///:memory:"\n',
    "numbers/config.toml": b"[project]\ntexts = [1, 2]\n",
    "dated/config.toml": b"[page]\ncolumns = 1979-05-27\n",
    "zero/config.toml": b'[project]\ntexts = ["a\\u0000.txt"]\n',
    "tables/config.toml": b'[[project]]\ntexts = ["text.txt"]\n',
    "utf32.txt": TEXT.encode("utf-32"),
    "surrogate.txt": TEXT.encode() + b"\xed\xa0\x80",
    "deep.xml": b'<TEI xmlns="http://www.tei-c.org/ns/1.0">' + b"<p>" * 999,
    "entity.xml": b'<!DOCTYPE a [<!ENTITY a "aa">]><TEI>&a;</TEI>',
    "packed.txt.gz": b"\x1f\x8b\x08" + bytes(20),
    os.fsdecode(b"latin/\xe9.txt"): TEXT.encode(),
    os.fsdecode(b"photos/\xe9.png"): b"",
}

MISTAKES = {
    "check text.txt --no-language-model": "--images",
    "check text.txt --images full --column-length many": "page.column_length must be a whole number",
    "check text.txt --images full --imglist list.txt": "list.txt",
    "check --config other.toml": "other.toml",
    "check --config slip": "config.toml:3: [page] has no setting colums; did you mean columns?",
    "render text.txt": "--out",
    "check empty.txt": "empty.txt: the file is empty: give a transcription with page marks",
    "check bytes.txt": "bytes.txt:1: not UTF-8 text, nor in any other known encoding: convert it to UTF-8",
    "check utf16.txt": "utf16.txt: not UTF-8; it looks like UTF-16 LE: convert it to UTF-8",
    "check full": "full: a folder; name its files, such as",
    "check text.txt --images text.txt": "text.txt is a file; name its folder",
    "check text.txt --variants pairs.tsv": "pairs.tsv:1: a pair is two characters and a class",
    "check text.txt --columns 1000": "page.columns must be from 0 to 60, not 1000",
    "check --config toml": "config.toml:1: is not valid TOML",
    "check --config binary": "config.toml:1: is not UTF-8; save the file in that encoding",
    "check --library full": "contains no work; a work is a folder with config.toml, or with texts",
    "export text.txt --corrections broken.jsonl": "broken.jsonl:1: expected one JSON object",
    "export text.txt --corrections short.jsonl": "short.jsonl:1: line: Field required; a correction has page, line",
    "export text.txt --corrections none.jsonl": "none.jsonl: the corrections cannot be read",
    "export text.txt --choose 乾": "write a character and its form in the text, such as 乾=干",
    "backup x.zip --keep 3 --verify": "give only one of the two",
    "backup bad.zip --verify": "bad.zip: is no backup of proof: name a file that `proof backup` made",
    "restore bad.zip full": "full: is not empty; name a new folder",
    "render text.txt --font nofont --out r": "'nofont': no such file or family on this machine; install one",
    "collate text.txt text.txt": "is the base itself: name each file once",
    "collate text.txt full@WYG": "full: is not a git repository, so it has no branch WYG",
    "convert text.txt --to kanripo --encoding klingon": "'klingon' is not a text encoding: name one such as utf-8",
    "fetch file:///etc/hostname --to f": "is not a web address: it must begin with http:// or https://",
    "init full": "full: contains no text in a known format; name texts with --texts",
    "demo full": "full is not empty: name a new folder for the sample",
    "chekc text.txt": "No such command 'chekc'",
    "check": "nothing to check: name a transcription (proof check TEXT --images DIR)",
    "check text.txt --colums 8": "Did you mean one of: '--cluster', '--columns', '--out'?",
    "check text.txt --images nowhere": "nowhere does not exist",
    "check text.txt --engine ppcor": "did you mean ppocr?",
    "check text.txt --model none.onnx": "none.onnx: cannot be read (No such file or directory); name an ONNX file",
    "check text.txt --engine readings": "the engine readings needs a folder of readings: name it",
    "check text.txt --imglist none.txt": "none.txt: there is no such image list, file or folder",
    "check text.txt --out text.txt": "text.txt: cannot be written to (File exists); allow writing, or name another",
    "check text.txt --language none.bin": "language.model: there is no file",
    "check text.txt --language nothing.bin": "nothing.bin: not a language model, or damaged; make one with",
    "check text.txt --store nonsense": "is no database address; write it like sqlite:///folder/proof.sqlite",
    "check text.txt --store sqlite:///store.sqlite": "store.sqlite: this is no store; name another file, or move this",
    "check text.txt --witnesses bytes.txt": "bytes.txt:1: not UTF-8 text",
    "check text.txt --workers 99999": "engine.workers must be from 0 to 1024, not 99999",
    "check text.txt --device tpu": "engine.device is 'tpu': give cpu, gpu or gpu:<number>",
    "check text.txt --lang fr": 'report.lang must be en or zh-Hant or zh-Hans, not "fr"',
    "check text.txt --runtime magic": "engine.runtime must be auto or onnxruntime or openvino",
    "check text.txt --max-megapixels 0": "images.max_megapixels must be from 0.1 to 178, not 0",
    "check --config lost": "config.toml:2: project.texts:",
    "check --config wrong": "config.toml:5: page.column_length must be from 1 to 100, not -1",
    "report --config wrong": 'config.toml:6: page.script must be auto or traditional or simplified, not "seal"',
    "serve --config wrong": "config.toml:8: there is no section [serv]",
    "check --config none": "none: there is no such file",
    "check cut.docx": "cut.docx: is an archive, and neither DOCX nor EPUB: unpack it, and name the texts in it",
    "check page.xml": "page.xml:1: is not well-formed XML",
    "check cut.png": "cut.png: is an image: name it with --images, and give a text",
    "check cut.pdf": "cut.pdf: is a PDF: name it among the images (--images), and give its text beside it",
    "check --library none": "none: there is no such folder; name the one that contains the works",
    "export": "nothing to export: name a transcription (proof export TEXT), or run in the folder of a project",
    "export text.txt": "nothing was decided yet: there is no store",
    "export text.txt --in-place": "run proof check and proof serve first, or give --corrections",
    "export text.txt --form nothing": "'nothing' is not one of 'text'",
    "export text.txt --to x": "Did you mean one of: '--form', '--out', '--store'?",
    "export text.txt --corrections half.jsonl": "half.jsonl:1: replacement: Field required; a correction has",
    "backup": "Missing argument 'FILE'",
    "backup none.zip --verify": "none.zip: cannot be read or written (No such file or directory); check its name",
    "backup text.txt --verify": "text.txt: is no backup of proof, or is damaged",
    "restore none.zip new": "File 'none.zip' does not exist",
    "recover": "there is no store, so nothing was checked here yet: run proof check first; there are projects in",
    "report": "there is no store, so nothing was checked here yet",
    "serve": "there is no store, so nothing was checked here yet",
    "serve --port 99999": "99999 is not in the range 0<=x<=65535",
    "serve --config good --auth": "there is no store, so nothing was checked here yet",
    "user list": "there is no store, so nothing was checked here yet",
    "user token 甲 --config good": "there is no account 甲; `proof user list` names them",
    "user role 甲 reader --config good": "there is no account 甲; `proof user list` names them",
    "user role 甲 king --config good": "'king' is not one of 'reader', 'proofreader', 'administrator'",
    "learn empty.txt --out m": "none of the texts can be read: nothing was learned",
    "convert text.txt --to klingon": "'klingon' is not one of 'kanripo'",
    "convert text.txt --to plain --out full": "full: cannot be written (Is a directory)",
    "collate text.txt": "Missing argument '[SIGLUM=]WITNESS...'",
    "collate text.txt none.txt": "none.txt: cannot be read (No such file or directory): check its name and permissions",
    "carry text.txt text.txt": "text.txt is named twice: name the text that was decided, then the other one",
    "render text.txt --out text.txt": "text.txt: the facsimile cannot be written (File exists); name another folder",
    "render text.txt --wear terrible --out r": "render.wear must be none or light or moderate or heavy",
    "render text.txt --font text.txt --out r": "text.txt: not a font that can be read; install one",
    "layout cut.png": "Missing option '--out'",
    "fetch none.json --to f": "none.json: cannot be read (No such file or directory): name a IIIF manifest or an",
    "fetch page.xml --to f": "page.xml:1: is not a IIIF manifest: it is a web page; name the address of the manifest",
    "fetch http://127.0.0.1:1/m.json --to f": "it is not requested; to allow it, as in a museum's own network, add",
    "init none": "none: there is no such folder; name one with texts, or name these with --texts",
    "init good": "config.toml exists already: edit it, or name another folder",
    "pair a b c": "or give --texts TEXT --images DIR",
    "demo text.txt": "Directory 'text.txt' is a file",
    "engines extra": "Got unexpected extra argument (extra)",
    "check https://example.org/a.txt": '"https:/example.org/a.txt" is an address: save the file here and name it',
    "check text.txt --images http://example.org/scans": "is an address: save the file here and name it",
    "check circle.txt": "circle.txt: a link that leads to no file; mend or delete it",
    "check text.txt --images circle.txt": "circle.txt does not exist",
    "check good --images text.txt": "good: a folder; name its files, such as",
    "check --config numbers": "config.toml:2: project.texts must be a list of paths, and 1 is not one",
    "check --config dated": 'config.toml:2: page.columns must be a whole number, not "1979-05-27"',
    "check --config zero": 'config.toml:2: project.texts: "a\\u0000.txt" has a NUL character: delete it',
    "check --config tables": "config.toml:1: project must be a section: write [project]",
    "check --config memory": "config.toml:5: store.url: sqlite:///:memory: is lost when the command ends",
    "check text.txt --store sqlite:///": "store.url: sqlite:/// is lost when the command ends: name a file",
    f"check {'x' * 300}": "has a name of more than 255 bytes",
    "check latin/*.txt": "is not UTF-8: rename the file or folder",
    "init latin": "is not UTF-8: rename the file or folder",
    "check utf32.txt": "utf32.txt: not UTF-8; it looks like UTF-32-LE: convert it to UTF-8",
    "check surrogate.txt": "surrogate.txt:3: byte 0xED is damaged, the rest is UTF-8: correct or delete",
    "check deep.xml": "deep.xml:1: more than 200 elements are nested",
    "check entity.xml": "entity.xml:1: declares an entity (a): write it out and delete it",
    "check packed.txt.gz": "packed.txt.gz: is compressed (gzip): unpack it first",
    "check text.txt --cluster http://127.0.0.1:80": "http://127.0.0.1:80: is not the address of a scheduler (unknown",
    "cluster --join nowhere": "nowhere: is not the address of a scheduler (missing port number",
    "cluster --memory lots": "--memory lots: a worker needs at least 300MB; write it like 4GB",
    "cluster --memory 4": "--memory 4: a worker needs at least 300MB; write it like 4GB",
    "serve --port 22x": "'22x' is not a valid integer range",
    "serve --host 0.0.0.0 --config good": "there is no store, so nothing was checked here yet",
    "carry circle.txt text.txt": "circle.txt",
    "serve --config text.txt": "text.txt:1: is not valid TOML: Invalid statement; name a config.toml, or its folder",
    "serve --config full": "full/config.toml: there is no such file",
    "export full --form tei": "full: is a folder: name one transcription file in it",
    "export good/text.txt --form iiif": "nothing was decided yet: there is no store at",
    "check words.txt --images full": "words.txt: its format is not recognised, and it is not Chinese text",
    "check text.txt --images full --second nothing": "engine.second must be none or ppocr or paddleocr or readings",
    "pair --config good": "no folder of page images was named: set project.images in",
    "pair 1a=none.png --texts text.txt --images full": "no page is called 1a: give its id or its half-folio",
    "pair 001-1a=png.png --images . --texts text.txt --imglist words.txt": "words.txt is not an image list",
    "collate full text.txt": "full: is a folder without texts (",
    "convert text.txt --to mirror --imglist none": "none: there is no such image list, file or folder",
    "render empty.txt --out r": "empty.txt: the file is empty: give a transcription with page marks",
    "recover --journal none.jsonl --config good": "'none.jsonl' does not exist",
    "fetch file:///etc/hosts --to x": "file:///etc/hosts: is not a web address: it must begin with http:// or https://",
    "fetch full --to x": "full/imginfo.cfg: cannot be read (No such file or directory); it says where the images are",
    "init new --texts full": "full: a folder; name its files, such as",
    "user disable 甲 --config good": "there is no account 甲; `proof user list` names them",
    "check --config good --store nonsense": "store 'nonsense' is no database address; write it like sqlite:///folder/proof.sqlite",
    "convert text.txt --to plain --out pipe": "pipe: is a device or a pipe, which a file cannot replace",
}

UNUSABLE = {
    "layout none.png --out o": "none.png: there is no such file",
    "layout png.png --out o": "png.png: is not an image of a known kind; convert it to PNG",
    "layout cut.png --out o": "cut.png: is cut short or damaged: its header cannot be read; fetch or export the file",
    "layout full --out o": "full: is a folder: name its files, such as full/*.png",
    "check text.txt --images full": "full contains no image (PNG, JPEG,",
    "check text.txt --images photos": "photos/\\udce9.png: cannot be read (rename it in UTF-8)",
    "check text.txt --imglist words.txt": "words.txt: no line understood: a line of an image list has",
}
"""Mistakes in one of the things that are named: the others are done, and the command ends with 1."""


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """All commands, in English: click asks for some of its words when a command is defined, and only then."""
    for name in COMMANDS:
        import_module(f"proof.commands.{name}")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "circle.txt").symlink_to("circle.txt")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        *((line, 2, message) for line, message in MISTAKES.items()),
        *((line, 1, message) for line, message in UNUSABLE.items()),
    ],
)
def test_a_mistake_is_told_with_what_to_do(
    line: str, status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == status
    stderr = capsys.readouterr().err
    assert message in stderr
    assert "Traceback" not in stderr


ENGLISH = re.compile(r"[a-z]{2,}(?: [a-z]{2,}){3,}")
"""Four English words or more: what a message in Chinese has none of, beside what libraries say in brackets."""


@pytest.mark.parametrize("line", cross_section([*MISTAKES, *UNUSABLE], 38))
def test_a_mistake_is_told_in_chinese(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    assert main(line.split()) in (1, 2)
    output = re.sub(r"（.*?）|`.*?`", "", capsys.readouterr().err)
    assert re.search(r"[\u4e00-\u9fff]", output)
    assert not ENGLISH.search(output)
