"""Findings in words. Messages are marked with `_` for translation; values are filled in afterwards."""

from __future__ import annotations

from proof.locale.marking import Say, _
from proof.locale.notices import in_words
from proof.model.flags import COLLATION, PLACEHOLDER, Flag, Kind, LanguageReading, is_about_moved_text
from proof.model.flags import LANGUAGE as LANGUAGE_ALONE
from proof.model.notices import Notice, NoticeCode
from proof.model.result import Status
from proof.store.decision_records import State, Verdict

KINDS = {
    Kind.SUBSTITUTION: _("substitution"),
    Kind.INSERTION: _("insertion"),
    Kind.OMISSION: _("omission"),
    Kind.TRANSPOSITION: _("transposition"),
    Kind.VARIANT: _("variant"),
    Kind.LAYOUT: _("layout"),
    Kind.AUDIT: _("sample"),
}

SENTENCES = {
    Kind.SUBSTITUTION: _("The image reads %(suggested)s, the text has %(transcribed)s."),
    Kind.INSERTION: _("The text has %(transcribed)s; the image shows no such character here."),
    Kind.OMISSION: _("The image shows %(suggested)s here; the text has nothing."),
    Kind.TRANSPOSITION: _("The text has %(transcribed)s; on the image their order is reversed."),
    Kind.VARIANT: _("The image shows the form %(suggested)s, the text has %(transcribed)s."),
    Kind.AUDIT: _("Nothing speaks against %(transcribed)s here: is it what the image shows?"),
}

MOVED = _(
    "%(text)s moved from column %(old)s to column %(new)s: the text has it in the first, the image in the second."
)
MOVED_WITHIN = _("%(text)s moved within column %(old)s: the text has it at one place, the image at another.")
MOVED_BETWEEN = _(
    "%(text)s is at another place in %(witnesses)s: the text has it in column %(old)s, there in column %(new)s."
)
MOVED_NAME = _("moved")

PARTED = {
    Kind.OMISSION: _(
        "The image shows %(first)s here and %(second)s in the next column or half-row; the text has neither."
    ),
    Kind.INSERTION: _(
        "The text has %(first)s here and %(second)s in the next column or half-row; the image shows neither."
    ),
}
"""Sentences for missing or surplus characters that continue in the next half-row or column."""

READ = {
    Kind.SUBSTITUTION: _("The image reads %(suggested)s (%(best)s); the text's %(transcribed)s gets %(text)s."),
    Kind.VARIANT: _("The image shows the form %(suggested)s (%(best)s); the text's %(transcribed)s gets %(text)s."),
}
"""Sentences with the recogniser's probabilities, if it gives any."""

_OTHERWISE = _("%(witnesses)s: %(suggested)s; the text: %(transcribed)s.")
OF_EDITIONS = dict.fromkeys(Kind, _OTHERWISE) | {
    Kind.INSERTION: _("The text has %(transcribed)s; %(witnesses)s has nothing there."),
    Kind.OMISSION: _("%(witnesses)s has %(suggested)s here; the text has nothing."),
}
"""Sentences for differences of editions, found without an image."""

UNKNOWN = _("The image reads %(suggested)s (%(best)s); %(transcribed)s is not among the characters that can be read.")

LANGUAGE = _("The language model speaks for %(suggested)s: %(likely)s %(often)s times, %(unlikely)s %(seldom)s times.")
LANGUAGE_BESIDE = _("The words around speak for %(likely)s: %(often)s times, %(unlikely)s %(seldom)s times.")
LANGUAGE_AGAINST = _("The words around speak against this: %(likely)s %(often)s times, %(unlikely)s %(seldom)s times.")
LANGUAGE_AGAINST_ALONE = _("The words around speak against this.")
READ_ELSEWHERE = _("Elsewhere this glyph was read as %(reading)s.")
NO_INK = _("There is no ink for a character here.")
INK = _("There is ink for one character here.")
MIN_ROOM_CELLS = 0.35
"""Room between the neighbours of a surplus character, in cells, below which there is said to be no ink for it."""
LANGUAGE_ELSEWHERE = _("%(likely)s stands on %(pages)s.")

STATUSES = {
    Status.CHECKED: _("checked"),
    Status.NO_IMAGE: _("no image"),
    Status.MISMATCH: _("image mismatch"),
    Status.FAILED: _("failed"),
}

