"""The wheel holds all that the program needs: built, unpacked elsewhere, and run from there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import proof
from tests.conftest import PATIENCE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
Ran = subprocess.CompletedProcess[str]


def python(*arguments: object, folder: Path, path: Path | None = None) -> Ran:
    line = [sys.executable, *(str(argument) for argument in arguments)]
    surroundings = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "80"}
    surroundings |= {"PYTHONPATH": str(path)} if path else {}
    return subprocess.run(  # noqa: S603
        line, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, built from the checkout without asking a package index for anything."""
    folder = tmp_path_factory.mktemp("sdist")
    built = python("-m", "hatchling", "build", "-t", "sdist", "-d", folder, folder=ROOT)
    assert built.returncode == 0, built.stderr
    return next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from what the source distribution holds."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    source = next(folder.iterdir())
    built = python("-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist", folder=source)
    assert built.returncode == 0, built.stderr
    return next((folder / "dist").glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel holds; the packages that it needs are those of this Python."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)  # noqa: S202 - our own wheel
    return folder


def test_it_holds_templates_sample_data_and_migrations(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for folder, ending in [("templates", ".html"), ("pages", ".png"), ("pages", ".txt")]:
        inside = "proof/templates" if folder == "templates" else f"proof/sample/{folder}"
        ours = {path.relative_to(ROOT / folder).as_posix() for path in (ROOT / folder).rglob(f"*{ending}")}
        assert ours
        assert {f"{inside}/{name}" for name in ours} <= names
    assert "proof/sample/config.toml" in names
    for kept in ("proof/text/data/*.tsv", "proof/locale/*/*/*.po", "proof/store/migrations/versions/*.py"):
        files = {path.relative_to(ROOT).as_posix() for path in ROOT.glob(kept)}
        assert files
        assert files <= names
    assert not [name for name in names if name.startswith(("tests/", "scripts/")) or "__pycache__" in name]


@pytest.mark.engine
def test_its_demo_runs_from_any_folder_and_writes_nothing_beside_the_program(
    installed: Path, demo: tuple[Path, Ran], tmp_path: Path
) -> None:
    """With the readings of the demo of the checkout, so that no page is read twice in a run."""
    shutil.copytree(demo[0], tmp_path / "proof-demo")
    before = {path: path.stat().st_mtime_ns for path in installed.rglob("*") if path.is_file()}
    where = python("-c", "import proof; print(proof.__file__)", folder=tmp_path, path=installed)
    assert Path(where.stdout.strip()).is_relative_to(installed)
    ran = python("-m", "proof", "demo", folder=tmp_path, path=installed)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == demo[1].stdout
    assert "21 reused" in ran.stderr
    assert "report: proof-demo/out/report.html" in ran.stdout
    assert (tmp_path / "proof-demo" / "out" / "report.html").is_file()
    assert {path: path.stat().st_mtime_ns for path in installed.rglob("*") if path.is_file()} == before


def test_both_distributions_can_be_published(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    checked = python("-m", "twine", "--no-color", "check", "--strict", wheel, sdist, folder=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.count("PASSED") == 2
    assert {path.name for path in (wheel, sdist)} == {
        f"hanproof-{proof.__version__}-py3-none-any.whl",
        f"hanproof-{proof.__version__}.tar.gz",
    }
