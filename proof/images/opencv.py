"""OpenCV, whichever of its distributions lies in the folder `cv2`: `from proof.images.opencv import cv2`.

paddleocr brings opencv-contrib-python and rapidocr opencv-python-headless. Both write into that one folder, and which
is written last depends on the installer: pip goes by the alphabet, uv by what is unpacked first. The first of them
links Qt, for windows that this program never opens, and Qt links libGL and GLib, which a bare machine or a container
lacks: the import fails there. Then these libraries are stood in for by empty ones of their names, and OpenCV is loaded
with its functions bound when they are called, which those of a window never are. Nothing is written to the disk, and
where the libraries are there, or the headless distribution is, nothing of this is done.

It computes without threads of its own. Those of the program keep every core busy; and in a process that is forked from
one where OpenCV has such threads, whatever changes their number waits for them without end, since they are not there.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

from proof.errors import EngineError

REMEDY = "install libGL and GLib (Debian: libgl1 libglib2.0-0)"

OF_A_DESKTOP = ("libGL.so.1", "libglib-2.0.so.0", "libgthread-2.0.so.0")
"""What Qt links and a machine without a desktop lacks."""

_MACHINES = {"x86_64": 62, "aarch64": 183}
"""Numbers of processors in an ELF header, as `os.uname` calls them."""


def empty_library(name: str, machine: int) -> bytes:
    """A shared library of that name (DT_SONAME) without any symbol, for a processor with 64 bits, little-endian.

    The linker asks of one it has no more than a dynamic section: System V ABI, chapters 4 and 5.
    """
    header, segment, entries = 64, 56, 6
    dynamic = header + 2 * segment
    hashes = dynamic + 16 * entries
    symbols = hashes + 16
    strings = symbols + 24
    names = b"\0" + name.encode("ascii") + b"\0"
    size = strings + len(names)
    soname, hash_table, string_table, symbol_table, string_size, end = 14, 4, 5, 6, 10, 0
    tags = [(soname, 1), (hash_table, hashes), (string_table, strings), (symbol_table, symbols)]
    tags += [(string_size, len(names)), (end, 0)]
    return b"".join(
        [
            b"\x7fELF\2\1\1".ljust(16, b"\0"),
            struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, header, 0, 0, header, segment, 2, 0, 0, 0),
            struct.pack("<IIQQQQQQ", 1, 6, 0, 0, 0, size, size, 0x10000),  # loaded as a whole
            struct.pack("<IIQQQQQQ", 2, 6, dynamic, dynamic, dynamic, 16 * entries, 16 * entries, 8),
            *(struct.pack("<QQ", tag, value) for tag, value in tags),
            struct.pack("<4I", 1, 1, 0, 0),  # a hash table with the one symbol that stands for none
            bytes(24),
            names,
        ]
    )


def _stand_in() -> None:
    """Load an empty library for each that is missing; they stay for the life of the process. Raises OSError."""
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        raise OSError(f"no stand-in is known for {os.uname().machine}")
    written = []
    try:
        for name in OF_A_DESKTOP:
            try:
                ctypes.CDLL(name)
            except OSError:
                # each needs a path of its own, so they are closed together: the linker goes by the path
                written.append(os.memfd_create(name))
                os.write(written[-1], empty_library(name, machine))
                ctypes.CDLL(f"/proc/self/fd/{written[-1]}", mode=ctypes.RTLD_GLOBAL)
    finally:
        for file in written:
            os.close(file)


def _load_without_desktop(path: list[str]) -> None:
    """Import OpenCV once more, with what is missing stood in for. `path` is `sys.path` as it was before the first
    time, of which OpenCV's own loader leaves traces. Raises OSError, ImportError."""
    _stand_in()
    sys.path[:] = path
    vars(sys).pop("OpenCV_LOADER", None)
    for module in [name for name in sys.modules if name.partition(".")[0] == "cv2"]:
        del sys.modules[module]
    flags = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_LAZY)
    try:
        import cv2  # noqa: F401, PLC0415
    finally:
        sys.setdlopenflags(flags)


_path = list(sys.path)
try:
    import cv2
except ImportError as error:
    if sys.platform != "linux" or not str(error).startswith(OF_A_DESKTOP):
        raise
    try:
        _load_without_desktop(_path)
    except (OSError, ImportError) as second:
        raise EngineError(f"OpenCV cannot be loaded ({error}; {second}): {REMEDY}") from second
    import cv2

cv2.setNumThreads(1)

__all__ = ["cv2"]
