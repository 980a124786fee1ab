"""A whole check: it reads transcriptions and images, and writes its findings into the store and into reports."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from proof.checking.drawn_forms import drawn_forms
from proof.checking.engine_bias import EngineBias
from proof.checking.executor import CheckedPage, checker_for, engine_settings, on_pages, results, usable_texts
from proof.checking.flag_language import FlagLanguage
from proof.checking.language_alone import by_language_model
from proof.checking.material import repeated_material, unused_material
from proof.checking.own_exports import note_own_export
from proof.checking.plan import CheckPlan, work_of
from proof.checking.renamed_texts import follow_renamed
from proof.checking.rescoring import rescore_work, witness_evidence_of
from proof.checking.second_reader import open_second, read_by_second
from proof.checking.writer import PageWriter
from proof.errors import OutputError
from proof.images.find import ImageIndex
from proof.locale.marking import _
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
    """The progress of a check: `done` of `total` pages; the results of `reused` pages came from the store. `page` is
    the id of the last page. `with_image` pages have an image and therefore take time; `with_image_done` of these are
    done. While a second engine reads, `second` is its name, and the numbers are those of the pages that it reads."""

    done: int
    total: int
    reused: int
    page: str
    with_image_done: int
    with_image: int
    second: str = ""


Watch = Callable[[Progress], None]
OpenEngine = Callable[[Settings, Store], Engine]


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of a check: its run in the store, and the reports `written`, with the counts of the run.

    `findings` are the breaks in the sequence of pages, `remarks` those on the texts, `notices` those on images,
    on images left over, and on pages that several texts have.
    `unread` are the texts that could not be read or that no image shows, `unusable` is other material in the settings
    that no page can use. `suspicious` are the most suspicious places.
    """

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
        """Whether all material in the settings could be used, no page failed and none has the wrong image."""
        counts = self.written.tally.by_status()
        return not self.unread and not self.unusable and not counts[Status.FAILED] and not counts[Status.MISMATCH]


