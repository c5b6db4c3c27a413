# SPDX-License-Identifier: MIT
"""A short run of each program under valgrind: no memory that is gone, none lost, no bytes unset."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.display import DISPLAY, ROLE
from lib.pipeline import FRAMES, gst_env
from lib.program import BUILD, PATIENCE, Program, wait_for
from lib.wlroots_screen import WlrootsScreen

# What of a program's life is long under valgrind, on a busy machine.
LONG = 5 * PATIENCE


def under_valgrind(folder: Path, name: str) -> tuple[list[str], Path]:
    report = folder / f"valgrind-{name}.xml"
    command = ["valgrind", "--xml=yes", f"--xml-file={report}", "--num-callers=40"]
    command += ["--child-silent-after-fork=yes"]  # what it starts would write there, too
    return [*command, "--leak-check=full", "--show-leak-kinds=definite"], report


def complaints(report: Path) -> list[str]:
    """What valgrind says where our code is on the way: others' own is not our business."""
    found = []
    for error in ElementTree.parse(report).iter("error"):
        ours = [frame.text for frame in error.iter("obj") if str(BUILD) in (frame.text or "")]
        functions = " < ".join(frame.text or "" for frame in error.iter("fn"))
        # The storage that glibc keeps for a thread while it lives.
        if ours and "allocate_stack < pthread_create" not in functions:
            found.append(f"{error.findtext('kind')}: {functions}")
    return found


def ends_well(program: Program, report: Path, ask: bool = True) -> None:
    """Its exit status, which is 0, and what was found."""
    assert (program.stop(LONG) if ask else program.wait(LONG)) == 0, program.stderr
    assert complaints(report) == []


@pytest.fixture
def sender(cockpit: Cockpit) -> Iterator[Program]:
    """A stream `movie` of domain `open`, without valgrind."""
    text = "videotestsrc is-live=true ! video/x-raw,format=BGRx,width=64,height=48"
    program = Program(
        ["gst-launch-1.0", "-q", *f"{text} ! gidsink stream=movie".split()],
        gst_env(cockpit.env("open"), cockpit.folder / "registry.bin"),
        cockpit.folder,
    )
    yield program
    program.kill()


def test_gidd(cockpit: Cockpit, sender: Program) -> None:
    """That of the consumers' domain: a link, a client, a stream and its end."""
    cockpit.kill("cluster")
    cockpit.socket("cluster").unlink()
    command, report = under_valgrind(cockpit.folder, "gidd")
    gidd = cockpit.run(
        "cluster",
        [*command, *cockpit.gidd_command("cluster")],
        name="valgrind-gidd",
    )
    wait_for(cockpit.socket("cluster").exists, "gidd to listen", LONG)

    def is_linked() -> bool:
        return any(link["state"] == "up" for link in cockpit.status("cluster")["links"])

    wait_for(is_linked, "the link", LONG)
    text = "gidsrc domain=open stream=movie num-buffers=10 ! fakesink"
    watch = Program(
        ["gst-launch-1.0", "-q", *text.split()],
        gst_env(cockpit.env("cluster"), cockpit.folder / "registry.bin"),
        cockpit.folder,
    )
    assert watch.wait(LONG) == 0, watch.stderr
    ends_well(gidd, report)


@pytest.mark.parametrize("words", [["status"], ["list"], ["doctor"]], ids=lambda words: words[0])
def test_gidctl(cockpit: Cockpit, sender: Program, words: list[str]) -> None:
    command, report = under_valgrind(cockpit.folder, "gidctl")
    program = cockpit.run("cluster", [*command, BUILD / "tools/gidctl/gidctl", *words])
    program.wait(LONG)
    assert complaints(report) == []


@pytest.mark.parametrize("side", ["gidsink", "gidsrc"])
def test_elements(cockpit: Cockpit, sender: Program, side: str) -> None:
    """Both run to their end by themselves."""
    command, report = under_valgrind(cockpit.folder, side)
    source = "videotestsrc num-buffers=20 ! video/x-raw,format=BGRx,width=64,height=48"
    texts = {
        "gidsink": ("open", f"{source} ! gidsink stream=film sync=false"),
        "gidsrc": ("cluster", "gidsrc domain=open stream=movie num-buffers=20 ! fakesink"),
    }
    domain, text = texts[side]
    env = gst_env(cockpit.env(domain), cockpit.folder / "registry.bin") | {
        "GST_REGISTRY_FORK": "no",
        "G_SLICE": "always-malloc",
    }
    program = Program([*command, FRAMES, text], env, cockpit.folder)
    ends_well(program, report, ask=False)


def test_cluster_and_its_telltale(cockpit: Cockpit) -> None:
    folder = cockpit.folder
    config = folder / "cluster.conf"
    config.write_text(DISPLAY + ROLE)
    cluster, cluster_report = under_valgrind(folder, "cluster")
    display = cockpit.run(
        "cluster",
        [*cluster, BUILD / "cluster/gid-cluster", "--headless", "--config", config]
        + ["--status", folder / "cluster.sock"],
    )
    display.wait_output("ready, with", LONG)
    telltale, telltale_report = under_valgrind(folder, "telltale")
    lamp = cockpit.run("open", [*telltale, BUILD / "clients/gid-telltale"])
    display.wait_output("live", LONG)
    ends_well(lamp, telltale_report)
    ends_well(display, cluster_report)


def test_view(cockpit: Cockpit, sender: Program) -> None:
    screen = WlrootsScreen(cockpit, cockpit.folder)
    screen.wait_ready()
    command, report = under_valgrind(cockpit.folder, "view")
    words = [*command, BUILD / "clients/gid-view", "-d", "open", "-s", "movie", "-n", "10"]
    view = Program(words, screen.environment, cockpit.folder)
    ends_well(view, report, ask=False)