REASONS = {
    "sample": _("A sample of the unflagged text: it shows how much was missed."),
    "doubt": _("This part of the image is hard to read."),
    "ink": _("There is ink that could not be read."),  # of flags that earlier checks made
    PLACEHOLDER: _("The text has a sign in place of a character."),
    "column missing": _("A column of the image is not in the text."),
    "columns missing": _("Most of what this image shows is not in the text."),
    "column doubled": _("A column is in the text twice."),
    "columns in one line": _("This line has the text of two columns of the image."),
    "column moved": _("A column is at another place on the image."),
    "column added": _("A column is added by hand."),
    "column deleted": _("A column is deleted by hand."),
    "column split": _("A column is split by hand."),
    "columns joined": _("Two columns are joined by hand."),
    "column not on the page": _("A column of the text is not on the image."),
    "columns not on the page": _("Several columns of the text are not on the image."),
    "columns unlike": _("Several columns of the image are unlike their text at most places."),
    "page not in columns": _("This page could not be checked by its columns."),
    "note halves exchanged": _("The half-rows of a note have changed places."),
    "image mismatch": _("This image belongs to another page."),
    "figure not transcribed": _("A figure with characters on it is not transcribed."),
    "page blank": _("This image is blank."),
    "image mirrored": _("This image is mirrored."),
    "page in part": _("A part of this page is not on the image."),
    "image too coarse": _("This image is too coarse to read."),
    "notes too small": _("The notes on this image are too small to read."),
    "image turned": _("This image is rotated: it was turned upright and read."),
    "image of two pages": _("This image shows two pages: this one was found on it and read."),
    "page not transcribed": _("The text has nothing for this page."),
}
"""Sentences for the codes of `Evidence.reason` that say more than the kind of the flag."""

NAMED_BY_NOTICE = {"page blank", "image mirrored", "image too coarse", "notes too small", "page not in columns"}
"""Reasons whose notice is shown instead of their sentence: it says the same, and what to do."""

STATES: dict[str, str] = {
    State.OPEN: _("open"),
    State.KEPT: _("text kept"),
    State.CORRECTED: _("corrected"),
    State.COPY: _("copy reads so"),
    State.RETAINED: _("text kept, copy reads otherwise"),
    State.UNSURE: _("unsure"),
    State.SKIPPED: _("skipped"),
}

VERDICTS = {
    Verdict.KEEP: _("text kept"),
    Verdict.TAKE: _("reading taken"),
    Verdict.OTHER: _("alternative taken"),
    Verdict.TYPED: _("reading typed"),
    Verdict.DELETE: _("deleted"),
    Verdict.COPY: _("copy reads so"),
    Verdict.RETAIN: _("text kept, copy reads otherwise"),
    Verdict.UNSURE: _("unsure"),
    Verdict.SKIP: _("skipped"),
    Verdict.UNDO: _("taken back"),
    Verdict.REDO: _("done again"),
}

RULES = {
    "run together in this hand": _("In this hand the two are often confused: score lowered."),
    "alike in the hand": _("These two are written alike: score lowered."),
    "always read so": _("The recogniser reads this character so at all its places: score lowered."),
    "read so when drawn": _("The recogniser reads this character so in a font too: score lowered."),
    "seen so in one way alone": _("A second look at the image does not confirm it: score lowered."),
}
"""Sentences for the rules that lowered the score of a finding."""

ELSEWHERE = "elsewhere read "
"""Prefix of the rule for a glyph that was read otherwise elsewhere; the other reading follows."""

LISTS = {
    "house": _("the list of this program"),
    "project": _("the list of this project"),
    "common-standard": _("both have one standard form"),
    "unihan-incomplete": _("Unihan, variants that it lists in part"),
    "opencc-regional": _("OpenCC, regional forms"),
    "prc-variants-1955": _("First List of Variant Characters (1955)"),
    "moe-taiwan": _("Ministry of Education (Taiwan), Dictionary of Variants"),
    "hanyu-da-zidian": _("Hanyu Da Zidian"),
    "koseki": _("koseki characters (Japan)"),
    "unihan-variant": _("Unihan, variants"),
    "japan-old-forms": _("old and new forms (Japan)"),
    "source-separation": _("Unicode source separation"),
    "jis-related": _("JIS related characters"),
    "unihan-definition": _("Unihan, definitions"),
    "radical-forms": _("forms of a radical"),
    "kanji-database": _("Kanji Database"),
    "yitizi": _("yitizi"),
    "components": _("the same components"),
}
"""Names of the sources that `VariantVerdict.rule` can give for two forms of one word."""


