"""Random histories: people decide in the browser, edit the file, check and export at the shell, and the naive model is
held against what comes of it."""

from __future__ import annotations

import io
import random
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import chdir, closing, redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from flask.testing import FlaskClient

from proof.cli import main
from proof.settings.config import Settings
from proof.store import Store
from proof.web import create_app
from tests.acceptance.model import Cell, Person, Text, row_of
from tests.sample import lay_out
from tests.web.drawn import with_token

MARK = "卷十 第"
FIRST_DECISIONS = "SELECT flag_id, key FROM acts WHERE act = 'decision' AND version = 1"
WAITING = re.compile(r"page (\S+), column (\d+), offset (\d+): (\S+) →")
MADE = (200, 201)
"""Status of an act that was made, or was already: what is sent again is answered as the first time."""
MOST_PAGES = 5
PEOPLE = ("甲", "乙")
WITNESSES = 'witnesses = ["A=one.witness.txt", "B=two.witness.txt"]\n'
OTHERS = "天地玄黄宇宙洪荒日月盈昃辰宿列张"


class History:
    """A project of the sample's first half-folios, its text beside the model of it."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        base: Path,
        *,
        name: str = "text.txt",
        store: str = "",
        threshold: float | None = None,
    ) -> None:
        """Begin with a copy of the project `base` in `folder`; where the address of a `store` is given, others may be
        at work in it."""
        self.seed = seed
        self.chance = random.Random(seed)  # noqa: S311 - a history is known by its seed
        self.folder = Path(shutil.copytree(base, folder / "project"))
        self.name = "text.txt"
        self.shared = store
        if store:
            with (self.folder / "config.toml").open("a", encoding="utf-8") as config:
                config.write(f'[store]\nurl = "{store}"\n')
        self.text = Text(self.path.read_text(encoding="utf-8"))
        self.people = {name: Person() for name in PEOPLE}
        self.person = PEOPLE[0]
        self.browsers: dict[str, FlaskClient] = {}
        self.store: Store | None = None
        self.away: Path | None = None
        self.keys = 0
        self.log: list[str] = []
        self.threshold = threshold
        self.work = name.removesuffix(".txt")
        if name == self.name:
            self.check()
        else:
            self.rename(name)

    @property
    def path(self) -> Path:
        return self.folder / self.name

    # doors

    def proof(self, *arguments: str) -> tuple[int, str]:
        """A command at the shell: its status and what it says."""
        output = io.StringIO()
        with chdir(self.folder), redirect_stdout(output), redirect_stderr(output):
            status = main(list(arguments))
        return status, output.getvalue()

    def client(self) -> FlaskClient:
        """The browser of whoever is at work at a server of the project, which runs until it is stopped."""
        if self.person not in self.browsers:
            settings = Settings.load(self.folder)
            self.store = self.store or Store.open(settings.store_address)
            with patch.dict("os.environ", LOGNAME=self.person):
                browser = create_app(settings, store=self.store).test_client()
                self.browsers[self.person] = with_token(browser)
        return self.browsers[self.person]

    def stop(self) -> None:
        """Stop the project's servers: its folder or its database goes."""
        for browser in self.browsers.values():
            browser.application.extensions["proof"].rereading.close()
        if self.store is not None:
            self.store.close()
        self.browsers, self.store = {}, None

    def ask(self, method: str, path: str, **body: Any) -> tuple[int, Any]:
        """A request about the work: the status of its answer, and that."""
        with chdir(self.folder):
            address = f"/api/v1/works/{self.work}/{path}"
            answer = self.client().post(address, json=body) if method == "POST" else self.client().get(address)
            return answer.status_code, answer.json

    def key(self) -> str:
        self.keys += 1
        return f"{self.seed}-request-{self.keys:06}"

    # where things are

    def row(self, page: str, line: int, content: str = "") -> int:
        """The row of the file in which a column of a page stands, or its mark."""
        rows = (content or self.text.content).split("\n")
        marks = [n for n, row in enumerate(rows) if row.startswith(MARK)]
        own = [n for n in marks if page in rows[n]]  # it may be marked twice, and is one page
        ends = dict(pairwise([*marks, len(rows)]))
        return [n for first in own for n in range(first + 1, ends[first])][line - 1] if line else own[0]

    def cell(self, flag: dict[str, Any]) -> Cell | None:
        row = self.row(flag["page"]["page"], flag["line"])
        return self.text.cut(row, flag["offset"], flag["length"])

    def pages(self) -> list[range]:
        """The rows of each half-folio, its mark the first."""
        rows = self.text.content.split("\n")
        marks = [n for n, row in enumerate(rows) if row.startswith(MARK)]
        return [range(first, after) for first, after in pairwise([*marks, len(rows) - (not rows[-1])])]

    def open_flags(self, *, layout: bool = False) -> list[dict[str, Any]]:
        _, answer = self.ask("GET", "flags?state=open&limit=200")
        return [item for item in answer["items"] if layout or (item["line"] > 0 and item["kind"] != "layout")]

    def take_all(self) -> None:
        """Take what is suggested, flag by flag, until none is open."""
        while flags := self.open_flags(layout=True):
            body = {"verdict": "take", "version": flags[0]["version"], "key": self.key(), "reading": ""}
            status, made = self.ask("POST", f"flags/{flags[0]['number']}/decisions", **body)
            assert status in MADE, made

    # acts

    def decide(self) -> str:
        if self.checked != self.text.content:
            self.check()
        flags = self.open_flags()
        if not flags:
            return "nothing is open"
        flag = self.chance.choice(flags)
        cell = self.cell(flag)
        if cell is None:
            return "a place that goes over another's"
        verdict = self.chance.choice(["take", "take", "take", "keep", "typed", "delete", "retain", "unsure"])
        if verdict == "take" and not flag["suggested"] and flag["kind"] != "insertion":
            verdict = "keep"  # there is nothing to take, and no button for it
        if verdict == "delete" and not flag["transcribed"]:
            verdict = "keep"
        others = [reading for reading in OTHERS if reading != flag["transcribed"]]
        reading = self.chance.choice(others) if verdict in ("typed", "retain") else ""
        body = {"verdict": verdict, "version": flag["version"], "key": self.key(), "reading": reading}
        body |= self.chance.choice([{}, {}, {"authority": "本校", "note": "見卷九"}, {"authority": "他校"}])
        twin = self._other_half(flag)
        status, made = self.ask("POST", f"flags/{flag['number']}/decisions", **body)
        assert status in MADE, made
        cell = self.text.ask(cell, flag["number"])
        self.hear(made)
        self.people[self.person].does(cell, self._decided_along(made, *twin) if twin is not None else None)
        return f"{verdict} {flag['transcribed']}→{made['reading']}"

    def _other_half(self, flag: dict[str, Any]) -> tuple[int, Cell | None, list[tuple[Cell, str]]] | None:
        """The other place of a question about two: its flag, its cell, and where it is of several that were decided of
        alone, these, each with what is left of it without the place. What is said of one place may be said of both."""
        page = self.ask("GET", f"pages/{flag['page']['number']}")[1] if flag["moved"] else {"flags_found": []}
        other = next((candidate for candidate in page["flags_found"] if candidate["id"] == flag["moved"]), None)
        if other is None:
            return None
        cell = self.cell(other)
        row = self.row(other["page"]["page"], other["line"])
        parts = list(self.text.around(row, other["offset"], other["length"])) if cell is None else []
        return other["number"], cell, parts

    def _decided_along(
        self, made: dict[str, Any], flag: int, cell: Cell | None, parts: Sequence[tuple[Cell, str]]
    ) -> Cell | None:
        """The cell of the other place, where the same was said of it."""
        _, answer = self.ask("GET", f"flags/{flag}/history")
        if not answer["items"] or not answer["items"][-1]["batch"] == made["batch"] != "":
            return None
        for part, left in parts:  # that they stand as they are, or go, whatever was said of them alone
            part.others |= {part.now, left}
            part.touched = True
        if cell is None:
            return None
        cell = self.text.ask(cell, flag)
        self.hear(answer["items"][-1])
        return cell

    def hear(self, made: dict[str, Any]) -> None:
        """What a decision says of its cell."""
        cell = self.text.of_flag(made["flag"])
        reads = made["reading"] if made["state"] == "corrected" else None
        if cell is not None and cell.flag == made["flag"]:
            cell.decide(reads, settled=made["state"] != "open")
            cell.by = self.person
        elif cell is not None:
            cell.others.add(made["reading"])
            cell.touched = True
            if made["flag"] == cell.flags[-1]:  # the answer that holds where the one after it is taken back
                cell.before = made["reading"] if made["state"] == "corrected" else None

    def by_hand(self) -> str:
        _, pages = self.ask("GET", "pages?limit=50")
        page = self.chance.choice(pages["items"])
        _, detail = self.ask("GET", f"pages/{page['number']}")
        columns = [column for column in detail["columns"] if len(column["source"]) > 5]
        if not columns:
            return "a page without columns"
        column = self.chance.choice(columns)
        offset = self.chance.randrange(1, len(column["source"]) - 4)
        if self.checked != self.text.content:
            return "the text was edited since"
        length, reading = self.chance.choice([(1, "某"), (1, ""), (0, "某"), (2, "某"), (3, "某甲乙丙")])
        row = self.row(page["page"], column["number"])
        touched = [cell for cell in self.text.within(row, offset, length) if cell.settled or cell.touched]
        if touched or not re.fullmatch("[\u4e00-\u9fff]+", column["source"][offset - 1 : offset + length + 1]):
            return "no place for it"
        cell = self.text.cut(row, offset, length)
        if cell is None or cell.settled or cell.touched:
            return "no place for it"
        place = {"line": column["number"], "offset": offset, "length": length}
        body = place | {"reading": reading, "delete": not reading, "key": self.key()}
        status, made = self.ask("POST", f"pages/{page['number']}/corrections", **body)
        if status not in MADE:
            return f"refused: {made.get('detail', status)}"
        cell = self.text.ask(cell, made["flag"])
        self.hear(made)
        self.people[self.person].does(cell)
        return f"{cell.was or '(nothing)'}→{reading or '(nothing)'} by hand"

    def undo(self) -> str:
        """Take back one's own last act: that one, or none where somebody else changed the same since."""
        status, answer = self.ask("POST", "undo", key=self.key())
        person = self.people[self.person]
        act = person.done.pop() if person.done else None
        if status == 404:
            assert not act or not person.whole, "what somebody did cannot be taken back"
            return "nothing is left"
        if status == 409:
            assert act is None or not act or any(cell.by != self.person for cell in act), "nobody else changed it"
            person.done += [act] if act is not None else []
            return "somebody else changed it since"
        assert status == 200, answer
        taken = [self.text.of_flag(made["flag"]) for made in answer["decisions"]]
        if act is not None:
            assert bool(taken) == bool(act), f"another act is taken back: {answer}"
            assert all(cell is None or cell in act for cell in taken), f"another decision is taken back: {answer}"
            person.undone.append(act)
        for made in answer["decisions"]:
            self.hear(made)
        return f"{len(taken)} decisions"

    def redo(self) -> str:
        status, answer = self.ask("POST", "redo", key=self.key())
        if status != 200:
            return f"{status}"
        person = self.people[self.person]
        if person.undone:
            person.done.append(person.undone.pop())
        for made in answer["decisions"]:
            self.hear(made)
        return f"{len(answer['decisions'])} decisions"

    def rule(self) -> str:
        flags = [open_flag for open_flag in self.open_flags() if open_flag["kind"] == "substitution"]
        if not flags:
            return "no pair"
        flag = self.chance.choice(flags)
        status, _ = self.ask("POST", "rules", transcribed=flag["transcribed"], suggested=flag["suggested"], holds=True)
        if status in MADE:
            self.people[self.person].does()
        return f"{status}"

    def comment(self) -> str:
        flags = self.open_flags()
        if not flags:
            return "nothing is open"
        status, _ = self.ask("POST", f"flags/{flags[0]['number']}/comments", text="看", key=self.key(), seen=0)
        return f"{status}"

    def lay_out_anew(self) -> str:
        """Set right how a page is read, or go back to what is found, and read it again: no decision is touched."""
        if self.checked != self.text.content:
            self.check()
        _, pages = self.ask("GET", "pages?limit=50")
        seen = [page for page in pages["items"] if page["width"]]
        if not seen:
            return "no page has an image"
        page = self.chance.choice(seen)
        address = f"pages/{page['number']}"
        _, answer = self.ask("GET", f"{address}/layout-overrides")
        status, made = self.ask(
            "POST",
            f"{address}/layout-overrides",
            layout=self._layout(page) if self.chance.random() < 0.7 else None,
            version=answer["items"][-1]["version"] if answer["items"] else 0,
            key=self.key(),
        )
        assert status in MADE, made
        self.people[self.person].does()
        status, job = self.ask("POST", f"{address}/read-again")
        while status == 202:
            time.sleep(0.02)
            status, job = self.ask("GET", f"{address}/read-again/{job['id']}")
            status = 202 if job["outcome"] is None and not job["reason"] else 200
        assert job["outcome"], job
        assert all(flag["state"] != "corrected" for flag in job["outcome"]["lost"]), job["outcome"]["lost"]
        return f"page {page['page']}: {job['outcome']['status']}"

    def _layout(self, page: dict[str, Any]) -> dict[str, Any]:
        """A frame about the columns of the page, and rules that may be where they are, or not; one of a few, which are
        read once."""
        margin, columns = self.chance.choice([0.03, 0.05, 0.07]), self.chance.choice([7, 8, 8, 8, 9])
        width, height = page["width"], page["height"]
        at = [(margin, margin), (1 - margin, margin), (1 - margin, 1 - margin), (margin, 1 - margin)]
        corners = [[round(x * width, 2), round(y * height, 2)] for x, y in at]
        return {"corners": corners, "rules": [n / columns for n in range(1, columns)], "notes": []}

    # the file

    def edit(self) -> str:
        rows = [n for n, row in enumerate(self.text.rows) if self._is_column(n) and len(row) > 3]
        if not rows:
            return "no column is left"
        ways = ["insert", "delete", "replace", "join", "split", "move", "line in", "line out", "by hand", "double"]
        way = self.chance.choice([*ways, *ways, "page out", "page double", "page move", "page join", "page split"])
        done = self._edit_page(way) if way.startswith("page") else self._edit_row(way, rows)
        self.path.write_text(self.text.content, encoding="utf-8")
        return way if done else f"{way}: not here"

    def _edit_row(self, way: str, rows: list[int]) -> bool:
        number, other = self.chance.choice(rows), self.chance.choice(rows)
        row = self.text.rows[number]
        at = self.chance.randrange(1, len(row) - 1)
        match way:
            case "insert":
                self.text.insert(number, at, "又")
            case "delete" if row[at].now:
                self.text.take_out(number, at, at + 1)
            case "replace" if row[at].now:
                self.text.replace(number, at, "也")
            case "join" if number + 1 in rows:
                self.text.touch(number, len(row), len(row))
                self.text.touch(number + 1, 0, 0)
                row += self.text.rows.pop(number + 1)
            case "split" if all(any(cell.now for cell in part) for part in (row[:at], row[at:])):
                self.text.touch(number, at, at)
                self.text.rows[number : number + 1] = [row[:at], row[at:]]
            case "move":
                self.text.move(range(number, number + 1), other)
            case "line in":
                self.text.rows.insert(number, row_of("".join(self.chance.choice(OTHERS) for _ in range(9))))
            case "line out":
                self.text.take_out_rows(range(number, number + 1))
            case "by hand":
                pending = [cell for cell in self.text.cells() if cell.reads is not None and cell.now != cell.reads]
                for cell in pending[:2]:
                    cell.now, cell.unseen = cell.wanted, True
            case "double":
                self.text.double(range(number, number + 1))
            case _:
                return False
        return True

    def _edit_page(self, way: str) -> bool:
        pages = self.pages()
        page = self.chance.choice(pages)
        match way:
            case "page out" if len(pages) > 1:
                self.text.take_out_rows(page)
            case "page double" if len(pages) < MOST_PAGES:
                self.text.double(page)
            case "page join" if page is not pages[0]:
                self.text.take_out_rows(range(page.start, page.start + 1))
            case "page split" if len(page) > 2:
                at = self.chance.randrange(page.start + 2, page.stop)
                self.text.rows.insert(at, row_of(f"{MARK} 9a 页 WYG0103-0{self.chance.randrange(900, 999)}a.png"))
            case "page move" if len(pages) > 1:
                before = self.chance.choice([other for other in pages if other is not page]).start
                self.text.move(page, before if before < page.start else before - len(page))
            case _:
                return False
        return True

    def _is_column(self, number: int) -> bool:
        text = "".join(cell.now for cell in self.text.rows[number])
        return bool(text.strip()) and not text.startswith(("#", MARK)) and number > 1

    def rename(self, name: str = "") -> str:
        name = name or ("other.txt" if self.name != "other.txt" else "text.txt")
        self.path.rename(self.folder / name)
        self.name = name
        config = self.folder / "config.toml"
        config.write_text(re.sub(r'"\w+\.txt"', f'"{name}"', config.read_text(encoding="utf-8")), encoding="utf-8")
        return self.check()

    def image(self) -> str:
        """Move an image of the project away, or put back the one that is."""
        if self.away is not None:
            self.away.rename(self.folder / "images" / self.away.name)
            self.away = None
            return f"put back: {self.check()}"
        image = self.chance.choice(sorted((self.folder / "images").iterdir()))
        self.away = image.rename(self.folder.parent / image.name)
        return f"moved away: {self.check()}"

    def witnesses(self) -> str:
        """Two other witnesses of the text: one reads as the images do, one as the text did; or none again."""
        config = self.folder / "config.toml"
        settings = config.read_text(encoding="utf-8")
        if WITNESSES in settings:
            settings = settings.replace(WITNESSES, "")
        else:
            (self.folder / "one.witness.txt").write_text(TRUE, encoding="utf-8")
            (self.folder / "two.witness.txt").write_text(damaged(), encoding="utf-8")
            settings = settings.replace("[project]\n", f"[project]\n{WITNESSES}")
        config.write_text(settings, encoding="utf-8")
        self.stop()
        return self.check()

    # the shell

    def check(self) -> str:
        """Check, which asks again of nothing that was decided."""
        completed = self.run_check()
        for flag in self.open_flags():
            cell = self.cell(flag)
            if cell is None or not cell.settled or cell.touched or cell.reads is None:
                continue
            is_longer = len(flag["suggested"]) > len(cell.was)
            is_other = not cell.reads and flag["suggested"] not in cell.was  # not of what was deleted there
            if flag["transcribed"] or not (is_longer or is_other):
                raise AssertionError(f"what was decided is asked again: {flag['transcribed']}→{flag['suggested']}")
        return completed

    def run_check(self) -> str:
        status, output = self.proof("check", "-q", *(["--threshold", f"{self.threshold}"] if self.threshold else []))
        assert status in (0, 1), output
        self.checked = self.text.content
        self.text.seen()
        return output.strip()[-60:]

    def check_otherwise(self) -> str:
        self.threshold = self.chance.choice([None, 0.0, 1.0])
        return self.check()

    def export(self) -> str:
        """Correct the text in place; then once more, which changes nothing."""
        _, planned = self.proof("export", self.name, "--dry-run")
        assert self.path.read_text(encoding="utf-8") == self.text.content, "a dry run wrote something"
        status, output = self.proof("export", self.name, "--in-place", "--form", "text")
        assert status in (0, 1), output
        self._take_over(self.path.read_text(encoding="utf-8"), planned)
        exported = self.path.read_bytes()
        self.proof("export", self.name, "--in-place", "--form", "text")
        assert self.path.read_bytes() == exported, "a second export changed something"
        return output.strip().split("\n")[0]

    def export_aside(self) -> str:
        """Correct a copy, and put that in the place of the text."""
        _, planned = self.proof("export", self.name, "--dry-run")
        status, output = self.proof("export", self.name, "--form", "text", "--out", "aside")
        assert status in (0, 1), output
        exported = (self.folder / "aside" / self.name).read_text(encoding="utf-8")
        self.path.write_text(exported, encoding="utf-8")
        self._take_over(exported, planned)
        return self.check()

    def _take_over(self, exported: str, planned: str) -> None:
        """What an export wrote; a character that the script of the text writes in several ways may wait for an
        answer."""
        for question in planned.split("not written, ")[1:]:
            if question.startswith("is "):
                for page, line, offset, old in WAITING.findall(question):
                    cell = self.text.cut(self.row(page, int(line)), int(offset), 0 if old == "(nothing)" else len(old))
                    assert cell is not None
                    cell.touched = True
        self.text.seen()
        for cell in self.text.take_over(exported):
            change = f"{cell.was or '(nothing)'} → {cell.reads if cell.reads is not None else cell.was}"
            listed = change in planned or f"→ {cell.wanted or '(nothing)'}" in planned or "not written" in planned
            assert listed, f"{change} is not written, and nobody is told"

    def restore(self) -> str:
        """Back up, lose the folder, restore it elsewhere."""
        status, output = self.proof("backup", "saved.zip")
        assert status == 0, output
        there = self.folder.with_name(f"{self.folder.name}-again")
        status, output = self.proof("restore", "saved.zip", str(there))
        assert status == 0, output
        self.stop()
        shutil.rmtree(self.folder)
        self.folder = there
        return self.check()

    def recover(self) -> str:
        """Lose the database, check anew, and take back what people did from the journal."""
        if not any(self.folder.glob("*.decisions.jsonl")):
            return "nobody did anything yet"
        self.stop()
        before = self.first_decisions()
        for file in self.folder.glob("proof.sqlite*"):
            file.unlink()
        self.run_check()
        status, output = self.proof("recover")
        assert status in (0, 1), output
        self.work = self.name.removesuffix(".txt")
        self.text.gone = [cell for cell in self.text.gone if f" {cell.was} -> {cell.wanted} (" not in output]  # named
        now = {key: flag for flag, key in self.first_decisions().items()}
        for cell in self.text.known():
            cell.flag, *cell.flags = (
                now.get(before.get(flag, ""), -1) if flag else 0 for flag in (cell.flag, *cell.flags)
            )
        for person in self.people.values():
            person.forget()
        return output.strip()[-60:]

    def first_decisions(self) -> dict[int, str]:
        """The key of the first decision about each flag, which it keeps in a new database, where its number changes."""
        with closing(sqlite3.connect(self.folder / "proof.sqlite")) as store:
            return dict(store.execute(FIRST_DECISIONS).fetchall())

    def acts(self) -> list[Callable[[], str]]:
        often = [self.decide] * 6 + [self.edit] * 4 + [self.check] * 2 + [self.export] * 3 + [self.undo] * 2
        rarely = [
            self.image,
            self.witnesses,
            self.redo,
            self.by_hand,
            self.rule,
            self.comment,
            self.check_otherwise,
            self.export_aside,
        ]
        alone = [] if self.shared else [self.restore, self.recover]
        return often + rarely + [self.lay_out_anew, self.rename, *alone]

    def people_at_work(self) -> tuple[str, ...]:
        return PEOPLE

    def run(self, steps: int) -> None:
        """So many acts, then a check and an export. Raises AssertionError with what was done."""
        try:
            for _ in range(steps):
                act = self.chance.choice(self.acts())
                self.person = self.chance.choice(self.people_at_work())
                self.log.append(f"{self.person}, {act.__name__}")
                self.log[-1] += f": {act()}"
            self.log.append("at the end")
            self.check()
            self.export()
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n" + "\n".join(self.log)) from error
        finally:
            self.stop()


