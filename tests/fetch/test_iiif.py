"""A manifest says which images a book has; what libraries publish keeps to the specifications loosely."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import SourceError
from proof.fetch.iiif import Collection, Manifest, parse
from proof.locale.notices import in_english
from tests.fetch.manifests import COOKBOOK, JSON, Json, book_2, book_3, canvas_3, data, image_3, manifest_3

WHERE = "https://example.org/manifest.json"
P1 = f"{COOKBOOK}/p1/full"
FILE = "https://example.org/p.png"
CANVAS = "https://example.org/canvas/p1"
STANFORD = "http://library.stanford.edu/iiif/image-api"
SIZES = [{"width": 1602, "height": 2307}, {"width": 801, "height": 1153}, {"width": 3204, "height": 4613}]


def manifest(value: Json) -> Manifest:
    shown = parse(data(value), WHERE)
    assert isinstance(shown, Manifest)
    return shown


def addresses(value: Json, width: int | None = None) -> list[str]:
    return [canvas.pictures[0].at(width) for canvas in manifest(value).canvases if canvas.pictures]


def only(body: Any, width: int | None = None) -> str:
    """The address of the one image whose annotation has this body."""
    (address,) = addresses(manifest_3(canvas_3(1, None, body)), width)
    return address


def test_presentation_2_is_read() -> None:
    shown = manifest(book_2(labels=["卷十 一葉上", "卷十 一葉下"]))
    assert (shown.address, shown.label) == ("http://example.org/iiif/book1/manifest", "Book 1")
    assert [(canvas.number, canvas.label) for canvas in shown.canvases] == [(1, "卷十 一葉上"), (2, "卷十 一葉下")]
    assert shown.rights == ("Provided by Example Organization", "http://example.org/license.html")
    assert addresses(book_2()) == [
        "http://example.org/images/book1-page1/full/full/0/default.jpg",
        "http://example.org/images/book1-page2/full/full/0/default.jpg",
    ]
    assert addresses(book_2(), 1200)[0].endswith("page1/full/1200,/0/default.jpg")
    assert addresses(book_2(), 1500)[0].endswith("page1/full/full/0/default.jpg")


def test_presentation_3_is_read() -> None:
    shown = manifest(book_3(["010-1a", "010-1b"]))
    assert shown.label == "儀禮集釋"
    assert [canvas.label for canvas in shown.canvases] == ["010-1a", "010-1b"]
    assert shown.rights == ("Provided by Example Library", "http://creativecommons.org/licenses/by/4.0/")
    assert addresses(book_3(["010-1a"])) == [f"{P1}/max/0/default.jpg"]


@pytest.mark.parametrize(
    ("width", "plain", "level_0"),
    [
        (None, "max", "max"),
        (500, "500,", "801,1153"),
        (1000, "1000,", "1602,2307"),
        (2000, "2000,", "max"),
        (9000, "max", "max"),
    ],
)
def test_an_image_is_never_enlarged_and_of_level_0_has_listed_sizes(
    width: int | None, plain: str, level_0: str
) -> None:
    assert only(image_3("p1"), width) == f"{P1}/{plain}/0/default.jpg"
    assert only(image_3("p1", profile="level0", sizes=SIZES), width) == f"{P1}/{level_0}/0/default.jpg"


@pytest.mark.parametrize(
    ("service", "ends"),
    [
        ({"@type": "ImageService2", "profile": "level2"}, "full/full/0/default.jpg"),
        (
            {"profile": ["http://iiif.io/api/image/2/level2.json", {"formats": ["png"]}]},
            "full/full/0/default.jpg",
        ),
        ({"profile": ["http://iiif.io/api/image/2/level2.json", {"maxWidth": 4000}]}, "full/max/0/default.jpg"),
        ({"@context": "http://iiif.io/api/image/2/context.json"}, "full/full/0/default.jpg"),
        ({"profile": f"{STANFORD}/1.1/compliance.html#level1"}, "full/full/0/native.jpg"),
        ({"profile": f"{STANFORD}/compliance.html#level1"}, "full/full/0/native.jpg"),
        ({}, "full/full/0/default.jpg"),
        ({"@id": None, "id": "https://example.org/i/", "profile": "level2"}, "full/max/0/default.jpg"),
        (
            {"@id": None, "id": "https://example.org/i", "type": "ImageService3", "profile": "level2"},
            "full/max/0/default.jpg",
        ),
    ],
)
def test_every_version_of_the_image_api_has_its_own_words(service: Json, ends: str) -> None:
    named = {key: value for key, value in ({"@id": "https://example.org/i"} | service).items() if value is not None}
    for services in (named, [named]):
        assert only({"id": FILE, "type": "Image", "service": services}) == f"https://example.org/i/{ends}"


@pytest.mark.parametrize(
    ("body", "address"),
    [
        ({"id": FILE, "type": "Image", "format": "image/png"}, FILE),
        (
            {
                "id": FILE,
                "type": "Image",
                "service": {
                    "@context": "http://iiif.io/api/search/1/context.json",
                    "@id": "https://example.org/search",
                },
            },
            FILE,
        ),
        ({"type": "Choice", "items": [image_3("p1"), image_3("x-ray")]}, f"{P1}/max/0/default.jpg"),
        (
            {"type": "SpecificResource", "source": image_3("p1"), "selector": {"type": "ImageApiSelector"}},
            f"{P1}/max/0/default.jpg",
        ),
        (
            image_3("p1")
            | {
                "service": [
                    {"@id": "https://example.org/2", "@type": "ImageService2", "profile": "level2"},
                    {"id": "https://example.org/3", "type": "ImageService3", "profile": "level2"},
                ]
            },
            "https://example.org/3/full/max/0/default.jpg",
        ),
    ],
    ids=["a file", "a service for something else", "a choice", "a part of an image", "two services"],
)
def test_the_image_is_the_file_the_first_choice_or_that_of_the_newest_service(body: Json, address: str) -> None:
    assert only(body) == address


def test_a_canvas_without_an_image_keeps_its_number_and_is_told() -> None:
    text = canvas_3(2, {"none": ["cover"]}, {"type": "TextualBody", "value": "no image"})
    deep: Any = image_3("p4")
    for _ in range(100):
        deep = [deep]
    first, third, fourth = canvas_3(1, None, image_3("p1")), canvas_3(3, None, FILE), canvas_3(4, None, deep)
    shown = manifest(manifest_3(first, text, third, fourth))
    assert [canvas.number for canvas in shown.canvases if canvas.pictures] == [1, 3]
    assert list(map(in_english, shown.notices)) == ["canvas 2 (cover) shows no image", "canvas 4 shows no image"]


def put_together(*painted: tuple[str, Any]) -> Json:
    """A canvas of 3204 x 4613 on which images are painted, each on its target."""
    canvas = canvas_3(1, None, image_3("none"))
    note = canvas["items"][0]["items"][0]
    canvas["items"][0]["items"] = [note | {"body": image_3(name), "target": target} for name, target in painted]
    return manifest_3(canvas)


def selected(value: str) -> Json:
    selector = {"type": "FragmentSelector", "conformsTo": "http://www.w3.org/TR/media-frags/", "value": value}
    return {"type": "SpecificResource", "source": CANVAS, "selector": selector}


@pytest.mark.parametrize(
    "painted",
    [
        [("detail", f"{CANVAS}#xywh=0,0,900,900"), ("page", CANVAS)],
        [("page", CANVAS), ("detail", f"{CANVAS}#xywh=2000,100,900,900")],
        [("page", f"{CANVAS}#xywh=20,20,3160,4570"), ("detail", selected("xywh=percent:50,50,25.5,25"))],
        [("detail", selected("xywh=pixel:10,10,500,500")), ("page", {"id": CANVAS, "type": "Canvas"})],
        [("page", f"{CANVAS}#xywh=800,1000,1600,2300")],
    ],
)
def test_the_only_image_or_the_one_that_covers_the_canvas_is_the_page(painted: list[tuple[str, Any]]) -> None:
    shown = manifest(put_together(*painted))
    picture = shown.canvases[0].picture
    assert picture is not None
    assert "/page/" in picture.at()
    messages = ["canvas 1 shows 2 images; the one that covers it is taken"] if len(painted) > 1 else []
    assert list(map(in_english, shown.notices)) == messages


@pytest.mark.parametrize(
    ("label", "read"),
    [
        ("一葉上", "一葉上"),
        (" 一葉\n上 ", "一葉 上"),
        (["一葉上", "f. 1r"], "一葉上 f. 1r"),
        ({"@value": "一葉上", "@language": "zh"}, "一葉上"),
        ([{"@value": "f. 1r", "@language": "en"}, {"@value": "一葉上", "@language": "zh"}], "一葉上"),
        ({"en": ["f. 1r"], "zh": ["一葉上"]}, "一葉上"),
        ({"none": ["1a"]}, "1a"),
        ({"fr": ["1r"]}, "1r"),
        ({"none": "1a"}, "1a"),
        ({}, ""),
        (None, ""),
        (7, ""),
        ({"en": {"deep": ["x"]}}, ""),
        ("\ud800", "?"),  # half of a surrogate pair, which no file and no terminal takes
    ],
)
def test_a_label_is_read_however_it_is_given(label: Any, read: str) -> None:
    value = data(manifest_3(canvas_3(1, label, image_3("p1")))).replace(
        "\ud800".encode("utf-8", "surrogatepass"), rb"\ud800"
    )
    shown = parse(value, WHERE)
    assert isinstance(shown, Manifest)
    assert shown.canvases[0].label == read


def test_a_collection_names_its_manifests() -> None:
    items = [
        {"id": "https://example.org/1", "type": "Manifest", "label": {"none": ["經部"]}},
        {"id": "https://example.org/2", "type": "Collection", "label": {"none": ["史部"]}},
    ]
    shown = parse(data({"id": "https://example.org/collection", "type": "Collection", "items": items}), WHERE)
    assert isinstance(shown, Collection)
    assert [(m.address, m.label, m.is_collection) for m in shown.members] == [
        ("https://example.org/1", "經部", False),
        ("https://example.org/2", "史部", True),
    ]


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"", "not JSON"),
        (b'{\n"type": "Manifest",\n}', r"manifest\.json:3: is not a IIIF manifest: it is not JSON"),
        (b"<!DOCTYPE html><html>", "web page; name the address of the manifest itself"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"[]", "expected a JSON object"),
        (b"{}", "without a type: expected `sequences`"),
        (b'{"type": "Canvas", "items": []}', "but a canvas"),
        (b'{"type": "Manifest", "items": []}', "shows no image: none of its 0 canvases"),
        (b'{"@type": "sc:Manifest", "sequences": [{"canvases": [{}]}]}', "none of its 1 canvases has one in sequences"),
        (b"[" * 100_000, "cannot be read"),
        (b'{"type": "Manifest", "items": ' + b"9" * 5000 + b"}", "cannot be read"),
    ],
)
def test_what_is_no_manifest_is_told_from_one(sent: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message) as refused:
        parse(sent, WHERE)
    assert WHERE in str(refused.value)


@given(st.binary() | JSON.map(data))
def test_any_bytes_are_read_or_refused(sent: bytes) -> None:
    """What is a manifest, but for damage, goes through `test_published`."""
    with pytest.raises(SourceError, match="IIIF manifest"):
        parse(sent, WHERE)
