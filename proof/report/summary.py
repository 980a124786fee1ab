"""The contents of `summary.json`: counts, findings, settings and times of a run."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from proof.locale.notices import as_record
from proof.model.flags import FINDING_KINDS
from proof.model.result import Status
from proof.report.tally import HiddenPair, Tally
from proof.store import StoredRunInfo

PACKAGES_OF_RESULT = (
    "onnxruntime",
    "onnxruntime-gpu",
    "openvino",
    "paddleocr",
    "opencv-python-headless",
    "numpy",
    "pillow",
    "sqlalchemy",
)
"""Packages whose versions can change the result."""


def summary(run: StoredRunInfo, tally: Tally) -> dict[str, Any]:
    """The contents of `summary.json`; `pages` maps each page id to its status."""
    info = run.info
    return {
        "work": info.work,
        "title": info.title,
        "texts": [
            {"path": text.path, "sha256": text.sha, "format": text.format, "script": text.script} for text in info.texts
        ],
        "pages": tally.statuses(),
        "totals": _totals(tally),
        "confusions": [
            {"transcribed": transcribed, "suggested": suggested, "count": count}
            for (transcribed, suggested), count in tally.pairs.most_common()
        ],
        "variants": _pairs_with_rules(tally.variants),
        "habits": _pairs_with_rules(tally.habits),
        "findings": list(map(as_record, run.findings)),
        "notices": {page.page: list(map(as_record, page.notices)) for page in tally.pages if page.notices},
        "engine": asdict(info.engine),
        "settings": dict(info.settings),
        "timing": _timing(run, tally),
        "versions": versions(info.version),
    }


def _pairs_with_rules(pairs: Counter[HiddenPair]) -> list[dict[str, Any]]:
    """Hidden pairs as JSON, the most frequent first."""
    return [pair._asdict() | {"count": count} for pair, count in pairs.most_common()]


def _totals(tally: Tally) -> dict[str, Any]:
    statuses = tally.by_status()
    return {
        "pages": {"all": len(tally.pages)} | {status.value: statuses[status] for status in Status},
        "characters": tally.characters,
        "raised": {kind.value: tally.flags[kind.value, True] for kind in FINDING_KINDS},
        "hidden": {kind.value: tally.flags[kind.value, False] for kind in FINDING_KINDS},
        "rate": {
            "raised_per_10000": None if tally.per_10_000 is None else round(tally.per_10_000, 3),
            "raised": tally.raised_where_checked,
            "characters": tally.characters,
        },
    }


def _timing(run: StoredRunInfo, tally: Tally) -> dict[str, Any]:
    seconds = run.seconds
    return {
        "started": run.started.isoformat(timespec="seconds"),
        "finished": run.finished.isoformat(timespec="seconds") if run.finished else None,
        "seconds": None if seconds is None else round(seconds, 3),
        "pages_per_second": round(len(tally.pages) / seconds, 3) if seconds else None,
        "pages_reused": run.reused,
        "seconds_of_pages": round(tally.seconds, 3),
    }


def versions(proof_version: str) -> Mapping[str, str]:
    """The versions of `proof`, of Python and of the installed `PACKAGES_OF_RESULT`."""
    installed = {"proof": proof_version, "python": platform.python_version()}
    for package in PACKAGES_OF_RESULT:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed
