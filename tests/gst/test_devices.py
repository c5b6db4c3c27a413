# SPDX-License-Identifier: MIT
"""Streams as devices: what gst-device-monitor-1.0 and applications list beside cameras."""

import json
import re
import shlex
import signal
import sys
from collections.abc import Callable

import pytest
from lib.cockpit import Cockpit
from lib.pipeline import LOSSLESS, Pipeline, gst_env, send, watch
from lib.program import Program, python_env, wait_for

from lab.domains.configuration import configuration

CONFIG = configuration(
    {"open": "local=*", "cluster": "local=*"}, {"open cluster": "movie camera/*"}
)
CAMERA = "videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=30/1"

# Asks without a monitor; and says whether a monitor's start comes back.
PROBE = """
import json, sys, gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
provider = Gst.DeviceProviderFactory.get_by_name("giddeviceprovider")
if sys.argv[1] == "start":
    print(json.dumps(provider.start()), flush=True)
else:
    lines = []
    for device in provider.get_devices():
        element = device.create_element(None)
        other = Gst.ElementFactory.make("gidsrc")
        fake = Gst.ElementFactory.make("fakesrc")
        assert device.reconfigure_element(other) and not device.reconfigure_element(fake)
        assert other.get_property("stream") == element.get_property("stream")
        lines.append([element.get_property("domain"), element.get_property("stream")])
    print(json.dumps(lines), flush=True)
"""


def run(cockpit: Cockpit, command: list[str], domain: str = "cluster", **more: str) -> Program:
    env = gst_env(cockpit.env(domain), cockpit.folder / "registry.bin")
    return Program(command, env | python_env() | more, cockpit.folder, "devices")


def monitor(cockpit: Cockpit, *options: str, domain: str = "cluster", **more: str) -> Program:
    return run(cockpit, ["gst-device-monitor-1.0", *options, "Video/Source"], domain, **more)


def listed(output: str) -> list[str]:
    """The names of ours: cameras of this machine are others'."""
    return sorted(re.findall(r"name\s*: (\S+ \((?:open|cluster)\))$", output, re.MULTILINE))


def found(program: Program, what: str = "found") -> list[str]:
    parts = re.split(r"^Device (found|removed|modified):$", program.stdout, flags=re.MULTILINE)
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    return [name for kind, part in pairs if kind == what for name in listed(part)]


def wait_known(cockpit: Cockpit, count: int, domain: str = "cluster") -> None:
    wait_for(lambda: len(cockpit.status(domain)["readable"]) == count, f"{count} streams")


