"""Which OpenCV is imported. Three distributions write into the one folder `cv2`, the last one installed wins.

The headless build must: the others need libGL, which a bare machine lacks. All of them must be one version,
since each leaves files there that only its own version fits.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import cv2

VERSION = "4.10.0.84"
PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"

REINSTALL = f"pip install --force-reinstall --no-deps opencv-python-headless=={VERSION}"


def opencv_distributions() -> dict[str, str]:
    found = ((each.name.lower().replace("_", "-"), each.version) for each in metadata.distributions())
    return {name: version for name, version in found if name.startswith("opencv")}


def test_opencv_is_4_10() -> None:
    assert cv2.__version__ == "4.10.0"


def test_every_installed_opencv_is_the_same_version() -> None:
    installed = opencv_distributions()
    assert {"opencv-contrib-python", "opencv-python-headless"} <= installed.keys()
    assert set(installed.values()) == {VERSION}, installed


def test_pyproject_pins_both() -> None:
    requirements = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    opencv = sorted(each for each in requirements if each.startswith("opencv"))
    assert opencv == [f"opencv-contrib-python=={VERSION}", f"opencv-python-headless=={VERSION}"]


def test_the_imported_library_is_the_headless_one() -> None:
    imported = Path(sys.modules["cv2"].__file__ or "").parent
    libraries = [
        (Path(str(file.locate())), file.hash)
        for file in metadata.files("opencv-python-headless") or []
        if file.parent.name == "cv2" and file.name.startswith("cv2.") and file.suffix in {".so", ".pyd"}
    ]
    assert len(libraries) == 1, "the headless distribution has one extension module"
    for path, recorded in libraries:
        assert path.parent.resolve() == imported.resolve()
        assert recorded is not None
        digest = hashlib.new(recorded.mode, path.read_bytes()).digest()
        found = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        assert found == recorded.value, f"{path} is another distribution's: {REINSTALL}"


def test_no_other_extension_module_of_opencv_lies_beside_it() -> None:
    folder = Path(sys.modules["cv2"].__file__ or "").parent
    assert len([path for path in folder.iterdir() if path.suffix in {".so", ".pyd"}]) == 1
