# SPDX-License-Identifier: MIT
"""gid-cockpit guest, as systemd runs it. A guest with an empty disk comes up, and never boots."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from gid_vm.guest import why_not
from lib.program import PATIENCE, wait_for
from test_cockpit import Tool, is_alive, tool  # noqa: F401

from lab.domains.configuration import configuration

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

GUEST = configuration(
    {
        "host": "kind=host window=1M",
        "open": "kind=guest window=1M vm-accel=tcg vm-disk={disk} vm-memory=64M",
    },
    {"open host": "movie"},
    runtime="{{runtime}}",
)


@pytest.fixture
def guest(tool: Tool) -> Tool:  # noqa: F811
    disk = tool.folder / "empty.img"
    disk.write_bytes(bytes(1 << 20))
    tool.write(GUEST.format(disk=disk))
    return tool


@contextmanager
def begun(tool: Tool, **environment: str) -> Iterator[subprocess.Popen]:  # noqa: F811
    process = subprocess.Popen(
        ["gid-cockpit", "--config", str(tool.config), "guest", "open"],
        env=tool.env | environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@contextmanager
def service(tool: Tool) -> Iterator[tuple[subprocess.Popen, int]]:  # noqa: F811
    """The command once it is ready, and QEMU's process."""
    place = tool.folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        place.unlink(missing_ok=True)
        ready.bind(str(place))
        ready.settimeout(PATIENCE)
        with begun(tool, NOTIFY_SOCKET=str(place)) as process:
            assert b"READY=1" in ready.recv(4096).splitlines()
            yield process, tool.status()["open"]["pid"]


def test_it_lives_as_long_as_its_guest(guest: Tool) -> None:
    assert guest.run("up", "host").returncode == 0
    with service(guest) as (process, qemu):
        assert is_alive(qemu)
        second = guest.run("guest", "open")
        assert (second.returncode, f"runs already: process {qemu}" in second.stderr) == (1, True)
        assert process.poll() is None
        os.kill(qemu, signal.SIGKILL)
        assert process.wait(PATIENCE) == 1  # so that it is started again
        assert "QEMU of open has ended: SIGKILL" in process.stderr.read()
    with service(guest) as (_, again):
        assert again != qemu
        os.kill(again, signal.SIGKILL)


def test_it_waits_for_the_hosts_gidd_to_run(guest: Tool) -> None:
    result = guest.run("guest", "open")
    assert result.returncode == 1
    assert "the gidd of host does not run" in result.stderr


def put_before_qemu(guest: Tool, script: str) -> None:  # noqa: F811
    """What runs in its place."""
    programs = guest.folder / "programs"
    programs.mkdir()
    qemu = programs / "qemu-system-x86_64"
    qemu.write_text(f"#!/bin/sh\n{script}\n")
    qemu.chmod(0o755)
    guest.env["PATH"] = f"{programs}:{guest.env['PATH']}"


@pytest.mark.timeout(200)
def test_a_busy_machine(guest: Tool) -> None:  # noqa: F811
    """QEMU that takes long to start is waited for."""
    assert guest.run("up", "host").returncode == 0
    put_before_qemu(guest, f'sleep 12; exec {shutil.which("qemu-system-x86_64")} "$@"')
    with service(guest) as (_, qemu):
        assert is_alive(qemu)


@pytest.mark.timeout(200)
def test_two_that_start_it_at_once(guest: Tool) -> None:  # noqa: F811
    """Whoever comes second waits, finds it running, and leaves it alone."""
    assert guest.run("up", "host").returncode == 0
    starts = guest.folder / "starts"
    put_before_qemu(
        guest, f'echo >>"{starts}"; sleep 3; exec {shutil.which("qemu-system-x86_64")} "$@"'
    )
    with begun(guest) as first:
        wait_for(starts.exists, "the first start")
        second = guest.run("guest", "open")
        assert (second.returncode, "runs already: process" in second.stderr) == (1, True)
        assert first.poll() is None
        assert is_alive(guest.status()["open"]["pid"])
        assert starts.read_text() == "\n"


@pytest.mark.timeout(200)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_guest_that_does_not_power_off_is_ended(guest: Tool, number: signal.Signals) -> None:
    assert guest.run("up", "host").returncode == 0
    with service(guest) as (process, qemu):
        process.send_signal(number)
        assert process.wait(2 * PATIENCE) == 0
        wait_for(lambda: not is_alive(qemu), "QEMU to be gone")


def test_no_domain_but_a_guest(guest: Tool) -> None:
    result = guest.run("guest", "host")
    assert result.returncode == 1
    assert "host is not a guest" in result.stderr


def test_its_logs_are_the_services(guest: Tool) -> None:
    """What it says is the journal's: there are no files beside."""
    assert guest.run("up", "host").returncode == 0
    with service(guest) as (_, qemu):
        os.kill(qemu, signal.SIGKILL)
    assert not list(Path(guest.folder).rglob("console.log"))


def test_what_a_machine_says_reaches_a_terminal_as_text_alone(guest: Tool) -> None:
    """Its last lines are shown where it does not start: they are a guest's, and may be anything."""
    assert guest.run("up", "host").returncode == 0
    lines = "a\\033[31mb\\302\\233mc\\342\\200\\256d\\342\\201\\246e\\377f"
    put_before_qemu(guest, f"printf '{lines}\\n' >&2\nexit 1")
    result = guest.run("up", "open")
    assert result.returncode == 1
    said = r"a\x1b[31mb\x9bmc\u202ed\u2066e" + "\N{REPLACEMENT CHARACTER}" + "f"
    assert said in result.stderr
