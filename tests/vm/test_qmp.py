# SPDX-License-Identifier: MIT
"""What a QEMU that a guest has taken over may answer to its monitor: one error, and soon."""

import contextlib
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_vm import monitor
from gid_vm.folder import memory_folder
from gid_vm.monitor import Monitor, MonitorError

GREETING = b'{"QMP": {}}\n'
DONE = b'{"return": {}}\n'
EVENT = b'{"event": "STOP"}\n'


@contextlib.contextmanager
def saying(first: bytes, again: bytes = b"") -> Iterator[Path]:
    """Where somebody listens who says this, whatever is asked, and `again` without an end."""
    with tempfile.TemporaryDirectory(prefix="gid-", dir=memory_folder()) as folder:
        path = Path(folder, "monitor")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen(1)

            def serve() -> None:
                port, _ = listener.accept()
                with port, contextlib.suppress(OSError):
                    port.sendall(first)
                    while again:
                        port.sendall(again)
                        time.sleep(0.01)
                    while port.recv(4096):
                        pass

            threading.Thread(target=serve, daemon=True).start()
            yield path


@pytest.mark.parametrize(
    "words",
    [
        b"5\n",
        b"[[\n",
        b"[" * 100_000 + b"\n",
        b'{"error": 1}\n',
        b'{"error": {}}\n',
        GREETING + b'{"error": null}\n',
        GREETING + b"7\n",
    ],
    ids=range(7),
)
def test_what_it_should_not_say(words: bytes) -> None:
    with saying(words) as path, pytest.raises(MonitorError), Monitor(path):
        pass


def test_events_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "SECONDS", 0.5)
    with saying(GREETING, EVENT) as path, pytest.raises(MonitorError, match="does not answer"):
        with Monitor(path):
            pass


@pytest.mark.parametrize("first", [b"", GREETING])
def test_one_byte_after_the_other(monkeypatch: pytest.MonkeyPatch, first: bytes) -> None:
    """Each of them comes in time, and no line ends."""
    monkeypatch.setattr(monitor, "SECONDS", 0.5)
    with saying(first, b" ") as path, pytest.raises(MonitorError, match="does not answer"):
        with Monitor(path):
            pass


def test_events_before_the_answer() -> None:
    with saying(GREETING + EVENT + DONE + EVENT + DONE) as path, Monitor(path) as found:
        assert found.execute("stop") == {}
