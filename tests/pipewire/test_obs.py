# SPDX-License-Identifier: MIT
"""A stream as the camera of OBS Studio, which asks the portal that desktops have, and PipeWire."""

import base64
import io
import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import websocket
from lib.cockpit import Cockpit
from lib.pipewire import CAMERA, Pipewire
from lib.program import wait_for
from lib.weston import Weston
from PIL import Image
from test_browser import BLACK, HEIGHT, NEAR, QUARTERS, WIDTH, send

PORTAL = Path("/usr/libexec/xdg-desktop-portal-gtk")  # it comes with the portal of all desktops
PERMISSIONS = "org.freedesktop.impl.portal.PermissionStore"
SCENE = {
    "name": "test",
    "current_scene": "scene",
    "current_program_scene": "scene",
    "scene_order": [{"name": "scene"}],
    "sources": [
        {"id": "pipewire-camera-source", "name": "camera", "settings": {"device_id": CAMERA}},
        {
            "id": "scene",
            "name": "scene",
            "settings": {"id_counter": 1, "items": [{"name": "camera", "id": 1, "visible": True}]},
        },
    ],
}
PROFILE = f"""[General]
Name=test
[Video]
BaseCX={WIDTH}
BaseCY={HEIGHT}
OutputCX={WIDTH}
OutputCY={HEIGHT}
"""
NOT_READY = 207  # as it says while it starts
NOTHING = [(-1, -1, -1)] * 4
# It has been here before, and asks nothing.
GLOBAL = """[General]
FirstRun=true
LastVersion=503447555
[Basic]
Profile=test
ProfileDir=test
SceneCollection=test
SceneCollectionFile=test
"""


class Obs:
    """OBS Studio in a Weston, with a scene of nothing but the camera."""

    def __init__(self, pipewire: Pipewire) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        told = {"first_load": False, "server_enabled": True, "auth_required": False}
        told |= {"alerts_enabled": False, "server_port": self.port}
        files = {
            "global.ini": GLOBAL,
            "basic/profiles/test/basic.ini": PROFILE,
            "basic/scenes/test.json": json.dumps(SCENE),
            "plugin_config/obs-websocket/config.json": json.dumps(told),
        }
        for name, text in files.items():
            file = pipewire.folder / ".config" / "obs-studio" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.program = pipewire.start("obs", "--multi", "--disable-shutdown-check")
        self.connection = wait_for(self.connect, lambda: f"its socket: {self.program.said()}")

    def connect(self) -> websocket.WebSocket | None:
        with suppress(ConnectionRefusedError):
            connection = websocket.create_connection(f"ws://127.0.0.1:{self.port}", timeout=60)
            connection.recv()
            connection.send(json.dumps({"op": 1, "d": {"rpcVersion": 1, "eventSubscriptions": 0}}))
            connection.recv()
            return connection
        return None

    def ask(self, what: str, **more: object) -> dict:
        said = {"requestType": what, "requestId": "1", "requestData": more}
        self.connection.send(json.dumps({"op": 6, "d": said}))
        return json.loads(self.connection.recv())["d"]

    def seen(self) -> list:
        """The colours of the scene's quarters."""
        answer = self.ask("GetSourceScreenshot", sourceName="scene", imageFormat="png")
        if answer["requestStatus"]["code"] == NOT_READY:
            return NOTHING
        assert answer["requestStatus"]["result"], answer
        file = io.BytesIO(base64.b64decode(answer["responseData"]["imageData"].partition(",")[2]))
        picture = np.asarray(Image.open(file).convert("RGB"))
        height, width = (size // 4 for size in picture.shape[:2])
        return [picture[y * height, x * width].tolist() for y in (1, 3) for x in (1, 3)]

    def shows(self, colours: list[tuple[int, int, int]]) -> bool:
        return bool(np.abs(np.subtract(self.seen(), colours)).max() <= NEAR)


@pytest.fixture
def pipewire(cockpit: Cockpit) -> Iterator[Pipewire]:
    """With a screen, and with a portal that starts once it is asked."""
    if shutil.which("obs") is None or not PORTAL.exists():
        packages = "obs-studio obs-plugins xdg-desktop-portal-gtk"
        pytest.skip(f"needs more: ./run shell --with {packages} -- ./run test pipewire")
    weston = Weston(cockpit.folder, cockpit.env("cluster")).start()
    pipewire = Pipewire(cockpit)
    desktop = {"WAYLAND_DISPLAY": str(weston.socket), "XDG_CURRENT_DESKTOP": "GNOME"}
    desktop |= {"GDK_BACKEND": "wayland", "QT_QPA_PLATFORM": "wayland"}
    pipewire.environment |= desktop | {"LIBGL_ALWAYS_SOFTWARE": "1"}
    told = pipewire.start("dbus-update-activation-environment", *desktop)
    assert told.wait() == 0, told.said()
    yield pipewire
    pipewire.close()


def say_yes(pipewire: Pipewire) -> None:
    """As who sits at the desktop, once: the portal keeps what was said."""
    place, method = f"/{PERMISSIONS.replace('.', '/')}", f"{PERMISSIONS}.SetPermission"
    words = ["--session", f"--dest={PERMISSIONS}", f"--object-path={place}", f"--method={method}"]
    said = pipewire.start("gdbus", "call", *words, "devices", "true", "camera", "", "['yes']")
    assert said.wait() == 0, said.said()


@pytest.mark.parametrize("options", [["--browsers"], []], ids=["copied", "as it is"])
def test_obs(cockpit: Cockpit, pipewire: Pipewire, options: list[str]) -> None:
    """It shows the camera, and goes on when the domain that has it dies."""
    sender = send(cockpit, "AB24")
    pipewire.camera(*options)
    wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
    say_yes(pipewire)
    obs = Obs(pipewire)
    wait_for(lambda: obs.shows(QUARTERS), lambda: f"the picture: {obs.seen()} {obs.program.said()}")
    sender.kill()
    cockpit.gidds["open"].kill()
    wait_for(lambda: obs.shows(BLACK), lambda: f"black: {obs.seen()}")
    cockpit.start("open")
    send(cockpit, "AB24")
    wait_for(lambda: obs.shows(QUARTERS), lambda: f"the picture again: {obs.seen()}")
