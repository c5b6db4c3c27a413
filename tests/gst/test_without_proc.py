# SPDX-License-Identifier: MIT
"""Where there is no /proc, as in a sandbox: all works whose gidd has one, and else it is said."""

import itertools
import subprocess

import pytest
from lib.cockpit import Cockpit
from lib.length import at_length_but
from lib.pipeline import FRAMES, LOSSLESS, Pipeline, gst_env, make_registry, sums_of
from lib.program import Program

# As containers have it: nothing, or what shows other processes than this one.
KINDS = {
    "none": "mount -t tmpfs none /proc",
    "another's": "mount --bind /tmp /proc",
}
UNSHARE = ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount", "sh", "-ec"]


SOURCE = (
    "videotestsrc pattern=ball num-buffers=40 ! "
    "video/x-raw,format=I420,width=320,height=240,framerate=30/1"
)


def without_proc(kind: str, *command: object) -> list[str]:
    return [*UNSHARE, KINDS[kind] + ' && exec "$@"', "sh", *map(str, command)]


def why_no_namespaces() -> str | None:
    """Why nothing can be run without /proc here, or None."""
    done = subprocess.run(without_proc("none", "true"), capture_output=True, text=True)
    return done.stderr.strip() if done.returncode != 0 else None


pytestmark = pytest.mark.skipif(why_no_namespaces() is not None, reason=str(why_no_namespaces()))


@pytest.mark.parametrize(
    ("kind", "who"),
    at_length_but(
        itertools.product(KINDS, ["open", "cluster", "open cluster"]),
        ("none", "open cluster"),
        ("another's", "open"),
        ("another's", "cluster"),
    ),
)
def test_frames_flow(cockpit: Cockpit, kind: str, who: str) -> None:
    """Each as it was sent, whoever has no /proc: the producer, its reader, or both."""
    under = {domain: without_proc(kind) if domain in who else [] for domain in cockpit.domains}
    watching = "gidsrc domain=open stream=movie ! fakesink name=watch sync=false"
    reader = Pipeline(cockpit, "cluster", watching, "--video-meta", "1", under=under["cluster"])
    sending = f"{SOURCE} ! gidsink name=sink stream=movie {LOSSLESS}"
    Pipeline(cockpit, "open", sending, under=under["open"]).finish()
    assert reader.finish().sums == sums_of(cockpit, SOURCE)


def test_memory_of_others_is_sent(cockpit: Cockpit) -> None:
    """What gidsrc read is handed on as it lies, and so is what it copied."""
    under = without_proc("none")
    reader = Pipeline(
        cockpit, "cluster", "gidsrc domain=open stream=relayed ! fakesink name=watch sync=false"
    )
    relaying = f"gidsrc domain=open stream=movie ! gidsink name=sink stream=relayed {LOSSLESS}"
    relay = Pipeline(cockpit, "open", relaying, under=under)
    sending = f"{SOURCE} ! gidsink stream=movie {LOSSLESS}"
    Pipeline(cockpit, "open", sending, under=under).finish()
    assert relay.finish().stats("sink")["copied-frames"] == 0
    assert reader.finish().sums == sums_of(cockpit, SOURCE)


def end_of(cockpit: Cockpit, domain: str, pipeline: str) -> str:
    """What a pipeline says that ends by itself, with an error, for its gidd has no /proc either.

    Not by gst-launch-1.0: that of GStreamer 1.26 sometimes goes on after an error where others
    compute, also without our elements (videotestsrc ! identity error-after=1 ! fakesink).
    """
    restart_without_proc(cockpit, domain)
    env = gst_env(cockpit.env(domain), make_registry())
    program = Program(without_proc("none", FRAMES, pipeline), env, cockpit.folder)
    assert program.wait() != 0
    return program.stdout + program.stderr


def restart_without_proc(cockpit: Cockpit, domain: str) -> None:
    """The domain's gidd goes on without /proc, and says what it cannot know then."""
    cockpit.kill(domain)
    gidd = cockpit.start(domain, under=without_proc("none"))
    gidd.wait_output("there is no /proc here")
    gidd.wait_output("serving in")


WORDS = "neither this program nor its gidd has a /proc of its own"


def test_a_reader_whose_gidd_has_none(cockpit: Cockpit) -> None:
    said = end_of(cockpit, "cluster", "gidsrc domain=open stream=movie ! fakesink")
    assert "Cannot subscribe to the stream" in said and WORDS in said


def test_a_producer_whose_gidd_has_none(cockpit: Cockpit) -> None:
    said = end_of(cockpit, "open", "videotestsrc ! gidsink stream=movie")
    assert WORDS in said and "no such gid" not in said


def test_a_gidd_without_it_serves_who_has_one(cockpit: Cockpit) -> None:
    restart_without_proc(cockpit, "open")
    watching = "gidsrc domain=open stream=movie ! fakesink name=watch sync=false"
    reader = Pipeline(cockpit, "cluster", watching, "--video-meta", "1")
    Pipeline(cockpit, "open", f"{SOURCE} ! gidsink stream=movie {LOSSLESS}").finish()
    assert reader.finish().sums == sums_of(cockpit, SOURCE)
