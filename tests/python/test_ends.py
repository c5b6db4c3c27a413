# SPDX-License-Identifier: MIT
"""The end of the interpreter, wherever a thread is then; and errors that go to other processes."""

import copy
import errno
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import gid
import pytest
from lib.cockpit import Cockpit

ENDS = """
import builtins, threading, time, gid

def use():
    with domain._connection:
        has_it.set()
        time.sleep(600)  # here the interpreter ends it

class Closing:
    def __del__(self):
        frame.release()
        consumer.close()

domain = gid.Domain()
producer = domain.producer("own", "R8", 8, 4, lease=60)
producer.submit([[1] * 8] * 4)
consumer = domain.consumer("own")
frame = consumer.frame(60)
builtins.closing = Closing()  # which goes last
has_it = threading.Event()
threading.Thread(target=use, daemon=True).start()
has_it.wait()
"""


def test_a_thread_was_using_what_is_closed_at_the_end(cockpit: Cockpit) -> None:
    """By a finalizer, which waited for it for ever."""
    program = cockpit.run("open", [sys.executable, "-c", ENDS])
    assert program.wait(60) == 0
    assert "a thread that was using this gid.Domain" in program.stderr


CANNOT_ASK = """
import sys, threading, gid

def use():
    with domain._connection:
        has_it.set()
        asked.wait()

def fail():
    asked.set()
    raise MemoryError

domain = gid.Domain()
has_it, asked = threading.Event(), threading.Event()
thread = threading.Thread(target=use)
thread.start()
has_it.wait()
sys.is_finalizing = fail
with domain._connection:
    print("has it")
thread.join()
"""


def test_who_waits_for_a_thread_cannot_ask_about_the_end(cockpit: Cockpit) -> None:
    """As without memory: the lock was taken all the same, with an error that nobody had."""
    program = cockpit.run("open", [sys.executable, "-c", CANNOT_ASK])
    assert (program.wait(60), program.stderr) == (0, "")
    assert "has it" in program.stdout


# --- errors ---

ERRORS = [
    kind for kind in vars(gid).values() if isinstance(kind, type) and issubclass(kind, OSError)
]


def make(kind: type[gid.GidError]) -> gid.GidError:
    if kind is gid.ProtectionError:
        return gid.ProtectionError(errno.EBADMSG, "it has changed", "check-mismatch")
    return kind(errno.ESTALE, "it was taken back")


def fail() -> None:
    raise make(gid.ProtectionError)


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_can_be_copied(kind: type[gid.GidError]) -> None:
    error = make(kind)
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(again) is kind and vars(again) == vars(error)
        assert (again.errno, again.strerror, str(again)) == (
            error.errno,
            error.strerror,
            str(error),
        )


def test_errors_come_out_of_a_pool() -> None:
    """One that could not be made again broke the pool, for all that is done in it."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        with pytest.raises(gid.ProtectionError, match="it has changed") as caught:
            pool.submit(fail).result(60)
        assert caught.value.reason == "check-mismatch"
        assert pool.submit(int).result(60) == 0
