# SPDX-License-Identifier: MIT
"""A stream in a browser, and in another player, by WHEP."""

import http.client
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import gid
import numpy as np
import pytest
from lib.browser import Browser
from lib.cockpit import Cockpit
from lib.pipeline import gst_env, make_registry
from lib.program import TOP, Program, wait_for

EXAMPLE = TOP / "examples" / "browser" / "whep.py"
PLAYER = Path(__file__).with_name("watch_whep.py")
PACKAGES = "gstreamer1.0-nice gir1.2-gst-plugins-bad-1.0"
WIDTH, HEIGHT = 320, 240
# Of its quarters, from the top left; in RGB.
QUARTERS = [(200, 40, 40), (40, 200, 40), (40, 40, 200), (200, 200, 40)]
NEAR = 24  # what an encoder may change
DRAWN = """
const video = document.querySelector("video"), canvas = document.createElement("canvas")
if (video === null || video.videoWidth == 0) return null
const [width, height] = [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight]
const pen = canvas.getContext("2d", {willReadFrequently: true})
pen.drawImage(video, 0, 0)
const at = (x, y) => [...pen.getImageData(x * width / 4, y * height / 4, 1, 1).data].slice(0, 3)
return [[width, height], at(1, 1), at(3, 1), at(1, 3), at(3, 3)]
"""


@pytest.fixture
def camera(cockpit: Cockpit) -> Iterator[None]:
    """Four colours, again and again."""
    pixels = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    for number, colour in enumerate(QUARTERS):
        y, x = number // 2 * HEIGHT // 2, number % 2 * WIDTH // 2
        pixels[y : y + HEIGHT // 2, x : x + WIDTH // 2, :3] = colour[::-1]
    done = threading.Event()
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        with domain.producer("camera", "XR24", WIDTH, HEIGHT) as producer:

            def send() -> None:
                while not done.wait(1 / 15):
                    producer.submit(pixels)

            sender = threading.Thread(target=send)
            sender.start()
            yield
            done.set()
            sender.join()


WITHOUT = """
import runpy, sys
import gi
def require(name, version):
    raise ValueError(f"Namespace {name} not available")
gi.require_version = require
runpy.run_path(sys.argv[1])
"""


def test_what_is_missing_is_named() -> None:
    words = [sys.executable, "-c", WITHOUT, str(EXAMPLE)]
    result = subprocess.run(words, capture_output=True, text=True)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("whep.py: Namespace Gst not available: ")
    assert all(package in line for package in PACKAGES.split())


def start(cockpit: Cockpit, *words: str) -> Program:
    env = gst_env(cockpit.env("cluster"), make_registry())
    return Program([sys.executable, EXAMPLE, *words], env, cockpit.folder, "whep")


@pytest.fixture
def server(cockpit: Cockpit, camera: None) -> Iterator[str]:
    """Its address."""
    program = start(cockpit, "-d", "open", "--port", "0", "camera")
    wait_for(lambda: "shows camera" in program.stdout or not program.is_running(), "it to start")
    if not program.is_running() and re.search("nicesrc|GstWebRTC", program.stderr):
        pytest.skip(f"needs more: ./run shell --with {PACKAGES} -- ./run test examples")
    (address,) = re.findall(r"^(http://\S+)/ shows camera$", program.stdout, re.M)
    yield address
    assert program.is_running(), program.stderr
    assert program.stop() == 0, program.stderr


def is_right(size: list[int], colours: list[list[int]]) -> bool:
    return size == [WIDTH, HEIGHT] and np.abs(np.subtract(colours, QUARTERS)).max() <= NEAR


def ask(
    server: str,
    method: str,
    path: str,
    body: str = "",
    kind: str = "application/sdp",
    **headers: str,
) -> int:
    connection = http.client.HTTPConnection(server.removeprefix("http://"), timeout=60)
    connection.request(method, path, body, {"Content-Type": kind} | headers)
    return connection.getresponse().status


def test_a_browser_shows_the_picture(server: str, browser: Browser) -> None:
    browser.driver.get(f"{server}/")
    wait_for(lambda: (seen := browser.run(DRAWN)) and is_right(seen[0], seen[1:]), "the picture")
    assert browser.errors() == []
    browser.driver.get("about:blank")
    wait_for(lambda: ask(server, "DELETE", "/whep/1") == 404, "the page to say that it goes")


def test_another_player_sees_it_until_it_is_sent_away(server: str, cockpit: Cockpit) -> None:
    env = gst_env(cockpit.env("cluster"), make_registry())
    player = Program([sys.executable, PLAYER, f"{server}/whep"], env, cockpit.folder, "player")

    def seen() -> list[str]:
        return re.findall(r"^(\d+)x(\d+) (.*)$", player.stdout, re.M)

    wait_for(lambda: len(seen()) >= 20, lambda: f"20 pictures: {player.said()}")
    width, height, colours = seen()[-1]
    assert is_right(
        [int(width), int(height)], [list(map(int, one.split(","))) for one in colours.split()]
    ), seen()[-1]
    assert ask(server, "DELETE", "/whep/1") == 200
    assert ask(server, "DELETE", "/whep/1") == 404
    player.kill()


def test_a_port_that_another_one_has(server: str, cockpit: Cockpit) -> None:
    port = server.rpartition(":")[2]
    second = start(cockpit, "--port", port, "movie")
    assert second.wait() == 1
    what = f"127.0.0.1:{port}: Address already in use: try another --port"
    assert second.stderr == f"whep.py: {what}\n"


def test_what_is_no_offer(server: str) -> None:
    assert ask(server, "POST", "/whep", "v=0\r\n") == 400
    assert ask(server, "POST", "/whep", "a=rtpmap:96 VP8/90000\r\n" * 3) == 400
    assert ask(server, "POST", "/whep", "x" * 100_000) == 413
    assert ask(server, "POST", "/whep", "v=0\r\n", "text/plain") == 404
    assert ask(server, "GET", "/../whep.py") == 404


def test_a_page_whose_name_means_this_machine(server: str) -> None:
    """Its scripts are of the same origin for a browser: they could watch, and tell others."""
    for host in ("page.example", "page.example:8889", "127.0.0.1.page.example", ""):
        assert ask(server, "GET", "/", Host=host) == 403
        assert ask(server, "POST", "/whep", "v=0\r\n", Host=host) == 403
    for host in ("127.0.0.1", "localhost:8889", "[::1]:8889"):
        assert ask(server, "GET", "/", Host=host) == 200
