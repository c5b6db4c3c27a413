# SPDX-License-Identifier: MIT
"""All paths of frames, words and doorbells between guests and their host, each as a step.

`open` has windows with pages, where possible, and `cluster` has PCI devices and a screen.
"""

import hashlib
import json
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy
from gid_vm.accel import boots_with_kvm, why_not_tried
from gid_vm.guest import why_no_pages
from PIL import Image

from bench import camera, doorbell
from bench.vm import ping
from lab.domains.cockpit import Cockpit
from lab.domains.configuration import configuration, section
from lab.domains.display import Display
from lab.domains.place import Place
from lab.domains.program import LabError, Wanting, wait_for
from lab.domains.there import There
from lab.self_test.trial import Step

GUESTS = ("open", "cluster")
WIDTH, HEIGHT = 640, 360  # of the screen
X, Y = 40, 20  # the position of the light on it
FRAMES = 120
RINGS = 200
PATIENCE = 100.0  # seconds, for one action
BOOT_SECONDS = 300.0  # to boot; emulated guests on a busy machine are slow
# Each frame is different, and its pixels have the same values on each CPU.
SOURCE = (
    f"videotestsrc pattern=snow num-buffers={FRAMES} "
    "! video/x-raw,format=BGRx,width=320,height=240,framerate=60/1"
)
SINK = "gidsink name=sink stream=movie sync=false leaky=false lease=300000 wait-for-connection=true"
SUMS = "checksumsink sync=false"
TRIAL = Path(__file__).with_name("overwriting.py")
LIGHT = "safety/telltale"
STATE = 5


def text_of(accel: str) -> str:
    """The cockpit's configuration. `accel`: the value of vm-accel=."""
    guest = f"kind=guest vm-memory=768M vm-accel={accel} local=*"
    return configuration(
        {
            "open": f"{guest} window=64M window-kind=auto",
            "cluster": f"{guest} window=16M window-kind=ivshmem vm-display={WIDTH}x{HEIGHT}",
            "host": "kind=host window=32M local=*",
        },
        {
            "open host": "*",
            "host open": "*",
            "open cluster": "*",
            "cluster host": "*",
            "host cluster": "*",
        },
    )


def try_kvm() -> dict[str, object]:
    """Tries again, whatever is known from an earlier boot."""
    if (why := why_not_tried()) is not None:
        raise Wanting(why)
    if (why := boots_with_kvm()) is not None:
        raise LabError(why)
    return {}


