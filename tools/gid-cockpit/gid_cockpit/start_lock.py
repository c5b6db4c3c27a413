# SPDX-License-Identifier: MIT
"""One start of a domain at a time: whoever comes second finds it running."""

import fcntl
import os
import pwd
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gid_console import say

from .access import check_place, give, user_of
from .configuration import CockpitError, Configuration, Domain
from .process import START_SECONDS

NAME = "start.lock"
TELL_SECONDS = 1.0
HOW = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def start_lock(configuration: Configuration, domain: Domain) -> Iterator[None]:
    """Held while the domain is started; others wait for it here, and then look whether it runs.

    Two QEMUs of a guest would share its windows. The second would listen in place of the first,
    which nobody could end any more.
    """
    user = user_of(domain)
    check_place(configuration.runtime)
    path = configuration.runtime / domain.name / NAME
    give(path.parent, user)
    lock = _open(path, user)
    try:
        _await(lock, path, domain)
        yield
    finally:
        os.close(lock)


def _open(path: Path, user: pwd.struct_passwd | None) -> int:
    """A descriptor. The file is the domain's, whose user may start it another time."""
    try:
        folder = os.open(path.parent, HOW | os.O_RDONLY | os.O_DIRECTORY)
    except NotADirectoryError:
        raise CockpitError(f"{path.parent} must be a folder, and no link") from None
    except OSError as error:
        raise CockpitError(f"{path.parent}: {error.strerror}") from None
    try:
        return _open_in(folder, path, user)
    except OSError as error:
        raise CockpitError(f"{path}: {error.strerror}") from None
    finally:
        os.close(folder)


def _open_in(folder: int, path: Path, user: pwd.struct_passwd | None) -> int:
    """The user could put another file in its place, whose owner would find it locked."""
    how = HOW | os.O_RDWR
    try:
        lock = os.open(NAME, how | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
        if user is not None:
            os.fchown(lock, user.pw_uid, user.pw_gid)
        return lock
    except FileExistsError:
        lock = os.open(NAME, how, dir_fd=folder)
    status = os.fstat(lock)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        os.close(lock)
        raise CockpitError(f"{path}: this is no lock of gid-cockpit: remove it")
    return lock


def _await(lock: int, path: Path, domain: Domain) -> None:
    begin, is_told = time.monotonic(), False
    while not _take(lock):
        passed = time.monotonic() - begin
        if passed > START_SECONDS:
            raise CockpitError(
                f"{domain.name} is not started: for {passed:.0f} s another process has {path} "
                "locked, which starts it, too"
            )
        if passed > TELL_SECONDS and not is_told:
            say(f"{domain.name}: another process is starting it; this one waits")
            is_told = True
        time.sleep(0.05)


def _take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
