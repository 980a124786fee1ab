"""The certificate of a work: as a page, in the API, and as PDF."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Blueprint, Response
from pydantic import RootModel

from proof.exports.pdf_table import SIMPLIFIED, TRADITIONAL, table_pdf
from proof.locale.marking import _
from proof.report.certificate import Certificate, certificate_of
from proof.web import schemas
from proof.web.api import WORKS, answer, api_blueprint
from proof.web.language import language, say
from proof.web.page_view import render_page
from proof.web.project import project

certificates = Blueprint("certificates", __name__)
certificates_api = api_blueprint("certificates api", WORKS)


class CertificateOut(RootModel[dict[str, object]]):
    """The state of the proofreading of a work: versions of the texts, counts of pages, characters and flags, the people
    who proofread and validated pages, and the expected number of remaining errors."""


@certificates_api.get("/works/<string:work>/certificate", responses={200: CertificateOut})
def certificate(path: schemas.WorkPath) -> Response:
    """Get the certificate of a work."""
    return answer(CertificateOut(certificate_of(project().store, path.work).as_dict()))


@certificates.get("/works/<work>/certificate")
def view(work: str) -> Response:
    certificate = certificate_of(project().store, work)
    return render_page(
        "certificate.html", project().store.queue.work(work), certificate=certificate, lines=lines_of(certificate)
    )


@certificates.get("/works/<work>/certificate.pdf")
def pdf(work: str) -> Response:
    certificate = certificate_of(project().store, work)
    response = Response(pdf_of(certificate), mimetype="application/pdf")
    response.headers["Content-Disposition"] = f'attachment; filename="certificate-{certificate.at:%Y-%m-%d}.pdf"'
    response.headers["Cache-Control"] = "no-store"
    return response


def lines_of(certificate: Certificate) -> list[tuple[str, str]]:
    """The lines of the certificate, as names and values, in the language of the request."""
    left = certificate.left
    unknown = say(_("unknown: no sample of the unflagged text was decided"))
    return [
        (
            say(_("Characters compared with ink")),
            f"{certificate.with_ink:,} / {certificate.characters:,} ({certificate.share:.1%})",
        ),
        (say(_("Pages checked against an image")), f"{certificate.pages_checked:,} / {certificate.pages:,}"),
        (say(_("Flags decided")), f"{certificate.decided:,} / {certificate.flagged:,}"),
        (say(_("Errors confirmed")), f"{certificate.confirmed:,}"),
        (
            say(_("Errors expected to be left")),
            f"{left.expected:.1f} ({left.low:.1f} – {left.high:.1f})" if left else unknown,
        ),
        (say(_("Pages proofread by")), _people(certificate.proofread)),
        (say(_("Pages validated by")), _people(certificate.validated)),
        *((say(_("Version of %(text)s")) % {"text": text.name}, f"SHA-256 {text.sha}") for text in certificate.texts),
        (say(_("Made")), f"{certificate.at:%Y-%m-%d %H:%M} UTC, proof {certificate.program}"),
    ]


def _people(pages: Mapping[str, int]) -> str:
    return ", ".join(f"{person} ({number:,})" for person, number in pages.items()) or say(_("nobody"))


def pdf_of(certificate: Certificate) -> bytes:
    """The certificate as PDF, on A4 pages in the language of the request."""
    font = SIMPLIFIED if language() == "zh-Hans" else TRADITIONAL
    heading = say(_("Certificate of proofreading"))
    return table_pdf(font, certificate.title, heading, lines_of(certificate), language())
