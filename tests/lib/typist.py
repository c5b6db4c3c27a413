# SPDX-License-Identifier: MIT
"""A user who is told by a test what to do: input-peer, which sends an input stream."""

import signal
import subprocess

from lib.program import BUILD

KEY, BUTTON, MOTION, RELATIVE, AXIS, TOUCH_DOWN, TOUCH_MOTION, TOUCH_UP = range(1, 9)
PEN_NEAR, PEN_BUTTON, PEN_MOTION = range(10, 13)
KEYBOARD, POINTER, TOUCH, PEN = 1, 2, 4, 8
FULL = 65536  # the picture's width and height
SHIFT = 42
# The keys of what is written with an American keyboard, and of the same with Shift.
ROWS = ((2, "1234567890-=", "!@#$%^&*()_+"), (16, "qwertyuiop[]\n", "QWERTYUIOP{}\n"))
ROWS += ((30, "asdfghjkl;'`", 'ASDFGHJKL:"~'), (44, "zxcvbnm,./", "ZXCVBNM<>?"), (57, " ", " "))
LEASE_MS = 10_000  # a machine may stand still for some seconds


class Typist:
    """Its devices are there, and somebody takes what it does, unless it is not to be `heard`."""

    def __init__(
        self,
        environment: dict[str, str],
        stream: str,
        devices: int = 7,
        lease_ms: int = LEASE_MS,
        heard: bool = True,
    ) -> None:
        peer = BUILD / "tests/lib/programs/input-peer"
        self.process = subprocess.Popen(
            [peer, stream, str(lease_ms)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.tell(*(["wait"] if heard else []), f"devices {devices}", "send")

    def __enter__(self) -> "Typist":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def tell(self, *lines: str) -> None:
        """Has it done all of that."""
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()
        for line in lines:
            assert self.process.stdout.readline() == "done\n", f"input-peer ended at {line}"

    def do(self, *events: tuple[int, ...]) -> None:
        """Type, code, value, x, y, raw_x, raw_y of each: one group."""
        self.tell(*(f"event {' '.join(map(str, event))}" for event in events), "send")

    def press(self, code: int) -> None:
        self.do((KEY, code, 1))

    def lift(self, code: int) -> None:
        self.do((KEY, code, 0))

    def type(self, code: int) -> None:
        self.press(code)
        self.lift(code)

    def write(self, text: str) -> None:
        """As somebody who types it."""
        for character in text:
            code, shifted = find_key(character)
            if shifted:
                self.press(SHIFT)
            self.type(code)
            if shifted:
                self.lift(SHIFT)

    def click(self, code: int = 0x110) -> None:
        self.do((BUTTON, code, 1))
        self.do((BUTTON, code, 0))

    def point(self, x: float, y: float) -> None:
        """As parts of the picture's width and height."""
        self.do((MOTION, 0, 0, int(x * FULL), int(y * FULL)))

    def wish(self, width: int, height: int, scale: float = 0) -> None:
        """For a picture of that size, of a screen of that scale; 0: it is not known."""
        self.tell(f"size {width} {height} {round(scale * 120)}", "send")

    def close_window(self) -> None:
        """As with the button of its frame."""
        self.tell("close", "send")

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def stop(self) -> None:
        """In good order."""
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()


def find_key(character: str) -> tuple[int, bool]:
    """Its code, and whether it is with Shift."""
    for first, plain, shifted in ROWS:
        if character in plain:
            return first + plain.index(character), False
        if character in shifted:
            return first + shifted.index(character), True
    raise ValueError(f"there is no key for {character!r}")
