"""Parsing the collation notes of an edition's own apparatus.

Two styles are recognised: footnotes of critical editions (`西：原作東，據嚴本校勘記改。`), and notes of the editors of
the Siku in the text (`案比今注疏本訛作北據唐石經及宋本改正`), both in either script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proof.text.layers import Layer
from proof.text.transcription import Footnote, Transcription

_PLAIN = str.maketrans("讹据补删脱误当订经诸监严与闽夲阙无冇", "訛據補刪脫誤當訂經諸監嚴與閩本闕無有")
_STOPS = re.compile(r"[，。、,.;；\s]")
_CLAUSE = re.compile(r"[，。；,;]")
_OPENING = re.compile(r"[案按](?!語|语)")

_VERB = r"訛作|誤作|改作|亦作|原作|作|訛脫|原脫|誤脫|脫|闕|訛衍|原衍|誤衍|衍"
_ACTION = "改正|訂正|改定|校正|增入|補入|刪去|刪正|刪|補|改|增|正|乙"
_AUTHORITY = rf"(?:[據從依](?P<authority>.+?)(?:(?:{_ACTION}).*)?|(?P<lacks>.{{2,8}})無)?"
_HOUSE = (
    re.compile(r"(?P<verb>疑作|疑當作|當作|疑衍|疑脫)(?P<reading>.*)"),
    re.compile(r"(?P<witness>.*?)(?P<verb>原作|訛作|誤作|作)(?P<reading>.{1,12})"),
    re.compile(r"(?P<witness>.*?)(?P<verb>原脫|脫|無|原衍|衍|有)"),
    re.compile(r"[據從](?P<authority>.+?)(?P<verb>補|刪|改|乙)"),
)
_BARE = re.compile(r"([^，：]{1,6})(，)((?:原|訛|讹|誤|误)[作脫脱衍].*)", re.DOTALL)
"""A note without a colon: `禮，原作「豊」，據四庫本改。`"""
_QUOTES = re.compile("[「」『』“”‘’]")
_FOLLOWED = re.compile(r"[據從](?P<authority>.+?)(?:改|補|刪|乙正|乙)?之?$")
_WITNESS = (
    r"(?P<witness>(?:今|唐|宋|元|明|各|諸|舊|監|毛|閩|原|坊|刊|他|別|一|近|此|古|嚴|徐|鍾|楊|敖|朱|陸|釋)"
    r"[^訛誤脫衍作有無闕]{0,12}?(?:本|石經|文|通解|集說|大典)|石經)"
)
_SIKU = (
    re.compile(
        rf"(?:此下|.{{1,6}}?下){_WITNESS}(?P<verb>衍|有|訛衍|誤衍)(?P<reading>.{{1,8}}?)[一二三四五六七八九十]?字{_AUTHORITY}"
    ),
    re.compile(
        rf".{{1,6}}?上{_WITNESS}(?P<verb>衍|有|訛衍|誤衍|脫)(?P<reading>.{{1,8}}?)[一二三四五六七八九十]?字{_AUTHORITY}"
    ),
    re.compile(
        rf"(?P<lemma>.{{0,8}}?)(?:[二三四五六七八九十]字)?{_WITNESS}(?P<verb>脫|闕|訛脫|誤脫|衍|無)(?P<reading>.{{1,8}}?)(?:[一二三四五六七八九十]?字){_AUTHORITY}"
    ),
    re.compile(
        rf"(?P<lemma>.{{1,10}}?)(?:[二三四五六七八九十]?字)?{_WITNESS}(?P<verb>{_VERB})(?P<reading>.{{1,10}}?)(?:[二三四五六七八九十]?字)?{_AUTHORITY}"
    ),
    re.compile(r"(?:(?P<authority>.{2,5})云)?(?P<lemma>.{1,4}?)(?:字)?(?P<verb>當作|疑作|疑當作|應作)(?P<reading>.).*"),
    re.compile(r"(?P<lemma>.{1,4}?)(?:字)?(?P<verb>疑衍|疑訛|疑誤|衍文).*"),
)
_LACKING = ("脫", "闕", "無")


@dataclass(frozen=True, slots=True)
class ApparatusNote:
    """One note. `lemma` is what the edition reads, `reading` the other reading (each empty where there is nothing);
    `witness` has it, `authority` is what the edition follows. `verb` is the note's own (訛作, 脫, 衍, 作 ...), in
    traditional script.

    `anchor` is the code point in the file that the noted words precede; `start` is where the note itself begins.
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
    """All collation notes of an edition in the order of the text, those not understood among them."""
    notes = [_house(note) for note in edition.footnotes]
    notes += [_siku(text, start) for text, start in _remarks(edition)]
    return sorted(notes, key=lambda note: note.anchor)


def _remarks(edition: Transcription) -> Iterator[tuple[str, int]]:
    """The editors' remarks in the text, each joined over the columns and half-rows that divide it."""
    if not edition.paged:
        return
    remark, start, last = "", 0, None
    for stretch in edition.stretches():
        if stretch.layer is Layer.EDITOR:
            if last is None or _OPENING.match(stretch.source):
                if remark:
                    yield remark, start
                remark, start = "", stretch.start
            remark += stretch.source
            last = stretch
        elif stretch.source.strip():
            if remark:
                yield remark, start
            remark, last = "", None
    if remark:
        yield remark, start


def _house(note: Footnote) -> ApparatusNote:
    anchor = note.start if note.anchor is None else note.anchor
    plain = _QUOTES.sub("", note.text.strip())
    bare = _BARE.match(plain)
    lemma, sign, rest = bare.groups() if bare else plain.partition("：")
    if not sign:
        return ApparatusNote(note.text, note.start, anchor)
    clauses = [clause for clause in _CLAUSE.split(rest.translate(_PLAIN)) if clause]
    for pattern in _HOUSE:
        parsed = pattern.fullmatch(clauses[0]) if clauses else None
        if parsed is None:
            continue
        groups = parsed.groupdict()
        verb = parsed["verb"]
        extra = verb in ("原衍", "衍", "有", "刪", "疑衍")
        lacking = verb in ("補", "原脫", "脫", "無", "疑脫")
        followed = next((match["authority"] for clause in clauses if (match := _FOLLOWED.match(clause))), "")
        return ApparatusNote(
            text=note.text,
            start=note.start,
            anchor=anchor,
            verb=verb,
            lemma="" if extra else lemma,
            reading=lemma if extra else "" if lacking else groups.get("reading") or "",
            witness=groups.get("witness") or "",
            authority=followed,
        )
    return ApparatusNote(note.text, note.start, anchor)


def _siku(text: str, start: int) -> ApparatusNote:
    body = _OPENING.sub("", _STOPS.sub("", text), count=1)
    plain = body.translate(_PLAIN)
    for pattern in _SIKU:
        parsed = pattern.fullmatch(plain)
        if parsed is None:
            continue
        groups = parsed.groupdict()

        def own(name: str, parsed: re.Match[str] = parsed) -> str:
            """The characters of the note in a group of the pattern, in its own script."""
            return body[parsed.start(name) : parsed.end(name)] if parsed.groupdict().get(name) else ""

        verb = parsed["verb"]
        lacking = any(sign in verb for sign in _LACKING)
        return ApparatusNote(
            text=text,
            start=start,
            anchor=start,
            verb=verb,
            lemma=own("reading") if lacking else "" if "衍" in verb or verb == "有" else own("lemma"),
            reading="" if lacking else own("reading"),
            witness=own("witness"),
            authority=groups.get("authority") or groups.get("lacks") or "",
        )
    return ApparatusNote(text, start, start)
