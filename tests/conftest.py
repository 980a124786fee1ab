"""Fixtures that several test modules share."""

from __future__ import annotations

import gc
import json
import os
import pickle
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from coverage import Coverage
from filelock import FileLock
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, expect, sync_playwright

from proof.cli import main
from proof.images.load import load_image
from proof.ocr.engine import EngineIdentity
from proof.ocr.page import PageEngine, PageReading
from proof.ocr.ppocr import PPOCR
from proof.ocr.registry import EngineSettings, open_page_engine
from tests.caches import COMPUTED, from_scratch, made_but_once
from tests.delays import HANDS_LATE, PATIENCE, slow
from tests.forked_commands import ran_forked
from tests.half_folios import kai, make_page
from tests.sample import lay_out

__all__ = ["PATIENCE", "from_scratch", "kai", "made_but_once", "make_page"]

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in BROWSERS if (found := shutil.which(name))), None)
"""Chromium; its headless shell if that is installed, which needs a third of the processor time for a page."""
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""Chromium sends no requests of its own, so that a test sees only those of the page."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Record which test file reaches a line, if coverage is measured (`tests/coverage_by_file.py`)."""
    measured = Coverage.current()
    if measured is not None:
        measured.switch_context(item.path.relative_to(ROOT / "tests").as_posix())
    return (yield)


Material = Callable[[int], Path]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
MadeOnce = Callable[[str, Callable[[Path], None]], Path]
ReadPage = Callable[[str], tuple[EngineIdentity, PageReading]]

# No deadlines, since machines may be slow, and the same examples in every run of a commit;
# `--hypothesis-profile=wide` looks for others.
settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("wide", settings.get_profile("same"), derandomize=False, max_examples=2000)
settings.load_profile("same")
expect.set_options(timeout=PATIENCE * 1000 / 5)


MARKED_BY = {
    "browser": "browser",
    "demo": "engine",
    "ppocr": "engine",
    "read_page": "engine",
    "sample": "engine",
    "postgresql": "postgres",
}
"""The mark of a test that uses a fixture, by the name of the fixture."""


SLOWEST = (
    *("test_docs_run", "verify/test_page", "exports/test_decided_corrections", "web/test_axe_browser"),
    *("web/test_browser", "acceptance/test_columns", "test_no_network", "test_faults", "checking/test_cluster_faults"),
    *("acceptance/test_histories", "web/test_layout_overrides_browser", "checking/test_pipeline"),
    *("web/test_comments_browser", "web/test_second_hour_browser", "verify/test_any_page", "web/test_unsent_browser"),
    *("checking/test_openings", "test_wheel", "test_cli", "exports/test_rebuilt", "checking/test_running_edition"),
    *("web/test_way_browser", "web/test_people_browser", "test_first_project", "acceptance/test_second_work"),
    *("store/test_texts", "checking/test_stages", "report/test_report_browser", "web/test_whole_works_browser"),
    *("acceptance/test_column_edits", "checking/test_recheck"),
)
"""The slowest modules, the slowest first."""

