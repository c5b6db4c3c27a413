# SPDX-License-Identifier: MIT
"""gid-view in real Weston, on streams of real GStreamer pipelines."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.program import BUILD, PATIENCE, Program, wait_for
from lib.session import Session
from lib.weston import HEIGHT, WIDTH

RATE = 30
CAPS = f"video/x-raw,format=BGRx,width={WIDTH},height={HEIGHT},framerate={RATE}/1"
LEASE_MS = 8000  # a machine may stand still for some seconds, in which nobody renews any
PLATE = "pattern=zone-plate kx2=20 ky2=13"
OTHER_PLATE = "pattern=zone-plate kx2=7 ky2=31"


@pytest.fixture
def session(shared_session: Session) -> Session:
    """One for all tests but those that end a part of it, which have `own_session`."""
    (shared_session.folder / "stats.json").unlink(missing_ok=True)  # of the test before
    return shared_session


@pytest.fixture
def own_session(cockpit: Cockpit, tmp_path: Path) -> Iterator[Session]:
    made = Session(cockpit, tmp_path)
    yield made
    made.finish()


def draw(pattern: str, caps: str = CAPS, more: str = "") -> numpy.ndarray:
    """The picture that a test source makes: height, width, BGRx."""
    command = f"gst-launch-1.0 -q videotestsrc num-buffers=1 {pattern} ! {caps} {more} ! fdsink"
    raw = subprocess.run(command.split(), check=True, capture_output=True, timeout=PATIENCE).stdout
    return numpy.frombuffer(raw, numpy.uint8).reshape(-1, WIDTH, 4)


def produce(session: Session, pattern: str, caps: str = CAPS, more: str = "") -> Program:
    command = f"gst-launch-1.0 videotestsrc is-live=true {pattern} ! {caps} {more}"
    return session.cockpit.run("open", [*command.split(), "!", "gidsink", "stream=film"])


def view(session: Session, *options: str | Path, **environment: str) -> Program:
    command = [BUILD / "clients/gid-view", "--domain=open", "--stream=film", "--maximized"]
    return session.weston.client([*command, *options], **environment)


def test_pixels_are_right(session: Session) -> None:
    produce(session, PLATE)
    view(session)
    session.wait_shown(draw(PLATE))


def test_view_may_come_first(session: Session) -> None:
    shown = view(session)
    shown.wait_output("waiting for film")
    produce(session, PLATE)
    session.wait_shown(draw(PLATE))


def test_a_gidd_that_does_not_answer(own_session: Session) -> None:
    """The producer's stands still: the view runs all the same, and can be ended."""
    owner = own_session.cockpit.gidds["open"]
    owner.signal(signal.SIGSTOP)
    # Nobody waits for as long as an answer may take.
    shown = view(own_session, GID_ANSWER_SECONDS="600")
    wait_for(
        lambda: any(
            c["program"] == "gid-view" for c in own_session.cockpit.status("cluster")["clients"]
        ),
        "the view to be connected",
    )
    assert shown.stop() == 0
    assert "film" not in shown.stderr  # nothing is known yet
    shown = view(own_session, GID_ANSWER_SECONDS="1")
    shown.wait_output("waiting for film: ")
    owner.signal(signal.SIGCONT)
    own_session.cockpit.wait_links()
    produce(own_session, PLATE)
    own_session.wait_shown(draw(PLATE))


def test_only_the_crop_is_shown(session: Session) -> None:
    crop = "! videocrop left=64 top=40"
    produce(session, PLATE, CAPS.replace("width=320,height=240", "width=384,height=280"), crop)
    view(session)
    caps = CAPS.replace("width=320,height=240", "width=384,height=280")
    whole = subprocess.run(
        f"gst-launch-1.0 -q videotestsrc num-buffers=1 {PLATE} ! {caps} ! fdsink".split(),
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    ).stdout
    picture = numpy.frombuffer(whole, numpy.uint8).reshape(280, 384, 4)
    session.wait_shown(picture[40:, 64:])


