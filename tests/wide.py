"""How much of the material a run goes through: a cross-section that holds every kind of it, or all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TypeVar

from hypothesis import settings

from proof.locale.languages import LANGUAGES

T = TypeVar("T")


def looks_wide() -> bool:
    """Whether the run was asked to look at everything: `--hypothesis-profile=wide`."""
    return settings.get_current_profile_name() == "wide"


def examples(few: int) -> int:
    """How many examples something is tried with that takes long: so few, or twenty times as many where the run looks
    wide."""
    return 20 * few if looks_wide() else few


def cross_section(found: Sequence[T], count: int, kind: Callable[[T], object] = lambda one: None) -> list[T]:
    """At most so many of each `kind`, strewn evenly over all of it; all where the run looks wide."""
    if looks_wide():
        return list(found)
    kinds: dict[object, list[T]] = {}
    for one in found:
        kinds.setdefault(kind(one), []).append(one)
    return [one for every in kinds.values() for one in every[:: -(-len(every) // count)]]


def looks() -> list[tuple[str, str]]:
    """Languages and themes in which a page is looked at: one of each, or each with each where the run looks wide."""
    return list(product(LANGUAGES, ("light", "dark"))) if looks_wide() else [("zh-Hant", "dark")]
