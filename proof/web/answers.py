"""The answers of the JSON API; their docstrings are part of its OpenAPI description."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, RootModel

from proof.model.flags import Kind, WitnessReading
from proof.report.view import PlacedCharacter
from proof.store.accounts import AccountEvent, Role
from proof.store.acts import ActKind, RuleChange
from proof.store.decision_records import Decision, State
from proof.store.history import HistoryEntry
from proof.store.page_states import PageEvent, PageState
from proof.store.queue_records import WorkLeft, WorkPair, WorkSummary
from proof.store.readings import BlindReading
from proof.web.comment_answers import CommentOut
from proof.web.rights import Right

Rectangle = Annotated[list[float], Field(min_length=4, max_length=4, description="x, y, width, height in pixels")]


class SessionOut(BaseModel):
    """`person` is empty if nobody has logged in. `role` is null if nobody has, or if there are no accounts."""

    person: str
    role: Role | None
    rights: list[Right]
    token: str


class PersonOut(BaseModel):
    """`provisional`: the password is still the one that an administrator handed over. `made` and `seen`: when the
    account was made, and when the person last logged in."""

    number: int
    name: str
    role: Role
    disabled: bool
    provisional: bool
    made: datetime
    seen: datetime | None


class PeopleOut(BaseModel):
    items: list[PersonOut]


class PeopleEventOut(RootModel[AccountEvent]):
    """A change of the account `number`, made by `person`. `was` and `now` are the roles before and after a change of
    role; `now` is `provisional` if a password was set that must be changed."""


class PeopleEventsOut(BaseModel):
    items: list[PeopleEventOut]
    next: str | None


class NewPersonOut(BaseModel):
    person: PersonOut
    password: str


class PageEventOut(RootModel[PageEvent]):
    """A change of a page's state; `back`: it came from an undo or a redo."""


class PageEventsOut(BaseModel):
    items: list[PageEventOut]


class RuleOut(BaseModel):
    """A rule that `text` and `image` are variants, set by `person`; `hides` is the number of flags that it hides."""

    text: str
    image: str
    person: str
    at: datetime
    hides: int


class RulesOut(BaseModel):
    items: list[RuleOut]


class RuleChangeOut(RootModel[RuleChange]):
    """A pair of characters, and whether they are now variants by a rule."""


class UndoneOut(BaseModel):
    """The result of an undo, or of a redo (`again`); `told` describes it in the language of the request. It has either
    the new `decisions` on flags, or the `rule` as it is now, or the last event of the `page`, or the number of a page
    whose layout or image was changed and which is now read again (`laid_out`). `repeated`: the request was answered
    before."""

    what: ActKind
    again: bool
    told: str
    decisions: list[DecisionOut]
    rule: RuleChangeOut | None
    page: PageEventOut | None
    laid_out: int | None
    repeated: bool


