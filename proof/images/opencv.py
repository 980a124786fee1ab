"""OpenCV: `from proof.images.opencv import cv2`.

OpenCV's own threads are switched off: the program's threads keep all cores busy, and in a process forked from one with
such threads, changing their number would wait for ever for threads that do not exist there.
"""

from __future__ import annotations

from proof.errors import EngineError
from proof.locale.marking import _

try:
    import cv2
except ImportError as error:
    # paddleocr installs opencv-contrib-python, whose window functions need libraries that a bare machine lacks. It
    # shares its folder with the headless distribution, and the one installed last is imported.
    raise EngineError(
        _(
            "OpenCV cannot be loaded (%(error)s): pip install --force-reinstall --no-deps "
            "opencv-python-headless==4.10.0.84"
        ),
        error=error,
    ) from error

cv2.setNumThreads(1)

__all__ = ["cv2"]
