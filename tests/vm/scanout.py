# SPDX-License-Identifier: MIT
"""What vkms in a guest scans out, and the programs that show something on it.

The checksum of each refresh is that of the display controller, taken where its planes are mixed.
The pixels that it must come from are known here: nothing that composed them is asked.
"""

import io
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy
import pytest
from domains import PATIENCE, Domains, OwnKernel, domains_of_a_guest
from gid_vm.initramfs import CannotBoot
from guests import Running
from lib.display import drawn_words
from lib.program import BUILD, CONFINE, wait_for
from lib.vkms import CHECKSUMS, checksums_of
from PIL import Image

WIDTH, HEIGHT = 640, 480
FOLDER = Path("/run/scanout")  # of the guest
ASK = """
import socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    print(connection.makefile().read())
"""
# A program's start costs a guest more than gid-cluster's answer: one asks, at each signal.
ASKER = """
import signal, socket, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
print('{"ready": true}', flush=True)
while signal.sigwait([signal.SIGUSR1]):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        print(connection.makefile().read().replace(chr(10), " "), flush=True)
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


class Refreshes:
    """The checksums of refreshes, as they come, to one reader."""

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
        self.program = program
        self.refreshes = refreshes
        words = ("python3", "-I", "-S", "-c", ASKER, f"{FOLDER}/status")
        self._asker = Running(domains.start("cluster", *words))
        self._asked = 0

    def status(self) -> dict:
        self._asker.wait_lines("ready", 1)
        self._asker.signal(signal.SIGUSR1)
        self._asked += 1
        return self._asker.wait_lines("roles", self._asked)[-1]

    def close(self) -> None:
        self._asker.signal(signal.SIGKILL)
        self._asker.finish()

    def role(self, name: str) -> dict:
        return next(role for role in self.status()["roles"] if role["name"] == name)

    def wait_shown(self, expected: set[int], count: int, what: str) -> None:
        """Until so many refreshes in a row have these checksums, and no others."""
        self.wait(lambda: set(self.refreshes.next(count)) == expected, what, pause=0.02)

    def wait(self, condition: Callable[[], bool], what: str, pause: float = 0.2) -> None:
        def holds() -> bool:
            assert self.program.is_running, self.program.err
            return condition()

        try:
            wait_for(holds, what, PATIENCE, pause)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.status()}\n{self.program.err}") from None


def cluster_command(domains: Domains, configuration: str) -> list[object]:
    """Confined to the calls that showing needs: any other one would end it."""
    config = write(domains, "cluster.conf", configuration.encode())
    words = [BUILD / "cluster/gid-cluster", "--config", config, "--status", FOLDER / "status"]
    return [*words, *CONFINE]


@contextmanager
def cluster_on_display(
    domains: Domains, configuration: str, **environment: str
) -> Iterator[Cluster]:
    words = cluster_command(domains, configuration)
    with refreshes_of(domains) as refreshes, running(domains, *words, **environment) as program:
        wait_for(lambda: "ready, with" in program.err or not program.is_running, "it", PATIENCE)
        assert program.is_running, program.err
        cluster = Cluster(domains, program, refreshes)
        try:
            yield cluster
        finally:
            cluster.close()
