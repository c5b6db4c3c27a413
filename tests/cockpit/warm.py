# SPDX-License-Identifier: MIT
"""gid-cockpit as a child of this process, which has imported it already.

To start Python and import it takes most of the time of a command. What the child has is as of a
program that was started: its descriptors, its environment, its signals, and how it ends.
"""

import gc
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from subprocess import CompletedProcess
from typing import NoReturn

import gid_console
from gid_cockpit.cli import main
from lib.program import PATIENCE
from testing.forked import stand_alone


def run(words: Sequence[str], env: Mapping[str, str]) -> CompletedProcess[str]:
    """Runs it to its end, as subprocess.run() does that captures what it says."""
    (out, its_out), (err, its_err) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        _begin(words, env, its_out, its_err)
    os.close(its_out)
    os.close(its_err)
    said = {out: b"", err: b""}
    left, end = {out, err}, time.monotonic() + PATIENCE
    while left:
        ready, _, _ = select.select(left, [], [], max(0.0, end - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            break
        for fd in ready:
            more = os.read(fd, 1 << 16)
            said[fd] += more
            if not more:
                left.remove(fd)
    os.close(out)
    os.close(err)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert not left, f"waited {PATIENCE} s in vain for the end of {words}"
    return CompletedProcess(words, status, said[out].decode(), said[err].decode())


def _begin(words: Sequence[str], env: Mapping[str, str], out: int, err: int) -> NoReturn:
    status = 1
    try:
        gc.freeze()  # what it has of the test is not its own to close
        stand_alone(env, out, err)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # pytest's, of a test that takes too long
        gid_console.begin()
        status = main([*words])
    except BaseException:  # nothing of the test's goes on here
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(status)
