"""Parsing the collation notes of an edition's own apparatus.

Two styles are recognised: footnotes of critical editions (`西：原作東，據嚴本校勘記改。`), and notes of the editors of
the Siku in the text (`案比今注疏本訛作北據唐石經及宋本改正`), both in either script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from proof.text.layers import Layer
from proof.text.transcription import Footnote, Transcription

_TO_TRADITIONAL = str.maketrans("讹据补删脱误当订经诸监严与闽夲阙无冇", "訛據補刪脫誤當訂經諸監嚴與閩本闕無有")
_PUNCTUATION = re.compile(r"[，。、,.;；\s]")
_CLAUSE = re.compile(r"[，。；,;]")
_OPENING = re.compile(r"[案按](?!語|语)")

_FOLLOWS = "據從依"
"""The verbs before what an edition follows."""

_VERB = r"訛作|誤作|改作|亦作|原作|作|訛脫|原脫|誤脫|脫|闕|訛衍|原衍|誤衍|衍"
_ACTION = "改正|訂正|改定|校正|增入|補入|刪去|刪正|刪|補|改|增|正|乙"
# after the reading: what the edition follows (據唐石經及宋本改正), or the edition that lacks the words (宋本無)
_AUTHORITY = rf"(?:[{_FOLLOWS}](?P<authority>.+?)(?:(?:{_ACTION}).*)?|(?P<lacks>.{{2,8}})無)?"
# patterns of the first clause of a footnote, behind its lemma and the colon
_FOOTNOTE_PATTERNS = (
    re.compile(r"(?P<verb>疑作|疑當作|當作|疑衍|疑脫)(?P<reading>.*)"),
    re.compile(r"(?P<witness>.*?)(?P<verb>原作|訛作|誤作|作)(?P<reading>.{1,12})"),
    re.compile(r"(?P<witness>.*?)(?P<verb>原脫|脫|無|原衍|衍|有)"),
    re.compile(rf"[{_FOLLOWS}].+?(?P<verb>補|刪|改|乙)"),
)
_NOTE_WITHOUT_COLON = re.compile(r"([^，：]{1,6})(，)((?:原|訛|讹|誤|误)[作脫脱衍].*)", re.DOTALL)
"""A note without a colon: `禮，原作「豊」，據四庫本改。`"""
_QUOTES = re.compile("[「」『』“”‘’]")
_FOLLOWED_AUTHORITY = re.compile(rf"[{_FOLLOWS}](?P<authority>.+?)(?:改|補|刪|乙正|乙)?之?$")
_WITNESS = (
    r"(?P<witness>(?:今|唐|宋|元|明|各|諸|舊|監|毛|閩|原|坊|刊|他|別|一|近|此|古|嚴|徐|鍾|楊|敖|朱|陸|釋)"
    r"[^訛誤脫衍作有無闕]{0,12}?(?:本|石經|文|通解|集說|大典)|石經)"
)
# patterns of a whole note in the text, without the opening 案
_SIKU_PATTERNS = (
    # 此下今注疏本衍還字據唐石經及宋本刪
    re.compile(
        rf"(?:此下|.{{1,6}}?下){_WITNESS}(?P<verb>衍|有|訛衍|誤衍)(?P<reading>.{{1,8}}?)[一二三四五六七八九十]?字{_AUTHORITY}"
    ),
    # 告上今注疏本衍言字據宋本刪
    re.compile(
        rf".{{1,6}}?上{_WITNESS}(?P<verb>衍|有|訛衍|誤衍|脫)(?P<reading>.{{1,8}}?)[一二三四五六七八九十]?字{_AUTHORITY}"
    ),
    # 今注疏本脫與卑二字據宋本補
    re.compile(
        rf"(?P<lemma>.{{0,8}}?)(?:[二三四五六七八九十]字)?{_WITNESS}(?P<verb>脫|闕|訛脫|誤脫|衍|無)(?P<reading>.{{1,8}}?)(?:[一二三四五六七八九十]?字){_AUTHORITY}"
    ),
    # 足以二字今注疏本訛作一已字據宋本改正
    re.compile(
        rf"(?P<lemma>.{{1,10}}?)(?:[二三四五六七八九十]?字)?{_WITNESS}(?P<verb>{_VERB})(?P<reading>.{{1,10}}?)(?:[二三四五六七八九十]?字)?{_AUTHORITY}"
    ),
    # 敖繼公云進當作退
    re.compile(r"(?:(?P<authority>.{2,5})云)?(?P<lemma>.{1,4}?)(?:字)?(?P<verb>當作|疑作|疑當作|應作)(?P<reading>.).*"),
    re.compile(r"(?P<lemma>.{1,4}?)(?:字)?(?P<verb>疑衍|疑訛|疑誤|衍文).*"),
)
_OMISSION_VERBS = ("脫", "闕", "無")


@dataclass(frozen=True, slots=True)
class ApparatusNote:
    """A collation note. `lemma` is the reading of the edition, `reading` the other one; one of them is empty if the
    other text has nothing there. `witness` has the other reading, `authority` is what the edition follows. `verb` is
    the word of the note (訛作, 脫, 衍, 作 ...), in traditional script, or empty if the note was not understood.

    `anchor` is the code point in the file after the annotated words; `start` is where the note itself begins.
    """

    text: str
    start: int
    anchor: int
    verb: str = ""
    lemma: str = ""
    reading: str = ""
    witness: str = ""
    authority: str = ""

    @property
    def understood(self) -> bool:
        return bool(self.verb)


def apparatus_of(edition: Transcription) -> list[ApparatusNote]:
    """All collation notes of an edition in the order of the text, including those that were not understood."""
    notes = [_parse_footnote(note) for note in edition.footnotes]
    notes += [_parse_siku_note(text, start) for text, start in _editors_remarks(edition)]
    return sorted(notes, key=lambda note: note.anchor)


def _editors_remarks(edition: Transcription) -> Iterator[tuple[str, int]]:
    """The editors' remarks in the text and their starts, each joined over the columns and half-rows that divide it."""
    if not edition.paged:
        return
    remark, start = "", 0
    for stretch in edition.stretches():
        if stretch.layer is Layer.EDITOR:
            if not remark or _OPENING.match(stretch.source):
                if remark:
                    yield remark, start
                remark, start = "", stretch.start
            remark += stretch.source
        elif stretch.source.strip():
            if remark:
                yield remark, start
            remark = ""
    if remark:
        yield remark, start


