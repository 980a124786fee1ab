"""How much of the material a run tests: a cross-section with every kind of it, or all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TypeVar

from hypothesis import settings

from proof.locale.languages import LANGUAGES

T = TypeVar("T")


def looks_wide() -> bool:
    """Whether the run tests everything: `--hypothesis-profile=wide`."""
    return settings.get_current_profile_name() == "wide"


def examples(few: int) -> int:
    """The number of examples of a slow test: `few`, or twenty times as many in a wide run."""
    return 20 * few if looks_wide() else few


def cross_section(items: Sequence[T], count: int, kind: Callable[[T], object] = lambda item: None) -> list[T]:
    """At most `count` of the items of each `kind`, evenly distributed; all in a wide run."""
    if looks_wide():
        return list(items)
    kinds: dict[object, list[T]] = {}
    for item in items:
        kinds.setdefault(kind(item), []).append(item)
    return [item for every in kinds.values() for item in every[:: -(-len(every) // count)]]


def looks() -> list[tuple[str, str]]:
    """The languages and themes in which pages are tested: one pair, or all pairs in a wide run."""
    return list(product(LANGUAGES, ("light", "dark"))) if looks_wide() else [("zh-Hant", "dark")]
