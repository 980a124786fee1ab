"""The plan of a run: the pages of its texts with their images, and what the result of each page depends on."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import proof
from proof.checking.renamed_texts import earlier_text
from proof.errors import ImageListError, UsageError
from proof.images.find import ImageIndex, PageImage
from proof.images.imglist import find_image_lists
from proof.images.load import sha256_of
from proof.language.findings import LanguageEvidence
from proof.locale.marking import _
from proof.model.notices import Notice, NoticeCode
from proof.model.refs import ImageRef
from proof.ocr.engine import EngineIdentity
from proof.settings.config import Settings
from proof.settings.project import texts_of_project
from proof.store import PagePlace, RunInfo, Store, TextInfo
from proof.store.layout_overrides import LayoutOverride
from proof.store.texts import sha_of
from proof.text.authorities import lists_fingerprint
from proof.text.model import Page, Script
from proof.text.positions import Span
from proof.text.transcription import Transcription
from proof.text.versions import most_alike

METHOD_VERSION = 47
"""Version of the method. Raise it with every change that alters results: stored results are then not reused."""


def digest(*parts: str) -> str:
    """A hash of the parts, on which a result depends."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class PageTask:
    """One page to be checked: its text, its index among the pages of the text (`number`), its place in the run, and its
    image. `trouble`: why the image that it should have cannot be used; `override`: a person's correction of its layout
    or image; `language`: the evidence of the language model against its text."""

    text: Transcription
    number: int
    place: PagePlace
    image: PageImage | None
    image_ref: ImageRef | None
    trouble: Notice | None = None
    override: LayoutOverride | None = None
    language: tuple[LanguageEvidence, ...] = ()

    @property
    def page(self) -> Page:
        return self.text.pages[self.number]

    @property
    def in_text(self) -> PagePlace:
        """The place of the page with the spans of its columns in the file."""
        lines = {column.number: Span(column.start, len(column.source)) for column in self.page.columns}
        return replace(self.place, lines=lines)

    @property
    def ref(self) -> str:
        return str(self.image_ref) if self.image_ref else ""


def work_of(texts: Sequence[Transcription], store: Store, project: Sequence[Path] = ()) -> str:
    """The id of a work in the store: the one that its first text gives; else the one under which any of `texts`, or of
    the texts of the `project`, was checked before, so that texts can be checked alone and others added; else the name
    of the first file. Raises UsageError if the store has another work of that name."""
    if texts[0].work:
        return texts[0].work
    stored_works = (store.texts.work_of(str(path)) for path in (*(text.path for text in texts), *project))
    renamed = (earlier_text(store, text, texts) for text in texts)
    return (
        next((work for work in stored_works if work), None)
        or next((earlier.work for earlier in renamed if earlier is not None), None)
        or _new_name(texts, store)
    )


def _new_name(texts: Sequence[Transcription], store: Store) -> str:
    """The id of a work whose texts the store does not know: the name of the first file. Raises UsageError if the store
    has a work of that name of which no text is a copy."""
    name = texts[0].path.stem
    stored = {text.path: store.texts.content(text.path) for text in store.texts.checked() if text.work == name}
    if stored and all(most_alike(text.text, stored) is None for text in texts):
        raise UsageError(
            _(
                "%(path)s: the store has another work of this name, from %(other)s; rename the file, "
                "say in its header which text it is (#+PROPERTY: ID), or give the project a store of "
                "its own (store.url)"
            ),
            path=texts[0].path,
            other=next(iter(stored)),
        )
    return name


@dataclass(frozen=True, slots=True)
class PageKeys:
    """Engine and settings, on which the result of every page depends beside the page and its image. They are sent to
    workers on other machines, so they are plain values."""

    engine: EngineIdentity
    fingerprint: str
    named_script: str
    detection_model: str

    @classmethod
    def of(cls, settings: Settings, engine: EngineIdentity) -> PageKeys:
        """The keys of a run. Raises ConfigError if a file that they depend on cannot be read."""
        return cls(engine, settings.fingerprint(), settings.page.script, str(settings.engine.detection_model))

    def script(self, text: Transcription) -> Script:
        """The script of a text: the one in the settings, else the one found in the text."""
        return text.script if self.named_script == "auto" else Script(self.named_script)

    def readings_key(self, image: PageImage, image_sha: str = "") -> str:
        """The key of the readings of an image in the cache. It depends neither on the text nor on how readings are
        judged. `image_sha` is the hash of the image's bytes, if it is known. Raises ImageError."""
        engine = self.engine
        parts = (engine.name, engine.version, engine.checksum, self.detection_model, image.quadrant)
        sha = image_sha or sha256_of(image.path)
        return f"page {digest(*parts, sha)}"

    def key(self, task: PageTask, image_sha: str = "") -> str:
        """A hash of everything that the result of a page depends on; `image_sha` as in `readings_key`. Raises
        ImageError if the image cannot be read."""
        image, columns = task.image, task.page.columns
        layout = task.override.layout if task.override else None
        start = columns[0].start if columns else 0
        return digest(
            str(METHOD_VERSION),
            proof.__version__,
            *(self.engine.name, self.engine.version, self.engine.checksum),
            self.fingerprint,
            lists_fingerprint(),
            self.script(task.text).value,
            (image_sha or sha256_of(image.path)) if image else "",
            image.quadrant if image else "",
            *([json.dumps(layout.as_json())] if layout else []),
            *(
                f"{evidence.column} {evidence.offset} {evidence.suggested} {evidence.odds:.6f} {evidence.reading}"
                for evidence in task.language
            ),
            task.ref,
            task.page.id,
            str(task.page.marks_notes),
            str(task.page.joined),
            # with the numbers and places of the columns: lines, or another page, may have been put before or between
            *(f"{column.number} {column.start - start} {column.source}" for column in columns),
        )


