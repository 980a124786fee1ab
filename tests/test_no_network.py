"""No command asks for anything over the network, nor does a library that it uses or a process that it starts.

Every system call of a command and its children that could reach another host is recorded by strace, so that native
code is seen as well; a network namespace without any way out keeps what a fault would send from being sent.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from proof.checking import pipeline
from proof.cli import COMMANDS, main
from proof.settings.config import Settings
from tests.conftest import PATIENCE, Material

pytestmark = pytest.mark.engine

Ran = subprocess.CompletedProcess[str]
ROOT = Path(__file__).resolve().parents[1]
CALLS = "connect,sendto,sendmsg,sendmmsg"
ADDRESS = re.compile(
    r"sa_family=AF_INET6?, sin6?_port=htons\((?P<port>\d+)\)"
    r".*?(?:inet_addr\(|inet_pton\(AF_INET6, )\"(?P<host>[^\"]+)\""
)
RESOLVER = "/run/systemd/resolve/"
"""Sockets of the local program that looks names up for others."""
NAMES = 53


@dataclass(frozen=True)
class Alone:
    """Runs commands in `folder` where nobody can be reached, and keeps what they tried in `trace`."""

    folder: Path
    trace: Path

    @property
    def before(self) -> list[str]:
        up = 'ip link set lo up 2>/dev/null; exec "$@"'
        strace = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", str(self.trace)]
        strace += ["-e", f"trace={CALLS}", "-e", "signal=none"]
        return ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", up, "sh", *strace]

    def run(self, *command: object) -> str:
        """What the program says, which must end well."""
        words = [*self.before, *map(str, command)]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603
        assert done.returncode == 0, done.stderr
        return done.stdout

    def asked(self) -> list[str]:
        """The calls that would have reached another host, or asked for the address of one."""
        return [line for line in self.trace.read_text(encoding="utf-8", errors="replace").splitlines() if _leaves(line)]


def _leaves(call: str) -> bool:
    if RESOLVER in call:
        return True
    match = ADDRESS.search(call)
    if not match:
        return False
    here = match["host"].startswith("127.") or match["host"] in ("::1", "::ffff:127.0.0.1")
    return int(match["port"]) == NAMES or not here


@pytest.fixture
def alone(material: Material, monkeypatch: pytest.MonkeyPatch) -> Alone:
    """A project of one half-folio in a folder of its own."""
    for tool in ("strace", "unshare", "ip"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is missing: what the programs do cannot be watched")
    folder = material(1)
    made = Alone(folder, folder / "trace")
    monkeypatch.setenv("HOME", str(folder))  # nobody who once refused or allowed something
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in ("CI", "TF_BUILD", "JENKINS_URL"):  # where these are set some libraries keep quiet
        monkeypatch.delenv(name, raising=False)
    if subprocess.run([*made.before, "true"], capture_output=True, check=False, timeout=PATIENCE).returncode:  # noqa: S603
        pytest.skip("this machine allows no network namespaces, or no tracing")
    text = 'title = "大射儀"\ntexts = ["text.txt"]\nimages = ["images"]\n'
    (folder / "config.toml").write_text(f"[project]\n{text}", encoding="utf-8")
    return made


ASKING = "import urllib.request; urllib.request.urlopen('http://[2001:db8::1]/', timeout=5)"


def test_what_asks_is_seen(alone: Alone) -> None:
    with pytest.raises(AssertionError, match="URLError"):
        alone.run("sh", "-c", f'{sys.executable} -c "{ASKING}"')
    assert alone.asked()


CHECKED = """
import sys
from pathlib import Path
from proof.cli import main
config = Path("config.toml")
said = config.read_text(encoding="utf-8")
for engine in sys.argv[1:]:
    name, runtime, recording = engine.split(",")
    named = f'[engine]\\nname = "{name}"\\nruntime = "{runtime}"\\nrecording = "{recording}"\\n'
    config.write_text(said + named, encoding="utf-8")
    print(engine, file=sys.stderr)
    assert main(["check", "--quiet", "--workers", "2"]) == (name == "null"), engine  # of which no image fits
