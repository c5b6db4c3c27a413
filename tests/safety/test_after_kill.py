# SPDX-License-Identifier: MIT
"""gid-cluster is killed, again and again: it is back at once, with the same picture, and knows what
it knew. What it finds in the file of its roles' state may be anything.
"""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.company import waited_ms
from lib.display import ROLE, Display, start_telltale, telltale_picture
from lib.length import at_length_but
from lib.program import BUILD, wait_for

# And no way up: root keeps its rights otherwise, others may have been given a lower nice value.
LOWEST = ("chrt", "--idle", "0", "prlimit", "--nice=0:0", "--rtprio=0:0")
LOWEST += ("setpriv", "--bounding-set=-all") if os.geteuid() == 0 else ()


def state_file(cockpit: Cockpit) -> Path:
    return cockpit.folder / "cluster.sock.state"


def wait_kept(cockpit: Cockpit, words: str) -> str:
    """Until the file says so. Returns its text."""

    def kept() -> str | None:
        path = state_file(cockpit)
        text = path.read_text() if path.exists() else ""
        return text if words in text else None

    return wait_for(kept, f"{words!r} in the file of the state")


def kill(display: Display) -> int:
    """Returns when, in ns of the monotonic clock."""
    killed = time.monotonic_ns()
    display.program.signal(signal.SIGKILL)
    display.program.wait()
    return killed


def back_after_kills(cockpit: Cockpit, kills: int) -> tuple[list[float], list[float]]:
    """How long it took from each kill to the telltale on the display, as the display itself tells
    it, in ms; and the same without what all these programs waited for others."""
    telltale = start_telltale(cockpit, "--state", "5")
    picture = telltale_picture(cockpit.folder, 5)
    display = Display(cockpit)
    display.wait_role("live")
    others, times, own = (*cockpit.gidds.values(), telltale), [], []
    for _ in range(kills):
        count = display.role()["transition_count"]
        wait_kept(cockpit, "role live none ")
        before = waited_ms(*others)
        killed = kill(display)
        display = Display(cockpit)
        role = display.wait_role("live")
        waited = waited_ms(*others, display.program) - before
        first, shown = role["transitions"][0], role["transitions"][-1]["shown_ns"]
        times.append((shown - killed) / 1e6)
        own.append(times[-1] - waited)
        assert (first["from"], first["reason"]) == ("live", "restarted")
        assert first["number"] == count + 1, "the count goes on"
        assert numpy.array_equal(display.region(), picture)
    return times, own


def test_the_picture_is_back(cockpit: Cockpit) -> None:
    """And the state and the count of its changes go on. How soon is asked by test_times.py."""
    times, _ = back_after_kills(cockpit, kills=5)
    assert min(times) > 0


def test_what_failed_has_failed_still(cockpit: Cockpit) -> None:
    """A picture that stands still is none to a new process before it has watched it for long."""
    roles = ROLE + "frozen-ms=300\n"
    start_telltale(cockpit, "--state", "5")
    display = Display(cockpit, roles)
    before = display.wait_role("frozen")
    # It is judged by the time that it stood still until then, as the file has it.
    wait_kept(cockpit, f"role frozen frozen {before['since_ns']} ")
    kill(display)
    display = Display(cockpit, roles)
    wait_for(lambda: display.role()["frames"] > 5, "frames")
    after = display.role()
    assert after["state"] == "frozen" and after["since_ns"] == before["since_ns"]
    assert after["transition_count"] == before["transition_count"]
    assert after["transitions"] == []


def test_no_picture_outlives_the_display(cockpit: Cockpit) -> None:
    """fallback=last is a picture that this process checked: nobody knows how old another one is."""
    fallback = ROLE + "fallback=last\n"
    telltale = start_telltale(cockpit, "--state", "3")
    display = Display(cockpit, fallback)
    display.wait_role("live")
    live = display.region()
    wait_kept(cockpit, "role live none ")
    cockpit.kill("open")
    telltale.kill()
    display.wait_role("lost")
    assert numpy.array_equal(display.region(), live), "as long as the display lives"
    kill(display)
    display = Display(cockpit, fallback)
    assert display.role()["state"] == "lost"
    after = display.region()
    assert after.any() and not numpy.array_equal(after, live), "the pattern"
    cockpit.start("open")
    start_telltale(cockpit, "--state", "3")
    display.wait_role("live")
    assert numpy.array_equal(display.region(), live)


def test_a_stop_in_good_order(cockpit: Cockpit) -> None:
    """What changed last is in the file, too."""
    telltale = start_telltale(cockpit)
    display = Display(cockpit)
    display.wait_role("live")
    telltale.signal(signal.SIGKILL)
    count = display.wait_role("lost")["transition_count"]
    assert display.program.stop() == 0
    display = Display(cockpit)
    role = display.role()
    assert (role["state"], role["transition_count"]) == ("lost", count)
    assert role["reason"] in ("died", "ended")
    start_telltale(cockpit)
    assert display.wait_role("live")["transition_count"] == count + 1


