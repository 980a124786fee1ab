"""Places where the sense alone speaks against a text: on pages that no image shows, and beside images that do not tell.

Beside an image the sense hears each text by itself, so that a page that is judged again alone is judged as it is in a
check of the whole work; what it says is kept in the store while text and model stay.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

import proof
from proof.check.plan import METHOD, CheckPlan
from proof.language.doubts import DoubtedText
from proof.language.findings import PagePosition, SenseEvidence, evidence, flag_of
from proof.language.model import ModelFile
from proof.language.weights import SenseWeights
from proof.model.flags import Flag, Kind, SenseReading, numbered
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.settings.config import Settings
from proof.store.cache import Cache
from proof.text.model import Page, Transcription
from proof.verify.scores import unseen_score

NOWHERE = Box(0, 0, 0, 0)

Found = dict[int, list[SenseEvidence]]


def by_sense(work: CheckPlan, settings: Settings, cache: Cache) -> Mapping[int, Sequence[SenseEvidence]]:
    """What the sense says against the pages of a work, by the number of their task."""
    if not settings.flags.sense:
        return {}
    texts = {id(task.text): task.text for task in work.tasks}
    number_of = {name: number for number, name in enumerate(texts)}
    seen: dict[PagePosition, int] = {}
    unseen: dict[PagePosition, int] = {}
    for number, task in enumerate(work.tasks):
        if not task.trouble:
            place = PagePosition(number_of[id(task.text)], task.number)
            (unseen if task.found is None else seen)[place] = number
    model = ModelFile(settings.language.model)
    found: defaultdict[int, list[SenseEvidence]] = defaultdict(list)
    if unseen:
        for one in evidence(list(texts.values()), model.model(), SenseWeights.shipped(), unseen.keys()):
            found[unseen[one.where]].append(one)
    for number, text in enumerate(texts.values()):
        own = {place.page: task for place, task in seen.items() if place.text == number}
        for one in _of_text(text, model, cache) if own else ():
            if one.where.page in own:
                found[own[one.where.page]].append(one)
    return found


def _of_text(text: Transcription, model: ModelFile, cache: Cache) -> list[SenseEvidence]:
    """What the sense says against a text, which it hears by itself; in a passage that the language does not know less
    loudly, as where it weighs what an image shows."""
    key = key_of("sense alone", text, model)
    known = cache.get(key)
    if known is not None:
        return [_unpacked(*one) for one in json.loads(known)]
    found = evidence([text], model.model(), SenseWeights.shipped())
    if found:
        heard = DoubtedText(text, model.model()).heard_at([(one.where.page, one.column, one.offset) for one in found])
        found = [_less(one, share) for one, share in zip(found, heard, strict=True)]
    cache.put(key, json.dumps([_packed(one) for one in found], ensure_ascii=False).encode())
    return found


def _less(one: SenseEvidence, share: float) -> SenseEvidence:
    """What the sense says, heard by that share."""
    odds = round(share * one.odds, 3)
    return replace(one, odds=odds, told=replace(one.told, odds=odds))


def key_of(kind: str, text: Transcription, model: ModelFile) -> str:
    """The key under which something that the sense said of a text is kept."""
    parts = (str(METHOD), proof.__version__, model.checksum, text.script.value, text.text)
    return f"{kind} {hashlib.sha256(chr(31).join(parts).encode('utf-8', 'surrogatepass')).hexdigest()}"


def _packed(one: SenseEvidence) -> list[object]:
    told = one.told.as_dict()
    return [one.where.page, one.column, one.offset, one.transcribed, one.suggested, one.odds, told]


def _unpacked(
    page: int, column: int, offset: int, transcribed: str, suggested: str, odds: float, told: dict[str, object]
) -> SenseEvidence:
    where = PagePosition(0, page)
    return SenseEvidence(where, column, offset, transcribed, suggested, odds, SenseReading.of(told))


def with_sense(result: PageResult, page: Page, found: Sequence[SenseEvidence], threshold: float) -> PageResult:
    """The result of a page with what the sense alone says: all of it where no image was found, with the columns that it
    speaks of; beside an image what this does not tell."""
    if not found:
        return result
    if result.status is Status.NO_IMAGE:
        flags = [flag_of(page, result.ref, one, threshold) for one in found]
        flags.sort(key=_in_order)
        lines = {flag.line for flag in flags}
        columns = tuple(CheckedColumn(one.number, NOWHERE, one.source) for one in page.columns if one.number in lines)
        return replace(result, flags=numbered(flags), columns=columns)
    if result.status is Status.CHECKED:
        added = list(_beside_image(result, page, found, threshold))
        own = numbered((*result.flags, *added))[len(result.flags) :]
        return replace(result, flags=tuple(sorted((*result.flags, *own), key=_in_order)))
    return result


def _in_order(flag: Flag) -> tuple[int, int]:
    return flag.line, flag.offset


def _beside_image(result: PageResult, page: Page, found: Sequence[SenseEvidence], threshold: float) -> Iterator[Flag]:
    """Findings of the sense where the image has the character and shows no other, weighed by how surely it shows it."""
    taken = _taken(result.flags)
    characters = {(one.line, one.offset): one for one in result.characters}
    for one in found:
        character = characters.get((page.columns[one.column].number, one.offset))
        if character is None or (character.line, character.offset) in taken:
            continue
        flag = _weighed(flag_of(page, result.ref, one, threshold), character, threshold)
        if flag.score > 0:
            yield flag


def _taken(flags: Sequence[Flag]) -> Set[tuple[int, int]]:
    """The places of which flags speak already; forms of the same word are none."""
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
