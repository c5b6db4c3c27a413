# SPDX-License-Identifier: MIT
"""Domains of other users: each gets at what is its own, and at nothing of another's."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_cockpit.access import READ, WRITE, identity, let_in, user_of
from gid_cockpit.configuration import CockpitError, Domain

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes other users")


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="gid-", dir="/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


def may(user: str, path: Path) -> str:
    """What the user may do with the file, by trying."""
    script = 'test -r "$1" && printf r; test -w "$1" && printf w; true'
    return subprocess.run(
        ["sh", "-c", script, "sh", str(path)],
        capture_output=True,
        text=True,
        **identity(pwd.getpwnam(user)),
    ).stdout


def test_each_guests_user_has_its_own_windows(folder: Path) -> None:
    mine, shared, others = (folder / name for name in ("mine", "shared", "others"))
    for path in (mine, shared, others):
        path.touch(0o600)
    nobody, daemon = (pwd.getpwnam(name).pw_uid for name in ("nobody", "daemon"))
    let_in(mine, {nobody: READ | WRITE})
    let_in(shared, {nobody: READ, daemon: READ | WRITE})
    let_in(others, {daemon: READ | WRITE})
    assert [may("nobody", path) for path in (mine, shared, others)] == ["rw", "r", ""]
    assert [may("daemon", path) for path in (mine, shared, others)] == ["", "rw", "rw"]
    let_in(shared, {})  # whoever is no longer named is out
    assert [may(user, shared) for user in ("nobody", "daemon")] == ["", ""]


def test_who_runs_a_domain() -> None:
    assert user_of(Domain("open", 1, None, frozenset())) is None
    assert user_of(Domain("open", 1, "root", frozenset())) is None  # we are
    assert user_of(Domain("open", 1, "nobody", frozenset())).pw_name == "nobody"
    with pytest.raises(CockpitError, match="no-such-user"):
        user_of(Domain("open", 1, "no-such-user", frozenset()))
