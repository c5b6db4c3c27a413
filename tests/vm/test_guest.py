# SPDX-License-Identifier: MIT
"""Guests: they boot, do what they are told, end in time, and leave nothing behind."""

import os
import signal
import time
from pathlib import Path

import pytest
from gid_vm.agent import GuestError
from gid_vm.guest import Guest, why_not
from gid_vm.root import lent_folders
from guests import commands_end
from lib.program import PATIENCE, TOP, wait_for

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800),
]


def is_gone(pid: int) -> bool:
    return not os.path.exists(f"/proc/{pid}")


def test_it_is_a_machine_of_its_own(guest: Guest) -> None:
    result = guest.run(["sh", "-c", "hostname; uname -r; cat /proc/sys/kernel/random/boot_id"])
    name, release, boot = result.out.split()
    assert result.code == 0
    assert name == "open"
    assert release == guest.agent.release
    with open("/proc/sys/kernel/random/boot_id") as here:
        assert boot != here.read().strip()


def test_a_translated_guest_need_not_unpack_its_kernel(guest: Guest) -> None:
    if guest.machine.accel != "tcg":
        pytest.skip("KVM unpacks it in no time")
    assert guest.machine.kernel == guest.work / "kernel"
    assert guest.machine.kernel.read_bytes()[:4] == b"\x7fELF"


def test_who_is_lent_folders_cannot_be_suspended(guest: Guest) -> None:
    """They would be gone when it is woken, and with them all programs."""
    result = guest.run(["sh", "-c", "echo mem >/sys/power/state"])
    assert result.code != 0 and "Read-only file system" in result.err


def test_output_errors_input_and_exit_code_come_through(guest: Guest) -> None:
    script = 'cat; printf "%s" "$WORD" >&2; exit 7'
    data = bytes(range(1, 128)) * 2000  # more than the port takes at once
    result = guest.run(["sh", "-c", script], env={"WORD": "mirror"}, stdin=data)
    assert result.out.encode() == data
    assert (result.err, result.code) == ("mirror", 7)


def test_files_are_read_as_they_are(guest: Guest) -> None:
    data = bytes(range(256)) * 1000
    assert guest.run(["dd", "status=none", "of=/tmp/file"], stdin=data).code == 0
    assert guest.read(Path("/tmp/file")) == data
    assert guest.read(Path("/proc/sys/kernel/hostname")) == b"open\n"
    assert guest.read(Path("/tmp/no-such-file")) is None
    assert guest.read(Path("/tmp")) is None


def test_commands_run_side_by_side_and_print_as_they_go(guest: Guest) -> None:
    first = guest.start(["sh", "-c", "echo begun; sleep 30"])
    first.wait_for("begun", timeout=PATIENCE)
    assert guest.run(["echo", "meanwhile"]).out == "meanwhile\n"
    first.signal(signal.SIGTERM)
    assert first.wait(timeout=PATIENCE).code == -signal.SIGTERM


def test_what_a_test_leaves_in_a_guest_is_ended(guest: Guest) -> None:
    """With all that it started, as a host's programs are: see conftest.py."""
    with commands_end():
        left = guest.start(["sh", "-c", "sleep 987 & echo begun; wait"])
        left.wait_for("begun", timeout=PATIENCE)
        ended = guest.start(["true"])
        ended.wait(timeout=PATIENCE)
    assert (left.code, ended.code) == (-signal.SIGKILL, 0)
    assert guest.run(["pgrep", "-f", "^sleep 987"]).out == ""


def test_its_clock_is_as_fast_as_ours(guest: Guest) -> None:
    """It is not found out by a loop at boot, when the machine may be busy."""

    def uptime() -> tuple[float, float, float]:
        before = time.monotonic()
        said = guest.run(["cat", "/proc/uptime"], timeout=PATIENCE).out
        return before, float(said.split()[0]), time.monotonic()

    first = uptime()
    time.sleep(3)
    second = uptime()
    passed = second[1] - first[1]
    least, most = second[0] - first[2], second[2] - first[0]
    assert 0.99 * least - 0.02 <= passed <= 1.01 * most + 0.02  # it counts in hundredths


