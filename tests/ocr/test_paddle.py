"""The paddleocr engine reads real columns and real pages with its packaged models, and no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from proof.errors import EngineError
from proof.ocr.engine import Pixels
from proof.ocr.models import ModelTask, model_folder, packaged_model
from proof.ocr.paddle import PaddlePages, PaddleRecogniser, cut, spaced
from proof.ocr.ppocr import PPOCR
from tests.conftest import PATIENCE, ReadPage

pytestmark = pytest.mark.engine

Place = tuple[int, int, int, int]

COLUMNS: dict[Place, str] = {
    (891, 157, 97, 570): "欽定四庫全書簡明目錄",
    (788, 157, 97, 140): "聖諭",
    (685, 260, 100, 1140): "乾隆三十九年七月二十五日大學士于敏中等",
    (579, 260, 97, 70): "奉",
    (479, 157, 97, 1230): "諭旨四庫全書處總目於經史子集內分晰應刻應抄",
    (380, 215, 97, 1170): "及應存書名三項各條下俱經撰有提要將一書原",
    (172, 215, 92, 1170): "較之崇文總目蒐羅既廣體例加詳自應如此辦理",
}
"""Columns of the first half-folio of JMML: x, y, width and height in pixels, and what stands in them."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def engine(cache: Path) -> PaddleRecogniser:
    return PaddleRecogniser(threads=2, cache=cache)


@pytest.fixture(scope="module")
def pages(cache: Path, engine: PaddleRecogniser) -> PaddlePages:
    return PaddlePages(engine, threads=2, cache=cache)


@pytest.fixture(scope="module")
def strips(shared: Path) -> dict[Place, Pixels]:
    page = grey(shared / "facsimile/JMML/images/JMML_000-1a.png")
    return {(x, y, w, h): page[y : y + h, x : x + w] for x, y, w, h in COLUMNS}


def grey(path: Path) -> Pixels:
    with Image.open(path) as image:
        return np.asarray(image.convert("L"))


def test_columns_of_a_real_page_are_read(engine: PaddleRecogniser, strips: dict[Place, Pixels]) -> None:
    readings = engine.read(list(strips.values()))
    assert [reading.text for reading in readings] == list(COLUMNS.values())
    for reading in readings:
        assert reading.posterior is None
        (score,) = {character.probability for character in reading.characters}
        assert 0.9 < score <= 1
        assert all(character.alternatives == ((character.text, score),) for character in reading.characters)


def test_it_is_the_very_model_of_the_default_engine(engine: PaddleRecogniser, ppocr: PPOCR) -> None:
    assert engine.identity.name == "paddleocr"
    assert (engine.identity.model, engine.identity.checksum) == (ppocr.identity.model, ppocr.identity.checksum)
    assert engine.identity.version.startswith("paddleocr 3.7.")
    characters = [engine.character_of(number) for number in range(18_710)]
    assert characters == [ppocr.character_of(number) for number in range(18_710)]
    assert all(engine.class_of(character) == ppocr.class_of(character) for character in characters if character)
    differing = [text for text in characters if engine.knows(text) != ppocr.knows(text)]
    assert len(differing) < 20, "they look at the same blots, turned and scaled alike but for rounding"
    assert (engine.knows("天"), engine.knows("葢"), engine.knows("🛁")) == (True, False, False)


def test_a_strip_without_text_or_pixels_reads_as_nothing(engine: PaddleRecogniser) -> None:
    for shape in ((300, 60), (0, 60), (300, 0), (1, 1), (5000, 2), (2, 500)):
        (reading,) = engine.read([np.full(shape, 255, np.uint8)])
        assert reading.text == "", shape


def test_a_model_folder_or_a_file_of_the_users_own_is_read_with(
    tmp_path: Path, cache: Path, strips: dict[Place, Pixels]
) -> None:
    made = model_folder(packaged_model(ModelTask.RECOGNITION), ModelTask.RECOGNITION, cache)
    folder, file = tmp_path / "my model", tmp_path / "my own.onnx"
    shutil.copytree(made.path, folder)
    shutil.copyfile(packaged_model(ModelTask.RECOGNITION), file)
    short = (788, 157, 97, 140)
    for path, title in ((folder, "PP-OCRv6_small_rec"), (file, "my own")):
        engine = PaddleRecogniser(str(path), cache=cache)
        assert engine.read([strips[short]])[0].text == COLUMNS[short]
        assert engine.identity.model == title


def test_a_model_that_cannot_be_used_is_named_with_what_to_do(tmp_path: Path, cache: Path) -> None:
    made = model_folder(packaged_model(ModelTask.RECOGNITION), ModelTask.RECOGNITION, cache)
    broken, foreign, unknown = tmp_path / "broken", tmp_path / "foreign", tmp_path / "unknown"
    for folder in (broken, foreign, unknown):
        shutil.copytree(made.path, folder)
    (broken / "inference.onnx").write_bytes(b"no model")
    settings = (made.path / "inference.yml").read_text(encoding="utf-8")
    (foreign / "inference.yml").write_text(settings.replace("  - 天\n", ""), encoding="utf-8")
    (unknown / "inference.yml").write_text(settings.replace("PP-OCRv6_small_rec", "somebodys_rec"), encoding="utf-8")
    cases = {
        str(broken): "could not be loaded",
        str(foreign): "18710 classes, its dictionary 18707 characters",
        str(unknown): "somebodys_rec",
        str(tmp_path / "missing"): "no such model",
        "no-such-model": "check its name and the network",
    }
    for model, expected in cases.items():
        with pytest.raises(EngineError) as raised:
            PaddleRecogniser(model, cache=cache).read([np.full((60, 60), 255, np.uint8)])
        assert model in str(raised.value)
        assert expected in str(raised.value)