"""


def test_a_check_asks_nobody_whatever_reads(alone: Alone) -> None:
    """The recogniser on each runtime, the engine that reads nothing, and readings of other software; one after the
    other in one process. PaddleOCR is watched where it is tested."""
    engines = ["ppocr,onnxruntime,", "null,auto,"]
    if importlib.util.find_spec("openvino") is not None:  # it has no build for some processors
        engines.append("ppocr,openvino,")
    pipeline.check(Settings.load(alone.folder))
    text = str(alone.folder / "text.txt")
    forms = ("--form", "page", "--out", str(alone.folder / "exported"))
    assert main(["export", text, "--config", str(alone.folder), *forms]) == 0
    alone.run(sys.executable, "-c", CHECKED, *engines, "readings,auto,exported")
    assert alone.asked() == []


COMMANDED = """
import json, sys
from proof.cli import main
from proof.store import Store
from proof.store.page_states import PageState
for words in json.loads(sys.argv[1]):
    print(words[0], file=sys.stderr)
    assert main(words) == 0, words
    if words[0] == "check":
        with Store.open("sqlite:///proof.sqlite") as store:
            store.page_states.set("text", 1, PageState.PROOFREAD, 0, "somebody", "request-0001")
"""


def test_no_other_command_asks_anybody(alone: Alone, demo: tuple[Path, Ran]) -> None:
    """One after the other in one process, which imports what they need but once. What the demo reads was read."""
    shutil.copytree(demo[0], alone.folder / "sample")
    (alone.folder / "other").mkdir()
    text = str(alone.folder / "text.txt")
    other = shutil.copy(text, alone.folder / "other.txt")
    images = [str(image) for image in sorted((alone.folder / "images").iterdir())]
    commands = [
        ("check", "--quiet"),
        ("engines",),
        ("report",),
        ("export", text, "--out", "out"),
        ("convert", text, "--to", "inline"),
        ("collate", text, str(other)),
        ("render", text, "--out", "drawn"),
        ("backup", "kept.zip"),
        ("restore", "kept.zip", str(alone.folder / "restored")),
        ("user", "list"),
        ("recover",),
        ("layout", *images, "--out", "laid"),
        ("learn", text, "--out", "model.bin"),
        ("demo", "sample"),
        ("pair",),
        ("init", "other", "--texts", text),
    ]
    # the first is for asking, the others have tests of their own
    assert {command[0] for command in commands} == set(COMMANDS) - {"fetch", "serve", "cluster", "carry", "bench"}
    alone.run(sys.executable, "-c", COMMANDED, json.dumps(commands))
    assert alone.asked() == []


SERVE = f"""
import json, re, signal, subprocess, sys, urllib.request
from http.cookiejar import CookieJar
server = subprocess.Popen([sys.executable, "-m", "proof", "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
address = server.stdout.readline().split()[-1]
try:
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    page = browser.open(address).read().decode()
    work = re.search(r'href="/works/([^/]+)/', page)[1]
    for path in (f"works/{{work}}/", f"works/{{work}}/desk", f"works/{{work}}/pages/1", "healthz"):
        browser.open(address + path).read()
    token = re.search(r'name="csrf" content="([^"]+)"', page)[1]
    sent = {{"X-CSRFToken": token, "Content-Type": "application/json"}}
    again = f"{{address}}api/v1/works/{{work}}/pages/1/read-again"
    said = json.load(browser.open(urllib.request.Request(again, b"", sent)))
    while said["state"] in ("waiting", "running"):
        said = json.load(browser.open(f"{{again}}/{{said['id']}}"))
    assert said["state"] == "done", said
finally:
    server.send_signal(signal.SIGINT)
    server.wait({PATIENCE})
"""


def test_the_desk_asks_nobody_nor_does_a_page_that_is_read_again(alone: Alone) -> None:
    pipeline.check(Settings.load(alone.folder))
    alone.run(sys.executable, "-c", SERVE)
    assert alone.asked() == []
