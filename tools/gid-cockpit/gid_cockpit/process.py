# SPDX-License-Identifier: MIT
"""The process behind a socket: nothing is kept about those that run, so that it is asked for.

Whoever is asked may be about to end: that is no error, but as if it had ended.
"""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gid_vm import sockets

from .configuration import CockpitError

BUSY_SECONDS = 10.0
# Until what was started is ready, as long as it lives: a busy machine may need a minute.
START_SECONDS = 120.0

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the last when its terminal is closed


def listener(path: Path, kind: socket.SocketKind) -> int | None:
    """The process that listens at a unix socket, or None."""
    try:
        with sockets.connect(path, BUSY_SECONDS, kind) as connection:
            return sockets.listener(connection)
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    except PermissionError as error:
        raise CockpitError(f"{path}: {error.strerror}: be root, or its owner") from None
    except OSError as error:
        raise CockpitError(f"{path}: {error.strerror or error}") from None


def program(pid: int) -> str:
    """What the process runs. ProcessLookupError: it has just ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except FileNotFoundError:
        raise ProcessLookupError from None


def user(pid: int) -> int:
    """As whom the process runs. ProcessLookupError: it has just ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except FileNotFoundError:
        raise ProcessLookupError from None
    return int(next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1])


@contextmanager
def handle(pid: int, name: str) -> Iterator[int]:
    """A descriptor of the process, which errors call `name`. ProcessLookupError: it has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:
        raise CockpitError(
            f"{name} cannot be seen from here: it runs in another container"
        ) from None
    try:
        yield descriptor
    except PermissionError:
        raise CockpitError(f"{name} is another user's: process {pid}") from None
    finally:
        os.close(descriptor)


def check_ours(pid: int, folder: Path, name: str) -> None:
    """That whoever owns the folder may end the process itself. CockpitError: it may not.

    A link in the folder could lead to where anybody listens, whom we would end in its place.
    """
    owner = folder.lstat().st_uid
    if owner not in (0, os.geteuid()) and owner != user(pid):
        raise CockpitError(
            f"process {pid} listens in place of {name}, and is another user's than {folder}"
        )


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C comes after this: what is being started is ours to end by then."""
    came: list[int] = []
    # What is ignored stays so, as after nohup.
    numbers = [one for one in ENDS if signal.getsignal(one) != signal.SIG_IGN]
    before = [signal.signal(number, lambda which, _: came.append(which)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt


def pass_signals_on() -> Callable[[Callable[[signal.Signals], None]], None]:
    """From now on signals are no longer ours, but those of the command that is given later.

    Begun after the command, the command could outlive us: it prints before we know of it.
    """
    senders: list[Callable[[signal.Signals], None]] = []
    early: list[int] = []

    def take(number: int, _: object) -> None:
        if senders:
            senders[0](signal.Signals(number))
        else:
            early.append(number)

    def pass_on(send: Callable[[signal.Signals], None]) -> None:
        senders.append(send)
        for number in early:
            send(signal.Signals(number))

    for number in ENDS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as after nohup
            signal.signal(number, take)
    return pass_on