def _parse_footnote(note: Footnote) -> ApparatusNote:
    anchor = note.start if note.anchor is None else note.anchor
    not_understood = ApparatusNote(note.text, note.start, anchor)
    text = _QUOTES.sub("", note.text.strip())
    without_colon = _NOTE_WITHOUT_COLON.match(text)
    words, colon, remark = without_colon.groups() if without_colon else text.partition("：")
    clauses = [clause for clause in _CLAUSE.split(remark) if clause]
    if not colon or not clauses:
        return not_understood
    traditional = [clause.translate(_TO_TRADITIONAL) for clause in clauses]
    parsed = next((match for pattern in _FOOTNOTE_PATTERNS if (match := pattern.fullmatch(traditional[0]))), None)
    if parsed is None:
        return not_understood
    groups, verb = _in_words(clauses[0], parsed), parsed["verb"]
    if verb in ("原衍", "衍", "有", "刪", "疑衍"):
        lemma, reading = "", words
    elif verb in ("補", "原脫", "脫", "無", "疑脫"):
        lemma, reading = words, ""
    else:
        lemma, reading = words, groups.get("reading", "")
    authorities = (
        _in_words(clause, match)["authority"]
        for clause, in_traditional in zip(clauses, traditional, strict=True)
        if (match := _FOLLOWED_AUTHORITY.match(in_traditional))
    )
    return replace(
        not_understood,
        verb=verb,
        lemma=lemma,
        reading=reading,
        witness=groups.get("witness", ""),
        authority=next(authorities, ""),
    )


def _in_words(words: str, parsed: re.Match[str]) -> dict[str, str]:
    """The groups of a match with the traditional form of `words`, as the words have them in their own script; empty for
    those that matched nothing."""
    return {name: words[slice(*parsed.span(name))] if text else "" for name, text in parsed.groupdict().items()}


def _parse_siku_note(text: str, start: int) -> ApparatusNote:
    not_understood = ApparatusNote(text, start, start)
    words = _OPENING.sub("", _PUNCTUATION.sub("", text), count=1)
    traditional = words.translate(_TO_TRADITIONAL)
    parsed = next((match for pattern in _SIKU_PATTERNS if (match := pattern.fullmatch(traditional))), None)
    if parsed is None:
        return not_understood
    groups, verb = _in_words(words, parsed), parsed["verb"]
    lemma, reading, witness = (groups.get(name, "") for name in ("lemma", "reading", "witness"))
    if any(sign in verb for sign in _OMISSION_VERBS):
        lemma, reading = reading, ""
    elif "衍" in verb or verb == "有":
        lemma = ""
    return replace(
        not_understood,
        verb=verb,
        lemma=lemma,
        reading=reading,
        witness=witness,
        authority=groups.get("authority") or groups.get("lacks") or "",
    )
