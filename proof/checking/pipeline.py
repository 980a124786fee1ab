"""The whole data flow of a check: transcriptions and images in, findings in the store and in files out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from proof.checking.drawn_forms import drawn_forms
from proof.checking.engine_bias import EngineBias
from proof.checking.executor import (
    CheckedPage,
    all_on_pages,
    checker_for,
    engine_settings,
    results,
)
from proof.checking.flag_language import FlagLanguage
from proof.checking.language_alone import by_language_model
from proof.checking.plan import CheckPlan, work_of
from proof.checking.renamed import follow_renamed
from proof.checking.repeated import repeated_material
from proof.checking.rescoring import settle, witness_evidence_of
from proof.checking.unused import unused_material
from proof.checking.writer import PageWriter
from proof.errors import OutputError, TextError
from proof.images.find import ImageIndex
from proof.model.notices import Notice
from proof.model.refs import sequence_findings
from proof.model.result import Status
from proof.ocr.drawn import DrawnReadings
from proof.ocr.engine import Engine
from proof.ocr.registry import open_engine
from proof.report.places import SuspiciousPlace, places
from proof.report.source import StoredRun
from proof.report.tally import Tally
from proof.report.write import WrittenReport, write_reports
from proof.settings.config import Settings
from proof.settings.project import texts_of_project
from proof.store import Store
from proof.text.model import Script
from proof.text.read import read_transcription
from proof.text.remarks import OF_SEQUENCE, Remark
from proof.text.transcription import Transcription
from proof.verify.page import Checker


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a check has come; `reused` pages came out of the store unchanged. Of `shown` pages with an image, which
    alone take time, `seen` are done."""

    done: int
    total: int
    reused: int
    page: str
    seen: int
    shown: int


Watch = Callable[[Progress], None]
OpenEngine = Callable[[Settings, Store], Engine]


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What a check left behind: its run in the store, the reports of its work with the counts of the run, the sequence
    findings, what the readers remarked about the texts and the finder of images about these, and the texts that could
    not be read or stand on no image; `unusable` is what else was named and served no page.
    `suspicious` are its most suspicious places."""

    run_id: int
    written: WrittenReport
    findings: tuple[Notice, ...]
    remarks: tuple[Remark, ...]
    notices: tuple[Notice, ...]
    unread: tuple[Notice, ...] = ()
    unusable: tuple[Notice, ...] = ()
    suspicious: tuple[SuspiciousPlace, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether all that was named could be used, no page failed and none carries the wrong image."""
        counts = self.written.tally.by_status()
        return not self.unread and not self.unusable and not counts[Status.FAILED] and not counts[Status.MISMATCH]


def engine_of(settings: Settings, store: Store) -> Engine:
    """The engine of a project; what was asked of it once is kept in its store."""
    return open_engine(engine_settings(settings), store.engines(), store.cache)


def check(
    settings: Settings,
    watch: Watch | None = None,
    *,
    waiting: Callable[[str], None] = lambda work: None,
    show: int = 0,
    language: str = "en",
    opened: OpenEngine = engine_of,
) -> CheckOutcome:
    """Check the transcriptions of `settings` against their images, and write store and reports.

    A page that fails costs that page; a text that cannot be read, or that no image shows, costs that text. Pages
    whose image, text, engine and settings did not change come out of the store; an interrupted check goes on where
    it was. A work is checked by one at a time: `waiting` is told the work where another check of it goes on, and is
    waited for. `show` is how many places the outcome has in words of `language`;
    `opened` gives the engine. While it goes on, the flags of a
    page that was read anew are seen as the page alone weighs them; what people decide about them meanwhile stands, as
    the whole text weighs them or not. Raises ProofError for what stops it altogether.
    """
    with (
        Store.open(settings.store_address, folder=settings.base) as store,
        _alone(settings, engine := opened(settings, store), store, waiting) as sources,
    ):
        work = CheckPlan(settings, sources.texts, sources.index, engine.identity, store)
        follow_renamed(store, work.name, sources.texts, settings.base.absolute())
        run_id = store.begin_run(work.info(), partial(_must_be_in_files, sources.texts))
        bias = _check_pages(work, run_id, settings, store, engine, watch)
        _settle(work, bias, settings, store, sources)
        leaves = ((task.page.folio, task.image_ref) for task in work.tasks)
        juans = [task.page.juan for task in work.tasks]
        findings = tuple(finding.notice for finding in sequence_findings(leaves, juans))
        others = partial(_images_of_others, store, work)
        unused = unused_material(settings, sources.texts, work.tasks, sources.index, others)
        store.finish_run(run_id, findings=(*sources.unread, *unused.unusable, *findings), whole=True)
        store.cache.prune(settings.store.cache * 1_000_000)
        run = StoredRun(store, run_id)
        whole = run.of_work()
        written = write_reports(whole, settings.project.out, language=settings.report.lang)
        if whole != run:
            written = replace(written, tally=Tally.of(run.outlines()))
        suspicious = tuple(places(run, show, language))
    remarks = tuple(remark for text in sources.texts for remark in text.remarks if remark.code not in OF_SEQUENCE)
    notices = tuple(notice for notice in sources.index.notices if notice not in unused.unusable)
    notices += (*unused.left_over, *repeated_material(work.tasks))
    return CheckOutcome(run_id, written, findings, remarks, notices, sources.unread, unused.unusable, suspicious)


