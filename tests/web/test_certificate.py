"""The certificate of a work: what was checked, by whom, of which version, and what is expected to be left."""

from __future__ import annotations

from pypdfium2 import PdfDocument

from proof.store.page_states import PageState
from tests.web.drawn import LINES, WORK, Served


def test_it_counts_characters_with_ink_and_pages_by_person_as_they_stand(served: Served) -> None:
    states, client = served.store.page_states, served.client
    states.set(WORK, 1, PageState.PROOFREAD, 0, "甲", "request-1")
    states.set(WORK, 1, PageState.VALIDATED, 1, "乙", "request-2")
    states.set(WORK, 2, PageState.PROOFREAD, 0, "乙", "request-3")
    states.set(WORK, 3, PageState.PROOFREAD, 0, "甲", "request-4")
    states.set(WORK, 3, PageState.NOT_PROOFREAD, 1, "甲", "request-5")
    made = client.get(f"/api/v1/works/{WORK}/certificate").get_json()
    every = 3 * sum(map(len, LINES))
    assert (made["with_ink"], made["characters"], made["share_with_ink"]) == (every, every, 1.0)
    assert (made["pages"], made["pages_checked"], made["flagged"], made["decided"]) == (3, 3, 9, 0)
    assert (made["proofread"], made["validated"]) == ({"甲": 1, "乙": 1}, {"乙": 1})
    assert made["left"] is None  # nobody decided a sample: nothing is known of what was not flagged
    assert [len(text["sha"]) for text in made["texts"]] == [64]
    assert "甲 (1), 乙 (1)" in client.get(f"/works/{WORK}/certificate").text


def test_the_pdf_says_the_same_as_text(served: Served) -> None:
    answered = served.client.get(f"/works/{WORK}/certificate.pdf", headers={"Accept-Language": "zh-Hant"})
    assert answered.mimetype == "application/pdf"
    text = PdfDocument(answered.data)[0].get_textpage().get_text_bounded()
    assert "大射儀" in text
    assert "校勘證書" in text
    assert "90 / 90 (100.0%)" in text