def kind_name(kind: Kind, say: Say, other: Flag | None = None) -> str:
    """The name of a kind of flag; "moved" if the `other` half of the flag is of another kind."""
    return say(MOVED_NAME if other and other.kind is not kind else KINDS[kind])


def status_name(status: Status, say: Say) -> str:
    """The name of a page's status."""
    return say(STATUSES[status])


def what_of(flag: Flag, say: Say) -> str:
    """A sentence about a flag on a column or a page: that of its reason, else its notice."""
    evidence = flag.evidence
    if evidence.reason in REASONS:
        return say(REASONS[evidence.reason])
    return in_words(evidence.notice, say) if evidence.notice else _sentence(evidence.reason)


def why(flag: Flag, say: Say, other: Flag | None = None) -> str:
    """Why a flag was raised, in sentences. `other` is the flag that is decided together with it: the first sentence is
    about both."""
    evidence = flag.evidence
    # the sentence about a moved column already gives its reason and the reading of the image
    is_moved_column = flag.kind is Kind.LAYOUT and other is not None and is_about_moved_text(flag, other)
    is_named_by_notice = evidence.notice is not None and evidence.reason in NAMED_BY_NOTICE
    parts = _about_flag(flag, say, other)
    if evidence.language is not None and evidence.reason != LANGUAGE_ALONE and evidence.language.weight:
        parts += _beside_the_image(evidence.language, say)
    if evidence.reason in REASONS and not is_named_by_notice and not is_moved_column:
        parts.append(say(REASONS[evidence.reason]))
    elif not parts and not is_named_by_notice:
        parts.append(_sentence(evidence.reason))
    if evidence.spellings:
        message = say(_("The text does not decide between the forms %(forms)s: choose one of them."))
        parts.append(message % {"forms": _open_forms(flag)})
    if evidence.rule:
        parts.append(rule_in_words(evidence.rule, say))
    if evidence.ink:
        parts += _about_ink(evidence.ink, say)
    if evidence.note and not is_moved_column:
        is_reading = flag.kind is Kind.LAYOUT  # the note is what was read in the column or on the page
        parts.append(say(_("The image reads: %(read)s")) % {"read": evidence.note} if is_reading else evidence.note)
    if evidence.notice:
        parts.append(in_words(evidence.notice, say))
    return " ".join(_sentence(part) for part in parts)


def _open_forms(flag: Flag) -> str:
    """The characters of a suggestion that the text writes in several ways or in none, with their forms: 余/馀."""
    forms_of = (dict.fromkeys(forms) for forms in zip(flag.suggested, *flag.evidence.spellings, strict=True))
    return ", ".join(dict.fromkeys("/".join(forms) for forms in forms_of if len(forms) > 1))


def _about_flag(flag: Flag, say: Say, other: Flag | None) -> list[str]:
    """The sentence about the characters of a flag and its `other` half, if there is one."""
    if other is not None:
        return [_about_moved(flag, other, say) if is_about_moved_text(flag, other) else _about_parted(flag, other, say)]
    is_unread = flag.kind is Kind.OMISSION and not flag.suggested  # the sentence of the reason is about the ink
    return [] if is_unread or flag.kind not in SENTENCES else [_about_characters(flag, say)]


def rule_name(rule: str, say: Say) -> str:
    """The name of a rule, as a heading over the pairs that it hid."""
    return say(RULES[rule]) if rule in RULES else _sentence(_list_name(rule, say)).rstrip(".")


def rule_in_words(rule: str, say: Say) -> str:
    """The rule that hid a flag or lowered its score, in words."""
    if rule.startswith(ELSEWHERE):
        return say(READ_ELSEWHERE) % {"reading": rule.removeprefix(ELSEWHERE)}
    return say(RULES[rule]) if rule in RULES else say(_("Rule: %(rule)s.")) % {"rule": _list_name(rule, say)}


def _about_ink(ink: Notice, say: Say) -> list[str]:
    """The sentence about the ink at a place, if there is one: there is ink, or none, or it resembles some character.
    Unread ink has none, since the sentence of the reason is about it."""
    match ink.code:
        case NoticeCode.INK_UNREAD:
            return []
        case NoticeCode.PART_OF_CELL:
            return [say(INK)]
        case NoticeCode.ROOM:
            room = float(str(dict(ink.values)["number"]))
            return [say(NO_INK)] if room < MIN_ROOM_CELLS else []
    return [say(_("The ink: %(ink)s.")) % {"ink": in_words(ink, say)}]