BESIDE = {
    "ocr/test_paddle": "verify/test_page",  # PaddleOCR
}
"""Modules that run in the worker of another module, since both need something that is expensive to load."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests by their fixtures, before `-m` selects among them, and put the slowest modules first."""
    for item in items:
        for fixture in MARKED_BY.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(MARKED_BY[fixture])
    items[:] = _slowest_first(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def _slowest_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """The tests in equal shares, one for each worker, which begin with slow modules: a worker that has finished takes
    quick tests from the end of another share."""
    modules: dict[str, list[pytest.Item]] = {}
    beside = {f"tests/{name}.py": f"tests/{other}.py" for name, other in BESIDE.items()}
    for item in items:
        path = item.nodeid.partition("::")[0]
        modules.setdefault(beside.get(path, path), []).append(item)
    slow = [modules.pop(path) for name in SLOWEST if (path := f"tests/{name}.py") in modules]
    shares = [[item for module in slow[n::workers] for item in module] for n in range(workers)]
    for module in modules.values():
        min(shares, key=len).extend(module)
    return [item for share in shares for item in share]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Exclude what is loaded and collected from garbage collection: it stays to the end, and a collection would take a
    third of a second longer."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One worker a core, and half as many more if browser tests are selected, which wait a third of their time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores if config.getoption("markexpr").startswith("not (browser") else cores + cores // 2


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of computed values before any worker starts. Restore the interrupt, which is ignored in a shell's
    background jobs: tests interrupt the processes that they start."""
    if COMPUTED not in os.environ:
        folder = TemporaryDirectory(prefix="proof-tests-")
        config.add_cleanup(folder.cleanup)
        os.environ[COMPUTED] = folder.name
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the seed that gives the same order of tests again."""
    if config.pluginmanager.hasplugin("randomly"):
        terminalreporter.write_line(f"in the order of --randomly-seed={config.getoption('randomly_seed')}")


@pytest.fixture(scope="session", autouse=True)
def models_kept_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the model folders in a temporary folder, not in the home folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of texts, facsimiles and gold data beside the checkout."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing: this test reads its material")
    return folder


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> MadeOnce:
    """Makes a read-only folder for all workers of a run: the first that needs it makes it, the others wait."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root

    def folder(name: str, make: Callable[[Path], None]) -> Path:
        made, whole = root / name, root / f"{name}.whole"
        with FileLock(root / f"{name}.lock"):
            if not whole.exists():
                shutil.rmtree(made, ignore_errors=True)
                make(made)
                whole.touch()
        return made

    return folder


@pytest.fixture(scope="session")
def ppocr() -> PPOCR:
    """The default recogniser with its packaged model."""
    return PPOCR()


@cache
def _page_engine() -> PageEngine:
    return open_page_engine(EngineSettings(name="paddleocr"))


@pytest.fixture(scope="session")
def read_page(shared: Path, made_once: MadeOnce) -> ReadPage:
    """The identity of paddleocr and its reading of a page that is not a ruled half-folio; each page is read once."""

    def read(image: str) -> tuple[EngineIdentity, PageReading]:
        def make(folder: Path) -> None:
            reading = _page_engine().read_page(load_image(shared / "facsimile" / "other" / image).pixels)
            folder.mkdir()
            (folder / "reading").write_bytes(pickle.dumps((_page_engine().identity, reading)))

        made: tuple[EngineIdentity, PageReading]
        made = pickle.loads((made_once(f"read-{image}", make) / "reading").read_bytes())  # noqa: S301 - written by this function
        return made

    return read


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; each test makes its own context in it."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(
            executable_path=CHROMIUM, args=QUIET, timeout=PATIENCE * 1000, slow_mo=1000 * HANDS_LATE
        )
        opened.on("context", lambda context: context.set_default_timeout(PATIENCE * 1000 / 5))
        slow(opened)
        yield opened
        opened.close()


@pytest.fixture
def material(tmp_path: Path) -> Material:
    """Makes a folder with `text.txt`, the first half-folios of the sample, and their images in `images`."""

    def make(pages: int) -> Path:
        return lay_out(tmp_path, pages)

    return make


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in the folder of the test; returns its exit status and output."""

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(tmp_path)
        capsys.readouterr()
        words = [str(argument) for argument in arguments]
        status = main(words)
        output = capsys.readouterr()
        return subprocess.CompletedProcess(words, status, output.out, output.err)

    return call


@pytest.fixture(scope="session")
def demo(made_once: MadeOnce) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The project that `proof demo` made in a process of its own, once in a run, and its output."""
    folder = made_once("demo", _run_demo)
    status, out, errors = json.loads((folder / "ran.json").read_text(encoding="utf-8"))
    return folder / "proof-demo", subprocess.CompletedProcess(["demo"], status, out, errors)


def _run_demo(folder: Path) -> None:
    folder.mkdir()
    ran = ran_forked(folder, "demo")
    (folder / "ran.json").write_text(json.dumps([ran.returncode, ran.stdout, ran.stderr]), encoding="utf-8")
