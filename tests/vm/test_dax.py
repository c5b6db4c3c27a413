# SPDX-License-Identifier: MIT
"""A guest's windows with pages: a camera's driver writes into what other machines read."""

import errno
import io
import json
import re
import signal
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy
import pytest
from drivers import load_codecs, sources
from gid_cockpit.configuration import Domain, MachineKeys
from gid_cockpit.machine import window_kind
from gid_vm.guest import why_no_pages, why_not
from gid_vm.initramfs import CannotBoot
from gid_vm.libvirt import to_xml
from gid_vm.qemu import Machine, Window
from guests import LOOK_SECONDS, SECONDS, Machines, Running
from kernel_module import build_module, why_no_module
from lib.company import IS_LONG
from lib.pipeline import FRAMES as FRAMES_OF
from lib.pipeline import LOSSLESS, PATIENT
from lib.program import BUILD, wait_for
from lib.versions import vgem_maps_at_once
from lib.weston import SHELL_CONFIG
from PIL import Image

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.skipif(why_no_pages() is not None, reason=str(why_no_pages())),
    pytest.mark.timeout(1800),
]

HERE = Path(__file__).parent
FRAMES = 90 if IS_LONG else 40
WIDTH, HEIGHT = 320, 180
CAPS = f"video/x-raw,format=BGRx,width={WIDTH},height={HEIGHT}"
GIDCTL = BUILD / "tools" / "gidctl" / "gidctl"
LEASE = "lease_ms=600000"
PEER = BUILD / "tests/lib/programs/stream-peer"
QEMU = "{http://libvirt.org/schemas/domain/qemu/1.0}"
WLROOTS_SCREEN = BUILD / "tests/lib/programs/wlroots-screen"
VIEW = BUILD / "clients" / "gid-view"
IO = BUILD / "tests" / "vm" / "window-io"
EXPORTS = HERE / "exports.py"
PCI = Path("/sys/bus/pci/devices")
MIB = 1 << 20
HEAD = 2 * MIB  # of the file, which the guest's kernel keeps
UNUSED = 24 * MIB  # of the window, of 32: no program has its memory there


def test_what_auto_picks() -> None:
    """Pages, where that is known to do; else devices, with the reason."""
    here = Domain("open", 1, None, frozenset(), "guest", window_kind="auto")
    assert window_kind(here)[0] == "dax"
    elsewhere = replace(here, machine=MachineKeys(disks=(Path("/disk.qcow2"),)))
    assert window_kind(elsewhere) == ("ivshmem", "its kernel is not this system's")
    assert window_kind(replace(elsewhere, window_kind="dax"))[0] == "dax"
    assert window_kind(replace(here, window_kind="ivshmem"))[0] == "ivshmem"


def test_libvirt_has_both_kinds() -> None:
    windows = [
        Window(Path("/a"), 16 * MIB, True, 1, 0, pages=True),
        Window(Path("/b"), 16 * MIB, True, 1, 3, pages=True),
        Window(Path("/c"), 16 * MIB, False, 2, 0),
    ]
    machine = Machine("open", memory_mib=512, windows=windows)
    for words in (
        machine.arguments(),
        [arg.get("value") for arg in ElementTree.fromstring(to_xml(machine)).iter(f"{QEMU}arg")],
    ):
        devices = [word.split(",")[0] for word in words if "-device" in word and "," in word]
        assert devices == ["nvdimm", "nvdimm", "ivshmem-plain"]
        assert [word for word in words if ",slot=" in word] == [
            "nvdimm,memdev=window0,id=window0-device,slot=0",
            "nvdimm,memdev=window1,id=window1-device,slot=3",
        ]
        assert "nvdimm=on" in words and "size=512M,slots=64,maxmem=544M" in words


@dataclass
class Place:
    """The window of `open` that its streams are in, as both guests have it."""

    dax: str  # of the owner
    resource: str  # of the reader's PCI device


