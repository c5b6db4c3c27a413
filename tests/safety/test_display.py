# SPDX-License-Identifier: MIT
"""gid-cluster as a service: who watches it, what it does without a screen."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import DISPLAY, ROLE, Display, start_telltale, telltale_picture
from lib.program import BUILD, PATIENCE, Program, wait_for

CLUSTER = BUILD / "cluster" / "gid-cluster"
ANSWERS_KEPT = 4  # for one user who may not have read them


def notified(cockpit: Cockpit, path: Path) -> Program:
    """gid-cluster, told of systemd's socket, and watched every 200 ms."""
    config = cockpit.folder / "watched.conf"
    config.write_text(DISPLAY + ROLE)
    command = [CLUSTER, "--headless", "--config", config]
    command += ["--status", cockpit.folder / "watched.sock"]
    return cockpit.run("cluster", command, NOTIFY_SOCKET=str(path), WATCHDOG_USEC="200000")


def test_signs_of_life(cockpit: Cockpit) -> None:
    """READY=1 once, then signs of life, and none while it stands still."""
    path = cockpit.folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(path))
        systemd.settimeout(PATIENCE)
        program = notified(cockpit, path)
        words = [systemd.recv(4096) for _ in range(20)]
        assert words.count(b"READY=1") == 1
        assert words.count(b"WATCHDOG=1") == 19
        program.signal(signal.SIGSTOP)
        systemd.setblocking(False)

        def silent() -> bool:
            """Nothing more comes for a while, once what was on its way is taken."""
            try:
                while True:
                    systemd.recv(4096)
            except BlockingIOError:
                time.sleep(0.5)
            try:
                systemd.recv(4096)
            except BlockingIOError:
                return True
            return False

        wait_for(silent, "no signs of life")
        program.signal(signal.SIGCONT)


def test_systemd_that_does_not_listen_stops_nothing(cockpit: Cockpit) -> None:
    path = cockpit.folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(path))
        program = notified(cockpit, path)
        program.wait_output("ready, with")
        time.sleep(2)  # more signs of life than the socket takes
        assert program.stop() == 0


def test_another_display_leaves_the_status_to_the_first(cockpit: Cockpit) -> None:
    """And its state. As long as that lives: what a killed one left behind is in nobody's way."""
    first = Display(cockpit)
    config = cockpit.folder / "other.conf"
    config.write_text(DISPLAY + ROLE.replace("[role telltale]", "[role other]"))
    command = [CLUSTER, "--headless", f"--config={config}", f"--status={first.status_path}"]
    others = [cockpit.run("cluster", command) for _ in range(ANSWERS_KEPT)]
    for other in others:
        other.wait_output("Address already in use")
        other.wait_output("ready, with")
    assert first.status()["frames"] > 0
    assert [other.stop() for other in others] == [0] * ANSWERS_KEPT
    assert "other" not in Path(f"{first.status_path}.state").read_text()
    first.program.kill()
    third = cockpit.run("cluster", command)
    third.wait_output("ready, with")
    wait_for(lambda: first.place.ask(first.status_path), "the status of the next one")


def test_a_file_in_the_place_of_the_status_stays(cockpit: Cockpit) -> None:
    path = cockpit.folder / "notes"
    path.write_text("mine")
    config = cockpit.folder / "cluster.conf"
    config.write_text(DISPLAY + ROLE)
    command = [CLUSTER, "--headless", f"--config={config}", f"--status={path}"]
    display = cockpit.run("cluster", command)
    display.wait_output("notes: File exists")
    display.wait_output("ready, with")
    assert display.stop() == 0
    assert path.read_text() == "mine"


def test_background(cockpit: Cockpit) -> None:
    """Shown where nothing else is; one that cannot be read is none, and keeps nothing up."""
    picture = telltale_picture(cockpit.folder, 9)
    config = f"[display]\nbackground={cockpit.folder / 'telltale-9.png'}\nwidth=320\nheight=80\n"
    config += "worst-frame=0\nstream=screen\n"
    display = Display(cockpit, "", display=config)
    wait_for(lambda: numpy.array_equal(display.screenshot(), picture), "the background")
    display.program.stop()
    (cockpit.folder / "telltale-9.png").write_text("no picture")
    display = Display(cockpit, "", display=config)
    display.wait_said("no PNG that can be read")
    assert not display.screenshot().any()


