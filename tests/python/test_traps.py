# SPDX-License-Identifier: MIT
"""Who uses it wrongly is told so: after a close, with other numbers, out of a signal's handler."""

import contextlib
import copy
import gc
import math
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

import gid
import numpy as np
import pytest
from gid._connection import Connection
from lib.cockpit import Cockpit
from lib.program import wait_for
from pairs import send

Pair = tuple[gid.Producer, gid.Consumer]
Domains = tuple[gid.Domain, gid.Domain]


# --- after the end ---


@pytest.mark.parametrize("keeps", (False, True))
def test_a_closed_domain_makes_nothing(cockpit: Cockpit, keeps: bool) -> None:
    """Also where an array keeps its connection."""
    domain = gid.Domain(str(cockpit.socket("open")))
    with domain.producer("own", "R8", 8, 4) as producer:
        kept = producer.slot().planes if keeps else ()
    domain.close()
    for call in (
        lambda: domain.consumer("own"),
        lambda: domain.producer("own", "R8", 8, 4),
        domain.status,
        lambda: domain.name,
    ):
        with pytest.raises(ValueError, match="the domain is closed"):
            call()
    assert repr(domain) == "<gid.Domain closed>"
    assert len(kept) == keeps
    domain.close()


def test_a_frame_after_its_consumer(pair: Pair) -> None:
    producer, consumer = pair
    send(producer, 1, metadata=b"found")
    frame = consumer.frame(60)
    picture = frame.picture
    assert frame.metadata == b"found"
    consumer.close()
    assert not frame.current
    with pytest.raises(gid.LeaseError, match="was taken back"):
        _ = frame.metadata
    with pytest.raises(gid.LeaseError, match="was taken back"):
        frame.copy()
    with pytest.raises(ValueError, match="closed"):
        frame.renew()
    assert not frame.release() and picture.shape == (4, 8)


def test_two_threads_close_a_producer(pair: Pair) -> None:
    """The second one, that had begun before the first one was done."""
    producer, _ = pair
    with producer.connection:  # so that it waits in there
        other = threading.Thread(target=producer.close)
        other.start()
        wait_for(lambda: is_in(other, "close", "__enter__"), "the other one to have begun")
        time.sleep(0.2)
        producer.close(0)
    other.join(60)
    assert not other.is_alive() and repr(producer) == "<gid.Producer of test: closed>"


def read_all(consumer: gid.Consumer) -> bool:
    with contextlib.suppress(gid.GidTimeoutError):
        while True:
            consumer.frame(0).release()
    return True


def is_in(thread: threading.Thread, *functions: str) -> bool:
    frame = sys._current_frames().get(thread.ident or 0)
    return frame is not None and frame.f_code.co_name in functions


def test_a_repr_asks_nobody(cockpit: Cockpit) -> None:
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        producer = domain.producer("own", "R8", 8, 4)
        cockpit.kill("open")
        path = cockpit.config_path
        path.write_text(path.read_text().replace("number=1\n", "number=3\n"))
        cockpit.start("open")
        with pytest.raises(gid.GidError):  # its gidd is another one now, for good
            wait_for(lambda: producer.consumers, "an error")
        assert "0 readers" in repr(producer)


def test_nothing_is_copied_or_passed_to_another_process(pair: Pair) -> None:
    """The copy of a consumer or producer closed the original when it was forgotten."""
    producer, consumer = pair
    send(producer, 1)
    (frame := consumer.frame(60)).release()
    things = {
        consumer: "a gid.Consumer belongs to its process: make one",
        producer: "a gid.Producer belongs to its process: make one",
        producer.slot(): "copy its arrays",
        frame: r"a gid.Frame is on loan: pass its copy\(\)",
        consumer.pictures(): "cannot pickle",
    }
    for thing, why in things.items():
        for call in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=why):
                call(thing)
    del things, thing, frame
    gc.collect()
    send(producer, 2)
    with consumer.frame(60) as picture:
        assert (picture == 2).all()


OTHERS = """
import sys, gid
try:
    import _interpreters as interpreters  # 3.13
except ImportError:
    import _xxsubinterpreters as interpreters
domain = gid.Domain()
if {anew}:
    names = [name for name in sys.modules if name.partition(".")[0] == "gid"]
    kept = [sys.modules.pop(name) for name in names]
    import gid as another
    another.Domain().close()
else:
    # As Apache's mod_wsgi has one for each of its applications; numpy warns.
    one = interpreters.create({how})
    interpreters.{run}(one, "import gid; gid.Domain().close()")
producer = domain.producer("own", "R8", 8, 4)
consumer = domain.consumer("own")
while not producer.consumers:
    pass
producer.slot().submit()
with consumer.frame(60) as picture:
    print(picture.shape)
"""


