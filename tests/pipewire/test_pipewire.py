# SPDX-License-Identifier: MIT
"""gid-pipewire: a stream as a camera of a real PipeWire, and what its readers get."""

import itertools
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import gid
import numpy as np
import pytest
from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.length import at_length_but
from lib.pipeline import gst_env, make_registry
from lib.pipewire import CAMERA, HEIGHT, READER, WIDTH, Pipewire
from lib.program import BUILD, TOP, Program, wait_for

PORTAL = Path(__file__).with_name("portal.py")


@pytest.fixture
def pipewire(cockpit: Cockpit) -> Iterator[Pipewire]:
    pipewire = Pipewire(cockpit)
    yield pipewire
    pipewire.close()


Send = Callable[..., gid.Producer]


@pytest.fixture
def send(cockpit: Cockpit) -> Iterator[Send]:
    """Makes the producer of the stream `movie`."""
    domain = gid.Domain(str(cockpit.socket("open")))
    producers = []

    def make(format: str = "R8", height: int = HEIGHT) -> gid.Producer:
        producers.append(domain.producer("movie", format, WIDTH, height))
        return producers[-1]

    yield make
    domain.close()


def paint(producer: gid.Producer, brightness: int) -> None:
    with producer.slot(timeout=60) as picture:
        planes = picture if isinstance(picture, tuple) else (picture,)
        planes[0][...] = brightness
        for plane in planes[1:]:
            plane[...] = 128


@pytest.mark.parametrize("format", ["R8", "NV12", "YU12", "XR24"])
def test_who_comes_sees_what_is_shown(pipewire: Pipewire, send: Send, format: str) -> None:
    """Also where nothing changes, in the stream's own memory, which can only be read."""
    paint(send(format), 99)
    camera = pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    node = pipewire.nodes()[CAMERA]
    assert (node["media.class"], node["media.role"]) == ("Video/Source", "Camera")
    for _ in range(2):  # readers come and go
        readers = [pipewire.reader(format) for _ in range(2)]
        for reader in readers:
            reader.wait_picture(99)
            assert reader.slab_accesses() == {os.O_RDONLY}
        for reader in readers:
            reader.program.kill()
    camera.signal(signal.SIGTERM)
    assert camera.wait() == 0, camera.stderr
    said = [line for line in camera.stderr.splitlines() if line.startswith("gid-pipewire: ")]
    assert said == ["gid-pipewire: waiting for movie", f"gid-pipewire: showing movie as {CAMERA}"]
    counts = json.loads(camera.stdout)
    assert counts["frames"] >= 1 and counts["busy"] == 0


@pytest.mark.parametrize("format", ["R8", "NV12"])
def test_readers_outlive_the_producer(pipewire: Pipewire, send: Send, format: str) -> None:
    """They see black while there is none, and what comes then, which is in other memory."""
    producer = send(format)
    paint(producer, 50)
    pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    reader = pipewire.reader(format)
    reader.wait_picture(50)
    producer.close()
    reader.wait_picture(16 if format == "NV12" else 0)
    producer = send(format)
    paint(producer, 60)
    reader.wait_picture(60)


def test_black_is_opaque(pipewire: Pipewire, send: Send) -> None:
    """Whoever lays the camera over something else sees nothing of that."""
    producer = send("AR24")
    paint(producer, 50)
    pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    reader = pipewire.reader("AR24")
    reader.wait_picture(50)
    producer.close()
    wait_for(
        lambda: set(np.fromfile(reader.file, "<u4")[-WIDTH * HEIGHT :].tolist()) == {0xFF000000},
        "an opaque black",
    )