@pytest.fixture(scope="module")
def place(machines: Machines) -> Place:
    """With the module loaded in both guests."""
    if (reason := why_no_module()) is not None:
        pytest.skip(reason)
    module = build_module()
    for guest in ("open", "cluster"):
        # Other files' tests may be between those of this one, and it is there since then.
        load = f"grep -q ^gid_dmabuf /proc/modules || insmod '{module}'"
        machines.run(guest, "sh", "-c", f"{load} && modprobe -a vivid vgem virtio_gpu")
    (path,) = (machines.configuration.runtime / "window" / "open").glob("*.2-3")
    number = int(path.name.partition(".")[0])
    log = machines.run("open", "cat", "/var/log/gidd.log").out
    dax = re.search(rf"window {number} of domain open: (/dev/dax[0-9.]+)", log)[1]
    find = f"cd {PCI}; grep -lx {256 * number + 1} */acpi_index"
    device = machines.run("cluster", "sh", "-c", find).out.split("/")[0]
    return Place(dax, f"{PCI}/{device}/resource2")


@pytest.fixture(scope="module")
def codecs(machines: Machines, place: Place) -> list[str]:
    """What programs of `open` begin with that use codecs; they come behind its cameras."""
    try:
        return load_codecs(lambda *words: machines.run("open", *words))
    except CannotBoot as error:
        pytest.skip(str(error))


def ask(machines: Machines, guest: str, task: str, path: str, offset: int) -> dict:
    out = machines.run(guest, "python3", EXPORTS, task, path, str(offset)).out
    return json.loads(out.splitlines()[-1])


def test_its_windows_are_device_dax(machines: Machines) -> None:
    """Those that streams can be in; readers have none, for the owner writes what makes it one."""
    listed = machines.run("open", "sh", "-c", "ls /dev/dax*").out.split()
    assert listed == [f"/dev/dax{i}.0" for i in range(len(listed))] and listed
    log = machines.run("open", "cat", "/var/log/gidd.log").out
    assert "window 0 of domain open: /dev/dax" in log, log
    there = machines.run("cluster", "sh", "-c", "ls /dev/dax* 2>/dev/null || true").out
    assert there == ""


@pytest.mark.parametrize("way", [pytest.param("mapped", marks=pytest.mark.at_length), "dmabuf"])
def test_what_is_revoked_is_gone(
    machines: Machines, way: str, request: pytest.FixtureRequest
) -> None:
    """Its reader has it as a device, and sees zeroes; another reader loses no frame.

    Before other tests fill the window: what they leave there its readers may see. Mapped without a
    dma-buf, and of a window without pages: test_revoke.py.
    """
    (path,) = (machines.configuration.runtime / "window" / "open").glob("*.2-3")
    index = 256 * int(path.name.partition(".")[0]) + 1
    words = [HERE / "spy.py", str(index), str(HEAD + 4096)]
    if way == "dmabuf":  # that it has already
        words = [EXPORTS, "spy", request.getfixturevalue("place").resource, str(HEAD + 4096)]
    film = f"film-{way}"
    producer = machines.start("open", "stream-peer", "produce", film, "fps=20", "lossless=1", LEASE)
    producer.wait_lines("frames", 1)
    other = machines.start("host", PEER, "consume", "open", film)
    loser = machines.start("cluster", "stream-peer", "consume", "open", film)
    for consumer in (other, loser):
        consumer.wait_more(20)
    spy = machines.start("cluster", "python3", *words)
    assert spy.wait_lines("sees", 1)[0]["sees"] > 0
    command = [GIDCTL, "revoke", "open", film, "--from=cluster"]
    subprocess.run(command, env=machines.host.env("host"), check=True, timeout=SECONDS)
    wait_for(lambda: spy.lines("sees")[-1]["sees"] == 0, "it to see nothing", SECONDS)
    other.wait_more(20)
    last = other.lines("frames")[-1]
    assert (last["torn"], last["missed"], last["lost_imports"]) == (0, 0, 0), last
    for program in (spy, producer, other, loser):
        program.signal(signal.SIGTERM)
        program.finish()


def stats_of(sender: Running) -> dict:
    return [m["fields"] for m in sender.lines("bus") if m.get("name") == "gid-sink-stats"][-1]