def test_a_file_of_its_own(cockpit: Cockpit) -> None:
    """It is kept where --state says, and there alone."""
    kept = cockpit.folder / "kept.state"
    telltale = start_telltale(cockpit)
    display = Display(cockpit, arguments=("--state", str(kept)))
    display.wait_role("live")
    telltale.signal(signal.SIGKILL)
    count = display.wait_role("lost")["transition_count"]
    assert display.program.stop() == 0
    assert kept.exists() and not state_file(cockpit).exists()
    display = Display(cockpit, arguments=("--state", str(kept)))
    role = display.role()
    assert (role["state"], role["transition_count"]) == ("lost", count)


def test_in_the_lowest_class(cockpit: Cockpit) -> None:
    """Where it may start no thread above its own class, it keeps what it shows as well."""
    start_telltale(cockpit)
    display = Display(cockpit, under=LOWEST)
    display.wait_role("live")
    threads = os.listdir(f"/proc/{display.program.pid}/task")
    assert {os.sched_getscheduler(int(thread)) for thread in threads} == {os.SCHED_IDLE}
    wait_kept(cockpit, "role live none ")


def test_what_was_learned_is_kept(cockpit: Cockpit) -> None:
    """Each new picture is in the file soon: a kill takes none of those away."""
    config, hashes = cockpit.folder / "learn.conf", cockpit.folder / "learnt.hashes"
    config.write_text(ROLE)
    start_telltale(cockpit, "--cycle", "40")
    command = [BUILD / "cluster" / "gid-cluster", "--config", config]
    command += ["--learn", "telltale", "--output", hashes]

    def learnt() -> set[str]:
        text = hashes.read_text() if hashes.exists() else ""
        return {line for line in text.splitlines() if not line.startswith("#")}

    for _ in range(2):
        learner = cockpit.run("cluster", command)
        wait_for(lambda: len(learnt()) == 16, "all pictures of the telltale")
        learner.signal(signal.SIGKILL)
        learner.wait()
        assert len(learnt()) == 16


def test_learning_ends_with_the_stream(cockpit: Cockpit) -> None:
    """By whomever its end is told: gidd, or the doorbell of a producer that was killed."""
    config, hashes = cockpit.folder / "learn.conf", cockpit.folder / "learnt.hashes"
    config.write_text(ROLE)
    command = [BUILD / "cluster" / "gid-cluster", "--config", config]
    for turn in range(3):
        telltale = start_telltale(cockpit, "--cycle", "40")
        words = ["--learn", "telltale", "--output", f"{hashes}{turn}"]
        learner = cockpit.run("cluster", [*command, *words])
        wait_for(Path(f"{hashes}{turn}").exists, "a picture to be learned")
        telltale.signal(signal.SIGKILL)
        telltale.wait()
        assert learner.wait() == 0, learner.stderr


def head() -> str:
    return f"gid-cluster 2 {Path('/proc/sys/kernel/random/boot_id').read_text()}"


def of(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


LINE = "role lost died 1 0 7 telltale\n"
SPOILED = {
    "empty": of(""),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 64),
    "another start of the machine": of(f"gid-cluster 2 {'0' * 36}\n{LINE}"),
    "an earlier version's": of(head().replace("gid-cluster 2", "gid-cluster 1") + LINE),
    "twice": of(head() + 2 * LINE),
    "half": of((head() + LINE)[:-1]),
    "the future": of(head() + LINE.replace(" 1 ", f" {2**63} ")),
    "a reason of another state": of(head() + LINE.replace("died", "frozen")),
    "no state": of(head() + LINE.replace("lost", "found")),
    "a number too large": of(head() + LINE.replace(" 7 ", f" {2**64} ")),
    "endless": lambda path: path.write_text(head() + LINE.replace("telltale", "x" * (1 << 20))),
    "a folder": lambda path: path.mkdir(),
    "a pipe that nobody writes": lambda path: os.mkfifo(path),
    "a link": lambda path: path.symlink_to("/dev/zero"),
}


# What is not read to its end, and what is of another life; the rest of the table is what
# test_saved_state.c has of the words.
@pytest.mark.parametrize(
    "kind",
    at_length_but(
        SPOILED,
        "noise",
        "another start of the machine",
        "half",
        "a folder",
        "a pipe that nobody writes",
    ),
)
def test_any_file(cockpit: Cockpit, kind: str) -> None:
    """It is not believed, and keeps nothing from starting."""
    SPOILED[kind](state_file(cockpit))
    start_telltale(cockpit)
    display = Display(cockpit)
    role = display.wait_role("live")
    first = role["transitions"][0]
    assert (first["from"], first["number"]) == ("waiting", 1)


def test_a_good_file(cockpit: Cockpit) -> None:
    """So that test_any_file does not fail to see it believed."""
    state_file(cockpit).write_text(head() + LINE)
    display = Display(cockpit)
    role = display.role()
    assert (role["state"], role["reason"], role["transition_count"]) == ("lost", "died", 7)