def test_times_increase(pipewire: Pipewire, send: Send) -> None:
    """Also of a picture that stands still, which is shown again and again."""
    paint(send(), 99)
    pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    text = f"pipewiresrc target-object={CAMERA} stream-properties={READER} "
    text += "! identity silent=false ! fakesink sync=false"
    reader = pipewire.start("gst-launch-1.0", "-v", *text.split())

    def times() -> list[str]:
        return re.findall(r"\(identity0:sink\).*? pts: ([\d:.]+),", reader.stdout)

    wait_for(lambda: len(times()) >= 4, "four pictures")
    assert all(one < other for one, other in itertools.pairwise(times())), times()


def test_no_picture_is_copied(pipewire: Pipewire, send: Send) -> None:
    """Where all memory is there when the first reader comes."""
    producer = send()
    paint(producer, 200)
    camera = pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    readers = [pipewire.reader() for _ in range(2)]
    for reader in readers:
        reader.wait_picture(200)
    for number in range(60):
        paint(producer, number)
        time.sleep(1 / 60)  # as a source does
    for reader in readers:
        reader.wait_picture(59)
        reader.program.kill()
    assert camera.stop() == 0, camera.stderr
    counts = json.loads(camera.stdout)
    assert (counts["copied"], counts["new"], counts["forms"]) == (0, 1, 1), counts


def test_pictures_of_a_live_source(pipewire: Pipewire, cockpit: Cockpit) -> None:
    """Memory that a producer makes while it runs is shown, too: only then is a picture copied."""
    text = f"videotestsrc is-live=true ! video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},"
    text += "framerate=30/1 ! gidsink stream=movie"
    environment = gst_env(cockpit.env("open"), make_registry())
    words = ["gst-launch-1.0", "-q", *text.split()]
    Program(words, environment, cockpit.folder, "film")
    camera = pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    reader = pipewire.reader("R8")
    wait_for(lambda: reader.file.exists() and reader.file.stat().st_size > 60 * reader.size, "60")
    reader.program.kill()
    camera.signal(signal.SIGTERM)
    assert camera.wait() == 0, camera.stderr
    counts = json.loads(camera.stdout)
    assert counts["shown"] >= 60 and (counts["copied"] == 0 or counts["new"] > 1), counts


PART = (64, 40, 256, 160)
CORNER = (slice(40, 60), slice(64, 104))  # of that


def paint_part(producer: gid.Producer, crop: tuple[int, int, int, int], **said: int) -> None:
    """White around it, grey in it, black in its first corner."""
    x, y, width, height = crop
    with producer.slot(timeout=60, crop=crop, **said) as picture:
        planes = picture if isinstance(picture, tuple) else (picture,)
        for plane in planes[1:]:
            plane[...] = 128
        planes[0][...] = 235
        planes[0][y : y + height, x : x + width] = 100
        planes[0][CORNER] = 16


def newest(file: Path, width: int, height: int) -> np.ndarray | None:
    """The last whole picture of such a size; None: there is none."""
    size = 4 * width * height
    if not file.exists() or file.stat().st_size < size:
        return None
    return np.fromfile(file, np.uint8)[-size:].reshape(height, width, 4)[..., :3]


def wait_part(reader: Program, file: Path, transform: int, width: int, height: int) -> None:
    """The part, turned back: its producer flipped it, then turned it counter-clockwise."""
    bright = np.ones((height, width), bool)
    bright[:20, :40] = False
    bright = np.rot90(bright, -(transform % 4))
    bright = bright[:, ::-1] if transform >= 4 else bright

    def seen() -> bool:
        assert reader.is_running(), reader.stderr
        picture = newest(file, *bright.shape[::-1])
        if picture is None or picture.max() > 120:
            return False
        return np.array_equal((picture > 60).all(axis=2), bright)

    wait_for(seen, f"the part, turned by {transform}")


@pytest.mark.parametrize("format", ["R8", "NV12", "YU12", "XR24"])
def test_the_part_that_is_shown(
    pipewire: Pipewire, send: Send, tmp_path: Path, format: str
) -> None:
    """And nothing of what its producer cut off."""
    producer = send(format)
    paint_part(producer, PART)
    camera = pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    reader = pipewire.player(tmp_path / "pictures")
    wait_part(reader, tmp_path / "pictures", 0, 256, 160)
    paint_part(producer, (64, 40, 256, 999))  # which is no part of it
    camera.wait_output("a picture is left out: its crop is wrong")