class CheckPlan:
    """The plan of a run: a task for each page of its texts, and the keys of their results."""

    def __init__(
        self,
        settings: Settings,
        texts: Sequence[Transcription],
        index: ImageIndex,
        engine: EngineIdentity,
        store: Store,
    ) -> None:
        self.work = work_of(texts, store, texts_of_project(settings))
        self._settings = settings
        self._index = index
        self.keys = PageKeys.of(settings, engine)
        self._texts = [replace(text, script=self.keys.script(text)) for text in texts]
        self.max_megapixels = settings.images.max_megapixels
        self.tasks: list[PageTask] = []
        for text in self._texts:
            images, first, sha = self._images_of(text), len(self.tasks), sha_of(text.text)
            self.tasks += [_task(text, n, first + n, images, sha) for n in range(len(text.pages))]
        self.tasks = _overridden(_with_copies(self.tasks), store.layout_overrides.of_work(self.work), index)

    def take_evidence(self, language: Mapping[int, Sequence[LanguageEvidence]]) -> None:
        """Give each task the evidence of the language model against its page, by the index of the task."""
        self.tasks = [replace(task, language=tuple(language.get(n, ()))) for n, task in enumerate(self.tasks)]

    def read_as(self, task: PageTask, override: LayoutOverride | None) -> PageTask:
        """A task of this work with `override` instead of its own; without any if that is None."""
        without = _task(task.text, task.number, task.place.position, self._images_of(task.text), task.place.sha)
        without = replace(without, language=task.language, place=task.place)
        return with_override(without, override, self._index) if override else without

    def _images_of(self, text: Transcription) -> ImageIndex:
        """The images with the image lists of a text."""
        return self._index.with_lists(image_lists(self._settings, text), text.pages)

    def info(self) -> RunInfo:
        """What the store records about the run."""
        return RunInfo(
            work=self.work,
            title=self._settings.project.title or self._texts[0].title or self.work,
            texts=tuple(
                TextInfo(str(t.path), sha_of(t.text), t.format.value, self.keys.script(t).value, t.text)
                for t in self._texts
            ),
            engine=self.keys.engine,
            settings={"fingerprint": self.keys.fingerprint, "threshold": self._settings.flags.threshold},
        )


def image_lists(settings: Settings, text: Transcription) -> tuple[Path, ...]:
    """The image lists of a text: the one in the settings (in a folder of lists, the one with the name of the text), or
    the one beside the text, as Kanripo has them."""
    return find_image_lists(text.path, text.pages, settings.project.imglist)


def _task(text: Transcription, number: int, position: int, index: ImageIndex, sha: str) -> PageTask:
    page = text.pages[number]
    place = PagePlace(position, str(text.path), page.juan, str(page.folio) if page.folio else "", sha=sha)
    ref = index.reference(page)
    try:
        return PageTask(text, number, place, index.image_of(text, number), ref)
    except ImageListError as error:
        return PageTask(text, number, place, None, ref, Notice.of_error(error))


def _with_copies(tasks: Sequence[PageTask]) -> list[PageTask]:
    """The tasks, each with the paths of the other texts that have a page of the same id."""
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for task in tasks:
        texts[task.page.id].add(task.place.text)
    copies = (frozenset(texts[task.page.id] - {task.place.text}) for task in tasks)
    return [replace(task, place=replace(task.place, copies=others)) for task, others in zip(tasks, copies, strict=True)]


def _overridden(
    tasks: Sequence[PageTask], overrides: Mapping[tuple[str, int], LayoutOverride], index: ImageIndex
) -> list[PageTask]:
    """The tasks with people's corrections of layouts, and the images that they assigned to pages."""
    return [
        with_override(task, overrides[key], index) if key in overrides else task
        for task, key in zip(tasks, page_keys(tasks), strict=True)
    ]


def page_keys(tasks: Sequence[PageTask]) -> list[tuple[str, int]]:
    """The key by which the store finds each page: its id, and how many pages before it have the same id."""
    count: Counter[str] = Counter()
    keys = []
    for task in tasks:
        keys.append((task.page.id, count[task.page.id]))
        count[task.page.id] += 1
    return keys


def with_override(task: PageTask, override: LayoutOverride, index: ImageIndex) -> PageTask:
    """A task with a person's correction. If the assigned image is gone, the task has a `trouble` and no image."""
    if not override.image:
        return replace(task, override=override)
    image = index.assigned(override.image, override.quadrant)
    gone = Notice.of(NoticeCode.ASSIGNED_GONE, image=override.image, person=override.person)
    return replace(task, override=override, image=image, trouble=None if image else gone)
