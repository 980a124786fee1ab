"""Random histories of edited columns: the typed text of a column, and columns added, deleted, split and joined.

The model is the list of lines of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from tests.acceptance.history import MADE, History

TYPED = "某"
COLUMNS = ("玄黄宇宙洪荒", "日月盈昃辰宿")
"""Columns that are added; none of their characters is on an image."""


CHANGES = ("text", "text", "text", "add before", "add after", "delete", "split", "join")
TYPED_CHARACTERS = frozenset((TYPED, *"".join(COLUMNS)))


class _Change(NamedTuple):
    """The lines from `first` to before `end` of the file are replaced by `lines`."""

    first: int
    end: int
    lines: list[str]


class ColumnEdits(History):
    """A project in which one person edits columns, takes back, checks and exports."""

    def __init__(self, folder: Path, seed: int, base: Path) -> None:
        super().__init__(folder, seed, base)
        self.lines = self.path.read_text(encoding="utf-8").split("\n")
        self.changes: list[_Change] = []

    def run(self, steps: int) -> None:
        """So many rounds, each with some edits, an export and a check. Raises AssertionError with what was done."""
        try:
            for _ in range(steps):
                self.log.append("check")
                self.check_again()
                for _ in range(self.chance.randint(1, 4)):
                    self.log.append(self.edit_column() if self.chance.random() < 0.8 else self.take_back())
                self.log.append("export")
                self.export_round()
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n" + "\n".join(self.log)) from error
        finally:
            self.stop()

    def check_again(self) -> None:
        self.run_check()
        self.changes = []
        chosen_flags = [
            flag
            for flag in self.open_flags(layout=True)
            if flag["transcribed"] and not set(flag["transcribed"]) - TYPED_CHARACTERS
        ]
        assert not chosen_flags, f"what was typed is asked again: {chosen_flags[0]}"

    def edit_column(self) -> str:
        """Edit a column of a page that no other edit since the last check touches; often join one to the added
        column behind it."""
        page = self.chance.choice(self.ask("GET", "pages?limit=50")[1]["items"])
        columns = self.ask("GET", f"pages/{page['number']}")[1]["columns"]
        if not columns:
            return "no column is left"
        row_of = {
            column["number"]: self.row(page["page"], column["number"], "\n".join(self.lines)) for column in columns
        }
        before_added = [column for column in columns if self.lines[row_of[column["number"]] + 1] in COLUMNS]
        joins = before_added and self.chance.random() < 0.5
        column = self.chance.choice(before_added if joins else columns)
        at = row_of[column["number"]]
        touched = range(at - 1, at + 3)
        if any(change.first in touched or change.end - 1 in touched for change in self.changes):
            return "another edit is near"
        if self.lines[at] != column["now"]:
            raise AssertionError(f"the page shows {column['now']!r} for {self.lines[at]!r}")
        body, change = self._change("join" if joins else self.chance.choice(CHANGES), column["now"], at)
        if change.lines == [column["now"]]:
            return "the same text"
        status, answer = self.send_edit(page["number"], column, **body)
        if status not in MADE:
            return f"{body}: refused: {answer.get('detail', status)}"
        assert not answer["conflicts"], answer
        self.changes.append(change)
        return f"{page['page']}, column {column['number']}: {body}"

    def send_edit(self, page: int, column: dict[str, Any], **body: Any) -> tuple[int, Any]:
        """The answer to the request that edits a column, or changes it as a whole, as it is seen now."""
        address = f"pages/{page}/columns/{column['number']}"
        return self.ask("POST", address, seen=column["now"], key=self.key(), **body)

    def _change(self, kind: str, now: str, at: int) -> tuple[dict[str, Any], _Change]:
        place = self.chance.randrange(1, max(len(now) - 1, 2))
        added = self.chance.choice(COLUMNS)
        match kind:
            case "text":
                new = now
                for _ in range(self.chance.randint(1, 3)):
                    place = self.chance.randrange(len(new) + 1)
                    length = self.chance.choice([0, 1, 1, 2])
                    new = new[:place] + self.chance.choice(["", TYPED]) + new[place + length :]
                return {"text": new}, _Change(at, at + 1, [new])
            case "add before":
                return {"change": "add before", "text": added}, _Change(at, at + 1, [added, now])
            case "add after":
                return {"change": "add after", "text": added}, _Change(at, at + 1, [now, added])
            case "delete":
                return {"change": "delete"}, _Change(at, at + 1, [])
            case "split":
                return {"change": "split", "at": place}, _Change(at, at + 1, [now[:place], now[place:]])
            case _:
                following = self.lines[at + 1] if at + 1 < len(self.lines) else ""
                return {"change": "join"}, _Change(at, at + 2, [now + following])

    def take_back(self) -> str:
        """Take back the last edit since the check; those before it stay."""
        if not self.changes:
            return "nothing to take back"
        status, answer = self.ask("POST", "undo", key=self.key())
        assert status == 200, answer
        return f"took back {self.changes.pop()}"

    def export_round(self) -> None:
        """Export in place or aside; what the file has then is what was edited, and no more."""
        expected = list(self.lines)
        for change in sorted(self.changes, reverse=True):
            expected[change.first : change.end] = change.lines
        aside = self.chance.random() < 0.3
        for _ in range(2):
            status, output = self.proof("export", self.name, *([] if aside else ["--in-place"]), "--form", "text")
            assert status in (0, 1), output
            written = self.folder / "out" / self.name if aside else self.path
            if aside and not written.exists():
                written = self.path
            exported = written.read_text(encoding="utf-8").split("\n")
            assert exported == expected, f"{_difference(exported, expected)}; {output}"
        if aside:
            self.path.write_text("\n".join(exported), encoding="utf-8")
        self.lines = expected


def _difference(exported: list[str], expected: list[str]) -> str:
    for number, (line, other) in enumerate(zip(exported, expected, strict=False), 1):
        if line != other:
            return f"line {number}: {line!r} for {other!r}"
    return f"{len(exported)} lines for {len(expected)}"
