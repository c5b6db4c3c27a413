# SPDX-License-Identifier: MIT
"""Real programs that are used through gid-view: in a whole desktop, and their window alone.

Of several seats GTK's menus and all of Chromium hear the first one only: where a window is used, it
is another one's. Programs that are none of the tests' packages come by ./run shell --with, and are
left out without.
"""

import http.server
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.input_window import FIXED
from lib.program import TOP, Program, wait_for
from lib.two_desks import CONFIG, DESK_SIZE, TwoDesks
from lib.typist import RELATIVE

APPS = {
    "weston-terminal": "org.freedesktop.weston.wayland-terminal",
    "foot": "foot",
    "gtk": "org.example.gtk",
    "chromium": "chromium",
    "game": "org.example.game",
}
PACKAGES = {name: name for name in APPS} | {
    "weston-terminal": "weston",
    "gtk": "gir1.2-gtk-4.0",
    "gtk4-demo": "gtk-4-examples",
    "game": "libsdl2-2.0-0",
}
TERMINALS = {
    "weston-terminal": ["weston-terminal", "--shell=/bin/sh"],
    "foot": ["foot", "--config=/dev/null", "/bin/sh"],
}
BROWSER = [
    *("chromium", "--ozone-platform=wayland", "--no-sandbox", "--disable-gpu", "--kiosk"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--disable-dev-shm-usage", "--password-store=basic"),
]
PAGE = """<!doctype html><title>Page</title>
<body style="margin: 0; height: 100vh; background: #205020">
<script>
let last = Promise.resolve();  // one after the other
const say = (what) => last = last.then(() => fetch("/said/" + encodeURIComponent(what)));
addEventListener("keydown", (event) => {
  say("key " + event.key);
  if (event.key == "l") document.body.requestPointerLock();
  if (event.key == "u") document.exitPointerLock();
});
addEventListener("click", (event) => say(`click ${event.clientX} ${event.clientY}`));
document.addEventListener("pointerlockchange",
  () => say(document.pointerLockElement ? "locked" : "free"));
addEventListener("mousemove", (event) => {
  if (document.pointerLockElement) say(`moved ${event.movementX} ${event.movementY}`);
});
say("ready");
</script>"""
# Those that are written in Python here.
FIND = {
    "gtk": "import gi; gi.require_version('Gtk', '4.0')",
    "game": "import ctypes; ctypes.CDLL('libSDL2-2.0.so.0')",
}
OTHER = "[gid-window]\nstream=other\napp-id=org.example.other\ninput=cluster\n"
KEY_CTRL, KEY_ALTGR, KEY_ENTER = 29, 100, 28
# Of layouts of [keyboard]: keys, one after the other or with AltGr, and what they write there.
COMPOSE, CAPS_LOCK = 127, 58
LAYOUTS = {
    "de": ("keymap_layout=de\n", [26, 39, 12, 41, 30, 13, 18, (KEY_ALTGR, 18)], "üößâé€"),
    "ru": ("keymap_layout=ru\n", [34, 35, 18], "пру"),
    "two": ("keymap_layout=us,ru\nkeymap_options=grp:caps_toggle\n", [34, CAPS_LOCK, 34], "gп"),
    "compose": ("keymap_options=compose:menu\n", [COMPOSE, 40, 18, COMPOSE, 31, 31], "éß"),
}
CHANGED = 0.05  # of a part of the picture
FEW_COLOURS = 16  # of one without text
LEFT, SCREEN_WIDTH = 80, 800  # of the picture on the screen
LEARNT_S = 0.2  # mostly, until a view has locked the pointer
PAUSE_S = 0.5  # until what was done in vain is done again
# What was typed in the time of which nobody reads is kept, up to 248 events: 30 letters at least.
LINES = ["The quick brown fox:", "0123456789 ~ jumps", '{over} [the] "lazy"', "(dog)?!"]


def is_there(name: str) -> bool:
    if name in FIND:
        command = [sys.executable, "-c", FIND[name]]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return shutil.which(name) is not None


def find_executable(name: str) -> Path:
    """As Weston sees it: not a script, but what runs that."""
    if name == "chromium":
        return Path("/usr/lib/chromium/chromium")
    return Path(sys.executable if name in FIND else shutil.which(name)).resolve()


@dataclass
class Used:
    """A program on the desk, and how it is looked at."""

    desks: TwoDesks
    name: str
    way: str
    folder: Path

    def start(self, command: list[str | Path], **more: str) -> Program:
        environment = self.desks.desk.environment | {"LC_ALL": "C.UTF-8", "HOME": str(self.folder)}
        return Program(command, environment | more, self.folder, cwd=self.folder)

    def see(self) -> numpy.ndarray:
        """The picture of it, as its user has it on the screen: blue, green, red."""
        width = DESK_SIZE[0]
        return self.desks.screen.screenshot("screen")[:, LEFT : LEFT + width].astype(int)

    def look(self) -> Program:
        """A view of it, alone or with all of the desktop, whose input is taken."""
        desks = self.desks
        if self.way == "desktop":
            options = ("--desktop=open", f"--stream={desks.name}", "--output=screen")
            return desks.taken(desks.start(*options))
        options = ("--domain=open", "--stream=program", "--input", "--output=screen")
        view = desks.start(*options)
        view.wait_output("input/program is taken")
        return view

    def click(self, x: float, y: float) -> None:
        """On that pixel of the picture."""
        typist = self.desks.typist
        typist.point((LEFT + x + 0.5) / SCREEN_WIDTH, (y + 0.5) / DESK_SIZE[1])
        typist.click()


@pytest.fixture(params=["desktop", "window"])
def way(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def keyboard() -> str:
    """Of the desk's Weston."""
    return ""


@pytest.fixture
def used(
    make_cockpit: Callable[..., Cockpit], tmp_path: Path, name: str, way: str, keyboard: str
) -> Iterator[Used]:
    if not is_there(name):
        package = PACKAGES[name]
        pytest.skip(f"no {name}: ./run shell --with {package} -- ./run test compositor/programs")
    cockpit = make_cockpit(CONFIG)
    cockpit.start_all()
    keys = "cursor=true\n"
    if way == "window":
        keys = f"{OTHER}[gid-window]\nstream=program\napp-id={APPS[name]}\ninput=cluster\n{keys}"
        keys += f"clients={find_executable(name)}\n"
    keys += keyboard
    desks = TwoDesks(cockpit, tmp_path, keys=(keys, ""), kind="kiosk", used=way == "desktop")
    yield Used(desks, name, way, tmp_path)
    desks.finish()


@contextmanager
def running(program: Program) -> Iterator[Program]:
    """Not any more after it."""
    try:
        yield program
    finally:
        program.kill()


@pytest.mark.parametrize("name", TERMINALS)
def test_a_command_in_a_terminal(used: Used) -> None:
    """Each letter of it arrives, once."""
    ready, typed = used.folder / "ready", used.folder / "typed"
    write = used.desks.typist.write

    def is_ready() -> bool:
        used.click(320, 180)
        write("\n: >ready\n")
        return ready.exists()

    def has_typed(count: int) -> bool:
        return typed.exists() and typed.read_text() == "".join(
            f"{line}\n" for line in LINES[:count]
        )

    with running(used.start(TERMINALS[used.name])), running(used.look()) as view:
        wait_for(is_ready, "the shell to read commands", pause=PAUSE_S)
        write("\ncat >typed\n")
        for count, line in enumerate(LINES, 1):
            write(f"{line}\n")
            wait_for(lambda count=count: has_typed(count), lambda: f"{LINES} in {typed}")
        assert view.stop() == 0


def press_all(used: Used, keys: list[int | tuple[int, int]]) -> None:
    typist = used.desks.typist
    for key in keys:
        held, code = key if isinstance(key, tuple) else (None, key)
        if held is not None:
            typist.press(held)
        typist.type(code)
        if held is not None:
            typist.lift(held)


@pytest.mark.parametrize("name", ["weston-terminal"])
@pytest.mark.parametrize(
    ("keyboard", "keys", "text"),
    [(f"[keyboard]\n{lines}", keys, text) for lines, keys, text in LAYOUTS.values()],
    ids=LAYOUTS,
)
def test_another_layout(used: Used, keys: list[int | tuple[int, int]], text: str) -> None:
    """Of the desktop's keyboard: with dead keys, Compose, and two layouts, of which a key of the
    user's chooses one."""
    ready, typed, script = (used.folder / name for name in ("ready", "typed", "shell"))
    lines = 'while read line; do [ -z "$line" ] || echo "$line" >typed; done'
    script.write_text(f"#!/bin/sh\nread line; : >ready\n{lines}\n")
    script.chmod(0o755)

    def is_ready() -> bool:
        used.click(320, 180)
        press_all(used, [KEY_ENTER])
        return ready.exists()

    with running(used.start(["weston-terminal", f"--shell={script}"])), running(used.look()):
        wait_for(is_ready, "the program to read", pause=PAUSE_S)
        press_all(used, [*keys, KEY_ENTER])
        wait_for(lambda: typed.exists() and typed.read_text() == f"{text}\n", f"{text!r}")


class Gtk:
    """The program, and where its parts are."""

    def __init__(self, used: Used) -> None:
        self.used = used
        command = [sys.executable, TOP / "tests/lib/gtk_program.py"]
        self.program = used.start(command, GSK_RENDERER="cairo", GTK_A11Y="none")

    def wait_said(self, text: str) -> None:
        def said() -> bool:
            assert self.program.is_running(), self.program.said()
            return text in self.program.stdout.splitlines()

        wait_for(said, lambda: f"{text!r}, after:\n{self.program.said()}")

    def is_pressed(self) -> bool:
        """Whether its button was; it is clicked on again."""
        self.click("button")
        return "pressed" in self.program.stdout

    def wait_dialog(self) -> tuple[int, int]:
        """Where it is, in the middle of the window."""
        self.program.wait_output("at reasons ")
        (words,) = [
            line.split() for line in self.program.stdout.splitlines() if line.startswith("dialog")
        ]
        width, height = map(int, words[1:])  # which Weston's shell chooses
        return (DESK_SIZE[0] - width) // 2, (DESK_SIZE[1] - height) // 2

    def click(self, name: str, within: tuple[int, int] = (0, 0)) -> None:
        """`within`: where the window is that it is told of, in the picture."""
        self.program.wait_output(f"at {name} ")
        told = [line.split() for line in self.program.stdout.splitlines()]
        (x, y) = [line[2:] for line in told if line[:2] == ["at", name]][-1]
        self.used.click(within[0] + int(x), within[1] + int(y))


@pytest.mark.parametrize("name", ["gtk"])
def test_a_gtk_program(used: Used) -> None:
    """Its button, what is typed into it, and its menu."""
    gtk = Gtk(used)
    with running(gtk.program), running(used.look()) as view:
        wait_for(gtk.is_pressed, "the button to be pressed", pause=PAUSE_S)
        gtk.click("entry")
        used.desks.typist.write("Typed, by hand.\n")
        gtk.wait_said("entered Typed, by hand.")
        gtk.click("menu")
        gtk.click("choice")
        gtk.wait_said("chosen")
        gtk.wait_said("closed")
        assert view.stop() == 0


@pytest.mark.parametrize(("name", "way"), [("gtk", "window")])
def test_a_dialog_of_a_gtk_program(used: Used) -> None:
    """It is in the middle of the window alone, and so are its menus, and can be answered there."""
    gtk = Gtk(used)

    def is_asked() -> bool:
        gtk.click("ask")
        return "at reasons" in gtk.program.stdout

    with running(gtk.program), running(used.look()) as view:
        wait_for(is_asked, "a question", pause=PAUSE_S)
        within = gtk.wait_dialog()
        gtk.click("reasons", within)
        gtk.click("answer", within)
        gtk.wait_said("answered")
        wait_for(gtk.is_pressed, "the button to be pressed", pause=PAUSE_S)
        assert view.stop() == 0


class Site:
    """A page that says what is done to it."""

    def __init__(self) -> None:
        said = self.said = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                if self.path.startswith("/said/"):
                    said.append(urllib.parse.unquote(self.path.removeprefix("/said/")))
                else:
                    self.wfile.write(PAGE.encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/"

    def wait(self, *texts: str) -> None:
        """Each of them was said since the last wait."""
        wait_for(lambda: set(texts) <= set(self.said), lambda: f"{texts} in {self.said}")
        self.said.clear()

    def moved(self) -> tuple[int, int]:
        """How far the locked pointer did since, in all."""
        steps = [text.split()[1:] for text in list(self.said) if text.startswith("moved")]
        return sum(int(x) for x, _ in steps), sum(int(y) for _, y in steps)


def push(used: Used, site: Site) -> tuple[int, int]:
    """The pointer, farther than the screen is wide. Returns how far the page says."""
    typist = used.desks.typist
    used.click(320, 180)  # by which the view learns of the lock
    time.sleep(LEARNT_S)
    typist.write("y")
    wait_for(lambda: "key y" in site.said, "the page to have said all")
    site.said.clear()
    for _ in range(20):
        typist.do((RELATIVE, 0, 0, 100 * FIXED, 10 * FIXED, 100 * FIXED, 10 * FIXED))
    typist.write("x")
    wait_for(lambda: "key x" in site.said, "the page to have said all")
    return site.moved()


@pytest.mark.parametrize("name", ["chromium"])
def test_a_browser(used: Used) -> None:
    """Clicks arrive where they were, keys as they are, and a game gets the pointer's motion."""
    site, typist = Site(), used.desks.typist
    command = [*BROWSER, f"--user-data-dir={used.folder / 'data'}", site.url]

    def is_clicked() -> bool:
        used.click(320, 180)
        return any(text.startswith("click") for text in site.said)

    with running(used.start(command)), running(used.look()) as view:
        site.wait("ready")
        wait_for(is_clicked, "a click to arrive", pause=PAUSE_S)
        used.click(100, 50)
        site.wait("click 100 50")
        typist.write("aB")
        site.wait("key a", "key B")
        typist.write("l")
        site.wait("locked")
        wait_for(lambda: push(used, site) == (2000, 200), "all of a motion to arrive")
        typist.write("u")
        site.wait("free")
        wait_for(is_clicked, "a click to arrive", pause=PAUSE_S)
        used.click(200, 90)
        site.wait("click 200 90")
        assert view.stop() == 0


@pytest.mark.parametrize("name", ["game"])
def test_a_game(used: Used) -> None:
    """It wants the mouse as it begins, and is pushed farther than the screen is wide."""
    typist = used.desks.typist

    def count_keys() -> int:
        return game.stdout.count("key a")

    def is_typed() -> bool:
        used.click(320, 180)
        typist.write("a")
        return count_keys() > 0

    def place() -> tuple[int, int]:
        moves = [line.split() for line in game.stdout.splitlines() if line.startswith("moved")]
        return (int(moves[-1][1]), int(moves[-1][2])) if moves else (0, 0)

    def is_pushed() -> bool:
        typist.do((RELATIVE, 0, 0, FIXED, 0, FIXED, 0))  # by which the view learns of the lock
        time.sleep(LEARNT_S)
        before, keys = place(), count_keys()
        for _ in range(20):
            typist.do((RELATIVE, 0, 0, 100 * FIXED, 10 * FIXED, 100 * FIXED, 10 * FIXED))
        typist.write("a")
        wait_for(lambda: count_keys() > keys, "the game to have said all")
        after = place()
        return (after[0] - before[0], after[1] - before[1]) == (2000, 200)

    command = [sys.executable, TOP / "tests/lib/sdl_program.py"]
    with running(used.look()) as view:
        with running(used.start(command)) as game:
            game.wait_output("ready")
            wait_for(is_typed, "a key to arrive", pause=PAUSE_S)
            wait_for(is_pushed, "all of a motion to arrive")
            assert view.stop() == 0


def share_that_differs(one: numpy.ndarray, other: numpy.ndarray) -> float:
    return float(numpy.mean(numpy.abs(one - other).max(axis=2) > 32))


def wait_still(used: Used) -> numpy.ndarray:
    """Until it draws no more. Returns its picture."""
    pictures = [used.see()]

    def is_still() -> bool:
        pictures.append(used.see())
        drawn = len(numpy.unique(pictures[-1])) > FEW_COLOURS
        return drawn and share_that_differs(*pictures[-2:]) == 0

    wait_for(is_still, "its picture to be still", pause=PAUSE_S)
    return pictures[-1]


@pytest.mark.parametrize(("name", "way"), [("gtk4-demo", "desktop")])
def test_the_demo_of_gtk(used: Used) -> None:
    """A click in its list brings another text beside that, and what is sought another list."""
    lists, texts = (slice(60, None), slice(0, 250)), (slice(60, None), slice(260, None))
    program = used.start(["gtk4-demo"], GSK_RENDERER="cairo", GTK_A11Y="none")
    typist = used.desks.typist

    def is_chosen() -> bool:
        used.click(100, 200)
        return share_that_differs(used.see()[texts], before[texts]) > CHANGED

    with running(program), running(used.look()) as view:
        before = wait_still(used)
        wait_for(is_chosen, "another text", pause=PAUSE_S)
        before = wait_still(used)
        typist.press(KEY_CTRL)
        typist.write("f")
        typist.lift(KEY_CTRL)
        typist.write("spin")
        wait_for(
            lambda: share_that_differs(used.see()[lists], before[lists]) > CHANGED,
            "another list",
            pause=PAUSE_S,
        )
        assert view.stop() == 0
