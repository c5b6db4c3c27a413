# SPDX-License-Identifier: MIT
"""gid-cluster under test: started headless in a domain of a cockpit, asked and looked at."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy
from lib.cockpit import Cockpit
from lib.program import BUILD, CONFINE, Program, Room, wait_for
from lib.snapshot import snap
from PIL import Image

from lab.domains import display
from lab.domains.configuration import section

REFRESH_MS = 1000 / 60
WIDTH, HEIGHT = 320, 80

# A busy machine does not miss the deadline: tests of what comes late set a shorter one.
ROLE = section("role telltale", "domain=open x=40 y=20 width=320 height=80 deadline-ms=10000")
# However long a frame takes here, but in tests of that.
DISPLAY = section("display", "worst-frame=0 width=640 height=240 refresh=60 stream=screen")

LIAR = BUILD / "tests/lib/programs/liar"


def liar_roles(watched: str = "") -> str:
    """The two roles whose streams LIAR sends; `watched` has more keys, `{name}` in them."""
    return "".join(
        section(f"role {name}", f"domain=open x={x} y={y} width=320 height=80 deadline-ms=10000")
        + watched.format(name=name)
        for name, x, y in (("left", 0, 0), ("right", 320, 100))
    )


def with_deadline(milliseconds: int) -> str:
    """ROLE with another deadline."""
    return ROLE.replace("deadline-ms=10000", f"deadline-ms={milliseconds}")


class Display(display.Display):
    """gid-cluster in the domain `cluster`, or another."""

    command = BUILD / "cluster" / "gid-cluster"

    def __init__(
        self,
        cockpit: Cockpit,
        roles: str = ROLE,
        arguments: tuple[str, ...] = (),
        domain: str = "cluster",
        display: str = DISPLAY,
        inside: dict[str, str] | None = None,
        under: tuple[str, ...] = (),
    ) -> None:
        """`inside`: the environment of another compositor, whose windows the outputs are; `under`:
        a command that runs the display, such as env's.
        """
        super().__init__(Room(cockpit.folder, cockpit.env(domain) | (inside or {})))
        self.cockpit, self.domain, self.folder = cockpit, domain, cockpit.folder
        options = ["--headless"] if inside is None else []
        options += CONFINE if inside is None and not under else []
        self.launch(display + roles, *options, *map(str, arguments), before=under)
        self.program.wait_output("ready, with")

    def wait_role(self, state: str, reason: str | None = None, name: str = "telltale") -> dict:
        """Until the role is in the state and the output shows what that demands."""

        def there() -> dict | None:
            role = self.role(name)
            if role["state"] != state or reason not in (None, role["reason"]):
                return None
            return role if role["transitions"][-1]["shown_ns"] else None

        try:
            return wait_for(there, f"role {name} to be {state} {reason or ''}")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.program.stderr}") from None

    def wait_transition(self, reason: str, name: str = "telltale") -> dict:
        """The first transition for this reason, however soon another one follows."""

        def there() -> dict | None:
            for transition in self.role(name)["transitions"]:
                if transition["reason"] == reason:
                    return transition
            return None

        try:
            return wait_for(there, f"a transition of {name} for {reason}")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.program.stderr}") from None

    def wait_said(self, words: str) -> None:
        """Its log waits for nobody: what it does may be seen before what it says of that."""
        wait_for(lambda: words in self.program.stderr, lambda: f"{words} in {self.program.stderr}")

    def screenshot(self, stream: str = "screen") -> numpy.ndarray:
        """What is on the output that is published as this stream, as rows of RGB."""
        return snap(self.cockpit, self.domain, stream)

    def region(self, x: int = 40, y: int = 20) -> numpy.ndarray:
        return self.screenshot()[y : y + HEIGHT, x : x + WIDTH]


def start_telltale(cockpit: Cockpit, *arguments: str) -> Program:
    """gid-telltale in the domain `open`."""
    return cockpit.run("open", [BUILD / "clients" / "gid-telltale", *arguments])


def snap_telltale(cockpit: Cockpit) -> numpy.ndarray:
    """What who comes now, in the domain `cluster`, gets of the stream first."""
    return snap(cockpit, "cluster", "open", "safety/telltale")


def telltale_picture(folder: Path, state: int) -> numpy.ndarray:
    """What gid-telltale draws, drawn offline."""
    path = folder / f"telltale-{state}.png"
    draw = Program(
        [BUILD / "clients" / "gid-telltale", "--state", str(state), "--png", path],
        log_dir=folder,
    )
    assert draw.wait() == 0, draw.stderr
    return numpy.asarray(Image.open(path).convert("RGB"))


def drawn_words(first: int, width: int, height: int) -> numpy.ndarray:
    """The pictures of liar.c and dmabuf_lamp.c, of words that count from this one on."""
    y, x = numpy.mgrid[:height, :width]
    value = first + x * 3 + y * 0x700
    return numpy.stack([value >> shift & 0xFF for shift in (16, 8, 0)], axis=-1).astype(numpy.uint8)


def stays(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition holds for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not condition():
            return False
        time.sleep(0.02)
    return True