def test_it_need_not_look_at_gstreamers_plugins(guest: Guest) -> None:
    """It has what is known of them here, and can write down what has changed since."""
    assert guest.run(["sh", "-c", "test -s $GST_REGISTRY && test -w $GST_REGISTRY"]).code == 0
    assert guest.run(["gst-inspect-1.0", "--exists", "videotestsrc"]).code == 0


def test_a_command_that_is_not_there(guest: Guest) -> None:
    result = guest.run(["no-such-command"])
    assert result.code == 127
    assert "no-such-command" in result.err


def test_a_command_over_its_time_is_killed_and_told(guest: Guest) -> None:
    command = guest.start(["sh", "-c", "echo patience; sleep 4321; true"])
    command.wait_for("patience", timeout=PATIENCE)
    with pytest.raises(GuestError, match="over 1 s.*patience"):
        command.wait(timeout=1)
    wait_for(lambda: guest.run(["pgrep", "-f", "^sleep 4321"]).code == 1, "it to be gone")


def test_waiting_for_words_that_never_come_ends(guest: Guest) -> None:
    command = guest.start(["sleep", "0.5"])
    with pytest.raises(GuestError, match="did not print 'ready'"):
        command.wait_for("ready", timeout=PATIENCE)


def test_the_root_is_read_only_and_files_come_out(guest: Guest) -> None:
    assert guest.run(["touch", "/usr/gidway-was-here"]).code != 0
    assert guest.run(["sh", "-c", "echo taken > /mnt/out/picture && sync"]).code == 0
    assert (guest.out / "picture").read_text() == "taken\n"


def test_it_sees_what_it_needs_of_this_machine_and_nothing_else(guest: Guest) -> None:
    beside = [path for path in lent_folders() if path.is_relative_to(TOP.parent)]
    names = {path.relative_to(TOP.parent).parts[0] for path in beside}
    assert guest.run(["ls", "-A", str(TOP.parent)]).out.splitlines() == sorted(names)
    mounts = [line.split() for line in guest.run(["cat", "/proc/mounts"]).out.splitlines()]
    lent = {path.replace("\\040", " ") for _, path, kind, *_ in mounts if kind == "9p"}
    assert lent == {*map(str, lent_folders()), "/mnt/out"}
    rights = {path: how.split(",")[0] for _, path, kind, how, *_ in mounts if kind == "9p"}
    assert {path for path, right in rights.items() if right != "ro"} == {"/mnt/out"}
    assert guest.run(["ls", "/"]).out.split() == sorted(
        {"bin", "dev", "etc", "lib", "lib64", "mnt", "proc", "root", "run", "sbin", "sys", "tmp"}
        | {"var"}
        | {path.parts[1] for path in lent_folders()}
    )
    assert (
        guest.run(["find", "/etc", "/run", "-name", "*shadow*", "-o", "-name", "*.sock"]).out == ""
    )


@pytest.mark.last(1)
def test_it_powers_off_and_leaves_nothing(guest: Guest) -> None:
    """The last that is asked of this one."""
    pid = guest.process.pid
    running = guest.start(["sleep", "600"])
    guest.finish()
    assert guest.process.returncode == 0  # of QEMU itself: not killed
    assert is_gone(pid)
    assert not guest.work.exists()
    with pytest.raises(GuestError):
        running.wait_for("anything", timeout=1)


def test_a_guest_that_cannot_boot_is_told_with_qemus_own_words() -> None:
    guest = Guest("cluster", devices=["-device", "no-such-device"])
    with pytest.raises(GuestError, match="(?s)(does not start|ended).*no-such-device"):
        with guest:
            pass
    assert not guest.work.exists()