@pytest.mark.parametrize("anew", (True, False))
def test_others_import_it_in_this_process(cockpit: Cockpit, anew: bool) -> None:
    """The types that this interpreter knew were none any more: it could make no consumer."""
    is_new = sys.version_info >= (3, 13)
    words = {"how": '"legacy"' if is_new else "isolated=False"}
    words["run"] = "exec" if is_new else "run_string"
    script = OTHERS.format(anew=anew, **words)
    program = cockpit.run("open", [sys.executable, "-W", "ignore", "-c", script])
    assert (program.wait(), program.stdout) == (0, "(4, 8)\n"), program.stderr


def test_a_consumer_that_was_not_made() -> None:
    """Not even what its own methods call crashes."""
    consumer = gid.Consumer.__new__(gid.Consumer)
    for call in (consumer.__next__, consumer._adopt, lambda: next(consumer.pictures())):
        with pytest.raises(ValueError, match="was not made"):
            call()


# --- what is said of a frame ---


def test_numbers_that_are_none_are_refused(pair: Pair) -> None:
    """What numpy would make of them without a word is a black picture."""
    producer, consumer = pair
    for wrong in (np.ones((4, 8)) / 2, np.ones((4, 8), "f4"), np.ones((4, 8), complex)):
        with pytest.raises(TypeError, match="uint8 is needed"):
            producer.submit(wrong)
    upside_down = np.arange(64, dtype="u1").reshape(8, 8)[4::-1][:4]
    for right in (upside_down, np.ones((4, 8), bool), [[1] * 8] * 4, np.ones((8, 4), "i2").T):
        producer.submit(right)
        with consumer.frame(60) as picture:
            assert (picture == right).all()


def test_numbers_that_do_not_fit_are_refused(pair: Pair) -> None:
    """As those of 16 bits, of which numpy would keep the lower ones."""
    producer, consumer = pair
    for wrong in (np.full((4, 8), 256, "u2"), np.full((4, 8), -1, "i1"), [[300] * 8] * 4):
        with pytest.raises(TypeError, match="those from 0 to 255 are needed"):
            producer.submit(wrong)
    producer.submit(np.full((4, 8), 255, "i8"))
    with consumer.frame(60) as picture:
        assert (picture == 255).all()


def test_what_is_not_known_is_not_said(pair: Pair) -> None:
    """A filter says of its frame what was said of another one."""
    producer, consumer = pair
    send(producer, 1, pts=None, duration=5, crop=None, note=None, metadata=None)
    with (frame := consumer.frame(60)):
        assert frame.pts is None and frame.duration == 5
        assert frame.note == frame.metadata == b""


def test_any_bytes_go_beside_a_frame(pair: Pair) -> None:
    producer, consumer = pair
    for said in (b"abc", bytearray(b"abc"), memoryview(b"abc"), np.frombuffer(b"abc", "u1")):
        send(producer, 1, note=said, metadata=said)
        with (frame := consumer.frame(60)):
            assert frame.note == frame.metadata == b"abc"
    for said in ("abc", 5, np.ones((3, 2), "u1")[:, 0]):
        with pytest.raises((TypeError, ValueError)):
            send(producer, 1, metadata=said)


@pytest.mark.parametrize("said", ("gid", "sequence", "nonsense"))
def test_what_cannot_be_said_is_refused(pair: Pair, said: str) -> None:
    producer, _ = pair
    slot = producer.slot()
    with pytest.raises(TypeError, match="of a frame can be said pts"):
        slot.submit(**{said: 1})
    assert slot.submit(pts=1) == 1


def test_a_name_ends_where_it_ends(domains: Domains) -> None:
    domain, _ = domains
    for call in (
        lambda: domain.consumer("a\0b"),
        lambda: domain.consumer("a", "open\0b"),
        lambda: domain.producer("a\0b", "R8", 8, 4),
        lambda: domain.producer("a", "R8", 8, 4, description="b\0c"),
        lambda: gid.Domain("open\0b"),
    ):
        with pytest.raises(ValueError, match="has a NUL"):
            call()


