# SPDX-License-Identifier: MIT
"""Who is killed, stopped or forked: readers in Python are told, and never crash."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import gid
import numpy as np
import pytest
from lib.cockpit import Cockpit
from lib.program import Program, wait_for
from pairs import make_pair, send

SEND = """
import sys, time, gid
with gid.Domain() as domain, domain.producer("test", "R8", 640, 480, **eval(sys.argv[1])) as p:
    for number in range(1, 10**9):
        with p.slot() as picture:
            picture[...] = number % 200 + 1
        time.sleep(0.005)
"""


def start_sender(
    cockpit: Cockpit, name: str = "sender", lease: float = 60, **how: object
) -> Program:
    how["lease"] = lease  # s: a busy machine takes more than the second that it is
    return cockpit.run("open", [sys.executable, "-c", SEND, repr(how)], name)


def test_a_killed_producer(cockpit: Cockpit) -> None:
    """What was read was right; later the arrays show zeroes; the next producer goes on with it."""
    sender = start_sender(cockpit)
    with gid.Domain(str(cockpit.socket("cluster"))) as domain:
        consumer = domain.consumer("test", "open")
        frame = consumer.frame(60)
        value = int(frame.picture[0, 0])
        sender.signal(signal.SIGKILL)
        sender.wait()
        kept = frame.picture
        assert (kept == value).all()
        wait_for(lambda: read_all(consumer) and not kept.any(), "the memory to be taken back")
        assert not frame.current and not frame.release()
        # gidd says so by a message of its own.
        wait_for(lambda: read_all(consumer) and consumer.state == "waiting", "the stream's end")
        again = start_sender(cockpit, "again")
        with consumer.frame(60) as picture:
            assert picture.any()
        assert consumer.stats["reconnects"] >= 1
        again.stop()


def read_all(consumer: gid.Consumer) -> bool:
    """Takes what there is, for a moment."""
    try:
        consumer.frame(0.05).release()
    except gid.GidTimeoutError:
        return True
    return False


def test_without_reconnect_a_killed_producer_ends_the_loop(cockpit: Cockpit) -> None:
    sender = start_sender(cockpit)
    wait_for(lambda: cockpit.status("open")["streams"], "the stream to be there")
    with gid.Domain(str(cockpit.socket("cluster"))) as domain:
        consumer = domain.consumer("test", "open", reconnect=False)
        seen = 0
        for frame in consumer:
            frame.release()
            seen += 1
            if seen == 3:
                sender.signal(signal.SIGKILL)
        assert seen >= 3
        with pytest.raises(gid.EndOfStream, match="gone"):
            consumer.frame(1)
        assert consumer.state == "ended"


def test_a_lease_that_ends_is_told(cockpit: Cockpit) -> None:
    sender = start_sender(cockpit, lease=3, slots=2)
    with gid.Domain(str(cockpit.socket("cluster"))) as domain:
        consumer = domain.consumer("test", "open")
        frame = consumer.frame(60)
        with pytest.raises(gid.LeaseError, match="was taken back while it was read: read faster"):
            with frame as picture:
                assert frame.current
                wait_for(lambda: not frame.current, "the lease to end")
                assert 1 <= picture[0, 0] <= 200  # it is memory all the same
        slow = consumer.frame(60)
        wait_for(lambda: not slow.current, "the lease to end")
        with pytest.raises(gid.LeaseError):
            slow.copy()
        with pytest.raises(ZeroDivisionError):  # what went wrong first is told
            with slow:
                1 / 0  # noqa: B018
        assert consumer.frame(60).release()
    sender.stop()


def test_a_lease_can_be_renewed(cockpit: Cockpit) -> None:
    sender = start_sender(cockpit, lease=4, slots=8)
    with gid.Domain(str(cockpit.socket("cluster"))) as domain:
        with (frame := domain.consumer("test", "open").frame(60)) as picture:
            value = picture[0, 0]
            end = time.monotonic() + 5
            while time.monotonic() < end:
                frame.renew()
                time.sleep(0.05)
            assert frame.current and (picture == value).all()
    sender.stop()


READ = """
import sys, time, gid
with gid.Domain() as domain:
    for frame in domain.consumer("test", "open"):
        with frame as picture:
            assert picture.any()
        print(frame.sequence, flush=True)
