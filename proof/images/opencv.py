"""Imports OpenCV for the whole program: `from proof.images.opencv import cv2`.

OpenCV's own threads are switched off. The program's threads keep all cores busy, and a process forked from one with
such threads would wait for ever for threads that do not exist in it when it changes their number.
"""

from __future__ import annotations

from proof.errors import EngineError
from proof.locale.marking import _

try:
    import cv2
except ImportError as error:
    # paddleocr installs opencv-contrib-python, whose window functions need libraries that a bare machine lacks. It has
    # the same folder as the headless distribution, so the one that was installed last is imported.
    raise EngineError(
        _(
            "OpenCV cannot be loaded (%(error)s): pip install --force-reinstall --no-deps "
            "opencv-python-headless==4.10.0.84"
        ),
        error=error,
    ) from error

cv2.setNumThreads(1)

__all__ = ["cv2"]
