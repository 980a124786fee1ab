"""Pages that no image shows, judged by the sense alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from proof.check.plan import CheckPlan
from proof.language.findings import PagePosition, SenseEvidence, evidence, flags_of
from proof.language.model import LanguageModel
from proof.language.weights import SenseWeights
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.settings.config import Settings
from proof.text.model import Page, Script
from proof.verify.page_findings import numbered

NOWHERE = Box(0, 0, 0, 0)


def by_sense(work: CheckPlan, settings: Settings) -> Mapping[int, Sequence[SenseEvidence]]:
    """What the sense says against the pages of a work that have no image, by the number of their task. The model knows
    traditional texts alone: of a simplified one nothing is said."""
    texts = {id(task.text): task.text for task in work.tasks}
    number_of = {name: number for number, name in enumerate(texts)}
    tasks = {
        PagePosition(number_of[id(task.text)], task.number): number
        for number, task in enumerate(work.tasks)
        if task.found is None and not task.trouble and work.keys.script(task.text) is Script.TRADITIONAL
    }
    if not settings.flags.sense or not tasks:
        return {}
    path = settings.language.model
    language = LanguageModel.load(path) if path else LanguageModel.shipped()
    found: defaultdict[int, list[SenseEvidence]] = defaultdict(list)
    for one in evidence(list(texts.values()), language, SenseWeights.shipped(), set(tasks)):
        found[tasks[one.where]].append(one)
    return found


def with_sense(result: PageResult, page: Page, found: Sequence[SenseEvidence], threshold: float) -> PageResult:
    """The result of a page without an image with what the sense says, and the columns that it speaks of."""
    if result.status is not Status.NO_IMAGE or not found:
        return result
    flags = sorted(flags_of(page, result.ref, found, threshold), key=lambda flag: (flag.line, flag.offset))
    lines = {flag.line for flag in flags}
    columns = tuple(CheckedColumn(one.number, NOWHERE, one.source) for one in page.columns if one.number in lines)
    return replace(result, flags=numbered(flags), columns=columns)