@pytest.mark.parametrize("limit", (math.inf, threading.TIMEOUT_MAX, 1e12))
def test_a_limit_may_be_far(pair: Pair, limit: float) -> None:
    producer, consumer = pair
    sender = threading.Timer(0.3, lambda: send(producer, 7))
    sender.start()
    with consumer.frame(limit) as picture:
        assert (picture == 7).all()
    sender.join()
    producer.slot(limit).submit()
    with pytest.raises(ValueError, match="NaN"):
        consumer.frame(math.nan)


# --- out of a signal's handler ---


class Interrupt(Exception):
    """As KeyboardInterrupt, which pytest has a use for."""


@contextlib.contextmanager
def interrupts() -> Iterator[tuple[Callable[[float], None], list[int]]]:
    """A function that has one come in so many seconds, and all that came."""
    came: list[int] = []

    def interrupt(number: int, _: object) -> None:
        came.append(number)
        raise Interrupt

    def interrupt_in(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        yield interrupt_in, came
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", ("_later", "is_closing"))
def test_a_lock_that_fails_is_let_go(name: str) -> None:
    """With the exception of what failed; another thread has it then."""

    class Failing(gid._gid.Lock):
        __enter__ = Connection.__enter__

    def hold() -> None:
        with failing:
            had.set()

    lock, had = gid._gid.lib.gid_py_lock_create(), threading.Event()
    failing = Failing()
    failing._bind(int(gid._gid.ffi.cast("uintptr_t", lock)))
    failing._later, failing.is_closing = [], False
    with pytest.raises(AttributeError, match=name), failing:
        delattr(failing, name)
    setattr(failing, name, False)
    threading.Thread(target=hold, daemon=True).start()
    assert had.wait(60)
    gid._gid.lib.gid_py_lock_destroy(lock)


def test_an_address_of_no_lock_is_refused() -> None:
    for address, error in ((0, MemoryError), (-(2**70), OverflowError), ("1", TypeError)):
        with pytest.raises(error):
            gid._gid.Lock()._bind(address)


def test_an_interrupt_keeps_no_lock(pair: Pair) -> None:
    """One that came while it was waited for."""
    _, consumer = pair
    lock, has_it = consumer.connection.lock, threading.Event()

    def hold() -> None:
        gid.lib.gid_py_lock_take(lock)
        has_it.set()
        time.sleep(1)
        gid.lib.gid_py_lock_let_go(lock)

    other = threading.Thread(target=hold)
    with interrupts() as (interrupt_in, _):
        other.start()
        has_it.wait()
        with pytest.raises(Interrupt):
            interrupt_in(0.1)
            _ = consumer.stats
    other.join()
    third = threading.Thread(target=lambda: consumer.stats, daemon=True)
    third.start()
    third.join(30)
    assert not third.is_alive()


def test_an_interrupt_costs_no_frame_and_no_slot(domains: Domains) -> None:
    """Wherever it comes: all that a reader may hold, and all slots, are there again."""
    sends, _ = domains
    producer = sends.producer("test", "R8", 8, 4, slots=6, lease=60)
    consumer = sends.consumer("test", credit=4)
    wait_for(lambda: producer.consumers, "the consumer to have subscribed")
    with interrupts() as (interrupt_in, came):

        def work(turn: int) -> None:
            interrupt_in(0.0005 + turn * 1e-6)
            while len(came) <= turn:  # Python takes one that comes in a finalizer for itself
                with contextlib.suppress(gid.GidTimeoutError):
                    producer.slot(0, note=b"n" * (turn % 2)).submit()
                    consumer.frame(0).release()

        for turn in range(400):
            with contextlib.suppress(Interrupt):
                work(turn)
    assert read_all(consumer)
    assert consumer.stats["held"] == 0
    slots = [producer.slot(60) for _ in range(5)]  # and one is shown
    assert len({slot.c[0] for slot in slots}) == 5


def test_classes_have_the_names_that_users_know() -> None:
    """Also in the last line of a traceback."""
    classes = {name: getattr(gid, name) for name in gid.__all__}
    found = {name for name, one in classes.items() if isinstance(one, type)}
    assert {"Domain", "Frame", "NotFoundError"} <= found
    assert [name for name in found if repr(classes[name]) != f"<class 'gid.{name}'>"] == []
