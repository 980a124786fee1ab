"""Projects in folders, and applications over them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from proof.checking.pipeline import check
from proof.settings.config import Settings
from proof.store import Store
from proof.web import create_app
from tests.conftest import MadeOnce
from tests.sample import lay_out
from tests.web.drawn import Served, fill, settings_in
from tests.web.served import serving, watched_page


def served_in(folder: Path) -> Iterator[Served]:
    """Three pages of four flags each, served in this process."""
    settings = settings_in(folder)
    with Store.open(settings.store_address) as store:
        sha = fill(store, folder)
        yield Served(settings, store, create_app(settings, store=store), sha)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    yield from served_in(tmp_path)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The same for a whole module, whose tests change nothing in it."""
    yield from served_in(tmp_path_factory.mktemp("unchanged"))


@pytest.fixture(scope="session")
def sample(made_once: MadeOnce) -> Path:
    """The project folder of the sample's first ten half-folios, checked with the real recogniser."""
    return made_once("sample", _check_sample)


def _check_sample(folder: Path) -> None:
    lay_out(folder, 10, "pages/dasheyi.txt", "pages")
    text = 'title = "儀禮集釋 卷十 大射儀"\ntexts = ["pages/*.txt"]\nimages = ["pages"]\n'
    (folder / "config.toml").write_text(f"[project]\n{text}", encoding="utf-8")
    check(Settings.load(folder))


@pytest.fixture
def project(sample: Path, tmp_path: Path) -> Path:
    """A copy of the checked sample, for whoever changes something in it."""
    return shutil.copytree(sample, tmp_path / "project")


@pytest.fixture(scope="module")
def untouched(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the sample is served for a module whose tests change nothing in it."""
    with serving(shutil.copytree(sample, tmp_path_factory.mktemp("untouched") / "project")) as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a project of three drawn pages, nobody has decided anything of which."""
    with Store.open(settings_in(tmp_path).store_address) as store:
        fill(store, tmp_path)
    return tmp_path


@pytest.fixture
def page(folder: Path, browser: Browser) -> Iterator[Page]:
    """A browser at that project."""
    size = {"width": 1440, "height": 900}
    with serving(folder) as address, watched_page(browser, viewport=size, locale="en-GB", base_url=address) as page:
        yield page
