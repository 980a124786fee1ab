"""What people decided in the store, as corrections of a text, and what of it the text does not get, with the reason."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from proof.errors import UsageError
from proof.export.corrections import ChangedSourceError, Correction, place, reads_alike
from proof.model.flags import Kind, context_of
from proof.store import Store
from proof.store.decision_records import Decision, State, Verdict
from proof.store.records import DecidedPlace
from proof.store.text_pages import TextInStore, find_text
from proof.text.model import Script
from proof.text.realigned import RealignedLines
from proof.text.variants import VariantPolicy, policy_of
from proof.text.witness import Addresses, Edition


class Unused(StrEnum):
    """Why a decision does not reach the text."""

    OTHER_TEXT = "about another file with the same pages"
    CONFLICT = "contradicts another decision about the same place; take back one of the two"
    GONE = "its place is no longer in the text"
    MOVED = (
        "the text was changed since it was checked, and another place may be taken for its own; check the text again"
    )
    UNTOLD = "its line was changed since it was checked, and reads alike with it and without; check the text again"
    UNSURE = "left unsure"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A decision that does not reach the text; `text` is the file that it is about."""

    decision: Decision
    reason: Unused
    text: str

    def __str__(self) -> str:
        made = self.decision
        where = f"page {made.page}, column {made.line}" if made.line else f"page {made.page}"
        change = f"{made.transcribed or '(nothing)'} → {made.reading or '(nothing)'}"
        return f"{where}, offset {made.offset}: {change} ({made.person})"


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided for a text: `edition` is the text, in the script in which it was checked; `settled` counts the
    decisions that leave the text as it is; `applied` those that the text had before it was checked last."""

    edition: Edition
    corrections: tuple[Correction, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    settled: int = 0
    applied: tuple[Correction, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether nobody decided anything for this text."""
        return not (self.corrections or self.settled or self.applied or self.here)

    @property
    def here(self) -> tuple[LeftOut, ...]:
        """What is left out of the decisions about this text itself."""
        return tuple(one for one in self.left_out if one.reason is not Unused.OTHER_TEXT)


def not_written(decided: Decided) -> Iterator[str]:
    """What does not reach the text, with the reason, in lines for who takes it home; of other texts only how much."""
    told: dict[tuple[Unused, str], list[LeftOut]] = defaultdict(list)
    for one in decided.left_out:
        told[one.reason, one.text if one.reason is Unused.OTHER_TEXT else ""].append(one)
    for (reason, text), ones in told.items():
        about = f" ({text})" if text else ""
        yield f"not written, {reason}{about}: {len(ones)}"
        if reason is not Unused.OTHER_TEXT:
            yield from (f"  {one}" for one in ones)


def decided_in(store: Store, edition: Edition, *, reanchor: bool = False) -> Decided:
    """What was decided for the text of `edition`, in whatever work it was checked.

    A decision that a later check carried over to the place as it now is counts once, and so do equal decisions about
    one place; what was taken back or never decided is not among them. A decision that the last check found no place
    for is used where it fits (with `reanchor` where its context is), else left out. Raises UsageError where the store
    does not know the text.
    """
    text = find_text(store, edition)
    script = text.latest.script
    edition = replace(edition, script=Script(script)) if script in set(Script) else edition
    found: list[tuple[Decision, Correction]] = []
    kept: list[Decision] = []
    left_out: list[LeftOut] = []
    applied: list[Correction] = []
    settled = 0
    policy = policy_of(edition.script)
    addresses = Addresses(edition)
    for work in sorted({known.work for known in (*text.own, *text.others)}):
        mine, others = _parted(store, work, text, edition)
        left_out += others
        gone = {one.decision.id for one in store.decisions.displaced(work)} if mine else set()
        written = {one.id: _correction(one, policy) for one, _ in mine if _writes(one)}
        of_line: dict[tuple[str, int], list[Correction]] = defaultdict(list)
        for one in written.values():
            of_line[one.page, one.line].append(one)
        checked = _CheckedLines(store, edition, addresses)
        for decision, there in mine:
            correction = written.get(decision.id)
            reason = _UNDECIDED.get(decision.state)
            in_text: list[Correction] = []
            if correction is None:
                settled += reason is None
                kept += [decision] if decision.state is State.KEPT and not there.lost else []
            elif there.instead:
                in_text = _in_text(edition, addresses, correction, there.instead, policy)
                reason = None if in_text else Unused.GONE
            elif (reason := checked.reason(decision, correction, there)) is None:
                if there.lost or decision.id in gone:  # `correct` refuses any other that was changed since
                    try:
                        beside = of_line[correction.page, correction.line]
                        in_text += place(edition, [correction], reanchor=reanchor, written=beside).applied
                    except ChangedSourceError:
                        reason = Unused.GONE
                found += [] if reason or in_text else [(decision, correction)]
            applied += in_text
            left_out += [LeftOut(decision, reason, str(edition.path))] if reason else []
    corrections, conflicts = _without_conflicts(found, kept)
    left_out += [LeftOut(decision, Unused.CONFLICT, str(edition.path)) for decision in conflicts]
    return Decided(edition, tuple(corrections), tuple(left_out), settled, tuple(applied))