class ProblemOut(BaseModel):
    """Problem details (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    told: str | None = Field(None, description="The problem as people are told it, in the language of the request")


class UnconfirmedOut(ProblemOut):
    """The refusal of a reading that looks like a typing error, and why. To enter it, send the request again with
    `confirmed`."""

    reason: Literal["latin letters", "private use", "incomplete description"]


class TypedReadingOut(BaseModel):
    """A reading that is accepted as typed."""

    reading: str


class FieldProblem(BaseModel):
    field: str
    message: str


class InvalidOut(ProblemOut):
    errors: list[FieldProblem] | None = None


class DecisionOut(RootModel[Decision]):
    """A decision on a flag; an undo and a redo are decisions as well."""


class BlindReadingOut(RootModel[BlindReading]):
    """The decision of one person in blind double proofreading."""


class HistoryEntryOut(RootModel[HistoryEntry]):
    """An act: one of `decision`, `rule`, `page` and `comment` is set. `name` is the name of the page, `was` its state
    before the act. `back`: the act came from an undo or a redo; `last`: it is the last decision on its flag."""


class HistoryEntriesOut(BaseModel):
    items: list[HistoryEntryOut]
    next: str | None


class ChangedOut(ProblemOut):
    """The refusal of an undo or a redo, since other `people` have changed the same afterwards."""

    people: list[str]
    told: str


class ConflictOut(ProblemOut):
    """The refusal of a decision on a flag that others have decided since: its present `version`, and their
    `decisions`."""

    version: int
    decisions: list[DecisionOut]


class WorkOut(RootModel[WorkSummary]):
    """A work with its numbers of pages, checked characters, and raised flags by state."""


class RemainingOut(RootModel[WorkLeft]):
    """What is left to do in a work: unsettled flags by state, pages with an image by state, open problems."""


class PageOut(BaseModel):
    number: int
    position: int
    page: str
    repeat: int
    ref: str
    juan: str
    folio: str
    status: str
    characters: int
    width: int
    height: int
    image: str
    flags: int
    open: int
    state: PageState
    version: int
    changed: bool = Field(description="The text of the page was changed since it was proofread")


class PlacedOut(RootModel[PlacedCharacter]):
    """A character of the text at the place of its glyph; `wedged`: it has no glyph and is shown beside the place where
    it is inserted."""


class ViewOut(BaseModel):
    """The place of a flag on the image: the `area` to show, with the neighbouring columns, the flag's `column` and its
    glyph (`focus`). `gap` is the empty place beside it in the text where characters are missing, `pitch` the distance
    from one character to the next in pixels, `skew` the lean of the columns in degrees."""

    image: str
    area: Rectangle
    column: Rectangle
    focus: Rectangle
    pitch: float
    skew: float
    characters: list[PlacedOut]
    gap: Rectangle | None
    page: Rectangle = Field(description="The half-folio on its image, which may be a plate or an opening")


class AlternativeOut(BaseModel):
    text: str
    p: float


class WitnessOut(RootModel[WitnessReading]):
    """The reading of a witness. `side` is `text` or `image` if the reading agrees with one of them; `note` is what the
    apparatus of the witness says of the place."""


class OtherHalfOut(BaseModel):
    """The flag at the other place of a character that moved; `ordinal` is the number of its character in the column,
    from 1."""

    number: int
    kind: Kind
    line: int
    offset: int
    transcribed: str
    suggested: str
    bbox: Rectangle | None
    ordinal: int | None = None


class FlagOut(BaseModel):
    number: int
    id: str
    page: PageOut
    line: int
    offset: int
    length: int
    kind: Kind
    transcribed: str
    suggested: str
    score: float
    raised: bool
    context: str
    bbox: Rectangle | None
    state: State
    reading: str
    version: int
    stale: bool
    moved: str = Field(
        "",
        description="Id of the flag that is decided together with this one: the other place of a character that moved, "
        "or the other part of a run",
    )
    other: OtherHalfOut | None = Field(None, description="The flag `moved`, as long as the two are decided together")
    what: str = Field("", description="For a column or a page: what was found, in the language of the request")
    copies: bool = Field(
        description="Whether an image shows what the copy reads; if not, the decision `copy` needs an authority"
    )


class EditOut(BaseModel):
    """A correction in a column: `reading` replaces `length` code points from `offset` on."""

    offset: int
    length: int
    reading: str


class FlagDetail(FlagOut):
    why: str
    reason: str
    rule: str
    p_text: float | None
    p_best: float | None
    takes: bool = Field(description="Whether the flag has a suggestion to accept: a reading, or a deletion")
    reads: str = Field(description="For a column or a page: what the image reads")
    alternatives: list[AlternativeOut]
    witnesses: list[WitnessOut]
    ordinal: int | None
    before: str = Field(description="The text before the place, as it stands after decisions")
    after: str
    edits: list[EditOut] = Field(description="The corrections in the column, as decided")
    view: ViewOut | None
    tile: str | None = Field(description="The image of the glyph as a data address")
    last: DecisionOut | None = Field(description="The last decision on the flag; null while it is open")
    comments: list[CommentOut] = Field(description="The comments on the flag, oldest first")
    readings: list[BlindReadingOut] = Field(
        description="The decision of each blind reader, if the person of the request decides between them"
    )


class CharacterOut(BaseModel):
    line: int
    offset: int
    length: int
    row: str
    text: str
    box: Rectangle
    read: str
    p_text: float | None


class ColumnOut(BaseModel):
    number: int
    box: Rectangle
    source: str
    now: str = Field(description="The source of the column after decisions")


class PageDetail(PageOut):
    box: Rectangle = Field(description="The half-folio on its image, which may be a plate or an opening")
    columns: list[ColumnOut]
    characters_found: list[CharacterOut]
    flags_found: list[FlagOut]
    notices: list[str]
    skew: float
    said_by: str = Field(description="Who set the state of the page")
    comments: list[CommentOut] = Field(description="The comments on the page and its flags, oldest first")


class PairOut(BaseModel):
    text: str
    image: str
    count: int


class JuanFlags(BaseModel):
    juan: str
    count: int


class DialPoint(BaseModel):
    """If all flags with this score or a higher one are reviewed: how many of them are still open (`places`), and how
    many errors are expected among the flags with a lower score (`left`)."""

    score: float
    places: int
    left: float


class FacetsOut(BaseModel):
    total: int
    kinds: dict[Kind, int]
    states: dict[State, int]
    pairs: list[PairOut]
    juans: list[JuanFlags]
    scores: list[int]
    edges: list[float]
    dial: list[DialPoint]


class WorksOut(BaseModel):
    items: list[WorkOut]


class PagesOut(BaseModel):
    items: list[PageOut]
    next: str | None


class FlagsOut(BaseModel):
    items: list[FlagDetail | FlagOut]
    next: str | None


class HistoryOut(BaseModel):
    items: list[DecisionOut]


class DisplacedOut(BaseModel):
    """A decision whose place is no longer in the text."""

    decision: DecisionOut


class DisplacedListOut(BaseModel):
    items: list[DisplacedOut]


class WitnessRecordOut(BaseModel):
    """The number of decided places at which a witness has a reading, and of those at which it agrees."""

    siglum: str
    places: int
    upheld: int


class WitnessRecordsOut(BaseModel):
    items: list[WitnessRecordOut]


class PairStates(RootModel[WorkPair]):
    """A pair of confused characters: how often it occurs in the work, and how often it is still open."""


class PairsOut(BaseModel):
    items: list[PairStates]
    next: str | None


class DecisionOutcome(BaseModel):
    """The outcome of one of many decisions: the new decision, or the decisions of others with which it conflicts."""

    flag: int
    decision: DecisionOut | None
    conflict: list[DecisionOut] | None
    version: int


class OutcomesOut(BaseModel):
    items: list[DecisionOutcome]


class GlyphOut(BaseModel):
    """An occurrence of a character. `unlike` is the distance of its shape from the others; `flag` and `state` are those
    of its flag, `reading` is the corrected text; `tile` is its image as a data URL, if the request asked for tiles."""

    page: int
    name: str
    line: int
    offset: int
    length: int
    image: str
    unlike: float
    flag: int | None
    state: State | None
    reading: str
    tile: str | None


class ComposedOut(BaseModel):
    """Characters with these components, those with the fewest further components first."""

    items: list[str]


class UnencodedOut(BaseModel):
    """A name, description or placeholder of an unencoded character: how often it occurs, and the encoded characters
    (`made_of`) with the components that it names."""

    text: str
    count: int
    made_of: list[str]


class UnencodedListOut(BaseModel):
    items: list[UnencodedOut]


class GlyphsOut(BaseModel):
    """Occurrences of a character. All `total` ones are divided into `parts`; those of part `part` (from 0), `looked` in
    number, were compared."""

    items: list[GlyphOut]
    next: str | None
    total: int
    looked: int
    part: int
    parts: int


class GlyphOutcome(BaseModel):
    """The outcome at one place: the new decision, or the decisions of others with which it conflicts."""

    page: int
    line: int
    offset: int
    decision: DecisionOut | None
    conflict: list[DecisionOut] | None


class GlyphOutcomesOut(BaseModel):
    items: list[GlyphOutcome]