@pytest.fixture
def cockpit(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    cockpit.start_all()
    return cockpit


def test_what_may_be_read(cockpit: Cockpit) -> None:
    """Of others and of the domain itself, and with a line to copy."""
    with cockpit.connect("open") as producer, cockpit.connect("cluster") as own:
        for name in ("movie", "secret", "camera/rear"):
            assert producer.publish(name)[0] == 0
        assert own.publish("screen")[0] == 0
        wait_known(cockpit, 2)
        program = monitor(cockpit)
        assert program.wait() == 0, program.stderr
        names = ["camera/rear (open)", "movie (open)", "screen (cluster)"]
        assert listed(program.stdout) == names
        for line in ("device.api = gid", "gid.uri = gid://open/movie"):
            assert line in program.stdout
        # GStreamer 1.28 quotes what may need it.
        commands = [shlex.split(line) for line in re.findall("gst-launch-1.0 .*", program.stdout)]
        for domain, stream in (("open", "camera/rear"), ("cluster", "screen")):
            words = ["gidsrc", f"domain={domain}", f"stream={stream}"]
            assert ["gst-launch-1.0", *words, "!", "..."] in commands
        probe = run(cockpit, [sys.executable, "-c", PROBE, "probe"])
        assert probe.wait() == 0, probe.stderr
        told = sorted(f"{stream} ({domain})" for domain, stream in json.loads(probe.stdout))
        assert told == names


def test_the_line_shows_the_stream(cockpit: Cockpit) -> None:
    sender = send(cockpit, f"{CAMERA.replace(' is-live=true', ' num-buffers=100')}", LOSSLESS)
    wait_known(cockpit, 1)
    program = monitor(cockpit)
    assert program.wait() == 0
    (line,) = re.findall(r"gst-launch-1.0 (gidsrc .*) ! \.\.\.", program.stdout)
    receiver = Pipeline(cockpit, "cluster", f"{line} ! fakesink name=watch sync=false")
    assert len(receiver.finish().frames) == 100
    sender.finish()


def test_caps_as_far_as_known(cockpit: Cockpit) -> None:
    """Of a stream that somebody of the domain reads; of others all that there can be."""
    send(cockpit, CAMERA, "")
    wait_known(cockpit, 1)
    follow = monitor(cockpit, "-f")
    wait_for(lambda: "movie (open)" in found(follow), "the stream")
    assert "width=(int)320" not in follow.stdout
    receiver = watch(cockpit)
    receiver.wait_frames(5)
    wait_for(lambda: "movie (open)" in found(follow, "modified"), "its caps")
    alone = monitor(cockpit)
    assert alone.wait() == 0
    for program in (alone, follow):
        assert re.search(r"format=I420, width=320, height=240", program.stdout)


def test_come_and_go(cockpit: Cockpit) -> None:
    """Producers that die, and gidds that are started again."""
    follow = monitor(cockpit, "-f")
    for _ in range(2):
        sender = send(cockpit, CAMERA, "")
        count = len(found(follow))
        wait_for(lambda before=count: len(found(follow)) > before, "the stream to come")
        count = len(found(follow, "removed"))
        sender.kill()
        wait_for(lambda before=count: len(found(follow, "removed")) > before, "it to go")
    assert found(follow) == found(follow, "removed") == ["movie (open)"] * 2
    send(cockpit, CAMERA, "")
    wait_for(lambda: len(found(follow)) == 3, "it to come again")
    cockpit.restart("cluster")
    wait_known(cockpit, 1)
    wait_for(lambda: len(found(follow)) - len(found(follow, "removed")) == 1, "it to be there")
    count = len(found(follow))
    cockpit.kill("cluster")
    wait_for(lambda: len(found(follow)) == len(found(follow, "removed")), "nothing to be known")
    cockpit.start("cluster")
    wait_for(lambda: len(found(follow)) == count + 1, "it to be known again")


def test_without_gidd(make_cockpit: Callable[..., Cockpit]) -> None:
    """Every program that looks for a camera asks: not a word where there is no gidway."""
    cockpit = make_cockpit(CONFIG)
    program = monitor(cockpit, G_DEBUG="fatal-criticals", GST_DEBUG="gid:3")
    assert program.wait() in (0, 1)  # the latter: no camera either
    assert listed(program.stdout) == []
    assert "gid" not in program.stderr
    follow = monitor(cockpit, "-f", GST_DEBUG="gid:3")
    wait_for(lambda: "Probing" in follow.stdout, "the monitor")
    cockpit.start_all()
    send(cockpit, CAMERA, "")
    wait_for(lambda: found(follow) == ["movie (open)"], "the stream")
    assert "gid" not in follow.stderr


def test_gidd_that_does_not_answer(cockpit: Cockpit) -> None:
    """A program's start waits for a moment, and not for as long as libgid would (30 s here)."""
    gidd = cockpit.gidds["cluster"]
    gidd.signal(signal.SIGSTOP)
    probe = run(cockpit, [sys.executable, "-c", PROBE, "start"])
    try:
        probe.wait_output("true", timeout=20)
    finally:
        gidd.signal(signal.SIGCONT)
    assert probe.wait() == 0, probe.stderr


@pytest.mark.parametrize("status", ["on", "off"])
def test_users_who_may_not_ask(make_cockpit: Callable[..., Cockpit], status: str) -> None:
    cockpit = make_cockpit(f"{CONFIG}\n[client cluster *]\nstatus={status}\n")
    for domain in cockpit.domains:
        cockpit.start(domain)
    with cockpit.connect("open") as producer:
        producer.publish("movie")
        program = monitor(cockpit, "-f", GST_DEBUG="gid:3")
        if status == "on":
            wait_for(lambda: found(program) == ["movie (open)"], "the stream")
        else:
            wait_for(lambda: "Monitoring" in program.stdout, "the monitor")
            assert found(program) == []
        assert "gid" not in program.stderr
        program.kill()
    for domain in cockpit.domains:
        cockpit.kill(domain)  # nobody can ask this one whether it has let go of everything
