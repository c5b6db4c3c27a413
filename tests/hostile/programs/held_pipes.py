# SPDX-License-Identifier: MIT
"""Gives a Weston a pipe that a thread of ours has locked in the kernel, for good.

    held_pipes.py SOCKET PID PROTOCOL... FILE

FILE is what stuck_page.py made. Weston, whose process is PID, has the pipe's last descriptor, and
closes it, for a pipe is no memory. Writes a line when it has been sent, and stays.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

from held_locks import hold, stuck_page

from lab.domains.wayland import Display


def main() -> None:
    path, weston, *protocols, file = sys.argv[1:]
    page = stuck_page(file)
    ours, given = os.pipe()
    os.write(given, bytes(10))
    hold("read", ours, ctypes.c_void_p(page), 10)
    with Display(Path(path), [Path(protocol) for protocol in protocols]) as display:
        shm = display.bind("wl_shm")
        os.kill(int(weston), signal.SIGSTOP)
        shm("create_pool", given, 4096)
        os.close(given)
        os.kill(int(weston), signal.SIGCONT)
        print("sent", flush=True)
        while True:
            signal.pause()


if __name__ == "__main__":
    main()
