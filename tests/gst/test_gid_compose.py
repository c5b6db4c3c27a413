# SPDX-License-Identifier: MIT
"""gid-compose: what its file says is what the canvas shows, also when the file changes."""

import json
import signal
import subprocess
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.engine import start_engine
from lib.pipeline import LEASE, Pipeline
from lib.program import BUILD, Program, wait_for

COMMAND = BUILD / "tools" / "gid-compose" / "gid-compose"
RESTLESS = BUILD / "tests/hostile/programs/hostile-restless"
ENGINE = "[canvas panel]\ndomain=open\nmemory=16M\nslots=6\nlist-ms=60000\nlease-ms=60000\n"
CANVAS = "[canvas]\nengine=cluster\nname=panel\nwidth=64\nheight=48\n"
RED, GREEN, BLUE = 0xFF0000, 0x00FF00, 0x0000FF


@pytest.fixture
def engine(cockpit: Cockpit) -> Program:
    return start_engine(cockpit, ENGINE)


def send(cockpit: Cockpit, stream: str, colour: int, more: str = "", domain: str = "open") -> None:
    """A stream of one colour, 32x24, 30 times a second."""
    Pipeline(
        cockpit,
        domain,
        f"videotestsrc is-live=true pattern=solid-color foreground-color={colour | 0xFF000000} ! "
        f"video/x-raw,width=32,height=24,framerate=30/1,format={more or 'BGRx'} ! "
        f"gidsink stream={stream} {LEASE}",
    )


class Composing:
    """gid-compose with a file, and a viewer that writes down what the canvas shows."""

    def __init__(self, cockpit: Cockpit, text: str) -> None:
        self._cockpit = cockpit
        self.path = cockpit.folder / "panel.ini"
        self.stats_path = cockpit.folder / "stats.json"
        self.path.write_text(text)
        command = [COMMAND, "--domain", "open", f"--stats={self.stats_path}", self.path]
        self.program = cockpit.run("open", command)

    def write(self, text: str) -> None:
        """As an editor does it: a new file in the place of the old one."""
        new = self.path.with_suffix(".new")
        new.write_text(text)
        new.rename(self.path)

    def stats(self) -> dict:
        return json.loads(self.stats_path.read_text()) if self.stats_path.exists() else {}

    def picture(self) -> tuple[int, bytes]:
        """The newest picture's width and its pixels."""
        path = self._cockpit.folder / "picture"
        path.unlink(missing_ok=True)
        text = (
            "gidsrc domain=cluster stream=canvas/panel num-buffers=1 ! videoconvert ! "
            f"video/x-raw,format=BGRx ! multifilesink max-files=1 location={path} name=watch"
        )
        viewer = Pipeline(self._cockpit, "cluster", text).finish()
        width = int(viewer.caps[-1].partition("width=(int)")[2].partition(",")[0])
        return width, path.read_bytes()

    def shows(self, x: int, y: int, colour: int) -> None:
        """Waits until this pixel has this colour, or one that is hardly another."""

        def there() -> bool:
            width, data = self.picture()
            at = 4 * (y * width + x)
            if at >= len(data):
                return False
            found = int.from_bytes(data[at : at + 3], "little")
            return all(abs((found >> s & 255) - (colour >> s & 255)) <= 3 for s in (0, 8, 16))

        wait_for(there, f"{colour:06x} at {x},{y}:\n{self.program.stderr}")


def layer(name: str, **values: object) -> str:
    return f"[layer {name}]\n" + "".join(f"{key}={value}\n" for key, value in values.items())


def test_layers(cockpit: Cockpit, engine: Program) -> None:
    send(cockpit, "a", RED)
    send(cockpit, "b", GREEN, "I420")
    text = CANVAS + "background=#102030\n"
    text += layer("top", stream="b", x=16, y=12, width=40, height=24, z=1, alpha=0.5)
    text += layer("below", stream="a")
    composing = Composing(cockpit, text)
    composing.shows(2, 2, RED)
    composing.shows(20, 20, 0x808000)
    composing.shows(50, 30, 0x089018)
    composing.shows(62, 46, 0x102030)
    assert composing.program.stderr == ""
    composing.program.signal(signal.SIGTERM)
    assert composing.program.wait() == 0
    assert composing.stats()["pictures"] > 0


