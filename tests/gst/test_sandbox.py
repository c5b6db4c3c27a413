# SPDX-License-Identifier: MIT
"""In sandboxes that have less than a machine has: system calls, clocks, time."""

import signal
import subprocess
import sys
import time

import pytest
from lib.cockpit import Cockpit
from lib.length import at_length_but
from lib.pipeline import FRAMES, LOSSLESS, Pipeline, gst_env, make_registry, sums_of
from lib.program import COUNTED, SANITIZED, TOP, Program

REFUSING = TOP / "tests/lib/programs/refusing.py"
# What a program can do without. Older filters answer EPERM to what they do not know.
CALLS = ["futex_waitv", "membarrier", "pidfd_open", "rseq", "statx", "close_range", "clone3"]
SOURCE = (
    "videotestsrc pattern=ball num-buffers=40 ! "
    "video/x-raw,format=I420,width=320,height=240,framerate=30/1"
)
WATCHING = "gidsrc domain=open stream=movie ! fakesink name=watch sync=false"
OTHER_CLOCK = ["unshare", "--user", "--map-current-user", "--time"]


def refusing(error: str, *calls: str) -> list[str]:
    return [sys.executable, str(REFUSING), error, *calls, "--"]


def why_not(*command: str) -> str | None:
    done = subprocess.run([*command, "true"], capture_output=True, text=True)
    return (done.stderr.strip() or "refused") if done.returncode != 0 else None


no_filter = why_not(*refusing("ENOSYS", *CALLS)) or (
    SANITIZED and "a sanitizer makes its own calls"
)
no_clock = why_not(*OTHER_CLOCK, "--monotonic", "1000", "--")


def see_frames_flow(cockpit: Cockpit, under: dict[str, list[str]]) -> None:
    """Each as it was sent."""
    reader = Pipeline(cockpit, "cluster", WATCHING, "--video-meta", "1", under=under["cluster"])
    sending = f"{SOURCE} ! gidsink name=sink stream=movie {LOSSLESS}"
    Pipeline(cockpit, "open", sending, under=under["open"]).finish()
    assert reader.finish().sums == sums_of(cockpit, SOURCE)


@pytest.mark.skipif(bool(no_filter), reason=str(no_filter))
@pytest.mark.parametrize(
    ("error", "who"),
    at_length_but(
        [
            (error, who)
            for error in ("ENOSYS", "EPERM")
            for who in ("open", "cluster", "open cluster")
        ],
        ("ENOSYS", "open cluster"),
        ("ENOSYS", "cluster"),
    ),
)
def test_frames_flow_without_newer_calls(cockpit: Cockpit, error: str, who: str) -> None:
    """Programs of these domains and their gidds do without, whatever the other side has."""
    calls = CALLS if error == "ENOSYS" else [call for call in CALLS if call != "clone3"]
    under = {}
    for domain in cockpit.domains:
        under[domain] = refusing(error, *calls) if domain in who else []
        if under[domain]:
            cockpit.kill(domain)
            cockpit.start(domain, under=under[domain])
    cockpit.wait_links()
    see_frames_flow(cockpit, under)


@pytest.mark.skipif(bool(no_filter), reason=str(no_filter))
@pytest.mark.parametrize("error", ["ENOSYS", "EPERM"])
def test_without_memory_it_is_said(cockpit: Cockpit, error: str) -> None:
    """And nothing else: no missing share or /proc."""
    env = gst_env(cockpit.env("open"), make_registry())
    words = [*refusing(error, "memfd_create"), FRAMES, "videotestsrc ! gidsink stream=movie"]
    program = Program(words, env, cockpit.folder)
    assert program.wait() != 0
    said = program.stdout + program.stderr
    assert "refuses memfd_create(2)" in said, said


@pytest.mark.skipif(no_clock is not None, reason=str(no_clock))
@pytest.mark.parametrize("who", ["open", "cluster"])
@pytest.mark.parametrize("seconds", ["-60", "1000000"])
def test_a_clock_of_its_own(cockpit: Cockpit, who: str, seconds: str) -> None:
    """A container's time namespace has another monotonic clock: frames come all the same."""
    under = {domain: [] for domain in cockpit.domains}
    under[who] = [*OTHER_CLOCK, "--monotonic", seconds, "--"]
    see_frames_flow(cockpit, under)


@pytest.mark.skipif(COUNTED, reason="what counts is slower than the pauses")
def test_all_is_frozen_again_and_again(cockpit: Cockpit) -> None:
    """As by a container's freezer. Waits end with EINTR then, also without a handler."""
    reader = Pipeline(cockpit, "cluster", WATCHING, "--video-meta", "1")
    source = SOURCE.replace("num-buffers=40", "num-buffers=120")
    producer = Pipeline(
        cockpit,
        "open",
        f"{source} ! gidsink name=sink stream=movie {LOSSLESS.replace('sync=false', '')}",
    )
    programs = [reader, producer, *cockpit.gidds.values()]
    count = 0
    while producer.is_running():
        program = programs[count % len(programs)]
        program.signal(signal.SIGSTOP)
        time.sleep(0.005)
        program.signal(signal.SIGCONT)
        time.sleep(0.005)
        count += 1
    producer.finish()
    assert reader.finish().sums == sums_of(cockpit, source)
    assert count > 2 * len(programs)
