r"""Make tests/store/data/store-0.1.0.tar.xz: a project of version 0.1.0 in which everything was decided that people can
decide, and what that version exported from it.

Version 0.1.0 has to do it. It is the commit a70be37; from a checkout, with the packages of this one:

    git worktree add ../old a70be37
    PYTHONPATH=../old .venv/bin/python -P scripts/make_store_0_1_0.py pages /tmp/project \
        tests/store/data/store-0.1.0.tar.xz

`/tmp/project` is where the project lies meanwhile, and the path that its store names its text by. The images stay where
they are, in pages/: of the first six half-folios of the sample.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import tarfile
from dataclasses import asdict
from pathlib import Path

from proof.images.hint import LayoutHint
from proof.store.marks import Mark, PageState

import proof
from proof.cli import main
from proof.store import FlagFilter, Store
from proof.store.accounts import Role
from proof.store.decisions import Demand, Verdict
from proof.store.queue import Order, Wanted

WORK = "dasheyi"
CONFIG = """[project]
title = "儀禮集釋 卷十 大射儀"
texts = ["pages/*.txt"]
images = ["pages"]

[engine]
name = "ppocr"
runtime = "onnxruntime"
"""
REFERENCES = ("WYG0103-0192", "WYG0103-0193")


def make(pages: Path, project: Path) -> None:
    """A project, checked twice: what was decided after the first check is carried over to a text that changed."""
    (project / "pages").mkdir(parents=True)
    (project / "config.toml").write_text(CONFIG, encoding="utf-8")
    text = (pages / "dasheyi.txt").read_text(encoding="utf-8")
    text = text[text.index("卷十 第 1a 页") : text.index("卷十 第 4a 页")]
    (project / "pages" / "dasheyi.txt").write_text(text, encoding="utf-8")
    for image in sorted(pages.glob("*.png")):
        if image.name.startswith(REFERENCES):
            shutil.copy(image, project / "pages")
    check(project)
    with Store.open(project / "proof.sqlite") as store:
        decide(store)
    text = text.replace("司射东面于大夫之西北", "又\n司射东面于大夫之西北", 1)
    (project / "pages" / "dasheyi.txt").write_text(text, encoding="utf-8")
    check(project)


def check(project: Path) -> None:
    if main(["check", "--config", str(project), "-q"]) != 0:
        raise SystemExit("the check failed")


def decide(store: Store) -> None:
    """Every verdict, a place corrected by hand, states of pages, a rule that holds and one that was lifted, a layout,
    accounts of every role."""
    numbers, _ = store.queue.find(WORK, Wanted(raised=None), Order.PAGE, limit=100)
    flags = {one.flag.transcribed + "→" + one.flag.suggested: one for one in store.queue.flags(WORK, numbers)}

    def say(flag: str, verdict: Verdict, person: str, **more: object) -> int:
        number = flags[flag].number
        version = store.queue.flags(WORK, [number])[0].version
        key = f"request-{flag}-{version}"
        return store.decisions.decide(Demand(WORK, number, verdict, version, person, key, **more)).id  # type: ignore[arg-type]

    say("北→比", Verdict.TAKE, "王")
    say("→揖", Verdict.TAKE, "李", note="據影印本補")
    say("大→保", Verdict.KEEP, "王")
    say("矢→入", Verdict.COPY, "王", note="原文如此")
    say("梱→悃", Verdict.OTHER, "李", reading="捆")
    say("→道", Verdict.UNSURE, "李")
    say("弣→附", Verdict.SKIP, "王")
    first = say("还内→内还", Verdict.TYPED, "王", reading="内旋")
    say("还内→内还", Verdict.UNDO, "王", undoes=first)
    say("还内→内还", Verdict.TAKE, "王")
    pages = store.queue.pages(WORK)
    store.marks.correct(Mark(WORK, pages[2].number, 2, 3, 1, "某", "李", "request-by-hand", "以意改"))
    store.marks.set_page(WORK, pages[0].number, PageState.PROOFREAD, 0, "王", "request-proofread")
    store.marks.set_page(WORK, pages[0].number, PageState.VALIDATED, 1, "李", "request-validated")
    store.marks.set_page(WORK, pages[4].number, PageState.PROBLEM, 0, "李", "request-problem", "墨污")
    store.marks.set_rule(WORK, "楅", "福", True, "王")
    store.marks.set_rule(WORK, "弣", "附", True, "王")
    store.marks.set_rule(WORK, "弣", "附", False, "王")
    corners = ((80.0, 90.0), (1050.0, 90.0), (1050.0, 1400.0), (80.0, 1400.0))
    layout = LayoutHint(corners, tuple(n / 8 for n in range(1, 8)))
    store.mends.set(WORK, pages[2].number, layout, "", "", version=0, person="王", key="request-layout")
    store.mends.set(WORK, pages[2].number, None, "", "", version=1, person="王", key="request-found")
    for name, role in (("王", Role.ADMINISTRATOR), ("李", Role.PROOFREADER), ("客", Role.READER)):
        store.accounts.add(name, role, f"the passphrase of {name}")
    store.accounts.set_disabled(store.accounts.named("客").number, True)


def told(store: Store) -> dict[str, object]:
    """All that people decided, as version 0.1.0 tells it."""
    log = [asdict(decision) for decision in store.decisions.log(WORK, limit=1000)]
    pages = {page.page: store.marks.page_history(WORK, page.number) for page in store.queue.pages(WORK)}
    return {
        "decisions": log,
        "flags": [one.flag.id for one in store.flags(FlagFilter(WORK))],
        "pages": {page: [(one.state, one.person, one.note) for one in said] for page, said in pages.items()},
        "rules": [(rule.transcribed, rule.suggested, rule.person) for rule in store.marks.rules(WORK)],
        "layouts": {
            page.page: [(one.person, one.layout is None) for one in store.mends.history(WORK, page.number)]
            for page in store.queue.pages(WORK)
        },
        "accounts": [(one.name, one.role, one.disabled) for one in store.accounts.everybody()],
    }


def pack(project: Path, archive: Path) -> None:
    """The project without images and reports, as small as it gets, with what was told and exported."""
    with Store.open(project / "proof.sqlite") as store:
        text = json.dumps(told(store), ensure_ascii=False, indent=1, default=str)
        (project / "told.json").write_text(text, encoding="utf-8")
    exported = ["export", str(project / "pages" / "dasheyi.txt"), "--config", str(project)]
    if main([*exported, "--out", str(project / "exported")]) != 0:
        raise SystemExit("the export failed")
    with sqlite3.connect(project / "proof.sqlite") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute("VACUUM")
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:xz") as tar:
        for name in ("config.toml", "pages/dasheyi.txt", "proof.sqlite", "told.json", "exported"):
            tar.add(project / name, name, filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member


if __name__ == "__main__":
    if proof.__version__ != "0.1.0":
        raise SystemExit(f"this is version {proof.__version__}: see above")
    shutil.rmtree(sys.argv[2], ignore_errors=True)
    make(Path(sys.argv[1]), Path(sys.argv[2]))
    pack(Path(sys.argv[2]), Path(sys.argv[3]))