IMPORTING = "io-mode=dmabuf-import extra-controls=c,osd_text_mode=0"


@pytest.mark.at_length
def test_a_driver_goes_on_elsewhere_when_its_window_is_taken(
    machines: Machines, place: Place
) -> None:
    """What it still writes there is emptied; the next frames are in a window of those left."""
    stream = "camera/taken"
    watch = f"gidsrc domain=open stream={stream} ! fakesink name=watch sync=false"
    kept, loser = (machines.play(end, watch, "--video-meta", "1") for end in ("host", "cluster"))
    source = f"v4l2src device=/dev/video0 {IMPORTING} ! {CAPS} ! identity name=watch"
    sink = f"gidsink name=sink dmabuf=true stream={stream} {PATIENT}"
    camera = machines.play("open", f"{source} ! {sink}")
    for reader in (kept, loser):
        reader.wait_lines("frame", 20)
    (path,) = (machines.configuration.runtime / "window" / "open").glob("*.2-3")
    index = 256 * int(path.name.partition(".")[0]) + 1
    spy = machines.start("cluster", "python3", HERE / "spy.py", str(index), str(HEAD + 4096))
    assert spy.wait_lines("sees", 1)[0]["sees"] > 0
    command = [GIDCTL, "revoke", "open", stream, "--from=cluster"]
    subprocess.run(command, env=machines.host.env("host"), check=True, timeout=SECONDS)
    wait_for(lambda: spy.lines("sees")[-1]["sees"] == 0, "it to see nothing", SECONDS)
    # With these the driver has gone through all of its buffers.
    kept.wait_lines("frame", len(kept.lines("frame")) + 40)
    wait_for(lambda: spy.lines("sees")[-1]["sees"] == 0, "it to see nothing more", SECONDS)
    seen = len(spy.lines("sees"))
    kept.wait_lines("frame", len(kept.lines("frame")) + 20)
    assert len(spy.lines("sees")) == seen
    for program in (camera, spy, kept, loser):
        program.signal(signal.SIGTERM)
        program.finish()
    sent = {frame["sum"] for frame in camera.lines("frame")}
    received = [frame["sum"] for frame in kept.lines("frame")]
    print(f"# of {len(sent)} frames {len(received)} arrived")
    assert set(received) <= sent and len(set(received)) > 40
    stats = stats_of(camera)
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)


@pytest.mark.at_length
@pytest.mark.parametrize("reader", ["host", "cluster"])
def test_a_camera_captures_into_what_another_machine_reads(machines: Machines, reader: str) -> None:
    machines.run("open", "modprobe", "vivid")
    stream = f"camera/{reader}"
    watch = f"gidsrc domain=open stream={stream} ! fakesink name=watch sync=false"
    receiver = machines.play(reader, watch, "--video-meta", "1")
    source = f"v4l2src device=/dev/video0 io-mode=userptr num-buffers={FRAMES} ! "
    source += f"{CAPS} ! identity name=watch"
    sender = machines.play("open", f"{source} ! gidsink name=sink stream={stream} {LOSSLESS}")
    for end in (sender, receiver):
        result = end.finish()
        assert result.code == 0, f"{result.out[-2000:]}\n{result.err[-2000:]}"
    sent, received = ([frame["sum"] for frame in end.lines("frame")] for end in (sender, receiver))
    assert len(received) == FRAMES and received == sent
    assert len(set(sent)) > FRAMES // 3
    stats = stats_of(sender)
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)
    assert stats["slots-used"] > 0  # of the window, not of the driver's


CAMERA = f"v4l2src device=/dev/video0 num-buffers=30 io-mode={{}} ! {CAPS}"


@pytest.mark.at_length
def test_a_drivers_dmabufs_are_copied_once_for_other_machines(machines: Machines) -> None:
    machines.run("cluster", "modprobe", "vivid")
    watch = "gidsrc domain=cluster stream=driver ! fakesink name=watch sync=false"
    reader = machines.play("host", watch)
    text = f"{CAMERA.format('dmabuf')} ! identity name=watch ! gidsink name=sink stream=driver"
    sender = machines.play("cluster", f"{text} {LOSSLESS}")
    for end in (sender, reader):
        assert end.finish().code == 0, end.err
    sent, received = ([frame["sum"] for frame in end.lines("frame")] for end in (sender, reader))
    assert len(received) == 30 and received == sent
    stats = stats_of(sender)
    assert stats["copied-frames"] == stats["copy-reasons"]["other-machine"] == 30


