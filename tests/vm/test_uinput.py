# SPDX-License-Identifier: MIT
"""gid-input --uinput in a guest: whose kernel gives it to every compositor, as that of devices.

What it asks of the kernel tests/unit/clients/test_uinput_taker.c has in the usual run.
"""

import signal

import pytest
from gid_vm.guest import why_not
from guests import SECONDS, Machines, Running
from lib.pen_window import ERASER, TIP
from lib.program import BUILD, TOP, wait_for
from lib.typist import (
    BUTTON,
    FULL,
    PEN_BUTTON,
    PEN_MOTION,
    PEN_NEAR,
    TOUCH_DOWN,
    TOUCH_UP,
    Typist,
)

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(900),
]

DEVICES = [f"gidway {name}" for name in ("keyboard", "mouse", "pointer", "touch", "pen")]
KEY_A, BTN_LEFT = 30, 0x110
# Of udev what says which kind of device it is; all other rules take a translated guest a minute.
RULES = "mkdir /run/rules && cp /usr/lib/udev/rules.d/60-input-id.rules /run/rules && "
RULES += "mount --bind /run/rules /usr/lib/udev/rules.d"


class Seat:
    """What a compositor of the guest hears: each line once."""

    def __init__(self, machines: Machines) -> None:
        self.reader = machines.start("open", "python3", TOP / "tests/lib/seat_reader.py")
        self.taken = 0
        self.wait("ready")

    def wait(self, *lines: str) -> None:
        """Until each of them was said since the last wait, and nothing else."""

        def said() -> list[str]:
            whole = self.reader.out.rpartition("\n")[0].splitlines()
            return whole[self.taken :]

        def there() -> bool:
            assert self.reader.is_running, self.reader.err
            return len(said()) >= len(lines)

        wait_for(there, lambda: f"{lines}, came {said()}", SECONDS)
        assert sorted(said()) == sorted(lines)
        self.taken += len(lines)


def take(machines: Machines) -> Running:
    words = ["--domain=host", "--stream=pad", "--uinput"]
    environment = {"GID_DOMAIN": "open"}
    return machines.start("open", BUILD / "clients/gid-input", *words, env=environment)


@pytest.mark.at_length
def test_one_that_is_killed(machines: Machines) -> None:
    """Its devices end with it, by which a compositor knows that nothing is pressed any more."""
    machines.run("open", "modprobe", "-a", "evdev", "uinput")
    machines.run("open", "sh", "-c", RULES)
    machines.run("open", "/usr/lib/systemd/systemd-udevd", "--daemon")  # as compositors know them
    seat, taker = Seat(machines), take(machines)
    with Typist(machines.host.env("host"), "input/pad", 15) as typist:
        seat.wait(*(f"added {name}" for name in DEVICES))
        typist.press(KEY_A)
        typist.do((BUTTON, BTN_LEFT, 1))
        typist.do((TOUCH_DOWN, 0, 0, FULL // 2, FULL // 2))
        seat.wait(f"key {KEY_A} 1", f"button {BTN_LEFT} 1", "finger 1")
        leans = (30 * 256, -45 * 256)
        pressed = (PEN_MOTION, 0, FULL // 2, FULL // 2, FULL // 2, *leans)
        typist.do((PEN_NEAR, ERASER, 1), pressed, (PEN_BUTTON, TIP, 1))
        seat.wait("pen 2 1 30 -45", "tip 1 50")
        taker.signal(signal.SIGKILL)
        taker.finish()
        let_go = (f"key {KEY_A} 0", f"button {BTN_LEFT} 0", "finger 0", "tip 0", "pen 2 0")
        seat.wait(*let_go, *(f"removed {name}" for name in DEVICES))
        again = take(machines)
        seat.wait(*(f"added {name}" for name in DEVICES))
        typist.lift(KEY_A)
        typist.do((BUTTON, BTN_LEFT, 0))
        typist.do((TOUCH_UP, 0, 0), (PEN_NEAR, ERASER, 0))
        typist.type(KEY_A)
        seat.wait(f"key {KEY_A} 1", f"key {KEY_A} 0")
        again.signal(signal.SIGTERM)
        assert again.finish().code == 0
        seat.wait(*(f"removed {name}" for name in DEVICES))
    seat.reader.signal(signal.SIGTERM)
    seat.reader.finish()
