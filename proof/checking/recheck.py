"""Checking one page again while a project is served, with the layout override of a person. Decisions whose places
remain are kept."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from threading import Lock

from proof.checking.drawn_forms import drawn_forms
from proof.checking.engine_bias import EngineBias
from proof.checking.executor import (
    CheckedPage,
    ImageLoader,
    check_page,
    checker_for,
    engine_settings,
    failed_result,
    on_pages,
    quality_flags,
)
from proof.checking.flag_language import FlagLanguage
from proof.checking.language_alone import by_language_model
from proof.checking.own_exports import note_own_export
from proof.checking.plan import CheckPlan, PageTask, digest
from proof.checking.rescoring import rescored, witness_evidence_of
from proof.checking.second_reader import second_reading
from proof.checking.spelling import spelled
from proof.collation.witness_evidence import WitnessEvidence
from proof.errors import EngineError, GonePageError, ImageError, OutputError, StoppedError, TextError
from proof.images.find import ImageIndex
from proof.locale.marking import _
from proof.model.flags import Kind, Origin
from proof.model.quality import QualityFlags
from proof.model.result import PageResult, Status
from proof.ocr.engine import Engine, Pixels, Reading, WrappedEngine
from proof.ocr.external.folder import ExternalEngine
from proof.ocr.registry import open_engine
from proof.settings.config import Settings
from proof.store import CheckedResult, Store
from proof.store.decision_records import State
from proof.store.layout_overrides import LayoutOverride, OverrideChangedError
from proof.store.lookup import NoPlaceError
from proof.store.queue_records import ListedPage, QueuedFlag
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from proof.text.witnesses import read_witnesses, witnesses_state
from proof.verify.page import Checker

MAX_KEPT_TEXTS = 8
"""Maximum number of texts whose alignment with the witnesses is kept in memory."""


CheckCancelled = Callable[[], None]
"""Raises StoppedError if the recheck was cancelled. It is called only before the recheck writes to the store."""


class RecheckFault(StrEnum):
    """Why a page could not be checked, in the categories that a user can act on; `mistake` is a bug in the program."""

    TEXT_CHANGED = "text changed"
    TEXT = "text"
    NO_IMAGE = "no image"
    IMAGE_GONE = "image gone"
    IMAGE = "image"
    OTHER_PAGE = "other page"
    ENGINE = "engine"
    MEMORY = "memory"
    STORE = "store"
    MISTAKE = "mistake"

    @classmethod
    def of(cls, error: BaseException) -> RecheckFault:
        """The category of an error."""
        faults: Mapping[type[BaseException], RecheckFault] = {
            GonePageError: cls.TEXT_CHANGED,
            NoPlaceError: cls.TEXT_CHANGED,
            TextError: cls.TEXT,
            ImageError: cls.IMAGE,
            EngineError: cls.ENGINE,
            MemoryError: cls.MEMORY,
            OutputError: cls.STORE,
        }
        return next((fault for kind, fault in faults.items() if isinstance(error, kind)), cls.MISTAKE)


@dataclass(frozen=True, slots=True)
class RecheckOutcome:
    """The outcome of a recheck. `fresh` are the raised flags that appeared, `gone` those that disappeared; `kept` are
    the decided flags whose places remain, `lost` those whose places are lost. `trouble`: why the page could not be
    checked, None if it was."""

    result: PageResult
    trouble: RecheckFault | None
    fresh: tuple[QueuedFlag, ...]
    gone: tuple[QueuedFlag, ...]
    kept: tuple[QueuedFlag, ...]
    lost: tuple[QueuedFlag, ...]


class Rechecker:
    """Checks pages again, one at a time; the engine is opened for the first page and kept."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._lock = Lock()
        self._engine: Engine | None = None
        self._witnesses: tuple[Transcription, ...] = ()
        self._witnesses_state = b""  # a hash of their files and the settings
        self._cached_evidence: dict[str, WitnessEvidence | None] = {}

    def images(self) -> list[tuple[str, Path]]:
        """The project's images, each with the name under which it is assigned to a page."""
        return ImageIndex(self._settings.project.images).files()

    def read(self, work: str, number: int, check_cancelled: CheckCancelled = lambda: None) -> RecheckOutcome:
        """Check page `number` of `work` again and save its result within the newest run.

        Raises ProofError, and StoppedError only before anything is saved.
        """
        with self._lock:
            while True:  # another check or layout change may have replaced the page meanwhile
                with suppress(OverrideChangedError):
                    reread = self._read(work, number, check_cancelled)
                    if reread is not None:
                        return reread

    def _read(self, work: str, number: int, check_cancelled: CheckCancelled) -> RecheckOutcome | None:
        """One attempt of `read`; None if the page or its text changed meanwhile. Also raises OverrideChangedError."""
        check_cancelled()
        stored_page, _ = self._store.queue.page(work, number)
        stamp_before = self._store.stamp(number)
        listed = replace(stored_page, text=str(self._settings.text_at(Path(stored_page.text))))
        before = self._flags(work, listed)
        displaced = self._displaced(work)
        engine = _cancellable(self._open(), check_cancelled)
        plan, task, evidence, language = self._plan(listed, engine, stamp_before.override)
        check_cancelled()
        text, script = task.text, plan.keys.script(task.text)
        drawn = drawn_forms(self._settings, engine, [text], self._store.cache)
        checker = checker_for(self._settings, engine, script, drawn)
        page, trouble = self._checked(task, plan, checker)
        page = spelled(page, checker.policy)
        result = page.whole()
        quality = quality_flags(result, self._settings, checker)
        result_to_save, quality = self._rescored(work, result, quality, evidence, language)
        check_cancelled()  # the last call: from here on everything is saved
        if page.readings is not None:
            self._store.cache.put(*page.readings)
        if listed.text != stored_page.text:
            self._store.texts.move(work, stored_page.text, listed.text)
        note_own_export(self._store, text, self._settings)
        if not self._store.texts.record_content(str(text.path), text.text, script.value, text.is_current):
            return None
        checked = CheckedResult(task.in_text, page.key, result_to_save, stamp_before.override, page.shapes, quality)
        if not self._store.replace_page(number, stamp_before, checked):
            return None
        # under an unchanged key the store keeps the old flags, but the witnesses may have changed
        self._store.rescore(work, quality.among(result_to_save.flags))
        places_lost = self._displaced(work) - displaced
        return _compared(result, trouble, before, self._flags(work, listed), displaced, places_lost)

    def _checked(self, task: PageTask, plan: CheckPlan, checker: Checker) -> tuple[CheckedPage, RecheckFault | None]:
        """The checked page, and why it could not be checked, if so."""
        try:
            page = check_page(task, plan.keys, self._store, checker, ImageLoader(plan.max_megapixels))
        except StoppedError:
            raise
        except Exception as error:
            return CheckedPage(task, failed_result(task, error), ""), RecheckFault.of(error)
        faults = {Status.NO_IMAGE: RecheckFault.NO_IMAGE, Status.MISMATCH: RecheckFault.OTHER_PAGE}
        gone = RecheckFault.IMAGE_GONE if task.trouble else None
        return page, faults.get(page.result.status, gone)

    def _open(self) -> Engine:
        if self._engine is None:
            self._engine = open_engine(engine_settings(self._settings), store=self._store.cache)
        return self._engine

    def _plan(
        self, page: ListedPage, engine: Engine, override: LayoutOverride | None
    ) -> tuple[CheckPlan, PageTask, WitnessEvidence | None, FlagLanguage]:
        """The plan for the text of the page alone, the task of the page, and the evidence of the witnesses and the
        language model. Raises GonePageError if the text no longer has the page."""
        index = ImageIndex(self._settings.project.images)
        text = on_pages(read_transcription(Path(page.text)), self._settings, index, engine, self._store)
        plan = CheckPlan(self._settings, [text], index, engine.identity, self._store)
        plan.take_evidence(by_language_model(plan, self._settings, self._store.cache))
        same_id = [task for task in plan.tasks if task.page.id == page.page]
        if not same_id:
            raise GonePageError(
                _("%(text)s: page %(page)s is no longer there; check the text again"), text=page.text, page=page.page
            )
        task = plan.read_as(same_id[min(page.repeat, len(same_id) - 1)], override)
        language = FlagLanguage(self._settings, plan.tasks, self._store.cache)
        return plan, task, self._evidence(text), language

    def _evidence(self, text: Transcription) -> WitnessEvidence | None:
        """The evidence of the project's witnesses, and of its second engine, on the text; None without any.

        Witnesses are read again only if their files or the settings changed; a changed text is aligned again.
        """
        sources = self._settings.witness_sources()
        second = second_reading(self._settings, self._store, text.path)
        if not sources and second is None:
            return None
        state = hashlib.sha256(self._settings.fingerprint().encode())
        state.update(witnesses_state(sources))
        if state.digest() != self._witnesses_state:
            self._witnesses_state, self._witnesses = state.digest(), tuple(read_witnesses(sources))
            self._cached_evidence.clear()
        key = digest(str(text.path), text.text, second.text if second else "")
        if key not in self._cached_evidence:
            evidence = witness_evidence_of(self._settings, [text], self._store, self._witnesses)
            while len(self._cached_evidence) >= MAX_KEPT_TEXTS:
                del self._cached_evidence[next(iter(self._cached_evidence))]
            self._cached_evidence[key] = next(iter(evidence.values()), None)
        return self._cached_evidence[key]

    def _rescored(
        self,
        work: str,
        result: PageResult,
        quality: QualityFlags,
        evidence: WitnessEvidence | None,
        language: FlagLanguage,
    ) -> tuple[PageResult, QualityFlags]:
        """The result and the quality flags with the scores of a full check: by the whole work, the language model and
        the witnesses."""
        bias = EngineBias()
        bias.add_page(result)
        characters = tuple({flag.transcribed for flag in quality.among(result.flags) if flag.kind is Kind.SUBSTITUTION})
        if characters:
            kinds = (Kind.SUBSTITUTION, Kind.VARIANT)  # the other kinds do not affect the scores of this page
            for flag in self._store.flags(work, (Origin.FINDING,), kinds=kinds, transcribed=characters):
                if flag.page != result.page:
                    bias.add_flag(flag)
        on_page = Counter(character.text for character in result.characters)
        bias.occurrences = on_page + Counter(self._store.glyphs.occurrences(work, bias.recurring, result.page))
        flagging = self._settings.flags
        language.read((*result.flags, *quality.seeded))
        flags = tuple(rescored(flag, bias, flagging, evidence, language) for flag in result.flags)
        seeded = tuple(rescored(flag, bias, flagging, evidence, language, seeded=True) for flag in quality.seeded)
        return replace(result, flags=flags), replace(quality, seeded=seeded)

    def _flags(self, work: str, page: ListedPage) -> dict[int, QueuedFlag]:
        """The flags of a page by their numbers."""
        return {queued.number: queued for queued in self._store.queue.on_page(work, page.position)}

    def _displaced(self, work: str) -> frozenset[int]:
        """The numbers of the work's decided flags whose places are lost."""
        return frozenset(decision.flag for decision in self._store.decisions.displaced(work))