TRUE = """\
书名或作者
卷十
卷十 第 1a 页 WYG0103-0192c.png
司射适西阶西倚扑升自西
 郑注倚扑者将即君前不敢佩
公卿大夫辩闻也(案比今注疏/本讹作北据)公许
遂适西阶上命宾御于公
卷十 第 1b 页 WYG0103-0192d.png
司射自西阶上北面告于大
夫曰请降司射先降搢扑反
位大夫从之降适次立于三
 郑注适次由次前而北西面
卷十 第 2a 页 WYG0103-0193a.png
众耦立于大夫之南西面北
上若有士与大夫为耦则以
大夫之耦为上
命大夫之耦曰子与某子射
"""
"""What the images of the pages show."""
DAMAGES = (
    ("倚扑升", "倚朴升"),
    ("即君前不", "不"),
    ("公许", "公公许"),
    ("自西阶上", "自西上"),
    ("请降司射", "请降天地司射"),
    ("由次前", "由□前"),
    ("士与大夫", "大夫士与"),
)
"""What the text has otherwise: other characters, fewer, more, a placeholder, some that moved."""


def damaged() -> str:
    """The text as it is transcribed."""
    text = TRUE
    for true, false in DAMAGES:
        assert text.count(true) == 1
        text = text.replace(true, false)
    return text


def base_project(folder: Path) -> None:
    """A project of three half-folios of four columns, drawn from what they show, read once."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.txt").write_text(TRUE, encoding="utf-8")
    with chdir(folder), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        drawn = ["--columns", "4", "--column-length", "12", "--scale", "0.6", "--wear", "none"]
        assert main(["render", "text.txt", "--out", "images", *drawn]) == 0
    (folder / "images" / "boxes.jsonl").unlink()
    (folder / "text.txt").write_text(damaged(), encoding="utf-8")
    _begin(folder, "[page]\ncolumns = 4\ncolumn_length = 12\n")


def sample_project(folder: Path) -> None:
    """A project of three half-folios of the sample, read once."""
    lay_out(folder, 3)
    _begin(folder)


def _begin(folder: Path, settings: str = "") -> None:
    config = f'[project]\ntexts = ["text.txt"]\nimages = ["images"]\n{settings}'
    config += "[engine]\nworkers = 1\n[flags]\nthreshold = 0.2\n"
    (folder / "config.toml").write_text(config, encoding="utf-8")
    with chdir(folder), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        main(["check", "-q"])
