# SPDX-License-Identifier: MIT
"""Folders of the user: the runtime folder for tests, measurements and demos, and the cache."""

import os
import tempfile
from pathlib import Path

_MEMORY = "/dev/shm"
_ROOM = 4 << 30  # bytes, for windows of machines, logs, and what tests leak there
_LONGEST = 40  # bytes: a socket's path has 108


def home() -> Path:
    """A user without HOME and without an entry in passwd has /, as in many containers."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def cache_home() -> Path:
    """Ignores XDG_CACHE_HOME if it is empty or relative (to any current folder)."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return named if named.is_absolute() else home() / ".cache"


def short_folder() -> str:
    """For temporary files, including sockets, for which TMPDIR may be too long."""
    folder = tempfile.gettempdir()
    return folder if len(os.fsencode(folder)) <= _LONGEST else "/tmp"


def memory_folder() -> str:
    """The user's own TMPDIR if it is short, else memory, like /run.

    Memory that machines share is in a runtime folder. On a disk its pages would be written back,
    and a program that writes to such a page can have to wait.
    """
    if os.environ.get("TMPDIR") and tempfile.gettempdir() == short_folder():
        return short_folder()
    try:
        memory = os.statvfs(_MEMORY)
    except OSError:  # some containers do not have it
        return "/tmp"
    has_room = memory.f_bavail * memory.f_frsize >= _ROOM
    runs_programs = not memory.f_flag & os.ST_NOEXEC  # tests create programs there
    return _MEMORY if has_room and runs_programs and os.access(_MEMORY, os.W_OK) else "/tmp"