def test_a_driver_refuses_a_window_without_pages(machines: Machines) -> None:
    machines.run("cluster", "modprobe", "vivid")
    text = f"{CAMERA.format('userptr')} ! gidsink stream=refused"
    refused = machines.start("cluster", "env", "GST_DEBUG=2", FRAMES_OF, text)
    assert refused.finish().code != 0
    assert "Bad address" in refused.err


@pytest.mark.at_length
def test_a_disk_writes_into_what_another_machine_reads(machines: Machines, disk: Path) -> None:
    """O_DIRECT, and splice: the frames are what the host has in the disk's file."""
    machines.run("open", "modprobe", "virtio_blk")
    watch = "gidsrc domain=open stream=disk ! fakesink name=watch sync=false"
    receiver = machines.play("host", watch, "--video-meta", "1")
    machines.run("open", IO, "/dev/vda", "disk", str(WIDTH), str(HEIGHT))
    parse = f"rawvideoparse format=bgrx width={WIDTH} height={HEIGHT}"
    expected = machines.play("host", f"filesrc location={disk} ! {parse} ! fakesink name=watch")
    sums = []
    for end in (receiver, expected):
        assert end.finish().code == 0, end.err
        sums.append([frame["sum"] for frame in end.lines("frame")])
    assert sums[0] == sums[1] and len(set(sums[0])) == 2


ERRORS = {
    "map read-only to write": "EACCES",
    "protect read-only": "EACCES",
    "map more": "EINVAL",
    "map behind": "EINVAL",
    "map private": "EINVAL",
    "again": ["EBADF", "EBADF"],
    "vgem": "",
    "virtio-gpu": "ENODEV",  # it maps it, and has then no use for it
    "virtio-gpu, read-only": "EACCES",
    "camera, read-only": "EFAULT",
    "camera": "",
    "of a reader, to write": "EACCES",
    "beyond": "ERANGE",
    "behind": "EBADF",
    "memory of its own": "EBADF",
    "memfd": "EBADF",
    "nothing": "EFAULT",
    "empty": "EINVAL",
    "half a page": "EINVAL",
    "unaligned": "EINVAL",
    "too much": "EINVAL",
    "wraps": "EINVAL",
    "wraps small": "EINVAL",
    "flags": "EINVAL",
    "command": "ENOTTY",
    "beyond the limit": "ENOMEM",
}


def test_dmabufs_of_an_own_window(machines: Machines, place: Place) -> None:
    """Who asks gets what it has mapped, with the rights that it has, and it counts as locked."""
    at_once = vgem_maps_at_once(machines.run("open", "uname", "-r").out)
    assert ask(machines, "open", "owner", place.dax, UNUSED) == ERRORS | {
        "is the window": True,
        "write arrives": True,
        "last page": True,
        "vgem, read-only": "EACCES" if at_once else "",
        "picture": True,
        "locked KiB": 2048,
        "locked after": 0,
        "locked at last": 0,
        "child": 0,
    }


def test_dmabufs_of_a_window_of_others(machines: Machines, place: Place) -> None:
    """It is read, and neither written nor given to a device; the hypervisor drops root's writes."""
    machines.run("open", "python3", EXPORTS, "owner", place.dax, str(UNUSED))
    assert ask(machines, "cluster", "reader", place.resource, HEAD + UNUSED) == {
        "sees": "nnnn",
        "is the window": True,
        "map to write": "EACCES",
        "protect": "EACCES",
        "device": errno.errorcode[errno.EOPNOTSUPP],
        "camera": "EFAULT",
        "to write": "EACCES",
        "beyond": "ERANGE",
        "write arrived": False,
    }


