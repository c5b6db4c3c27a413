# SPDX-License-Identifier: MIT
"""./run demo --vm: the open domain is a QEMU guest, and with --vms 2 the cluster is another.

The guest decodes a film and draws a telltale; gid-cluster shows both, from the memory of the guest.
Then the guest is killed, as a whole machine, and comes back.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import clip as clips
from children import DemoError
from machines import Here, Place, There
from progress import Progress

HERE = Path(__file__).resolve().parent
for folder in (HERE.parent / "vm", HERE.parent / "tools" / "cockpit"):
    sys.path.append(str(folder))

from gid_cockpit.configuration import CockpitError, read  # noqa: E402
from gid_cockpit.daemon import Daemon  # noqa: E402
from gid_cockpit.machine import Guest  # noqa: E402
from gid_vm.agent import GuestError  # noqa: E402
from gid_vm.initramfs import CannotBoot  # noqa: E402

PATIENCE = 240.0  # seconds, for whatever takes a guest without KVM longest
DEADLINE_MS = 1000

_CONFIGURATION = """\
[cockpit]
runtime={runtime}

[domain open]
number=1
kind=guest
window=128M

[domain cluster]
number=2
{cluster}

[domain host]
number=3
kind=host
window=16M

[share open cluster]
streams=movie safety/*

[share cluster open]

[share open host]
streams=movie
"""
# With a screen of its own: a KMS device.
_CLUSTER_GUEST = """\
kind=guest
window=16M
vm-display=760x560
"""
_DISPLAY = """\
[display]
width=760
height=560
refresh=60

[client gid-view]
x=60
y=40
width=640
height=360

[role telltale]
domain=open
x=220
y=440
width=320
height=80
deadline-ms={deadline}
fallback=pattern
"""


class Cockpit:
    def __init__(self, machines: int, film: Path, out: Path, progress: Progress) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gidway-demo-", dir="/tmp"))
        os.environ["GID_RUNTIME_DIR"] = str(self.folder)
        self.film, self.out, self.progress = film, out, progress
        config = self.folder / "cockpit.conf"
        kind = _CLUSTER_GUEST if machines == 2 else "window=16M"
        config.write_text(_CONFIGURATION.format(runtime=self.folder, cluster=kind))
        self.configuration = read(config)
        self.domains = {
            domain.name: (Guest if domain.kind == "guest" else Daemon)(self.configuration, domain)
            for domain in self.configuration.domains
        }
        self.places: dict[str, Place] = {}

    # --- domains ---

    def start(self, name: str) -> None:
        begin = time.monotonic()
        self.domains[name].start()
        domain = self.domains[name]
        if isinstance(domain, Guest):
            self.places[name] = There(domain.folder / "agent.sock")
        else:
            self.places[name] = Here(name, self.folder)
        what = "guest" if isinstance(domain, Guest) else "gidd"
        self.progress.done(f"{name}: {what} up after {time.monotonic() - begin:.1f} s")

    def play(self) -> None:
        """What the open domain does."""
        place = self.places["open"]
        film = place.write("film.mp4", self.film.read_bytes())
        source = f"filesrc location={film} ! decodebin3 ! videoconvert"
        pipeline = f"{source} ! video/x-raw,format=BGRx ! gidsink name=sink"
        player = ["python3", str(HERE / "play.py"), "--loop", f"{pipeline} stream=movie"]
        place.start("film", *player)
        # A guest that is busy booting may take longer than the telltale waits for its gidd.
        place.start("telltale", "sh", "-c", "until gid-telltale --cycle=500; do sleep 1; done")

    def display(self) -> None:
        place = self.places["cluster"]
        config = place.write("display.conf", _DISPLAY.format(deadline=DEADLINE_MS).encode())
        words = [f"--config={config}", f"--status={place.path('status')}"]
        words.append(f"--socket={place.path('wayland')}")
        cluster = self.domains["cluster"]
        if isinstance(cluster, Guest):
            place.start("display", "gid-cluster", *words, LIBSEAT_BACKEND="noop")
            self.progress.say(f"  to look on: vncviewer {cluster.folder / 'screen.sock'}")
        else:
            place.start("display", "gid-cluster", "--headless", *words)
        self.wait("the display", lambda: self.status() is not None)
        environment = {"WAYLAND_DISPLAY": str(place.path("wayland"))}
        view = ["gid-view", "--domain=open", "--stream=movie", f"--stats={place.path('stats')}"]
        place.start("view", *view, **environment)

    # --- how it stands ---

    def status(self) -> dict | None:
        return self.places["cluster"].ask(self.places["cluster"].path("status"))

    def role(self) -> dict:
        return self.status()["roles"][0]

    def view(self) -> dict:
        text = self.places["cluster"].read(self.places["cluster"].path("stats"))
        return json.loads(text) if text else {"frames": 0}

    def wait(self, what: str, condition) -> float:
        """Seconds that it took."""
        begin = time.monotonic()
        while not condition():
            if time.monotonic() > begin + PATIENCE:
                raise DemoError(f"{what}: not within {PATIENCE:.0f} s")
            for name, place in self.places.items():
                if (ended := place.ended()) is not None:
                    raise DemoError(f"{name}: {ended}")
            self.progress.update(f"waiting for {what}")
            time.sleep(0.1)
        return time.monotonic() - begin

    def wait_live(self) -> None:
        frames = self.view()["frames"]
        self.wait("the telltale", lambda: self.role()["state"] == "live")
        self.wait("the film", lambda: self.view()["frames"] > frames + 10)
        self.progress.done(f"film and telltale are on the cluster's display: {self.figures()}")

    def figures(self) -> str:
        view = self.view()
        latency = view["latency_us"]
        return (
            f"{view['frames']} frames, latency p50 {latency['p50'] / 1e3:.1f} ms, "
            f"{view['copied_bytes']} bytes copied"
        )

    def picture(self, name: str) -> Path:
        """What is on the display; on a guest's screen, as QEMU sees it."""
        path = (self.out / name).absolute()
        cluster = self.domains["cluster"]
        if isinstance(cluster, Guest):
            cluster.screenshot(path)
            return path
        place = self.places["cluster"]
        display = str(place.path("wayland"))
        code, shot = place.run("sh", "-c", "grim - | base64", WAYLAND_DISPLAY=display)
        path.write_bytes(base64.b64decode(shot))
        return path

    def kill(self) -> None:
        """The whole machine, as if its power were cut."""
        before = self.role()["transition_count"]
        pid = self.domains["open"].pid()
        os.kill(pid, 9)
        self.places.pop("open").forget()
        self.wait("the fallback", lambda: self.role()["transition_count"] > before)
        role = self.role()
        gone = next(t for t in reversed(role["transitions"]) if t["from"] == "live")
        silent = (gone["shown_ns"] - gone["last_frame_ns"]) / 1e6
        self.progress.done(
            f"open is killed: {role['shows']} on the display {silent:.0f} ms after its last frame "
            f"(deadline {DEADLINE_MS} ms)"
        )
        self.wait("QEMU's end", lambda: self.domains["open"].pid() is None)

    def close(self) -> None:
        for place in self.places.values():
            place.forget()
        for domain in reversed(list(self.domains.values())):
            domain.stop()


def shrink(film: Path, folder: Path) -> Path:
    """The film as a guest without KVM can decode it."""
    small = folder / "film.mp4"
    source = f"filesrc location={film} ! decodebin3 ! videoconvertscale"
    size = "video/x-raw,format=I420,width=640,height=360"
    encode = "x264enc speed-preset=veryfast ! h264parse ! mp4mux"
    pipeline = f"{source} ! {size} ! {encode} ! filesink location={small}"
    result = subprocess.run(
        ["gst-launch-1.0", "-q", *pipeline.split()], capture_output=True, text=True, timeout=120
    )
    if result.returncode != 0:
        raise DemoError(f"the film cannot be made smaller: {result.stderr.strip()}")
    return small


def run(options, progress: Progress) -> int:
    options.out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gst-inspect-1.0", "gidsink"], stdout=subprocess.DEVNULL, check=False)
    film = clips.find(options.clip, progress.say)
    try:
        cockpit = Cockpit(options.vms, film, options.out, progress)
    except (CockpitError, CannotBoot) as error:
        progress.fail(str(error))
        return 1
    try:
        cockpit.film = shrink(cockpit.film, cockpit.folder)
        for name in ("host", "cluster", "open"):
            cockpit.start(name)
        cockpit.display()
        cockpit.play()
        cockpit.wait_live()
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            progress.update(cockpit.figures())
            time.sleep(0.5)
        progress.done(f"played for {options.seconds:.0f} s: {cockpit.figures()}")
        pictures = [cockpit.picture("vm-cluster.png")]
        cockpit.kill()
        pictures.append(cockpit.picture("vm-cluster-lost.png"))
        cockpit.start("open")
        cockpit.play()
        cockpit.wait_live()
        pictures.append(cockpit.picture("vm-cluster-again.png"))
        for path in pictures:
            progress.say(f"  {path}")
    except (DemoError, CockpitError, CannotBoot, GuestError, OSError) as error:
        progress.fail(f"{error}\nThe logs are in {cockpit.folder}")
        return 1
    except KeyboardInterrupt:
        progress.fail("interrupted")
        return 130
    finally:
        cockpit.close()
    shutil.rmtree(cockpit.folder)
    return 0