def test_a_crop_outside_of_the_picture(session: Session) -> None:
    """For which a compositor ends its client."""
    stats = session.folder / "stats.json"
    shown = view(session, f"--stats={stats}")
    peer = BUILD / "tests/lib/programs/stream-peer"
    liar = session.cockpit.run("open", [peer, "produce", "film", "crop=5000"])
    wait_for(lambda: stats.exists() and read(stats)["drops"]["failed"] > 5, "frames to be left out")
    liar.kill()
    produce(session, PLATE)
    session.wait_shown(draw(PLATE))
    assert shown.is_running()


def test_aspect_ratio_is_kept(session: Session) -> None:
    """A square in a window of 4:3 has black to its left and right."""
    caps = "video/x-raw,format=BGRx,width=60,height=60,framerate=30/1"
    produce(session, "pattern=red", caps)
    view(session)
    expected = numpy.zeros((HEIGHT, WIDTH, 3), numpy.uint8)
    expected[:, 40:280] = (0, 0, 255)
    wait_for(lambda: numpy.array_equal(session.screenshot(), expected), "red square")


@pytest.mark.parametrize(
    "shape, columns, rows",
    [("2/3", slice(80, 240), slice(0, 240)), ("2/1", slice(0, 320), slice(40, 200))],
)
def test_shape_of_pixels(session: Session, shape: str, columns: slice, rows: slice) -> None:
    """As on DVDs: the pixels are no squares."""
    caps = "video/x-raw,format=BGRx,width=60,height=60,framerate=30/1,pixel-aspect-ratio"
    produce(session, "pattern=red", f"{caps}={shape}")
    view(session)
    expected = numpy.zeros((HEIGHT, WIDTH, 3), numpy.uint8)
    expected[rows, columns] = (0, 0, 255)
    wait_for(lambda: numpy.array_equal(session.screenshot(), expected), "red picture")


def test_fields(session: Session) -> None:
    """As some cameras give them: each picture has every other row of a square."""
    caps = "video/x-raw,format=I420,width=60,height=60,framerate=30/1"
    fields = "! interlace ! video/x-raw(format:Interlaced),interlace-mode=alternate"
    produce(session, "pattern=white", caps, fields)
    view(session, "--convert")
    expected = numpy.zeros((HEIGHT, WIDTH, 3), numpy.uint8)
    expected[:, 40:280] = 255
    wait_for(lambda: numpy.array_equal(session.screenshot(), expected), "white square")


def test_place_and_background(session: Session) -> None:
    produce(session, "pattern=green", "video/x-raw,format=BGRx,width=40,height=30,framerate=30/1")
    view(session, "--place=80x60+200+20", "--background=0000ff")
    expected = numpy.zeros((HEIGHT, WIDTH, 3), numpy.uint8)
    expected[:, :] = (255, 0, 0)
    expected[20:80, 200:280] = (0, 255, 0)
    wait_for(lambda: numpy.array_equal(session.screenshot(), expected), "green picture")


def test_producer_killed_and_back(session: Session) -> None:
    producer = produce(session, PLATE)
    shown = view(session)
    session.wait_shown(draw(PLATE))
    producer.kill()
    shown.wait_output("waiting for film")
    produce(session, OTHER_PLATE)
    session.wait_shown(draw(OTHER_PLATE))
    assert shown.is_running()


def test_a_picture_whose_producer_is_gone_is_greyed(session: Session) -> None:
    """After a second, until the next one comes: what stands still must not look alive."""
    producer = produce(session, PLATE)
    view(session)
    plate = draw(PLATE)[..., :3].astype(int)
    session.wait_shown(draw(PLATE))
    producer.kill()
    opacity, grey = 0xC0 / 0xFF, numpy.array([0x68, 0x64, 0x60])
    greyed = plate * (1 - opacity) + grey * opacity

    def is_greyed() -> bool:
        return bool(numpy.abs(session.screenshot() - greyed).max() <= 2)

    wait_for(is_greyed, "a grey veil over the picture")
    produce(session, OTHER_PLATE)
    session.wait_shown(draw(OTHER_PLATE))


