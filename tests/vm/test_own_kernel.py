# SPDX-License-Identifier: MIT
"""A guest that is there for its kernel alone: User-mode Linux, where there is no KVM."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_vm import own_kernel, uml
from gid_vm.agent import GuestError
from gid_vm.guest import Guest, why_not
from gid_vm.initramfs import CannotBoot
from gid_vm.own_kernel import COUNTED, MODULES, UmlGuest
from gid_vm.qemu import Machine
from gid_vm.root import lent_folders
from gid_vm.uml import built_kernel, why_no_uml
from lib.program import BUILD, wait_for

DRIVERS = ("vkms", "vgem", "vivid", "visl", "vicodec", "vim2m")

needs_uml = pytest.mark.skipif(why_no_uml() is not None, reason=str(why_no_uml()))


@pytest.fixture(scope="module")
def guest() -> Iterator[Guest]:
    with UmlGuest("own", DRIVERS, GIDWAY_COLOUR="green") as guest:
        yield guest


@needs_uml
def test_it_has_the_kernels_test_drivers(guest: Guest) -> None:
    assert guest.run(["uname", "-n"]).out == "own\n"
    loaded = {line.split()[0] for line in guest.run(["lsmod"]).out.splitlines()}
    assert loaded >= {*DRIVERS}
    assert guest.run(["test", "-c", "/dev/udmabuf"]).code == 0


@needs_uml
def test_it_sees_the_folders_that_others_see_and_writes_to_one(guest: Guest) -> None:
    mounts = [line.split() for line in guest.run(["cat", "/proc/mounts"]).out.splitlines()]
    rights = {
        path.replace("\\040", " "): how.split(",")[0]
        for _, path, kind, how, *_ in mounts
        if kind == "hostfs"
    }
    lent = {*map(str, lent_folders()), str(MODULES)}
    assert rights == dict.fromkeys(lent, "ro") | {"/mnt/out": "rw"}
    assert guest.run(["sh", "-c", "echo here > /mnt/out/file"]).code == 0
    assert (guest.out / "file").read_text() == "here\n"
    assert guest.run(["touch", f"{MODULES}/file"]).code != 0


@needs_uml
def test_its_programs_counts_are_added_up_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of this machine that it sees under the same name, in one that it only reads."""
    with tempfile.TemporaryDirectory(dir=BUILD) as counted:
        monkeypatch.setenv(COUNTED, counted)
        with UmlGuest("counted") as guest:
            assert guest.run(["sh", "-c", f"echo 1 > '{counted}/count'"]).code == 0
            assert Path(counted, "count").read_text() == "1\n"


@needs_uml
def test_programs_have_their_environment_and_end_as_they_do(guest: Guest) -> None:
    assert guest.run(["sh", "-c", "echo $GIDWAY_COLOUR; exit 7"]).out == "green\n"
    assert guest.run(["sh", "-c", "exit 7"]).code == 7
    assert guest.run(["sh", "-c", "kill -9 $$"]).code == -signal.SIGKILL


@needs_uml
def test_much_passes_unchanged(guest: Guest) -> None:
    """All bytes there are, both ways, more than its serial line keeps at once."""
    data = bytes(range(256)) * 1024
    result = guest.run(["sh", "-c", "cat > /tmp/data"], stdin=data)
    assert result.code == 0
    assert guest.read(Path("/tmp/data")) == data


@needs_uml
def test_killed_it_leaves_nothing() -> None:
    with UmlGuest("own") as guest:
        guest.start(["sleep", "1000"])
        mine = children(guest.process.pid)
        assert len(mine) > 2
        guest.kill()
        wait_for(
            lambda: not any(Path(f"/proc/{pid}").exists() for pid in mine),
            "the processes of a killed guest to be gone",
        )
        with pytest.raises(GuestError):
            guest.run(["true"])
    assert not guest.work.exists()


def children(pid: int) -> set[int]:
    """It and all that it has started."""
    found = {pid}
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found |= children(int(child))
    return found


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_where_it_cannot_be_had_it_is_one_of_qemu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise CannotBoot("apt-get failed")

    monkeypatch.setattr(own_kernel, "is_program", lambda: True)
    monkeypatch.setattr(own_kernel, "UmlGuest", refuse)
    guest = own_kernel.own_kernel("own")
    assert isinstance(guest.machine, Machine)
    assert "apt-get failed" in capsys.readouterr().err
    shutil.rmtree(guest.work)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "bison" in str(why_no_uml(tmp_path)) and "flex" in str(why_no_uml(tmp_path))
    with pytest.raises(CannotBoot, match="bison"):
        built_kernel(tmp_path)


def test_a_build_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uml, "fetch_newer_sources", lambda wanted, work: work / "none.deb")
    monkeypatch.setattr(uml, "TOOLS", ())
    with pytest.raises(CannotBoot, match="dpkg-deb failed"):
        built_kernel(tmp_path / "cache")
    assert os.listdir(tmp_path / "cache") == ["uml.lock"]
