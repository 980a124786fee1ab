#!/usr/bin/env python3
"""Random sequences of requests to the JSON API, with real ids, by people of every role, checked against a model.

    python -m tests.soak.api [--sequences 10000] [--seed 1]

In each step a person (administrators, proofreaders, a reader, nobody, and two whose accounts are changed meanwhile)
decides one or several flags, corrects a place by hand, sets the state of a page, writes a comment, marks, assigns or
resolves a problem, sets a rule or a layout, has a page read again or cancels that, adds, changes, disables or enables
accounts, undoes or redoes an act, with or without the changes of others, or reads. Requests have the present version or
an old one, a new key or a used one, a valid body or an invalid one. The model:

- no answer is an error of the server; refused and repeated requests change nothing;
- a person without the right, by their present account, changes nothing and is refused; a disabled account sees nothing;
- a decision changes only its flag, and the other half of a moved character, and has the person's name and note;
- undo restores the state before the person's last act, redo the one after it; both are refused only if another person
  changed the same thing since; with `leave` changes of others stay;
- a comment is stored as it was sent, with its author, and changes only its thread and whether a page has a problem; a
  problem is only assigned to a proofreader; no comment disappears;
- there is always an administrator who can log in, and changes of accounts are in their log.

Violations are printed with the steps before them; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from proof.model.flags import Evidence, Kind, Origin
from proof.store import Store
from proof.store.accounts import Role
from tests.web.drawn import WORK, add_page, cell, checked, draw_page, wrong
from tests.web.test_people import BASE, PASSWORD, PEOPLE, Browser, House, house_in

STEPS, RENEWED = 8, 100
"""Requests in a sequence, and sequences with one store."""
NOBODY = ""
MOVED_PAGE = "WYG0103-0292a"
CHANGED = ("戊", "己")
"""People whose accounts are changed meanwhile."""
PROOFREAD = ("甲", "乙")
"""People to whom problems are assigned and who may decide; their accounts do not change."""
ROLES = {**PEOPLE, "戊": Role.PROOFREADER, "己": Role.READER}
VERDICTS = ("keep", "take", "other", "typed", "delete", "copy", "unsure", "skip")
READINGS = ("", "某", "𠀀", "甲乙", "行\n", "¶", "\x00", "字" * 65)
NOTES = ("", "", "據影印本", "line\nline", "\x07", "\ufffe", "長" * 2001)
STATES = ("not proofread", "proofread", "validated", "problem")
LAYOUT = {"corners": [[100, 100], [900, 100], [900, 750], [100, 750]], "rules": [0.5], "notes": [None, [[0, 0.4]]]}
_OFTEN = {
    "decide": 10,
    "many": 2,
    "correct": 2,
    "page": 4,
    "rule": 2,
    "undo": 6,
    "redo": 4,
    "layout": 2,
    "comment": 4,
    "look": 2,
}
_SELDOM = {"reread": 1, "stop": 1, "add": 1, "change": 2, "reset": 1}
ASKED = tuple(what for what, times in (_OFTEN | _SELDOM).items() for _ in range(times))
NEEDS = {"rule": "rule", "add": "manage", "change": "manage", "reset": "manage", "look": "see", "people": "manage"}
RIGHTS = {
    "reader": {"see"},
    "proofreader": {"see", "decide"},
    "administrator": {"see", "decide", "rule", "manage"},
}
LISTED = ("flags", "facets", "acts", "pairs", "pages", "rules", "displaced", "problems", "pages/1/comments")
BROKEN: tuple[Any, ...] = ({}, [], None, "x", {"key": "short"}, {"version": -1}, {"unknown": 1}, {"note": 1})

Thing = tuple[str, Any]
World = dict[Thing, tuple[Any, int]]
"""What can be seen of each flag, page, rule, layout and account, and how often something was said of it."""
ACTS = frozenset({"flag", "page", "rule", "layout"})
"""Kinds of things that what is done to them can be taken back of."""


def add_moved(store: Store, folder: Path) -> None:
    """Add a page of a text of its own: 大 stands in its second column and belongs into the third."""
    out = replace(wrong(MOVED_PAGE, 2, 5, "", 6.0, Kind.INSERTION), evidence=Evidence("no glyph"))
    into = replace(
        wrong(MOVED_PAGE, 3, 3, "大", 5.0, Kind.OMISSION),
        transcribed="",
        length=0,
        evidence=Evidence("not transcribed", p_best=0.9, alternatives=(("大", 0.9),)),
        bbox=cell(3, 3),
    )
    flags = (replace(out, moved=into.id), replace(into, moved=out.id))
    image = folder / "page.png"
    add_page(store, checked(MOVED_PAGE, image, draw_page(image), flags), text="moved.txt")


@dataclass(frozen=True)
class Act:
    """What somebody did: what they touched, as it was before and after."""

    before: dict[Thing, Any]
    after: dict[Thing, Any]


@dataclass
class Model:
    """What people did and can take back, newest last, and what others have touched since each act."""

    done: dict[str, list[Act]] = field(default_factory=lambda: {name: [] for name in ROLES})
    undone: dict[str, list[Act]] = field(default_factory=lambda: {name: [] for name in ROLES})
    touched: dict[Thing, set[str]] = field(default_factory=dict)


class BrokenModelError(AssertionError):
    """An answer, or what it left, that must not be."""


@dataclass(frozen=True)
class Request:
    """Something that is asked for: by whom, its kind, its method and address, and its body."""

    who: str
    what: str
    method: str
    path: str
    body: Any
    sound: bool = True


class Player:
    """Plays sequences of requests on one store."""

    def __init__(self, house: House, chance: random.Random) -> None:
        self.house, self.chance, self.model = house, chance, Model()
        for name in CHANGED:
            house.store.accounts.add(name, ROLES[name], PASSWORD)
        self.passwords = dict.fromkeys(ROLES, PASSWORD)
        self.browsers: dict[str, Browser] = {name: house.browser(name) for name in ROLES} | {NOBODY: house.somebody()}
        self.tokens = {name: browser.token("/account" if name else "/login") for name, browser in self.browsers.items()}
        self.keys: dict[str, list[str]] = {what: [] for what in ASKED}
        self.numbers = {account.name: account.number for account in house.store.accounts.everybody()}
        self.database = sqlite3.connect(house.folder / "proof.sqlite", isolation_level=None)
        self.pages = [page.number for page in house.store.queue.pages(WORK)]
        self.jobs: list[tuple[int, str, str]] = []
        self.stamps = {name: self.accounts()[name]["stamp"] for name in ROLES}
        self.now = self.world()

    def close(self) -> None:
        self.database.close()

    def accounts(self) -> dict[str, dict[str, Any]]:
        """The accounts as they stand."""
        columns = ("name", "role", "disabled", "provisional", "stamp")
        rows = self.database.execute(f"SELECT {', '.join(columns)} FROM accounts").fetchall()  # noqa: S608 - names of ours
        return {row[0]: dict(zip(columns, row, strict=True)) for row in rows}

    def world(self) -> World:
        """All as it stands; a correction by hand that was taken back is nothing."""
        ask = self.database.execute
        found: World = {}
        for number, state, reading, version, transcribed, origin in ask(
            "SELECT id, state, reading, version, transcribed, origin FROM flags"
        ):
            if origin != Origin.PERSON.value or state != "open":
                found["flag", number] = ((state, reading if version else transcribed), version)
        noted = {
            page: (state, note, at)
            for page, state, note, at in ask(
                "SELECT page_id, state, note, version FROM acts WHERE act = 'page' ORDER BY version"
            )
        }
        for page in self.pages:
            state, note, at = noted.get(page, ("not proofread", "", 0))
            found["page", page] = ((state, note), at)
            found["layout", page] = ((None, ""), 0)
        rules = ask("SELECT transcribed, suggested, holds FROM acts WHERE act = 'rule' ORDER BY id")
        held = {(a, b): holds for a, b, holds in rules}
        found |= {("rule", pair): (True, 0) for pair, holds in held.items() if holds}
        for page, layout, image, version in ask(
            "SELECT page_id, layout, image, version FROM acts WHERE act = 'layout' ORDER BY version"
        ):
            found["layout", page] = ((layout, image), version)
        for page, uid, state, assigned, comments in ask(
            "SELECT page_id, uid, state, assigned, count(*) OVER (PARTITION BY page_id, uid) "
            "FROM acts WHERE act = 'comment' ORDER BY id"
        ):
            found["thread", (page, uid)] = ((state, assigned, comments), comments)
        event_counts = dict(ask("SELECT account_id, count(*) FROM account_events GROUP BY account_id").fetchall())
        for name, number in ask("SELECT name, id FROM accounts").fetchall():
            self.numbers[name] = number
        for name, account in self.accounts().items():
            shown = (account["role"], account["disabled"], account["provisional"])
            found["account", name] = (shown, event_counts.get(self.numbers[name], 0))
        return found

    def may(self, who: str, what: str) -> bool:
        """Whether they have the right to ask for that, by their account as it stands and the session that they have."""
        account = self.accounts().get(who)
        if account is None or account["disabled"] or account["provisional"] or account["stamp"] != self.stamps[who]:
            return False
        return NEEDS.get(what, "decide") in RIGHTS[account["role"]]

    def step(self) -> str:
        """One request; gives what it was. Raises BrokenModelError."""
        return self.play(self.drawn())

    def drawn(self) -> Request:
        """Somebody asks for something."""
        who = self.chance.choice(["甲", "乙", "丙", "甲", "乙", "丙", "戊", "己", "丁", NOBODY])
        if who in CHANGED and self.stamps[who] != self.accounts()[who]["stamp"] and self.chance.random() < 0.5:
            self.come_in_again(who)
        what, method, path, body = self.asked(self.now)
        sound = self.chance.random() > 0.1 or body is None
        if not sound:
            wrong = self.chance.choice(BROKEN)
            body = {**body, **wrong} if wrong and isinstance(wrong, dict) else wrong
        return Request(who, what, method, path, body, sound)

    def play(self, request: Request) -> str:
        """Ask for it, and hold the answer and what it left against the model."""
        who, what, before = request.who, request.what, self.now
        allowed = self.may(who, what)
        key = request.body.get("key", "") if isinstance(request.body, dict) else ""
        again = isinstance(key, str) and key in self.keys[what]
        other = isinstance(key, str) and any(key in used for name, used in self.keys.items() if name != what)
        headers = {} if request.method == "GET" else {"X-CSRFToken": self.tokens[who]}
        sent = {} if request.method == "GET" else {"json": request.body}
        answer = self.browsers[who].client.open(request.path, method=request.method, headers=headers, **sent)
        after = self.now = self.world()
        description = (
            f"{who or 'nobody'} {what} {request.path} {request.body} -> {answer.status_code} {answer.text[:200]}"
        )
        changed = {thing for thing in before.keys() | after.keys() if before.get(thing) != after.get(thing)}
        sent_again = again or other
        self.check(request, allowed, answer.status_code, changed, sent_again, description)
        must(not other or answer.status_code >= 400, f"the key is another's: {description}")
        fresh = answer.status_code < 400 and not sent_again
        if fresh and what in ("undo", "redo"):
            self.turned(request, json.loads(answer.text), before, after, changed, description)
        elif what in ("undo", "redo") and request.sound and not sent_again and allowed and not request.body["leave"]:
            self.refused(who, what, answer.status_code, description)
        elif changed:
            self.did(who, before, after, {thing for thing in changed if thing[0] in ACTS})
        if fresh:
            self.remember(request, json.loads(answer.text), after, description)
            if key:
                self.keys[what].append(key)
        return description

    def remember(self, request: Request, answer: Any, after: World, description: str) -> None:
        """What an answer gave that is needed later, and whether what was written down bears what was said."""
        if request.what == "reread":
            self.jobs.append((int(request.path.split("/")[-2]), answer["id"], request.who))
        if request.what == "reset":
            name = answer["person"]["name"]
            self.passwords[name] = answer["password"]
        if request.what == "comment":
            must(
                (answer["person"], answer["text"]) == (request.who, request.body.get("text", "")),
                f"not as it was sent: {description}",
            )
            thread = after["thread", (answer["page"], answer["uid"])]
            must(
                thread[0][:2] == (answer["state"], answer["assigned"]), f"{thread} is not what was said: {description}"
            )
            must(answer["assigned"] in ("", *PROOFREAD), f"given to one who may not decide: {description}")
        if request.what in ("decide", "correct"):
            wanted = (request.who, request.body["note"])
            must((answer["person"], answer["note"]) == wanted, f"not by whom, or without the note: {description}")
            must(after["flag", answer["flag"]][1] >= answer["version"], description)
        if request.what == "stop":
            own = request.who in {who for page, job, who in self.jobs if job in request.path}
            must(
                own or request.who == "甲" or self.accounts()[request.who]["role"] == "administrator",
                f"not theirs: {description}",
            )

    def come_in_again(self, who: str) -> None:
        """Log in anew, where that may be; with a password of one's own where somebody else has set it."""
        if self.accounts()[who]["disabled"]:
            browser = self.house.somebody()
            must(browser.log_in(who, self.passwords[who]).status_code != 302, f"{who} is shut out and came in")
            return
        browser = self.house.browser(who, self.passwords[who])
        if self.accounts()[who]["provisional"]:
            token = browser.token()
            must(browser.client.get(f"{BASE}/flags").status_code >= 400, f"{who} sees with another's password")
            body = {"current": self.passwords[who], "new": PASSWORD + "！"}
            said = browser.client.put("/api/v1/session/password", json=body, headers={"X-CSRFToken": token})
            must(said.status_code == 200, said.text)
            self.passwords[who] = PASSWORD + "！"
        self.browsers[who], self.tokens[who] = browser, browser.token()
        self.stamps[who], self.now = self.accounts()[who]["stamp"], self.world()

    def asked(self, world: World) -> tuple[str, str, str, Any]:
        """What is asked for: its name, its method, its address and its body."""
        what = self.chance.choice(ASKED)
        key = self.key_for(what)
        if what in ("decide", "many", "correct"):
            return what, "POST", *self.about_flags(what, world, key)
        if what in ("page", "layout", "reread", "stop", "comment"):
            return what, "POST", *self.about_page(what, world, key)
        if what in ("add", "change", "reset"):
            return what, *self.about_people(what)
        if what == "rule":
            pair = {"text": self.chance.choice("告大"), "image": self.chance.choice(["吿", "", "\n"])}
            return what, "POST", f"{BASE}/rules", pair | {"holds": self.chance.random() < 0.6}
        if what == "look":
            return what, "GET", f"{BASE}/{self.chance.choice(LISTED)}", None
        return what, "POST", f"{BASE}/{what}", {"key": key, "leave": self.chance.random() < 0.3}

    def key_for(self, what: str) -> str:
        """A new key; sometimes one that was used, for this or for something else."""
        drawn = self.chance.random()
        used = self.keys[what] if drawn < 0.05 else [key for keys in self.keys.values() for key in keys]
        return self.chance.choice(used) if used and drawn < 0.08 else uuid.uuid4().hex

    def about_flags(self, what: str, world: World, key: str) -> tuple[str, Any]:
        chance = self.chance
        flags = [thing[1] for thing in world if thing[0] == "flag"]
        if what == "decide":
            flag = chance.choice([*flags, 999])
            return f"{BASE}/flags/{flag}/decisions", self.decision(world, flag) | {"key": key}
        if what == "many":
            some = chance.sample(flags, 3)
            many = [self.decision(world, flag) | {"flag": flag, "key": uuid.uuid4().hex} for flag in some]
            return f"{BASE}/decisions", {"decisions": many, "batch": uuid.uuid4().hex}
        place = {"line": chance.randint(1, 3), "offset": chance.randint(0, 10), "length": chance.randint(0, 2)}
        more = {"reading": chance.choice(READINGS), "delete": chance.random() < 0.2, "note": chance.choice(NOTES)}
        return f"{BASE}/pages/{chance.choice(self.pages)}/corrections", place | more | {"key": key}

    def about_page(self, what: str, world: World, key: str) -> tuple[str, Any]:
        if what == "comment":
            return self.comment(world, key)
        chance = self.chance
        page = chance.choice([*self.pages, 999])
        if what == "reread":
            return f"{BASE}/pages/{page}/read-again", None
        if what == "stop":
            page, job, _ = chance.choice(self.jobs or [(page, "none", "")])
            return f"{BASE}/pages/{page}/read-again/{job}/stop", None
        kind = "page" if what == "page" else "layout"
        version = max(world.get((kind, page), (None, 0))[1] - (chance.random() < 0.1), 0)
        if what == "page":
            body = {"state": chance.choice(STATES), "note": chance.choice(NOTES), "version": version, "key": key}
            return f"{BASE}/pages/{page}/states", body
        layout = chance.choice([None, LAYOUT, LAYOUT | {"rules": [0.7, 0.3]}, LAYOUT | {"corners": [[0, 0]] * 4}])
        image = chance.choice(["", "", "page.png", "../../etc/passwd"])
        return f"{BASE}/pages/{page}/layout-overrides", {
            "layout": layout,
            "image": image,
            "version": version,
            "key": key,
        }

    def comment(self, world: World, key: str) -> tuple[str, Any]:
        chance = self.chance
        flags = [thing[1] for thing in world if thing[0] == "flag"]
        place = (
            f"flags/{chance.choice([*flags, 999])}" if chance.random() < 0.6 else f"pages/{chance.choice(self.pages)}"
        )
        [seen] = self.database.execute("SELECT coalesce(max(id), 0) FROM acts WHERE act = 'comment'").fetchone()
        body = {"text": chance.choice(NOTES), "seen": max(seen - chance.randint(0, 2), 0), "key": key}
        if chance.random() < 0.6:
            body["state"] = chance.choice(["problem", "problem", "resolved", "note"])
        if chance.random() < 0.4:
            body["assigned"] = chance.choice(["", "甲", "乙", "丁", "nobody"])
        return f"{BASE}/{place}/comments", body

    def about_people(self, what: str) -> tuple[str, str, Any]:
        chance = self.chance
        if what == "add":
            name = chance.choice(["庚" + uuid.uuid4().hex[:6], "甲", " ", "a\x00b"])
            return "POST", "/api/v1/people", {"name": name, "role": chance.choice([*RIGHTS, "king"])}
        number = self.numbers[chance.choice(CHANGED)] if chance.random() < 0.9 else 999
        if what == "reset":
            return "POST", f"/api/v1/people/{number}/password", None
        if chance.random() < 0.05:  # of the one who administers: refused where nobody else does
            return "PATCH", f"/api/v1/people/{self.numbers['甲']}", {"role": "administrator"}
        body = chance.choice([{"role": chance.choice(list(RIGHTS))}, {"disabled": chance.random() < 0.5}])
        return "PATCH", f"/api/v1/people/{number}", body

    def decision(self, world: World, flag: int) -> dict[str, Any]:
        version = world.get(("flag", flag), (None, 0))[1] - (self.chance.random() < 0.1)
        verdict = self.chance.choice(VERDICTS)
        reading = self.chance.choice(READINGS) if verdict in ("other", "typed") else ""
        note = self.chance.choice(NOTES)
        return {"verdict": verdict, "version": max(version, 0), "reading": reading, "note": note}

    def check(
        self, request: Request, allowed: bool, status: int, changed: set[Thing], sent_again: bool, description: str
    ) -> None:
        """What must hold of every answer."""
        must(status < 500, description)
        must(status < 400 or not changed, f"refused, and changed {changed}: {description}")
        must(allowed or not changed, f"without the right to: {description}")
        must(allowed or status >= 400, f"without the right to: {description}")
        must(request.what not in ("look", "reread", "stop") or not changed, f"changed {changed}: {description}")
        must(not sent_again or not changed, f"sent again: {description}")
        threads = {thing for thing in changed if thing[0] == "thread"}
        must(bool(threads) == (request.what == "comment" and bool(changed)), f"changed {changed}: {description}")
        must(
            status not in (401, 403) or not allowed or request.what in ("decide", "page", "undo", "redo", "stop"),
            description,
        )
        kinds = {"add": "account", "change": "account", "reset": "account", "layout": "layout", "rule": "rule"}
        kind = kinds.get(request.what)
        must(kind is None or {thing[0] for thing in changed} <= {kind}, f"changed {changed}: {description}")
        most = {"comment": 2, "decide": 2, "many": 6, "undo": 99, "redo": 99}.get(request.what, 1)
        must(len(changed) <= most, f"changed {changed}: {description}")
        must(request.what != "decide" or status != 201 or bool(changed), f"changed nothing: {description}")
        administer = [name for name, who in self.accounts().items() if who["role"] == "administrator"]
        must(any(not self.accounts()[name]["disabled"] for name in administer), f"nobody administers: {description}")

    def did(self, who: str, before: World, after: World, changed: set[Thing]) -> None:
        if not changed:
            return
        self.model.done[who].append(Act(seen(before, changed), seen(after, changed)))
        self.model.undone[who].clear()
        self.note(who, changed)

    def note(self, who: str, changed: set[Thing]) -> None:
        for number in changed:
            self.model.touched.setdefault(number, set()).add(who)

    def turned(
        self, request: Request, answer: Any, before: World, after: World, changed: set[Thing], description: str
    ) -> None:
        """Something was taken back, or done again: exactly the last act; where others are left alone, the part of it,
        or of one before, that nobody else has changed, and what is left of it is still to be taken back."""
        done, undone = self.model.done[request.who], self.model.undone[request.who]
        own, other = (done, undone) if request.what == "undo" else (undone, done)
        things = told_of(answer)
        meant = [n for n, act in enumerate(own) if things <= act.after.keys()]
        must(bool(meant), f"there was nothing: {description}")
        act = own.pop(meant[-1])
        was, now = (act.after, act.before) if request.what == "undo" else (act.before, act.after)
        if not request.body["leave"]:
            must(meant[-1] == len(own), f"not the last act: {description}")
            must(things == set(now), f"{set(now) - things} of it are left: {description}")
        must(seen(before, things) == {thing: was[thing] for thing in things}, f"somebody had changed it: {description}")
        left = seen(after, things)
        must(left == {thing: now[thing] for thing in things}, f"{left} is not {now}: {description}")
        must(changed <= things, f"changed {changed - things} besides: {description}")
        rest = now.keys() - things
        if rest:
            own.insert(meant[-1], Act({t: act.before[t] for t in rest}, {t: act.after[t] for t in rest}))
        other.append(Act({t: act.before[t] for t in things}, {t: act.after[t] for t in things}))
        self.note(request.who, things)

    def refused(self, who: str, what: str, status: int, description: str) -> None:
        own = (self.model.done if what == "undo" else self.model.undone)[who]
        must(status != 404 or not own, f"there was something: {description}")
        if status == 409:
            must(bool(own), f"there was nothing: {description}")
            others = {name for thing in own[-1].after for name in self.model.touched.get(thing, ())} - {who}
            must(bool(others), f"nobody else had changed it: {description}")


