"""What the JSON API answers, as its description has it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, RootModel

from proof.model.flags import Kind, WitnessReading
from proof.report.view import PlacedCharacter
from proof.store.accounts import AccountEvent, Role
from proof.store.acts import RuleChange, What
from proof.store.decision_records import Decision, DisplacedDecision, State
from proof.store.history import HistoryEntry
from proof.store.page_states import PageEvent, PageState
from proof.store.queue_records import WorkLeft, WorkPair, WorkSummary
from proof.store.readings import BlindReading
from proof.web.comment_answers import CommentOut
from proof.web.rights import Right

Rectangle = Annotated[list[float], Field(min_length=4, max_length=4, description="x, y, width, height in pixels")]


class SessionOut(BaseModel):
    """`person` is empty where nobody has logged in, `role` where there are no accounts."""

    person: str
    role: Role | None
    rights: list[Right]
    token: str


class PersonOut(BaseModel):
    """`provisional`: the password is still the one that was handed over; `seen`: the last log-in."""

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
    """Something that was done to the account `number`; `person` did it. `was` and `now` are roles where it is about
    them; a password that is to be changed is `provisional` now."""


class PeopleEventsOut(BaseModel):
    items: list[PeopleEventOut]
    next: str | None


class NewPersonOut(BaseModel):
    person: PersonOut
    password: str


class PageEventOut(RootModel[PageEvent]):
    """What somebody said of a page as a whole; `back`: by taking something back, or doing it again."""


class PageEventsOut(BaseModel):
    items: list[PageEventOut]


class RuleOut(BaseModel):
    text: str
    image: str
    person: str
    at: datetime
    hides: int


class RulesOut(BaseModel):
    items: list[RuleOut]


class RuleChangeOut(RootModel[RuleChange]):
    """A pair, and whether it is a rule now."""


class UndoneOut(BaseModel):
    """What was taken back or, `again`, done once more; `told` says it in the language of the request. `decisions` are
    the events that say so of flags, `rule` how the pair stands now, `page` what was last said of the page, `laid_out`
    the number of the page whose layout or image it was: that page is being read again."""

    what: What
    again: bool
    told: str
    decisions: list[DecisionOut]
    rule: RuleChangeOut | None
    page: PageEventOut | None
    laid_out: int | None
    repeated: bool


class ProblemOut(BaseModel):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    told: str | None = Field(None, description="What people are told of it, in the language of the request")


class UnconfirmedOut(ProblemOut):
    """A reading that looks like a slip, and why; it is taken where the request is sent again with `confirmed`."""

    reason: Literal["latin letters", "private use", "incomplete description"]


class TypedReadingOut(BaseModel):
    """A reading that can be typed."""

    reading: str


class FieldProblem(BaseModel):
    field: str
    message: str


class InvalidOut(ProblemOut):
    errors: list[FieldProblem] | None = None


class DecisionOut(RootModel[Decision]):
    """An event, as the store has it."""


class BlindReadingOut(RootModel[BlindReading]):
    """What a person decided blind."""


class HistoryEntryOut(RootModel[HistoryEntry]):
    """Something that was done: one of `decision`, `rule`, `page` and `comment` says what. `name` is the page's, `was`
    its state before; `back`: by taking something back, or doing it again; `last`: nothing was decided of that flag
    since."""


class HistoryEntriesOut(BaseModel):
    items: list[HistoryEntryOut]
    next: str | None


class ChangedOut(ProblemOut):
    """Somebody else changed what was to be taken back: `people` did, and `told` says so to people."""

    people: list[str]
    told: str


class ConflictOut(ProblemOut):
    version: int
    decisions: list[DecisionOut]


class WorkOut(RootModel[WorkSummary]):
    """A work with its counts: pages, characters checked, and raised flags by state."""


class RemainingOut(RootModel[WorkLeft]):
    """Flags by state that are not settled; pages with an image by what is to be said of them; open problems."""


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
    """A character of the text at the place of its glyph; `wedged`: the image has no room for it, and it stands beside
    its place."""


class ViewOut(BaseModel):
    """The column on the image with its neighbours (`area`), and the text at the places of its glyphs."""

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
    """What a witness reads here; `side` is `text` or `image` where it agrees with one, `note` its apparatus."""


class OtherHalfOut(BaseModel):
    """Where a character that moved stands in the other of the two places; `ordinal` counts the characters there."""

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
    moved: str = Field("", description="Id of the flag that is one question with this one: what moved, or a run in two")
    other: OtherHalfOut | None = Field(None, description="That flag, while the two are one question, decided together")
    what: str = Field("", description="Of a column or a page: what was found, in the language of the request")


class EditOut(BaseModel):
    """What a decision makes of a place of a column: `length` code points from `offset` are to read `reading`."""

    offset: int
    length: int
    reading: str


class FlagDetail(FlagOut):
    why: str
    reason: str
    rule: str
    p_text: float | None
    p_best: float | None
    takes: bool = Field(description="Whether there is something to take: a reading, or that nothing is to stand there")
    reads: str = Field(description="Of a column or a page: what the image reads")
    alternatives: list[AlternativeOut]
    witnesses: list[WitnessOut]
    ordinal: int | None
    before: str = Field(description="The text before the place, as it stands after decisions")
    after: str
    edits: list[EditOut] = Field(description="What decisions make of the column")
    view: ViewOut | None
    tile: str | None = Field(description="The image of the glyph as a data address")
    last: DecisionOut | None
    comments: list[CommentOut] = Field(description="What was said of it, oldest first")
    readings: list[BlindReadingOut] = Field(description="What each person decided blind, for who decides between them")


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
    now: str = Field(description="As it stands after decisions")


class PageDetail(PageOut):
    box: Rectangle = Field(description="The half-folio on its image, which may be a plate or an opening")
    columns: list[ColumnOut]
    characters_found: list[CharacterOut]
    flags_found: list[FlagOut]
    notices: list[str]
    skew: float
    said_by: str = Field(description="Who said where the page stands")
    comments: list[CommentOut] = Field(description="What was said of the page and of its flags, oldest first")


class PairOut(BaseModel):
    text: str
    image: str
    count: int


class JuanFlags(BaseModel):
    juan: str
    count: int


class DialPoint(BaseModel):
    """With all flags from this score on looked at: how many of these are still open, and how many errors are then left
    among the others."""

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


class DisplacedOut(RootModel[DisplacedDecision]):
    """A decision whose place is no longer in the text."""


class DisplacedListOut(BaseModel):
    items: list[DisplacedOut]


class WitnessRecordOut(BaseModel):
    """At how many decided places a witness reads something, and at how many of these what was decided."""

    siglum: str
    places: int
    upheld: int


class WitnessRecordsOut(BaseModel):
    items: list[WitnessRecordOut]


class PairStates(RootModel[WorkPair]):
    """A confusion over the work: how often it is there, and how often still open."""


class PairsOut(BaseModel):
    items: list[PairStates]
    next: str | None


class RereadOutcome(BaseModel):
    flag: int
    decision: DecisionOut | None
    conflict: list[DecisionOut] | None
    version: int


class OutcomesOut(BaseModel):
    items: list[RereadOutcome]


class GlyphOut(BaseModel):
    """An occurrence of a character: `unlike` says how unlike the others it looks, `flag` and `state` what was said of
    it, `reading` what is to be read there then; `tile` is its image as a data address, where that was asked for."""

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
    """Characters with these parts, those with the fewest others first."""

    items: list[str]


class UnencodedOut(BaseModel):
    """A name, a description or a stopgap for a character: how often the text has it, and what has the parts that it
    names."""

    text: str
    count: int
    made_of: list[str]


class UnencodedListOut(BaseModel):
    items: list[UnencodedOut]


class GlyphsOut(BaseModel):
    """Of `total` occurrences part `part` of `parts` was looked at, `looked` in all."""

    items: list[GlyphOut]
    next: str | None
    total: int
    looked: int
    part: int
    parts: int


class GlyphOutcome(BaseModel):
    """What became of a place: its decision, or those of others that stand there."""

    page: int
    line: int
    offset: int
    decision: DecisionOut | None
    conflict: list[DecisionOut] | None


class GlyphOutcomesOut(BaseModel):
    items: list[GlyphOutcome]