_UNDECIDED: Mapping[State, Unused] = {State.UNSURE: Unused.UNSURE, State.SKIPPED: Unused.SKIPPED}


def _parted(
    store: Store, work: str, text: TextInStore, edition: Edition
) -> tuple[list[tuple[Decision, DecidedPlace]], list[LeftOut]]:
    """The standing decisions of a work about the text, each with its place, and those about other files that have the
    same pages."""
    own = {known.path for known in text.own if known.work == work}
    pages = {page.id for page in edition.pages}
    places = store.decided_places(work)
    standing = list(store.decisions.standing(work))
    makers = store.decisions.makers(standing)
    mine: list[tuple[Decision, DecidedPlace]] = []
    others: list[LeftOut] = []
    for decision in standing:
        there = places.get(decision.flag)
        if there is None or there.elsewhere:
            continue
        if _is_about(there, own, decision.page in pages):
            now = replace(decision, person=makers[decision.id])
            if there.at is not None:
                _, line, offset, context = there.at
                now = replace(now, line=line, offset=offset, context=context)
            mine.append((now, there))
        elif decision.page in pages and decision.state is not State.KEPT:
            others.append(LeftOut(decision, Unused.OTHER_TEXT, there.text))
    return mine, others


def _in_text(
    edition: Edition, addresses: Addresses, correction: Correction, context: str, policy: VariantPolicy
) -> list[Correction]:
    """A correction as its page has it in that context, in whatever form; none where it does not."""
    written = re.search(rf"\[({policy.pattern(correction.replacement)})\]", context)
    if written is None:
        return []
    words = context[: written.start()] + written[1] + context[written.end() :]
    lines = (edition.text[begin:end] for begin, end in addresses.of_page(correction.page))
    return [replace(correction, replacement=written[1])] if any(words in line for line in lines) else []


class _CheckedLines:
    """The lines of a text as they were checked, beside those that it has now."""

    def __init__(self, store: Store, edition: Edition, addresses: Addresses) -> None:
        self._store, self._edition, self._addresses = store, edition, addresses
        self._pages: dict[int, RealignedLines] = {}

    def reason(self, decision: Decision, correction: Correction, there: DecidedPlace) -> Unused | None:
        """Why the text does not tell where the place of a decision is; None where it does."""
        now = _line(self._edition, self._addresses, decision)
        if reads_alike(correction) and now != there.line:
            return Unused.UNTOLD
        return None if self._has(decision, there, now) else Unused.MOVED

    def _has(self, decision: Decision, there: DecidedPlace, now: str | None) -> bool:
        """Whether what stands at the place of a decision is what stood there as it was checked. A line that is as it
        was has it, unless another one is the same."""
        if there.at is None or there.line is None or now is None:
            return True
        if there.line == now and list(self._lines(decision.page)).count(now) == 1:
            return True
        page, line, offset, context = there.at
        if context_of(now, offset, decision.length) != context:  # whether it is elsewhere is told by its context
            return True
        if page not in self._pages:
            lines = dict(enumerate(self._lines(decision.page), 1))
            self._pages[page] = RealignedLines(self._store.lines_of_page(page), lines)
        return self._pages[page].now(line, offset, decision.length) == (line, offset)

    def _lines(self, page: str) -> Iterator[str]:
        return (self._edition.text[begin:end] for begin, end in self._addresses.of_page(page))


def _line(edition: Edition, addresses: Addresses, decision: Decision) -> str | None:
    """The line of the text that a decision is about; None where it has none."""
    try:
        begin, end = addresses.line(decision.page, decision.line)
    except UsageError:
        return None
    return edition.text[begin:end]


