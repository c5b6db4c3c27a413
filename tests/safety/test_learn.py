# SPDX-License-Identifier: MIT
"""gid-cluster --learn: what keeps it from learning is said, and what it has learned stays."""

import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.display import LIAR, ROLE, liar_roles, start_telltale
from lib.program import BUILD, PATIENCE, wait_for

from lab.domains.configuration import section

CLUSTER = BUILD / "cluster" / "gid-cluster"
OTHER = section("role oil", "domain=open width=32 height=32 deadline-ms=500")


def command(cockpit: Cockpit, *options: str | Path, role: str = "telltale") -> list[str | Path]:
    config = cockpit.folder / "learn.conf"
    config.write_text(ROLE + OTHER)
    return [CLUSTER, "--config", config, "--learn", role, *options]


def refused(cockpit: Cockpit, *options: str | Path, role: str = "telltale") -> str:
    """What it says as it ends."""
    learner = cockpit.run("cluster", command(cockpit, *options, role=role), "refused")
    assert learner.wait() == 1, learner.stderr
    return learner.stderr


def hashes_in(file: Path) -> list[str]:
    text = file.read_text() if file.exists() else ""
    return re.findall("^[0-9a-f]{64}$", text, re.MULTILINE)


def test_no_such_role(cockpit: Cockpit) -> None:
    said = refused(cockpit, role="lamp")
    assert said.endswith("learn.conf has no [role lamp]; it has: telltale oil\n")


@pytest.mark.parametrize(
    "words",
    [
        ("--seconds", "0"),
        ("--seconds", "1x"),
        ("--seconds", "-"),
        ("--seconds", "86401"),
        ("--tolerance", "256"),
    ],
)
def test_no_such_number(cockpit: Cockpit, words: tuple[str, str]) -> None:
    learner = cockpit.run("cluster", command(cockpit, *words), "misused")
    assert learner.wait() == 2
    told = rf"{words[0]} must be a number from \d+ to \d+, not {words[1]}\n"
    assert re.search(told, learner.stderr)


def test_a_file_that_is_no_list(cockpit: Cockpit) -> None:
    """Of hashes: it stays as it is, whatever its owner wanted with it."""
    file = cockpit.folder / "letter"
    file.write_text("Dear Sir or Madam,\n")
    assert "letter: not a file of hashes" in refused(cockpit, "--output", file)
    assert file.read_text() == "Dear Sir or Madam,\n"
    assert f"{cockpit.folder}: " in refused(cockpit, "--output", cockpit.folder)


def test_no_daemon(make_cockpit: Callable[..., Cockpit]) -> None:
    """And none in a domain that is named by --domain."""
    cockpit = make_cockpit()
    file = cockpit.folder / "telltale.hashes"
    assert "cluster" in refused(cockpit, "--output", file)
    assert "nowhere" in refused(cockpit, "--output", file, "--domain", "nowhere")
    assert not file.exists()


def test_a_domain_that_there_is_not(cockpit: Cockpit) -> None:
    words = command(cockpit, role="far")
    with (cockpit.folder / "learn.conf").open("a") as config:
        config.write(section("role far", "domain=nowhere x=400 width=32 height=32 deadline-ms=500"))
    learner = cockpit.run("cluster", words, "refused")
    assert learner.wait() == 1
    assert "gid-cluster: safety/far: " in learner.stderr


def test_an_interrupt_ends_it_in_good_order(cockpit: Cockpit) -> None:
    """It says how much it knows, and knows that the next time."""
    start_telltale(cockpit, "--cycle", "20")
    file = cockpit.folder / "telltale.hashes"
    file.touch()  # an empty one is of no picture
    for before, signal_number in ((0, signal.SIGINT), (16, signal.SIGTERM)):
        wait_for(lambda: not cockpit.status("cluster")["subscriptions"], "no reader")
        learner = cockpit.run("cluster", command(cockpit, "--output", file))
        wait_for(lambda: cockpit.status("cluster")["subscriptions"], "it to read")
        wait_for(lambda: len(hashes_in(file)) == 16, "all pictures")
        learner.signal(signal_number)
        assert learner.wait() == 0, learner.stderr
        assert f"{file}: 16 pictures, {16 - before} of them new" in learner.stderr


