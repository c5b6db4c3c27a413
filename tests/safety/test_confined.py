# SPDX-License-Identifier: MIT
"""gid-cluster --confine: the display's thread makes few system calls; any other one ends it."""

import re
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.display import LIAR, ROLE, Display, liar_roles, start_telltale, telltale_picture
from lib.program import BUILD, wait_for

TELLTALE = BUILD / "clients" / "gid-telltale"
ODD_CALL = BUILD / "tests/lib/programs/odd_call.so"
FILM = "[layer film]\ndomain=open\nx=0\ny=120\nwidth=320\nheight=80\n"
CONFINE = ("--confine",)


def confined(display: Display) -> dict[int, bool]:
    """Whether each of its threads is."""
    found = {}
    for task in Path(f"/proc/{display.program.pid}/task").iterdir():
        status = (task / "status").read_text()
        found[int(task.name)] = re.search(r"^Seccomp:\s+2$", status, re.M) is not None
    return found


def test_all_that_it_does_in_a_life(cockpit: Cockpit) -> None:
    """Streams come and go, producers and daemons die, somebody looks on, others ask and lie."""
    display = Display(cockpit, ROLE + FILM, CONFINE)
    assert confined(display)[display.program.pid]
    telltale = start_telltale(cockpit, "--cycle", "5")
    film = start_telltale(cockpit, "--stream=film", "--cycle=20")
    display.wait_role("live")
    assert display.screenshot().any()
    for program in (telltale, film):
        program.signal(signal.SIGKILL)
    display.wait_role("lost")
    telltale = start_telltale(cockpit, "--cycle", "5")
    start_telltale(cockpit, "--stream=film", "--cycle=20")
    display.wait_role("live")
    for domain in ("open", "cluster"):
        cockpit.restart(domain)
        wait_for(lambda: display.status()["gidd"], "gidd to be back")
        display.wait_role("live")
    for _ in range(20):
        with socket.socket(socket.AF_UNIX) as asks:
            asks.connect(str(display.status_path))
    frames = display.status()["frames"]
    wait_for(lambda: display.status()["frames"] > frames + 180, "frames")
    telltale.kill()
    display.wait_role("lost")
    start_telltale(cockpit, "--state=3", "--cycle=0")
    display.wait_role("live")
    assert (display.region() == telltale_picture(cockpit.folder, 3)).all()
    assert display.program.stop() == 0, display.program.stderr


def test_what_liars_send(cockpit: Cockpit) -> None:
    display = Display(cockpit, liar_roles(), CONFINE)
    liar = cockpit.run("open", [LIAR, "notes"])
    for name in ("left", "right"):
        display.wait_role("live", name=name)
    liar.signal(signal.SIGUSR1)
    for name in ("left", "right"):
        display.wait_transition("hidden", name)
    liar.kill()
    cockpit.run("open", [LIAR, "flood"])
    for name in ("left", "right"):
        wait_for(lambda name=name: display.role(name)["state"] == "live", "the flood")
    assert display.program.stop() == 0, display.program.stderr


@pytest.mark.parametrize(
    "how", ["by its socket", "as the only one", "with a log that is not there"]
)
def test_gidd_comes_later_however_it_is_found(make_cockpit: Callable, how: str) -> None:
    """To look for one, and to say that there is none, takes calls of its own."""
    cockpit = make_cockpit("[domain cluster]\nnumber=2\nlocal=*\n")
    folder = cockpit.folder / "user"
    folder.mkdir(0o700)
    by_socket = how == "by its socket"
    under = ["env", "-u", "GID_DOMAIN"] + (["-u", "GID_RUNTIME_DIR"] if by_socket else [])
    under += [f"XDG_RUNTIME_DIR={folder}"]
    under += [f"GID_TIMELINE={folder}/no/log"] if "log" in how else []
    arguments = ("--domain", str(cockpit.socket("cluster"))) if by_socket else ()
    role = ROLE.replace("domain=open\n", "")
    display = Display(cockpit, role, (*CONFINE, *arguments), under=tuple(under))
    time.sleep(3)  # in which it looks for one, once a second
    cockpit.start("cluster")
    wait_for(lambda: display.status()["gidd"], "gidd")
    cockpit.run("cluster", [TELLTALE])
    display.wait_role("live")
    assert display.program.stop() == 0, display.program.stderr


def test_any_other_call_ends_it(cockpit: Cockpit) -> None:
    odd = cockpit.folder / "odd"
    preload = Preload(ODD_CALL)
    under = ("env", *(f"{name}={value}" for name, value in preload.env.items()), f"ODD_CALL={odd}")
    free = Display(cockpit, under=under)
    odd.touch()
    frames = free.status()["frames"]
    start_telltale(cockpit, "--cycle", "5")
    wait_for(lambda: free.status()["frames"] > frames + 60, "frames all the same")
    assert free.program.stop() == 0
    odd.unlink()
    display = Display(cockpit, arguments=CONFINE, under=under)
    display.wait_role("live")
    odd.touch()
    assert display.program.wait() == -signal.SIGSYS
    preload.check("gid-cluster")
