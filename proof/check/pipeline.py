"""The whole data flow of a check: transcriptions and images in, findings in the store and in files out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from proof.check.engine_bias import EngineBias
from proof.check.executor import (
    CheckedPage,
    Plates,
    all_on_pages,
    check_or_fail,
    checker_for,
    engine_settings,
    quality_flags,
    results,
)
from proof.check.plan import CheckPlan, work_of
from proof.check.rescoring import settle, witness_evidence_of
from proof.check.unseen import by_sense, with_sense
from proof.errors import TextError
from proof.images.find import ImageIndex
from proof.model.notices import Notice
from proof.model.refs import sequence_findings
from proof.model.result import PageResult, Status
from proof.ocr.engine import Engine
from proof.ocr.registry import open_engine
from proof.report.places import SuspiciousPlace, places
from proof.report.source import StoredRun
from proof.report.write import WrittenReport, write_reports
from proof.settings.config import Settings
from proof.store import Store
from proof.store.layout_overrides import ReadOtherwiseError
from proof.text.edition import read_text
from proof.text.model import Transcription
from proof.text.remarks import OF_SEQUENCE, Remark
from proof.text.witness import Edition
from proof.verify.page import Checker


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a check has come; `reused` pages came out of the store unchanged."""

    done: int
    total: int
    reused: int
    page: str


Watch = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What a check left behind: its run in the store, its reports, the sequence findings, what the readers remarked
    about the texts and the finder of images about these, and the texts that could not be read or stand on no image.
    `told` are its most suspicious places."""

    run_id: int
    written: WrittenReport
    findings: tuple[Notice, ...]
    remarks: tuple[Remark, ...]
    notices: tuple[Notice, ...]
    unread: tuple[Notice, ...] = ()
    told: tuple[SuspiciousPlace, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether every text could be read, no page failed and none carries the wrong image."""
        counts = self.written.tally.by_status()
        return not self.unread and not counts[Status.FAILED] and not counts[Status.MISMATCH]


def check(
    settings: Settings, watch: Watch | None = None, *, waiting: Callable[[str], None] = lambda work: None, show: int = 0
) -> CheckOutcome:
    """Check the transcriptions of `settings` against their images, and write store and reports.

    A page that fails costs that page; a text that cannot be read, or that no image shows, costs that text. Pages
    whose image, text, engine and settings did not change come out of the store; an interrupted check goes on where
    it was. A work is checked by one at a time: `waiting` is told the work where another check of it goes on, and is
    waited for. `show` is how many places the outcome tells. While it goes on, the flags of a page that was read anew
    are seen as the page alone weighs them; what people decide about them meanwhile stands, as the whole text weighs
    them or not. Raises ProofError for what stops it altogether.
    """
    with (
        Store.open(settings.store_address, folder=settings.base) as store,
        _alone(settings, engine := open_engine(engine_settings(settings), store.engines()), store, waiting) as sources,
    ):
        work = CheckPlan(settings, sources.texts, sources.index, engine.identity, store)
        _follow_moved(store, work.name, sources.texts)
        run_id = store.begin_run(work.info())
        habits = _check_pages(work, run_id, settings, store, engine, watch)
        _settle(work, habits, settings, store, sources)
        leaves = ((task.page.folio, task.image_ref) for task in work.tasks)
        findings = tuple(finding.notice for finding in sequence_findings(leaves))
        store.finish_run(run_id, findings=(*sources.unread, *findings), whole=True)
        store.cache.prune(settings.store.cache * 1_000_000)
        run = StoredRun(store, run_id)
        written = write_reports(run, settings.project.out, language=settings.report.lang)
        told = tuple(places(run, show))
    remarks = tuple(remark for text in sources.texts for remark in text.remarks if remark.code not in OF_SEQUENCE)
    return CheckOutcome(run_id, written, findings, remarks, sources.index.notices, sources.unread, told)


