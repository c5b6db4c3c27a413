# SPDX-License-Identifier: MIT
"""What others do without end, or not at all: the display's thread waits for nobody."""

import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.display import DISPLAY, LIAR, Display, liar_roles, start_telltale
from lib.program import BUILD, PATIENCE, wait_for

from lab.domains.here import ask

ROLES, LYING = liar_roles(), ("left", "right")
# Whose deadline passes after each frame: it wakes the display once more in each refresh. Where a
# frame takes longer than the first of these, as it does where tests' reach is counted, others do;
# and beside many other programs, where frames come late by turns, the last ones.
WAKING_NAMES = [f"waking{i}" for i in range(8)]
WAKING = "".join(
    f"[role {name}]\ndomain=open\nstream=waking\ngood-frames=1\ndeadline-ms={2**i}\n"
    f"x={320 * (i % 2)}\ny={200 + 80 * (i // 2)}\nwidth=320\nheight=80\n"
    for i, name in enumerate(WAKING_NAMES)
)
# A deadline that passes after each of the frames that come half as often, and within which also a
# display that is traced on a busy machine has looked at one.
CHANGING_MS = 100
# Nothing between two of them, and small.
CHANGING = ("--stream=waking", f"--cycle={2 * CHANGING_MS}", "--heartbeat=0", "--size=16x16")
RINGS = BUILD / "tests" / "hostile" / "programs" / "hostile-rings"
BELL = "[role bell]\ndomain=open\nx=0\ny=200\nwidth=320\nheight=80\n"
LARGER = DISPLAY.replace("height=240", "height=520")
# Far more than an answer takes on a busy machine, far less than gidd may take.
LONGEST_S, GIDD_SECONDS = 60.0, "600"


def counts(display: Display) -> dict[str, int]:
    """Of each role's changes."""
    return {role["name"]: role["transition_count"] for role in display.status()["roles"]}


def longest_answer(display: Display, seconds: float) -> float:
    """How long the slowest answer took of those asked for in so many seconds."""
    longest, end = 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        asked = time.monotonic()
        display.status()
        longest = max(longest, time.monotonic() - asked)
        time.sleep(0.02)
    return longest


