"""Readings of the language model at flags that an image raised. They are cached while text and model stay the same.

Each text is judged only with its own other pages, so that a page that is checked again gets the same result as in a
check of the whole work.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from proof.checking.language_alone import key_of
from proof.checking.plan import PageTask
from proof.language.doubts import Doubt, DoubtedText
from proof.language.findings import LanguageEvidence
from proof.language.model import ModelFile
from proof.model.flags import LANGUAGE, PLACEHOLDER, Flag, Kind, LanguageReading, without_language
from proof.settings.config import Settings
from proof.store.cache import Cache
from proof.text.alike import run_together
from proof.text.transcription import Transcription
from proof.text.variants import Relation, policy_of
from proof.verify.scores import language_weight

Readings = dict[str, LanguageReading | None]


@dataclass(frozen=True, slots=True)
class _PageInText:
    """A page in its text: the number of the page there, and the evidence of the language model alone."""

    text: _Text
    page: int
    alone: tuple[LanguageEvidence, ...]


class FlagLanguage:
    """Adjusts the scores of flags by the readings of the language model."""

    def __init__(self, settings: Settings, tasks: Sequence[PageTask], cache: Cache) -> None:
        """Pages whose id is not unique in `tasks` are left out."""
        self._pages: dict[str, _PageInText] = {}
        self._in_memory: set[_Text] = set()
        if not settings.flags.language_model:
            return
        count = Counter(task.page.id for task in tasks)
        texts: dict[int, _Text] = {}
        for task in tasks:
            if count[task.page.id] == 1:
                text = texts.setdefault(id(task.text), _Text(task.text, ModelFile(settings.language.model), cache))
                self._pages[task.page.id] = _PageInText(text, task.number, task.language)

    def read(self, flags: Iterable[Flag]) -> None:
        """Read these flags with the model, all flags of a text at once. The readings of other texts are dropped from
        memory."""
        by_text: defaultdict[_Text, list[Flag]] = defaultdict(list)
        for flag in flags:
            place = self._pages.get(flag.page)
            if place is not None and _applies(flag):
                by_text[place.text].append(without_language(flag))
        for text in self._in_memory - by_text.keys():
            text.forget()
        self._in_memory = set(by_text)
        for text, flags_of_text in by_text.items():
            text.read([(self._pages[flag.page].page, flag) for flag in flags_of_text])

    def rescored(self, flag: Flag, *, seeded: bool = False) -> Flag:
        """A flag with the reading of the model at its place, and with the weight of this reading in its score. If
        another reading of the image fits the neighbours better, the flag suggests that; a `seeded` error keeps its
        suggestion."""
        place = self._pages.get(flag.page)
        reading = _reading_of(place, flag) if place is not None and _applies(flag) else None
        if place is None or reading is None:
            return flag
        score = round(flag.score + reading.weight, 6)
        other = "" if seeded else place.text.suggested(flag, reading.likeliest)
        if not other:
            return replace(flag, score=score, evidence=replace(flag.evidence, language=reading))
        reading = replace(reading, instead_of=(flag.suggested, flag.evidence.p_best))
        probability = dict(flag.evidence.alternatives)[reading.likeliest]
        evidence = replace(flag.evidence, language=reading, p_best=probability)
        return replace(flag, score=score, suggested=other, evidence=evidence)


def _reading_of(place: _PageInText, flag: Flag) -> LanguageReading | None:
    """The reading of a flag with its weight. Between characters that are written alike the evidence of the model alone
    counts with its full odds, since the image cannot tell them apart."""
    if run_together(flag.transcribed, flag.suggested):
        for evidence in place.alone:
            at_flag = place.text.line(place.page, evidence.column) == flag.line and evidence.offset == flag.offset
            if at_flag and evidence.suggested == flag.suggested:
                return replace(evidence.reading, weight=round(evidence.odds, 3))
    reading = place.text.reading(place.page, flag)
    return None if reading is None else replace(reading, weight=round(language_weight(reading.odds), 3))


def _applies(flag: Flag) -> bool:
    """Whether the model applies to a flag: the image shows another single character between the neighbours in the
    text."""
    is_of_image = flag.evidence.reason not in (LANGUAGE, PLACEHOLDER)
    is_single = flag.kind is Kind.SUBSTITUTION and flag.length == 1
    return is_single and is_of_image


class _Text:
    """A text with the readings of its flags so far."""

    def __init__(self, text: Transcription, model: ModelFile, cache: Cache) -> None:
        self._text = text
        self._model = model
        self._cache = cache
        self._readings: Readings | None = None

    def read(self, flags: Sequence[tuple[int, Flag]]) -> None:
        """Read flags, each with the number of its page, that were not read before."""
        if self._readings is None:
            cached = self._cache.get(self._key)
            self._readings = _unpacked(cached) if cached else {}
        doubts = {_name(doubt): doubt for doubt in (self._doubt(page, flag) for page, flag in flags)}
        new = {name: doubt for name, doubt in doubts.items() if name not in self._readings}
        if new:
            readings = DoubtedText(self._text, self._model.model()).readings(list(new.values()))
            self._readings.update(zip(new, readings, strict=True))
            self._cache.put(self._key, _packed(self._readings))

    def reading(self, page: int, flag: Flag) -> LanguageReading | None:
        """The reading of a flag."""
        assert self._readings is not None, "flags are read before they are weighed"
        return self._readings[_name(self._doubt(page, flag))]

    def suggested(self, flag: Flag, likeliest: str) -> str:
        """The reading `likeliest` in the script of the text, if the image shows it and it is another word than both the
        transcribed and the suggested character; else empty."""
        policy = policy_of(self._text.script)
        is_shown = any(text == likeliest for text, _ in flag.evidence.alternatives)
        if not likeliest or not is_shown:
            return ""
        relations = (policy.relation(text, likeliest).relation for text in (flag.transcribed, flag.suggested))
        is_another_word = all(relation is Relation.DISTINCT for relation in relations)
        return policy.spellings(self._text.text, likeliest)[0] if is_another_word else ""

    def line(self, page: int, column: int) -> int:
        """The number of a column of a page."""
        return self._text.pages[page].columns[column].number

    def forget(self) -> None:
        """Drop the readings from memory; the store keeps them."""
        self._readings = None

    def _doubt(self, page: int, flag: Flag) -> Doubt:
        columns = self._text.pages[page].columns
        column = next((index for index, column in enumerate(columns) if column.number == flag.line), -1)
        return Doubt(page, column, flag.offset, flag.transcribed, flag.suggested, flag.evidence.alternatives)

    @cached_property
    def _key(self) -> str:
        return key_of("language", self._text, self._model)


def _name(doubt: Doubt) -> str:
    """The key of a doubt in the cached readings."""
    shown = "".join(f"{text}{probability:.5f}" for text, probability in doubt.shown)
    return f"{doubt.page} {doubt.column} {doubt.offset} {doubt.transcribed}{doubt.suggested} {shown}"


def _packed(readings: Readings) -> bytes:
    records = {name: reading and reading.as_dict() for name, reading in readings.items()}
    return json.dumps(records, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _unpacked(data: bytes) -> Readings:
    records = json.loads(data.decode("utf-8", "surrogatepass"))
    return {name: record and LanguageReading.from_dict(record) for name, record in records.items()}