"""


def test_a_stopped_and_a_killed_reader_delay_nobody(cockpit: Cockpit) -> None:
    sender = start_sender(cockpit, lease=5, slots=6)
    names = ("well", "stopped", "killed")
    readers = {name: cockpit.run("cluster", [sys.executable, "-c", READ], name) for name in names}
    for reader in readers.values():
        wait_for(lambda reader=reader: reader.stdout.count("\n") > 5, "frames")
    readers["stopped"].signal(signal.SIGSTOP)
    readers["killed"].signal(signal.SIGKILL)
    seen = readers["well"].stdout.count("\n")
    wait_for(lambda: readers["well"].stdout.count("\n") > seen + 300, "frames meanwhile")
    assert sender.is_running()
    readers["stopped"].signal(signal.SIGCONT)
    before = readers["stopped"].stdout.count("\n")
    wait_for(lambda: readers["stopped"].stdout.count("\n") > before + 20, "it to go on")
    assert readers["well"].stderr == "" and sender.stderr == ""


def test_gidd_comes_back(cockpit: Cockpit) -> None:
    sender = start_sender(cockpit)
    with gid.Domain(str(cockpit.socket("cluster"))) as domain:
        consumer = domain.consumer("test", "open")
        consumer.frame(60).release()
        cockpit.restart("cluster")
        for _ in range(400):
            consumer.frame(60).release()
        with pytest.raises(gid.GidTimeoutError):
            domain.consumer("nothing", "open").frame(0.2)
    sender.stop()


FORKS = """
import os, sys, gid
domain = gid.Domain()
producer = domain.producer("own", "R8", 64, 48)
consumer = domain.consumer("own")
while not producer.consumers:
    pass
producer.submit([[1] * 64] * 48)
frame = consumer.frame(60)
picture = frame.picture
child = os.fork()
if child == 0:
    assert (picture == 1).all()  # it is memory
    for call in (consumer.frame, producer.slot, domain.status, lambda: consumer.stats, frame.copy):
        try:
            call()
            print("not refused", call)
        except gid.ForkError as error:
            assert "make a gid.Domain here" in str(error)
    with gid.Domain() as own:  # as it says
        assert own.name == "open"
    frame.release(), consumer.close(), producer.close(), domain.close()
    del frame, consumer, producer, domain
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert frame.current and frame.release()
producer.submit([[2] * 64] * 48)
assert (consumer.frame(60).picture == 2).all()
print("well")
"""


def run(cockpit: Cockpit, script: str, *words: str) -> str:
    """The output of a program of the domain `open` that ends well."""
    result = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", script, *words],
        env=cockpit.env("open"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def test_a_child_of_a_fork_is_refused(cockpit: Cockpit) -> None:
    assert run(cockpit, FORKS.replace("child = os.fork()", QUIET)) == "well\n"


# Of a fork with threads Python warns, rightly: ours is one of them.
QUIET = """import warnings
warnings.simplefilter("ignore", DeprecationWarning)
child = os.fork()"""

OUTLIVED = """
import os, sys, time, warnings, gid
warnings.simplefilter("ignore", DeprecationWarning)
domain = gid.Domain()
producer = domain.producer("own", "R8", 64, 48)
consumer = domain.consumer("test")
child = os.fork()
if child == 0:
    time.sleep(600)
    sys.exit()
print("child", child, flush=True)
consumer.frame(60).release()
producer.submit([[1] * 64] * 48)
print("ready", flush=True)
time.sleep(600)
"""


def test_a_child_of_a_fork_keeps_nothing_alive(cockpit: Cockpit) -> None:
    """As the workers of multiprocessing do not, whose program is killed."""
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        sent = domain.producer("test", "R8", 64, 48)
        sender = cockpit.run("open", [sys.executable, "-c", OUTLIVED], "outlived")
        sender.wait_output("child")
        wait_for(lambda: sent.consumers == 1, "its consumer")
        sent.submit(np.zeros((48, 64), np.uint8))
        sender.wait_output("ready")
        child = int(sender.stdout.split()[1])
        try:
            sender.signal(signal.SIGKILL)
            sender.wait()
            wait_for(lambda: sent.consumers == 0, "its consumer to be gone", timeout=20)
            wait_for(
                lambda: "own" not in [s["name"] for s in cockpit.status("open")["streams"]],
                "its stream to be gone",
                timeout=20,
            )
            domain.producer("own", "R8", 64, 48).close()
        finally:
            os.kill(child, signal.SIGKILL)


ENDS = """
import gid
domain = gid.Domain()
producer = domain.producer("own", "R8", 64, 48)
consumer = domain.consumer("own")
while not producer.consumers:
    pass
for value in range(2):
    producer.submit([[value] * 64] * 48)
