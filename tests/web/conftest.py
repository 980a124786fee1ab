"""Projects in folders, and applications over them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from proof.check.pipeline import check
from proof.settings.config import Settings
from proof.store import Store
from proof.web import create_app
from tests.web.drawn import Served, fill, settings_in

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Three pages of four flags each, served in this process."""
    settings = settings_in(tmp_path)
    with Store.open(settings.store_address) as store:
        sha = fill(store, tmp_path)
        yield Served(settings, store, create_app(settings, store=store), sha)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project folder of the sample's first six half-folios, checked with the real recogniser."""
    folder = tmp_path_factory.mktemp("sample")
    (folder / "pages").mkdir()
    head, *marked = re.split(r"(?m)^(?=卷十 第)", (ROOT / "pages" / "dasheyi.txt").read_text(encoding="utf-8"))
    (folder / "pages" / "dasheyi.txt").write_text(head + "".join(marked[:10]), encoding="utf-8")
    for image in sorted((ROOT / "pages").glob("WYG*.png"))[:10]:
        shutil.copy(image, folder / "pages")
    text = 'title = "儀禮集釋 卷十 大射儀"\ntexts = ["pages/*.txt"]\nimages = ["pages"]\n'
    (folder / "config.toml").write_text(f"[project]\n{text}", encoding="utf-8")
    check(Settings.load(folder))
    return folder


@pytest.fixture
def project(sample: Path, tmp_path: Path) -> Path:
    """A copy of the checked sample, for whoever changes something in it."""
    return shutil.copytree(sample, tmp_path / "project")