def test_a_silent_domain_does_not_stop_the_display(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its gidd takes every question, and answers none: each role asks it, again and again."""
    monkeypatch.setenv("GID_ANSWER_SECONDS", GIDD_SECONDS)
    gidd = cockpit.gidds["open"]
    gidd.signal(signal.SIGSTOP)
    try:
        begun = time.monotonic()
        display = Display(cockpit, ROLES)
        assert time.monotonic() - begun < LONGEST_S
        assert longest_answer(display, 4) < LONGEST_S
        assert {role["state"] for role in display.status()["roles"]} == {"waiting"}
    finally:
        gidd.signal(signal.SIGCONT)
    cockpit.run("open", [LIAR, "flip"])
    for name in ("left", "right"):
        display.wait_role("live", name=name)


def test_entries_without_a_picture_are_bounded(cockpit: Cockpit) -> None:
    """The end of the flow and nothing to show, in turn: few of them are looked at in a refresh,
    however many deadlines pass in it.
    """
    display = Display(cockpit, ROLES + WAKING, display=LARGER)
    start_telltale(cockpit, "--stream=waking", "--cycle=10")
    liar = cockpit.run("open", [LIAR, "notes"])
    for name in ("left", "right"):
        display.wait_role("live", name=name)

    def woken(by: dict[str, int]) -> int:
        return max(by[name] for name in WAKING_NAMES)

    wait_for(lambda: woken(counts(display)) > 10, "deadlines that pass")
    begun = time.monotonic()
    before = counts(display)
    liar.signal(signal.SIGUSR1)

    def changes() -> dict[str, int]:
        return {name: count - before[name] for name, count in counts(display).items()}

    wait_for(lambda: min(changes()[name] for name in LYING) > 500, "a flood of entries")
    wait_for(lambda: woken(changes()) > 20, "deadlines that pass meanwhile")
    found, passed = changes(), time.monotonic() - begun
    assert max(found[name] for name in LYING) <= 8 * (passed * 60 + 10), "entries of each refresh"
    lines = [line for line in display.program.stderr.splitlines() if "role " in line]
    assert len(lines) < len(found) * (20 + passed + 20), "lines in the log"
    liar.signal(signal.SIGUSR1)
    for name in ("left", "right"):
        wait_for(lambda name=name: display.role(name)["state"] == "live", "the way back to live")
    assert longest_answer(display, 1) < LONGEST_S


def test_who_wakes_it_for_nothing(cockpit: Cockpit) -> None:
    """Once for each sleep, as one rings who has a picture for it, and has none."""
    display = Display(cockpit, ROLES + BELL, display=LARGER)
    cockpit.run("open", [LIAR, "notes"])  # which is honest until it is told otherwise
    for name in LYING:
        display.wait_role("live", name=name)
    begun = time.monotonic()
    rings = cockpit.run("open", [RINGS, "wakes", "safety/bell"])

    def subscriptions() -> list[str]:
        return [one["stream"] for one in cockpit.status("open")["subscriptions"]]

    wait_for(lambda: "safety/bell" in subscriptions(), "the stream to be read")
    since = display.status()["frames"]
    wait_for(lambda: display.status()["frames"] > since + 120, "frames")
    assert {display.role(name)["state"] for name in LYING} == {"live"}
    rings.signal(signal.SIGTERM)
    assert rings.wait() == 0, rings.stderr
    passed = time.monotonic() - begun
    assert 0 < json.loads(rings.stdout)["sent"] <= 9 * (passed * 60 + 10), "rings in each refresh"


def test_status_that_nobody_reads(cockpit: Cockpit) -> None:
    """What is not read is memory of the display's, until who asked has closed the connection."""
    display = Display(cockpit, ROLES)
    size = len(json.dumps(display.status()))
    with ExitStack() as stack:
        answered = 0
        for _ in range(100):
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.connect(str(display.status_path))
            connection.settimeout(PATIENCE)
            unread = connection.recv(size, socket.MSG_PEEK)
            answered += len(unread) > 0
        assert 0 < answered <= 4
    wait_for(lambda: answers_at(display.status_path), "answers for those who read them")


def answers_at(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.settimeout(PATIENCE)
        return len(connection.recv(1)) == 1


def cpu_seconds(display: Display) -> float:
    """Of its first thread, which is the display's."""
    text = Path(f"/proc/{display.program.pid}/task/{display.program.pid}/stat").read_text()
    words = text.rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def test_a_flood_of_questions(cockpit: Cockpit) -> None:
    """However fast somebody asks, the display has most of its thread's time for itself: behind each
    answer is a pause of four times as long. A machine that is busy makes both longer."""
    many = "".join(
        f"[role light{number}]\ndomain=open\nx={number * 8}\ny=0\nwidth=8\nheight=8\n"
        for number in range(32)
    )
    display = Display(cockpit, many)
    ask = (
        "import socket, sys\n"
        "while True:\n"
        "    with socket.socket(socket.AF_UNIX) as one:\n"
        "        one.connect(sys.argv[1])\n"
        "        while one.recv(1 << 20):\n"
        "            pass\n"
    )

    def used(seconds: float) -> float:
        """Of a processor."""
        begun, before = time.monotonic(), cpu_seconds(display)
        time.sleep(seconds)
        spent = cpu_seconds(display) - before
        return spent / (time.monotonic() - begun)

    idle = used(3)
    cockpit.run("cluster", [sys.executable, "-c", ask, display.status_path], name="asks")
    assert used(3) - idle < 0.3
    assert longest_answer(display, 1) < LONGEST_S


def turns_of_answers(trace: Path) -> list[int]:
    """How often the display's thread looked for other work while it made each of them."""
    found, turns = [], 0
    for line in trace.read_text().splitlines():
        if re.match(r"accept4\(.* = \d+$", line):
            turns = 0
        elif line.startswith(("epoll_wait(", "epoll_pwait(")):
            turns += 1
        elif line.startswith("sendto(") and '"{\\"roles\\"' in line:
            found.append(turns)
    return found


def test_an_answer_about_many_roles(cockpit: Cockpit) -> None:
    """Of which each has changed many times. The display has its turn while it is made, which takes
    longer than a frame.
    """
    names = [f"waking{i}" for i in range(32)]
    many = "".join(
        f"[role {name}]\ndomain=open\nstream=waking\ngood-frames=1\ndeadline-ms={CHANGING_MS}\n"
        f"x={16 * i}\nwidth=16\nheight=16\n"
        for i, name in enumerate(names)
    )
    trace = cockpit.folder / "trace"
    under = ("strace", "--kill-on-exit", "-qq", "-e", "trace=/^(accept4|epoll_p?wait|sendto)$")
    display = Display(cockpit, many, under=(*under, "-o", str(trace)))
    start_telltale(cockpit, *CHANGING)

    def kept() -> int:
        return sum(min(count, 64) for count in counts(display).values())

    wait_for(lambda: kept() == 64 * len(names), "as many changes as are kept", pause=0.5)
    before = len(turns_of_answers(trace))
    display.status()
    wait_for(lambda: len(turns_of_answers(trace)) > before, "the answer in the trace")
    assert turns_of_answers(trace)[before] > 3, "times that it looked for other work"


def room_of_a_socket() -> int:
    """How much a sender gets rid of before anybody reads, if it asks for no more."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        return ours.send(bytes(4 << 20))


def test_an_answer_for_which_a_socket_has_no_room(cockpit: Cockpit) -> None:
    """The rest comes when its reader has begun, and meanwhile others are answered."""
    names = [f"waking{i:02}-{'n' * 34}" for i in range(32)]
    many = "".join(
        f"[role {name}]\ndomain=open\nstream=waking\ngood-frames=1\ndeadline-ms={CHANGING_MS}\n"
        f"x={16 * i}\nwidth=16\nheight=16\n[layer {name}]\nwidth=16\nheight=16\n"
        for i, name in enumerate(names)
    )
    less_room = ("trace=setsockopt", "inject=setsockopt:retval=0")  # no machine gives it more
    under = ("strace", "--kill-on-exit", "-qq", "-o", str(cockpit.folder / "trace"))
    display = Display(cockpit, many, under=(*under, *(f"-e{words}" for words in less_room)))
    start_telltale(cockpit, *CHANGING)

    def all_have_changed() -> bool:
        return all(len(role["transitions"]) == 64 for role in display.status()["roles"])

    wait_for(all_have_changed, "as many changes as are told", pause=0.5)
    with socket.socket(socket.AF_UNIX) as late:
        late.settimeout(PATIENCE)
        late.connect(str(display.status_path))
        assert len(late.recv(1, socket.MSG_PEEK)) == 1
        assert len(display.status()["roles"]) == 32
        with late.makefile("rb") as answer:
            text = answer.read()
    assert len(json.loads(text)["roles"]) == 32
    assert len(text) > room_of_a_socket()


def test_a_log_that_nobody_reads_stops_nothing(cockpit: Cockpit) -> None:
    """Standard error is a full pipe: what is written there waits, and nothing else does."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 512)
    except BlockingIOError:
        os.set_blocking(writing, True)
    config, status = cockpit.folder / "quiet.conf", cockpit.folder / "quiet.sock"
    config.write_text(DISPLAY + ROLES)
    command = [BUILD / "cluster" / "gid-cluster", "--headless", "--verbose", "--config", config]
    command += ["--status", status]
    display = subprocess.Popen(command, env=cockpit.env("cluster"), stderr=writing)
    try:

        def answers() -> dict | None:
            try:
                return ask(status)
            except OSError:
                return None

        wait_for(answers, "the display to start")
        liar = cockpit.run("open", [LIAR, "notes"])
        wait_for(lambda: answers()["roles"][0]["state"] == "live", "the role to be live")
        liar.signal(signal.SIGUSR1)
        count = answers()["roles"][0]["transition_count"]
        wait_for(lambda: answers()["roles"][0]["transition_count"] > count + 300, "300 changes")
        display.terminate()
        display.wait(PATIENCE)
    finally:
        display.kill()
        display.wait(PATIENCE)
        os.close(reading)
        os.close(writing)