frame = consumer.frame(60)
picture = frame.picture
iterator = iter(consumer)
print("well")
"""


def test_a_program_may_just_end(cockpit: Cockpit) -> None:
    assert run(cockpit, ENDS) == "well\n"


def test_ctrl_c_ends_who_waits(cockpit: Cockpit) -> None:
    script = "import gid; gid.Domain().consumer('nothing', 'cluster').frame()"
    reader = cockpit.run("open", [sys.executable, "-c", script], "reader")
    wait_for(lambda: cockpit.status("open")["clients"][0:], "it to be there")
    time.sleep(0.5)
    reader.signal(signal.SIGINT)
    assert reader.wait() in (1, -signal.SIGINT) and "KeyboardInterrupt" in reader.stderr


INTERRUPTED = """
import os, signal, gid

class Interrupt(Exception):
    pass

def interrupt(*_):
    global raised
    raised += 1
    raise Interrupt

def work(before):
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    while raised == before:
        try:
            producer.slot(0).submit()
            consumer.frame(0).release()
        except gid.GidTimeoutError:
            pass

raised = 0
signal.signal(signal.SIGALRM, interrupt)
domain = gid.Domain()
producer, consumer = domain.producer("own", "R8", 8, 4), domain.consumer("own")
while raised < 200:
    try:
        work(raised)
    except Interrupt:
        pass
os._exit(0)
"""


def test_no_interrupt_is_lost_in_libgid(cockpit: Cockpit) -> None:
    """What libgid calls is no Python, out of which an exception could not come."""
    program = cockpit.run("open", [sys.executable, "-c", INTERRUPTED], "interrupted")
    assert program.wait() == 0, program.stderr
    assert "cffi" not in program.stderr  # which would have swallowed it


GARBAGE = """
import gc, gid
for turn in map(str, range(20)):  # of which the one before may be there for a moment
    domain = gid.Domain()
    parts = [domain, domain.producer(turn, "R8", 8, 4), domain.consumer(turn)]
    parts[1].slot().submit()
    parts += [parts[2].frame(60), parts]
    parts[3].planes, parts[1].slot()
    del domain, parts
    gc.collect()
domain = gid.Domain()
while domain.status()["clients"][1:]:
    gc.collect()  # a thread of the package may have looked at one
"""


def test_garbage_is_collected_in_any_order(cockpit: Cockpit) -> None:
    """The connection before what was made of it, as after an error that nobody caught."""
    program = cockpit.run("open", [sys.executable, "-c", GARBAGE], "garbage")
    assert program.wait() == 0, program.stderr


def test_objects_do_not_travel(cockpit: Cockpit) -> None:
    import pickle

    with gid.Domain(str(cockpit.socket("open"))) as domain:
        for thing in (domain, domain.producer("a", "R8", 8, 4), domain.consumer("a")):
            with pytest.raises(TypeError, match="belongs to its process|cannot pickle"):
                pickle.dumps(thing)


def test_a_domain_without_gidd(cockpit: Cockpit) -> None:
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        cockpit.kill("open")
        with pytest.raises((gid.DisconnectedError, gid.GidError)):
            domain.status()
        cockpit.start("open")
        wait_for(lambda: answers(domain), "it to connect again")
    assert Path(f"/proc/{os.getpid()}").exists()


def test_a_close_hides_no_error(cockpit: Cockpit) -> None:
    """Also where gidd is gone for good, so that nobody tells of readers of the last frames."""
    path = cockpit.config_path
    with pytest.raises(ZeroDivisionError):
        with gid.Domain(str(cockpit.socket("open"))) as domain:
            with domain.producer("own", "R8", 8, 4) as producer:
                producer.slot().submit()
                cockpit.kill("open")
                path.write_text(path.read_text().replace("number=1\n", "number=3\n"))
                cockpit.start("open")
                wait_for(lambda: is_gone(domain), "it to be another domain's")
                1 / 0  # noqa: B018
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        assert domain.number == 3
        domain.producer("own", "R8", 8, 4)


def is_gone(domain: gid.Domain) -> bool:
    """Whether its gidd came back as another one, which it does not take."""
    try:
        domain.status()
    except gid.GidError as error:
        return error.errno == errno.EPROTO
    return False


def fail_with_a_picture(cockpit: Cockpit) -> None:
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        producer, consumer = make_pair(domain, domain)
        send(producer, 1)
        picture = consumer.frame(60).picture
        assert not picture.any(), "which keeps the picture"


def test_a_failed_test_is_told_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its traceback keeps of a domain is not told as something that was left behind."""
    cockpit = Cockpit()
    cockpit.start_all()
    with pytest.raises(AssertionError, match="which keeps") as caught:
        fail_with_a_picture(cockpit)
    monkeypatch.setattr(sys, "last_exc", caught.value, raising=False)  # as pytest does
    cockpit.close()


def answers(domain: gid.Domain) -> bool:
    try:
        return bool(domain.status())
    except gid.GidError:
        return False
