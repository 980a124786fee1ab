"""Imported by the process that commands are forked from, so that it has loaded and compiled what each of them needs for
its first answer or page."""

from __future__ import annotations

import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from flask import Flask

from proof.language.model import LanguageModel
from proof.store import Store
from proof.text.authorities import authorities
from proof.web import create_app
from tests.caches import addresses_built_alike, compiled_templates, statements_compiled_once
from tests.web.drawn import WORK, fill, settings_in

VIEWS = ("", "desk", "pages/", "pages/2")


def _answer_once() -> None:
    """Serve the most used views of a project."""
    with TemporaryDirectory() as folder:
        settings = settings_in(Path(folder))
        with Store.open(settings.store_address) as store:
            fill(store, Path(folder))
            app = create_app(settings, store=store)
            for view in VIEWS:
                assert app.test_client().get(f"/works/{WORK}/{view}").status_code == 200
            app.extensions["proof"].downloads.close()
            app.extensions["proof"].rereading.close()


Flask.jinja_options = {"bytecode_cache": compiled_templates()}
kept = pytest.MonkeyPatch()  # never undone: this process only forks
statements_compiled_once(kept)
addresses_built_alike(kept)
authorities()
LanguageModel.shipped()
_answer_once()
assert threading.active_count() == 1, "a process forked from one with threads would inherit their locks"