def _list_name(rule: str, say: Say) -> str:
    return say(LISTS[rule]) if rule in LISTS else rule


def _about_characters(flag: Flag, say: Say) -> str:
    evidence = flag.evidence
    if evidence.language is not None and evidence.reason == LANGUAGE_ALONE:
        return _by_language_model(flag.suggested, evidence.language, say)
    values = {"transcribed": flag.transcribed, "suggested": flag.suggested}
    if evidence.reason == COLLATION:
        return say(OF_EDITIONS[flag.kind]) % (values | {"witnesses": _agreeing(flag)})
    if flag.kind not in READ or evidence.p_best is None or evidence.reason == PLACEHOLDER:
        # the flag of a character missing beside an equal one covers that one: the text has one, the image two
        beside_equal = flag.kind is Kind.OMISSION and flag.transcribed.strip()
        return say(SENTENCES[Kind.SUBSTITUTION if beside_equal else flag.kind]) % values
    values["best"] = percent(evidence.p_best)
    if evidence.p_text is None:
        return say(UNKNOWN) % values
    return say(READ[flag.kind]) % (values | {"text": percent(evidence.p_text)})


def _by_language_model(suggested: str, reading: LanguageReading, say: Say) -> str:
    """The sentence about a flag of the language model alone, with its counts and with pages that have the same
    words."""
    words = say(LANGUAGE) % {
        "suggested": suggested,
        "likely": reading.suggested,
        "often": reading.suggested_count,
        "unlikely": reading.transcribed,
        "seldom": reading.transcribed_count,
    }
    if reading.places:
        words += " " + say(LANGUAGE_ELSEWHERE) % {"likely": reading.suggested, "pages": ", ".join(reading.places)}
    return words


def _beside_the_image(reading: LanguageReading, say: Say) -> list[str]:
    """The sentence about what the language model adds to the image's evidence, if there is one. Counts are given only
    if they agree with the model, which also considers that a frequent character has high counts beside any
    neighbour."""
    suggested, transcribed = (
        (reading.suggested, reading.suggested_count),
        (reading.transcribed, reading.transcribed_count),
    )
    is_for_suggestion = reading.weight > 0
    (likely, often), (unlikely, seldom) = (suggested, transcribed) if is_for_suggestion else (transcribed, suggested)
    if often <= seldom:
        return [say(LANGUAGE_AGAINST_ALONE)] if reading.weight < 0 else []
    message = LANGUAGE_BESIDE if is_for_suggestion else LANGUAGE_AGAINST
    return [say(message) % {"likely": likely, "often": often, "unlikely": unlikely, "seldom": seldom}]


def _about_moved(flag: Flag, other: Flag, say: Say) -> str:
    old, new = (flag, other) if flag.transcribed else (other, flag)
    values = {"text": old.transcribed, "old": old.line, "new": new.line}
    if flag.evidence.reason == COLLATION:
        return say(MOVED_BETWEEN) % (values | {"witnesses": _agreeing(flag)})
    return say(MOVED_WITHIN if old.line == new.line else MOVED) % values


def _agreeing(flag: Flag) -> str:
    """The sigla of the witnesses that have the suggested reading."""
    return "、".join(witness.siglum for witness in flag.evidence.witnesses if witness.reading == flag.suggested)


def _about_parted(flag: Flag, other: Flag, say: Say) -> str:
    first, second = sorted((flag, other), key=lambda half: (half.line, half.offset))
    return say(PARTED[flag.kind]) % {
        "first": first.suggested or first.transcribed,
        "second": second.suggested or second.transcribed,
    }


def percent(p: float) -> str:
    """A probability in percent with two digits, never rounded to 0 or 100 percent."""
    if p >= 0.9995:
        return "> 99.9%"
    if p < 0.0005:
        return "< 0.1%"
    return f"{100 * p:.0f}%" if 0.1 <= p < 0.99 else f"{100 * p:.1f}%"


def _sentence(words: str) -> str:
    """The words as a sentence: with a capital and a full stop. Chinese has its own full stop, or needs none."""
    words = words.strip()
    words = words[:1].upper() + words[1:]
    needs_stop = words and words[-1].isascii() and words[-1] not in ".!?"
    return f"{words}." if needs_stop else words