class _CancellableEngine(WrappedEngine):
    """An engine that stops reading once the recheck is cancelled."""

    def __init__(self, engine: Engine, check_cancelled: CheckCancelled) -> None:
        super().__init__(engine)
        self._check_cancelled = check_cancelled

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        self._check_cancelled()
        return super().read(strips, sought)


def _cancellable(engine: Engine, check_cancelled: CheckCancelled) -> Engine:
    """The engine, made cancellable. An ExternalEngine is not wrapped, since it reads files only, and callers test for
    its type."""
    return engine if isinstance(engine, ExternalEngine) else _CancellableEngine(engine, check_cancelled)


def _compared(
    result: PageResult,
    trouble: RecheckFault | None,
    before: dict[int, QueuedFlag],
    after: dict[int, QueuedFlag],
    displaced: Collection[int],
    places_lost: Collection[int],
) -> RecheckOutcome:
    """The differences between the page's flags before and after the recheck.

    `displaced` are the flags whose places were lost before, `places_lost` those whose places this recheck lost. A
    decision whose place remains is kept even if nothing is flagged there now.
    """

    def raised(flags: dict[int, QueuedFlag], number: int) -> bool:
        return number in flags and not flags[number].stale and flags[number].flag.raised

    decided = [flag for flag in before.values() if flag.state is not State.OPEN and flag.number not in displaced]
    return RecheckOutcome(
        result=result,
        trouble=trouble,
        fresh=tuple(queued for number, queued in after.items() if raised(after, number) and not raised(before, number)),
        gone=tuple(queued for number, queued in before.items() if raised(before, number) and not raised(after, number)),
        kept=tuple(flag for flag in decided if flag.number not in places_lost),
        lost=tuple(flag for flag in decided if flag.number in places_lost),
    )
