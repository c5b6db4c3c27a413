# SPDX-License-Identifier: MIT
"""The commands of the documents, run as they stand there, in as many terminals as they say."""

from collections.abc import Callable
from pathlib import Path

import pytest
from gid_vm.guest import why_not
from lib.document_reader import Picture, Reader
from lib.documents import DOCUMENTS, Document, read_document
from lib.program import TOP
from PIL import Image

pytestmark = pytest.mark.timeout(900)

# Followed by tests of their own, which look at more.
ELSEWHERE = ("docs/install.md", "docs/remote.md", "docs/tutorial.md")


def is_followed(document: Document) -> bool:
    has_commands = any("in" in block.marks for block in document.blocks)
    return has_commands and document.name not in ELSEWHERE


FOLLOWED = [document for document in map(read_document, DOCUMENTS) if is_followed(document)]


LEFT_HALF, RIGHT_HALF = (0, 0, 640, 360), (640, 0, 1280, 360)
COUNT = """\
gst-launch-1.0 -v filesrc location=film.mp4 ! qtdemux ! fakesink silent=false \\
  | grep -c ': last-message = chain'
"""


def check_readme(reader: Reader) -> None:
    said = reader.terminal("1").text
    assert "gid-view: showing movie" in said
    assert len([line for line in said.splitlines() if ": last-message = chain" in line]) == 5
    reader.terminal("1").run(COUNT)
    assert "\n300\n" in reader.terminal("1").text, "all frames are in the film"
    assert not (TOP / "film.mp4").exists(), "the clone is not littered"


def check_engine(reader: Reader) -> None:
    """The camera moves from the right to the left: the two pictures differ."""
    before, after = ((reader.folder / f"{name}.png").read_bytes() for name in ("before", "after"))
    assert len(before) > 1000 and len(after) > 1000
    assert before != after


def check_timeline(reader: Reader) -> None:
    """The page of a pipeline, with the names of its domains and each stage of its stream."""
    assert "stream movie, open → cluster: " in reader.terminal("host").text
    page = (reader.folder / "way.html").read_text()
    for words in ("My pipeline", "open → cluster", "capture → shown", "Weston of cluster"):
        assert words in page


def check_hardware(reader: Reader) -> None:
    """Its pipeline says which frames were copied, with the decoder that every machine has."""
    assert "copied-frames" in reader.terminal("1").text


def check_examples(reader: Reader) -> None:
    said = reader.terminal("cluster").text
    assert said.count("us on its way, first pixel") == 103
    assert said.count("BGRx 320x240, 307200 bytes") == 10
    assert "gid-view: showing bar" in said
    assert (reader.folder / "film.raw").stat().st_size == 10 * 320 * 240 * 4
    assert len(list((reader.folder / "seen").glob("*.png"))) == 5


def check_own_program(reader: Reader) -> None:
    said = reader.terminal("1").text
    assert said.count("us on its way, first pixel") == 20
    assert "mean of blue, green, red, and what is not used: [" in said


def check_python(reader: Reader) -> None:
    assert "(240, 320, 4) uint8 mean" in reader.terminal("1").text


def check_start(reader: Reader) -> None:
    said = reader.terminal("1").text
    assert said.count("(240, 320) the bar is at") == 10
    assert said.count("us on its way, first pixel") == 10


def check_camera(reader: Reader) -> None:
    assert "gid-view: showing camera/rear" in reader.terminal("cluster").text


def check_record(reader: Reader) -> None:
    assert "\n300\n" in reader.terminal("cluster").text, "all frames"


def has_ball(path: Path) -> bool:
    with Image.open(path) as picture:
        return picture.convert("L").getextrema()[1] > 200


def check_vm(reader: Reader) -> None:
    """Frames of one guest on another one's screen, where there can be guests."""
    if why_not() is not None:
        return
    said = reader.terminal("host").text
    assert "Linux open " in said and "card0" in said and f"\n{reader.folder}\n" in said
    assert said.count("link to cluster (ivshmem)") == 1
    with Image.open(reader.folder / "cluster.png") as picture:
        assert picture.size == (640, 360)
    assert has_ball(reader.folder / "cluster.png")
    assert "<domain" in (reader.folder / "open.xml").read_text()


def halves(path: Path) -> list[Image.Image]:
    with Image.open(path) as picture:
        assert picture.size == (1280, 360)
        return [picture.convert("RGB").crop(box) for box in (LEFT_HALF, RIGHT_HALF)]


def has_windows(path: Path) -> bool:
    """In both halves, which are not black alone."""
    return all(len(half.getcolors(1 << 20)) > 20 for half in halves(path))


def check_windows(reader: Reader) -> None:
    """Windows of two compositors beside each other; the right one goes, and is marked."""
    assert has_windows(reader.folder / "picture.png")
    before, after = (halves(reader.folder / f"{name}.png")[1] for name in ("picture", "old"))
    assert after.tobytes() != before.tobytes()


def is_of_the_windows_size(path: Path) -> bool:
    with Image.open(path) as picture:
        return picture.size == (1024, 640) and len(picture.convert("RGB").getcolors(1 << 20)) > 20


def check_desktop(reader: Reader) -> None:
    """A desktop with something on it, as large as its window; and that of a guest, where there can
    be one."""
    assert is_of_the_windows_size(reader.folder / "desktop.png")
    if why_not() is None:
        assert is_of_the_windows_size(reader.folder / "guest.png")


CHECKS: dict[str, Callable[[Reader], None]] = {
    "README.md": check_readme,
    "docs/camera.md": check_camera,
    "docs/desktop.md": check_desktop,
    "docs/engine.md": check_engine,
    "docs/hardware.md": check_hardware,
    "docs/timeline.md": check_timeline,
    "docs/own-program.md": check_own_program,
    "docs/python.md": check_python,
    "docs/record.md": check_record,
    "docs/start.md": check_start,
    "docs/vm.md": check_vm,
    "docs/windows.md": check_windows,
    "examples/README.md": check_examples,
}


SCREENSHOT = "gid-cockpit --config cockpit.conf screenshot cluster cluster.png"
SNAP = "gidctl --domain cluster snap picture -o picture.png"
DESKTOP = "gidctl --domain cluster snap open desktop -o desktop.png"
GUESTS_DESKTOP = "gidctl --domain host snap open desktop -o guest.png"
PICTURES = {
    "docs/desktop.md": [
        Picture("desktop.png", "host", DESKTOP, is_of_the_windows_size),
        Picture("guest.png", "host", GUESTS_DESKTOP, is_of_the_windows_size),
    ],
    "docs/vm.md": [Picture("cluster.png", "host", SCREENSHOT, has_ball)],
    "docs/windows.md": [Picture("picture.png", "host", SNAP, has_windows)],
}


@pytest.mark.parametrize("document", FOLLOWED, ids=lambda document: document.name)
def test_document(document: Document, reader: Reader) -> None:
    """Each command ends well, does what is said of it, and at the end nothing runs on."""
    reader.follow(document, pictures=PICTURES.get(document.name, ()))
    CHECKS[document.name](reader)  # each has one: that all ended well says little
    assert reader.left_behind() == []
