# SPDX-License-Identifier: MIT
"""Runs in a guest: frames of each kind as a role on a plane of vkms, forwarded by Weston with GL.

plane_frames.py REGISTRY   stdin has one JSON object a line: {"name", "source", "options",
"environment", "format", "width", "height"}, the size before a crop; a source that is empty is
gid-map's. For each, one JSON object says what the display controller has shown, the role's status
and the module's counts. The last line is of NV12 in shared memory, which Weston does not take, sent
to a role as it is.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy
from gl_client import drawn_picture
from lib.cockpit import Cockpit
from lib.display import Display
from lib.forwarding import GID_VIEW, Forwarding
from lib.pictures import BT601, COLOURS, LIMITED, RAW_ROLE, Picture
from lib.pipeline import LOSSLESS, Pipeline
from lib.program import BUILD, wait_for
from lib.vkms import CHECKSUMS, Refreshes, checksum
from reference import compare, reference
from scanout import HEIGHT, WIDTH

from lab.domains.configuration import section

MAP = BUILD / "clients" / "gid-map"
X, Y = 40, 20
ROLE_WIDTH, ROLE_HEIGHT = 320, 180
RAW = (100, 300)  # where the other role is
SECONDS = 300
COUNTS = ("converted_frames", "plane_copies", "plane_direct", "shown_frames", "differed")
DISPLAY = section(
    "display",
    f"worst-frame=0 output=Virtual-1 width={WIDTH} height={HEIGHT} planes=direct writeback=6 "
    "stream=screen",
)
ROLES = "".join(
    section(
        f"role {name}",
        f"domain=open x={x} y={y} width={ROLE_WIDTH} height={height} deadline-ms=10000 formats=any",
    )
    for name, x, y, height in (("telltale", X, Y, ROLE_HEIGHT), ("raw", *RAW, 80))
)
CONFIG = (
    f"[gid-safety]\nrole=telltale\nclients={GID_VIEW}, {MAP}\nclient-ms=60000\nlease-ms=60000\n"
)
CONFIG += f"size={ROLE_WIDTH}x{ROLE_HEIGHT}\n"
# As root, without a seat's daemon; and a Weston that does not take vkms for a graphics card.
SEAT = {"LIBSEAT_BACKEND": "noop"}
SOFTWARE = {"LIBGL_ALWAYS_SOFTWARE": "true"}


class Plane:
    def __init__(self, cockpit: Cockpit) -> None:
        self.cockpit = cockpit
        self.refreshes = Refreshes()
        self.display = Display(cockpit, ROLES, display=DISPLAY, inside=SEAT)
        self.forwarding = Forwarding(
            cockpit, CONFIG, renderer="gl", display=self.display, environment=SOFTWARE
        )

    def is_on_plane(self, name: str) -> bool:
        return self.display.role(name)["place"] == "plane"

    def wait_on_plane(self, name: str, expected: Callable[[], numpy.ndarray | None]) -> dict:
        """Until the controller shows the picture with the role on a plane; how it differs.

        A frame of its stream, for which roles are composed, says what the pixels of its checksum
        are.
        """
        x, y = (X, Y) if name == "telltale" else RAW
        found: dict = {}

        def shows() -> bool:
            shot = self.display.screenshot()
            picture = expected()
            if picture is None:
                return False
            height, width = picture.shape[:2]
            found.update(compare(shot[y : y + height, x : x + width, ::-1], picture))
            if found["largest"] > 1:
                return False
            wait_for(lambda: self.is_on_plane(name), "its plane")  # it was composed for the copy
            return self.refreshes.next() == {checksum(shot)} and self.is_on_plane(name)

        try:
            wait_for(shows, f"{name} on its plane", SECONDS)
        except AssertionError as error:
            log = self.forwarding.weston.read_log()
            raise AssertionError(
                f"{error}: {found}, {self.display.role(name)}\n{log[log.find('gid:') :]}"
            ) from None
        return found

    def finish(self, name: str, before: dict, found: dict) -> dict:
        role = self.display.role("telltale")
        return {
            "name": name,
            "difference": found,
            "role": {key: role[key] - before[key] for key in COUNTS},
            "counts": self.forwarding.counts(),
            "read_back_failed": self.display.status()["read_back_failed"],
        }

    def show(self, case: dict) -> dict:
        before = self.display.role("telltale")
        raw = self.cockpit.folder / f"{case['name']}.raw"
        keep = f"gidsrc domain=open stream={case['name']} ! identity name=watch ! multifilesink"
        kept = Pipeline(self.cockpit, "cluster", f"{keep} location={raw} sync=false")
        sink = f"identity name=watch ! gidsink name=sink stream={case['name']} {LOSSLESS}"
        sink += f" lease=600000 copy-policy=error {case['options']}"
        text = f"{case['source']} ! {sink}"
        sent = Pipeline(self.cockpit, "open", text, **case["environment"])
        view = self.forwarding.client([GID_VIEW, "-s", case["name"], "--role", "telltale"])
        role = self.display.wait_role("live")
        shown = role["shown_frames"]
        wait_for(lambda: self.display.role()["shown_frames"] > shown + 3, "it to move", SECONDS)
        sent.tell("state paused")

        def expected() -> numpy.ndarray | None:
            data = raw.read_bytes() if raw.exists() else b""
            for size in (
                {},
                {"width": ROLE_WIDTH, "height": ROLE_HEIGHT},
            ):  # gidsrc may have cut it
                try:
                    return reference(data, case | size)[:ROLE_HEIGHT, :ROLE_WIDTH]
                except ValueError:
                    pass  # too short
            return None

        found = self.wait_on_plane("telltale", expected)
        answer = self.finish(case["name"], before, found)
        answer["sink"] = sent.stats("sink")
        for program in (sent, kept):
            program.tell("quit")
            program.wait(SECONDS)
        view.stop()
        self.display.wait_role("lost")
        return answer

    def show_map(self, case: dict) -> dict:
        before = self.display.role("telltale")
        size = (ROLE_WIDTH, ROLE_HEIGHT)
        words = [MAP, "--udmabuf", "--role", "telltale", "--still=700"]
        client = self.forwarding.client([*words, f"--size={size[0]}x{size[1]}"])
        self.display.wait_role("live")
        found = self.wait_on_plane("telltale", lambda: drawn_picture(client, *size))
        answer = self.finish(case["name"], before, found)
        client.stop()
        self.display.wait_role("lost")
        return answer

    def show_raw(self) -> dict:
        """NV12 in shared memory."""
        picture = Picture(self.cockpit.folder, "NV12", COLOURS["bt601 limited"], ROLE_WIDTH, 80)
        arguments = ["NV12", ROLE_WIDTH, 80, BT601, LIMITED]
        command = [RAW_ROLE, "safety/raw", picture.path, *map(str, arguments)]
        self.cockpit.run("open", command)
        self.display.wait_role("live", name="raw")
        inside = picture.inside[..., None]

        def expected() -> numpy.ndarray:
            """GStreamer mixes the colours of neighbours at edges: there, what is shown."""
            shot = self.display.screenshot()
            seen = shot[RAW[1] : RAW[1] + 80, RAW[0] : RAW[0] + ROLE_WIDTH]
            return numpy.where(inside, picture.rgb, seen)[..., ::-1]

        found = self.wait_on_plane("raw", expected)
        role = {key: self.display.role("raw")[key] for key in COUNTS}
        return {"name": "memory-nv12", "difference": found, "role": role}


def main() -> None:
    subprocess.run(["mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug"], check=False)
    Path(f"{CHECKSUMS}/control").write_text("auto")
    cockpit = Cockpit()
    shutil.copy(sys.argv[1], cockpit.folder / "registry.bin")
    cockpit.start_all()
    try:
        plane = Plane(cockpit)
        for line in sys.stdin:
            case = json.loads(line)
            show = plane.show if case["source"] else plane.show_map
            print(json.dumps(show(case)), flush=True)
        print(json.dumps(plane.show_raw()), flush=True)
    finally:
        cockpit.close()


main()
