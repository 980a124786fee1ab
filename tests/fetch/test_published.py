"""A manifest from a server becomes images with names in a folder, and is itself kept beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import SourceError
from proof.fetch.client import Client
from proof.fetch.fetch import Fetcher
from proof.fetch.model import ImageSource, WantedImage
from proof.fetch.published import ManifestReader
from proof.fetch.ssrf import path_inside
from proof.images.formats import SUFFIXES
from proof.locale.notices import in_english
from tests.fetch.manifests import Json, book_2, book_3, damaged, data, image_3
from tests.fetch.museum import Museum, etag_of, page

PATH = "/manifest.json"
OUTWARD = ["../../etc", "/etc/passwd", "..", "a\\..\\b", "\u202e", "C:", "CON", "葉" * 500, " "]
Names = Callable[..., list[str]]


def read(client: Client, folder: Path, where: str | Path, members: bool = False, **options: Any) -> ImageSource:
    return ManifestReader(folder, client, **options).images(where, members=members)


@pytest.fixture
def names(museum: Museum, client: Client, tmp_path: Path) -> Names:
    """The names that images of a manifest are given."""

    def call(value: Json, path: str = PATH, **options: Any) -> list[str]:
        museum.files[path] = data(value)
        return [wanted.name for wanted in read(client, tmp_path, museum.url(path), **options).images]

    return call


def test_images_are_numbered_or_named_by_labels_that_pages_are_found_by(names: Names) -> None:
    assert names(book_2()) == ["Book_1/0001.jpg", "Book_1/0002.jpg"]
    labels = ["cover", "WYG0103-0192c", "卷十 第一葉下", "KR1d0030_WYG_010-2a", "1a"]
    stems = ["0001", "WYG0103-0192c", "010-1b", "KR1d0030_WYG_010-2a", "0005"]
    assert names(book_3(labels), "/3") == [f"儀禮集釋/{stem}.jpg" for stem in stems]


@pytest.mark.parametrize("label", OUTWARD)
def test_no_label_leads_out_of_the_folder(museum: Museum, client: Client, tmp_path: Path, label: str) -> None:
    museum.files[PATH] = data(book_3([label], museum.url("/i")) | {"label": {"none": [label]}})
    museum.files["/i/p1/full/max/0/default.jpg"] = page(form="JPEG")
    folder = tmp_path / "images"
    folder.mkdir()
    assert Fetcher(folder, client).fetch(read(client, folder, museum.url(PATH)).images).complete
    (image,) = tmp_path.rglob("*.jpg")
    assert image.resolve().is_relative_to(folder)
    assert list(tmp_path.iterdir()) == [folder]


def test_a_manifest_is_kept_and_asked_for_again_on_refresh(museum: Museum, names: Names, tmp_path: Path) -> None:
    first = names(book_2())
    assert names(book_2()) == first
    assert museum.paths() == [PATH]
    assert (tmp_path / "Book_1" / "manifest.json").read_bytes() == data(book_2())
    assert names(book_2(), refresh=True) == first
    assert museum.asked[-1][1]["if-none-match"] == etag_of(data(book_2()))
    longer = book_2(labels=["p. 1", "p. 2", "p. 3"])
    assert [len(names(longer, refresh=refresh)) for refresh in (False, True, False)] == [2, 3, 3]


def test_each_manifest_has_a_folder_of_its_own_by_its_title_or_address(museum: Museum, names: Names) -> None:
    folders = [names(book_3(["x"]) | {"id": museum.url(f"/{n}/manifest")}, f"/{n}/manifest")[0] for n in (1, 2, 2, 1)]
    assert folders == [f"{name}/0001.jpg" for name in ("儀禮集釋", "儀禮集釋-2", "儀禮集釋-2", "儀禮集釋")]
    untitled = names(book_3(["x"]) | {"label": None}, "/iiif/bpt6k1526005v/manifest.json")
    assert untitled == ["bpt6k1526005v/0001.jpg"]


def test_a_collection_is_refused_unless_all_of_it_is_meant(museum: Museum, client: Client, tmp_path: Path) -> None:
    for name in ("a", "b"):
        museum.files[f"/{name}"] = data(book_3(["x", "y"]) | {"label": {"none": [name]}})
    members = [{"id": museum.url(f"/{name}"), "type": "Manifest", "label": {"none": [f"卷 {name}"]}} for name in "abc"]
    part = {"id": museum.url("/part"), "type": "Collection", "label": {"none": ["史部"]}}
    museum.files["/all"] = data({"id": museum.url("/all"), "type": "Collection", "items": [*members, part]})
    with pytest.raises(SourceError, match=r"is a IIIF collection of 4; .* with --all") as refused:
        read(client, tmp_path, museum.url("/all"))
    assert all(f"{museum.url(f'/{name}')}  卷 {name}" in str(refused.value) for name in "abc")
    source = read(client, tmp_path, museum.url("/all"), members=True)
    files = ["a/0001.jpg", "a/0002.jpg", "b/0001.jpg", "b/0002.jpg"]
    assert [(wanted.number, wanted.name) for wanted in source.images] == list(enumerate(files, start=1))
    assert "/c: the server answers 404 Not Found" in source.failures[0]
    assert "/part: a collection within the collection" in in_english(source.notices[0])


@pytest.fixture(scope="module")
def idle() -> Iterator[Client]:
    with Client() as client:
        yield client


@given(damaged(), st.none() | st.integers(1, 5000))
def test_a_damaged_manifest_gives_names_inside_the_folder_or_is_refused(
    idle: Client, tmp_path_factory: pytest.TempPathFactory, value: object, width: int | None
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "damaged.json").write_bytes(data(value))
    images: tuple[WantedImage, ...] = ()
    refused = ""
    try:
        images = read(idle, folder / "images", folder / "damaged.json", width=width, keep=False).images
    except SourceError as error:
        refused = str(error)
    assert bool(images) != bool(refused)
    names = [wanted.name.casefold() for wanted in images]
    assert len(set(names)) == len(names)
    for wanted in images:
        assert path_inside(folder, wanted.name).suffix in SUFFIXES
        wanted.label.encode()


def test_a_page_put_together_from_images_costs_itself_alone(museum: Museum, client: Client, tmp_path: Path) -> None:
    """Of the second canvas the page and a detail over it, of the third its two halves."""
    book = book_3(["010-1a", "010-1b", "010-2a"], museum.url("/i"))
    for canvas, where in ((book["items"][1], "0,0,300,300"), (book["items"][2], "0,0,1602,4613")):
        notes = canvas["items"][0]["items"]
        target = f"{canvas['id']}#xywh={where}"
        notes.insert(0, notes[0] | {"body": image_3("other", museum.url("/i")), "target": target})
    book["items"][2]["items"][0]["items"][1]["target"] += "#xywh=1602,0,1602,4613"
    museum.files[PATH] = data(book)
    source = read(client, tmp_path, museum.url(PATH))
    assert [(wanted.name, wanted.address.rpartition("/i")[2]) for wanted in source.images] == [
        ("儀禮集釋/010-1a.jpg", "/p1/full/max/0/default.jpg"),
        ("儀禮集釋/010-1b.jpg", "/p2/full/max/0/default.jpg"),
    ]
    assert list(map(in_english, source.notices)) == [
        "canvas 2 (010-1b) shows 2 images; the one that covers it is taken"
    ]
    (failure,) = source.failures
    assert failure.startswith("canvas 3 (010-2a) is put together from 2 images, and none of them covers it")
