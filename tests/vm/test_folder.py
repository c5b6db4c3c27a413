# SPDX-License-Identifier: MIT
"""Where guests have their files, and what is known of KVM, whatever the user's environment says."""

import os
import resource
import shutil
from pathlib import Path

import pytest
from gid_vm import accel, folder, guest
from gid_vm.guest import Guest
from gid_vm.initramfs import CannotBoot, make_initramfs
from gid_vm.qemu import Machine
from gid_vm.sockets import PATH_BYTES


@pytest.mark.parametrize("said", [None, "", "cache", "./cache"])
def test_the_cache_without_a_variable(monkeypatch: pytest.MonkeyPatch, said: str | None) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    if said is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", said)
    assert folder.cache_home() == Path("/home/somebody/.cache")


def test_the_home_of_a_number_that_is_no_users(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(number: int) -> None:
        raise KeyError(number)

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert folder.cache_home() == Path("/.cache")


def test_a_temporary_folder_with_a_long_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """QEMU and gidway's programs have sockets there."""
    long = tmp_path / ("l" * 60)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    machine = Guest("open", Machine("open"))
    path = machine.agent.path
    machine.finish()
    assert len(os.fsencode(path)) <= PATH_BYTES
    assert not path.parent.exists()


def test_what_cannot_boot_leaves_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail() -> str:
        raise CannotBoot("no kernel")

    monkeypatch.setattr(guest, "short_folder", lambda: str(tmp_path))
    monkeypatch.setattr(guest, "probe_accel", fail)
    with pytest.raises(CannotBoot):
        Guest("open")
    assert list(tmp_path.iterdir()) == []


def test_an_initramfs_for_which_there_is_no_room(tmp_path: Path) -> None:
    """As on a full disk: what is in it has room, and all of it has not."""
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = Path(shutil.which("busybox")).stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * size, most[1]))
    try:
        with pytest.raises(CannotBoot, match="initramfs cannot be written: "):
            make_initramfs(tmp_path / "initramfs", None, {"more": bytes(3 * size // 2)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)


class Kvm:
    """What a user may do, and what comes of a short boot."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, modules: Path) -> None:
        self.may, self.boots = False, 0
        self.why: str | None = None  # it does not boot
        monkeypatch.setattr(accel.os, "access", lambda *_: self.may)
        monkeypatch.setattr(accel, "MODULES", modules)
        monkeypatch.setattr(accel, "boots_with_kvm", self.boot)

    def boot(self) -> str | None:
        self.boots += 1
        return self.why


def test_leave_to_use_kvm_may_be_given_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kvm = Kvm(monkeypatch, tmp_path)
    assert accel.probe_accel(tmp_path) == "tcg"
    kvm.may = True
    assert [accel.probe_accel(tmp_path) for _ in range(2)] == ["kvm", "kvm"]
    assert kvm.boots == 1


def test_an_answer_that_was_not_written_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The disk is full."""
    kvm = Kvm(monkeypatch, tmp_path)
    kvm.may = True

    def fail(path: Path, _: str) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full, pytest.raises(OSError):
        full.setattr(Path, "write_text", fail)
        accel.probe_accel(tmp_path)
    assert accel.probe_accel(tmp_path) == "kvm"


def test_why_a_guest_does_not_boot_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kvm = Kvm(monkeypatch, tmp_path)
    kvm.may, kvm.why = True, "a guest with KVM ended with status 1\nqemu: no"
    assert [accel.why_no_kvm(tmp_path) for _ in range(2)] == [kvm.why, kvm.why]
    assert (accel.probe_accel(tmp_path), kvm.boots) == ("tcg", 1)


def test_pvm_is_known_without_a_boot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It runs kernels that were built for it, and distributions' do not get anywhere."""
    kvm = Kvm(monkeypatch, tmp_path)
    kvm.may = True
    (tmp_path / "kvm_pvm").mkdir()
    assert accel.probe_accel(tmp_path) == "tcg"
    assert "PVM" in str(accel.why_no_kvm(tmp_path))
    assert kvm.boots == 0


def test_what_qemu_says_that_cannot_boot_with_kvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        accel.Machine, "arguments", lambda _: ["sh", "-c", "echo no MSR >&2; exit 3"]
    )
    assert accel.boots_with_kvm() == "a guest with KVM ended with status 3\nno MSR"
    monkeypatch.setattr(accel, "PROBE_SECONDS", 0.5)
    monkeypatch.setattr(
        accel.Machine, "arguments", lambda _: ["sh", "-c", "echo EDD; exec sleep 60"]
    )
    assert accel.boots_with_kvm() == "a guest with KVM did not boot within 0.5 s\nEDD"