@dataclass(frozen=True, slots=True)
class _Sources:
    """What is checked: the texts with their pages, the images, and why other texts are left out."""

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
            given, unread = read_texts(settings.text_files())
            index = ImageIndex(settings.project.images)
            texts, unshown = all_on_pages(given, settings, index, engine, store)
            sources = _Sources(texts, index, (*unread, *unshown))
            work = work_of(texts, store, texts_of_project(settings))
            if work == held:
                break
            stack.close()
            held = work
            waited = stack.enter_context(store.checking(work, partial(waiting, work)))
        yield sources


def _must_be_in_files(texts: Sequence[Transcription]) -> None:
    """Raises OutputError where a file was written since it was read."""
    for text in texts:
        if not text.is_in_file():
            raise OutputError(f"{text.path} was changed while its check began: check again")


def _images_of_others(store: Store, work: CheckPlan) -> Iterator[Path]:
    """The images of the pages of a work that are not checked now."""
    own = {task.page.id for task in work.tasks}
    for result in store.results(work=work.name, outline=True):
        if result.page not in own and result.image:
            yield result.image


def _check_pages(
    work: CheckPlan, run_id: int, settings: Settings, store: Store, engine: Engine, watch: Watch | None
) -> EngineBias:
    """Every page of the run into the store, and what they taught."""
    scripts = {work.keys.script(task.text) for task in work.tasks}
    drawn = drawn_forms(settings, engine, {id(task.text): task.text for task in work.tasks}.values(), store.cache)
    checkers = {script: checker_for(settings, engine, script, drawn) for script in scripts}
    work.take_evidence(by_language_model(work, settings, store.cache))
    bias = EngineBias()
    done = reused = seen = 0
    shown = sum(task.image is not None for task in work.tasks)

    def saved(page: CheckedPage) -> None:
        nonlocal done, reused, seen
        done, reused, seen = done + 1, reused + page.reused, seen + (page.task.image is not None)
        bias.add(page.result, page.task.place.position)
        if watch:
            watch(Progress(done, len(work.tasks), reused, page.result.page, seen, shown))

    with (
        PageWriter(run_id, work, settings, store, checkers, saved) as writer,
        closing(_results(work, store, checkers, settings, drawn)) as pages,
    ):
        for checked in pages:
            writer.add(checked)
    return bias


def _results(
    work: CheckPlan,
    store: Store,
    checkers: dict[Script, Checker],
    settings: Settings,
    drawn: DrawnReadings | None,
) -> Generator[CheckedPage, None, None]:
    """Every page with its result: by the workers of a cluster, in any order, where one is set, else by this machine."""
    if not settings.cluster.address:
        return results(work, store, checkers, settings.workers)
    from proof.checking.cluster import cluster_results  # noqa: PLC0415 - what one machine need not load

    return cluster_results(work, store, settings, drawn)


def _settle(work: CheckPlan, bias: EngineBias, settings: Settings, store: Store, sources: _Sources) -> None:
    """The flags of the run weighed by what the whole work taught, by the language model and by what witnesses read."""
    witness_evidence = witness_evidence_of(settings, sources.texts, store)
    own = {task.page.id for task in work.tasks}
    for other in store.results(work=work.name, outline=True):
        if other.page not in own:  # a check of some texts of a work learns from the others, and leaves them be
            bias.add(other)
    bias.occurrences = store.glyphs.occurrences(work.name, bias.recurring)
    language = FlagLanguage(settings, work.tasks, store.cache)
    settle(store, work.name, bias, settings.flags, witness_evidence, language, own)


def read_texts(paths: Sequence[Path]) -> tuple[list[Transcription], tuple[Notice, ...]]:
    """The texts that can be read, and why others cannot. Raises TextError where none can."""
    texts: list[Transcription] = []
    troubles = []
    for path in paths:
        try:
            texts.append(read_transcription(path))
        except TextError as error:
            troubles.append(error)
    if troubles and not texts:
        raise troubles[0]
    return texts, tuple(map(Notice.of_error, troubles))
