"""Blind double proofreading: what each person may see, and the readings of two people compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import cast
from uuid import uuid4

from flask import Blueprint, Flask, Response, redirect, url_for
from pydantic import BaseModel, Field
from werkzeug.wrappers import Response as AnyResponse

from proof.quality.agreement import agreement
from proof.store.decision_chains import REQUESTER, Requester
from proof.store.double_readings import ComparedReadings
from proof.web import schemas
from proof.web.api import DECISIONS, answer, api_blueprint
from proof.web.page_view import render_page
from proof.web.people import current_account, may, person
from proof.web.project import Project, project
from proof.web.rights import Right

MAX_LISTED_PLACES = 200
"""Maximum number of differing places that the page lists; the queue shows all."""

readings = Blueprint("readings", __name__)
readings_api = api_blueprint("readings api", DECISIONS)


class AgreementOut(BaseModel):
    """The agreement of two people on flags of one kind, or of all kinds if `kind` is empty."""

    people: tuple[str, str]
    kind: str
    places: int = Field(description="The number of flags that both decided")
    same: int = Field(description="The number of these flags on which both agree")
    share: float = Field(description="`same` divided by `places`")
    kappa: float | None = Field(
        description="Cohen's kappa; null for fewer than 20 flags, or if one person gave all the same decision"
    )


class DoubleReadingsOut(BaseModel):
    """The decisions of two people in blind double proofreading, compared."""

    read: dict[str, int] = Field(description="The number of flags that each person decided")
    agreements: list[AgreementOut] = Field(description="The agreement of every two people")
    agreed: int = Field(description="The number of flags that both decided alike and that can be adopted")
    differing: list[ComparedReadings] = Field(description="The flags that they decided differently")


class AdoptionBody(schemas.StrictModel):
    key: schemas.Key


def install_reader_restrictions(app: Flask) -> None:
    """Restrict each request to the readings that its person may see."""
    serve = cast(Project, app.extensions["proof"]).settings.serve
    is_blind = serve.auth and serve.blind

    def set_requester() -> None:
        arbitrates = is_blind and may(Right.OVERRULE)
        account = current_account() if is_blind else None
        REQUESTER.set(
            Requester(
                person=account.name if account else "",
                blind=is_blind and not arbitrates,
                arbitrates=arbitrates,
            )
        )

    def reset_requester(_error: BaseException | None) -> None:
        REQUESTER.set(Requester())

    app.before_request(set_requester)
    app.teardown_request(reset_requester)


@readings_api.get("/works/<string:work>/readings", responses={200: DoubleReadingsOut})
def compare_readings(path: schemas.WorkPath) -> Response:
    """Compare the decisions of two people in blind double proofreading."""
    return answer(_readings(path.work))


@readings_api.post("/works/<string:work>/readings/agreed", responses={200: DoubleReadingsOut})
def adopt_readings(path: schemas.WorkPath, body: AdoptionBody) -> Response:
    """Adopt all decisions on which both people agree, as one act."""
    project().store.double_readings.adopt(path.work, person(), body.key)
    return answer(_readings(path.work))


@readings.get("/works/<work>/readings")
def view(work: str) -> AnyResponse:
    """The agreement of the readers, equal readings to adopt, and differing places."""
    summary = project().store.queue.work(work)
    readings = _readings(work)
    listed = project().store.queue.flags(work, [place.flag for place in readings.differing[:MAX_LISTED_PLACES]])
    places = list(zip(listed, readings.differing, strict=False))
    return render_page("readings.html", summary, readings=readings, places=places)


@readings.post("/works/<work>/readings")
def view_adoption(work: str) -> AnyResponse:
    """Adopt the readings on which both agree, and show the rest."""
    project().store.double_readings.adopt(work, person(), uuid4().hex)
    return redirect(url_for("readings.view", work=work))


def _readings(work: str) -> DoubleReadingsOut:
    store = project().store.double_readings
    waiting = store.waiting(work)
    return DoubleReadingsOut(
        read=store.readers(work),
        agreements=list(_agreements(store.of_work(work))),
        agreed=sum(place.agreed for place in waiting),
        differing=[place for place in waiting if not place.agreed],
    )


def _agreements(compared: Iterable[ComparedReadings]) -> Iterable[AgreementOut]:
    """The agreement of every two people, over all kinds of flags and for each kind."""
    categories_of: defaultdict[tuple[tuple[str, str], str], list[tuple[str, str]]] = defaultdict(list)
    for place in compared:
        for first, second in place.pairs():
            for kind in ("", place.kind):
                categories_of[(first.person, second.person), kind].append((first.category, second.category))
    for (people, kind), categories in sorted(categories_of.items()):
        result = agreement(people, categories)
        yield AgreementOut(
            people=result.people,
            kind=kind,
            places=result.places,
            same=result.same,
            share=round(result.share, 3),
            kappa=round(result.kappa.value, 3) if result.kappa else None,
        )