@pytest.mark.parametrize("pixel", ["BGR10A2_LE", "RGB10A2_LE"])
def test_ten_bits_with_alpha(cockpit: Cockpit, engine: Program, pixel: str) -> None:
    send(cockpit, "a", RED)
    send(cockpit, "b", GREEN, pixel)
    composing = Composing(cockpit, CANVAS + layer("a", stream="a") + layer("b", stream="b", x=32))
    composing.shows(5, 5, RED)
    composing.shows(40, 5, GREEN)


def test_colours(cockpit: Cockpit, engine: Program) -> None:
    """videotestsrc computes by BT.709 whatever it says, so that this is another colour."""
    send(cockpit, "a", 0xC060C0, "I420,colorimetry=bt2020")
    composing = Composing(cockpit, CANVAS + layer("all", stream="a"))
    composing.shows(2, 2, 0xBC5CC1)


def test_streams_of_another_domain(cockpit: Cockpit, engine: Program) -> None:
    """What may be read may be passed on: without a copy, as memory of our own domain."""
    send(cockpit, "theirs", BLUE, domain="cluster")
    composing = Composing(cockpit, CANVAS + layer("a", stream="theirs", domain="cluster"))
    composing.shows(5, 5, BLUE)
    assert composing.program.stderr == ""


@pytest.mark.parametrize("slots", [1000, 4000])
def test_streams_of_many_slots(cockpit: Cockpit, engine: Program, slots: int) -> None:
    """Their owner chooses how many. Each that is passed on is a slab of our domain's, which is
    charged with the memory of all of them."""
    send(cockpit, "good", BLUE, domain="cluster")
    many = [BUILD / "tests/lib/programs/stream-peer", "produce", "many", f"slots={slots}"]
    cockpit.run("cluster", [*many, "fps=200"])
    text = CANVAS + layer("a", stream="many", domain="cluster", y=30)
    composing = Composing(cockpit, text)
    wait_for(lambda: composing.stats().get("pictures", 0) > 400, "many pictures")
    composing.write(text + layer("b", stream="good", domain="cluster", x=32))
    composing.shows(40, 5, BLUE)
    before = composing.stats()["pictures"]
    wait_for(lambda: composing.stats()["pictures"] > before + 100, "more pictures")
    composing.shows(40, 5, BLUE)
    assert composing.program.stderr == ""
    assert composing.stats()["refused"] == 0


def test_a_crop_outside_of_the_picture(cockpit: Cockpit, engine: Program) -> None:
    """An engine refuses a list that wants such a part shown: the other layers are there still."""
    send(cockpit, "a", RED)
    peer = BUILD / "tests/lib/programs/stream-peer"
    cockpit.run("open", [peer, "produce", "liar", "crop=5000"])
    composing = Composing(cockpit, CANVAS + layer("a", stream="a") + layer("liar", stream="liar"))
    wait_for(
        lambda: "its crop lies outside the picture" in composing.program.stderr,
        "the lie to be told",
    )
    composing.shows(5, 5, RED)


def test_memory_that_is_not_there(cockpit: Cockpit, engine: Program) -> None:
    """Frames that name memory of which gidd knows nothing: that is said, of the layer, once."""
    send(cockpit, "a", RED)
    cockpit.run("open", [RESTLESS, "unknown", "bad", "64", "48"], "restless")
    composing = Composing(cockpit, CANVAS + layer("a", stream="a") + layer("bad", stream="bad"))
    composing.program.wait_output("[layer bad] is not shown: no such gid")
    composing.shows(5, 5, RED)
    assert composing.program.stderr.count("is not shown") == 1


