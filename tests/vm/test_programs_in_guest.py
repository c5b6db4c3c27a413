# SPDX-License-Identifier: MIT
"""Programs on the desktop of a guest, which a user of this machine sees and uses by gid-view.

Those that are none of the tests' packages come by ./run shell --with, and are left out without.
"""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from gid_vm.guest import why_not
from guests import SECONDS, Machines, Running
from lib.program import BUILD, TOP, wait_for
from lib.typist import LEASE_MS, RELATIVE, Typist
from lib.weston import Weston

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800),
]

FOLDER = Path("/run/desk")  # of the guest's desktop
ENVIRONMENT = {
    "GID_DOMAIN": "open",
    "XDG_RUNTIME_DIR": str(FOLDER),
    "WAYLAND_DISPLAY": "desk",
    "HOME": str(FOLDER),
    "LC_ALL": "C.UTF-8",
    "WESTON_MODULE_MAP": f"gid-buffer.so={BUILD / 'weston-plugin/gid-buffer.so'}",
    # the processor draws, and the machine's is translated: nothing is to be compiled first
    "GSK_RENDERER": "cairo",
    "GTK_A11Y": "none",
    "GALLIUM_DRIVER": "softpipe",
}
INI = "[gid-output]\nname=desk\nstream=desk\nmode=640x360\ninput=host\ncursor=true\n"
WESTON = [
    *("weston", "--backend=headless", "--renderer=pixman", "--no-outputs", "--idle-time=0"),
    *("--socket=desk", "--shell=kiosk-shell.so", "--modules=gid-buffer.so"),
    f"--config={FOLDER}/weston.ini",
]
SIZE = (640, 360)
SCREEN = "[gid-output]\nname=screen\nstream=screen\nmode=800x360\ninput=host\n"
LEFT, SCREEN_WIDTH = 80, 800  # of the picture on the screen
TERMINALS = {
    "weston-terminal": ["weston-terminal", "--shell=/bin/sh"],
    "foot": ["foot", "--config=/dev/null", "/bin/sh"],
}
PACKAGES = {"foot": "foot", "gtk4-demo": "gtk-4-examples", "netsurf-gtk": "netsurf-gtk"}
PAGES = {  # the first one is a link as large as any window
    "index.html": (
        "<body style='margin:0'><a href=next.html style='display:block; height:900px; "
        "background:#336699'>next</a>"
    ),
    "next.html": "<body style='background:#993366'>",
}
PORT = 8080
FIND_SDL = "import ctypes; ctypes.CDLL('libSDL2-2.0.so.0')"
# What was typed in the time of which nobody reads is kept, up to 248 events: 30 letters at least.
LINES = ["The quick brown fox:", "0123456789 ~ jumps", '{over} [the] "lazy"', "(dog)?!"]
PAUSE_S = 2.0  # until what was done in vain is done again
FIXED = 256  # parts of a pixel
CHANGED = 0.05  # of a part of the picture
FEW_COLOURS = 16  # of one without text
KEY_CTRL = 29


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    machines = Machines()
    try:
        machines.boot("open")
        yield machines
    finally:
        machines.close()


class Desk:
    """A Weston in the guest, and on this machine another one whose only window shows that."""

    def __init__(self, machines: Machines, folder: Path) -> None:
        self.machines, self.guest = machines, machines.guests["open"]
        machines.run("open", "mkdir", "-m", "700", str(FOLDER))
        machines.run("open", "dd", "status=none", f"of={FOLDER}/weston.ini", stdin=INI.encode())
        self.weston = self.start(*WESTON)
        environment = machines.host.env("host")
        self.screen = Weston(folder, environment)
        self.screen.configure(SCREEN)
        self.screen.start()
        self.typist = Typist(environment, "input/screen")
        words = ["--desktop=open", "--stream=desk", "--output=screen", f"--lease={LEASE_MS}"]
        self.view = self.screen.client([BUILD / "clients/gid-view", *words])
        self.view.wait_output("input/desk is taken", SECONDS)

    def start(self, *words: str | Path) -> Running:
        return self.machines.start("open", *words, env=ENVIRONMENT, cwd=FOLDER)

    def read(self, name: str) -> str | None:
        """A file of the guest."""
        content = self.guest.read(FOLDER / name, SECONDS)
        return None if content is None else content.decode()

    def click(self, x: float, y: float) -> None:
        """On that pixel of the guest's picture."""
        self.typist.point((LEFT + x + 0.5) / SCREEN_WIDTH, (y + 0.5) / SIZE[1])
        self.typist.click()

    def see(self) -> numpy.ndarray:
        """The picture as its user has it: blue, green, red."""
        return self.screen.screenshot("screen")[:, LEFT : LEFT + SIZE[0]].astype(int)

    def wait_still(self) -> numpy.ndarray:
        """Until it is drawn, and changes no more."""
        pictures = [self.see()]

        def is_still() -> bool:
            pictures.append(self.see())
            drawn = len(numpy.unique(pictures[-1])) > FEW_COLOURS
            return drawn and share_that_differs(*pictures[-2:]) == 0

        wait_for(is_still, "the picture to be still", SECONDS, PAUSE_S)
        return pictures[-1]

    def finish(self) -> None:
        assert self.view.stop() == 0
        self.typist.stop()
        assert self.screen.stop() == 0, self.screen.read_log()
        assert self.weston.is_running, self.weston.err
        self.weston.signal(signal.SIGTERM)
        assert self.weston.finish().code == 0


