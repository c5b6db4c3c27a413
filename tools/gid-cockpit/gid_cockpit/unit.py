# SPDX-License-Identifier: MIT
"""A guest as a service: for as long as this process lives, as gid-guest@.service has it."""

import os
import signal
import socket

from .configuration import CockpitError, Configuration, Domain
from .machine import Guest
from .process import ENDS, uninterrupted
from .start_lock import start_lock


class Ended(Exception):
    """We are to end."""


def _end(*_: object) -> None:
    raise Ended


def tell_systemd(words: str) -> None:
    """sd_notify(3), where somebody listens."""
    place = os.environ.get("NOTIFY_SOCKET")
    if not place:
        return
    address = f"\0{place[1:]}" if place.startswith("@") else place
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
        connection.sendto(words.encode(), address)


def serve(configuration: Configuration, domain: Domain) -> None:
    """Starts the guest, and waits. The signals of ENDS power it off. CockpitError: it has ended."""
    guest, pid = Guest(configuration, domain), None
    before = {
        number: signal.signal(number, _end)
        for number in ENDS
        if signal.getsignal(number) != signal.SIG_IGN  # as after nohup
    }
    try:
        with start_lock(configuration, domain):
            if (other := guest.pid()) is not None:
                raise CockpitError(f"the guest {domain.name} runs already: process {other}")
            with uninterrupted():  # before it can be asked nobody could end it
                pid = guest.start(logs=False)
        tell_systemd(f"READY=1\nSTATUS=QEMU is process {pid}")
        _, status = os.waitpid(pid, 0)
        raise CockpitError(f"QEMU of {domain.name} has ended: {_why(status)}")
    except (Ended, KeyboardInterrupt):
        tell_systemd("STOPPING=1\nSTATUS=powering the guest off")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if pid is not None:
            guest.stop()


def _why(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return signal.Signals(-code).name if code < 0 else f"exit status {code}"
