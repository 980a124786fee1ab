"""What a summary tells of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.report.summary import versions


def test_onnxruntime_is_told_with_its_version_where_it_is_the_distribution_for_gpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "onnxruntime_gpu-1.99.dist-info").mkdir()
    metadata = "Metadata-Version: 2.1\nName: onnxruntime-gpu\nVersion: 1.99\n"
    (tmp_path / "onnxruntime_gpu-1.99.dist-info" / "METADATA").write_text(metadata, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert versions("0.3.0")["onnxruntime-gpu"] == "1.99"