@pytest.fixture(scope="module")
def desk(machines: Machines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = Desk(machines, tmp_path_factory.mktemp("screen"))
    yield made
    made.finish()


def share_that_differs(one: numpy.ndarray, other: numpy.ndarray) -> float:
    return float(numpy.mean(numpy.abs(one - other).max(axis=2) > 32))


def end(program: Running) -> None:
    program.signal(signal.SIGTERM)
    program.finish()


def need(name: str) -> None:
    if shutil.which(name) is None:
        package = PACKAGES[name]
        pytest.skip(f"no {name}: ./run shell --with {package} -- ./run test vm/programs_in_guest")


@pytest.mark.parametrize("name", TERMINALS)
def test_a_command_in_a_terminal(desk: Desk, name: str) -> None:
    """Each letter of it arrives, once."""
    need(name)
    terminal = desk.start(*TERMINALS[name])

    def is_ready() -> bool:
        desk.click(320, 180)
        desk.typist.write("\n: >ready\n")
        return desk.read("ready") is not None

    wait_for(is_ready, "the shell to read commands", SECONDS, PAUSE_S)
    desk.typist.write("\nrm ready && cat >typed\n")
    wanted = ""
    for line in LINES:
        desk.typist.write(f"{line}\n")
        wanted += f"{line}\n"
        wait_for(lambda text=wanted: desk.read("typed") == text, f"{wanted!r} to be typed", SECONDS)
    end(terminal)
    desk.machines.run("open", "rm", f"{FOLDER}/typed")


def test_the_demo_of_gtk(desk: Desk) -> None:
    """A click in its list brings another text beside that, and what is sought another list."""
    need("gtk4-demo")
    lists, texts = (slice(60, None), slice(0, 250)), (slice(60, None), slice(260, None))
    program = desk.start("gtk4-demo")

    def is_chosen() -> bool:
        desk.click(100, 200)
        return share_that_differs(desk.see()[texts], before[texts]) > CHANGED

    before = desk.wait_still()
    wait_for(is_chosen, "another text", SECONDS, PAUSE_S)
    before = desk.wait_still()
    desk.typist.press(KEY_CTRL)
    desk.typist.write("f")
    desk.typist.lift(KEY_CTRL)
    desk.typist.write("spin")
    wait_for(
        lambda: share_that_differs(desk.see()[lists], before[lists]) > CHANGED,
        "another list",
        SECONDS,
        PAUSE_S,
    )
    end(program)


def test_a_browser(desk: Desk) -> None:
    """An address that is typed brings its page, and a click on a link the next one."""
    need("netsurf-gtk")
    desk.machines.run("open", "mkdir", f"{FOLDER}/site")
    for name, page in PAGES.items():
        target = f"of={FOLDER}/site/{name}"
        desk.machines.run("open", "dd", "status=none", target, stdin=f"<html>{page}".encode())
    words = ["--bind=127.0.0.1", f"--directory={FOLDER}/site", str(PORT)]
    server = desk.start("python3", "-u", "-m", "http.server", *words)
    wait_for(lambda: "Serving" in server.out, "pages to be served", SECONDS)
    browser = desk.start("netsurf-gtk", "about:blank")
    desk.wait_still()

    def is_asked(page: str) -> bool:
        assert browser.is_running, browser.err
        return f'"GET /{page} ' in server.err

    def is_typed() -> bool:
        desk.typist.press(KEY_CTRL)
        desk.typist.write("l")
        desk.typist.lift(KEY_CTRL)
        desk.typist.write(f"http://127.0.0.1:{PORT}/\n")
        time.sleep(PAUSE_S)
        return is_asked("")

    def is_clicked() -> bool:
        desk.click(320, 240)
        return is_asked("next.html")

    def has(colour: tuple[int, int, int]) -> bool:
        """Beside the pointer."""
        return bool((desk.see()[240, 500] == colour).all())

    wait_for(is_typed, "the address to be typed", SECONDS, PAUSE_S)
    wait_for(lambda: has((0x99, 0x66, 0x33)), "its page", SECONDS)
    wait_for(is_clicked, "the link to be followed", SECONDS, PAUSE_S)
    wait_for(lambda: has((0x66, 0x33, 0x99)), "the next page", SECONDS)
    end(browser)
    end(server)


def test_a_game(desk: Desk) -> None:
    """It wants the mouse as it begins, and is pushed farther than the screen is wide."""
    if subprocess.run([sys.executable, "-c", FIND_SDL], check=False).returncode != 0:
        pytest.skip("there is no SDL 2")
    game = desk.start("python3", TOP / "tests/lib/sdl_program.py")

    def count_keys() -> int:
        return game.out.count("key a")

    def is_typed() -> bool:
        assert game.is_running, game.err
        desk.click(320, 180)
        desk.typist.write("a")
        return count_keys() > 0

    def place() -> tuple[int, int]:
        moves = [line.split() for line in game.out.splitlines() if line.startswith("moved")]
        return (int(moves[-1][1]), int(moves[-1][2])) if moves else (0, 0)

    def is_pushed() -> bool:
        """All of the way; the view has learnt of the lock by what comes before."""
        desk.typist.do((RELATIVE, 0, 0, FIXED, 0, FIXED, 0))
        time.sleep(PAUSE_S)
        before, keys = place(), count_keys()
        for _ in range(20):
            desk.typist.do((RELATIVE, 0, 0, 100 * FIXED, 10 * FIXED, 100 * FIXED, 10 * FIXED))
        desk.typist.write("a")
        wait_for(lambda: count_keys() > keys, "the game to have said all", SECONDS)
        after = place()
        return (after[0] - before[0], after[1] - before[1]) == (2000, 200)

    wait_for(is_typed, "a key to arrive", SECONDS, PAUSE_S)
    wait_for(is_pushed, "all of a motion to arrive", SECONDS)
    clicks = game.out.count("clicked")
    desk.typist.click()
    wait_for(lambda: game.out.count("clicked") > clicks, "a click to arrive", SECONDS)
    end(game)
