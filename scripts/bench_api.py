#!/usr/bin/env python3
"""Sequences of requests against the JSON API, with real ids, by people of every role, beside a model of what must hold.

    bench_api.py [--sequences 10000] [--seed 1]

Each step somebody (an administrator, two proofreaders, a reader, nobody in particular) decides about a flag or several,
corrects a place by hand, says where a page stands, sets a rule, takes back or does again, or looks; with the version
that is there or an old one, with a new key or one that was used, with a sound body or a broken one. What must hold:
no answer is a mistake of the server's; what is refused changes nothing; who may not decide changes nothing; what is
sent again changes nothing; a decision changes its flag, and the other half of a moved character, and nothing else;
undo leaves exactly what was before the person's last act, redo what was after it, and both are refused only where
somebody else changed the same thing since. The exit status is 1 where one was broken.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from sqlalchemy import select
from sqlalchemy.orm import Session

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from proof.store import rows
from proof.store.models import FlagRow, PageEventRow
from tests.web.drawn import WORK
from tests.web.test_moved_browser import add_moved
from tests.web.test_people import BASE, PEOPLE, House, house_in

STEPS, RENEWED = 8, 100
"""Requests in a sequence; sequences after which a new store is begun."""
NOBODY = ""
DECIDING = ("甲", "乙", "丙")
VERDICTS = ("keep", "take", "other", "typed", "delete", "copy", "unsure", "skip")
READINGS = ("", "某", "𠀀", "甲乙", "行\n", "¶", "\x00", "字" * 65)
STATES = ("not proofread", "proofread", "validated", "problem")
ASKED = (*["decide"] * 5, "many", "correct", *["page"] * 2, "rule", *["undo"] * 3, *["redo"] * 2, "look")
LISTED = ("flags", "facets", "history", "pairs", "pages", "rules", "displaced")
BROKEN: tuple[Any, ...] = ({}, [], None, "x", {"key": "short"}, {"version": -1}, {"unknown": 1})

Thing = tuple[str, Any]
World = dict[Thing, tuple[Any, int]]
"""What can be seen of each flag, page and rule, and how often something was said of it."""


@dataclass(frozen=True)
class Act:
    """What somebody did: what they touched, as it was before and after."""

    before: dict[Thing, Any]
    after: dict[Thing, Any]


@dataclass
class Model:
    """What people did and can take back, newest last, and what others have touched since each act."""

    done: dict[str, list[Act]] = field(default_factory=lambda: {name: [] for name in PEOPLE})
    undone: dict[str, list[Act]] = field(default_factory=lambda: {name: [] for name in PEOPLE})
    touched: dict[Thing, set[str]] = field(default_factory=dict)


class BrokenModelError(AssertionError):
    """An answer, or what it left, that must not be."""


class Player:
    """Plays sequences of requests on one store."""

    def __init__(self, house: House, chance: random.Random) -> None:
        self.house, self.chance, self.model = house, chance, Model()
        self.clients = {name: house.browser(name) for name in PEOPLE} | {NOBODY: house.somebody()}
        self.tokens = {name: one.token("/account" if name else "/login") for name, one in self.clients.items()}
        self.keys: dict[str, list[str]] = {what: [] for what in ASKED}
        self.pages = [page.number for page in house.store.queue.pages(WORK)]

    def world(self) -> World:
        """All flags, pages and rules as they stand; a correction by hand that was taken back is nothing."""
        store = self.house.store
        with Session(store.engine) as session:
            of_flag = FlagRow.state, FlagRow.reading, FlagRow.version, FlagRow.transcribed, FlagRow.ordinal
            flags = session.execute(select(FlagRow.id, *of_flag)).all()
            events = select(PageEventRow.page_id, PageEventRow.state, PageEventRow.version)
            said = {page: (state, at) for page, state, at in session.execute(events.order_by(PageEventRow.version))}
        found: World = {}
        for number, state, reading, version, transcribed, ordinal in flags:
            if ordinal == rows.BY_HAND and state == "open":
                continue
            found["flag", number] = ((state, reading if version else transcribed), version)
        for page in self.pages:
            found["page", page] = said.get(page, ("not proofread", 0))
        return found | {("rule", (one.transcribed, one.suggested)): (True, 0) for one in store.marks.rules(WORK)}

    def step(self) -> str:
        """One request; gives what it was. Raises BrokenModelError."""
        who = self.chance.choice([*DECIDING, *DECIDING, "丁", NOBODY])
        before = self.world()
        what, path, body = self.asked(before)
        whole = self.chance.random() > 0.1 or body is None
        if not whole:
            wrong = self.chance.choice(BROKEN)
            body = {**body, **wrong} if wrong and isinstance(wrong, dict) else wrong
        key = body.get("key", "") if isinstance(body, dict) else ""
        again = key in self.keys[what]
        client = self.clients[who].client
        if what == "look":
            answer = client.get(path)
        else:
            answer = client.post(path, json=body, headers={"X-CSRFToken": self.tokens[who]})
        after = self.world()
        told = f"{who or 'nobody'} {what} {body} -> {answer.status_code} {answer.text[:200]}"
        changed = {one for one in before.keys() | after.keys() if before.get(one) != after.get(one)}
        self.check(who, what, body, answer.status_code, changed, told)
        if answer.status_code < 400 and what in ("undo", "redo") and not again:
            self.turned(who, what, before, after, changed, told)
        elif what in ("undo", "redo") and whole and not again and who in DECIDING:
            self.refused(who, what, answer.status_code, told)
        elif changed:
            self.did(who, before, after, changed)
        if answer.status_code < 400 and key:
            self.keys[what].append(key)
        return told

    def asked(self, world: World) -> tuple[str, str, Any]:  # noqa: PLR0911 - one way out for each kind of request
        """What is asked for: its name, its address and its body."""
        chance = self.chance
        flags = [thing[1] for thing in world if thing[0] == "flag"]
        page = chance.choice(self.pages)
        what = chance.choice(ASKED)
        used = self.keys[what]
        key = chance.choice(used) if used and chance.random() < 0.05 else uuid.uuid4().hex
        if what == "decide":
            flag = chance.choice([*flags, 999])
            return what, f"{BASE}/flags/{flag}/decisions", self.decision(world, flag) | {"key": key}
        if what == "many":
            some = chance.sample(flags, 3)
            many = [self.decision(world, flag) | {"flag": flag, "key": uuid.uuid4().hex} for flag in some]
            return what, f"{BASE}/decisions", {"decisions": many, "batch": uuid.uuid4().hex}
        if what == "correct":
            place = {"line": chance.randint(1, 3), "offset": chance.randint(0, 10), "length": chance.randint(0, 2)}
            more = {"reading": chance.choice(READINGS), "delete": chance.random() < 0.2, "key": key}
            return what, f"{BASE}/pages/{page}/corrections", place | more
        if what == "page":
            version = world["page", page][1] - (chance.random() < 0.1)
            said = {"state": chance.choice(STATES), "version": max(version, 0), "key": key}
            return what, f"{BASE}/pages/{page}/states", said
        if what == "rule":
            pair = {"text": chance.choice("告大"), "image": chance.choice(["吿", ""])}
            return what, f"{BASE}/rules", pair | {"holds": chance.random() < 0.6}
        if what == "look":
            return what, f"{BASE}/{chance.choice(LISTED)}", None
        return what, f"{BASE}/{what}", {"key": key}

    def decision(self, world: World, flag: int) -> dict[str, Any]:
        version = world.get(("flag", flag), (None, 0))[1] - (self.chance.random() < 0.1)
        verdict = self.chance.choice(VERDICTS)
        reading = self.chance.choice(READINGS) if verdict in ("other", "typed") else ""
        return {"verdict": verdict, "version": max(version, 0), "reading": reading}

    def check(self, who: str, what: str, body: Any, status: int, changed: set[Thing], told: str) -> None:
        """What must hold of every answer."""
        must(status < 500, told)
        must(status < 400 or not changed, f"refused, and changed {changed}: {told}")
        must(who in DECIDING or not changed, f"without the right to: {told}")
        must(who in DECIDING or what == "look" or status >= 400, told)
        must(what != "rule" or who == "甲" or status >= 400, told)
        must(what != "look" or not changed, told)
        must(not (isinstance(body, dict) and body.get("key") in self.keys[what]) or not changed, f"sent again: {told}")
        most = {"decide": 2, "many": 6, "correct": 1, "page": 1, "rule": 1}.get(what, 99)
        must(len(changed) <= most, f"changed {changed}: {told}")
        must(what != "decide" or status != 201 or bool(changed), f"changed nothing: {told}")

    def did(self, who: str, before: World, after: World, changed: set[Thing]) -> None:
        self.model.done[who].append(Act(seen(before, changed), seen(after, changed)))
        self.model.undone[who].clear()
        self.note(who, changed)

    def note(self, who: str, changed: set[Thing]) -> None:
        for one in changed:
            self.model.touched.setdefault(one, set()).add(who)

    def turned(self, who: str, what: str, before: World, after: World, changed: set[Thing], told: str) -> None:
        """Something was taken back, or done again: exactly the last act."""
        own, other = (self.model.done, self.model.undone) if what == "undo" else (self.model.undone, self.model.done)
        must(bool(own[who]), f"there was nothing: {told}")
        act = own[who].pop()
        was, now = (act.after, act.before) if what == "undo" else (act.before, act.after)
        things = set(now)
        must(seen(before, things) == was, f"somebody had changed it: {told}")
        must(seen(after, things) == now, f"{seen(after, things)} is not {now}: {told}")
        must(changed <= things, f"changed {changed - things} besides: {told}")
        other[who].append(act)
        self.note(who, changed)

    def refused(self, who: str, what: str, status: int, told: str) -> None:
        own = (self.model.done if what == "undo" else self.model.undone)[who]
        must(status != 404 or not own, f"there was something: {told}")
        if status == 409:
            others = {name for thing in own[-1].after for name in self.model.touched.get(thing, ())} - {who}
            must(bool(others), f"nobody else had changed it: {told}")


def must(holds: bool, told: str) -> None:
    if not holds:
        raise BrokenModelError(told)


def seen(world: World, things: set[Thing]) -> dict[Thing, Any]:
    """These things as they can be seen, without how often something was said of them."""
    return {thing: world.get(thing, (None, 0))[0] for thing in things}


@contextmanager
def player(seed: int) -> Iterator[Player]:
    """A new store with what a check found, an account of each role, and somebody who plays on it."""
    with tempfile.TemporaryDirectory() as scratch, contextmanager(house_in)(Path(scratch)) as house:
        add_moved(house.store, Path(scratch))
        yield Player(house, random.Random(seed))  # noqa: S311


def played(sequences: int, seed: int) -> tuple[int, list[str]]:
    """How many requests so many sequences made, and what broke the model: each with the steps that led there."""
    asked, broken = 0, []
    for start in range(0, sequences, RENEWED):
        with player(seed + start) as one:
            steps: list[str] = []
            for _ in range(min(RENEWED, sequences - start) * STEPS):
                try:
                    steps.append(one.step())
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
    asked, broken = played(given.sequences, given.seed)
    click.echo(f"{given.sequences} sequences, {asked} requests, {len(broken)} broke the model")
    for one in broken:
        click.echo(one)
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
