#!/usr/bin/env python3
"""Damage the columns of a page at random, take all that is asked, and see that the page reads as before.

    python -m tests.soak.damaged_columns [--pages 100] [--first-seed 1]

Columns of a half-folio of the sample are left out, doubled, moved, exchanged, split or joined, and characters beside
that are left out, put in or exchanged: one to three times. The text is checked, every suggestion is taken, and the text
is exported in place and checked again, until nothing is asked, three times at most: where several damages lie in one
another, the first check cannot see all. Then the columns must stand as they did, each nearly as it read (the recogniser
may misread a character), and two more exports must change nothing; or the export or a finding about the whole page must
say what is not put right. Prints each page that is not so, and how many rounds the pages took; the exit status is 1
where there was one.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rapidfuzz import fuzz

from proof.exports.decided_corrections import Unused
from tests.acceptance.caches import computed_once
from tests.acceptance.history import MARK, History, sample_project

MIN_ALIKE_PERCENT = 70
"""Similarity of a column to what it read before, in percent (Indel), from which it is the same."""

MAX_ROUNDS = 3
"""Rounds of taking and exporting in which a page is put right."""

OF_COLUMNS = ("leave out", "leave two out", "double", "double two", "move", "move two", "exchange", "split", "join")
OF_CHARACTERS = ("leave a character out", "put a character in", "exchange a character")


def damaged(sound: list[str], dice: random.Random) -> tuple[list[str], list[str]]:
    """Columns with one to three damages, and what these are."""
    columns, done = list(sound), []
    for _ in range(dice.randint(1, 3)):
        at, how = dice.randrange(1, len(columns) - 1), dice.choice(OF_COLUMNS + OF_CHARACTERS)
        count = 2 if "two" in how else 1
        some = columns[at : at + count]
        done.append(f"{how} at {at + 1}")
        if len(columns) < 5:
            break
        if how.startswith("leave") and how in OF_COLUMNS:
            del columns[at : at + count]
        elif how.startswith("double"):
            columns[at:at] = some
        elif how.startswith("move"):
            del columns[at : at + count]
            to = dice.randrange(1, len(columns))
            columns[to:to] = some
        elif how == "exchange":
            columns[at - 1 : at + 1] = columns[at - 1 : at + 1][::-1]
        elif how == "join" and "(" not in "".join(columns[at : at + 2]):
            columns[at : at + 2] = ["".join([columns[at], *(column.strip() for column in columns[at + 1 : at + 2])])]
        elif "(" not in some[0] and len(some[0]) > 6:
            place = dice.randrange(2, len(some[0]) - 2)
            before, character, after = some[0][:place], some[0][place], some[0][place + 1 :]
            columns[at : at + 1] = {
                "split": [before, character + after],
                OF_CHARACTERS[0]: [before + after],
                OF_CHARACTERS[1]: [before + "雷" + character + after],
                OF_CHARACTERS[2]: [before + "雷" + after],
            }.get(how, some)
    return columns, done


def trouble(history: History, page: int, dice: random.Random) -> tuple[str, int]:
    """What is wrong in the end with a page that was damaged, empty where nothing is; and the rounds that it took."""
    rows = history.path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    begin, end = [*[n for n, row in enumerate(rows) if row.startswith(MARK)], len(rows)][page : page + 2]
    sound, behind = rows[begin + 1 : end], len(rows) - end
    rows[begin + 1 : end], done = damaged(sound, dice)
    history.path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    output = ""
    of_page = False
    rounds = 0
    _check(history)
    while rounds < MAX_ROUNDS and (asked := history.open_flags(layout=True)):
        rounds += 1
        of_page |= any(not flag["line"] for flag in asked)
        history.take_all()
        output += _export(history)
        _check(history)
    asked = history.open_flags(layout=True)
    texts = [history.path.read_text(encoding="utf-8")]
    for _ in range(2):
        _export(history)
        texts.append(history.path.read_text(encoding="utf-8"))
        _check(history)
    now = texts[0].removesuffix("\n").split("\n")
    columns = now[begin + 1 : len(now) - behind]
    alike = [fuzz.ratio(column.strip(), was.strip()) for column, was in zip(columns, sound, strict=False)]
    wrong = len(columns) != len(sound) or min(alike, default=0) < MIN_ALIKE_PERCENT
    faults = [
        "the columns are others" if wrong and not of_page and "not written" not in output else "",
        "a later round changed the text" if len(set(texts)) > 1 else "",
        "something is asked again" if asked and "not written" not in output else "",
    ]
    if not any(faults):
        return "", rounds
    fault = f"page {page + 1}, {', '.join(done)}: {', '.join(filter(None, faults))}"
    return f"{fault}\n" + "\n".join(columns) + f"\n{output}", rounds


def _check(history: History) -> None:
    history.proof("check", "-q", "--threshold", "3")


def _export(history: History) -> str:
    """What the export said, and the one after it if that is to write what was decided within columns that moved."""
    output = history.proof("export", "--in-place", "--form", "text")[1]
    return output + _export(history) if Unused.MOVES.value in output else output


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=1)
    options = parser.parse_args()
    broken = 0
    rounds: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as folder, computed_once():
        base = Path(folder) / "base"
        sample_project(base)
        for seed in range(options.first_seed, options.first_seed + options.pages):
            dice = random.Random(seed)  # noqa: S311 - a damage is known by its seed
            with tempfile.TemporaryDirectory() as own:
                history = History(Path(own), seed, base, threshold=3.0)
                fault, took = trouble(history, dice.randrange(3), dice)
                history.stop()
            broken += bool(fault)
            rounds[took] += 1
            if fault:
                print(f"seed {seed}, {fault}", flush=True)  # noqa: T201
    print(f"{broken} of {options.pages} damaged pages are not put right and not said so")  # noqa: T201
    print("pages by rounds:", ", ".join(f"{took}: {pages}" for took, pages in sorted(rounds.items())))  # noqa: T201
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
