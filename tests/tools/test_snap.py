# SPDX-License-Identifier: MIT
"""gidctl snap and watch: the pictures of a stream in any format, and its frames, line by line."""

import json
import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from lib.cockpit import Cockpit
from lib.picture_formats import FORMATS, Colour, colour, pack, same, word
from lib.program import BUILD, PATIENCE, wait_for
from PIL import Image

GIDCTL = BUILD / "tools" / "gidctl" / "gidctl"
FLOW = BUILD / "tests" / "tools" / "flow"
WIDTH, HEIGHT = 32, 16

CORNERS = [colour(250, 30, 20), colour(20, 200, 60), colour(40, 60, 220), colour(230, 230, 235)]


def four_corners(x: int, y: int) -> Colour:
    """A colour for each quarter; the first is smaller, so that each way to turn it differs."""
    return CORNERS[(x >= 8) + 2 * (y >= 4)]


@contextmanager
def published(
    cockpit: Cockpit, stream: str, fourcc: str, picture: bytes, *seen: int
) -> Iterator[subprocess.Popen]:
    """`seen`: the transform and the crop."""
    numbers = [WIDTH, HEIGHT, *(seen or (0, 0, 0, 0, 0))]
    process = subprocess.Popen(
        [FLOW, "publish", stream, fourcc, *map(str, numbers)],
        env=cockpit.env("open"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        process.stdin.write(picture)
        process.stdin.close()
        assert process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def gidctl(
    cockpit: Cockpit, *words: str | Path, domain: str | None = "open"
) -> subprocess.CompletedProcess[str]:
    env = cockpit.env(domain or "")
    if domain is None:
        del env["GID_DOMAIN"]
    # A picture may come late; who asks for another limit has that.
    wait = [f"--wait={PATIENCE / 2}"] if words[0] == "snap" and "--wait" not in words else []
    return subprocess.run(
        [GIDCTL, *words, *wait], env=env, capture_output=True, text=True, timeout=PATIENCE
    )


def snapped(cockpit: Cockpit, folder: Path, *words: str, domain: str | None = "open") -> np.ndarray:
    file = folder / "shot.png"
    result = gidctl(cockpit, "snap", *words, "-o", file, domain=domain)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    with Image.open(file) as image:
        assert image.format == "PNG"
        return np.array(image)


def test_every_format_is_known_here() -> None:
    known = subprocess.run([FLOW, "formats"], capture_output=True, text=True, check=True)
    assert sorted(known.stdout.splitlines()) == sorted(FORMATS)


def test_every_format(cockpit: Cockpit, tmp_path: Path) -> None:
    wrong = []
    for fourcc in FORMATS:
        picture = pack(fourcc, WIDTH, HEIGHT, four_corners)
        with published(cockpit, "picture", fourcc, picture):
            shown = snapped(cockpit, tmp_path, "picture")
        if shown.shape[:2] != (HEIGHT, WIDTH) or not same(fourcc, shown, four_corners):
            wrong.append((fourcc, shown[0, 0].tolist(), shown[-1, -1].tolist()))
    assert wrong == []


@pytest.mark.parametrize("transform", range(8))
def test_what_is_seen_is_taken(cockpit: Cockpit, tmp_path: Path, transform: int) -> None:
    """The crop. Its producer flipped it, then turned it counter-clockwise: so it is turned back."""
    picture = pack("XR24", WIDTH, HEIGHT, four_corners)
    with published(cockpit, "picture", "XR24", picture, transform, 2, 1, 20, 10):
        shown = snapped(cockpit, tmp_path, "picture")
    whole = np.frombuffer(picture, np.uint8).reshape(HEIGHT, WIDTH, 4)[:, :, 2::-1]
    wanted = np.rot90(whole[1:11, 2:22], -(transform % 4))
    if transform >= 4:
        wanted = wanted[:, ::-1]
    assert np.array_equal(shown, wanted)


def test_colours_under_alpha(cockpit: Cockpit, tmp_path: Path) -> None:
    """Streams have colours multiplied by alpha, as displays take them; PNG has them as they are."""
    half = {"R": 0.5, "G": 0.25, "B": 0, "A": 128 / 255}
    with published(cockpit, "glass", "AR24", word("AR24", half) * WIDTH * HEIGHT):
        shown = snapped(cockpit, tmp_path, "glass")
    assert shown[3, 3].tolist() == [255, 128, 0, 128]


def test_a_stream_of_another_domain(cockpit: Cockpit, tmp_path: Path) -> None:
    picture = pack("NV12", WIDTH, HEIGHT, four_corners)
    with published(cockpit, "camera/rear", "NV12", picture):
        for domain in ("cluster", "open", None):  # None: that of the stream is asked
            shown = snapped(cockpit, tmp_path, "open", "camera/rear", domain=domain)
            assert same("NV12", shown, four_corners)


def test_several_pictures(cockpit: Cockpit, tmp_path: Path) -> None:
    with published(cockpit, "picture", "XR24", pack("XR24", WIDTH, HEIGHT, four_corners)):
        result = gidctl(cockpit, "snap", "picture", "-n", "3", "-o", tmp_path / "shot-%02d.png")
        assert (result.returncode, result.stderr) == (0, "")
        one = gidctl(cockpit, "snap", "picture", "-o", tmp_path / "100%d.png")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["100%d.png", "shot-01.png", "shot-02.png", "shot-03.png"]
    assert one.returncode == 0


@pytest.mark.parametrize("name", ("tmp.Ab3dE", "shot-2026.11.28", "shot.png.new", ".shot"))
def test_a_name_without_the_ending_of_a_format(cockpit: Cockpit, tmp_path: Path, name: str) -> None:
    with published(cockpit, "picture", "XR24", pack("XR24", WIDTH, HEIGHT, four_corners)):
        result = gidctl(cockpit, "snap", "picture", "-o", tmp_path / name)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_to_standard_output(cockpit: Cockpit) -> None:
    with published(cockpit, "picture", "XR24", pack("XR24", WIDTH, HEIGHT, four_corners)):
        words = [GIDCTL, "snap", "picture", f"--wait={PATIENCE}", "-o", "-"]
        result = subprocess.run(words, env=cockpit.env("open"), capture_output=True)
        assert result.stdout.startswith(b"\x89PNG") and result.stdout.endswith(b"IEND\xaeB`\x82")
        leader, follower = pty.openpty()
        at_terminal = subprocess.run(words, env=cockpit.env("open"), stdout=follower)
        os.close(leader)
        os.close(follower)
        assert at_terminal.returncode == 2


def test_nobody_there(cockpit: Cockpit, tmp_path: Path) -> None:
    file = tmp_path / "shot.png"
    result = gidctl(cockpit, "snap", "open", "movie", "--wait", "0.2", "-o", file)
    assert (result.returncode, file.exists()) == (1, False)
    assert result.stderr == (
        "gidctl: no picture of movie of domain open came within 0.2 s: nobody publishes it\n"
    )
    result = gidctl(cockpit, "snap", "no-such", "movie", "-o", file)
    assert result.returncode == 1 and "no-such" in result.stderr


def test_it_waits_as_long_as_there_is_a_producer(cockpit: Cockpit, tmp_path: Path) -> None:
    """As of a slow guest, whose next picture takes long; and says so. It takes one that comes."""
    file = tmp_path / "shot.png"
    with published(
        cockpit, "picture", "XR24", pack("XR24", WIDTH, HEIGHT, four_corners)
    ) as producer:
        producer.send_signal(signal.SIGUSR1)
        snap = cockpit.run("open", [GIDCTL, "snap", "picture", "-o", file], "snap")
        told = "gidctl: waiting for a picture of picture of domain open, which has a producer: "
        wait_for(lambda: snap.stderr.count(told) == 2, "it to wait for more than five seconds")
        producer.send_signal(signal.SIGUSR1)
        assert snap.wait() == 0, snap.stderr
    with Image.open(file) as image:
        assert same("XR24", np.array(image), four_corners)


def test_a_full_disk(cockpit: Cockpit) -> None:
    with published(cockpit, "picture", "XR24", pack("XR24", WIDTH, HEIGHT, four_corners)):
        result = gidctl(cockpit, "snap", "picture", "-o", "/dev/full")
        assert result.returncode == 1
        assert result.stderr == "gidctl: /dev/full: No space left on device\n"
        result = gidctl(cockpit, "snap", "picture", "-o", "/nowhere/shot.png")
        assert result.stderr == "gidctl: /nowhere/shot.png: No such file or directory\n"


# --- watch ---


def test_watch(cockpit: Cockpit) -> None:
    with published(cockpit, "picture", "NV12", pack("NV12", WIDTH, HEIGHT, four_corners)):
        result = gidctl(cockpit, "watch", "picture", "--frames", "5", "--json")
        frames = [json.loads(line) for line in result.stdout.splitlines()]
        text = gidctl(cockpit, "watch", "open", "picture", "-n", "2", domain="cluster").stdout
    assert (result.returncode, result.stderr) == (0, "")
    assert len(frames) == 5
    for before, after in zip(frames, frames[1:], strict=False):
        assert after["sequence"] > before["sequence"]
        assert after["interval_ns"] == after["submit_time_ns"] - before["submit_time_ns"]
    assert {(one["format"], one["width"], one["height"]) for one in frames} == {("NV12", 32, 16)}
    assert all(0 < one["latency_ns"] < PATIENCE * 1e9 for one in frames)
    heading, *lines = text.splitlines()
    assert heading.split() == ["FRAME", "INTERVAL", "LATENCY", "GID", "PICTURE", "FLAGS"]
    assert len(lines) == 2 and all("32x16 NV12" in line for line in lines)


def test_watch_until_it_is_interrupted(cockpit: Cockpit) -> None:
    """It waits for a stream that is not there yet, and ends in good order."""
    watch = cockpit.run("open", [GIDCTL, "watch", "picture"], "watch")
    wait_for(lambda: "FRAME" in watch.stdout, "the heading")
    with published(cockpit, "picture", "XR24", pack("XR24", WIDTH, HEIGHT, four_corners)):
        wait_for(lambda: watch.stdout.count("XR24") >= 3, "three frames")
        watch.signal(signal.SIGINT)
        assert watch.wait() == 0
    assert watch.stderr == ""


def test_watch_goes_on_with_the_next_producer(cockpit: Cockpit) -> None:
    """Several times, for the end is told by gidd or by a doorbell: whichever is heard first."""
    watch = cockpit.run("open", [GIDCTL, "watch", "picture"], "watch")
    for turn in range(1, 7):
        with published(cockpit, "picture", "XR24", pack("XR24", WIDTH, HEIGHT, four_corners)):
            wait_for(
                lambda turn=turn: watch.stdout.count("XR24") >= 3 * turn or not watch.is_running(),
                "three frames more",
            )
            assert watch.is_running(), watch.stderr
    watch.signal(signal.SIGINT)
    assert watch.wait() == 0 and watch.stderr == ""
