# SPDX-License-Identifier: MIT
"""Tests of pytest as children of this process, which has it already, and what most of them import
beside it: that takes long.

Such a test finds around it what a program finds that was started: see test_circumstances.py.
"""

import atexit
import contextlib
import ctypes
import gc
import io
import os
import runpy
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

_TOP = Path(__file__).resolve().parents[2]
_PROGRAM = _TOP / "tests" / "pytest-tap"
_HANDLED = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)  # by Python itself
_AT_START = ("PYTHON", "LD_", "LANG", "LC_")
# Meson sets it for all that need a library of ours, which are most tests. It is for what they
# start: a test's own process names a library by its path, and that one finds others by itself.
_OF_PROGRAMS = "LD_LIBRARY_PATH"
_M_PERTURB = -6  # of malloc.h: what MALLOC_PERTURB_ sets where a program starts

_is_prepared = False


class Forked:
    """As much of a Popen as is needed."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None


def prepare() -> None:
    """Before many tests, of a process that is to run these and nothing else."""
    global _is_prepared
    for name in ("pytest", "pytest_timeout", "numpy", "PIL.Image"):
        __import__(name)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        sys.modules["pytest"].main(["--version"])  # and so it has its own parts as well
    gc.collect()
    gc.freeze()  # no child looks at it, and so it is copied for none
    _is_prepared = True


def can_start(words: Sequence[str], env: Mapping[str, str]) -> bool:
    """Not what is to find modules elsewhere: that is read where a program starts."""
    if not _is_prepared or Path(words[0]) != _PROGRAM:
        return False
    here, there = (
        {
            name: value
            for name, value in one.items()
            if name.startswith(_AT_START) and name != _OF_PROGRAMS
        }
        for one in (os.environ, env)
    )
    return here == there


def start(words: Sequence[str], env: Mapping[str, str], out: int, err: int) -> Forked:
    """In a session of its own, with these outputs and an input that has an end."""
    child = os.fork()
    if child == 0:
        _run(words, env, out, err)
    return Forked(child)


def _run(words: Sequence[str], env: Mapping[str, str], out: int, err: int) -> NoReturn:
    status = 1
    try:
        os.setsid()
        for number in _HANDLED:
            signal.signal(number, signal.SIG_IGN if number in _IGNORED else signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        _become(words, env, out, err)
        runpy.run_path(words[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # nothing of the runner's goes on here
        traceback.print_exc()
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


def stand_alone(env: Mapping[str, str], out: int, err: int) -> None:
    """This process has these outputs, no other descriptors than them and its input, and this
    environment: as a program that was started."""
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    sys.stdin = sys.__stdin__ = open(0, closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)
    sys.stderr = sys.__stderr__ = open(
        2, "w", buffering=1, errors="backslashreplace", closefd=False
    )
    os.environ.clear()
    os.environ.update(env)


def _become(words: Sequence[str], env: Mapping[str, str], out: int, err: int) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    stand_alone(env, out, err)
    ctypes.CDLL(None).mallopt(_M_PERTURB, int(env["MALLOC_PERTURB_"]))
    tempfile.tempdir = None  # $TMPDIR is another one
    sys.argv = [*words]
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", None)).startswith(f"{_TOP}/"):
            del sys.modules[name]  # ours, as the runner has it
