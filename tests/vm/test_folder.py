# SPDX-License-Identifier: MIT
"""Where guests have their files, and what is known of KVM, whatever the user's environment says."""

import os
from pathlib import Path

import pytest
from gid_vm import accel, folder
from gid_vm.guest import Guest
from gid_vm.qemu import Machine
from gid_vm.sockets import PATH_BYTES


@pytest.mark.parametrize("said", [None, ""])
def test_the_cache_without_a_variable(monkeypatch: pytest.MonkeyPatch, said: str | None) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    if said is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", said)
    assert folder.cache_home() == Path("/home/somebody/.cache")


def test_a_temporary_folder_with_a_long_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """QEMU and gidway's programs have sockets there."""
    long = tmp_path / ("l" * 60)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    guest = Guest("open", Machine("open"))
    path = guest.agent.path
    guest.finish()
    assert len(os.fsencode(path)) <= PATH_BYTES
    assert not path.parent.exists()


class Kvm:
    """What a user may do, and what comes of a short boot."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may, self.boots = False, 0
        monkeypatch.setattr(accel.os, "access", lambda *_: self.may)
        monkeypatch.setattr(accel, "boots_with_kvm", self.boot)

    def boot(self) -> bool:
        self.boots += 1
        return True


def test_leave_to_use_kvm_may_be_given_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kvm = Kvm(monkeypatch)
    assert accel.probe_accel(tmp_path) == "tcg"
    kvm.may = True
    assert [accel.probe_accel(tmp_path) for _ in range(2)] == ["kvm", "kvm"]
    assert kvm.boots == 1


def test_an_answer_that_was_not_written_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The disk is full."""
    kvm = Kvm(monkeypatch)
    kvm.may = True

    def fail(path: Path, _: str) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full, pytest.raises(OSError):
        full.setattr(Path, "write_text", fail)
        accel.probe_accel(tmp_path)
    assert accel.probe_accel(tmp_path) == "kvm"
