"""Writes running text in the notation of critical editions (`proof.text.critical`), for TEI without lines, wikitext,
DOCX and EPUB. Each paragraph is one line. Headings keep their level, commentary is in `<small>`, footnotes are
numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from proof.text.critical import front_matter
from proof.text.extraction import Draft, Extraction, SourceRun

UNSAFE = {"<": "＜", "#": "＃", "\n": "", "\r": "", "\t": "\u3000"}
"""Characters that would be marks in running text, each with its substitute."""


@dataclass(slots=True)
class ProseWriter:
    """Writes a running text into a draft. `notes` are the footnotes so far. `open_notes` is the number of nested notes
    that are open. `_level` is the heading level of the line, 0 for a paragraph."""

    data: bytes
    escape: Callable[[str], str]
    title: str = ""
    draft: Draft = field(init=False)
    notes: list[tuple[SourceRun, ...]] = field(default_factory=list)
    open_notes: int = 0
    _line_empty: bool = True
    _level: int = 0

    def __post_init__(self) -> None:
        self.draft = Draft(self.data, self.escape, UNSAFE)

    def paragraph(self, level: int | None = None) -> None:
        """Begin a paragraph, or a heading of that level. The highest level is 1, which is written as `###`."""
        if not self._line_empty:
            self.draft.mark("</small>" * bool(self.open_notes) + "\n")
            self._line_empty = True
        self._level = 0 if level is None else min(level + 2, 6)

    def add(self, run: SourceRun) -> None:
        """Write a run of text; one with nothing but space is dropped at the beginning of a line."""
        if self._line_empty and not run.text.strip("\n\r\t "):
            return
        self._begin()
        self.draft.add(run)

    def _begin(self) -> None:
        self._front_matter()
        if self._line_empty:
            self.draft.mark("\n" + ("#" * self._level + " ") * bool(self._level) + "<small>" * bool(self.open_notes))
            self._line_empty = False

    def _front_matter(self) -> None:
        if not self.draft.length:
            self.draft.mark(front_matter(self.title))

    @contextmanager
    def note(self) -> Iterator[None]:
        """What is written within is commentary."""
        self.open_notes += 1
        if self.open_notes == 1 and not self._line_empty:
            self.draft.mark("<small>")
        yield
        self.open_notes -= 1
        if not self.open_notes and not self._line_empty:
            self.draft.mark("</small>")

    def footnote(self, *runs: SourceRun) -> None:
        """Refer to a footnote, whose text is written at the end."""
        if any(run.text.strip() for run in runs):
            self._begin()
            self.notes.append(runs)
            self.draft.mark(f"[^{len(self.notes)}]")

    def done(self) -> Extraction:
        self.paragraph()
        for number, runs in enumerate(self.notes, start=1):
            self.draft.mark(f"\n[^{number}]: ")
            for run in runs:
                self.draft.add(run)
        if self.notes:
            self.draft.mark("\n")
        self._front_matter()
        return self.draft.done()
