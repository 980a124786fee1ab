"""The OpenCV that is imported. Two distributions write into the one folder `cv2`, and the one installed last is there.

Both must be one version, since each leaves files there that only its own version fits. That either of them works where
a desktop's libraries are missing is tested in tests/images/test_opencv.py.
"""

from __future__ import annotations

import sys
import tomllib
from importlib import metadata
from pathlib import Path

from proof.images.opencv import cv2

VERSION = "4.10.0.84"
PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


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


def test_no_other_extension_module_of_opencv_lies_beside_it() -> None:
    folder = Path(sys.modules["cv2"].__file__ or "").parent
    assert len([path for path in folder.iterdir() if path.suffix in {".so", ".pyd"}]) == 1
