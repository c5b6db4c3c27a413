# SPDX-License-Identifier: MIT
"""A disk with no room left where the gidds have their sockets, and what of it others feel."""

import errno
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lib import own_mount
from lib.cockpit import Cockpit
from lib.gidwire import Export, memfd
from lib.program import wait_for
from reloading import reload_well

BYTES, FILES = 256 << 10, 64


class Disk:
    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gid-small-", dir="/tmp"))
        try:
            own_mount.mount(self.folder, f"size={BYTES},nr_inodes={FILES},mode=755")
        except OSError as error:
            self.folder.rmdir()
            pytest.skip(f"no file system can be mounted here: {error}")
        self._others = self.folder / "others"
        self._others.mkdir()

    def fill(self) -> None:
        """With as many files as it takes, and then with bytes."""
        with pytest.raises(OSError) as caught:
            for number in range(FILES + 1):
                (self._others / str(number)).touch()
        assert caught.value.errno == errno.ENOSPC
        with pytest.raises(OSError) as caught, (self._others / "0").open("wb", 0) as file:
            while True:
                file.write(bytes(4096))
        assert caught.value.errno == errno.ENOSPC

    def empty(self) -> None:
        for file in self._others.iterdir():
            file.unlink()

    def close(self) -> None:
        own_mount.unmount(self.folder)
        self.folder.rmdir()


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    disk.close()


@pytest.fixture
def cockpit(disk: Disk, make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    """Its sockets are on the disk."""
    cockpit = make_cockpit()
    cockpit.runtime = disk.folder / "run"
    cockpit.start_all()
    return cockpit


def test_what_runs_does_not_feel_it(cockpit: Cockpit, disk: Disk) -> None:
    """Sockets are there already, and frames are not in files."""
    disk.fill()
    with cockpit.connect("open") as client:
        error, _, words = client.export(Export(generations=0), memfd(4096))
        assert error == 0, words
    reload_well(cockpit, cockpit.config_path.read_text())
    for domain in cockpit.domains:
        assert [link["state"] for link in cockpit.status(domain)["links"]] == ["up"]


def test_one_that_starts_says_why_it_cannot(cockpit: Cockpit, disk: Disk) -> None:
    cockpit.kill("open")
    cockpit.socket("open").unlink()
    disk.fill()
    command = cockpit.gidd_command("open")
    gidd = cockpit.run("open", command, "full")
    wait_for(lambda: not gidd.is_running(), "gidd to end")
    assert gidd.process.returncode == 1
    assert "No space left on device" in gidd.stderr
    assert str(cockpit.runtime / "open") in gidd.stderr
    disk.empty()
    cockpit.start("open")
    cockpit.wait_links()
