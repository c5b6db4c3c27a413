# SPDX-License-Identifier: MIT
"""A surface in dma-bufs as a safety surface of another machine: no dma-buf crosses, a copy does.

With guests, which is of the suite long; test_lent.py has the first of it without.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_vm.guest import why_not
from guests import SECONDS, Machines, Running
from lib.display import HEIGHT, WIDTH, Display
from lib.program import BUILD, wait_for
from lib.weston import SHELL_CONFIG

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800),
]

FOLDER = Path("/run/lent")  # of the guest
MAP = BUILD / "clients" / "gid-map"
ROLE = f"[gid-safety]\nrole=telltale\nclients={MAP}\nsize={WIDTH}x{HEIGHT}\n"
ROLE += "client-ms=60000\nlease-ms=60000\n"
ENVIRONMENT = {
    "XDG_RUNTIME_DIR": str(FOLDER),
    "WESTON_MODULE_MAP": f"gid-buffer.so={BUILD}/weston-plugin/gid-buffer.so",
    "WAYLAND_DISPLAY": "lent",
}


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    machines = Machines()
    try:
        machines.boot("open")
        machines.start("open", "modprobe", "udmabuf").finish()  # or it is a part of the kernel
        yield machines
    finally:
        machines.close()


def start_weston(machines: Machines, role: str) -> Running:
    machines.run("open", "mkdir", "-p", "-m", "700", FOLDER)
    machines.run(
        "open", "sh", "-c", f"cat > {FOLDER}/weston.ini", stdin=(SHELL_CONFIG + role).encode()
    )
    words: list[str | Path] = ["weston", "--backend=headless", "--renderer=gl", "--socket=lent"]
    words += ["--shell=desktop-shell.so", "--idle-time=0", "--modules=gid-buffer.so"]
    words += [f"--config={FOLDER}/weston.ini"]
    weston = machines.start("open", *words, env=ENVIRONMENT)
    wait_for(lambda: "gid: ready" in weston.err, "weston to be ready", SECONDS)
    return weston


def start_map(machines: Machines, *arguments: str) -> Running:
    words = [MAP, "--udmabuf", "--role", "telltale", "--size", f"{WIDTH}x{HEIGHT}", *arguments]
    return machines.start("open", *words, env=ENVIRONMENT)


def counts(machines: Machines) -> dict:
    for subscription in machines.host.status("host")["subscriptions"]:
        if subscription["stream"] == "safety/telltale":
            return subscription["producer_counts"]
    raise AssertionError("nobody reads safety/telltale")


def test_each_picture_is_copied_once(machines: Machines) -> None:
    weston = start_weston(machines, ROLE)
    display = Display(machines.host, domain="host")
    client = start_map(machines)
    display.wait_role("live")
    shown = display.role()["shown_frames"]
    wait_for(lambda: display.role()["shown_frames"] > shown + 3, "it to move", SECONDS)
    seen = counts(machines)
    assert 3 < seen["copied_frames"] <= seen["frames"]
    assert seen["copied_bytes"] == seen["copied_frames"] * WIDTH * HEIGHT * 4
    client.signal(15)
    client.finish()
    display.wait_role("lost")
    assert weston.is_running, weston.err


def test_who_comes_later_gets_a_copy(machines: Machines) -> None:
    """A still picture was sent as it is, to nobody; the first reader is on another machine."""
    weston = start_weston(machines, ROLE)
    start_map(machines, "--still", "700")
    wait_for(lambda: "taken by process" in weston.err, "the role to be taken", SECONDS)
    display = Display(machines.host, domain="host")
    display.wait_role("live")
    assert counts(machines)["copied_frames"] >= 1


def test_no_copies(machines: Machines) -> None:
    weston = start_weston(machines, ROLE + "copy=false\n")
    display = Display(machines.host, domain="host")
    start_map(machines)
    wait_for(lambda: "which copy=false forbids" in weston.err, "the refusal", SECONDS)
    wait_for(lambda: display.role()["detail"] == "copy", "the reason", SECONDS)
