#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a program with a file of a FUSE file system whose only page never comes.

    stuck_page.py PROGRAM [ARGUMENT...]

The file's path is the program's last argument. A thread that touches a mapping of it waits for
good, and has meanwhile what the kernel had locked for its system call. Ends as the program does.
Where nothing can be mounted, says so as a test that is skipped.
"""

import os
import signal
import struct
import sys
import tempfile
import time
from contextlib import suppress

from lib.program import is_alive
from stuck_file import ENOSYS, answer, mount

READ = 15


def serve(fuse: int) -> None:
    with suppress(OSError):  # it is unmounted with the last process in its name space
        while True:
            request = os.read(fuse, 1 << 17)
            _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
            if opcode != READ:
                body = answer(opcode, node)
                error = 0 if body is not None else -ENOSYS
                body = body or b""
                os.write(fuse, struct.pack("<IiQ", 16 + len(body), error, unique) + body)


def main() -> None:
    folder = tempfile.mkdtemp(prefix="gid-stuck-")
    try:
        fuse = mount(folder)
    except OSError as error:
        os.rmdir(folder)
        print(f"1..0 # SKIP nothing can be mounted: {error}")
        return
    server = os.fork()
    if server == 0:
        serve(fuse)
        os._exit(0)
    program = os.fork()
    if program == 0:
        os.close(fuse)
        os.execvp(sys.argv[1], [*sys.argv[1:], f"{folder}/file"])
    os.close(fuse)
    # Of a program that ended, the threads that wait for the page stay until nobody serves it.
    while is_alive(program):
        time.sleep(0.05)
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    _, status = os.waitpid(program, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
