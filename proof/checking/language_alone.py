"""Flags that the language model raises by itself: on pages without an image, and where the image does not decide.

Beside an image each text is judged by itself, so that one page read again gets the same result as in a check of the
whole work; the findings are kept in the store while text and model stay the same.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

import proof
from proof.checking.plan import METHOD, CheckPlan
from proof.language.doubts import DoubtedText
from proof.language.findings import LanguageEvidence, PagePosition, evidence, flag_of
from proof.language.model import ModelFile
from proof.language.weights import LanguageWeights
from proof.model.flags import Flag, Kind, LanguageReading, numbered
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.settings.config import Settings
from proof.store.cache import Cache
from proof.text.model import Page
from proof.text.transcription import Transcription
from proof.verify.scores import unseen_score

NOWHERE = Box(0, 0, 0, 0)

Found = dict[int, list[LanguageEvidence]]


def by_language_model(work: CheckPlan, settings: Settings, cache: Cache) -> Mapping[int, Sequence[LanguageEvidence]]:
    """The evidence of the language model against the pages of a work, by the number of their task."""
    if not settings.flags.language_model:
        return {}
    texts = {id(task.text): task.text for task in work.tasks}
    number_of = {name: number for number, name in enumerate(texts)}
    seen: dict[PagePosition, int] = {}
    unseen: dict[PagePosition, int] = {}
    for number, task in enumerate(work.tasks):
        if not task.trouble:
            place = PagePosition(number_of[id(task.text)], task.number)
            (unseen if task.image is None else seen)[place] = number
    model = ModelFile(settings.language.model)
    by_task: defaultdict[int, list[LanguageEvidence]] = defaultdict(list)
    if unseen:
        for item in evidence(list(texts.values()), model.model(), LanguageWeights.shipped(), unseen.keys()):
            by_task[unseen[item.where]].append(item)
    for number, text in enumerate(texts.values()):
        own = {place.page: task for place, task in seen.items() if place.text == number}
        for item in _of_text(text, model, cache) if own else ():
            if item.where.page in own:
                by_task[own[item.where.page]].append(item)
    return by_task


def _of_text(text: Transcription, model: ModelFile, cache: Cache) -> list[LanguageEvidence]:
    """The evidence against one text, judged by itself; it counts less in a passage that the model does not know."""
    key = key_of("language alone", text, model)
    known = cache.get(key)
    if known is not None:
        return [_unpacked(*item) for item in json.loads(known)]
    items = evidence([text], model.model(), LanguageWeights.shipped())
    if items:
        heard = DoubtedText(text, model.model()).heard_at(
            [(item.where.page, item.column, item.offset) for item in items]
        )
        items = [_less(item, share) for item, share in zip(items, heard, strict=True)]
    cache.put(key, json.dumps([_packed(item) for item in items], ensure_ascii=False).encode())
    return items


def _less(item: LanguageEvidence, share: float) -> LanguageEvidence:
    """The evidence with its odds times `share`."""
    odds = round(share * item.odds, 3)
    return replace(item, odds=odds, reading=replace(item.reading, odds=odds))


def key_of(kind: str, text: Transcription, model: ModelFile) -> str:
    """The key under which a result of the model on a text is kept."""
    parts = (str(METHOD), proof.__version__, model.checksum, text.script.value, text.text)
    return f"{kind} {hashlib.sha256(chr(31).join(parts).encode('utf-8', 'surrogatepass')).hexdigest()}"


def _packed(item: LanguageEvidence) -> list[object]:
    reading = item.reading.as_dict()
    return [item.where.page, item.column, item.offset, item.transcribed, item.suggested, item.odds, reading]


def _unpacked(
    page: int, column: int, offset: int, transcribed: str, suggested: str, odds: float, reading: dict[str, object]
) -> LanguageEvidence:
    where = PagePosition(0, page)
    return LanguageEvidence(where, column, offset, transcribed, suggested, odds, LanguageReading.of(reading))


def with_language(result: PageResult, page: Page, items: Sequence[LanguageEvidence], threshold: float) -> PageResult:
    """The result of a page with the flags of the model: all of them where no image was found, with the columns that
    they are in; beside an image those that this does not decide."""
    if not items:
        return result
    if result.status is Status.NO_IMAGE:
        flags = [flag_of(page, result.ref, item, threshold) for item in items]
        flags.sort(key=_in_order)
        lines = {flag.line for flag in flags}
        columns = tuple(
            CheckedColumn(item.number, NOWHERE, item.source) for item in page.columns if item.number in lines
        )
        return replace(result, flags=numbered(flags), columns=columns)
    if result.status is Status.CHECKED:
        added = list(_beside_image(result, page, items, threshold))
        own = numbered((*result.flags, *added))[len(result.flags) :]
        return replace(result, flags=tuple(sorted((*result.flags, *own), key=_in_order)))
    return result


def _in_order(flag: Flag) -> tuple[int, int]:
    return flag.line, flag.offset


def _beside_image(
    result: PageResult, page: Page, items: Sequence[LanguageEvidence], threshold: float
) -> Iterator[Flag]:
    """Flags of the model where the image shows the transcribed character, less what the image says for it."""
    taken = _taken(result.flags)
    characters = {(item.line, item.offset): item for item in result.characters}
    for item in items:
        character = characters.get((page.columns[item.column].number, item.offset))
        if character is None or (character.line, character.offset) in taken:
            continue
        flag = _weighed(flag_of(page, result.ref, item, threshold), character, threshold)
        if flag.score > 0:
            yield flag


def _taken(flags: Sequence[Flag]) -> Set[tuple[int, int]]:
    """The places that have a flag already; variants do not count."""
    return {
        (flag.line, flag.offset + step)
        for flag in flags
        if flag.kind is not Kind.VARIANT
        for step in range(max(flag.length, 1))
    }


def _weighed(flag: Flag, character: CheckedCharacter, threshold: float) -> Flag:
    score = unseen_score(flag.score, character.p_text, flag.transcribed, flag.suggested)
    spoken = replace(flag.evidence, p_text=character.p_text)
    return replace(flag, score=score, raised=score >= threshold, bbox=character.box, evidence=spoken)
