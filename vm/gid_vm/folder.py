# SPDX-License-Identifier: MIT
"""Where a runtime folder is made that lives no longer than what is tried, measured or shown."""

import os
import tempfile

_MEMORY = "/dev/shm"
_ROOM = 4 << 30  # bytes, for windows of machines, logs, and what is leaked there
_LONGEST = 40  # letters: a socket's path has 108 bytes


def memory_folder() -> str:
    """The user's own TMPDIR, if it is short, else memory, as /run is.

    All that machines share lies in a runtime folder. On a disk it is written there as well, and who
    writes a page of it can have to wait for that.
    """
    if os.environ.get("TMPDIR") and len(tempfile.gettempdir()) <= _LONGEST:
        return tempfile.gettempdir()
    try:
        memory = os.statvfs(_MEMORY)
    except OSError:  # not every container has it
        return "/tmp"
    has_room = memory.f_bavail * memory.f_frsize >= _ROOM
    runs_programs = not memory.f_flag & os.ST_NOEXEC  # as tests make them
    return _MEMORY if has_room and runs_programs and os.access(_MEMORY, os.W_OK) else "/tmp"
