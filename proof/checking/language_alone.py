"""Flags that the language model alone raises: on pages without an image, and where the image does not decide.

For pages with an image the model uses only the text of the page, not the rest of the work. So a page that is checked
again gets the same result as in a check of the whole work. This evidence is cached while the text, the model and the
program stay the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from pydantic import TypeAdapter

import proof
from proof.checking.plan import METHOD_VERSION, CheckPlan, digest
from proof.language.doubts import DoubtedText
from proof.language.findings import LanguageEvidence, PagePosition, evidence, flag_of
from proof.language.model import ModelFile
from proof.language.weights import LanguageWeights
from proof.model.flags import Flag, Kind, with_ids
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.settings.config import Settings
from proof.store.cache import Cache
from proof.text.model import Page
from proof.text.transcription import Transcription
from proof.verify.scores import unseen_score

_CACHED = TypeAdapter(list[LanguageEvidence])

NOWHERE = Box(0, 0, 0, 0)
"""The box of a column of a page without an image."""


def by_language_model(plan: CheckPlan, settings: Settings, cache: Cache) -> Mapping[int, Sequence[LanguageEvidence]]:
    """The evidence of the language model against the pages of a work, by the index of the page's task in the plan."""
    if not settings.flags.language_model:
        return {}
    texts = {id(task.text): task.text for task in plan.tasks}
    text_index = {text_id: index for index, text_id in enumerate(texts)}
    with_image: dict[PagePosition, int] = {}
    without_image: dict[PagePosition, int] = {}
    for task_index, task in enumerate(plan.tasks):
        if not task.trouble:
            position = PagePosition(text_index[id(task.text)], task.number)
            (without_image if task.image is None else with_image)[position] = task_index
    model = ModelFile(settings.language.model)
    by_task: defaultdict[int, list[LanguageEvidence]] = defaultdict(list)
    if without_image:
        for item in evidence(list(texts.values()), model.model(), LanguageWeights.shipped(), without_image.keys()):
            by_task[without_image[item.where]].append(item)
    for index, text in enumerate(texts.values()):
        task_of_page = {position.page: task for position, task in with_image.items() if position.text == index}
        for item in _evidence_against(text, model, cache) if task_of_page else ():
            if item.where.page in task_of_page:
                by_task[task_of_page[item.where.page]].append(item)
    return by_task


def _evidence_against(text: Transcription, model: ModelFile, cache: Cache) -> list[LanguageEvidence]:
    """The evidence against one text, judged without the rest of its work; from the cache if that has it. The odds are
    lower in passages of a kind that the model does not know."""
    key = key_of("language evidence", text, model)
    cached = cache.get(key)
    if cached is not None:
        return _CACHED.validate_json(cached)
    items = evidence([text], model.model(), LanguageWeights.shipped())
    if items:
        shares = DoubtedText(text, model.model()).trust_at(
            [(item.where.page, item.column, item.offset) for item in items]
        )
        items = [_scaled(item, share) for item, share in zip(items, shares, strict=True)]
    cache.put(key, _CACHED.dump_json(items))
    return items


def _scaled(item: LanguageEvidence, share: float) -> LanguageEvidence:
    """The evidence with its odds times `share`."""
    odds = round(share * item.odds, 3)
    return replace(item, odds=odds, reading=replace(item.reading, odds=odds))


def key_of(kind: str, text: Transcription, model: ModelFile) -> str:
    """The key under which a result of the model on a text is cached; `kind` is the kind of the result."""
    return f"{kind} {digest(str(METHOD_VERSION), proof.__version__, model.checksum, text.script.value, text.text)}"


def with_language(result: PageResult, page: Page, items: Sequence[LanguageEvidence], threshold: float) -> PageResult:
    """The result of a page with the flags of the model added. A page without an image gets all of them, and the columns
    that have flags. A checked page gets those for characters that have a place on the image and no flag."""
    if not items:
        return result
    if result.status is Status.NO_IMAGE:
        flags = [flag_of(page, result.ref, item, threshold) for item in items]
        flags.sort(key=_place)
        lines = {flag.line for flag in flags}
        columns = tuple(
            CheckedColumn(item.number, NOWHERE, item.source) for item in page.columns if item.number in lines
        )
        return replace(result, flags=with_ids(flags), columns=columns)
    if result.status is Status.CHECKED:
        all_flags = with_ids((*result.flags, *_flags_beside_image(result, page, items, threshold)))
        added = all_flags[len(result.flags) :]
        return replace(result, flags=tuple(sorted((*result.flags, *added), key=_place)))
    return result


def _place(flag: Flag) -> tuple[int, int]:
    return flag.line, flag.offset


def _flags_beside_image(
    result: PageResult, page: Page, items: Sequence[LanguageEvidence], threshold: float
) -> Iterator[Flag]:
    """The flags of the model on characters that have a place on the image and no flag yet. What the image says for the
    transcribed character is subtracted from their scores; only flags with a positive score are given."""
    flagged = _flagged_places(result.flags)
    characters = {(item.line, item.offset): item for item in result.characters}
    for item in items:
        character = characters.get((page.columns[item.column].number, item.offset))
        if character is None or (character.line, character.offset) in flagged:
            continue
        flag = _with_image(flag_of(page, result.ref, item, threshold), character, threshold)
        if flag.score > 0:
            yield flag


def _flagged_places(flags: Sequence[Flag]) -> Set[tuple[int, int]]:
    """The line and offset of each code point that has a flag other than a variant."""
    return {
        (flag.line, flag.offset + step)
        for flag in flags
        if flag.kind is not Kind.VARIANT
        for step in range(max(flag.length, 1))
    }


def _with_image(flag: Flag, character: CheckedCharacter, threshold: float) -> Flag:
    """A flag of the model with the place of its character on the image, and the score that takes the image into
    account."""
    score = unseen_score(flag.score, character.p_text, flag.transcribed, flag.suggested)
    with_posterior = replace(flag.evidence, p_text=character.p_text)
    return replace(flag, score=score, raised=score >= threshold, bbox=character.box, evidence=with_posterior)