def test_a_picture_may_be_left_as_it_is(session: Session) -> None:
    producer = produce(session, PLATE)
    other = view(session, "--gone=none")
    session.wait_shown(draw(PLATE))
    producer.kill()
    other.wait_output("waiting for film")
    time.sleep(2)
    assert session.shows(draw(PLATE))


def test_caps_change_with_the_producer(session: Session) -> None:
    """Another producer, another format and size."""
    producer = produce(session, "pattern=red", "video/x-raw,format=BGRx,width=64,height=48")
    view(session)
    wait_for(lambda: (session.screenshot()[120, 160] == (0, 0, 255)).all(), "red")
    producer.kill()
    produce(session, "pattern=blue", "video/x-raw,format=RGB16,width=128,height=96")
    wait_for(lambda: (session.screenshot()[120, 160] == (255, 0, 0)).all(), "blue")


def test_weston_killed_and_restarted(own_session: Session) -> None:
    produce(own_session, PLATE)
    shown = view(own_session)
    own_session.wait_shown(draw(PLATE))
    own_session.weston.kill()
    assert shown.wait() == 1
    assert "the compositor went away" in shown.stderr
    own_session.weston.start()
    view(own_session)
    own_session.wait_shown(draw(PLATE))


def test_stopped_weston_holds_nobody_up(session: Session) -> None:
    produce(session, PLATE)
    stats = session.folder / "stats.json"
    shown = view(session, f"--stats={stats}")
    session.wait_shown(draw(PLATE))
    os.kill(session.weston.pid, signal.SIGSTOP)
    try:
        before = read(stats)["received"]
        wait_for(lambda: read(stats)["received"] > before + 60, "frames to flow on")
    finally:
        os.kill(session.weston.pid, signal.SIGCONT)
    frames = read(stats)["frames"]
    wait_for(lambda: read(stats)["frames"] > frames + 5, "frames to be shown again")
    assert read(stats)["drops"]["superseded"] > 30
    assert shown.is_running()


def test_stopped_weston_keeps_what_it_was_given(session: Session) -> None:
    """The view renews its leases, for two of them, as Weston does not give its buffers back."""
    command = f"gst-launch-1.0 -q videotestsrc is-live=true ! {CAPS} ! gidsink stream=film"
    session.cockpit.run("open", [*command.split(), f"lease={LEASE_MS}"])
    stats = session.folder / "stats.json"
    view(session, f"--stats={stats}", "--frames=1000000")
    wait_for(lambda: stats.exists() and read(stats)["frames"] > 10, "frames to be shown")

    def expired() -> int:
        found = session.cockpit.status("open")["subscriptions"]
        return sum(one["producer_counts"]["leases_expired"] for one in found)

    before = expired()
    os.kill(session.weston.pid, signal.SIGSTOP)
    try:
        received = read(stats)["received"]
        frames = 2 * LEASE_MS * RATE // 1000
        wait_for(lambda: read(stats)["received"] > received + frames, "frames to flow on")
        assert expired() == before
    finally:
        os.kill(session.weston.pid, signal.SIGCONT)


def test_gidd_of_the_view_killed_and_back(own_session: Session) -> None:
    produce(own_session, PLATE)
    stats = own_session.folder / "stats.json"
    shown = view(own_session, f"--stats={stats}")
    own_session.wait_shown(draw(PLATE))
    own_session.cockpit.restart("cluster")
    frames = read(stats)["frames"]
    wait_for(lambda: read(stats)["frames"] > frames + 30, "frames to flow on")
    assert shown.is_running()


def test_stats(session: Session) -> None:
    produce(session, PLATE)
    stats = session.folder / "stats.json"
    assert view(session, f"--stats={stats}", "--frames=40").wait() == 0
    found = read(stats)
    assert found["domain"] == "open" and found["stream"] == "film"
    assert found["frames"] == 40
    assert found["dropped"] == sum(found["drops"].values())
    latency = found["latency_us"]
    assert 0 < latency["p50"] <= latency["p99"] <= latency["max"]
    assert latency["count"] == sum(count for _, count in latency["histogram"])
    assert "e+" not in stats.read_text(), "plain numbers"
    bounds = [bound for bound, _ in latency["histogram"]]
    assert bounds == sorted(set(bounds))


