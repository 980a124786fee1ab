"""Running text, written as the critical edition is (`proof.text.critical`): what TEI without lines, wikitext, DOCX and
EPUB have in common. A paragraph a line, headings by their level, `<small>` around commentary, footnotes by number."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from proof.text.extraction import Draft, Extraction, Site
from proof.text.formats.xml_tree import Run
from proof.text.remarks import Code, Value

UNSAFE = {"<": "＜", "#": "＃", "\n": "", "\r": "", "\t": "\u3000"}
"""Characters that would be marks in running text, and what stands for them in the text."""


@dataclass(slots=True)
class Running:
    """A running text as a reader writes it."""

    data: bytes
    escape: Callable[[str], str]
    title: str = ""
    draft: Draft = field(init=False)
    notes: list[tuple[Run, ...]] = field(default_factory=list)
    small: int = 0
    """How many notes are open."""
    _fresh: bool = True
    """Whether the line has nothing yet."""
    _level: int = 0

    def __post_init__(self) -> None:
        self.draft = Draft(self.data, self.escape, UNSAFE)

    def paragraph(self, level: int = 0) -> None:
        """Begin a paragraph, or a heading of that level."""
        if not self._fresh:
            self.draft.mark("</small>" * bool(self.small) + "\n")
            self._fresh = True
        self._level = level

    def read(self, run: Run) -> None:
        """Write a run of text; space at the beginning of a line is none where nothing follows it."""
        if self._fresh and not run.text.strip("\n\r\t "):
            return
        self._begin()
        self.draft.read(run.text, run.site, verbatim=run.verbatim)

    def named(self, name: str, site: Site) -> None:
        """Write a character that has no code point, by its name (`CB00001`)."""
        self._begin()
        self.draft.read(f"&{name};", site, verbatim=False)

    def _begin(self) -> None:
        if not self.draft.length:
            self.draft.title = self.title
            self.draft.mark(f"---\ntitle: {json.dumps(self.title, ensure_ascii=False)}\n---\n")
        if self._fresh:
            self.draft.mark("\n" + ("#" * self._level + " ") * bool(self._level) + "<small>" * bool(self.small))
            self._fresh = False

    def open_note(self) -> None:
        """Commentary begins."""
        self.small += 1
        if self.small == 1 and not self._fresh:
            self.draft.mark("<small>")

    def close_note(self) -> None:
        self.small -= 1
        if not self.small and not self._fresh:
            self.draft.mark("</small>")

    def footnote(self, *runs: Run) -> None:
        """Refer to a footnote, whose text is written at the end."""
        if any(run.text.strip() for run in runs):
            self._begin()
            self.notes.append(runs)
            self.draft.mark(f"[^{len(self.notes)}]")

    def remark(self, code: Code, **values: Value) -> None:
        self.draft.remark(code, **values)

    def done(self) -> Extraction:
        self.paragraph()
        for number, runs in enumerate(self.notes, start=1):
            self.draft.mark(f"\n[^{number}]: ")
            for run in runs:
                self.draft.read(run.text, run.site, verbatim=run.verbatim)
        if self.notes:
            self.draft.mark("\n")
        if not self.draft.length:
            self.draft.mark(f"---\ntitle: {json.dumps(self.title, ensure_ascii=False)}\n---\n")
        return self.draft.done()
