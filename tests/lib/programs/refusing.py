#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""refusing.py ERROR CALL… -- COMMAND…: the kernel answers these system calls of a command, and of
all that it starts, with an error, as the seccomp filter of a container does."""

import ctypes
import errno
import os
import sys

ALLOW, ERRNO = 0x7FFF0000, 0x00050000  # of seccomp(2)


def refuse(number: int, calls: list[str]) -> None:
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    filter_ = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ALLOW)))
    for call in calls:
        what = library.seccomp_syscall_resolve_name(call.encode())
        action = ctypes.c_uint32(ERRNO | number)
        if library.seccomp_rule_add_array(filter_, action, what, 0, None) < 0:
            sys.exit(f"refusing: there is no call {call}")
    if library.seccomp_load(filter_) < 0:
        sys.exit("refusing: the kernel takes no filter")


def main() -> None:
    words = sys.argv[1:]
    end = words.index("--")
    refuse(getattr(errno, words[0]), words[1:end])
    os.execvp(words[end + 1], words[end + 1 :])


if __name__ == "__main__":
    main()
