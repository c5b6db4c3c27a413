# SPDX-License-Identifier: MIT
"""Whose a window is: what the machine says, not what is written in it. And who may be a machine.

A domain writes all of its own window, so also its first page, which says whose it is.
"""

import pwd
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from gid_cockpit.machine import Guest as CockpitGuest
from gid_cockpit.machine import describe
from gid_vm.guest import Guest, why_not
from gid_vm.qemu import INDEX_STEP
from guests import CONFIG, LOOK_SECONDS, SECONDS, Machines
from lib.program import wait_for

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800),
]

PAGE = 4096
LOG = "/var/log/gidd.log"


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    # Without bells, whose drivers take a translated guest seconds.
    machines = Machines(CONFIG.replace("kind=guest\n", "kind=guest\ndoorbell=off\n"))
    yield machines
    machines.close()


def pose(machines: Machines, domain: str, other: str) -> None:
    """What `domain` may write at any time: that its window is the other's."""
    folder = machines.configuration.runtime / "window"
    theirs = next(path for path in sorted((folder / other).iterdir()) if reads(path, "cluster"))
    page = bytearray(theirs.read_bytes()[:PAGE])
    was = struct.pack("<Q", theirs.stat().st_size)
    assert page.count(was) == 1
    for path in (folder / domain).iterdir():
        if reads(path, "cluster"):
            with path.open("r+b") as window:
                window.write(page.replace(was, struct.pack("<Q", path.stat().st_size)))


def reads(path: Path, domain: str) -> bool:
    """Whether the domain has this file: by its name, NUMBER.READER-READER."""
    return str({"open": 1, "cluster": 2, "host": 3}[domain]) in path.name.split(".")[1].split("-")


def opened(guest: Guest, domain: str) -> str:
    """What the guest's gidd took for the domain's window; "" while it has none."""
    log = guest.run(["cat", LOG], timeout=SECONDS).out
    lines = [line for line in log.splitlines() if f" of domain {domain}: /sys" in line]
    lines = [line for line in lines if line.endswith(" MiB")]
    return lines[-1].partition(": /sys")[2].split(",")[0] if lines else ""


def test_a_domain_does_not_pose_as_another(machines: Machines) -> None:
    pose(machines, "open", "host")
    machines.boot("cluster")
    guest = machines.guests["cluster"]
    wait_for(lambda: opened(guest, "host"), "the host's window", SECONDS, LOOK_SECONDS)
    device = Path("/sys" + opened(guest, "host")).parent
    assert int(guest.run(["cat", str(device / "acpi_index")]).out) % INDEX_STEP == 3
    assert opened(guest, "open") == ""
    machines.guests.pop("cluster").finish()
    machines.wait_link("cluster", "down")


@pytest.mark.at_length
def test_where_the_machine_does_not_say_two_that_claim_one_number_are_refused(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that others made, without indices. tests/unit/gidd/test_window_claims.c has what is
    decided then, without a machine."""

    def without(*arguments: object) -> object:
        machine = describe(*arguments)
        machine.windows = [replace(window, domain=None) for window in machine.windows]
        return machine

    monkeypatch.setattr("guests.describe", without)
    pose(machines, "open", "host")
    guest = machines.launch("cluster")
    guest.wait_ready()
    words = "3 devices claim to be window 2 of domain 3: none is taken"
    wait_for(
        lambda: words in guest.run(["cat", LOG], timeout=SECONDS).out, words, SECONDS, LOOK_SECONDS
    )
    assert opened(guest, "host") == ""
    machines.guests.pop("cluster").finish()


@pytest.mark.needs_root
def test_a_guest_of_a_user_has_only_its_own() -> None:
    """Its QEMU runs as that user, and comes to the hub; other guests' windows are shut to it."""
    machines = Machines(CONFIG.replace("number=4\n", "number=4\nuser=nobody\n"))
    spare = machines.configuration.by_name("spare")
    guest = CockpitGuest(machines.configuration, spare)
    nobody = pwd.getpwnam("nobody")
    machines.host.folder.chmod(0o711)
    try:
        pid = guest.start()
        status = Path(f"/proc/{pid}/status").read_text()
        assert f"\nUid:\t{nobody.pw_uid}\t{nobody.pw_uid}\t" in status
        machines.wait_link("spare", "up")
        groups = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        runtime = machines.configuration.runtime
        files = sorted((runtime / "window").glob("*/*"))
        seen = set()
        for path in files:
            rights = "r" if "4" in path.name.partition(".")[2].split("-") else ""
            rights = "rw" if path.parent.name == "spare" else rights
            script = 'test -r "$1" && printf r; test -w "$1" && printf w; true'
            command = ["sh", "-c", script, "sh", str(path)]
            found = subprocess.run(command, capture_output=True, text=True, **groups)
            assert found.stdout == rights, path
            seen.add((path.parent.name, rights))
        both = {("host", "r"), ("host", ""), ("spare", "rw"), ("open", ""), ("cluster", "")}
        assert seen == both
    finally:
        guest.stop()
        machines.close()
        shutil.rmtree(guest.folder, ignore_errors=True)
