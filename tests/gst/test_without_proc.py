# SPDX-License-Identifier: MIT
"""Where there is no /proc, as in a sandbox: who cannot work without it says so, by its name."""

import subprocess

import pytest
from cockpit import Cockpit
from pipeline import FRAMES, gst_env, make_registry
from program import BUILD, Program

# As containers have it: nothing, or what shows other processes than this one.
KINDS = {
    "none": "mount -t tmpfs none /proc",
    "another's": "mount --bind /tmp /proc",
}
UNSHARE = ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount", "sh", "-ec"]


def without_proc(kind: str, *command: object) -> list[str]:
    return [*UNSHARE, KINDS[kind] + ' && exec "$@"', "sh", *map(str, command)]


def why_no_namespaces() -> str | None:
    """Why nothing can be run without /proc here, or None."""
    done = subprocess.run(without_proc("none", "true"), capture_output=True, text=True)
    return done.stderr.strip() if done.returncode != 0 else None


pytestmark = pytest.mark.skipif(why_no_namespaces() is not None, reason=str(why_no_namespaces()))


def end_of(cockpit: Cockpit, domain: str, kind: str, pipeline: str) -> str:
    """What a pipeline without /proc says, which ends by itself, with an error.

    Not by gst-launch-1.0: that of GStreamer 1.26 sometimes goes on after an error where others
    compute, also without our elements (videotestsrc ! identity error-after=1 ! fakesink).
    """
    env = gst_env(cockpit.env(domain), make_registry())
    program = Program(without_proc(kind, FRAMES, pipeline), env, cockpit.folder)
    assert program.wait() != 0
    return program.stdout + program.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_says_what_is_missing(cockpit: Cockpit, kind: str) -> None:
    said = end_of(cockpit, "cluster", kind, "gidsrc domain=open stream=movie ! fakesink")
    assert "Cannot subscribe to the stream" in said and "there is no /proc here" in said


@pytest.mark.parametrize("kind", KINDS)
def test_so_does_a_producer(cockpit: Cockpit, kind: str) -> None:
    said = end_of(cockpit, "open", kind, "videotestsrc ! gidsink stream=movie")
    assert "there is no /proc here" in said and "no such gid" not in said


def test_a_gidd_goes_on_and_says_what_it_cannot_know(cockpit: Cockpit) -> None:
    cockpit.kill("open")
    command = [BUILD / "gidd" / "gidd", "--config", cockpit.config_path, "--domain", "open"]
    gidd = cockpit.run("open", without_proc("none", *command))
    gidd.wait_output("there is no /proc here")
    gidd.wait_output("serving in")
    env = {domain: gst_env(cockpit.env(domain), make_registry()) for domain in cockpit.domains}
    source = "videotestsrc is-live=true ! gidsink stream=movie"
    cockpit.programs.append(
        Program(["gst-launch-1.0", *source.split()], env["open"], cockpit.folder)
    )
    sink = "gidsrc domain=open stream=movie num-buffers=3 ! fakesink"
    assert Program(["gst-launch-1.0", *sink.split()], env["cluster"], cockpit.folder).wait() == 0
    gidd.stop()
    del cockpit.gidds["open"]
