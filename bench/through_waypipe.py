# SPDX-License-Identifier: MIT
"""A guest's frames as those of a Wayland program, which waypipe brings to the host's Weston."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from gid_vm.agent import Agent

from bench import common
from bench.waypipe.relay import Relay
from lab.domains.program import LabError

TOP = Path(__file__).resolve().parent.parent
PARTS = TOP / "bench/waypipe"

SECONDS = 120.0
SECONDS_A_FRAME = 10.0  # at most, on a busy machine under TCG
WAYPIPE = ("waypipe", "--compress=none", "--no-gpu")
IN_GUEST, DISPLAY = "/run/waypipe.sock", "/run/waypipe-display"


@contextlib.contextmanager
def running(
    made: Path, words: tuple[str | Path, ...], env: dict[str, str]
) -> Iterator[subprocess.Popen]:
    """A program of the host which is ready when the socket that it makes is there."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*map(str, words)], env=env, **quiet)
    try:
        end = time.monotonic() + SECONDS
        while not made.exists():
            if process.poll() is not None or time.monotonic() > end:
                raise LabError(f"{words[0]} does not start")
            time.sleep(0.02)
        yield process
    finally:
        process.terminate()
        process.wait(SECONDS)


@contextlib.contextmanager
def screen(
    folder: Path, size: tuple[int, int], environment: dict[str, str] | None = None
) -> Iterator[subprocess.Popen]:
    """waypipe's end on the host, in front of a Weston; its socket is folder/waypipe.

    `environment`: more of it for waypipe."""
    env = os.environ | {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": "wayland-bench"}
    weston = ("weston", "--backend=headless", "--renderer=pixman", "--no-config", "--idle-time=0")
    weston += (f"--width={size[0]}", f"--height={size[1]}", "--socket=wayland-bench")
    waypipe = (*WAYPIPE, "-s", folder / "waypipe", "client")
    with (
        running(folder / "wayland-bench", weston, env),
        running(folder / "waypipe", waypipe, env | (environment or {})) as client,
    ):
        yield client


def redraw(agent: Agent, size: tuple[int, int], frames: int) -> None:
    """Runs the program in the guest, behind waypipe's other end."""
    words = [*WAYPIPE, "-s", IN_GUEST, "--display", DISPLAY, "server"]
    words += ["python3", str(PARTS / "redraw.py"), DISPLAY, *map(str, (*size, frames))]
    result = agent.start(words).wait(SECONDS + SECONDS_A_FRAME * frames)
    if result.code != 0:
        raise LabError(f"waypipe: {result.err[-2000:]}")


def by_waypipe(
    agent: Agent, watched: list[int], port: int, size: tuple[int, int], frames: int
) -> tuple[float, float, int]:
    """Seconds, seconds of CPU without Weston's, and bytes that the two waypipes write and read."""
    folder = Path(tempfile.mkdtemp(prefix="gw-", dir=common.memory_folder()))
    try:
        with screen(folder, size) as client:
            relay = Relay()
            with relay.listening(port, str(folder / "waypipe")):
                far = agent.start(["python3", str(PARTS / "relay.py"), IN_GUEST, str(port)])
                far.wait_for("ready", SECONDS)
                pids = [*watched, client.pid, os.getpid()]
                before, begin = sum(map(common.cpu_seconds, pids)), time.monotonic()
                redraw(agent, size, frames)
                seconds = time.monotonic() - begin
                cpu = sum(map(common.cpu_seconds, pids)) - before
                far.signal(9)
                agent.start(["rm", "-f", IN_GUEST]).wait(SECONDS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return seconds, cpu, 2 * relay.bytes
