"""Random edits of the columns of a file."""

from __future__ import annotations

from pathlib import Path

from hypothesis import assume
from hypothesis import strategies as st

from proof.model.flags import LINE_BREAK
from proof.text.edit import Edit, edited
from proof.text.extraction import Extraction
from proof.text.formats import decoded
from proof.text.lines import line_edit


def check_edits_of_columns(source: Extraction, path: Path, data: st.DataObject) -> None:
    """Check that the file at `path`, after edits drawn from `data` that it holds, reads as its text was edited."""
    text = source.text
    starts = [at for at in range(1, len(text)) if text[at - 1] == "\n" and not text.startswith("<pb:", at)]
    edits: list[Edit] = []
    for start in data.draw(st.lists(st.sampled_from(starts), min_size=1, max_size=3, unique=True)) if starts else []:
        length = text.index("¶", start) - start
        kind = data.draw(
            st.sampled_from(["before", "after", "delete", "split", "join", "insert", "behind", "delete last"])
        )
        inside = start + data.draw(st.integers(0, length))
        edits.append(
            {
                "before": line_edit(text, start, "", "天(地/玄)", 0),
                "after": line_edit(text, start + length, "", "天地", max(length, 1)),
                "delete": line_edit(text, start, text[start : start + length], "", 0),
                "split": line_edit(text, inside, "", LINE_BREAK, 1),
                "join": line_edit(text, start + length, LINE_BREAK, "", length),
                "insert": Edit(inside, 0, "玄"),
                # so the last columns of a page are changed: with the end of the column before
                "behind": Edit(start - 2, 0, "¶\n天"),
                "delete last": Edit(start - 2, 2 + length, ""),
            }[kind]
        )
    kept: list[Edit] = []
    for edit in filter(source.holds, edits):
        if not any(edit.start <= other.end and other.start <= edit.end for other in kept):
            kept.append(edit)
    expected = edited(text, kept)
    assume(any(line and not line.startswith("<pb:") for line in expected.split("\n")))  # else it has no columns
    assert decoded(path, source.edited(kept)).text == expected
