"""The API for layout overrides: correcting the layout or the image of a page, and reading the page again."""

from __future__ import annotations

from typing import Annotated, Literal

from flask import Response
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field, RootModel

from proof.checking.recheck import RecheckFault, RecheckOutcome
from proof.errors import PublicError
from proof.images.load import load_image
from proof.images.opencv import cv2
from proof.layout.overrides import MOST_COLUMNS, LayoutOverrideShape
from proof.locale.notices import in_words
from proof.store.layout_overrides import LayoutOverride
from proof.web import answers, schemas, serializers
from proof.web.answers import ListOf
from proof.web.api import answer, api_blueprint
from proof.web.jobs import JobState
from proof.web.language import say
from proof.web.messages import RECHECK_FAULTS, REFUSALS, SERVER_STOPPED
from proof.web.people import may, person
from proof.web.project import project
from proof.web.rereading import ReadingJob
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

LAYOUTS = Tag(name="layout overrides", description="Layouts and images that people set, and reading pages again")
layouts = api_blueprint("layout overrides", LAYOUTS)


class UnknownImageError(PublicError):
    """No image of the project has that name."""

    http_status = 404


class RegionBody(schemas.StrictModel):
    """A region of a page: its frame, its columns and its notes."""

    corners: list[Corner] = Field(
        min_length=4,
        max_length=4,
        description="The corners of the frame in pixels of the image file: upper left, upper right, lower right, lower "
        "left",
    )
    rules: list[Share] = Field(
        max_length=MOST_COLUMNS,
        description="The lines between the columns from left to right, as shares of the width of the frame",
    )
    notes: list[Spans | None] = Field(
        default_factory=list,
        max_length=MOST_COLUMNS,
        description="For each column from right to left: the parts that are notes in double rows, as shares of the "
        "height of the frame from the top; null to detect them",
    )


class LayoutBody(RegionBody):
    """The layout of a page: its first region and, in `more`, further ones."""

    more: list[RegionBody] = Field(
        default_factory=list,
        max_length=MOST_COLUMNS,
        description="Further regions of the page, such as lower registers, in the order of their text",
    )


class LayoutOverrideBody(schemas.StrictModel):
    """How a page is to be read from now on. What is left out is detected."""

    layout: LayoutBody | None = None
    image: Name = Field("", description="The name of the image")
    quadrant: Literal["", "a", "b", "c", "d"] = Field(
        "", description="The part of the image, if it shows several half-folios"
    )
    version: schemas.Count = Field(description="The `version` of the last override that the client saw; 0 without any")
    key: schemas.Key


class LayoutOverrideOut(RootModel[LayoutOverride]):
    """The layout and the image that a person set for a page. What is empty or null is detected."""


class RereadingResultOut(BaseModel):
    """The result of reading a page again."""

    status: str = Field(description="The status of the page: `checked`, `no image`, `image mismatch` or `failed`")
    detail: str = Field(description="The message of the check, in the language of the request")
    trouble: RecheckFault | None = Field(description="Why the page could not be checked")
    message: str = Field(description="The same in words, in the language of the request")
    fresh: int = Field(description="The number of new raised flags")
    gone: int = Field(description="The number of raised flags that the page no longer has")
    kept: int = Field(description="The number of decided flags whose place remains")
    lost: list[answers.FlagOut] = Field(description="The decided flags whose place no longer exists")


class RereadingOut(BaseModel):
    """A job that reads a page again."""

    id: str = Field(description="By which the state of the job is requested, and the job is cancelled")
    state: JobState
    requested_by: list[str] = Field(description="The people who requested it and have not cancelled it")
    reason: str = Field(description="Why it failed, in English; empty if it did not")
    trouble: RecheckFault | None = Field(description="The kind of failure")
    message: str = Field(description="The failure in words, in the language of the request")
    outcome: RereadingResultOut | None = Field(description="The result, when the job is done")


class ReadingPath(schemas.PagePath):
    job: str = Field(max_length=64, description="The `id` of the job, from the answer that started it")


class ImagesQuery(schemas.StrictModel):
    search: str = Field("", max_length=200, description="A part of the name")


class ImageQuery(schemas.StrictModel):
    name: Name = Field(description="The name of the image")


class ImageNamesOut(BaseModel):
    items: list[str]
    more: bool = Field(description="Whether further images match")


