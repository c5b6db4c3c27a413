# SPDX-License-Identifier: MIT
"""--realtime where it is allowed, by what is asked for: tests run as users who may not."""

import os
from pathlib import Path

import pytest
from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.display import ROLE, Display, start_telltale
from lib.program import BUILD, wait_for

from lab.domains.configuration import section

GRANTED = BUILD / "tests" / "safety" / "granted_class.so"
LAYERS = section("layer film", "domain=open width=64 height=48") + section(
    "layer map", "x=500 width=64 height=48"
)


def asked(file: Path) -> list[tuple[str, int, int]]:
    """Whether it was the first thread, the class, and the priority."""
    rows = (line.split() for line in file.read_text().splitlines()) if file.exists() else ()
    return [(who, int(policy), int(priority)) for _, who, policy, priority in rows]


def test_the_display_goes_before_its_workers(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And those before ordinary programs, as far as a role, or the display's own domain, needs it.
    A stranger's film goes before nobody.
    """
    preload, file = Preload(GRANTED), cockpit.folder / "asked"
    with monkeypatch.context() as patch:
        for name, value in (preload.env | {"GRANTED_CLASS": str(file)}).items():
            patch.setenv(name, value)
        display = Display(cockpit, ROLE + LAYERS, ("--realtime=5",))
    start_telltale(cockpit, "--cycle", "5")
    start_telltale(cockpit, "--stream=film", "--size=64x48", "--cycle=5")
    cockpit.run(
        "cluster", [BUILD / "clients" / "gid-telltale", "--stream=map", "--size=64x48", "--cycle=5"]
    )
    display.wait_role("live")

    def layers() -> dict[str, dict]:
        return {layer["name"]: layer for layer in display.status()["layers"]}

    wait_for(lambda: {one["state"] for one in layers().values()} == {"live"}, "both layers")
    preload.check("gid-cluster")
    first = [row for row in asked(file) if row[0] == "first"]
    assert first == [("first", os.SCHED_FIFO, 5)]
    granted = wait_for(lambda: display.role()["examine_realtime_ns"], "the role's share")
    assert granted > 0 and layers()["map"]["examine_realtime_ns"] > 0
    assert layers()["film"]["examine_realtime_ns"] == 0
    workers = {row[1:] for row in asked(file) if row[0] == "other" and row[1] == os.SCHED_RR}
    assert workers and all(0 < priority < 5 for _, priority in workers)
    assert "no real-time priority" not in display.program.stderr
    assert display.program.stop() == 0, display.program.stderr


def test_a_limit_that_cannot_be_set_is_told(cockpit: Cockpit) -> None:
    """Whoever started it allows less real time: that stays, and the display goes on."""
    display = Display(cockpit, ROLE, ("--realtime",), under=("prlimit", "--rttime=500000:500000"))
    display.wait_said("no limit of real time: ")
    start_telltale(cockpit)
    display.wait_role("live")
    assert display.program.stop() == 0, display.program.stderr


def test_without_a_name_for_its_status(cockpit: Cockpit) -> None:
    """It shows all the same, and says how it is asked."""
    config = cockpit.folder / "unnamed.conf"
    config.write_text("[display]\nworst-frame=0\nwidth=64\nheight=48\n")
    env = {name: value for name, value in cockpit.env("cluster").items() if name != "GID_DOMAIN"}
    command = ["env", "--unset=GID_DOMAIN", BUILD / "cluster" / "gid-cluster"]
    display = cockpit.run("cluster", [*command, "--headless", "--config", config], "unnamed", **env)
    display.wait_output("no socket for the status: name the domain by --domain, or the socket by")
    display.wait_output("ready, with 0 roles")
    assert display.stop() == 0, display.stderr


def test_a_socket_with_a_name_that_is_too_long(cockpit: Cockpit) -> None:
    config = cockpit.folder / "long.conf"
    config.write_text("[display]\nworst-frame=0\nwidth=64\nheight=48\n")
    command = [BUILD / "cluster" / "gid-cluster", "--headless", "--config", config]
    display = cockpit.run("cluster", [*command, "--status", cockpit.folder / ("x" * 108)])
    display.wait_output("File name too long")
    display.wait_output("ready, with 0 roles")
    assert display.stop() == 0, display.stderr
    missing = cockpit.folder / "missing" / "status"
    display = cockpit.run("cluster", [*command, "--status", missing])
    display.wait_output(f"no socket for the status: {missing}: No such file or directory")
    assert display.stop() == 0, display.stderr


def test_without_a_configuration(cockpit: Cockpit) -> None:
    missing = cockpit.folder / "missing.conf"
    for options in ((), ("--check",)):
        command = [BUILD / "cluster" / "gid-cluster", "--config", missing, *options]
        display = cockpit.run("cluster", command)
        assert display.wait() == 1
        assert f"{missing}: No such file or directory" in display.stderr
        assert "write one, see gid-cluster(1)" in display.stderr