@dataclass(frozen=True, slots=True)
class _Sources:
    """What is checked: the texts as given and with their pages, the images, and why other texts are left out."""

    editions: list[Transcription | Edition]
    texts: list[Transcription]
    index: ImageIndex
    unread: tuple[Notice, ...]


@contextmanager
def _alone(settings: Settings, engine: Engine, store: Store, waiting: Callable[[str], None]) -> Iterator[_Sources]:
    """The sources of a check, while no other check of their work goes on. What was read before another had to be
    waited for is read anew: it may have changed meanwhile."""
    held, waited = "", True
    with ExitStack() as stack:
        while waited:
            editions, unread = read_texts(settings.text_files())
            index = ImageIndex(settings.project.images)
            editions, texts, unshown = all_on_pages(editions, settings, index, engine, store)
            sources = _Sources(editions, texts, index, (*unread, *unshown))
            work = work_of(texts, store)
            if work == held:
                break
            stack.close()
            held = work
            waited = stack.enter_context(store.checking(work, partial(waiting, work)))
        yield sources


def _follow_moved(store: Store, work: str, texts: Sequence[Transcription]) -> None:
    """The pages of a text whose file is gone from where it was checked, and is here now under its name: they stay its
    pages, so that those which it no longer has do not stay beside it."""
    known = {text.path for text in store.texts() if text.work == work}
    here = {str(text.path) for text in texts}
    gone = {path for path in known - here if not Path(path).exists()}
    for path in sorted(here - known):
        named = [old for old in gone if Path(old).name == Path(path).name]
        if len(named) == 1:
            store.move_text(work, named[0], path)


def _check_pages(
    work: CheckPlan, run_id: int, settings: Settings, store: Store, engine: Engine, watch: Watch | None
) -> EngineBias:
    """Every page of the run into the store, and what they taught."""
    checkers = {script: checker_for(settings, engine, script) for script in {work.script(t.text) for t in work.tasks}}
    told = by_sense(work, settings)
    habits = EngineBias()
    reused = 0
    for number, found in enumerate(results(work, store, checkers, settings.workers), 1):
        reused += found.reused
        sense = told.get(number - 1, ())
        page = replace(found, result=with_sense(found.result, found.task.page, sense, settings.flags.threshold))
        saved = _save(run_id, page, work, settings, store, checkers[work.script(page.task.text)])
        habits.add(saved)
        if watch:
            watch(Progress(number, len(work.tasks), reused, saved.page))
    return habits


def _save(
    run_id: int, page: CheckedPage, work: CheckPlan, settings: Settings, store: Store, checker: Checker
) -> PageResult:
    """Save a page, read again where a person set meanwhile how it is read; gives what was found on it."""
    if page.readings is not None:
        store.cache.put(*page.readings)
    try:
        quality = quality_flags(page.result, settings, checker)
        store.save_page(run_id, page.task.place, page.key, page.result, quality=quality, mend=page.task.mend)
    except ReadOtherwiseError as otherwise:
        task = work.read_as(page.task, otherwise.mend)
        page = check_or_fail(task, work, store, checker, Plates(work.max_megapixels))
        return _save(run_id, page, work, settings, store, checker)
    return page.result


def _settle(work: CheckPlan, habits: EngineBias, settings: Settings, store: Store, sources: _Sources) -> None:
    """The flags of the run weighed by what the whole work taught and by what witnesses read."""
    witness_evidence = witness_evidence_of(settings, sources.editions, sources.texts, store)
    own = {task.page.id for task in work.tasks}
    for other in store.results(work=work.name, outline=True):
        if other.page not in own:  # a check of some texts of a work learns from the others, and leaves them be
            habits.add(other)
    settle(store, work.name, habits, settings.flags, witness_evidence, own)


def read_texts(paths: Sequence[Path]) -> tuple[list[Transcription | Edition], tuple[Notice, ...]]:
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
    return texts, tuple(map(Notice.of_error, troubles))
