"""Write docs/licences.md: under what terms all that `pip install hanproof` brings along stands, by its own metadata.

`--check` writes nothing and fails where the file lacks something that is installed, or has other terms for
it. Either fails where terms are not among those that a program under the Apache License 2.0 can depend on.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements" / "run.txt"
TABLE = ROOT / "docs" / "licences.md"

PERMISSIVE = re.compile(
    "0BSD|Apache-2.0|BSD|BSD-[23]-Clause|CC0-1.0|CNRI-Python|HPND|ISC|MIT|MIT-0|MIT-CMU|PSF-2.0|Public Domain"
    "|Python-2.0|TCL|Unlicense|ZPL-2.1|Zlib"
)
WEAK = re.compile("MPL-2.0|LGPL(-[23][.][01]-(only|or-later))?")
"""A library under these is used as it is; what is changed in the library itself stays under them."""

SPELLED = {
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache License": "Apache-2.0",
    "Apache 2": "Apache-2.0",
    "Apache2": "Apache-2.0",
    "Apache": "Apache-2.0",
    "BSD License": "BSD",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "BSD 3-Clause": "BSD-3-Clause",
    "New BSD": "BSD-3-Clause",
    "Dual License": "Apache-2.0 OR BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "BSD-3-Clause, Apache-2.0, dependency licenses": "BSD-3-Clause AND Apache-2.0",
    "GNU Library or Lesser General Public License (LGPL)": "LGPL",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "MIT License": "MIT",
    "MIT license": "MIT",
    "The MIT License (MIT)": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "PSFL": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
    "Zope Public License": "ZPL-2.1",
    "ZPL 2.1": "ZPL-2.1",
}

HEAD = """# Licences

`pip install hanproof` brings these packages along, each under the terms that its metadata name. Their versions stand in
`requirements/run.txt`. `make licences` writes this page anew, and a test holds it to what is installed. None keeps a
program under the Apache License 2.0 from depending on it: those marked *weak* ask only that changes of the library
itself stay under their terms. The recognition models, PP-OCRv6 of the PaddleOCR project, are part of the distribution
under Apache-2.0; their terms lie beside them in the package `hanproof_models`. The wheels of OpenCV, NumPy and others
hold further libraries, whose terms lie beside them in `*.dist-info`.

| package | licence | |
| --- | --- | --- |
"""


def locked() -> list[str]:
    """The packages of the lock, in its order, without those for another system or Python alone."""
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line.rstrip(" \\")) for line in lines if line[:1].isalnum()]
    return [requirement.name for requirement in wanted if requirement.marker is None or requirement.marker.evaluate()]


def licence_of(name: str) -> str:
    """What a package says of its terms, as an SPDX expression where it can be told; empty where it says nothing."""
    fields = metadata.metadata(name)
    if "License-Expression" in fields:
        return fields["License-Expression"]
    granted = ("License :: OSI Approved", "License :: Public Domain")
    classifiers = [value for value in fields.get_all("Classifier", []) if value.startswith(granted)]
    named = [classifier.rpartition(" :: ")[2] for classifier in classifiers]
    named = [name for name in named if name != "OSI Approved"]
    line = fields["License"].strip().splitlines() if "License" in fields else []
    short = line[0].strip().strip('"') if line else ""
    if short in SPELLED or PERMISSIVE.fullmatch(short) or WEAK.fullmatch(short):
        named = [short]
    return " AND ".join(sorted({SPELLED.get(name, name) for name in named})) or short


def allowed(licence: str) -> str | None:
    """`""` for terms without conditions on what is linked, `weak` for those of a library alone, None for others."""
    if not licence:
        return None
    marks = []
    for part in re.split(r" AND ", licence):
        choices = [choice.strip("() ") for choice in re.split(r" OR ", part)]
        if any(PERMISSIVE.fullmatch(choice) for choice in choices):
            marks.append("")
        elif any(WEAK.fullmatch(choice) for choice in choices):
            marks.append("weak")
        else:
            return None
    return max(marks)


def table() -> tuple[str, list[str]]:
    """The page, and the packages whose terms have to be looked at."""
    rows, doubtful = [], []
    for name in locked():
        try:
            licence = licence_of(name)
        except metadata.PackageNotFoundError:
            continue  # for another system or Python
        mark = allowed(licence)
        if mark is None:
            doubtful.append(f"{name}: {licence or 'says nothing of its terms'}")
        rows.append(f"| {name} | {licence} | {mark or ''} |")
    return HEAD + "\n".join(dict.fromkeys(rows)) + "\n", doubtful


def main() -> int:
    page, doubtful = table()
    if doubtful:
        sys.stderr.write("terms to be looked at:\n" + "\n".join(doubtful) + "\n")
        return 1
    if "--check" in sys.argv[1:]:
        there = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.is_file() else []
        gone = [line for line in page.splitlines() if line not in there]
        sys.stderr.write(f"{TABLE}: make licences; it lacks\n" + "\n".join(gone) if gone else "")
        return 1 if gone else 0
    TABLE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