@layouts.get("/works/<string:work>/pages/<int:page>/layout-overrides", responses={200: ListOf[LayoutOverride]})
def layout_overrides(path: schemas.PagePath) -> Response:
    """List the layouts and images that people set for a page."""
    return answer(ListOf[LayoutOverride](items=project().store.layout_overrides.history(path.work, path.page)))


@layouts.post(
    "/works/<string:work>/pages/<int:page>/layout-overrides",
    responses={201: LayoutOverrideOut, 409: answers.ProblemOut},
)
def set_layout_override(path: schemas.PagePath, body: LayoutOverrideBody) -> Response:
    """Set the layout or the image of a page, or have them detected again.

    The answer is 409 if somebody else has set them since the client saw them."""
    layout = LayoutOverrideShape.from_json(body.layout.model_dump()) if body.layout else None
    if body.image and body.image not in dict(project().reader.images()):
        raise UnknownImageError(REFUSALS["no image"])
    quadrant = body.quadrant if body.image else ""
    override = project().store.layout_overrides.set(
        path.work, path.page, layout, body.image, quadrant, version=body.version, person=person(), key=body.key
    )
    return answer(LayoutOverrideOut(override), 201)


@layouts.post("/works/<string:work>/pages/<int:page>/read-again", responses={200: RereadingOut, 202: RereadingOut})
def read_again(path: schemas.PagePath) -> Response:
    """Read a page again, with the layout and image that were set.

    The answer is 200 with the result if the page is read within two seconds. Otherwise it is 202, and the state
    of the job can be requested by its `id`."""
    project().store.queue.page(path.work, path.page)
    job = project().rereading.begin(path.work, path.page, person())
    job.wait(PATIENCE_SECONDS)
    return answer(reading_of(job), 202 if job.under_way else 200)


@layouts.get("/works/<string:work>/pages/<int:page>/read-again/<string:job>", responses={200: RereadingOut})
def rereading(path: ReadingPath) -> Response:
    """Get the state and the result of reading a page again."""
    return answer(reading_of(project().rereading.job(path.job, path.work, path.page)))


@layouts.post("/works/<string:work>/pages/<int:page>/read-again/<string:job>/stop", responses={200: RereadingOut})
def cancel_rereading(path: ReadingPath) -> Response:
    """Cancel reading a page again.

    The job goes on if other people have requested it too, and a finished job is not undone. The state in the answer
    tells whether the job was cancelled."""
    job = project().rereading.cancel(path.work, path.page, path.job, person(), overrules=may(Right.OVERRULE))
    return answer(reading_of(job))


@layouts.get("/works/<string:work>/images", responses={200: ImageNamesOut})
def images(path: schemas.WorkPath, query: ImagesQuery) -> Response:
    """Find images of the project by name."""
    project().store.queue.work(path.work)
    names = [name for name, _ in project().reader.images() if query.search.casefold() in name.casefold()]
    return answer(ImageNamesOut(items=names[:MAX_IMAGES], more=len(names) > MAX_IMAGES))


@layouts.get("/works/<string:work>/images/preview")
def image_preview(path: schemas.WorkPath, query: ImageQuery) -> Response:
    """Get a small picture of an image of the project."""
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


def reading_of(job: ReadingJob) -> RereadingOut:
    """The state and outcome of a job for the API."""
    outcome = job.outcome
    return RereadingOut(
        id=job.number,
        state=job.state,
        requested_by=job.requested_by,
        reason=job.reason,
        trouble=job.trouble,
        message=_fault_message(job.trouble) or (say(SERVER_STOPPED) if job.reason else ""),
        outcome=_reread_out(outcome) if outcome else None,
    )


def _reread_out(reread: RecheckOutcome) -> RereadingResultOut:
    return RereadingResultOut(
        status=reread.result.status.value,
        detail=in_words(reread.result.message, say) if reread.result.message else "",
        trouble=reread.trouble,
        message=_fault_message(reread.trouble),
        fresh=len(reread.fresh),
        gone=len(reread.gone),
        kept=len(reread.kept),
        lost=[serializers.flag_of(flag) for flag in reread.lost],
    )


def _fault_message(trouble: RecheckFault | None) -> str:
    """A fault in the language of the request."""
    return say(RECHECK_FAULTS[trouble]) if trouble else ""