def test_source_turn_and_alpha(cockpit: Cockpit, engine: Program) -> None:
    """A part of a picture turned by a quarter; pixels that are not multiplied by alpha."""
    Pipeline(
        cockpit,
        "open",
        "videotestsrc is-live=true pattern=smpte ! video/x-raw,width=70,height=60,format=BGRx ! "
        "gidsink stream=bars",
    )
    send(cockpit, "half", GREEN, "BGRA ! alpha alpha=0.5")
    # The first two bars, which lie side by side: now one above the other.
    text = CANVAS + layer("bars", stream="bars", source="0,0,20x10", turn=90, width=24, height=48)
    text += layer("half", stream="half", x=32, y=24, z=5)
    composing = Composing(cockpit, text)
    composing.shows(12, 6, 0xFFFFFF)
    composing.shows(12, 42, 0xFFFF00)
    composing.shows(40, 30, 0x008000)


def test_file_that_changes(cockpit: Cockpit, engine: Program) -> None:
    """No picture is refused while layers move, come and go, and the canvas grows."""
    send(cockpit, "a", RED)
    send(cockpit, "b", BLUE)
    composing = Composing(cockpit, CANVAS + layer("a", stream="a"))
    composing.shows(5, 5, RED)
    watching = Pipeline(
        cockpit,
        "cluster",
        "gidsrc name=src domain=cluster stream=canvas/panel credit=16 ! fakesink name=watch",
        "--video-meta",
        "1",
    )
    watching.wait_frames(10)
    for i in range(5):
        composing.write(CANVAS + layer("a", stream="a", x=i) + layer("b", stream="b", x=8, y=30))
        wait_for(lambda i=i: composing.stats().get("layouts") == i + 2, "the file to be followed")
        watching.wait_frames(len(watching.frames) + 5)
    composing.shows(12, 35, BLUE)
    composing.write(CANVAS.replace("width=64", "width=128") + layer("b", stream="b", x=90))
    composing.shows(100, 10, BLUE)
    composing.shows(5, 5, 0)
    assert composing.stats()["refused"] == 0
    assert composing.program.stderr == ""


def test_file_behind_a_link(cockpit: Cockpit, engine: Program) -> None:
    """It is followed where it lies, and where the link leads to from then on."""
    send(cockpit, "a", RED)
    send(cockpit, "b", GREEN)
    files = [cockpit.folder / name / "real.ini" for name in ("one", "two")]
    for path in files:
        path.parent.mkdir()
        path.write_text(CANVAS + layer("a", stream="a"))
    (cockpit.folder / "panel.ini").symlink_to(files[0])
    composing = Composing(cockpit, CANVAS + layer("a", stream="a"))
    composing.shows(5, 5, RED)
    files[0].write_text(CANVAS + layer("b", stream="b"))
    composing.shows(5, 5, GREEN)
    link = cockpit.folder / "new"
    link.symlink_to(files[1])
    link.rename(composing.path)
    composing.shows(5, 5, RED)
    files[1].write_text(CANVAS + layer("b", stream="b"))
    composing.shows(5, 5, GREEN)


def test_file_of_a_volume(cockpit: Cockpit, engine: Program) -> None:
    """Of Kubernetes: the link stays, and that to the folder with all files is changed."""
    send(cockpit, "a", RED)
    send(cockpit, "b", GREEN)
    for name, stream in (("one", "a"), ("two", "b")):
        (cockpit.folder / name).mkdir()
        (cockpit.folder / name / "panel.ini").write_text(CANVAS + layer("a", stream=stream))
    data = cockpit.folder / "..data"
    data.symlink_to("one")
    (cockpit.folder / "panel.ini").symlink_to("..data/panel.ini")
    composing = Composing(cockpit, CANVAS + layer("a", stream="a"))
    composing.shows(5, 5, RED)
    new = cockpit.folder / "..data_tmp"
    new.symlink_to("two")
    new.rename(data)
    composing.shows(5, 5, GREEN)
    (cockpit.folder / "two" / "panel.ini").write_text(CANVAS + layer("a", stream="a"))
    composing.shows(5, 5, RED)


