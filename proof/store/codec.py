"""Packs the characters of a page into one value, without any loss.

Each field is stored for all characters together (all lines, all offsets, all left edges ...), since similar values next
to each other compress better. The numbers of a field are stored in the narrowest form that represents all of them
exactly: rounded decimals as integers times a power of ten; others in single or, if necessary, double precision. Boxes
rounded to 0.1 pixel and probabilities rounded to five places take a third of the space of unrounded ones.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from proof.model.geometry import Box
from proof.model.result import CheckedCharacter
from proof.text.model import Row

FORMAT = 1
MAX_DECIMALS = 6
"""Maximum number of decimal places with which numbers are stored as scaled integers."""
INTEGER_LIMITS = {form: (int(np.iinfo(form).min), int(np.iinfo(form).max)) for form in ("<i1", "<i2", "<i4", "<i8")}
"""Minimum and maximum of each integer type, by its NumPy name, the narrowest type first."""

ROW_LETTERS = {Row.MAIN: "m", Row.RIGHT: "r", Row.LEFT: "l"}
ROW_OF = {letter: row for row, letter in ROW_LETTERS.items()}


def pack(characters: Sequence[CheckedCharacter]) -> bytes:
    """The packed form of a page's characters."""
    boxes = [character.box for character in characters]
    alternatives = [pair for character in characters for pair in character.alternatives]
    fields = {
        "line": _numbers([c.line for c in characters]),
        "offset": _numbers([c.offset for c in characters]),
        "length": _numbers([c.length for c in characters]),
        "row": "".join(ROW_LETTERS[c.row] for c in characters),
        "text": _texts([c.text for c in characters]),
        "read": _texts([c.read for c in characters]),
        "x": _numbers([box.x for box in boxes]),
        "y": _numbers([box.y for box in boxes]),
        "w": _numbers([box.w for box in boxes]),
        "h": _numbers([box.h for box in boxes]),
        "judged": "".join("n" if c.p_text is None else "y" for c in characters),
        "p_text": _numbers([c.p_text for c in characters if c.p_text is not None]),
        "count": _numbers([len(c.alternatives) for c in characters]),
        "other": _texts([text for text, _ in alternatives]),
        "p_other": _numbers([p for _, p in alternatives]),
    }
    return zlib.compress(msgpack.packb([FORMAT, fields]))


def unpack(data: bytes) -> tuple[CheckedCharacter, ...]:
    """The characters of a packed page. Raises ValueError for data that `pack` did not make."""
    try:
        version, fields = msgpack.unpackb(zlib.decompress(data))
        characters = tuple(_characters(fields)) if version == FORMAT else ()
    except (zlib.error, msgpack.UnpackException, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"packed characters are damaged: {error}") from error
    if version != FORMAT:
        raise ValueError(f"characters packed in form {version}, this version reads form {FORMAT}")
    return characters


def _characters(fields: dict[str, Any]) -> Iterable[CheckedCharacter]:
    """The characters of unpacked fields."""
    alternatives = zip(fields["other"], _floats(fields["p_other"]), strict=True)
    posteriors = iter(_floats(fields["p_text"]))
    boxes = zip(*(_floats(fields[name]) for name in "xywh"), strict=True)
    for line, offset, length, row, text, read, box, judged, alternative_count in zip(
        _integers(fields["line"]),
        _integers(fields["offset"]),
        _integers(fields["length"]),
        fields["row"],
        fields["text"],
        fields["read"],
        boxes,
        fields["judged"],
        _integers(fields["count"]),
        strict=True,
    ):
        yield CheckedCharacter(
            line=line,
            offset=offset,
            length=length,
            row=ROW_OF[row],
            text=text,
            box=Box(*box),
            read=read,
            p_text=next(posteriors) if judged == "y" else None,
            alternatives=tuple(next(alternatives) for _ in range(alternative_count)),
        )


def _texts(texts: list[str]) -> str | list[str]:
    """The texts as one string if each is one code point, as most are; else as a list. Iterating gives the texts."""
    return "".join(texts) if set(map(len, texts)) <= {1} else texts


@np.errstate(over="ignore", invalid="ignore")
def _numbers(values: Sequence[float]) -> list[Any]:
    """Numbers packed as [decimals, NumPy type, bytes]. An integer type of `INTEGER_LIMITS` holds the numbers times
    10 ** decimals; `<f4` and `<f8` hold the numbers themselves."""
    exact = np.asarray(values, dtype=np.float64)
    if not (np.signbit(exact) & (exact == 0)).any():  # integers have no negative zero
        for decimals in range(MAX_DECIMALS + 1):
            scaled = np.rint(exact * 10.0**decimals)
            if not (scaled / 10.0**decimals == exact).all():
                continue
            smallest, largest = (float(scaled.min()), float(scaled.max())) if scaled.size else (0.0, 0.0)
            for form, (lower, upper) in INTEGER_LIMITS.items():
                if lower <= smallest and largest < upper:
                    return [decimals, form, _planes(scaled.astype(form))]
    single = exact.astype("<f4")
    if np.array_equal(single.astype(np.float64), exact):
        return [0, "<f4", _planes(single)]
    return [0, "<f8", _planes(exact.astype("<f8"))]


def _floats(packed: list[Any]) -> list[float]:
    """The numbers that `_numbers` packed."""
    decimals, form, data = packed
    planes = np.frombuffer(data, dtype=np.uint8).reshape(np.dtype(form).itemsize, -1)
    values = np.ascontiguousarray(planes.T).view(form).reshape(-1).astype(np.float64)
    result: list[float] = (values / 10.0**decimals).tolist()
    return result


def _integers(packed: list[Any]) -> list[int]:
    return [int(value) for value in _floats(packed)]


def _planes(values: NDArray[Any]) -> bytes:
    """The bytes of `values`: all first bytes, then all second bytes and so on, which compresses better."""
    return values.view(np.uint8).reshape(-1, values.itemsize).T.tobytes()