def test_a_display_of_no_size_has_one(cockpit: Cockpit) -> None:
    display = Display(cockpit, "", display="[display]\nworst-frame=0\nstream=screen\n")
    assert display.screenshot().shape == (720, 1280, 3)


@pytest.mark.parametrize("what", ["role lamp", "layer film"])
def test_a_fallback_that_is_no_picture_is_told(cockpit: Cockpit, what: str) -> None:
    config = cockpit.folder / "odd.conf"
    (cockpit.folder / "odd.png").write_text("no picture")
    keys = "fallback=odd.png\nwidth=64\nheight=48\ndeadline-ms=100\n"
    config.write_text(f"{DISPLAY}[{what}]\n{keys}")
    program = cockpit.run("cluster", [CLUSTER, "--headless", "--config", config])
    assert program.wait() == 1
    assert f"{what}: its fallback is no PNG that can be read" in program.stderr


def test_a_timeline_that_cannot_be_written_stops_nothing(cockpit: Cockpit) -> None:
    place = "/nowhere/points"
    display = Display(cockpit, under=("env", f"GID_TIMELINE={place}"))
    display.wait_said(f"no timeline: GID_TIMELINE={place}: No such file or directory")
    start_telltale(cockpit)
    display.wait_role("live")


def test_a_compositor_that_is_not_there_is_told(cockpit: Cockpit) -> None:
    config = cockpit.folder / "window.conf"
    config.write_text(DISPLAY + ROLE)
    where = {"WAYLAND_DISPLAY": "/nowhere/wayland-0", "WLR_BACKENDS": "wayland"}
    program = cockpit.run("cluster", [CLUSTER, "--config", config], **where)
    assert program.wait() == 1
    assert "no screen can be used" in program.stderr


@pytest.mark.skipif(any(Path("/dev/dri").glob("card*")), reason="there is a screen")
def test_without_a_screen_it_says_so_at_once(cockpit: Cockpit) -> None:
    config = cockpit.folder / "dark.conf"
    config.write_text(DISPLAY + ROLE)
    env = cockpit.env("cluster")
    for name in ("WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DISPLAY", "WLR_BACKENDS"):
        env.pop(name, None)
    program = Program([CLUSTER, "--config", config], env, cockpit.folder)
    assert program.wait() == 1
    lines = program.stderr.splitlines()
    assert len(lines) <= 4, lines
    assert any("--headless" in line for line in lines)


def test_headless_as_other_compositors_of_wlroots(cockpit: Cockpit) -> None:
    config = cockpit.folder / "slow.conf"
    config.write_text("[display]\nwidth=640\nheight=480\nrefresh=50\n" + ROLE)
    program = cockpit.run("cluster", [CLUSTER, "--config", config], WLR_BACKENDS="headless")
    wait_for(lambda: "ready, with" in program.stderr or not program.is_running(), "its screen")
    assert ": 640x480 at 50.000 Hz" in program.stderr


def test_shaders_are_not_kept_in_files_that_others_can_lock(cockpit: Cockpit) -> None:
    config = cockpit.folder / "gl.conf"
    config.write_text(DISPLAY + ROLE)
    kept = cockpit.folder / "kept"
    kept.mkdir()
    status = cockpit.folder / "gl.sock"
    command = [CLUSTER, "--headless", "--config", config, "--status", status]
    env = {"WLR_RENDERER": "gles2", "XDG_CACHE_HOME": str(kept)}
    program = cockpit.run("cluster", command, **env)
    # Without /dev/udmabuf it ends, when its shaders are compiled.
    wait_for(lambda: "ready, with" in program.stderr or not program.is_running(), "its shaders")
    assert "GL renderer" in program.stderr
    assert list(kept.iterdir()) == []


@pytest.mark.parametrize("option", ["-h", "--help", "-?", "-V", "--version"])
@pytest.mark.parametrize(
    "program",
    [
        "cluster/gid-cluster",
        "clients/gid-meter",
        "clients/gid-telltale",
        "clients/gid-view",
        "gidd/gidd",
        "tools/gidctl/gidctl",
    ],
)
def test_help_and_version(program: str, option: str) -> None:
    """All programs alike, on standard output, with success, and without a gidd."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GID_")}
    found = subprocess.run([BUILD / program, option], capture_output=True, text=True, env=env)
    name = program.rsplit("/", 1)[1]
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith(f"{name} " if "V" in option.upper() else f"Usage: {name} ")