OFFLINE = """
import sys
from pathlib import Path
import numpy as np
from PIL import Image

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise SystemExit(f"the network was asked for: {event} {arguments}")

sys.addaudithook(refuse)
from proof.ocr.paddle import PaddlePages, PaddleRecogniser

engine = PaddleRecogniser()
page = np.asarray(Image.open(sys.argv[1]).convert("L"))
print(engine.read([page[157:297, 788:885]])[0].text, engine.identity.model)
print(len(PaddlePages(engine).read_page(page[150:750, 570:1000]).lines))
"""


def test_it_works_without_network_says_nothing_and_leaves_no_trace_but_its_cache(tmp_path: Path, shared: Path) -> None:
    image = shared / "facsimile/JMML/images/JMML_000-1a.png"
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("PADDLE", "ORT_", "XDG_"))}
    done = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-c", OFFLINE, str(image)],
        env=ours | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["聖諭", "PP-OCRv6_rec_small", "4"]
    assert {path.name for path in tmp_path.iterdir()} == {".cache"}
    assert {path.name for path in (tmp_path / ".cache").iterdir()} == {"proof"}


ANCHORS = {
    "canon-two-registers.jpg": (
        "於善惡人皆擁護 是故我以至誠心 爾時婆羅門復以呪讚 敬禮敬禮世間尊於諸母中 種種妙德以嚴身 "
        "猶如師子獸中上常以八臂自莊嚴 若有衆生心願求善士隨念令圓滿 帝釋諸天咸供養皆共稱讚可歸依 "
        "衆德能生不思議 晨朝清淨至誠誦 金光明最勝王經卷第七 音釋"
    ),
    "tables-seal.png": "庫全書 七政推步卷 貝琳編 日五星中行總年立成 日中行度 六百年 六百三十年 七政推步",
}
"""What is surely read on each page, in the order in which it must come."""


@pytest.mark.parametrize("image", ANCHORS)
def test_pages_that_are_not_ruled_columns_are_read_in_order(read_page: ReadPage, shared: Path, image: str) -> None:
    height, width = grey(shared / "facsimile/other" / image).shape
    _, reading = read_page(image)
    rest = reading.text
    for text in ANCHORS[image].split():
        _, found, rest = rest.partition(text)
        assert found, f"{text} does not follow what is read before it"
    for each in reading.lines:
        assert 0 < each.score <= 1
        assert each.box.w * each.box.h > 0
        for character in each.characters:
            x, y = each.character_box(character).centre
            assert (-10 < x < width + 10, -10 < y < height + 10) == (True, True)


def test_a_page_is_read_by_detector_and_recogniser_and_one_without_text_has_no_lines(
    pages: PaddlePages, engine: PaddleRecogniser
) -> None:
    assert pages.read_page(np.full((400, 300), 255, np.uint8)).lines == ()
    assert pages.read_page(np.zeros((0, 300), np.uint8)).lines == ()
    assert pages.identity.model == "PP-OCRv6_det_small + PP-OCRv6_rec_small"
    assert pages.identity.checksum != engine.identity.checksum


def test_a_slanting_outline_is_cut_upright() -> None:
    page = np.zeros((200, 200), np.uint8)
    page[:, 100:] = 255
    piece = cut(page, ((120.0, 20.0), (180.0, 40.0), (150.0, 140.0), (90.0, 120.0)))
    assert piece.shape == (104, 63)
    assert (piece[:5, 5:] == 255).all(), "its top edge lies wholly on white"
    assert (piece[-1, :5] == 0).all(), "its lower left corner lies on black"


@given(st.text(min_size=1, max_size=20), st.data())
def test_characters_lie_in_order_along_the_strip_each_around_its_place(text: str, data: st.DataObject) -> None:
    distinct = st.lists(st.integers(0, 200), min_size=len(text), max_size=len(text), unique=True)
    places = [(step + 0.5) / 201 for step in sorted(data.draw(distinct))]
    read = spaced(text, places, 0.5)

    kept = [place for character, place in zip(text, places, strict=True) if not character.isspace()]
    assert "".join(each.text for each in read) == "".join(text.split())
    assert all(each.start < place < each.end for each, place in zip(read, kept, strict=True))
    assert all(character.end == other.start for character, other in pairwise(read))
    assert all(0 <= each.start < each.end <= 1 for each in read)


def test_characters_of_which_no_place_is_known_are_spaced_evenly() -> None:
    read = spaced("天地玄黃", [], 0.5)
    assert [(each.start, each.end) for each in read] == [(0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1)]
    assert spaced("", [], 0.5) == ()
