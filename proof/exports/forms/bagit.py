"""A bag for archives: the corrected text, the images of its pages and their PAGE XML, with checksums. The library of
the Library of Congress writes it in version 0.97 of BagIt, the draft before 1.0 (RFC 8493)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import bagit

import proof
from proof.errors import OutputError, os_errors_as
from proof.exports.files import Material, marked_pages, write_file
from proof.exports.forms import ExportForm
from proof.exports.pagexml import page_xml
from proof.images.pdf import PdfPage, file_names
from proof.locale.marking import _


def _write(material: Material, folder: Path) -> list[Path]:
    edition = material.corrected.edition
    target = folder / f"{material.stem}.bag"
    if target.exists() and not (target / "bagit.txt").is_file():
        raise OutputError(_("%(target)s exists and is not a bag: move it away"), target=target)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".bag-") as temporary:
        bag = Path(temporary) / "bag"
        write_file(bag / "text" / edition.path.name, material.corrected.data)
        for path, page in marked_pages(material, bag / "page", ".xml").items():
            write_file(path, page_xml(page, material.made))
        for source, name in file_names(_image_files(material)).items():
            with os_errors_as(OutputError, _("%(source)s cannot be put into the bag (%(reason)s)"), source=source):
                write_file(bag / "images" / name, source.read_bytes())
        information = {
            "External-Description": material.named,
            "Bagging-Date": f"{material.made:%Y-%m-%d}",
            "Bag-Software-Agent": f"proof {proof.__version__}",
        }
        bagit.make_bag(str(bag), information, checksums=["sha256"])
        if target.exists():
            shutil.rmtree(target)
        bag.rename(target)
    return [target]


def _image_files(material: Material) -> Iterator[Path]:
    """The file with the image of each page; many pages may share one, such as a PDF."""
    for page in material.pages:
        if page.image:
            scan = PdfPage.match(page.image)
            yield scan.file if scan else page.image


FORM = ExportForm("bagit", _write, takes_pages=True)
