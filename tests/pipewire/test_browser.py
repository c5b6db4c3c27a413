# SPDX-License-Identifier: MIT
"""A stream as the camera of real browsers: they ask the desktop's portal, and PipeWire."""

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from lib.browser import ARGUMENTS
from lib.cockpit import Cockpit
from lib.pipewire import CAMERA, Pipewire
from lib.program import Program, wait_for
from test_pipewire import PORTAL

WIDTH, HEIGHT = 320, 240
# Of its quarters, from the top left; in RGB.
QUARTERS = [(200, 40, 40), (40, 200, 40), (40, 40, 200), (200, 200, 40)]
BLACK = [(0, 0, 0)] * 4
SENDER = f"""
import gid, numpy as np, sys, time
format = sys.argv[1]
pixels = np.full(({HEIGHT}, {WIDTH}, 4), 255, np.uint8)
quarters = np.array({QUARTERS})[:, :: 1 if format == "AB24" else -1]
for number, colour in enumerate(quarters):
    y, x = number // 2 * {HEIGHT // 2}, number % 2 * {WIDTH // 2}
    pixels[y : y + {HEIGHT // 2}, x : x + {WIDTH // 2}, :3] = colour
with gid.Domain() as domain, domain.producer("movie", format, {WIDTH}, {HEIGHT}) as producer:
    while True:
        producer.submit(pixels)
        time.sleep(1 / 15)
"""
NEAR = 8  # what a way through YUV may change
PAGE = """<!doctype html><video autoplay muted playsinline></video><script>
const tell = (what) => fetch("/", {method: "POST", body: JSON.stringify(what)})
const video = document.querySelector("video"), canvas = document.createElement("canvas")

async function look() {
  const [width, height] = [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight]
  const pen = canvas.getContext("2d", {willReadFrequently: true})
  pen.drawImage(video, 0, 0)
  const at = (x, y) => [...pen.getImageData(x * width / 4, y * height / 4, 1, 1).data].slice(0, 3)
  const all = await navigator.mediaDevices.enumerateDevices()
  const cameras = all.filter((one) => one.kind == "videoinput").map((one) => one.label)
  const colours = width == 0 ? [] : [at(1, 1), at(3, 1), at(1, 3), at(3, 3)]
  tell({cameras, size: [width, height], colours})
}

navigator.mediaDevices.getUserMedia({video: true}).then(
  (stream) => { video.srcObject = stream; setInterval(look, 200) },
  (error) => tell({error: String(error)}))
</script>"""
# Somebody says yes to each page that asks.
CHROMIUM = (*ARGUMENTS, "--enable-features=WebRtcPipeWireCamera", "--use-fake-ui-for-media-stream")
FIREFOX = {
    "media.webrtc.camera.allow-pipewire": True,
    "media.navigator.permission.disabled": True,
    "media.autoplay.default": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "browser.shell.checkDefaultBrowser": False,
}


class Page:
    """Of a server of this machine, which a browser tells what it sees."""

    def __init__(self) -> None:
        self.seen: dict = {}
        page = self

        class Handler(BaseHTTPRequestHandler):
            def reply(self, body: bytes = b"") -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self) -> None:
                self.reply(PAGE.encode() if self.path == "/" else b"")

            def do_POST(self) -> None:
                page.seen = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.reply()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def shows(self, colours: list[tuple[int, int, int]]) -> bool:
        seen = self.seen
        assert "error" not in seen, seen
        if seen.get("size") != [WIDTH, HEIGHT]:
            return False
        return bool(np.abs(np.subtract(seen["colours"], colours)).max() <= NEAR)


@pytest.fixture
def pipewire(cockpit: Cockpit) -> Iterator[Pipewire]:
    pipewire = Pipewire(cockpit)
    portal = pipewire.start(sys.executable, PORTAL, pipewire.folder / "pipewire-0")
    portal.wait_output("ready")
    yield pipewire
    pipewire.close()


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page()
    yield page
    page.server.shutdown()
    page.server.server_close()


def send(cockpit: Cockpit, format: str) -> Program:
    """In XR24 or AB24."""
    return cockpit.run("open", [sys.executable, "-c", SENDER, format])


def start(pipewire: Pipewire, name: str, folder: Path, address: str) -> Program:
    if name == "chromium":
        return pipewire.start(name, *CHROMIUM, f"--user-data-dir={folder}", address)
    said = [f"user_pref({json.dumps(key)}, {json.dumps(value)});" for key, value in FIREFOX.items()]
    (folder / "user.js").write_text("\n".join(said))
    return pipewire.start(name, "--headless", "--no-remote", "--profile", folder, address)


@pytest.mark.parametrize("name", ["chromium", "firefox-esr"])
def test_a_browser(
    cockpit: Cockpit, pipewire: Pipewire, page: Page, tmp_path: Path, name: str
) -> None:
    """It lists the camera by its name, shows it, and goes on when the domain that has it dies."""
    if shutil.which(name) is None:
        pytest.skip(f"needs more: ./run shell --with {name} -- ./run test pipewire")
    sender = send(cockpit, "XR24")
    pipewire.camera("--browsers", "--description=Rear camera")
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    browser = start(pipewire, name, tmp_path, page.address)
    wait_for(lambda: page.shows(QUARTERS), lambda: f"the picture: {page.seen} {browser.said()}")
    assert page.seen["cameras"] == ["Rear camera"]
    sender.kill()
    cockpit.gidds["open"].kill()
    wait_for(lambda: page.shows(BLACK), lambda: f"black: {page.seen}")
    cockpit.start("open")
    send(cockpit, "XR24")
    wait_for(lambda: page.shows(QUARTERS), lambda: f"the picture again: {page.seen}")
    browser.kill()
