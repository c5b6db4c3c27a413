# SPDX-License-Identifier: MIT
"""One start of a domain at a time: whoever comes second finds it running."""

import fcntl
import os
import pwd
import re
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
ANOTHERS_SECONDS = 10.0  # for who is neither we nor root, and may hold it for as long as he likes
LOCKS = Path("/proc/locks")
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
        _await(lock, path, domain, user)
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


def _await(lock: int, path: Path, domain: Domain, user: pwd.struct_passwd | None) -> None:
    begin, is_told = time.monotonic(), False
    while not _take(lock):
        passed = time.monotonic() - begin
        if passed > TELL_SECONDS:
            holder = _holder(lock)
            is_start = user is None or (holder is not None and _owner(holder) == os.geteuid())
            if passed > (START_SECONDS if is_start else ANOTHERS_SECONDS):
                raise CockpitError(
                    f"{domain.name} is not started: for {passed:.0f} s {_name(holder)} has {path} "
                    "locked: end it, unless it starts the domain"
                )
            if not is_told:
                say(f"{domain.name}: {_name(holder)} is starting it; this one waits")
                is_told = True
        time.sleep(0.05)


def _take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(lock: int) -> int | None:
    """The process that locked it, where the kernel says so: one that is gone may be said, too."""
    status = os.fstat(lock)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    found = re.search(rf"FLOCK .* (\d+) {device}:{status.st_ino} ", LOCKS.read_text())
    return int(found[1]) if found is not None else None


def _owner(process: int) -> int | None:
    """Its user."""
    try:
        return Path("/proc", str(process)).stat().st_uid
    except FileNotFoundError:
        return None


def _name(process: int | None) -> str:
    owner = _owner(process) if process is not None else None
    if owner is None:
        return "another process"
    try:
        user = pwd.getpwuid(owner).pw_name
    except KeyError:
        user = str(owner)
    return f"process {process} of {user}"
