"""A report is made while who asked for it sees how far it has come; others go on with their work meanwhile."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Page, expect

from proof.errors import StoppedError
from proof.store import Store
from proof.store.comments import CommentRequest, CommentState
from proof.store.decision_records import DecisionRequest, Verdict
from proof.web import report_jobs
from proof.web.project import Project
from proof.web.report_jobs import CountedRun, NoReportError, PageCount, ReportJobs, ReportState
from tests.conftest import PATIENCE
from tests.web.drawn import WORK, Served, fill

BASE = f"/api/v1/works/{WORK}/reports"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "proof.sqlite") as opened:
        fill(opened, tmp_path)
        yield opened


def made(served: Served, client: FlaskClient) -> Any:
    """What is said of a report once it is there."""
    begun = client.post(BASE)
    assert begun.status_code == 202, begun.text
    assert begun.json is not None
    project: Project = served.app.extensions["proof"]
    project.reports.job(WORK, begun.json["report"]).future.result(PATIENCE)
    return client.get(f"{BASE}/{begun.json['report']}").json


def test_a_report_holds_what_was_decided_and_said_until_it_was_asked_for(served: Served) -> None:
    served.store.comments.say(CommentRequest(WORK, 1, 1, "是吿？", "甲", "request-1", CommentState.PROBLEM, "乙"))
    served.store.decisions.decide(DecisionRequest(WORK, 1, Verdict.KEEP, 0, "甲", "request-3"))
    client = served.client
    said = made(served, client)
    assert (said["state"], said["done"], said["total"]) == ("done", 6, 6)  # each page twice: all have flags
    with zipfile.ZipFile(BytesIO(client.get(said["file"]).data)) as archive:
        assert set(archive.namelist()) == {
            *("flags.jsonl", "flags.csv", "summary.json", "report.html", "progress.json", "comments.jsonl")
        }
        assert "是吿？" in archive.read("report.html").decode()


def test_there_is_no_report_that_nobody_asked_for(served: Served) -> None:
    client = served.client
    number = made(served, client)["report"]
    for path in (f"{BASE}/none", f"/works/{WORK}/reports/none.zip", f"/works/other/reports/{number}.zip"):
        assert client.get(path).status_code == 404, path
    assert client.post("/api/v1/works/other/reports").status_code == 404


def test_one_report_is_made_at_a_time_and_who_asks_for_the_same_waits_for_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    let, begun = threading.Semaphore(0), threading.Semaphore(0)

    def slow(source: CountedRun, folder: Path, **given: Any) -> None:
        begun.release()
        let.acquire()

    monkeypatch.setattr(report_jobs, "write_reports", slow)
    jobs = ReportJobs(store)
    first = jobs.begin(WORK, 1, "en")
    begun.acquire()
    other = jobs.begin(WORK, 1, "zh-Hant")
    assert (first.state, other.state) == (ReportState.MAKING, ReportState.WAITING)
    assert jobs.begin(WORK, 1, "en") is first
    assert first.file is None
    for _ in range(3):
        let.release()
    for job in (first, other):
        job.future.result(PATIENCE)
    assert jobs.begin(WORK, 1, "en") is not first
    jobs.close()


def test_old_reports_are_thrown_away(store: Store) -> None:
    jobs = ReportJobs(store)
    made = []
    for _ in range(report_jobs.KEPT + 2):
        made.append(jobs.begin(WORK, 1, "en"))
        made[-1].future.result(PATIENCE)
    with pytest.raises(NoReportError):
        jobs.job(WORK, made[0].number)
    assert not Path(made[0].folder.name).exists()
    assert made[-1].file is not None
    jobs.close()
    assert not Path(made[-1].folder.name).exists()


def test_a_server_that_ends_does_not_wait_for_a_report() -> None:
    count = PageCount(3)
    pages = count.through(iter([None, None, None]))  # type: ignore[list-item]
    next(pages)
    count.stop()
    with pytest.raises(StoppedError):
        next(pages)
    assert count.done == 1


def test_why_a_report_could_not_be_made_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(source: CountedRun, folder: Path, **given: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(report_jobs, "write_reports", broken)
    jobs = ReportJobs(store)
    job = jobs.begin(WORK, 1, "en")
    assert isinstance(job.future.exception(PATIENCE), ZeroDivisionError)
    assert (job.state, job.file) == (ReportState.FAILED, None)
    assert "its log says which" in job.reason
    jobs.close()


def test_the_report_is_downloaded_once_it_is_there(page: Page, tmp_path: Path) -> None:
    page.goto(f"/works/{WORK}/progress")
    with page.expect_download() as download:
        page.get_by_role("button", name="Report", exact=True).click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert "report.html" in archive.namelist()
    expect(page.locator("#report-told")).to_contain_text("The report is ready.")
    with page.expect_download():
        page.get_by_role("link", name="Download it").click()
