"""Caches, for one process, of what is computed from images: thousands of histories check the same three pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
from flask import Flask

from proof.checking import executor, pipeline, recheck
from proof.checking.executor import CheckedPage, ImageLoader, check_page
from proof.checking.plan import PageKeys, PageTask
from proof.ocr.engine import Engine as Recogniser
from proof.ocr.registry import EngineSettings, open_engine
from proof.report.source import StoredRun
from proof.report.tally import Tally
from proof.report.write import WrittenReport
from proof.settings.config import Settings
from proof.store import Store
from proof.verify.page import Checker
from proof.web import app as web
from tests.caches import statements_compiled_once

_engine = cache(open_engine)


def _opened(settings: EngineSettings, *_: object, **__: object) -> Recogniser:
    return _engine(settings)


_PAGES: dict[str, CheckedPage] = {}
"""The first result of each page, by its key."""


def _checked(task: PageTask, keys: PageKeys, kept: Store, checker: Checker, loader: ImageLoader) -> CheckedPage:
    """Check a page that no history checked before; a result that is in the store is taken from it."""
    if task.image is None or task.trouble or kept.cached_page(keys.key(task)) is not None:
        return check_page(task, keys, kept, checker, loader)
    known = _PAGES.get(keys.key(task))
    if known is None or (known.shapes is None and not kept.glyphs.known_on(known.result.image_sha)):
        known = _PAGES[keys.key(task)] = check_page(task, keys, kept, checker, loader)
    return replace(known, task=task, result=replace(known.result, image=task.image.path))


_APPS: dict[str, Flask] = {}
"""The application of each person, which serves one project after another, so that routes and templates are made once.
Only its project depends on what it serves."""


def _served(settings: Settings, *, store: Store) -> Flask:
    person = os.environ["LOGNAME"]
    app = _APPS[person] if person in _APPS else _APPS.setdefault(person, web.create_app(settings, store=store))
    app.extensions["proof"] = web._project(settings, store)
    return app


def _counted(source: StoredRun, folder: Path, **_: object) -> WrittenReport:
    """The counts of a report, which is not written, since no history reads it."""
    return WrittenReport(folder, folder, folder, folder, Tally.of(source.results(outline=True)))


@contextmanager
def computed_once() -> Iterator[None]:
    """Share between the histories of one process: one engine, one result for each key of a page, one application for
    each person. Reports are not written."""
    with ExitStack() as stack:
        statements_compiled_once(stack.enter_context(pytest.MonkeyPatch.context()))
        stack.enter_context(patch.object(executor, "check_page", _checked))
        for module in (pipeline, recheck):
            stack.enter_context(patch.object(module, "open_engine", _opened))
        stack.enter_context(patch.object(pipeline, "write_reports", _counted))
        stack.enter_context(patch("tests.acceptance.history.create_app", _served))
        yield