def test_the_module_stays_while_there_is_a_dmabuf(machines: Machines, place: Place) -> None:
    holder = machines.start("open", "python3", EXPORTS, "hold", place.dax, str(UNUSED))
    holder.wait_lines("holds", 1)
    refused = machines.start("open", "rmmod", "gid_dmabuf").finish()
    assert refused.code != 0 and "in use" in refused.err
    holder.signal(signal.SIGKILL)
    holder.finish()
    machines.run("open", "rmmod", "gid_dmabuf")
    machines.run("open", "insmod", build_module())


@dataclass
class Screen:
    """A compositor in a guest that draws with GL, without a graphics card."""

    words: list[str | Path]
    environment: dict[str, str]
    ready: str  # what it says then
    shoot: str  # a command that puts its picture into /tmp/screen
    way: str  # what it says of buffers, and what then of one that is sampled where it is
    sampled: str

    def env(self) -> list[str]:
        return ["env", *(f"{name}={value}" for name, value in self.environment.items())]


SCREEN = 2 * WIDTH, 2 * HEIGHT
SCREENS = {
    "wlroots": Screen(
        [WLROOTS_SCREEN, "/tmp/wayland", *map(str, SCREEN)],
        {"WAYLAND_DISPLAY": "/tmp/wayland", "WLR_RENDERER": "gles2"},
        "ready",
        "grim -t ppm /tmp/screen",
        "gid: a buffer",
        "is sampled from its dma-bufs",
    ),
    "weston": Screen(
        ["weston", "--backend=headless", "--renderer=gl", f"--width={SCREEN[0]}"]
        + [f"--height={SCREEN[1]}", "--debug", "--idle-time=0", "--socket=gl"]
        + ["--config=/tmp/c.conf", "--logger-scopes=log,gid", "--modules=gid-buffer.so"],
        {
            "WAYLAND_DISPLAY": "gl",
            "XDG_RUNTIME_DIR": "/run/gl",
            "XDG_PICTURES_DIR": "/run/gl/shots",
            "WESTON_MODULE_MAP": f"gid-buffer.so={BUILD}/weston-plugin/gid-buffer.so",
        },
        "gid: ready",
        "cd /run/gl/shots && weston-screenshooter && mv *.png /tmp/screen",
        "gid: buffer",
        ": shown as a dma-buf",
    ),
}


@pytest.mark.at_length
@pytest.mark.parametrize("name", SCREENS)
def test_gl_samples_a_camera_of_another_machine(
    machines: Machines, place: Place, name: str
) -> None:
    """From the camera's driver to the picture that GL draws nobody copies a byte."""
    screen = SCREENS[name]
    # Without vgem: a card that does not draw.
    prepare = "! grep -q ^vgem /proc/modules || rmmod vgem; mkdir -pm 700 /run/gl/shots"
    machines.run("cluster", "sh", "-c", f"{prepare}; cat >/tmp/c.conf", stdin=SHELL_CONFIG.encode())
    display = machines.start("cluster", *screen.env(), *screen.words)
    wait_for(lambda: screen.ready in display.err or not display.is_running, "it", SECONDS)
    stream = f"camera/{name}"
    view = [VIEW, "-f", "--background=000000", "-d", "open", "-s", stream]
    view += [f"--place={WIDTH}x{HEIGHT}+0+0", "--stats", "/tmp/view.stats"]
    shown = machines.start("cluster", *screen.env(), *view)
    # Each frame is the same: bars.
    source = "v4l2src device=/dev/video0 io-mode=userptr extra-controls=c,osd_text_mode=2 ! "
    source += f"{CAPS} ! identity name=watch"
    camera = machines.play("open", f"{source} ! gidsink name=sink stream={stream} {PATIENT}")
    keep = f"gidsrc domain=open stream={stream} num-buffers=1 ! identity name=watch ! filesink"
    picture = machines.host.folder / "picture"
    kept = machines.play("host", f"{keep} location={picture}")
    assert kept.finish().code == 0, kept.err
    expected = numpy.frombuffer(picture.read_bytes(), numpy.uint8).reshape(HEIGHT, WIDTH, 4)

    def look() -> bool:
        assert display.is_running and shown.is_running, f"{display.err}\n{shown.err}"
        machines.run("cluster", *screen.env(), "sh", "-c", screen.shoot)
        found = Image.open(io.BytesIO(machines.guests["cluster"].read(Path("/tmp/screen"))))
        corner = numpy.asarray(found.convert("RGB"))[:HEIGHT, :WIDTH, ::-1]
        return numpy.array_equal(corner, expected[..., :3])

    # Each look starts a program of the guest: not before there is something to see.
    wait_for(lambda: screen.sampled in display.err or not display.is_running, "it", SECONDS)
    wait_for(look, "the camera's picture", SECONDS, LOOK_SECONDS)
    assert len(numpy.unique(expected.reshape(-1, 4), axis=0)) > 4
    camera.wait_lines("frame", 20)
    ways = [line for line in display.err.splitlines() if screen.way in line]
    assert ways and all(line.endswith(screen.sampled) for line in ways), ways
    # Of pictures in several planes it does not say that it could.
    nv12 = f"videotestsrc is-live=true ! {CAPS.replace('BGRx', 'NV12')},framerate=5/1"
    player = machines.play("open", f"{nv12} ! gidsink stream=nv12")
    refused = machines.start("cluster", *screen.env(), VIEW, "-d", "open", "-s", "nv12").finish()
    assert refused.code == 1 and "cannot show the stream's format NV12" in refused.err
    for program in (player, shown, camera, display):
        program.signal(signal.SIGTERM)
        program.finish()
    stats = json.loads(machines.run("cluster", "cat", "/tmp/view.stats").out)
    assert stats["copied_frames"] == 0 and stats["frames"] > 0


