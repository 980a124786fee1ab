"""A page in whose text errors can be planted: its transcription, the result of its check, and stores with it."""

from __future__ import annotations

from pathlib import Path

from proof.model.flags import Evidence, Flag, Kind, Origin, with_ids
from proof.model.geometry import Box
from proof.model.quality import QualityFlags
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.quality.seeded_errors import ErrorPolicy, seeded_errors_of
from proof.store import RunInfo, Store
from proof.store.saving import CheckedResult
from proof.text.contexts import context_of
from proof.text.model import Row, Script
from proof.text.variants import VariantPolicy
from tests.build import page_place, text_info

WORK = "KR1d0030"
PAGE = "KR1d0030_WYG_010-1a"
COLUMNS = (
    "大射之禮侯道九十弓參七十干五十設乏各去其侯西十北十",
    "司馬命量人量侯道與所設乏以狸步巾車張三侯大侯之崇見鵠",
    "宰夫戒宰及司馬射人宿視滌小臣師納諸公卿大夫諸公卿入門右",
    "主人受爵賓以虛爵降主人降賓洗南西面坐奠觚少進辭降主人西",
    "今以矢行告于公下曰留上曰揚左右曰方公既發大射正受弓而俟",
    "司射東面于大夫之西比耦大射正揖進受之未旦而徹侍者執燭待",
)
TEXT = f"<pb:{PAGE}>¶\n" + "".join(f"{column}¶\n" for column in COLUMNS)
JUDGE = ErrorPolicy(VariantPolicy(Script.TRADITIONAL), lambda character: True, 3.0)


def page(flags: tuple[Flag, ...] = (), name: str = PAGE) -> PageResult:
    """The result of a check that read every character as transcribed, apart from the flags."""
    characters = tuple(
        CheckedCharacter(line, at, 1, Row.MAIN, text, Box(700 - 100 * line, 30 * at, 60, 30), text, 0.99)
        for line, source in enumerate(COLUMNS, 1)
        for at, text in enumerate(source)
    )
    columns = tuple(CheckedColumn(n, Box(690 - 100 * n, 0, 90, 900), source) for n, source in enumerate(COLUMNS, 1))
    return PageResult(
        name, "WYG0103-0192c", Status.CHECKED, image=Path("WYG0103-0192c.png"), image_sha="5eed", image_size=(800, 900),
        characters_checked=len(characters), columns=columns, characters=characters, flags=flags,
    )  # fmt: skip


def _read(text: str, seen: str) -> Evidence:
    return Evidence("posterior", p_text=0.0002, p_best=0.998, alternatives=((seen, 0.998), (text, 0.0002)))


def found(*places: tuple[int, int, str]) -> tuple[Flag, ...]:
    """Flags of a check, each given by column, offset and the reading of the image."""
    return with_ids(
        Flag(
            PAGE, "WYG0103-0192c", line, at, 1, Kind.SUBSTITUTION, COLUMNS[line - 1][at], suggested, 9.0 - at / 10,
            True, Box(700 - 100 * line, 30 * at, 60, 30), _read(COLUMNS[line - 1][at], suggested),
            context_of(COLUMNS[line - 1], at, 1),
        )
        for line, at, suggested in places
    )  # fmt: skip


FLAGS = found((1, 4, "之"), (3, 7, "月"), (5, 22, "二"))


def store_in(folder: Path, rate: float, flags: tuple[Flag, ...] = FLAGS) -> Store:
    """A project that was checked once, with `rate` planted errors in 10,000 characters."""
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / f"{WORK}_010.txt"
    text.write_text(TEXT, encoding="utf-8", newline="")
    store = Store.open(folder / "proof.sqlite")
    check_again(store, rate, flags)
    return store


def seeded_ids(store: Store) -> set[str]:
    """The ids of the seeded errors in the store."""
    return {flag.id for flag in store.flags(WORK, (Origin.SEEDED,))}


def check_again(store: Store, rate: float, flags: tuple[Flag, ...] = FLAGS, key: str = "same") -> None:
    """Check the page again; it is saved under the same key."""
    folder = Path(str(store.engine.url.database)).parent
    path = str(folder / f"{WORK}_010.txt")
    texts = (text_info(Path(path)),)
    run = store.begin_run(RunInfo(WORK, "儀禮集釋", texts, EngineIdentity("null", "1", "", "")))
    result = page(flags)
    quality = QualityFlags(seeded=seeded_errors_of(result, rate, JUDGE))
    store.save_pages(run, [CheckedResult(page_place(0, Path(path), PAGE), key, result, quality=quality)])
    store.finish_run(run, whole=True)
