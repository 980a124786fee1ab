"""Files of a branch of a git repository: the Kanseki Repository keeps each edition of a text in a branch.

They are read with dulwich: git need not be installed, nothing is fetched or checked out, and no program of the
repository's configuration is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dulwich.errors import NotGitRepository
from dulwich.objects import Blob, Commit, Tag
from dulwich.objectspec import parse_commit
from dulwich.repo import Repo

from proof.errors import TextError
from proof.locale.marking import Sentence, _
from proof.paths import natural

_REF_PREFIX = re.compile(r"refs/(?:heads|tags|remotes/[^/]+)/")
"""What precedes the name of a branch or a tag in the name of its reference."""


def branch_files(repository: Path, revision: str) -> list[tuple[str, bytes]]:
    """The names and bytes of the texts at the root of a branch, a tag or a commit, in natural order. The branch may be
    one that was only fetched. Raises TextError if there is no such repository or branch, or no text."""
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
    """The id of the commit that a branch or a tag refers to. Raises TextError."""
    with _opened(repository, revision) as repo:
        return bytes(_commit(repo, repository, revision).id)


@contextmanager
def _opened(repository: Path, revision: str) -> Iterator[Repo]:
    """Open a repository to read a revision. Raises TextError if it is no repository or lacks the objects."""
    try:
        with Repo(str(repository)) as repo:
            yield repo
    except NotGitRepository:
        raise TextError(
            repository, None, _("is not a git repository, so it has no branch %(revision)s"), revision=revision
        ) from None
    except (KeyError, OSError, ValueError) as error:
        raise TextError(
            repository, None, _("branch %(revision)s cannot be read (%(error)s)"), revision=revision, error=error
        ) from error


def _is_text(name: str) -> bool:
    return "/" not in name and name.endswith(".txt")


def _commit(repo: Repo, repository: Path, revision: str) -> Commit:
    refs = {bytes(name): target for name, target in repo.refs.as_dict().items()}
    name = revision.encode()
    candidates = [b"refs/heads/" + name, b"refs/tags/" + name, b"refs/remotes/origin/" + name]
    candidates += sorted(ref for ref in refs if ref.startswith(b"refs/remotes/") and ref.endswith(b"/" + name))
    for ref in candidates:
        if ref in refs:
            target = repo[refs[ref]]
            while isinstance(target, Tag):
                target = repo[target.object[1]]
            if isinstance(target, Commit):
                return target
    try:
        return parse_commit(repo, name)
    except (KeyError, ValueError):
        branches = sorted({_REF_PREFIX.sub("", ref.decode("utf-8", "replace")) for ref in refs} - {"HEAD"})
        raise TextError(
            repository,
            None,
            _("has no branch %(revision)s; there are: %(there)s"),
            revision=revision,
            there=", ".join(branches) or Sentence(_("none")),
        ) from None
