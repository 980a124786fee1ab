"""The way through a work by keys: from any page to any other, from a flag to its page and back, along the columns."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from proof.settings.config import Settings
from proof.store import Store
from proof.store.decision_records import Verdict
from tests.build import decision_log
from tests.web.drawn import WORK
from tests.web.waiting import open_desk, passed, press, saved, shown

AT = f"/works/{WORK}"


def test_seven_keys_lead_from_any_page_to_a_half_folio_of_another_juan(page: Page) -> None:
    page.goto(f"{AT}/pages/1")
    for key in ["/", *"10-3a", "Enter"]:
        page.keyboard.press(key)
    page.wait_for_url(f"**{AT}/pages/3")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("#find [type=search]")).to_be_focused()


def test_one_key_leads_from_a_flag_to_its_page_and_one_back_and_a_change_of_language_keeps_it(page: Page) -> None:
    first = shown(open_desk(page, f"{AT}/desk?kind=substitution"))
    page.keyboard.press("ArrowRight")
    flag = passed(page, first)
    page.wait_for_url(f"**flag={flag}*")  # once the proofreader rests on it
    address = page.url
    page.keyboard.press("p")
    page.wait_for_url(f"**/pages/*flag={flag}*")
    expect(page.locator(".cell:focus.flagged")).to_be_visible()
    page.keyboard.press("p")
    page.wait_for_url(address)
    expect(page.locator("body")).to_have_attribute("data-flag", str(flag))
    page.locator("#language").select_option("zh-Hant")
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hant")
    expect(page.locator("body")).to_have_attribute("data-flag", str(flag))


def test_arrows_walk_along_the_columns_and_a_place_is_typed_taken_or_marked_as_doubtful_where_it_stands(
    page: Page, folder: Path
) -> None:
    page.goto(f"{AT}/pages/2")
    for key, text in (("ArrowDown", "射"), ("ArrowDown", "人"), ("ArrowLeft", "臣")):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.textContent") == text
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".cell:focus")).to_have_text("司")
    page.keyboard.press("Enter")
    expect(page.locator("#inplace input")).to_be_focused()
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.insert_text("同")
    page.keyboard.press("Enter")
    corrected = page.locator(".cell:focus.corrected")
    expect(corrected).to_have_text("同")

    page.goto(f"{AT}/pages/1#1-2")
    expect(page.locator(".cell:focus")).to_have_text("告")
    page.keyboard.press("Enter")
    expect(page.locator("#inplace-others button").first).to_contain_text("吿")  # what the recogniser saw
    page.keyboard.press("1")
    expect(corrected).to_have_text("吿")

    page.goto(f"{AT}/pages/3#2-0")
    page.keyboard.press("m")
    expect(page.locator(".cell:focus.unsure")).to_have_text("小")
    page.keyboard.press("Enter")
    page.keyboard.insert_text("少")
    page.keyboard.press("Enter")
    expect(corrected).to_have_text("少")
    with Store.open(Settings.load(folder).store_address) as store:
        made = [
            (decision.verdict, decision.transcribed, decision.reading) for decision in decision_log(store, WORK)[::-1]
        ]
    assert made == [
        (Verdict.TYPED, "司", "同"),
        (Verdict.TYPED, "告", "吿"),  # of the flag, which is not asked again
        (Verdict.UNSURE, "小", "小"),
        (Verdict.TYPED, "小", "少"),
    ]


def test_keys_of_an_input_method_neither_send_nor_close_the_field_in_place(page: Page, folder: Path) -> None:
    page.goto(f"{AT}/pages/1#1-2")
    page.keyboard.press("Enter")
    field = page.locator("#inplace input")
    expect(field).to_be_focused()
    expect(page.locator("#inplace-others button")).not_to_have_count(0)
    for key in ("Enter", "Escape", "1"):
        prevented = field.evaluate(
            """(field, key) => !field.dispatchEvent(
                new KeyboardEvent("keydown", {key, isComposing: true, bubbles: true, cancelable: true}))""",
            key,
        )
        assert prevented == (key in ("Enter", "Escape"))
    field.dispatch_event("compositionstart")
    page.evaluate("document.getElementById('inplace').requestSubmit()")
    expect(field).to_be_focused()
    expect(page.locator("#inplace-problem")).to_be_empty()
    field.dispatch_event("compositionend")
    page.evaluate("new Promise((done) => setTimeout(done, 30))")  # the method is done a moment after its text is in
    page.keyboard.press("Enter")
    expect(page.locator("#inplace-problem")).not_to_be_empty()  # an empty field deletes nothing
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    expect(page.locator(".cell:focus")).to_have_text("告")
    with Store.open(Settings.load(folder).store_address) as store:
        assert not decision_log(store, WORK)


def test_the_last_flag_of_a_page_asks_whether_it_is_proofread(page: Page) -> None:
    page.goto(f"{AT}/pages/1")
    expect(page.locator("#ask-page")).to_be_hidden()
    open_desk(page, f"{AT}/desk?first_page=1&last_page=1")
    for _ in range(3):
        press(page, "k")
    saved(page)
    page.goto(f"{AT}/pages/1")
    expect(page.locator("#ask-page")).to_be_visible()
    page.keyboard.press("r")
    expect(page.locator("#state")).to_have_value("proofread")
    expect(page.locator("#ask-yes")).to_be_hidden()
