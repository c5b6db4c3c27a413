# SPDX-License-Identifier: MIT
"""Folders of the user's: a runtime folder for what is tried, measured or shown, and the cache."""

import os
import tempfile
from pathlib import Path

_MEMORY = "/dev/shm"
_ROOM = 4 << 30  # bytes, for windows of machines, logs, and what is leaked there
_LONGEST = 40  # bytes: a socket's path has 108


def home() -> Path:
    """Who has no HOME, and a number that is no user's, has the root: as in many containers."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def cache_home() -> Path:
    """A variable that is empty says nothing, nor does a relative one: from each folder it would be
    another."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return named if named.is_absolute() else home() / ".cache"


def short_folder() -> str:
    """For temporary files, sockets among them: TMPDIR's may be too long for these."""
    folder = tempfile.gettempdir()
    return folder if len(os.fsencode(folder)) <= _LONGEST else "/tmp"


def memory_folder() -> str:
    """The user's own TMPDIR, if it is short, else memory, as /run is.

    All that machines share lies in a runtime folder. On a disk it is written there as well, and who
    writes a page of it can have to wait for that.
    """
    if os.environ.get("TMPDIR") and tempfile.gettempdir() == short_folder():
        return short_folder()
    try:
        memory = os.statvfs(_MEMORY)
    except OSError:  # not every container has it
        return "/tmp"
    has_room = memory.f_bavail * memory.f_frsize >= _ROOM
    runs_programs = not memory.f_flag & os.ST_NOEXEC  # as tests make them
    return _MEMORY if has_room and runs_programs and os.access(_MEMORY, os.W_OK) else "/tmp"