class Paths:
    def __init__(self, folder: Path, accel: str) -> None:
        self.cockpit = Cockpit(folder, text_of(accel), GUESTS, BOOT_SECONDS)
        self.folder = folder
        self.places: dict[str, Place] = {}
        self.sums: list[str] = []  # of the frames of SOURCE

    # --- helpers ---

    @property
    def host(self) -> Place:
        return self.places["host"]

    def guest(self, name: str) -> There:
        place = self.places[name]
        assert isinstance(place, There)
        return place

    def link(self, peer: str) -> dict:
        status = json.loads(self.host.run(["gidctl", "status", "--json"]))
        return next(link for link in status["links"] if link["domain"] == peer)

    def wait_link(self, peer: str, state: str, ups: int = 0) -> None:
        def there() -> bool:
            link = self.link(peer)
            return link["state"] == state and link["ups"] >= ups

        wait_for(f"the link to {peer} to be {state}", there, PATIENCE, 0.1)

    def tidy(self) -> str:
        """After a failed step: stops its programs, and returns their last output."""
        said = self.cockpit.logs()
        for name, place in self.places.items():
            try:
                place.stop_others()
            except LabError as error:
                said += f"\n--- {name}\n{error}"
            if isinstance(place, There):
                said += f"\n--- {name}, its machine\n{place.guest.last()}"
        return said

    # --- steps ---

    def boot(self) -> dict[str, object]:
        """Boots the guests in parallel."""
        self.places["host"] = self.cockpit.start("host")
        begin, seconds = time.monotonic(), {}
        for name in GUESTS:
            self.places[name] = self.cockpit.place(name)
            self.guest(name).boot()
        for name in GUESTS:
            self.guest(name).wait_ready()
            seconds[name] = f"{time.monotonic() - begin:.1f} s"
        return seconds

    def join(self) -> dict[str, object]:
        """The guest's gidd connects, and connects again after it was killed."""
        for name in GUESTS:
            self.wait_link(name, "up")
        ups = self.link("cluster")["ups"]
        begin = time.monotonic()
        self.guest("cluster").run(["sh", "-c", "kill $(pidof gidd)"])
        self.wait_link("cluster", "up", ups + 1)
        back = time.monotonic() - begin
        known = wait_for("the guest's clock", lambda: self.link("open").get("clock_error_ns"))
        clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        source = self.guest("open").run(["cat", clock]).strip()
        return {
            "again after": f"{back:.2f} s",
            "clock": source,
            "known to": f"{known / 1e6:.3f} ms",
        }

    def pass_frames(self, owner: str, reader: str) -> dict[str, object]:
        """Each frame arrives unchanged, in order, and without a copy."""
        if not self.sums:
            self.sums = sums_of(
                self.host.run(["gst-launch-1.0", "-q", *f"{SOURCE} ! {SUMS}".split()])
            )
        read = f"gidsrc domain={owner} stream=movie ! {SUMS}"
        begin = time.monotonic()
        reading = self.places[reader].start("reader", ["gst-launch-1.0", "-q", *read.split()])
        sending = self.places[owner].start(
            "sender", ["gst-launch-1.0", "-m", *f"{SOURCE} ! {SINK}".split()]
        )
        sending.wait(PATIENCE)
        came = sums_of(reading.output(PATIENCE))
        seconds = time.monotonic() - begin
        said = sending.said()
        self.places[reader].forget("reader")
        self.places[owner].forget("sender")
        if came != self.sums:
            right = sum(one == other for one, other in zip(came, self.sums, strict=False))
            raise LabError(
                f"of {FRAMES} frames came {len(came)}, {right} of them right:\n{said[-500:]}"
            )
        copied = re.findall(r"copied-bytes=\(guint64\)(\d+)", said)
        if not copied:
            raise LabError(f"gidsink does not say what it copied:\n{said[-500:]}")
        if int(copied[-1]) > 0:
            raise LabError(f"{copied[-1]} bytes were copied")
        return {"right": f"{len(came)} of {FRAMES}", "copied": 0, "s": round(seconds, 1)}

    def by_devices(self) -> dict[str, object]:
        there = self.pass_frames("cluster", "host")
        self.pass_frames("host", "cluster")
        return there

    def by_pages(self) -> dict[str, object]:
        self.need_pages()
        return self.pass_frames("open", "host")

    def need_pages(self) -> None:
        if (why := why_no_pages()) is not None:
            raise Wanting(why)

    def capture(self) -> dict[str, object]:
        """A driver in the guest writes into memory that the host reads."""
        self.need_pages()
        agent = self.guest("open").agent
        camera.load_camera(agent)
        into, _own = camera.copied(agent, 30)
        if into["copied_bytes"] > 0:
            raise LabError(f"{into['copied_bytes']} bytes of each frame were copied")
        return {"frames": into["frames"], "copied": 0}

    def overwrite(self) -> dict[str, object]:
        """A guest cannot change memory that it may only read."""
        windows = sorted((self.folder / "window").glob("*/*"))
        before = {path: last_page(path) for path in windows}
        place = self.guest("cluster")
        program = place.put(TRIAL)
        found = json.loads(place.run(["python3", "-I", "-S", str(program)]))
        changed = {path.parent.name for path in windows if last_page(path) != before[path]}
        own = place.guest.domain.number
        for window in found:
            if window["written"] != (window["domain"] == own):
                how = "is" if window["written"] else "is not"
                raise LabError(
                    f"window {window['window']} of domain {window['domain']} {how} written"
                )
        if changed - {"cluster"}:
            raise LabError(f"windows of {', '.join(sorted(changed))} were changed")
        others = sum(window["domain"] != own for window in found)
        if others == 0 or others == len(found):
            raise LabError(f"it has {len(found)} windows, of which {others} are of others")
        return {"own": len(found) - others, "others, unchanged": others}

    def hand_over(self) -> dict[str, object]:
        """A device of the guest is handed to a program: its gidd."""
        place = self.guest("open")
        devices = place.run(
            ["sh", "-c", "cd /sys/bus/pci/drivers/vfio-pci && echo [0-9]*:*"]
        ).split()
        if not devices or "*" in devices[0]:
            raise LabError("vfio-pci has no device")
        group = place.run(["readlink", f"/sys/bus/pci/devices/{devices[0]}/iommu_group"])
        doorbell.wait_for_link(1, "direct")
        return {"group": group.strip().rpartition("/")[2], "doorbells by the": "device"}

    def ring(self, way: str) -> dict[str, object]:
        """There and back `RINGS` times, between sleeping programs."""
        agent = self.guest("open").agent
        if way != "direct":
            doorbell.switch(agent, way)
        before = self.link("open")["doorbells"]
        times = doorbell.round_trips(agent, RINGS)
        after = self.link("open")["doorbells"]
        heard = {key: after[key] - before[key] for key in ("heard_by_device", "heard_by_link")}
        by = {"direct": "", "relay": "heard_by_device", "link": "heard_by_link"}[way]
        for key, count in heard.items():
            if (count > RINGS // 2) != (key == by):
                raise LabError(f"{way}: the host's gidd heard {heard} of {RINGS} rings")
        return in_time(times) | {"gidd heard": max(heard.values())}

    def ring_bare(self) -> dict[str, object]:
        """MSI-X there, a register back, without a gidd between."""
        agent = self.guest("open").agent
        if self.link("open")["doorbells"]["way"] != "link":
            doorbell.switch(agent, "link")
        times = doorbell.bare(agent, self.folder / "bell" / "open.sock", RINGS, ping)
        doorbell.switch(agent, "direct")
        return in_time(times)

    def show(self) -> dict[str, object]:
        """Compares all pixels of QEMU's picture."""
        picture = self.folder / "light.png"
        self.host.run(["gid-telltale", "--state", str(STATE), "--png", str(picture)])
        light = pixels(picture)
        height, width, _ = light.shape
        expected = numpy.zeros((HEIGHT, WIDTH, 3), numpy.uint8)
        expected[Y : Y + height, X : X + width] = light
        place = self.guest("cluster")
        place.put(picture)
        display = Display(place)
        display.launch(
            section("display", "worst-frame=0 output=Virtual-1")
            + section(
                "role telltale",
                f"domain=host x={X} y={Y} width={width} height={height} "
                f"deadline-ms=10000 fallback={picture.name}",
            )
        )
        words = ["gid-telltale", f"--stream={LIGHT}", f"--state={STATE}", "--cycle=0"]
        self.host.start("light", words)
        display.wait_live()
        shot = self.folder / "shot.png"

        def shown() -> bool:
            place.photograph(shot)
            return numpy.array_equal(pixels(shot), expected)

        wait_for("the light on the screen", shown, PATIENCE, 0.5)
        self.host.stop("light")
        place.stop("display")
        return {"screen": f"{WIDTH}x{HEIGHT}", "wrong pixels": 0}

    def kill(self) -> dict[str, object]:
        """The host notices; the guest comes back, and so do frames."""
        place = self.guest("cluster")
        begin = time.monotonic()
        place.kill()
        self.wait_link("cluster", "down")
        heard = time.monotonic() - begin
        begin = time.monotonic()
        place.up()
        self.wait_link("cluster", "up")
        back = time.monotonic() - begin
        self.pass_frames("cluster", "host")
        return {"heard after": f"{heard:.2f} s", "back after": f"{back:.1f} s"}


def sums_of(text: str) -> list[str]:
    """The output of checksumsink: the checksum of each frame."""
    return [line.split()[-1] for line in text.splitlines() if re.search(r" [0-9a-f]{32,}$", line)]


def last_page(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(-4096, 2)
        return hashlib.sha256(file.read()).hexdigest()


def pixels(picture: Path) -> numpy.ndarray:
    return numpy.asarray(Image.open(picture).convert("RGB"))


def in_time(times: list[float]) -> dict[str, object]:
    cuts = statistics.quantiles(times, n=100)
    return {"p50": f"{cuts[49] * 1e3:.3f} ms", "p99": f"{cuts[98] * 1e3:.2f} ms"}


def steps(paths: Paths, with_kvm: bool) -> list[Step]:
    """`with_kvm`: includes the trial of KVM."""

    def ring(way: str) -> Callable[[], dict[str, object]]:
        return lambda: paths.ring(way)

    first = [Step("kvm", "KVM runs a guest", try_kvm, 60)] if with_kvm else []
    return [
        *first,
        Step("boot", "two guests boot", paths.boot, BOOT_SECONDS),
        Step("serial", "a link by virtio-serial", paths.join, 120, ("boot",)),
        Step("ivshmem", "windows by ivshmem", paths.by_devices, 120, ("serial",)),
        Step("dax", "windows with pages (dax)", paths.by_pages, 120, ("serial",)),
        Step(
            "guests",
            "frames from guest to guest",
            lambda: paths.pass_frames("open", "cluster"),
            120,
            ("serial",),
        ),
        Step("camera", "a driver writes into a window", paths.capture, 180, ("dax",)),
        Step("readonly", "windows of others cannot be written", paths.overwrite, 60, ("boot",)),
        Step("vfio", "vfio in the guest", paths.hand_over, 150, ("serial",)),
        Step("direct", "rings past both gidds (ioeventfd, irqfd)", ring("direct"), 150, ("vfio",)),
        Step("relay", "rings by the device and gidds", ring("relay"), 150, ("vfio",)),
        Step("link", "rings over the link", ring("link"), 150, ("serial",)),
        Step("msix", "the device alone (MSI-X, a register)", paths.ring_bare, 150, ("vfio",)),
        Step("screen", "a screen (virtio-gpu, KMS)", paths.show, 150, ("serial",)),
        Step("killed", "a guest that is killed", paths.kill, BOOT_SECONDS, ("ivshmem",)),
    ]