def test_a_part_that_begins_within_a_sample(pipewire: Pipewire, send: Send, tmp_path: Path) -> None:
    """Less is shown then, not more."""
    x, y, width, height = PART
    paint_part(send("NV12"), (x - 1, y - 1, width + 1, height + 1))
    pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    reader = pipewire.player(tmp_path / "pictures")
    wait_part(reader, tmp_path / "pictures", 0, width, height)


@pytest.mark.parametrize("sizes", [(128, 96, 64), (128, 96, 128)], ids=["another", "as before"])
def test_the_last_of_several_sizes(pipewire: Pipewire, send: Send, sizes: tuple[int, ...]) -> None:
    """Of a window that is drawn larger or smaller, and then stands still: it is the one that is
    shown, though PipeWire is told of a few a second."""
    producer = send("XR24")
    paint_part(producer, PART)
    pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    time.sleep(0.3)  # so that PipeWire is told of the next one at once
    for size in sizes:
        paint_part(producer, (64, 40, size, size))
    time.sleep(1)  # in which more than one was told
    wait_for(lambda: pipewire.size() == (sizes[-1], sizes[-1]), "the last size")


@pytest.mark.parametrize("transform", [1, 4, 5, 6, 7])
def test_how_it_is_turned(pipewire: Pipewire, send: Send, tmp_path: Path, transform: int) -> None:
    paint_part(send("XR24"), PART, transform=transform)
    pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    reader = pipewire.player(tmp_path / "pictures")
    wait_part(reader, tmp_path / "pictures", transform, 256, 160)


def test_what_cannot_be_shown_is_told(pipewire: Pipewire, send: Send) -> None:
    producer = send("AR12")
    paint(producer, 1)
    camera = pipewire.camera()
    assert camera.wait() == 1
    assert "PipeWire has no format like its AR12" in camera.stderr


BROWSERS = {  # what they call our formats
    **{"NV12": "NV12", "YU12": "I420", "YUYV": "YUY2", "UYVY": "UYVY", "RG16": "RGB16"},
    **{"RG24": "BGR", "BG24": "RGB", "AR24": "BGRA", "AB24": "RGBA", "BA24": "ARGB"},
    **{"XR24": "BGRA", "XB24": "RGBA", "BX24": "ARGB"},
}
ODD = (390, 242)  # rows have padding
SEEN = (6, 4, 130, 82)  # of that