def engine_of(settings: Settings, store: Store) -> Engine:
    """The engine of a project, which keeps its data between runs in the store (`open_engine`)."""
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

    Pages that fail, texts that cannot be read, and texts that no image shows are skipped and reported. The results of
    pages whose image, text, engine and settings did not change come from the store, so an interrupted check continues
    where it stopped. Until the check ends, the flags of a newly read page have the scores that the page alone gives
    them. Decisions on them in the meantime remain, whatever their scores by the whole work.

    `watch` is called after every page. Only one check of a work runs at a time: if another one runs, this one calls
    `waiting` with the name of the work, and waits. `opened` opens the engine. The outcome has the `show` most
    suspicious places, with sentences in `language`. Raises ProofError if the check cannot go on.
    """
    with (
        Store.open(settings.store_address, folder=settings.base) as store,
        _locked_sources(settings, engine := opened(settings, store), store, waiting) as sources,
    ):
        second = open_second(settings, store, engine.identity)
        plan = CheckPlan(settings, sources.texts, sources.index, engine.identity, store)
        follow_renamed(store, plan.work, sources.texts, settings.base.absolute())
        for text in sources.texts:
            note_own_export(store, text, settings)
        run_id = store.begin_run(plan.info(), partial(_must_be_current, sources.texts))
        bias = _check_pages(plan, run_id, settings, store, engine, watch)
        if second is not None:
            _read_by_second(plan, settings, store, second, watch)
        _rescore(plan, bias, settings, store, sources)
        sequence = ((task.page.folio, task.image_ref) for task in plan.tasks)
        findings = tuple(sequence_findings(sequence, [task.page.juan for task in plan.tasks]))
        images_of_others = partial(_images_of_others, store, plan)
        unused = unused_material(settings, sources.texts, plan.tasks, sources.index, images_of_others)
        store.finish_run(run_id, findings=(*sources.unread, *unused.unusable, *findings), whole=True)
        store.cache.prune(settings.store.cache * 1_000_000)
        run = StoredRun(store, run_id)
        work_run = run.of_work()
        written = write_reports(work_run, settings.project.out, language=settings.report.lang)
        if work_run != run:  # the reports have the whole work, the outcome counts only the pages of this run
            written = replace(written, tally=Tally.of(run.results(outline=True)))
        suspicious = tuple(places(run, show, language))
    remarks = tuple(
        remark for text in sources.texts for remark in text.remarks if remark.notice.code not in OF_SEQUENCE
    )
    notices = tuple(notice for notice in sources.index.notices if notice not in unused.unusable)
    notices += (*unused.left_over, *repeated_material(plan.tasks))
    return CheckOutcome(run_id, written, findings, remarks, notices, sources.unread, unused.unusable, suspicious)


@dataclass(frozen=True, slots=True)
class _Sources:
    """The texts of a check with their pages, its images, and why other texts are left out (`unread`)."""

    texts: list[Transcription]
    index: ImageIndex
    unread: tuple[Notice, ...]


@contextmanager
def _locked_sources(
    settings: Settings, engine: Engine, store: Store, waiting: Callable[[str], None]
) -> Iterator[_Sources]:
    """The sources of a check, while no other check of their work runs. They are read again after waiting for another
    check, since they may have changed meanwhile and be of another work."""
    locked_work, has_waited = "", True
    with ExitStack() as stack:
        while has_waited:
            read, unread = read_texts(settings.text_files())
            index = ImageIndex(settings.project.images)
            with_pages = partial(on_pages, settings=settings, index=index, engine=engine, store=store)
            texts, unshown = usable_texts(with_pages, read)
            sources = _Sources(texts, index, (*unread, *unshown))
            work = work_of(texts, store, texts_of_project(settings))
            if work == locked_work:
                break
            stack.close()
            locked_work = work
            has_waited = stack.enter_context(store.checking(work, partial(waiting, work)))
        yield sources


def _must_be_current(texts: Sequence[Transcription]) -> None:
    """Raises OutputError if the file of a text was changed after it was read."""
    for text in texts:
        if not text.is_current():
            raise OutputError(_("%(path)s was changed while its check began: check again"), path=text.path)


def _images_of_others(store: Store, plan: CheckPlan) -> Iterator[Path]:
    """The images of those pages of the work that this check leaves out."""
    checked_pages = {task.page.id for task in plan.tasks}
    for result in store.results(work=plan.work, outline=True):
        if result.page not in checked_pages and result.image:
            yield result.image


def _check_pages(
    plan: CheckPlan, run_id: int, settings: Settings, store: Store, engine: Engine, watch: Watch | None
) -> EngineBias:
    """Check every page of the run and write it into the store; gives the engine's bias on these pages."""
    scripts = {plan.keys.script(task.text) for task in plan.tasks}
    drawn = drawn_forms(settings, engine, {id(task.text): task.text for task in plan.tasks}.values(), store.cache)
    checkers = {script: checker_for(settings, engine, script, drawn) for script in scripts}
    plan.take_evidence(by_language_model(plan, settings, store.cache))
    bias = EngineBias()
    done_count = reused_count = done_with_image = 0
    with_image = sum(task.image is not None for task in plan.tasks)

    def saved(page: CheckedPage) -> None:
        nonlocal done_count, reused_count, done_with_image
        done_count += 1
        reused_count += page.reused
        done_with_image += page.task.image is not None
        bias.add_page(page.result, page.task.place.position)
        if watch:
            watch(Progress(done_count, len(plan.tasks), reused_count, page.result.page, done_with_image, with_image))

    with (
        PageWriter(run_id, plan, settings, store, checkers, saved) as writer,
        closing(_results(plan, store, checkers, settings, drawn)) as pages,
    ):
        for checked in pages:
            writer.add(checked)
    return bias


def _results(
    plan: CheckPlan,
    store: Store,
    checkers: dict[Script, Checker],
    settings: Settings,
    drawn: DrawnReadings | None,
) -> Generator[CheckedPage, None, None]:
    """Every page with its result: from the cluster in the settings, in any order, or from this machine."""
    if not settings.cluster.address:
        return results(plan, store, checkers, settings.workers)
    from proof.checking.cluster import cluster_results  # noqa: PLC0415 - only checks on a cluster load it

    return cluster_results(plan, store, settings, drawn)


def _read_by_second(plan: CheckPlan, settings: Settings, store: Store, second: Engine, watch: Watch | None) -> None:
    """Have the second engine read the pages with flags."""

    def read(done: int, pages: int) -> None:
        if watch:
            watch(Progress(done, pages, 0, "", done, pages, settings.engine.second))

    read_by_second(plan, settings, store, second, read)


def _rescore(plan: CheckPlan, bias: EngineBias, settings: Settings, store: Store, sources: _Sources) -> None:
    """Rescore the flags of the run, by the engine's bias in the whole work, the language model and the witnesses."""
    witness_evidence = witness_evidence_of(settings, sources.texts, store)
    checked_pages = {task.page.id for task in plan.tasks}
    for result in store.results(work=plan.work, outline=True):
        # a check of some texts of a work learns from the others, but does not change them
        if result.page not in checked_pages:
            bias.add_page(result)
    bias.occurrences = store.glyphs.occurrences(plan.work, bias.recurring)
    language = FlagLanguage(settings, plan.tasks, store.cache)
    rescore_work(store, plan.work, bias, settings.flags, witness_evidence, language, checked_pages)


def read_texts(paths: Sequence[Path]) -> tuple[list[Transcription], tuple[Notice, ...]]:
    """The texts that can be read, and why others cannot. Raises TextError if none can."""
    return usable_texts(read_transcription, paths)
