"""The settings of checks on several machines, and of libraries of several works."""

from __future__ import annotations

from dataclasses import dataclass

from proof.settings.setting import ValueKind, setting_field


@dataclass(frozen=True, slots=True)
class ClusterSection:
    address: str = setting_field(
        ValueKind.TEXT,
        "",
        "scheduler of a Dask cluster whose workers check the pages, such as `tcp://scheduler:8786`; empty: this "
        "machine checks them",
    )
    images: str = setting_field(
        ValueKind.TEXT,
        "",
        "where the workers find the contents of `project.images`: a folder, or an address that they fetch it "
        "from (`s3://`, `https://`, `http://`, `file://`), one for each of those folders with spaces between;"
        " empty: at the same paths as here",
    )


@dataclass(frozen=True, slots=True)
class LibrarySection:
    first: str = setting_field(
        ValueKind.TEXT,
        "",
        "folders of a library whose works are checked before the others, with spaces between, in this order; `*` "
        "stands for anything (`KR1d* KR3*`)",
    )
