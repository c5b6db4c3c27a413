# SPDX-License-Identifier: MIT
"""A kernel is unpacked where that can be, and otherwise started as it is."""

import struct
import subprocess
from pathlib import Path

import pytest
from gid_vm import own_kernel
from gid_vm.kernel import unpack_kernel
from gid_vm.uml import folder_of_kernel

NOTE = struct.pack("<III4sQ", 4, 8, 18, b"Xen\0", 0x1000000)
KERNEL = b"\x7fELF" + bytes(5000) + NOTE + bytes(3000)
SECTORS = 2  # of the image, after the first


def zstd(data: bytes) -> bytes:
    return subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout


def make_image(path: Path, packed: bytes, offset: int = 100) -> Path:
    """As the boot protocol has it."""
    image = bytearray(512 * (SECTORS + 1)) + bytes(offset)
    image[0x1F1] = SECTORS
    image[0x202:0x206] = b"HdrS"
    struct.pack_into("<II", image, 0x248, offset, len(packed) + 4)
    path.write_bytes(image + packed + struct.pack("<I", len(KERNEL)) + b"and more")
    return path


def test_what_is_packed(tmp_path: Path) -> None:
    image, target = make_image(tmp_path / "vmlinuz", zstd(KERNEL)), tmp_path / "kernel"
    target.symlink_to(tmp_path / "elsewhere")
    assert unpack_kernel(image, target) == target
    assert target.read_bytes() == KERNEL and not target.is_symlink()
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "packed",
    [
        b"\x1f\x8b" + bytes(200),
        b"",
        zstd(KERNEL)[:-20],
        zstd(KERNEL.replace(NOTE, bytes(len(NOTE)))),
    ],
    ids=["packed otherwise", "not packed", "cut off", "no entry for QEMU"],
)
def test_otherwise_the_image_is_started(tmp_path: Path, packed: bytes) -> None:
    image, target = make_image(tmp_path / "vmlinuz", packed), tmp_path / "kernel"
    assert unpack_kernel(image, target) == image
    assert not target.exists()


@pytest.mark.parametrize("content", [b"", b"\x7fELF" + bytes(600), bytes(0x202) + b"HdrS"])
def test_what_is_no_packed_image(tmp_path: Path, content: bytes) -> None:
    image = tmp_path / "vmlinux"
    image.write_bytes(content)
    assert unpack_kernel(image, tmp_path / "kernel") == image


def test_without_zstd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = make_image(tmp_path / "vmlinuz", zstd(KERNEL))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert unpack_kernel(image, tmp_path / "kernel") == image


@pytest.mark.parametrize("is_program", [False, True])
def test_who_builds_a_kernel_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_program: bool
) -> None:
    monkeypatch.setattr(own_kernel, "is_program", lambda: is_program)
    assert own_kernel.is_to_be_built(tmp_path) == is_program
    folder_of_kernel(tmp_path).mkdir()
    assert not own_kernel.is_to_be_built(tmp_path)
