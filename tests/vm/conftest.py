# SPDX-License-Identifier: MIT
"""Fixtures for all tests that have guests."""

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_vm.folder import memory_folder
from gid_vm.guest import Guest
from gid_vm.qemu import Window
from guests import CONFIG, WINDOW, Machines, commands_end

from lab.isolation.guest import DEVICES

DISK_SIZE = 2 * 320 * 180 * 4  # bytes: two pictures


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes from the machines what others need comes last, whatever its file."""
    marks = {item: item.get_closest_marker("last") for item in items}
    items.sort(key=lambda item: marks[item].args[0] if marks[item] else 0)


@pytest.fixture(autouse=True)
def kill_commands() -> Iterator[None]:
    """A guest is there for many tests: one camera that goes on takes it from all that follow."""
    with commands_end():
        yield


@pytest.fixture(scope="session")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    """A guest without a cockpit, with two windows: one of its own, one of others."""
    folder = tmp_path_factory.mktemp("window")
    windows = [Window(folder / name, WINDOW, writable=name == "own") for name in ("own", "others")]
    for window in windows:
        window.path.write_bytes(bytes(WINDOW))
    with Guest("open", memory_mib=512, windows=windows, devices=[*DEVICES]) as guest:
        yield guest


@pytest.fixture(scope="session")
def disk() -> Iterator[Path]:
    """What `open` has as a disk: two pictures."""
    folder = Path(
        tempfile.mkdtemp(prefix="gid-", dir=memory_folder())
    )  # short, for a line of a file
    path = folder / "disk"
    path.write_bytes(random.Random(1).randbytes(DISK_SIZE))
    yield path
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def machines(disk: Path) -> Iterator[Machines]:
    """Two guests for the tests of several files.

    The windows of `open` have pages, where the system can do that; `cluster` has devices.
    """
    drive = f"vm-options=-drive if=none,id=d,format=raw,readonly=on,file={disk}"
    drive += " -device virtio-blk-pci,drive=d -device virtio-gpu-pci"
    keys = f"window=32M\nwindow-kind=auto\n{drive}\n"
    machines = Machines(CONFIG.replace("window=32M\n", keys, 1))
    try:
        machines.boot("open", "cluster")
        yield machines
    finally:
        machines.close()
