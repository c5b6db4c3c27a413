# SPDX-License-Identifier: MIT
"""The crates of rust/: their own tests, between two domains, and frames that cross languages.

No build needs them: where there is no cargo they are skipped.
"""

import re
import signal
from collections.abc import Callable

import gid
import numpy as np
import pytest
from lib.cockpit import Cockpit
from lib.crates import CRATES, PATIENCE, TARGET, WITH_CARGO, cargo
from lib.faults import PROTECTED, STREAM, faults_of
from lib.keys import write_key
from lib.program import Program, devenv, wait_for

pytestmark = [*WITH_CARGO, pytest.mark.timeout(4 * PATIENCE)]

Start = Callable[..., Program]


@pytest.fixture
def example(cockpit: Cockpit) -> Start:
    """Starts an example of the crate in a domain."""
    built = cargo(CRATES, "build", "--examples", "--all-features")
    assert built.returncode == 0, built.stderr

    def start(domain: str, name: str, *words: object) -> Program:
        command = [TARGET / "debug/examples" / name, *map(str, words)]
        libraries = devenv()["LD_LIBRARY_PATH"]
        return cockpit.run(domain, command, name, LD_LIBRARY_PATH=libraries)

    return start


def test_the_crates_own_tests(cockpit: Cockpit) -> None:
    sockets = {f"GID_TEST_{name.upper()}": str(cockpit.socket(name)) for name in cockpit.domains}
    words = ("test", "--all-targets", "--all-features")
    done = cargo(CRATES, *words, GID_ANSWER_SECONDS="30", **sockets)
    print(done.stdout, done.stderr)
    assert done.returncode == 0
    assert len(re.findall(r"^test result: ok", done.stdout, re.M)) >= 2
    assert sum(map(int, re.findall(r"(\d+) passed", done.stdout))) >= 25


@pytest.mark.parametrize(("format", "planes"), [("XR24", 1), ("NV12", 2), ("R8", 1)])
def test_python_reads_what_rust_sends(
    cockpit: Cockpit, example: Start, format: str, planes: int
) -> None:
    program = example("open", "paint", "rust", 20, format)
    with gid.Domain(str(cockpit.socket("cluster"))) as domain:
        seen = []
        for frame in domain.consumer("rust", "open"):
            assert len(frame.planes) == planes
            with frame:
                values = np.unique(frame.planes[0])
                assert values.size == 1
                seen.append(int(values[0]))
    assert seen == list(range(20))
    assert program.wait() == 0, program.stderr


def test_rust_reads_what_python_sends(cockpit: Cockpit, example: Start) -> None:
    program = example("cluster", "look", "open", "movie", 10)
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        with domain.producer("movie", "NV12", 64, 48, patient=True) as producer:
            while producer.consumers == 0:
                assert program.is_running(), program.stderr
            for value in range(10):
                with producer.slot() as (luma, chroma):
                    luma[:], chroma[:] = value, 128
            assert program.wait() == 0, program.stderr
    lines = re.findall(r"^(\d+) \S+ NV12 64x48 mean (\d+) current true$", program.stdout, re.M)
    assert lines == [(str(value + 1), str(value)) for value in range(10)]
    assert "10 frames, 0 missed" in program.stdout


def test_who_ends_is_heard(cockpit: Cockpit, example: Start) -> None:
    """A reader that is killed leaves no frame with it; one whose producer is killed goes on."""
    reader = example("cluster", "look", "open", "rust")
    painter = example("open", "paint", "rust", 100000)
    reader.wait_output("current true")
    reader.kill()
    reader = example("cluster", "look", "open", "rust", 30)
    reader.wait_output("current true")
    painter.kill()
    example("open", "paint", "rust", 100000)
    assert reader.wait() == 0, reader.stderr
    assert "current false" not in reader.stdout


def seen(reader: Program) -> list[str]:
    """Of each frame of the example lamp what is wrong with it, or "good"."""
    return re.findall(r"^\d+ (?:wrong: )?([a-z-]+)", reader.stdout, re.M)


@pytest.mark.parametrize("profile", ["crc64", "cmac"])
def test_what_happens_on_the_way_is_named(cockpit: Cockpit, example: Start, profile: str) -> None:
    """By faults that another program makes, between its check and its ring."""
    key = write_key(cockpit.folder) if profile == "cmac" else "-"
    for fault, reason in faults_of(profile).items():
        sender = cockpit.run("open", [PROTECTED, fault, profile, key])
        reader = example("cluster", "lamp", "show", "open", STREAM, key)
        wait_for(lambda reader=reader: len(seen(reader)) > 5, "frames")
        assert set(seen(reader)) == {"good"}, fault
        sender.signal(signal.SIGUSR1)
        wait_for(lambda reader=reader: set(seen(reader)) - {"good"}, fault)
        assert next(one for one in seen(reader) if one != "good") == reason, fault
        sender.signal(signal.SIGUSR1)
        wait_for(lambda reader=reader: seen(reader)[-1] == "good", "good frames again")
        reader.kill()
        sender.kill()


@pytest.mark.parametrize("profile", ["crc64", "cmac"])
def test_both_languages_protect_alike(cockpit: Cockpit, example: Start, profile: str) -> None:
    key = write_key(cockpit.folder) if profile == "cmac" else "-"
    how = {"protection": profile} | ({"protection_key": key} if profile == "cmac" else {})
    program = example("open", "lamp", "send", "lamp", key, 20)
    with gid.Domain(str(cockpit.socket("cluster"))) as domain:
        reds = []
        for frame in domain.consumer("lamp", "open", **how):
            with frame as picture:
                reds.append(int(picture[0, 0, 2]))
    assert reds == [255] * 15 + [32] * 5
    assert program.wait() == 0, program.stderr
    program = example("cluster", "lamp", "show", "open", "lamp", key, 10)
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        with domain.producer("lamp", "XR24", 64, 48, patient=True, **how) as producer:
            while producer.consumers == 0:
                assert program.is_running(), program.stderr
            for value in range(10):
                with producer.slot() as picture:
                    picture[:] = value
            assert program.wait() == 0, program.stderr
    lines = re.findall(r"^(\d+) good, red (\d+)$", program.stdout, re.M)
    assert lines == [(str(value + 1), str(value)) for value in range(10)]
