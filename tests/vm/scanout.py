# SPDX-License-Identifier: MIT
"""What vkms in a guest scans out, and the programs that show something on it.

The checksum of each refresh is that of the display controller, taken where its planes are mixed.
The pixels that it must come from are known here: nothing that composed them is asked.
"""

import datetime
import io
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy
import pytest
from domains import PATIENCE, Domains, OwnKernel, domains_of_a_guest
from gid_vm.initramfs import CannotBoot
from guests import Running
from lib.display import drawn_words
from lib.program import BUILD, SANITIZED, wait_for
from lib.vkms import CHECKSUMS, checksums_of
from PIL import Image

T = TypeVar("T")
WIDTH, HEIGHT = 640, 480
GUESTS = 10  # in which vkms may lose a picture, one after the other
FOLDER = Path("/run/scanout")  # of the guest
# What gid-cluster logs, and what asks-writeback ends with if it is the device's fault.
NOT_READ_BACK, NOT_WRITTEN = "what it shows is not read back now", 75
ASKS_WRITEBACK = BUILD / "tests/vm/asks-writeback"
ASK = """
import socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    print(connection.makefile().read())
"""
# As root, without a seat's daemon, and without a terminal.
ENVIRONMENT = {
    "LIBSEAT_BACKEND": "noop",
    "XDG_RUNTIME_DIR": str(FOLDER),
    "WESTON_MODULE_MAP": f"gid-buffer.so={BUILD}/weston-plugin/gid-buffer.so",
}


@contextmanager
def domains_with_a_display(modules: Sequence[str], *how: OwnKernel) -> Iterator[Domains]:
    try:
        guest = domains_of_a_guest(modules, *how)
        domains = guest.__enter__()
    except CannotBoot as error:
        pytest.skip(str(error))
    domains.run("mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug")
    domains.run("mkdir", "-m", "700", str(FOLDER))
    domains.run("sh", "-c", f"echo auto > {CHECKSUMS}/control")
    yield domains
    guest.__exit__(None, None, None)


class LostWriteback(Exception):
    """vkms (of Linux 7.2) lost a picture that it was to write, and is of no use from then on.

    It takes the end of each later one for that of the one before. It happens where the next commit,
    or the end of the checksums, comes between a commit and its refresh: on a machine so busy that
    the driver was interrupted there for a whole refresh. gid-cluster's word is no proof of that:
    asks-writeback is asked, see Cluster.blame().
    """


def until_written(test: Callable[[], T]) -> T:
    """Of a test in a guest of its own; in another one, should vkms there lose a picture. Each loss
    stays as a line of lost-writeback.log in the build folder."""
    for _ in range(GUESTS):
        try:
            return test()
        except LostWriteback:
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            with (BUILD / "lost-writeback.log").open("a", encoding="utf-8") as log:
                print(f"{now} {os.environ.get('PYTEST_CURRENT_TEST', '')}", file=log)
    pytest.fail(f"vkms lost a picture in each of {GUESTS} guests")


class Refreshes:
    """The checksums of refreshes, as they come, to one reader.

    It is not closed while anything is written back, for vkms then loses that: see LostWriteback.
    With writeback it makes checksums only of what is written.
    """

    _SCRIPT = "until command exec 3<$0/data; do sleep 0.1; done 2>/dev/null; exec cat <&3"

    def __init__(self, domains: Domains) -> None:
        self._said = b""
        self._lines: list[int] = []
        self._changed = threading.Condition()
        self._reader = domains.guest.agent.start(
            ["sh", "-c", self._SCRIPT, CHECKSUMS], hear=self._hear
        )

    def _hear(self, kind: str, data: bytes) -> None:
        whole, end, self._said = (self._said + data).rpartition(b"\n")
        with self._changed:
            self._lines += checksums_of((whole + end).decode())
            self._changed.notify_all()

    def next(self, count: int) -> list[int]:
        """Those that come now; none while the display is dark."""
        with self._changed:
            first = len(self._lines)
            self._changed.wait_for(lambda: len(self._lines) > first, 2)
            if len(self._lines) == first:
                return []
            assert self._changed.wait_for(lambda: len(self._lines) >= first + count, PATIENCE)
            return self._lines[first : first + count]

    def close(self) -> None:
        self._reader.signal(signal.SIGKILL)
        self._reader.wait(PATIENCE)


