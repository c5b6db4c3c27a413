# SPDX-License-Identifier: MIT
"""gid-cockpit up, while a guest boots that the test plays."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_cockpit import booting, machine
from gid_cockpit.configuration import Configuration, Domain, MachineKeys
from lib.program import PATIENCE, wait_for
from test_cockpit import Tool, tool  # noqa: F401

from lab.domains.configuration import configuration


@pytest.fixture
def guest(tool: Tool) -> Iterator[None]:  # noqa: F811
    """QEMU runs, and its console has said something."""
    for folder in ("open", "log/open"):
        (tool.runtime / folder).mkdir(mode=0o755, parents=True)
    said = "\x1b[0;32m  OK  \x1b[0m Reached target basic.target\r\n\x1bc\r\n"
    (tool.runtime / "log" / "open" / "console.log").write_text(said)
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.bind(str(tool.runtime / "open" / "monitor.sock"))
        monitor.listen(4096)  # nobody accepts those who look whether it is there
        yield


@pytest.mark.parametrize("accel", ["kvm", "tcg"])
@pytest.mark.usefixtures("guest")
def test_a_guest_that_takes_long(tool: Tool, accel: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """How far it is, how long it is waited for, and what to do then."""
    domains = {"host": "kind=host", "open": f"kind=guest\nvm-accel={accel}"}
    tool.write(configuration(domains, {"open host": "movie"}, runtime="{runtime}"))
    for which in ("kvm", "tcg"):
        seconds = 1.0 if which == accel else 1000.0
        monkeypatch.setattr(booting, f"{which.upper()}_SECONDS", seconds)
    monkeypatch.setattr(booting, "TELL_SECONDS", 0.5)
    result = tool.run("up")
    command = f"gid-cockpit --config {tool.config}"
    minutes = ", which takes minutes on a busy machine without KVM" if accel == "tcg" else ""
    missing = "the link of host to open is not up: "
    assert f"\nopen: booting{minutes}\n" in result.stdout
    assert f" s: {missing}" in result.stdout
    assert "\n  open says: OK   Reached target basic.target\n" in result.stdout
    assert result.stderr.startswith(f"gid-cockpit: {missing}")
    first, *then = result.stderr.splitlines()
    assert first.endswith(", after 1 s. The guests go on booting.")
    assert then == [f"Whether it is up: {command} status", f"What open says: {command} logs open"]
    assert result.returncode == 1


# It listens to its button from the third press on, and needs a while to end then.
QEMU = """
import contextlib, json, socket, sys, time
presses = 0
with socket.socket(socket.AF_UNIX) as monitor:
    monitor.bind(sys.argv[1])
    monitor.listen()
    while presses < 3:
        connection, _ = monitor.accept()
        with contextlib.suppress(OSError), connection, connection.makefile("rw") as file:
            print(json.dumps({"QMP": {}}), file=file, flush=True)
            for line in file:
                presses += json.loads(line)["execute"] == "system_powerdown"
                print(json.dumps({"return": {}}), file=file, flush=True)
    time.sleep(0.5)
sys.exit(7)
"""


@pytest.mark.parametrize(("accel", "seconds"), [("tcg", 0.0), ("kvm", 0.0), ("tcg", 20.0)])
def test_a_power_button_that_is_not_heard_yet(
    tmp_path: Path, accel: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is pressed again; a guest that never hears it is ended."""
    keys = MachineKeys(accel=accel, disks=(tmp_path / "disk",))
    domain = Domain("open", 1, None, frozenset(), "guest", machine=keys)
    one = machine.Guest(Configuration(tmp_path / "conf", tmp_path, (domain,)), domain)
    one.folder.mkdir()
    monkeypatch.setattr(machine, "PRESS_SECONDS", 0.1)
    which = "TRANSLATED_OFF_SECONDS" if accel == "tcg" else "POWER_OFF_SECONDS"
    monkeypatch.setattr(machine, which, seconds)
    with subprocess.Popen([sys.executable, "-c", QEMU, str(one.monitor)]) as qemu:
        try:
            wait_for(one.pid, "its monitor")
            assert one.stop()
            assert qemu.wait(PATIENCE) == (7 if seconds > 0.0 else -15)
        finally:
            qemu.kill()