def test_mistakes_while_it_runs(cockpit: Cockpit, engine: Program) -> None:
    send(cockpit, "a", RED)
    composing = Composing(cockpit, CANVAS + layer("a", stream="a"))
    composing.shows(5, 5, RED)
    composing.write(CANVAS + layer("a", stream="a", alpha=7))
    composing.program.wait_output("panel.ini:8: alpha=7 is not a number from 0 to 1")
    composing.program.wait_output("going on as before")
    composing.write(CANVAS.replace("panel", "other") + layer("a", stream="a"))
    composing.program.wait_output("engine= and name= do not change")
    composing.shows(5, 5, RED)
    composing.write(CANVAS + layer("a", stream="a", source="0,0,33x24"))
    composing.program.wait_output("[layer a] is not shown: source= lies outside of its pictures")


def test_engine_that_is_killed(cockpit: Cockpit, engine: Program) -> None:
    send(cockpit, "a", RED)
    composing = Composing(cockpit, CANVAS + layer("a", stream="a"))
    composing.shows(5, 5, RED)
    engine.kill()
    composing.program.wait_output("the engine of domain cluster is away; waiting for it")
    start_engine(cockpit, ENGINE)
    composing.shows(5, 5, RED)


def test_stream_that_goes(cockpit: Cockpit, engine: Program) -> None:
    """What its producer took with it is not shown any more."""
    sender = Pipeline(
        cockpit,
        "open",
        "videotestsrc is-live=true pattern=red ! video/x-raw,width=32,height=24,format=BGRx ! "
        "gidsink stream=a",
    )
    composing = Composing(cockpit, CANVAS + layer("a", stream="a"))
    composing.shows(5, 5, RED)
    sender.kill()
    composing.shows(5, 5, 0)
    send(cockpit, "a", GREEN)
    composing.shows(5, 5, GREEN)


# --- files ---


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[canvas]\nengine=cluster\n", "1: [canvas] needs engine=, name=, width= and height="),
        (CANVAS + "rate=0\n", "6: rate=0 is not a number from 1 to 1000"),
        (CANVAS + "rate=5\nrate=6\n", "7: rate= is in line 6 of this section already"),
        (CANVAS + "format=YUV\n", "6: format=YUV is not known"),
        (CANVAS + "background=red\n", "6: background=red is not a colour such as #204080"),
        (CANVAS + "[layer a]\n", "6: a section without a key"),
        (CANVAS + "[layer a]\nx=1\n", "6: [layer a] needs stream="),
        (CANVAS + "[layer a]\nstream=a//b\n", "7: stream=a//b cannot be the name of a stream"),
        (CANVAS + "[layer a]\nstream=a\nwidth=3\n", "6: [layer a] has width= or height="),
        (CANVAS + "[layer a]\nstream=a\nturn=45\n", "8: turn=45 is not known"),
        (CANVAS + "[layer a]\nstream=a\nsource=1,2,0x3\n", "8: source=1,2,0x3 is not a box"),
        (CANVAS + "[layer a]\nstream=a\nsize=3\n", '8: a layer has no "size"'),
        (CANVAS + "[other]\nx=1\n", "6: unknown section [other]"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "panel.ini"
    path.write_text(text)
    command = [COMMAND, "--check", path]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    assert f"{path}:{words}" in run.stderr


def test_check_and_help(tmp_path: Path) -> None:
    path = tmp_path / "panel.ini"
    path.write_text(CANVAS + layer("a", stream="a", turn="flipped-90", source="1,2,3x4"))
    assert subprocess.run([COMMAND, "--check", path], timeout=60).returncode == 0
    missing = [COMMAND, "--check", tmp_path / "none"]
    run = subprocess.run(missing, capture_output=True, text=True, timeout=60)
    assert run.returncode == 1 and "none: No such file or directory\n" in run.stderr
    assert run.stderr.endswith("\ngid-compose: write it, see gid-compose(1)\n")
    run = subprocess.run([COMMAND, "--help"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and "When FILE changes, so does the canvas" in run.stdout
