# SPDX-License-Identifier: MIT
"""gidctl top shows a domain's display, gid-cluster, and the state of its roles; gidctl doctor, who
else may run where it does."""

import json
import os
import re
import signal
import subprocess

import pytest
from lib.cockpit import Cockpit
from lib.program import BUILD, PATIENCE, Program, wait_for

from lab.domains.configuration import section

GIDCTL = BUILD / "tools" / "gidctl" / "gidctl"
CONFIG = (
    section("display", "worst-frame=0 width=640 height=240")
    + section("role telltale", "domain=open width=320 height=80 deadline-ms=10000")
    + section("role camera", "domain=open x=320 width=320 height=80")
)


def top(cockpit: Cockpit, *arguments: str) -> str:
    command = [GIDCTL, "top", "--once", "--interval", "0.3", *arguments]
    result = subprocess.run(
        command, env=cockpit.env("cluster"), capture_output=True, text=True, timeout=PATIENCE
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


@pytest.fixture
def display(cockpit: Cockpit) -> Program:
    config = cockpit.folder / "cluster.conf"
    config.write_text(CONFIG)
    command = [BUILD / "cluster" / "gid-cluster", "--headless", f"--config={config}"]
    display = cockpit.run("cluster", command)
    display.wait_output("ready, with")
    return display


def top_with_display(cockpit: Cockpit, *arguments: str) -> str:
    """gidctl goes on without a display that is late with its answer."""

    def answered() -> str:
        text = top(cockpit, *arguments)
        return text if "ROLE" in text or '"roles"' in text else ""

    return wait_for(answered, "the display to answer in time")


def roles(cockpit: Cockpit) -> dict[str, dict]:
    found = json.loads(top_with_display(cockpit, "--json"))["display"]["roles"]
    return {role["name"]: role for role in found}


def test_roles(cockpit: Cockpit, display: Program) -> None:
    telltale = cockpit.run("open", [BUILD / "clients" / "gid-telltale"])
    wait_for(lambda: roles(cockpit)["telltale"]["state"] == "live", "the telltale to be live")
    assert roles(cockpit)["camera"]["state"] == "waiting"
    text = top_with_display(cockpit)
    assert "repaints a second" in text
    lines = {line.split()[0]: line for line in text.splitlines() if line}
    assert "live" in lines["telltale"] and "all checks passed" in lines["telltale"]
    assert "waiting" in lines["camera"] and "the stream has not appeared yet" in lines["camera"]
    telltale.kill()
    wait_for(lambda: roles(cockpit)["telltale"]["state"] == "lost", "its loss")
    assert "the producer or its domain died" in top_with_display(cockpit)


def test_no_display(cockpit: Cockpit) -> None:
    assert "ROLE" not in top(cockpit)
    assert "display" not in json.loads(top(cockpit, "--json"))


def test_a_domain_that_is_empty_is_none(cockpit: Cockpit) -> None:
    """There it would tell its status where nobody looks for it."""
    config = cockpit.folder / "cluster.conf"
    config.write_text(CONFIG)
    command = [BUILD / "cluster" / "gid-cluster", "--headless", f"--config={config}"]
    display = cockpit.run("cluster", command, GID_DOMAIN="")
    display.wait_output("no socket for the status: name the domain by --domain")
    display.kill()


def test_display_that_does_not_answer(cockpit: Cockpit, display: Program) -> None:
    display.signal(signal.SIGSTOP)
    assert "ROLE" not in top(cockpit)
    display.signal(signal.SIGCONT)
    wait_for(lambda: "ROLE" in top(cockpit), "the display to be back")


def test_doctor_tells_who_else_may_run_there(cockpit: Cockpit, display: Program) -> None:
    one = max(os.sched_getaffinity(0))
    os.sched_setaffinity(display.pid, {one})
    command = [GIDCTL, "doctor", "--json"]
    env = cockpit.env("cluster")
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE)
    found = [row for row in json.loads(result.stdout) if "runs on processor" in row["found"]]
    (row,) = found
    others = rf"gid-cluster runs on processor {one}, which (\d+) other programs? may use: .+"
    told = re.fullmatch(others, row["found"])
    assert told is not None and int(told[1]) > 0, "at least this test"
    assert (row["verdict"], row["what"]) == ("note", "domain cluster")
    assert row["remedy"].endswith("see PROCESSORS in gid-cluster(1)")