@pytest.mark.parametrize("end", ["\n", ""])
def test_what_is_in_the_file_stays(cockpit: Cockpit, end: str) -> None:
    """What gid-monitor or people noted behind hashes, and between them: new ones are added."""
    file = cockpit.folder / "telltale.hashes"
    before = f"# by hand\n{'0' * 64} # off by librsvg\n\n{'1' * 64} # on by gl{end}"
    file.write_text(before)
    start_telltale(cockpit, "--cycle", "20")
    learner = cockpit.run("cluster", command(cockpit, "--output", file))
    wait_for(lambda: len(hashes_in(file)) == 16, "all pictures")
    learner.signal(signal.SIGINT)
    assert learner.wait() == 0, learner.stderr
    assert f"{file}: 18 pictures, 16 of them new" in learner.stderr
    text = file.read_text()
    assert text.startswith(before.rstrip("\n") + "\n")
    assert len(text.splitlines()) == len(before.splitlines()) + 16


def test_its_file_has_the_name_of_the_role(cockpit: Cockpit) -> None:
    start_telltale(cockpit, "--cycle", "20")
    folder = cockpit.folder / "here"
    folder.mkdir()
    words = command(cockpit, "--seconds", "3")
    done = subprocess.run(
        words, cwd=folder, env=cockpit.env("cluster"), capture_output=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.iterdir()] == ["telltale.hashes"]
    assert hashes_in(folder / "telltale.hashes")


def test_a_terminal_sees_how_far_it_is(cockpit: Cockpit) -> None:
    start_telltale(cockpit, "--cycle", "20")
    ours, theirs = os.openpty()
    try:
        words = command(cockpit, "--output", cockpit.folder / "seen.hashes", "--seconds", "3")
        done = subprocess.run(words, env=cockpit.env("cluster"), stderr=theirs, timeout=PATIENCE)
        said = os.read(ours, 1 << 16).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0, said
    assert re.search(r"\r\d+ frames, \d+ pictures ", said), said


def test_what_cannot_be_written_is_told(cockpit: Cockpit) -> None:
    """Also where its folder comes late: what cannot be written now is written at the end."""
    start_telltale(cockpit, "--cycle", "20")
    file = cockpit.folder / "late" / "telltale.hashes"
    assert "No such file or directory" in refused(cockpit, "--output", file, "--seconds", "2")
    learner = cockpit.run("cluster", command(cockpit, "--output", file, "--seconds", "4"))
    file.parent.mkdir()
    assert learner.wait() == 0, learner.stderr
    assert hashes_in(file)


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ("flip", "the pixels are not what the frame says"),
        ("no-hash", "the pixels are not what the frame says"),
        ("corrupted", "the producer says that pixels are wrong"),
        ("small", "a picture of another size than the region, or not linear"),
    ],
)
def test_a_lie_is_not_learned(cockpit: Cockpit, lie: str, why: str) -> None:
    file = cockpit.folder / "left.hashes"
    words = command(cockpit, "--output", file, role="left")
    (cockpit.folder / "learn.conf").write_text(liar_roles())
    liar = cockpit.run("open", [LIAR, lie])
    wait_for(lambda: len(cockpit.status("open")["streams"]) == 2, "its streams")
    liar.signal(signal.SIGUSR1)
    learner = cockpit.run("cluster", words)
    wait_for(lambda: f" left out: {why}\n" in learner.stderr, "a lie")
    known = hashes_in(file)
    learner.signal(signal.SIGINT)
    assert learner.wait() == 0, learner.stderr
    allowed = subprocess.run([LIAR, "hashes"], capture_output=True, text=True, check=True).stdout
    assert set(hashes_in(file)) <= set(allowed.splitlines()[0].split())
    assert set(known) <= set(hashes_in(file))
