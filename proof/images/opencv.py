"""OpenCV: `from proof.images.opencv import cv2`.

It computes without threads of its own. Those of the program keep every core busy; and in a process that is forked from
one where OpenCV has such threads, whatever changes their number waits for them without end, since they are not there.
"""

from __future__ import annotations

from proof.errors import EngineError

try:
    import cv2
except ImportError as error:
    # paddleocr brings opencv-contrib-python along, whose windows want libraries that a bare machine lacks. It lies in
    # the same folder as the distribution without windows, and what was installed last is what is imported.
    raise EngineError(
        f"OpenCV cannot be loaded ({error}): pip install --force-reinstall --no-deps opencv-python-headless==4.10.0.84"
    ) from error

cv2.setNumThreads(1)

__all__ = ["cv2"]
