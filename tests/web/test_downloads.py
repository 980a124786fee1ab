"""What is taken home is made while who asked for it sees how far it has come, and others go on with their work."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from proof.errors import StoppedError
from proof.store.comments import CommentRequest, CommentState
from proof.store.decision_records import DecisionRequest, Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.web import download_jobs
from proof.web.download_jobs import DownloadJob, DownloadJobs, DownloadKind, StepCount
from proof.web.jobs import JobState, NoJobError
from proof.web.project import Project
from tests import build
from tests.build import check_files
from tests.conftest import PATIENCE
from tests.web.drawn import WORK, Served

BASE = f"/api/v1/works/{WORK}/downloads"


def made(served: Served, client: FlaskClient, kind: str, work: str = WORK) -> Any:
    """What is said of a download once it is there."""
    base = f"/api/v1/works/{work}/downloads"
    begun = client.post(base, json={"kind": kind})
    assert begun.status_code == 202, begun.text
    number = begun.get_json()["id"]
    project: Project = served.app.extensions["proof"]
    project.downloads.job(number, work).future.exception(PATIENCE)
    return client.get(f"{base}/{number}").json


def nothing(folder: Path, count: StepCount) -> None:
    """Makes one empty file."""
    (folder / "empty").touch()


def test_a_report_holds_what_was_decided_and_said_until_it_was_asked_for(served: Served) -> None:
    served.store.comments.add(CommentRequest(WORK, 1, 1, "是吿？", "甲", "request-1", CommentState.PROBLEM, "乙"))
    served.store.decisions.decide(DecisionRequest(WORK, 1, Verdict.KEEP, 0, "甲", "request-3"))
    client = served.client
    said = made(served, client, "report")
    assert (said["state"], said["done"], said["total"]) == ("done", 6, 6)  # each page twice: all have flags
    with zipfile.ZipFile(BytesIO(client.get(said["file"]).data)) as archive:
        assert set(archive.namelist()) == {
            *("flags.jsonl", "flags.csv", "summary.json", "report.html", "progress.json", "comments.jsonl")
        }
        assert "是吿？" in archive.read("report.html").decode()


def test_why_a_text_could_not_be_made_is_said(unchanged: Served) -> None:
    job = made(unchanged, unchanged.client, "text")  # its file was never there
    assert (job["state"], job["file"]) == ("failed", None)
    assert "text.txt" in job["reason"]


def test_texts_of_one_name_are_taken_home_each_with_what_was_decided_of_it_and_what_is_not_written(
    served: Served, tmp_path: Path
) -> None:
    work, store, results = "KR9", served.store, []
    for position, name in enumerate("ab", 1):
        file, page = tmp_path / "texts" / name / "010.txt", f"KR9_WYG_010-{position}a"
        file.parent.mkdir(parents=True)
        file.write_text(f"<pb:{page}>¶\n甲乙丙¶\n", encoding="utf-8")
        results.append((file, build.page("甲乙丙", flags=[(1, 1, "乙", "巳")], name=page)))
    check_files(store, results, work=work, key=lambda result: result.page)
    for flag in build.queued(store, work):
        build.decide(store, flag.number, Verdict.TAKE, work=work)
    number = store.queue.pages(work)[1].number
    store.manual_corrections.correct(ManualCorrection(work, number, 1, 1, 1, "己", "乙", "by-hand-1"))
    client = served.client
    job = made(served, client, "text", work)
    with zipfile.ZipFile(BytesIO(client.get(job["file"]).data)) as archive:
        written = [archive.read(f"{name}/010/010.txt").decode() for name in "ab"]
        unwritten = archive.read("b/010/not-written.txt").decode().splitlines()
        assert "a/010/not-written.txt" not in archive.namelist()
    assert ["甲巳丙" in written[0], "甲乙丙" in written[1]] == [True, True]
    assert unwritten[0].startswith("not written, contradicts another decision")
    assert {"乙 → 巳 (甲)", "乙 → 己 (乙)"} == {line.rpartition(": ")[2] for line in unwritten[1:]}
    client.set_cookie("lang", "zh-Hant")
    job = made(served, client, "text", work)
    with zipfile.ZipFile(BytesIO(client.get(job["file"]).data)) as archive:
        assert archive.read("b/010/not-written.txt").decode().startswith("未寫入")


def test_there_is_no_download_that_nobody_asked_for(unchanged: Served) -> None:
    client = unchanged.client
    number = made(unchanged, client, "report")["id"]
    for path in (f"{BASE}/none", f"/works/{WORK}/downloads/none.zip", f"/works/other/downloads/{number}.zip"):
        assert client.get(path).status_code == 404, path
    assert client.post("/api/v1/works/other/downloads", json={"kind": "report"}).status_code == 404
    assert client.post(BASE, json={"kind": "everything"}).status_code == 422


@pytest.fixture
def jobs() -> Iterator[DownloadJobs]:
    jobs = DownloadJobs()
    yield jobs
    jobs.close()


def test_one_is_made_at_a_time_and_what_is_asked_for_meanwhile_is_of_a_later_moment(jobs: DownloadJobs) -> None:
    """Who decides and then asks finds what they decided, though the same is being made for somebody else."""
    let, begun = threading.Semaphore(0), threading.Semaphore(0)

    def slow(folder: Path, count: StepCount) -> None:
        begun.release()
        let.acquire()

    def asked(kind: DownloadKind = DownloadKind.REPORT, language: str = "en") -> DownloadJob:
        return jobs.begin(WORK, kind, language, 1, slow)

    first = asked()
    begun.acquire()
    others = [asked(language="zh-Hant"), asked(DownloadKind.TEXT)]
    assert [first.state, *(job.state for job in others)] == [JobState.RUNNING, *[JobState.WAITING] * 2]
    later = asked()
    assert later is not first
    assert asked() is later
    assert first.outcome is None
    let.release(5)
    for job in (first, later, *others):
        job.future.result(PATIENCE)
    assert asked() is not first


def test_old_downloads_are_thrown_away(jobs: DownloadJobs) -> None:
    made = []
    for _ in range(download_jobs.MAX_KEPT_DOWNLOADS + 2):
        made.append(jobs.begin(WORK, DownloadKind.REPORT, "en", 1, nothing))
        made[-1].future.result(PATIENCE)
    with pytest.raises(NoJobError):
        jobs.job(made[0].number, WORK)
    assert not Path(made[0].folder.name).exists()
    last = made[-1]
    assert last.outcome is not None
    assert list(Path(last.folder.name).iterdir()) == [last.outcome], "what was packed is not kept beside it"
    jobs.close()
    assert not Path(last.folder.name).exists()


def test_a_server_that_ends_does_not_wait_for_what_is_being_made() -> None:
    count = StepCount(3, stop := threading.Event())
    steps = count.through([1, 2, 3])
    next(steps)
    stop.set()
    with pytest.raises(StoppedError):
        next(steps)
    assert count.done == 1