def write(domains: Domains, name: str, content: bytes) -> Path:
    path = FOLDER / name
    domains.run("sh", "-c", f"cat > {path}", stdin=content)
    return path


def png(picture: numpy.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


@contextmanager
def running(
    domains: Domains, *words: object, domain: str = "cluster", **environment: str
) -> Iterator[Running]:
    """A program of the guest, ended in good order."""
    program = Running(domains.start(domain, *words, **ENVIRONMENT | environment))
    try:
        yield program
    finally:
        program.signal(signal.SIGTERM)
        result = program.finish()
    assert result.code in (0, -signal.SIGTERM), result.err


def background_picture() -> numpy.ndarray:
    y, x = numpy.mgrid[:HEIGHT, :WIDTH]
    return numpy.stack([x % 256, y % 256, (x + y) % 256], axis=-1).astype(numpy.uint8)


def lamp_picture(number: int, width: int, height: int) -> numpy.ndarray:
    """Of dmabuf-lamp."""
    return drawn_words(number * 0x4F3B5, width, height)


@contextmanager
def refreshes_of(domains: Domains) -> Iterator[Refreshes]:
    refreshes = Refreshes(domains)
    try:
        yield refreshes
    finally:
        refreshes.close()


class Cluster:
    """A gid-cluster on the display, and what is asked of it."""

    def __init__(self, domains: Domains, program: Running, refreshes: Refreshes) -> None:
        self.domains = domains
        self.program = program
        self.refreshes = refreshes

    def status(self) -> dict:
        return json.loads(self.domains.run("python3", "-c", ASK, f"{FOLDER}/status").out)

    def role(self, name: str) -> dict:
        return next(role for role in self.status()["roles"] if role["name"] == name)

    def wait_shown(self, expected: set[int], count: int, what: str) -> None:
        """Until so many refreshes in a row have these checksums, and no others."""
        self.wait(lambda: set(self.refreshes.next(count)) == expected, what, pause=0.02)

    def blame(self) -> NoReturn:
        """Nothing is read back any more: whose fault is that? It ends gid-cluster."""
        self.program.signal(signal.SIGTERM)
        wait_for(lambda: not self.program.is_running, "its end", PATIENCE)
        asked = self.domains.guest.run([str(ASKS_WRITEBACK)], timeout=PATIENCE)
        if asked.code == NOT_WRITTEN:
            raise LostWriteback
        pytest.fail(
            f"gid-cluster reads nothing back of a device that writes ({asked.code}, {asked.err})\n"
            f"{self.program.err}"
        )

    def wait(self, condition: Callable[[], bool], what: str, pause: float = 0.2) -> None:
        def holds() -> bool:
            assert self.program.is_running, self.program.err
            if condition():
                return True
            if NOT_READ_BACK in self.program.err:
                self.blame()
            return False

        try:
            wait_for(holds, what, PATIENCE, pause)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.status()}\n{self.program.err}") from None


def cluster_command(domains: Domains, configuration: str) -> list[object]:
    """Confined to the calls that showing needs: any other one would end it."""
    config = write(domains, "cluster.conf", configuration.encode())
    words = [BUILD / "cluster/gid-cluster", "--config", config, "--status", FOLDER / "status"]
    return [*words, *([] if SANITIZED else ["--confine"])]


@contextmanager
def cluster_on_display(
    domains: Domains, configuration: str, **environment: str
) -> Iterator[Cluster]:
    words = cluster_command(domains, configuration)
    with refreshes_of(domains) as refreshes, running(domains, *words, **environment) as program:
        cluster = Cluster(domains, program, refreshes)
        wait_for(lambda: "ready, with" in program.err or not program.is_running, "it", PATIENCE)
        assert program.is_running, program.err
        yield cluster