@pytest.mark.at_length
@pytest.mark.parametrize("limited", [False, True], ids=["module", "no-memlock"])
def test_gidsrc_gives_dmabufs_of_windows(machines: Machines, place: Place, limited: bool) -> None:
    """Where it is told to. Without leave to lock memory it gives the same frames as before.

    They are a camera's, which captures into the window.
    """
    stream = f"camera/gidsrc-{limited}"
    # Where the guest is slow no frame waits as a copy: the patient producer does.
    watch = f"gidsrc domain=open stream={stream} dmabuf=true max-size-bytes=0 ! "
    watch += "fakesink name=watch sync=false"
    no_leave = ["setpriv", "--bounding-set=-ipc_lock", "prlimit", "--memlock=0"]
    words = [*(no_leave if limited else []), FRAMES_OF, "--video-meta", "1", watch]
    receiver = machines.start("cluster", *words)
    # With the time in each picture, which the test of GL has switched off.
    source = "v4l2src device=/dev/video0 io-mode=userptr num-buffers=20 "
    source += f"extra-controls=c,osd_text_mode=0 ! {CAPS} ! identity name=watch"
    sender = machines.play("open", f"{source} ! gidsink name=sink stream={stream} {LOSSLESS}")
    for end in (sender, receiver):
        assert end.finish().code == 0, end.err
    sent, received = (end.lines("frame") for end in (sender, receiver))
    kind = {frame["memory_type"] for frame in received}
    assert kind == {"fd" if limited else "dmabuf"}
    assert [frame["sum"] for frame in received] == [frame["sum"] for frame in sent]
    assert len({frame["sum"] for frame in sent}) > 10
    stats = stats_of(sender)
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)
    assert stats["slots-used"] > 0  # of the window, not of the driver's


def send_imported(machines: Machines, before: list[str], source: str, stream: str) -> dict:
    """What gidsink says of frames that it had a driver write into its dma-bufs."""
    watch = f"gidsrc domain=open stream={stream} ! fakesink name=watch sync=false"
    receiver = machines.play("host", watch, "--video-meta", "1")
    sink = f"gidsink name=sink dmabuf=true stream={stream} {LOSSLESS}"
    text = f"{source} ! identity name=watch ! {sink}"
    sender = machines.start("open", *before, FRAMES_OF, text)
    for end in (sender, receiver):
        result = end.finish()
        assert result.code == 0, f"{result.out[-2000:]}\n{result.err[-2000:]}"
    sent, received = (end.lines("frame") for end in (sender, receiver))
    assert {frame["memory_type"] for frame in sent} == {"dmabuf"}
    assert [frame["sum"] for frame in received] == [frame["sum"] for frame in sent]
    assert len({frame["sum"] for frame in sent}) > 10
    return stats_of(sender)