def _is_about(there: DecidedPlace, own: set[str], has_page: bool) -> bool:
    """Whether a flag is one of a text: its page is taken from it, or was when the flag was seen last, before a check
    of another file with the same pages took the page over; a text that no longer has the page gave it to that file."""
    return there.text in own or (has_page and bool(own & there.texts) and there.text not in there.texts)


def _writes(decision: Decision) -> bool:
    """Whether a decision changes the text or has a note in it."""
    return decision.state is State.CORRECTED or (decision.state is State.COPY and bool(decision.transcribed))


def _correction(decision: Decision, policy: VariantPolicy) -> Correction:
    corrected = decision.state is State.CORRECTED
    return Correction(
        page=decision.page,
        line=decision.line,
        offset=decision.offset,
        length=decision.length,
        replacement=_as_read(decision, policy) if corrected else decision.transcribed,
        original=decision.transcribed,
        context=decision.context,
        note=decision.note,
        kind=Kind(decision.kind),
        ref=decision.ref,
        flag=decision.uid,
        person=decision.person,
        moved=decision.evidence.get("moved", "") if corrected and decision.verdict is not Verdict.TYPED else "",
        typed=decision.reading not in (decision.suggested, *(text for text, _ in _seen(decision))),
    )


def _seen(decision: Decision) -> Sequence[tuple[str, float]]:
    """What the recogniser saw at the place, beside what it suggests."""
    seen: Sequence[tuple[str, float]] = decision.evidence.get("alternatives", [])
    return seen


def _as_read(decision: Decision, policy: VariantPolicy) -> str:
    """The reading as the image has it, where what was taken is the likelier of several forms that it can have in the
    script of the text (着 for 著): which is meant was not asked yet."""
    if policy.script is Script.TRADITIONAL or decision.reading != decision.suggested:
        return decision.reading
    for character, _ in _seen(decision):
        forms = policy.written_forms(character)
        if len(forms) > 1 and forms[0] == decision.reading:
            return str(character)
    return decision.reading


def _without_conflicts(
    found: Iterable[tuple[Decision, Correction]], kept: Iterable[Decision]
) -> tuple[list[Correction], list[Decision]]:
    """The corrections without those that claim one place and say different things of it, or of one of which it was
    said that it is right as it is (`kept`), and the decisions behind these. Equal ones count once; an insertion goes
    before what is changed at its place."""
    lines: dict[tuple[str, int], list[tuple[Decision, Correction]]] = defaultdict(list)
    for decision, correction in found:
        lines[correction.page, correction.line].append((decision, correction))
    refused: set[int] = set()
    doubled: set[int] = set()
    for here in lines.values():
        for at, (one, first) in enumerate(here):
            for other, second in here[at + 1 :]:
                if _same_edit(one, other):
                    doubled.add(other.id)
                elif _collide(first, second):
                    refused |= {one.id, other.id}
    pairs = [pair for line in lines.values() for pair in line]
    right = _kept_and_corrected(kept, pairs)
    refused |= {made.id for made in right}
    used = [(made.id, correction) for made, correction in pairs if made.id not in refused | doubled]
    told = {made.id: made for made in (*right, *(made for made, _ in pairs)) if made.id in refused}
    return [correction for _, correction in sorted(used, key=lambda pair: pair[0])], [told[n] for n in sorted(told)]


def _kept_and_corrected(kept: Iterable[Decision], pairs: Sequence[tuple[Decision, Correction]]) -> list[Decision]:
    """The decisions that a place is right as it is, and those that correct that very place, in this work or another."""
    corrected: dict[tuple[str, int, int, int], list[Decision]] = defaultdict(list)
    for made, correction in pairs:
        if correction.changes:
            corrected[made.page, made.line, made.offset, made.length].append(made)
    against = [(one, corrected.get((one.page, one.line, one.offset, one.length), ())) for one in kept]
    return [made for one, others in against if others for made in (one, *others)]


def _same_edit(one: Decision, other: Decision) -> bool:
    return (one.offset, one.length, one.reading) == (other.offset, other.length, other.reading)


def _collide(one: Correction, other: Correction) -> bool:
    if not (one.changes or other.changes):
        return False
    if one.offset == other.offset and not (one.length and other.length):
        return one.length == other.length
    return one.offset < other.offset + other.length and other.offset < one.offset + one.length
