# SPDX-License-Identifier: MIT
"""A guest's windows with pages: a camera's driver writes into what other machines read."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from gid_cockpit.configuration import Domain, MachineKeys
from gid_cockpit.machine import window_kind
from gid_vm.guest import why_no_pages, why_not
from gid_vm.libvirt import to_xml
from gid_vm.qemu import Machine, Window
from guests import CONFIG, SECONDS, Machines
from pipeline import LOSSLESS
from program import BUILD, wait_for

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.skipif(why_no_pages() is not None, reason=str(why_no_pages())),
    pytest.mark.timeout(600),
]

FRAMES = 300
GIDCTL = BUILD / "tools" / "gidctl" / "gidctl"
PEER = BUILD / "tests" / "stream" / "stream-peer"
QEMU = "{http://libvirt.org/schemas/domain/qemu/1.0}"
MIB = 1 << 20
HEAD = 2 * MIB  # of the file, which the guest's kernel keeps


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


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    machines = Machines(CONFIG.replace("window=64M\n", "window=64M\nwindow-kind=auto\n"))
    try:
        machines.boot("open", "cluster")
        yield machines
    finally:
        machines.close()


def test_its_windows_are_device_dax(machines: Machines) -> None:
    """Those that streams can be in; readers have none, for the owner writes what makes it one."""
    listed = machines.run("open", "sh", "-c", "ls /dev/dax*").out.split()
    assert listed == [f"/dev/dax{i}.0" for i in range(len(listed))] and listed
    log = machines.run("open", "cat", "/var/log/gidd.log").out
    assert "window 0 of domain open: /dev/dax" in log, log
    there = machines.run("cluster", "sh", "-c", "ls /dev/dax* 2>/dev/null || true").out
    assert there == ""


def test_what_is_revoked_is_gone(machines: Machines) -> None:
    """Its reader has it as a device, and sees zeroes; another reader loses no frame.

    Before other tests fill the window: what they leave there its readers may see.
    """
    (path,) = (machines.configuration.runtime / "window" / "open").glob("*.2-3")
    index = 256 * int(path.name.partition(".")[0]) + 1
    producer = machines.start("open", "stream-peer", "produce", "film", "fps=20", "lossless=1")
    producer.wait_lines("frames", 1)
    other = machines.start("host", PEER, "consume", "open", "film")
    loser = machines.start("cluster", "stream-peer", "consume", "open", "film")
    for consumer in (other, loser):
        consumer.wait_more(20)
    words = [str(Path(__file__).with_name("spy.py")), str(index), str(HEAD + 4096)]
    spy = machines.start("cluster", "python3", *words)
    assert spy.wait_lines("sees", 1)[0]["sees"] > 0
    command = [GIDCTL, "revoke", "open", "film", "--from=cluster"]
    subprocess.run(command, env=machines.host.env("host"), check=True, timeout=SECONDS)
    wait_for(lambda: spy.lines("sees")[-1]["sees"] == 0, "it to see nothing", SECONDS)
    other.wait_more(20)
    last = other.lines("frames")[-1]
    assert (last["torn"], last["missed"], last["lost_imports"]) == (0, 0, 0), last


@pytest.mark.parametrize("reader", ["host", "cluster"])
def test_a_camera_captures_into_what_another_machine_reads(machines: Machines, reader: str) -> None:
    machines.run("open", "modprobe", "vivid")
    stream = f"camera/{reader}"
    watch = f"gidsrc domain=open stream={stream} ! fakesink name=watch sync=false"
    receiver = machines.play(reader, watch, "--video-meta", "1")
    source = f"v4l2src device=/dev/video0 io-mode=userptr num-buffers={FRAMES} ! "
    source += "video/x-raw,format=BGRx,width=320,height=180 ! identity name=watch"
    sender = machines.play("open", f"{source} ! gidsink name=sink stream={stream} {LOSSLESS}")
    for end in (sender, receiver):
        result = end.finish()
        assert result.code == 0, f"{result.out[-2000:]}\n{result.err[-2000:]}"
    sent, received = ([frame["sum"] for frame in end.lines("frame")] for end in (sender, receiver))
    assert len(received) == FRAMES and received == sent
    assert len(set(sent)) > FRAMES // 3
    stats = [m["fields"] for m in sender.lines("bus") if m.get("name") == "gid-sink-stats"][-1]
    assert (stats["copied-frames"], stats["copied-bytes"]) == (0, 0)
    assert stats["slots-used"] > 0  # of the window, not of the driver's


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
