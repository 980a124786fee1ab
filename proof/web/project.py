"""The project that an application serves: its settings, its store and its images."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import cast

from flask import current_app

from proof.checking.recheck import Rechecker
from proof.errors import OutputError, os_errors_as
from proof.locale.marking import _
from proof.settings.config import Settings
from proof.store import Store
from proof.web.attempts import Attempts
from proof.web.download_jobs import DownloadJobs
from proof.web.glyph_orders import GlyphOrders
from proof.web.images import Images
from proof.web.rate_limit import RateLimiter
from proof.web.rereading import Rereading

SECRET_FILE = ".proof-secret"  # noqa: S105 - its name, not its content


@dataclass(frozen=True, slots=True)
class Project:
    """A served project. `person` is the author of all decisions if there are no accounts."""

    settings: Settings
    store: Store
    images: Images
    person: str
    reader: Rechecker
    rereading: Rereading
    glyphs: GlyphOrders
    downloads: DownloadJobs
    attempts: Attempts
    reports: RateLimiter
    """The reports of readers in the last hour, by network."""


def project() -> Project:
    """The project of the running application."""
    return cast(Project, current_app.extensions["proof"])


def secret_of(settings: Settings) -> str:
    """The key that signs sessions. It is generated once and kept in a file that only its owner can read. Raises
    OutputError if it cannot be kept."""
    path = (settings.folder or settings.project.out) / SECRET_FILE
    with os_errors_as(OutputError, _("%(path)s: the key of the sessions cannot be kept there (%(reason)s)"), path=path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            secret = path.read_text(encoding="ascii").strip()
            if len(secret) >= 32:
                return secret
            path.unlink()  # incomplete
            return secret_of(settings)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(32))
        # read it back: another process may have found the file still empty and replaced it
        return path.read_text(encoding="ascii").strip()