def noise(producer: gid.Producer, format: str, crop: tuple[int, int, int, int]) -> bytes:
    """Sends such a picture. Returns what is seen of it, in one piece and opaque."""
    (width, height), (left, top, wide, high) = ODD, crop
    dice, seen = np.random.default_rng(7), b""
    with producer.slot(timeout=60, crop=crop) as picture:
        for plane in picture if isinstance(picture, tuple) else (picture,):
            plane[...] = dice.integers(0, np.iinfo(plane.dtype).max, plane.shape, plane.dtype)
            rows, columns = height // plane.shape[0], width // plane.shape[1]
            part = plane[top // rows : (top + high) // rows, left // columns :]
            part = part[:, : wide // columns].copy()
            if format in ("XR24", "XB24", "BX24"):
                part[..., 0 if format == "BX24" else 3] = 255
            seen += part.tobytes()
    return seen


@pytest.mark.parametrize("format", at_length_but(BROWSERS, "NV12", "YU12", "YUYV", "XR24"))
def test_browsers(pipewire: Pipewire, cockpit: Cockpit, tmp_path: Path, format: str) -> None:
    """They get what is seen, without padding, and see black while there is no producer."""
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        producer = domain.producer("movie", format, *ODD)
        seen = noise(producer, format, SEEN)
        camera = pipewire.camera("--browsers")
        wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
        files = [tmp_path / name for name in ("one", "other")]
        readers = [pipewire.browser(BROWSERS[format], *SEEN[2:], file) for file in files]

        def wait_picture(right: Callable[[bytes], bool]) -> None:
            for reader, file in zip(readers, files, strict=True):
                wait_for(
                    lambda f=file: f.exists() and right(f.read_bytes()[-len(seen) :]),
                    lambda r=reader: f"the picture: {r.said()}",
                )

        wait_picture(lambda picture: picture == seen)
        producer.close()
        wait_picture(lambda picture: len(set(picture)) <= 2)
        producer = domain.producer("movie", format, *ODD)
        seen = noise(producer, format, SEEN)
        wait_picture(lambda picture: picture == seen)
    assert camera.stop() == 0, camera.stderr
    counts = json.loads(camera.stdout)
    assert counts["copied"] >= 2 and counts["forms"] == 1, counts


def test_a_reader_for_which_pipewire_maps_pictures(
    pipewire: Pipewire, send: Send, tmp_path: Path
) -> None:
    """It does that where all are of one size."""
    producer = send("YUYV")
    with producer.slot(timeout=60) as picture:
        picture[...] = 99
    pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    file = tmp_path / "pictures"
    reader = pipewire.browser("YUY2", WIDTH, HEIGHT, file, "any")
    wait_for(lambda: file.exists() and set(file.read_bytes()) == {99}, lambda: reader.said())


def test_a_reader_that_can_have_no_picture(pipewire: Pipewire, send: Send) -> None:
    """It asks for another format. The camera stays for those that come then."""
    paint(send(), 50)
    camera = pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    unable = pipewire.browser("NV12", WIDTH, HEIGHT, pipewire.folder / "none")
    assert unable.wait() == 1, unable.said()
    camera.wait_output("movie: a reader gets no picture: ")
    pipewire.reader().wait_picture(50)
    assert camera.stop() == 0, camera.stderr


def test_others_read_what_is_made_for_browsers(pipewire: Pipewire, send: Send) -> None:
    """All planes lie in one piece there."""
    paint(send("NV12"), 99)
    pipewire.camera("--browsers")
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    reader = pipewire.reader("NV12")
    reader.wait_picture(99)


def test_no_browser_reads_what_it_would_read_wrong(
    pipewire: Pipewire, send: Send, tmp_path: Path
) -> None:
    """Slots of the stream's own: it counts twice where one begins."""
    paint(send("NV12"), 99)
    pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    reader = pipewire.browser("NV12", WIDTH, HEIGHT, tmp_path / "pictures")
    assert reader.wait() == 1, reader.said()
    assert (tmp_path / "pictures").read_bytes() == b""


def test_what_browsers_have_not_is_told(pipewire: Pipewire, send: Send) -> None:
    paint(send("R8"), 1)
    camera = pipewire.camera("--browsers")
    assert camera.wait() == 1
    assert "browsers have no format like its R8" in camera.stderr


def test_memory_that_cannot_be_had(cockpit: Cockpit, pipewire: Pipewire, send: Send) -> None:
    """As where its owner has given too much. The camera stays for what comes then."""
    file = pipewire.folder / "unfetched"
    preload = Preload(BUILD / "tests/lib/programs/unfetched.so")
    pipewire.environment |= preload.env | {"UNFETCHED": str(file)}
    producer = send()
    paint(producer, 50)
    camera = pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    reader = pipewire.reader()
    reader.wait_picture(50)
    file.touch()
    producer.close()
    producer = send()
    paint(producer, 60)
    camera.wait_output("movie: a picture is left out: ")
    file.unlink()
    paint(producer, 70)
    reader.wait_picture(70)
    assert camera.stop() == 0, camera.stderr


@pytest.fixture
def theirs(pipewire: Pipewire) -> int:
    """The number of another program's node, with red pictures, `theirs`."""
    pipewire.environment |= gst_env(pipewire.environment, make_registry())
    source = "videotestsrc is-live=true pattern=red ! video/x-raw,format=BGRx,width=320,height=240"
    node = "p,media.class=Video/Source,node.name=theirs,media.role=Camera"
    text = f"{source} ! pipewiresink mode=provide sync=false stream-properties={node}"
    pipewire.start("gst-launch-1.0", "-q", *text.split())
    wait_for(lambda: "theirs" in pipewire.nodes(), "their node")
    props = ((thing["id"], thing.get("info", {}).get("props", {})) for thing in pipewire.dump())
    return next(number for number, said in props if said.get("node.name") == "theirs")


def read_red(cockpit: Cockpit, stream: str) -> None:
    with gid.Domain(str(cockpit.socket("cluster"))) as domain:
        for _, frame in zip(range(20), domain.consumer(stream), strict=False):
            with frame as picture:
                assert frame.format == "XR24" and picture.shape == (240, 320, 4)
                assert (picture[..., :3] == (0, 0, 255)).all()


def test_a_camera_of_pipewire_is_a_stream(
    pipewire: Pipewire, cockpit: Cockpit, theirs: int
) -> None:
    """The other direction, by GStreamer's elements."""
    text = f"pipewiresrc target-object=theirs stream-properties={READER} ! gidsink stream=front"
    pipewire.start("gst-launch-1.0", "-q", *text.split())
    read_red(cockpit, "front")


def ask_for_a_screen(pipewire: Pipewire, *node: str) -> Program:
    """Of a desktop's portal, where somebody chooses this node."""
    words = [PORTAL, pipewire.folder / "pipewire-0", *node]
    pipewire.start(sys.executable, *words).wait_output("ready")
    return pipewire.start(sys.executable, TOP / "examples" / "screen.py", "desktop")


def test_a_screen_of_a_desktop_is_a_stream(
    pipewire: Pipewire, cockpit: Cockpit, theirs: int
) -> None:
    program = ask_for_a_screen(pipewire, str(theirs))
    read_red(cockpit, "desktop")
    program.signal(signal.SIGINT)
    assert program.wait() == 0, program.stderr


def test_a_desktop_gives_no_screen(pipewire: Pipewire) -> None:
    program = ask_for_a_screen(pipewire)
    assert program.wait() == 1
    assert program.stderr == "screen.py: the desktop gives no picture\n"


def test_without_pipewire(cockpit: Cockpit, send: Send, tmp_path: Path) -> None:
    paint(send(), 1)
    environment = cockpit.env("cluster") | {
        "XDG_RUNTIME_DIR": str(tmp_path),
        "PIPEWIRE_RUNTIME_DIR": str(tmp_path),
    }
    words = [BUILD / "clients/gid-pipewire", "--domain=open", "--stream=movie"]
    program = Program(words, environment, tmp_path)
    assert program.wait() == 1
    assert "PipeWire" in program.stderr


def test_a_pipewire_that_ends(pipewire: Pipewire, send: Send) -> None:
    paint(send(), 1)
    camera = pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    pipewire.daemon.kill()
    assert camera.wait() == 1
    assert "PipeWire" in camera.stderr


def test_two_sizes_in_turn(cockpit: Cockpit, pipewire: Pipewire) -> None:
    """A flood of forms: PipeWire negotiates each with all readers, and plays sounds for others."""
    restless = BUILD / "tests/hostile/programs/hostile-restless"
    cockpit.run("open", [restless, "sizes", "movie", str(WIDTH), str(HEIGHT)])
    begun = time.monotonic()
    camera = pipewire.camera()
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    time.sleep(2)
    assert camera.stop() == 0
    counts = json.loads(camera.stdout)
    assert 2 < counts["forms"] <= 5 * (time.monotonic() - begun) + 2, counts
    assert counts["frames"] > 20 * counts["forms"], "they came much faster"
