"""The API for layout overrides: correcting the layout or the image of a page, and reading the page again."""

from __future__ import annotations

from typing import Annotated, Literal

from flask import Response
from pydantic import BaseModel, Field, RootModel

from proof.checking.recheck import RecheckFault, Reread
from proof.errors import PublicError
from proof.images.load import load_image
from proof.images.opencv import cv2
from proof.layout.overrides import MOST_COLUMNS, LayoutOverrideShape
from proof.locale.notices import in_words
from proof.store.layout_overrides import LayoutOverride
from proof.web import answers, schemas, serializers
from proof.web.api import answer, api_blueprint
from proof.web.language import say
from proof.web.messages import RECHECK_FAULTS, REFUSALS, SERVER_STOPPED
from proof.web.people import may, person
from proof.web.project import project
from proof.web.rereading import Job, Stage
from proof.web.rights import Right

MAX_IMAGES = 60
"""Maximum number of image names in one answer."""
PREVIEW_PX = 480
"""Maximum length of the longer side of a preview."""
PATIENCE_SECONDS = 2.0
"""Time that a request waits for a reading that is first in the queue."""

Coordinate = Annotated[float, Field(ge=-100_000, le=100_000, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Corner = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]
Span = Annotated[list[Share], Field(min_length=2, max_length=2)]
Spans = Annotated[list[Span], Field(max_length=40)]
Name = Annotated[str, Field(max_length=1024)]

layouts = api_blueprint("layout overrides", "layout overrides")


class UnknownImageError(PublicError):
    """No image of the project has that name."""

    http_status = 404


class RegionBody(schemas.Closed):
    """Corners in pixels of the image file: upper left, upper right, lower right, lower left. Rules are given from left
    to right as shares of the frame's width; notes for each column, right to left, as shares of its height."""

    corners: list[Corner] = Field(min_length=4, max_length=4)
    rules: list[Share] = Field(max_length=MOST_COLUMNS)
    notes: list[Spans | None] = Field(default_factory=list, max_length=MOST_COLUMNS)


class LayoutBody(RegionBody):
    """The first region of a page and, in `more`, the others (registers), in the order of their text."""

    more: list[RegionBody] = Field(default_factory=list, max_length=MOST_COLUMNS)


class LayoutOverrideBody(schemas.Closed):
    """The layout of a page, its image and the quadrant of the image; fields that are left out are detected."""

    layout: LayoutBody | None = None
    image: Name = ""
    quadrant: Literal["", "a", "b", "c", "d"] = ""
    version: schemas.Count = Field(description="The version that was seen")
    key: str = Field(pattern=schemas.KEY)


class LayoutOverrideOut(RootModel[LayoutOverride]):
    """The layout and the image that a person set for a page; empty fields are detected."""


class LayoutOverridesOut(BaseModel):
    items: list[LayoutOverrideOut]


class RereadOut(BaseModel):
    """The result of reading a page again."""

    status: str
    message: str
    trouble: RecheckFault | None = Field(description="Why the page could not be checked")
    told: str = Field(description="The same, in the language of the request")
    fresh: int = Field(description="Raised flags that were not there before")
    gone: int = Field(description="Flags raised before that are no more")
    kept: int = Field(description="Decisions whose place remains")
    lost: list[answers.FlagOut] = Field(description="Decided flags whose place is gone")


class ReadingOut(BaseModel):
    """A page that is read again: the number of the reading (`job`), its state, and its outcome when it is done."""

    job: str
    state: Stage
    askers: list[str] = Field(description="Who waits for it")
    reason: str = Field(description="Why it failed")
    trouble: RecheckFault | None = Field(description="What kind of failure it is")
    told: str = Field(description="The same, in the language of the request")
    outcome: RereadOut | None


class ReadingPath(schemas.PagePath):
    job: str = Field(max_length=64)


class ImagesQuery(schemas.Closed):
    sought: str = Field("", max_length=200, description="Part of the name")


class ImageQuery(schemas.Closed):
    name: Name


class ImageNames(BaseModel):
    items: list[str]
    more: bool


@layouts.get(
    "/works/<string:work>/pages/<int:page>/layout-overrides",
    responses={200: LayoutOverridesOut},
    summary="What was set right",
)
def layout_overrides(path: schemas.PagePath) -> Response:
    overrides = project().store.layout_overrides.history(path.work, path.page)
    return answer(LayoutOverridesOut(items=[LayoutOverrideOut(override) for override in overrides]))


@layouts.post(
    "/works/<string:work>/pages/<int:page>/layout-overrides",
    responses={201: LayoutOverrideOut, 409: answers.ProblemOut},
    summary="Set how a page is read from now on, or go back to what is found",
)
def set_layout_override(path: schemas.PagePath, body: LayoutOverrideBody) -> Response:
    layout = LayoutOverrideShape.from_json(body.layout.model_dump()) if body.layout else None
    if body.image and body.image not in dict(project().reader.images()):
        raise UnknownImageError(REFUSALS["no image"])
    quadrant = body.quadrant if body.image else ""
    override = project().store.layout_overrides.set(
        path.work, path.page, layout, body.image, quadrant, version=body.version, person=person(), key=body.key
    )
    return answer(LayoutOverrideOut(override), 201)


@layouts.post(
    "/works/<string:work>/pages/<int:page>/read-again",
    responses={200: ReadingOut, 202: ReadingOut},
    summary="Read a page again, as it was set right",
)
def read_again(path: schemas.PagePath) -> Response:
    """Start reading a page again. The answer has the result if that takes a moment only, else the number of the
    reading, by which its state can be requested."""
    project().store.queue.page(path.work, path.page)
    job = project().rereading.begin(path.work, path.page, person())
    job.wait(PATIENCE_SECONDS)
    return answer(reading_of(job), 202 if job.under_way else 200)


@layouts.get(
    "/works/<string:work>/pages/<int:page>/read-again/<string:job>",
    responses={200: ReadingOut},
    summary="What came of reading a page again",
)
def reading(path: ReadingPath) -> Response:
    return answer(reading_of(project().rereading.job(path.work, path.page, path.job)))


@layouts.post(
    "/works/<string:work>/pages/<int:page>/read-again/<string:job>/stop",
    responses={200: ReadingOut},
    summary="Take back that a page is read again; it is read all the same where others asked for it",
)
def stop(path: ReadingPath) -> Response:
    """Stop a reading. It ends before its result is saved; a finished one is not undone. Request its state to see
    which."""
    job = project().rereading.cancel(path.work, path.page, path.job, person(), overrules=may(Right.OVERRULE))
    return answer(reading_of(job))


@layouts.get("/works/<string:work>/images", responses={200: ImageNames}, summary="Images of the project, by name")
def images(path: schemas.WorkPath, query: ImagesQuery) -> Response:
    project().store.queue.work(path.work)
    names = [name for name, _ in project().reader.images() if query.sought.casefold() in name.casefold()]
    return answer(ImageNames(items=names[:MAX_IMAGES], more=len(names) > MAX_IMAGES))


@layouts.get("/works/<string:work>/images/preview", summary="A small picture of an image of the project")
def preview(path: schemas.WorkPath, query: ImageQuery) -> Response:
    project().store.queue.work(path.work)
    file = dict(project().reader.images()).get(query.name)
    if file is None:
        raise UnknownImageError(REFUSALS["no image"])
    pixels = load_image(file, max_megapixels=project().settings.images.max_megapixels).pixels
    scale = min(1.0, PREVIEW_PX / max(pixels.shape[:2]))
    small = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    response = Response(cv2.imencode(".webp", small)[1].tobytes(), mimetype="image/webp")
    response.headers["Cache-Control"] = "private, max-age=300"
    return response


def reading_of(job: Job) -> ReadingOut:
    """The state and outcome of a job for the API."""
    outcome = job.outcome
    return ReadingOut(
        job=job.number,
        state=job.state,
        askers=job.waited_for_by,
        reason=job.reason,
        trouble=job.trouble,
        told=_told(job.trouble) or (say(SERVER_STOPPED) if job.reason else ""),
        outcome=_reread_out(outcome) if outcome else None,
    )


def _reread_out(reread: Reread) -> RereadOut:
    return RereadOut(
        status=reread.result.status.value,
        message=in_words(reread.result.message, say) if reread.result.message else "",
        trouble=reread.trouble,
        told=_told(reread.trouble),
        fresh=len(reread.fresh),
        gone=len(reread.gone),
        kept=len(reread.kept),
        lost=[serializers.flag_of(flag) for flag in reread.lost],
    )


def _told(trouble: RecheckFault | None) -> str:
    """A fault in the language of the request."""
    return say(RECHECK_FAULTS[trouble]) if trouble else ""
