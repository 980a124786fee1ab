"""Whether anything of the lock has a known vulnerability, by pip-audit.

The exit status is 0 where all was looked up and none was found, 1 where one was, and 2 where no index of them can be
reached, or where one does not know some packages: what was not checked is said.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "requirements" / "dev.txt"
SERVICES = ("pypi", "osv")
FOUND, UNCHECKED = 1, 2


def looked_up(service: str) -> list[dict[str, object]] | None:
    """What an index of vulnerabilities says of every package; None where it cannot be reached."""
    line = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--progress-spinner", "off"]
    line += ["--vulnerability-service", service, "--format", "json", "--requirement", str(LOCK)]
    ran = subprocess.run(line, capture_output=True, text=True, check=False)  # noqa: S603
    try:
        record: list[dict[str, object]] = json.loads(ran.stdout)["dependencies"]
    except (ValueError, KeyError):
        return None
    return None if all("skip_reason" in entry for entry in record) else record


def main() -> int:
    """Ask one service after the other until one answers."""
    for service in SERVICES:
        packages = looked_up(service)
        if packages is None:
            sys.stderr.write(f"{service}: no index of vulnerabilities can be reached there from here\n")
            continue
        skipped = [package["name"] for package in packages if "skip_reason" in package]
        bad = [package for package in packages if package.get("vulns")]
        for package in bad:
            sys.stdout.write(
                f"{package['name']} {package['version']}: {json.dumps(package['vulns'], ensure_ascii=False)}\n"
            )
        sys.stdout.write(f"{len(packages) - len(skipped)} packages looked up, {len(bad)} with known vulnerabilities\n")
        if skipped:
            sys.stderr.write(f"not known there: {', '.join(map(str, skipped))}\n")
        return FOUND if bad else UNCHECKED if skipped else 0
    sys.stderr.write("nothing was checked\n")
    return UNCHECKED


if __name__ == "__main__":
    raise SystemExit(main())
