"""The flags show in Mirador: the manifest as other people will open it, in the program that they will open it with."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Route, expect

from proof.exports.iiif import Addressed, manifest
from proof.model.result import PageResult

BASE = "http://manifest.test"
PAGE = """<!doctype html><meta charset="utf-8"><div id="m"></div><script src="mirador.min.js"></script><script>
Mirador.viewer({id: "m", windows: [{manifestId: "BASE/manifest.json", sideBarOpen: true}]});</script>"""


@pytest.fixture(scope="session")
def mirador() -> Path:
    """Mirador's script, `dist/mirador.min.js` of its package."""
    named = os.environ.get("MIRADOR", "")
    if not named:
        pytest.skip("Mirador is no Python package: `make test-consumers` fetches it and runs this")
    return Path(named)


def test_mirador_lists_the_flags_of_a_page(
    mirador: Path, browser: Browser, checked: PageResult, tmp_path: Path
) -> None:
    iiif = manifest(Addressed(BASE, "KR1_010", [checked]), "儀禮集釋")
    painted = iiif["items"][0]["items"][0]["items"][0]["body"]
    image = tmp_path / "page.png"
    Image.new("L", checked.image_size, 255).save(image)
    contents = {
        f"{BASE}/": (PAGE.replace("BASE", BASE).encode(), "text/html"),
        f"{BASE}/manifest.json": (json.dumps(iiif).encode(), "application/json"),
        f"{BASE}/mirador.min.js": (mirador.read_bytes(), "text/javascript"),
        painted["id"]: (image.read_bytes(), painted["format"]),
    }
    missing = []

    def answer(route: Route) -> None:
        content = contents.get(route.request.url)
        if content is None:
            missing.append(route.request.url)
            route.abort()
        else:
            route.fulfill(body=content[0], content_type=content[1])

    page = browser.new_page(viewport={"width": 1300, "height": 800}, locale="en")
    page.route("**/*", answer)
    page.goto(f"{BASE}/")
    page.get_by_role("tab", name="Annotations").click()
    expect(page.get_by_text("Showing 2 annotations")).to_be_visible()
    expect(page.get_by_text("substitution: 北 → 比")).to_be_visible()
    assert [url for url in missing if "favicon" not in url] == []