def must(holds: bool, description: str) -> None:
    if not holds:
        raise BrokenModelError(description)


def told_of(answer: Any) -> set[Thing]:
    """What an answer says was taken back, or done again."""
    if answer["rule"]:
        return {("rule", (answer["rule"]["text"], answer["rule"]["image"]))}
    if answer["page"]:
        return {("page", answer["page"]["page"])}
    if answer["reread_page"]:
        return {("layout", answer["reread_page"])}
    return {("flag", decision["flag"]) for decision in answer["decisions"]}


def seen(world: World, things: set[Thing]) -> dict[Thing, Any]:
    """What can be seen of those things, without how often something was said of them."""
    return {thing: world.get(thing, (None, 0))[0] for thing in things}


@contextmanager
def player(seed: int) -> Iterator[Player]:
    """A new store with what a check found, an account of each role, and somebody who plays on it."""
    memory = Path("/dev/shm")  # noqa: S108 - nothing is asked of the disk there
    with (
        tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as scratch,
        contextmanager(house_in)(Path(scratch), attempts=1000) as house,
    ):
        add_moved(house.store, Path(scratch))
        with closing(Player(house, random.Random(seed))) as played:  # noqa: S311
            yield played


def played(sequences: int, seed: int) -> tuple[int, list[str]]:
    """How many requests so many sequences made, and what broke the model: each with the steps that led there."""
    asked, broken = 0, []
    for start in range(0, sequences, RENEWED):
        with player(seed + start) as playing:
            steps: list[str] = []
            for _ in range(min(RENEWED, sequences - start) * STEPS):
                try:
                    steps.append(playing.step())
                    asked += 1
                except BrokenModelError as error:
                    broken.append("\n  ".join([f"seed {seed + start}:", *steps[-6:], str(error)]))
                    break
    return asked, broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sequences", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    logging.disable()
    asked, broken = played(given.sequences, given.seed)
    click.echo(f"{given.sequences} sequences, {asked} requests, {len(broken)} broke the model")
    for failure in broken:
        click.echo(failure)
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