def test_how_long_after_it_came_to_be(session: Session) -> None:
    """A camera whose pictures are worked on for 30 ms before they are sent."""
    command = f"gst-launch-1.0 -q videotestsrc is-live=true ! {CAPS} ! identity sleep-time=30000"
    session.cockpit.run("open", f"{command} ! gidsink stream=film".split())
    stats = session.folder / "stats.json"
    assert view(session, f"--stats={stats}", "--frames=40").wait() == 0
    found = read(stats)
    submitted, captured = found["latency_us"], found["capture_latency_us"]
    assert captured["count"] == submitted["count"] >= 40
    assert captured["mean"] >= submitted["mean"] + 29_000


def read(stats: Path) -> dict:
    wait_for(stats.exists, "the statistics")
    return json.loads(stats.read_text())


def test_once_ends_with_the_stream(session: Session) -> None:
    command = f"gst-launch-1.0 videotestsrc is-live=true num-buffers=90 ! {CAPS}"
    command += " ! gidsink stream=film wait-for-connection=true"
    session.cockpit.run("open", command.split()).wait_output("PLAYING")
    assert view(session, "--once").wait() == 0


def check_protocol(session: Session, shown: Program, manager: str, request: str) -> None:
    """A compositor that can be told is told, and no other."""
    assert (request in shown.stderr) == session.weston.has_global(manager)


@pytest.mark.parametrize("options", [[], ["--fifo"]])
def test_each_frame(session: Session, options: list[str]) -> None:
    """Of a source that is as fast as it can be, where no frame gets lost on its way."""
    command = f"gst-launch-1.0 -q videotestsrc ! {CAPS} ! gidsink stream=film"
    command += " sync=false leaky=false lease=30000 wait-for-connection=true"
    session.cockpit.run("open", command.split())
    stats = session.folder / "stats.json"
    shown = view(session, f"--stats={stats}", "--frames=60", *options, WAYLAND_DEBUG="client")
    assert shown.wait() == 0
    drops = read(stats)["drops"]
    if options:
        assert set(drops.values()) == {0}
        check_protocol(session, shown, "wp_fifo_manager_v1", "wait_barrier")
    else:
        assert drops["superseded"] > 0


@pytest.mark.parametrize("options", [[], ["--fifo"]])
def test_at_its_time(session: Session, options: list[str]) -> None:
    """Frames that are sent before their time are kept until then, with the option.

    Most of them: where this machine stands still, frames are sent late, or shown late. None is so
    early that gid-view does not believe it, whenever it comes.
    """
    early_us, rate = 400_000, 5
    caps = CAPS.replace(f"{RATE}/1", f"{rate}/1")
    command = f"gst-launch-1.0 -q videotestsrc ! {caps} ! gidsink stream=film"
    command += f" ts-offset=-{early_us * 1000}"
    session.cockpit.run("open", command.split())
    stats = session.folder / "stats.json"
    options = ["--timed", "--credit=8", *options]
    shown = view(session, f"--stats={stats}", "--frames=40", *options, WAYLAND_DEBUG="client")
    assert shown.wait() == 0
    assert read(stats)["latency_us"]["p50"] >= 0.75 * early_us
    check_protocol(session, shown, "wp_commit_timing_manager_v1", "set_timestamp")
    assert view(session, f"--stats={stats}", "--frames=40").wait() == 0
    assert read(stats)["latency_us"]["p50"] < 0.5 * early_us


def test_format_that_weston_has_not(session: Session) -> None:
    produce(session, PLATE, CAPS.replace("BGRx", "I420"))
    shown = view(session)
    assert shown.wait() == 1
    assert "cannot show the stream's format" in shown.stderr
    assert "--convert" in shown.stderr and "videoconvert" in shown.stderr


