"""The reading of a second engine (`engine.second`) as a witness of the images. It is shown beside flags, and does not
change their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event

from proof.checking.executor import ImageLoader, checker_for, engine_settings, read_image, reading_threads
from proof.checking.plan import CheckPlan, PageKeys, PageTask, digest
from proof.errors import UsageError
from proof.locale.marking import _
from proof.model.flags import READER_SIGN
from proof.ocr.engine import Engine, EngineIdentity
from proof.ocr.registry import open_engine
from proof.settings.config import Settings
from proof.store import Store
from proof.text.column import is_character
from proof.text.encoding import Decoded
from proof.text.read import parse_transcription
from proof.text.transcription import Transcription

NO_SECOND = "none"
"""The value of `engine.second` if there is no second engine."""


def open_second(settings: Settings, store: Store, first: EngineIdentity) -> Engine | None:
    """The second engine; None if none is set. Raises EngineError if it cannot run, and UsageError if it is the first
    engine again, which would agree with itself."""
    if settings.engine.second == NO_SECOND:
        return None
    second = replace(engine_settings(settings), name=settings.engine.second, model=settings.engine.second_model)
    engine = open_engine(second, store.engines(), store.cache)
    if engine.identity == first:
        raise UsageError(
            _("engine.second: %(identity)s is the first engine, too; name another, or another engine.second_model"),
            identity=engine.identity,
        )
    return engine


def read_by_second(
    plan: CheckPlan, settings: Settings, store: Store, engine: Engine, read: Callable[[int, int], None]
) -> None:
    """Have the second engine read the pages with raised flags, and keep its reading of each file. `read` is called
    after each page with the number of pages read so far and the number of all."""
    flagged = {result.page for result in store.results(work=plan.work, outline=True, raised=True)}
    tasks = [task for task in plan.tasks if task.image is not None and task.page.id in flagged]
    keys, loader = PageKeys.of(settings, engine.identity), ImageLoader(settings.images.max_megapixels)
    scripts = {plan.keys.script(task.text) for task in tasks}
    checkers = {script: checker_for(settings, engine, script) for script in scripts}

    def read_columns(task: PageTask) -> tuple[str, ...]:
        assert task.image is not None
        layout_override = task.override.layout if task.override else None
        return read_image(task.image, keys, store, checkers[plan.keys.script(task.text)], loader, layout_override)

    lines: dict[Path, list[str]] = {task.text.path: [] for task in plan.tasks}
    with reading_threads(settings.workers, "second", Event()) as pool:
        for number, (task, columns) in enumerate(zip(tasks, pool.map(read_columns, tasks), strict=True), 1):
            lines[task.text.path] += ("".join(filter(is_character, column)) for column in columns)
            read(number, len(tasks))
    for path, lines_of_text in lines.items():
        reading = "\n".join(filter(None, lines_of_text))
        store.cache.put(_key(settings, path), reading.encode("utf-8", "surrogatepass"))


def second_reading(settings: Settings, store: Store, text: Path) -> Transcription | None:
    """The second engine's reading of the pages of a text in the last check; None if none is kept."""
    reading = store.cache.get(_key(settings, text)) if settings.engine.second != NO_SECOND else None
    if not reading:
        return None
    name = settings.engine.second
    decoded = Decoded(reading.decode("utf-8", "surrogatepass"), "utf-8", False)
    return replace(parse_transcription(decoded, Path(name)), siglum=READER_SIGN + name)


def _key(settings: Settings, text: Path) -> str:
    engine = settings.engine
    return f"second {digest(engine.second, engine.second_model, str(engine.recording), str(text))}"
