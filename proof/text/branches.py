"""Files of a branch of a git repository, as the Kanseki Repository keeps the editions of a text.

They are read with dulwich, so that no program of the repository's configuration is run, nothing is fetched or checked
out, and git need not be installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dulwich.errors import NotGitRepository
from dulwich.objects import Blob, Commit, Tag
from dulwich.objectspec import parse_commit
from dulwich.repo import Repo

from proof.errors import TextError
from proof.locale.marking import _
from proof.paths import natural


def branch_files(repository: Path, revision: str) -> list[tuple[str, bytes]]:
    """The texts at the root of a branch, a tag or a commit: names and bytes, in natural order. A branch that was
    fetched but never checked out is found, too. Raises TextError if there is no such repository or branch."""
    texts = []
    with _opened(repository, revision) as repo:
        commit = _commit(repo, repository, revision)
        for entry in repo.object_store.iter_tree_contents(commit.tree):
            name = (entry.path or b"").decode("utf-8", "replace")
            blob = repo.object_store[entry.sha] if entry.sha and _is_text(name) else None
            if isinstance(blob, Blob):
                texts.append((name, blob.data))
    if not texts:
        raise TextError(repository, None, _("branch %(revision)s has no texts (*.txt) at its root"), revision=revision)
    return sorted(texts, key=lambda text: natural(text[0]))


def branch_state(repository: Path, revision: str) -> bytes:
    """The id of the commit of a branch, a tag or a commit. Raises TextError."""
    with _opened(repository, revision) as repo:
        return bytes(_commit(repo, repository, revision).id)


@contextmanager
def _opened(repository: Path, revision: str) -> Iterator[Repo]:
    """A repository, to read a revision. Raises TextError where it is none, or lacks what the revision refers to."""
    try:
        with Repo(str(repository)) as repo:
            yield repo
    except NotGitRepository:
        raise TextError(
            repository, None, _("is no git repository, so it has no branch %(revision)s"), revision=revision
        ) from None
    except (KeyError, OSError, ValueError) as error:
        raise TextError(
            repository, None, _("branch %(revision)s cannot be read (%(error)s)"), revision=revision, error=error
        ) from error


def _is_text(name: str) -> bool:
    return "/" not in name and name.endswith(".txt")


def _commit(repo: Repo, repository: Path, revision: str) -> Commit:
    refs = {bytes(name): target for name, target in repo.refs.as_dict().items()}
    wanted = revision.encode()
    names = [b"refs/heads/" + wanted, b"refs/tags/" + wanted, b"refs/remotes/origin/" + wanted]
    names += sorted(name for name in refs if name.startswith(b"refs/remotes/") and name.endswith(b"/" + wanted))
    for name in names:
        if name in refs:
            target = repo[refs[name]]
            while isinstance(target, Tag):
                target = repo[target.object[1]]
            if isinstance(target, Commit):
                return target
    try:
        return parse_commit(repo, wanted)
    except (KeyError, ValueError):
        known = sorted({name.rpartition(b"/")[2].decode("utf-8", "replace") for name in refs} - {"HEAD"})
        there = ", ".join(known) or "none"
        raise TextError(
            repository, None, _("has no branch %(revision)s; there are: %(there)s"), revision=revision, there=there
        ) from None
