"""The whole data flow of a check: transcriptions and images in, findings in the store and in files out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.config import Settings
from proof.errors import TextError
from proof.habits import Habits
from proof.images.find import ImageIndex
from proof.ocr.registry import open_engine
from proof.reading import all_on_pages, checker_for, engine_settings, mixed_in, results
from proof.refs import sequence_findings
from proof.report.source import StoredRun
from proof.report.write import Written, write_reports
from proof.result import Status
from proof.settling import hearings_of, settle
from proof.store import Store
from proof.text.edition import read_text
from proof.text.model import Transcription
from proof.text.witness import Edition
from proof.unseen import by_sense, with_sense
from proof.work import Work


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a check has come; `reused` pages came out of the store unchanged."""

    done: int
    total: int
    reused: int
    page: str


Watch = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check left behind: its run in the store, its reports, the sequence findings, and the texts that
    could not be read or stand on no image."""

    run_id: int
    written: Written
    findings: tuple[str, ...]
    notices: tuple[str, ...]
    unread: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether every text could be read, no page failed and none carries the wrong image."""
        counts = self.written.tally.by_status()
        return not self.unread and not counts[Status.FAILED] and not counts[Status.MISMATCH]


def check(settings: Settings, watch: Watch | None = None) -> Outcome:
    """Check the transcriptions of `settings` against their images, and write store and reports.

    A page that fails costs that page; a text that cannot be read, or that no image shows, costs that text. Pages
    whose image, text, engine and settings did not change come out of the store; an interrupted check goes on where
    it was. Raises ProofError for what stops it altogether.
    """
    editions, unread = read_texts(settings.text_files())
    index = ImageIndex(settings.project.images)
    engine = open_engine(engine_settings(settings))
    with Store.open(settings.store_address) as store:
        editions, texts, unshown = all_on_pages(editions, settings, index, engine, store)
        unread = (*unread, *unshown)
        work = Work(settings, texts, index, engine.identity, store)
        run_id = store.begin_run(work.info())
        checkers = {script: checker_for(settings, engine, script) for script in {work.script(t) for t in texts}}
        told = by_sense(work, settings)
        habits = Habits()
        for number, (task, result, key) in enumerate(results(work, store, checkers, settings.workers), 1):
            habits.add(result)
            checked = with_sense(result, task.page, told.get(number - 1, ()), settings.flags.threshold)
            store.save_page(run_id, task.place, key, mixed_in(checked, settings, checkers[work.script(task.text)]))
            if watch:
                watch(Progress(number, len(work.tasks), work.reused, result.page))
        hearings = hearings_of(settings, editions, texts, store)
        own = {task.page.id for task in work.tasks}
        for other in store.results(work=work.name, outline=True):
            if other.page not in own:  # a check of some texts of a work learns from the others, and leaves them be
                habits.add(other)
        settle(store, work.name, habits, settings.flags.threshold, hearings, own)

        leaves = ((task.page.folio, task.image_ref) for task in work.tasks)
        findings = tuple(finding.message for finding in sequence_findings(leaves))
        store.finish_run(run_id, findings=(*unread, *findings), whole=True)
        written = write_reports(StoredRun(store, run_id), settings.project.out, language=settings.report.lang)
    warnings = tuple(warning for text in texts for warning in text.warnings)
    return Outcome(run_id, written, findings, (*warnings, *index.notices), unread)


def read_texts(paths: Sequence[Path]) -> tuple[list[Transcription | Edition], tuple[str, ...]]:
    """The texts that can be read, those without pages as editions, and why others cannot. Raises TextError where
    none can."""
    texts: list[Transcription | Edition] = []
    troubles = []
    for path in paths:
        try:
            texts.append(read_text(path))
        except TextError as error:
            troubles.append(error)
    if troubles and not texts:
        raise troubles[0]
    return texts, tuple(str(error) for error in troubles)