@pytest.mark.parametrize(
    "limit, copied",
    [
        pytest.param(None, range(1), id="module"),
        pytest.param(0, range(40, 41), id="no-memlock", marks=pytest.mark.at_length),
        pytest.param(
            600_000, range(1, 40), id="memlock of two frames", marks=pytest.mark.at_length
        ),
    ],
)
def test_a_camera_writes_by_dmabuf_into_what_another_machine_reads(
    machines: Machines, place: Place, limit: int | None, copied: range
) -> None:
    """What it has no leave to lock memory for is copied once, as without the module."""
    source = f"v4l2src device=/dev/video0 {IMPORTING} num-buffers=40 ! {CAPS}"
    limited = ["setpriv", "--bounding-set=-ipc_lock", "prlimit", f"--memlock={limit}"]
    before = [] if limit is None else limited
    stats = send_imported(machines, before, source, f"camera/import-{limit}")
    assert stats["copied-frames"] in copied
    assert stats["copied-frames"] == stats["copy-reasons"].get("other-machine", 0)


@pytest.mark.at_length
def test_a_camera_that_wants_dmabufs_by_its_caps(machines: Machines, place: Place) -> None:
    """What is negotiated is a dma-buf, and it is in the window, where its reader has none."""
    stream = "camera/caps"
    receiver = machines.play("host", f"gidsrc domain=open stream={stream} ! fakesink name=watch")
    drm = "video/x-raw(memory:DMABuf),drm-format=XR24,width=640,height=360"
    source = f"v4l2src device=/dev/video0 {IMPORTING} num-buffers=20 ! {drm}"
    sink = f"gidsink name=sink dmabuf=true stream={stream} {LOSSLESS}"
    sender = machines.play("open", f"{source} ! identity name=watch ! {sink}")
    for end in (sender, receiver):
        assert end.finish().code == 0, end.err
    said, heard = ([line["caps"] for line in end.lines("caps")][-1] for end in (sender, receiver))
    assert "memory:DMABuf" in said and "memory:DMABuf" not in heard
    received = receiver.lines("frame")
    assert len(received) == 20 and len({frame["sum"] for frame in received}) > 10
    stats = stats_of(sender)
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)


@pytest.mark.at_length
@pytest.mark.parametrize("name", sources(""))
def test_a_codec_writes_by_dmabuf_into_what_another_machine_reads(
    machines: Machines, codecs: list[str], name: str
) -> None:
    """vicodec decodes and vim2m converts into the window."""
    stats = send_imported(machines, codecs, sources("dmabuf-import")[name], f"codec/{name[:4]}")
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)


@pytest.mark.last(1)
def test_a_device_that_goes_takes_its_dmabufs_along(machines: Machines, place: Place) -> None:
    """The last of `cluster`: that window is gone. Other memory may come to where it was."""
    found = ask(machines, "cluster", "remove", place.resource, HEAD + UNUSED)
    assert found == {"read": True, "read anew": True}


@pytest.mark.at_length
@pytest.mark.last(2)
def test_it_starts_again_whatever_its_owner_wrote(machines: Machines) -> None:
    """What makes the file a device-dax is written again when its owner's machine begins."""
    folder = machines.configuration.runtime / "window" / "open"
    (path,) = folder.glob("0.*")
    machines.guests["open"].finish()
    machines.wait_link("open", "down")
    with path.open("r+b") as file:
        file.write(b"x" * (HEAD + 4096))
    machines.boot("open")
    status = json.loads(machines.run("open", "gidctl", "status", "--json").out)
    assert status
    log = machines.run("open", "cat", "/var/log/gidd.log").out
    wait_for(lambda: "window 0 of domain open: /dev/dax" in log, "the window")
