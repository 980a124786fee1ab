"""Whatever a key does, a button does: the keys that each view lists, and the button of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from proof.store import Store
from tests.web.drawn import WORK, fill, settings_in
from tests.web.served import serving

AT = f"/works/{WORK}"
UNDO = {"Z": "header [data-undo=undo]", "Y": "header [data-undo=redo]"}
ALL = {"/": "#find-open", "?": "#help-open", "Esc": "#help-open >> #help form button"}
CELL = ".cell:nth-child(4) >> "
KEYS = {
    f"{AT}/": UNDO | ALL | {"Enter": "#start", "J": "#rows a", "K": "#rows a"},
    f"{AT}/desk": ALL
    | {"K": ".tile[data-act=keep]", "T": ".tile[data-act=take]", "Enter": ".tile[data-act=take]"}
    | {"1": "#alternatives button", "9": "#alternatives button"}
    | {"E": "#type", "D": "#delete", "C": "#copy", "R": "#retain", "U": "#unsure", "S": "#skip"}
    | {"Z": "#undo", "Y": "#redo"}
    | {"←": "[data-act=back]", "→": "[data-act=ahead]", "G": "[data-act=beside]", "O": "[data-act=outline]"}
    | {"P": "button[data-act=page]", "N": "[data-act=comment]", "W": "[data-act=whole]", "A": "[data-act=rests]"},
    f"{AT}/pages/1": UNDO
    | ALL
    | {"B": "#boxes", "+": "[data-zoom='+']", "−": "[data-zoom='-']", "0": "[data-zoom='0']"}
    | {"←": "#next", "→": "#next", "PgDn": "#next", "PgUp": "#next", "↓": ".cell", "↑": ".cell"}
    | {"Space": "#layout-open", "Enter": f"{CELL}#correct button[value=set]", "M": f"{CELL}#correct-doubt"}
    | {"D": f"{CELL}#correct-delete", "Delete": f"{CELL}#correct-delete"}
    | {"P": "#to-desk", "N": "#comments-open", "R": "#state", "V": "#to-validate", "E": "#column-open"},
    f"{AT}/pairs?text=告&image=吿": UNDO
    | ALL
    | {"J": "#pairlist button", "N": "#pairlist button", "Space": "#grid .glyph"}
    | {"T": "[data-act=take]", "K": "[data-act=keep]", "C": "[data-act=copy]", "V": "[data-act=rule]"},
    f"{AT}/glyphs?text=告&against=吿": UNDO
    | ALL
    | dict.fromkeys("←→↑↓", "#grid .glyph")
    | {"Space": "#grid .glyph", "E": "[data-act=type]", "T": "[data-act=take]", "D": "[data-act=delete]"}
    | {"P": "[data-act=page]"},
    f"{AT}/history": UNDO | ALL,
    f"{AT}/progress": UNDO | ALL,
}
"""By view, the keys of its help sheet and where the button of each is; before `>>` is what is pressed to see it."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("keys")
    with Store.open(settings_in(folder).store_address) as store:
        fill(store, folder)
    with serving(folder) as address:
        yield address


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Iterator[Page]:
    """On a telephone, which has the least room."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, locale="en", base_url=address)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("view", list(KEYS))
def test_every_key_of_the_help_has_a_button(page: Page, view: str) -> None:
    page.goto(view)
    page.wait_for_load_state("networkidle")
    listed = {key.strip() for key in page.locator("#help dt kbd").all_text_contents()}
    assert listed == set(KEYS[view])
    if "/glyphs" in view:
        page.locator("#grid .glyph").first.click()
    for key, way in KEYS[view].items():
        *before, button = way.split(" >> ")
        for act in before:
            page.locator(act).first.click()
        expect(page.locator(button).first, f"{view}: {key}").to_be_visible()
        if before:
            page.keyboard.press("Escape")
