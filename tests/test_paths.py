"""Where the program's own files lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof import paths
from proof.errors import UsageError


def test_in_a_checkout_the_templates_lie_beside_the_package() -> None:
    assert (paths.templates_dir() / "report.html").is_file()


def test_in_a_wheel_templates_and_sample_lie_inside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "proof"
    (package / "templates").mkdir(parents=True)
    (package / "sample" / "pages").mkdir(parents=True)
    (package / "sample" / "config.toml").write_text("")
    monkeypatch.setattr(paths, "PACKAGE", package)
    assert paths.templates_dir() == package / "templates"
    assert paths.sample_dir() == package / "sample"


def test_an_installation_without_them_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "PACKAGE", tmp_path / "proof")
    with pytest.raises(UsageError, match="install the package again"):
        paths.templates_dir()
    with pytest.raises(UsageError, match="install the package again"):
        paths.sample_dir()