@pytest.mark.parametrize("pixels", ["GRAY8", "Y416_LE", "RGBA64_LE"])
def test_any_format_can_be_converted(session: Session, pixels: str) -> None:
    produce(session, PLATE, CAPS.replace("BGRx", pixels))
    shown = view(session, "--convert", "--frames=5")
    assert shown.wait() == 0


def test_converted_pictures_in_memory_that_is_taken(session: Session) -> None:
    """The view goes on in other memory, which the compositor knows by another number."""
    caps = CAPS.replace("BGRx", "GRAY8")
    shown = view(session, "--convert")
    for pattern in (PLATE, OTHER_PLATE, PLATE):
        producer = produce(session, pattern, caps)
        session.wait_shown(draw(pattern, caps, f"! videoconvert ! {CAPS}"))
        gid = converted_slab(session)
        words = [BUILD / "tools/gidctl/gidctl", "revoke", "cluster", gid]
        subprocess.run(words, env=session.cockpit.env("cluster"), check=True, timeout=PATIENCE)
        wait_for(lambda gid=gid: converted_slab(session) != gid, "it to be left")
        producer.stop()
    assert shown.is_running()


def converted_slab(session: Session) -> str | None:
    slabs = session.cockpit.status("cluster")["slabs"]
    return next((slab["gid"] for slab in slabs if slab["owner"]), None)


def test_weston_without_the_module(own_session: Session) -> None:
    own_session.weston.stop()
    own_session.weston.command.remove("--modules=gid-buffer.so")
    own_session.weston.launch()
    wait_for(lambda: own_session.weston.has_global("xdg_wm_base"), "weston to be ready")
    shown = view(own_session)
    assert shown.wait() == 1
    waits, ends = shown.stderr.splitlines()
    # It may be there a moment later: what to do is said where it is not.
    assert waits == "gid-view: waiting for the compositor's gid_buffer_manager_v1"
    assert ends.startswith("gid-view: the compositor has no gid_buffer_manager_v1: start Weston ")
    assert "--modules=gid-buffer.so" in ends


def test_weston_in_no_domain(own_session: Session) -> None:
    """What to do is said, and not again with each picture."""
    own_session.weston.stop()
    own_session.weston.environment["GID_DOMAIN"] = "nowhere"
    own_session.weston.start()
    produce(own_session, PLATE)
    stats = own_session.folder / "stats.json"
    shown = view(own_session, f"--stats={stats}", GID_DOMAIN="cluster")
    wait_for(lambda: "cannot get its memory; was it started with GID_DOMAIN" in shown.stderr, "it")
    wait_for(lambda: stats.exists() and read(stats)["received"] > 3 * RATE, "later pictures")
    assert shown.stderr.count("cannot be shown") == 1


def test_no_compositor(session: Session) -> None:
    shown = view(session, WAYLAND_DISPLAY="nowhere")
    assert shown.wait() == 1
    assert "no compositor at WAYLAND_DISPLAY=nowhere" in shown.stderr


def test_no_gidd(session: Session) -> None:
    shown = view(session, GID_DOMAIN="nowhere")
    assert shown.wait() == 1
    assert "or `gidd --config FILE --domain nowhere`" in shown.stderr


@pytest.mark.parametrize(
    "option",
    [
        "--stream=a b",
        "--size=0x10",
        "--place=10x10",
        "--place= 10x10+0+0",
        "--place=10x10+-1+0",
        "--place=10x10+0+0+0",
        "--place=10x10+0+4294967296",
        "--background=red",
        "--gone=soon",
        "--credit=65",
        "--frames=0",
        pytest.param(f"--title={'t' * 5000}", id="a long title"),
        pytest.param(f"--app-id={'a' * 5000}", id="a long id"),
    ],
)
def test_wrong_options(session: Session, option: str) -> None:
    shown = view(session, option)
    assert shown.wait() == 2
    assert "Usage" in shown.stderr or "Try" in shown.stderr
