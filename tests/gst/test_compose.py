# SPDX-License-Identifier: MIT
"""gidcompose: the same pictures as GStreamer's compositor makes, by an engine of another domain."""

import itertools
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.engine import start_engine
from lib.length import at_length_but
from lib.pipeline import PATIENT, Pipeline, decode, film, gst_env, send
from lib.program import BUILD, Program, wait_for

from lab.domains.configuration import section

ENGINE = "gidcompose name=compose engine=cluster canvas=panel"
SECOND = 10**9
CANVASES = section("engine", "spin-us=0") + section(
    "canvas panel", "domain=open memory=64M slots=6"
)


@pytest.fixture
def engine(cockpit: Cockpit) -> Program:
    return start_engine(cockpit, CANVASES)


def source(pattern: str, size: str, count: int = 5, form: str = "BGRx", rate: str = "30/1") -> str:
    width, height = size.split("x")
    return (
        f"videotestsrc pattern={pattern} num-buffers={count} ! "
        f"video/x-raw,format={form},width={width},height={height},framerate={rate}"
    )


def pictures(
    cockpit: Cockpit, composer: str, layers: list[str], size: str, form: str = "BGRx"
) -> list[bytes]:
    """The pixels of each picture, without those bytes that mean nothing."""
    width, height = map(int, size.split("x"))
    path = cockpit.folder / f"{composer.split()[0]}.raw"
    text = (
        f"{composer} ! video/x-raw,format={form},width={width},height={height},framerate=30/1 "
        f"! filesink location={path} " + " ".join(f"{layer} ! compose." for layer in layers)
    )
    Pipeline(cockpit, "open", text).finish()
    data = bytearray(path.read_bytes())
    path.unlink()
    data[3::4] = bytes(len(data) // 4)
    one = width * height * 4
    assert len(data) % one == 0
    return [bytes(data[at : at + one]) for at in range(0, len(data), one)]


def worst(ours: list[bytes], theirs: list[bytes]) -> int:
    """The largest difference of any part of any pixel."""
    assert len(ours) == len(theirs) > 0
    return max(
        0 if a == b else max(abs(x - y) for x, y in zip(a, b, strict=True))
        for a, b in zip(ours, theirs, strict=True)
    )


def both(
    cockpit: Cockpit, properties: str, layers: list[str], size: str = "320x240", form: str = "BGRx"
) -> int:
    return worst(
        pictures(cockpit, f"{ENGINE} {properties}", layers, size),
        pictures(cockpit, f"compositor name=compose {properties}", layers, size, form),
    )


# --- pixels ---


@pytest.mark.parametrize(
    "background",
    at_length_but(["checker", "black", "white", "transparent"], "checker", "transparent"),
)
def test_opaque_layers(cockpit: Cockpit, engine: Program, background: str) -> None:
    """Bit by bit the same: also where layers lie above each other or outside of the canvas."""
    layers = [source("ball", "160x120"), source("smpte", "100x80"), source("snow", "64x64")]
    properties = (
        f"background={background} sink_0::xpos=200 sink_0::ypos=160 sink_0::zorder=5 "
        "sink_1::xpos=-30 sink_1::ypos=-20 sink_2::xpos=190 sink_2::ypos=150"
    )
    assert both(cockpit, properties, layers) == 0


@pytest.mark.parametrize(
    "form", at_length_but(["RGBx", "xRGB", "xBGR", "BGR", "RGB"], "xRGB", "RGB")
)
def test_formats(cockpit: Cockpit, engine: Program, form: str) -> None:
    assert both(cockpit, "sink_0::xpos=20", [source("smpte", "160x120", form=form)]) == 0


# Each kind of samples, each of the matrices that films have, and both ranges.
COLOURS = [("I420", "bt601"), ("NV12", "bt709"), ("YUY2", "bt2020"), ("Y444", "2:2:5:1")]


@pytest.mark.parametrize(
    ("form", "matrix"),
    at_length_but(
        itertools.product(
            ["I420", "NV12", "YV12", "Y42B", "Y444", "YUY2", "UYVY", "NV21"],
            ["bt601", "bt709", "2:4:7:1", "bt2020", "smpte240m", "2:2:5:1"],
        ),
        *COLOURS,
    ),
)
def test_colours(cockpit: Cockpit, engine: Program, form: str, matrix: str) -> None:
    """Of large areas: at edges GStreamer mixes colours of neighbours. It also computes with few
    bits, so that its colours are off by up to 3; the engine's are within 1 (test_engine_drawing).
    """
    colour = source("solid-color foreground-color=0xffc060c0", "64x48", 2, form)
    assert both(cockpit, "", [f"{colour},colorimetry={matrix}"], "64x48") <= 4


@pytest.mark.parametrize("alpha", at_length_but([0.01, 0.3, 0.5, 0.77, 0.99], 0.01, 0.77))
def test_alpha_of_a_layer(cockpit: Cockpit, engine: Program, alpha: float) -> None:
    """Within 1 of what arithmetic says. The compositor rounds down, so it may be 2 away."""
    layers = [source("ball", "160x120"), source("smpte", "160x120")]
    below = pictures(cockpit, ENGINE, layers[:1], "160x120")
    above = pictures(cockpit, ENGINE, layers[1:], "160x120")
    part = int(alpha * 255) / 255
    exact = [
        bytes(round(x * (1 - part) + y * part) for x, y in zip(one, other, strict=True))
        for one, other in zip(below, above, strict=True)
    ]
    ours = pictures(cockpit, f"{ENGINE} sink_1::alpha={alpha}", layers, "160x120")
    theirs = pictures(cockpit, f"compositor name=compose sink_1::alpha={alpha}", layers, "160x120")
    assert worst(ours, exact) <= 1
    assert worst(ours, theirs) <= 2


@pytest.mark.parametrize("form", at_length_but(["BGRA", "RGBA", "ARGB", "ABGR"], "BGRA", "ARGB"))
def test_alpha_of_pixels(cockpit: Cockpit, engine: Program, form: str) -> None:
    """GStreamer's pixels are not multiplied by their alpha."""
    above = source("solid-color foreground-color=0x80ff8020", "100x100", form=form)
    properties = "background=black sink_1::xpos=30 sink_1::alpha=0.9"
    # The compositor needs a canvas with alpha for it, the engine none. It also rounds down.
    assert both(cockpit, properties, [source("smpte", "160x120"), above], form="BGRA") <= 2


@pytest.mark.parametrize("size", [(320, 240), (80, 60), (233, 77)])
def test_scaling(cockpit: Cockpit, engine: Program, size: tuple[int, int]) -> None:
    """A gradient: filters of different width agree on it, but for its ends."""
    properties = f"background=black sink_0::width={size[0]} sink_0::height={size[1]}"
    assert both(cockpit, properties, [source("gradient", "160x120")]) <= 1


ODD = "133x77"
FORMS = ["BGRx", "RGB16", "RGBA", "I420", "NV12", "YUY2"]


def solid(size: str, form: str, count: int = 2, colour: str = "0xff3070c0") -> str:
    return source(f"solid-color foreground-color={colour}", size, count, form)


def canvas_for(form: str) -> str:
    """The compositor needs one with alpha for layers with it, the engine does not."""
    return "BGRA" if "A" in form else "BGRx"


def tolerance(form: str) -> int:
    return 0 if form == "BGRx" else 2 if form.startswith("RGB") else 4


@pytest.mark.parametrize("form", at_length_but(FORMS, "BGRx", "RGBA", "I420"))
def test_odd_sizes(cockpit: Cockpit, engine: Program, form: str) -> None:
    """Odd ones, of one pixel and one row, partly and wholly outside, with alpha 0 and 1."""
    layers = [solid(size, form) for size in ("61x47", "1x1", "3x5", "33x1", "1x31", "7x9", "9x9")]
    properties = (
        "background=white sink_0::xpos=-7 sink_0::ypos=-11 sink_1::xpos=132 sink_1::ypos=76 "
        "sink_2::xpos=-2 sink_2::ypos=-4 sink_3::xpos=101 sink_3::ypos=50 sink_3::alpha=1 "
        "sink_4::xpos=70 sink_4::ypos=60 sink_5::xpos=80 sink_5::alpha=0 sink_6::xpos=500"
    )
    assert both(cockpit, properties, layers, ODD, canvas_for(form)) <= tolerance(form)


@pytest.mark.parametrize("form", at_length_but(FORMS, "RGB16", "RGBA", "NV12"))
def test_scaled_odd_sizes(cockpit: Cockpit, engine: Program, form: str) -> None:
    """One pixel to many, many to one, and to odd sizes beyond the canvas."""
    layers = [solid(size, form) for size in ("1x1", "61x47", "3x5", "64x64")]
    properties = (
        "background=white sink_0::width=51 sink_0::height=33 sink_1::width=1 sink_1::height=1 "
        "sink_1::xpos=60 sink_2::xpos=-40 sink_2::ypos=40 sink_2::width=77 sink_2::height=3 "
        "sink_3::xpos=100 sink_3::ypos=-90 sink_3::width=331 sink_3::height=151"
    )
    assert both(cockpit, properties, layers, ODD, canvas_for(form)) <= tolerance(form)


@pytest.mark.parametrize("operator", ["source", "over", "add"])
def test_operators(cockpit: Cockpit, engine: Program, operator: str) -> None:
    layers = [source("ball", "160x120"), source("smpte", "100x80")]
    properties = f"sink_1::operator={operator} sink_1::alpha=0.5 sink_1::xpos=30"
    assert both(cockpit, properties, layers, "160x120") <= 2


KEPT = "keep-aspect-ratio"


@pytest.mark.parametrize(
    ("size", "policy", "shape"),
    at_length_but(
        itertools.product(
            [(160, 50), (41, 120), (7, 99), (80, 60), (1, 1)],
            ["none", KEPT],
            ["1/1", "4/3", "12/11"],
        ),
        ((160, 50), KEPT, "4/3"),
        ((41, 120), "none", "4/3"),
        ((7, 99), KEPT, "12/11"),
        ((80, 60), KEPT, "1/1"),
        ((1, 1), "none", "1/1"),
    ),
)
def test_shapes(
    cockpit: Cockpit, engine: Program, size: tuple[int, int], policy: str, shape: str
) -> None:
    """Also of pixels that are no squares. GStreamer's filter may be off by 3."""
    layer = f"{solid('64x48', 'BGRx')},pixel-aspect-ratio={shape}"
    properties = (
        f"background=black sink_0::xpos=11 sink_0::ypos=5 sink_0::width={size[0]} "
        f"sink_0::height={size[1]} sink_0::sizing-policy={policy}"
    )
    assert both(cockpit, properties, [layer], "200x150") <= 3


def test_change_of_format(cockpit: Cockpit, engine: Program) -> None:
    """In the middle of a stream, with its size."""
    parts = [solid("64x48", "BGRx", 5), solid("31x47", "I420", 5), solid("64x48", "NV12", 5)]
    layer = "concat name=parts " + " ".join(f"{part} ! parts." for part in parts) + " parts."
    assert both(cockpit, "background=black", [layer], "100x60") <= 4


# --- copies and memory ---


def test_no_copy(cockpit: Cockpit) -> None:
    """Layers of gidsrc and of memory that was offered, pictures to gidsink and beyond; with room
    for all that a late viewer may hold."""
    start_engine(cockpit, CANVASES.replace("slots=6", "slots=64"))
    sender = send(cockpit, source("ball", "320x240", 60, "I420"), PATIENT)
    viewer = Pipeline(cockpit, "cluster", "gidsrc domain=open stream=all ! fakesink name=watch")
    composer = Pipeline(
        cockpit,
        "open",
        f"{ENGINE} copy-policy=error sink_1::xpos=320 ! gidsink name=sink stream=all "
        "copy-policy=error gidsrc stream=movie ! compose. "
        f"{source('snow', '320x240', 1000)} ! compose.",
    )
    try:
        viewer.wait_frames(30)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{composer.account()}\n{sender.account()}") from None
    stats = composer.stats("compose")
    assert stats["copied-frames"] == 0
    assert stats["layers"] >= stats["frames"] >= 30
    assert composer.stats("sink")["copied-frames"] == 0
    assert sender.is_running() or sender.wait() == 0


def test_copies_are_counted(cockpit: Cockpit, engine: Program) -> None:
    """Foreign memory is copied once, however often it is shown."""
    text = f"{ENGINE} ! video/x-raw,framerate=30/1 ! fakesink name=watch "
    one = f"{source('ball', '64x64', 4, rate='10/1')} ! identity drop-allocation=true ! compose."
    composer = Pipeline(cockpit, "open", text + one).finish()
    stats = composer.stats("compose")
    assert stats["frames"] >= 12
    assert stats["copied-frames"] == 4
    assert stats["copy-reasons"] == {"upstream-memory": 4}
    refused = Pipeline(
        cockpit, "open", text.replace("name=compose", "name=compose copy-policy=error") + one
    )
    assert refused.wait() != 0
    assert "does not allow a copy" in refused.errors()[0]


def test_downstream_that_keeps_pictures(cockpit: Cockpit, engine: Program) -> None:
    """More of them than the canvas has slots: the rest is copied, and nothing waits for ever."""
    text = f"{ENGINE} ! fakesink name=watch {source('ball', '64x64', 40)} ! compose."
    composer = Pipeline(cockpit, "open", text, "--hold", "30", "--video-meta", "1").finish()
    assert len(composer.frames) == 40
    assert composer.stats("compose")["copy-reasons"]["canvas-slots"] > 20


def expect_unchanged(composer: Pipeline) -> None:
    """What it held was what it had been given, until it let go of it."""
    assert composer.stats("compose")["copied-frames"] == 0
    composer.tell("quit")
    assert composer.finish().lines("end")[0]["overwritten"] == 0


def read_by(cockpit: Cockpit, domain: str) -> set[str]:
    return {one["stream"] for one in cockpit.status(domain)["subscriptions"]}


MORE = CANVASES.replace("slots=6", "slots=32")  # nothing of what is held has to be copied


def test_pictures_that_are_held_while_the_canvas_grows(cockpit: Cockpit) -> None:
    """They are those of the canvas as it was; and they are many, but fewer than it has slots."""
    start_engine(cockpit, MORE)
    layer = f"concat name=both ! compose. {source('ball', '64x64', 10)} ! both. "
    layer += f"{source('ball', '200x100', 10)} ! both."
    text = f"{ENGINE} ! fakesink name=watch sync=false {layer}"
    composer = Pipeline(cockpit, "open", text, "--video-meta", "1", "--hold", "14", "--stay")
    composer.wait_frames(20)
    expect_unchanged(composer)


def test_pictures_that_are_held_of_a_pipeline_that_was_stopped(cockpit: Cockpit) -> None:
    """Another program draws on the canvas then, and after that the same one again."""
    start_engine(cockpit, MORE)
    layer = source("ball", "160x120", -1).replace("videotestsrc", "videotestsrc is-live=true")
    text = f"{ENGINE} ! fakesink name=watch sync=true {layer} ! compose."
    keeper = Pipeline(cockpit, "open", text, "--video-meta", "1", "--hold", "4", "--stay")
    keeper.wait_frames(10)
    keeper.tell("state null")
    keeper.stats("compose")  # it has obeyed
    other = Pipeline(cockpit, "open", text.replace("ball", "snow"), "--video-meta", "1")
    other.wait_frames(40)
    other.tell("quit")
    other.finish()
    keeper.tell("state playing")
    keeper.wait_frames(len(keeper.frames) + 40)
    keeper.tell("state null")
    keeper.tell("release")
    wait_for(lambda: "canvas/panel" not in read_by(cockpit, "open"), "it to unsubscribe")
    expect_unchanged(keeper)


# --- what pipelines do ---


def test_a_program_that_stands_still_is_told(cockpit: Cockpit) -> None:
    """It loses the pictures that downstream holds, and its bus hears of it when it moves again."""
    start_engine(cockpit, CANVASES + "lease-ms=3000\n")  # no stop of the machine is as long
    layer = source("ball", "160x120", -1).replace("videotestsrc", "videotestsrc is-live=true")
    text = f"{ENGINE} ! fakesink name=watch {layer} ! compose."
    program = Pipeline(cockpit, "open", text, "--video-meta", "1", "--hold", "3")
    program.wait_frames(20)
    assert not program.messages("gid-taken")
    program.signal(signal.SIGSTOP)
    time.sleep(6)  # a lease, and what the engine had under way
    program.signal(signal.SIGCONT)
    wait_for(lambda: program.messages("gid-taken"), "the message of what it held")
    warned = [m["text"] for m in program.lines("bus") if m["bus"] == "warning"]
    assert any("taken back" in text for text in warned)
    program.wait_frames(len(program.frames) + 20)


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_layer_whose_producer_goes(cockpit: Cockpit, engine: Program, end: str) -> None:
    """Its last picture stays until there is another one, as behind any other source."""
    colour = "solid-color foreground-color=0xffc02040"
    sender = send(cockpit, source(colour, "64x48", -1).replace("src", "src is-live=true", 1), "")
    text = f"{ENGINE} background=black ! video/x-raw,framerate=30/1 ! fakesink name=watch "
    text += "sync=true gidsrc domain=open stream=movie forward-eos=false ! compose."
    composer = Pipeline(cockpit, "open", text, "--video-meta", "1")
    composer.wait_frames(20)
    wait_for(lambda: composer.stats("compose")["layers"] > 10, "the layer")
    composer.wait_frames(len(composer.frames) + 5)
    picture = composer.sums[-1]
    getattr(sender, end)()
    wait_for(lambda: composer.messages("gid-state")[-1]["state"] == "waiting", "its end")
    composer.wait_frames(len(composer.frames) + 30)
    assert set(composer.sums[-40:]) == {picture}
    # Of the canvas there can be one: a program that stands still for long loses what it holds.
    warned = [m["text"] for m in composer.lines("bus") if m["bus"] == "warning"]
    assert all('"canvas/panel" were taken back' in text for text in warned)


def test_one_layer_ends(cockpit: Cockpit, engine: Program) -> None:
    """The others go on, to the end of the longest."""
    layers = [source("ball", "64x64", 10), source("smpte", "64x64", 40)]
    assert both(cockpit, "background=black sink_1::xpos=64", layers, "128x64") == 0


def test_rates(cockpit: Cockpit, engine: Program) -> None:
    """The canvas is as fast as its fastest layer, and as large as all."""
    text = (
        f"{ENGINE} sink_1::xpos=70 sink_1::ypos=10 ! fakesink name=watch "
        f"{source('ball', '64x64', 20, rate='10/1')} ! compose. "
        f"{source('snow', '50x60', 100, rate='50/1')} ! compose."
    )
    composer = Pipeline(cockpit, "open", text, "--video-meta", "1").finish()
    assert len(composer.frames) == 100
    assert "width=(int)120, height=(int)70" in composer.caps[0]
    assert "framerate=(fraction)50/1" in composer.caps[0]


def test_seek(cockpit: Cockpit, engine: Program) -> None:
    path = film(320, 240, 600)
    text = (
        f"{ENGINE} sink_1::xpos=320 ! fakesink name=watch sync=true {decode(path)} ! compose. "
        f"{source('smpte', '100x100', 6000)} ! compose."
    )
    composer = Pipeline(cockpit, "open", text, "--video-meta", "1")
    composer.wait_frames(10)
    composer.tell(f"seek {4 * SECOND}")
    wait_for(lambda: any(f["pts"] >= 4 * SECOND for f in composer.frames), "frames after the seek")
    count = len(composer.frames)
    composer.tell("seek 0")
    composer.wait_frames(count + 10)
    composer.tell("eos")
    composer.finish()
    assert composer.errors() == []


def test_change_of_size(cockpit: Cockpit, engine: Program) -> None:
    """A layer that grows makes the canvas grow, in the middle of the stream."""
    text = (
        f"{ENGINE} ! fakesink name=watch sync=false "
        f"concat name=both ! compose. {source('ball', '64x64', 10)} ! both. "
        f"{source('ball', '200x100', 10)} ! both."
    )
    composer = Pipeline(cockpit, "open", text, "--video-meta", "1").finish()
    assert "width=(int)64" in composer.caps[0]
    assert "width=(int)200, height=(int)100" in composer.caps[-1]
    assert len(composer.frames) == 20


def test_live_and_not(cockpit: Cockpit, engine: Program) -> None:
    """A camera beside a film, of which each has its own rate."""
    text = (
        f"{ENGINE} sink_1::xpos=64 ! video/x-raw,framerate=30/1 ! fakesink name=watch sync=true "
        "videotestsrc is-live=true num-buffers=60 ! "
        "video/x-raw,format=I420,width=64,height=48,framerate=30/1 ! compose. "
        f"{source('ball', '64x48', 120, rate='60/1')} ! compose."
    )
    composer = Pipeline(cockpit, "open", text, "--video-meta", "1").finish()
    times = [f["pts"] for f in composer.frames]
    stats = composer.stats("compose")
    assert times == sorted(set(times)) and len(times) > 1
    assert stats["layers"] > stats["frames"], "no picture has both"


def test_order_and_alpha_while_it_plays(cockpit: Cockpit, engine: Program) -> None:
    """Each picture is that of one order or the other."""
    alone = [
        pictures(
            cockpit, f"{ENGINE} background=black", [solid("64x48", "BGRx", 1, colour)], "64x48"
        )
        for colour in ("0xffff0000", "0xff0000ff")
    ]
    path = cockpit.folder / "order.raw"
    composer = Pipeline(
        cockpit,
        "open",
        f"{ENGINE} background=black ! video/x-raw,format=BGRx,framerate=30/1 ! tee name=t "
        f"t. ! queue ! fakesink name=watch t. ! queue ! filesink location={path} buffer-mode=2 "
        "videotestsrc is-live=true pattern=red ! video/x-raw,width=64,height=48,format=BGRx ! "
        "compose. videotestsrc is-live=true pattern=blue ! "
        "video/x-raw,width=64,height=48,format=BGRx ! compose.",
    )
    size = 64 * 48 * 4

    def newest() -> bytes:
        data = bytearray(path.read_bytes()) if path.exists() else bytearray()
        data[3::4] = bytes(len(data) // 4)
        end = len(data) // size * size
        return bytes(data[end - size : end])

    wait_for(lambda: newest() == alone[1][0], "the second layer above")
    composer.tell("set compose sink_0::zorder 9")
    wait_for(lambda: newest() == alone[0][0], "the first layer above")
    composer.tell("set compose sink_0::alpha 0")
    wait_for(lambda: newest() == alone[1][0], "the second layer alone")
    composer.tell("set compose sink_0::alpha 1")
    wait_for(lambda: newest() == alone[0][0], "the first layer again")
    assert composer.errors() == []


@pytest.mark.parametrize("words", ["", "I420 BGRx", "BGRx I420"])
def test_pads_come_and_go(cockpit: Cockpit, engine: Program, words: str) -> None:
    """While it plays; or a pad's pictures have the caps of the next, as behind input-selector. Done
    by an application, as no pipeline's text can do it."""
    program = BUILD / "tests" / "gst" / "compose_pads"
    run = subprocess.run(
        [program, *words.split()],
        env=gst_env(cockpit.env("open"), cockpit.folder / "registry.bin"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr


# --- the engine ---


def test_engine_that_comes_late(cockpit: Cockpit) -> None:
    text = f"{ENGINE} ! fakesink name=watch {source('ball', '64x64', 20)} ! compose."
    composer = Pipeline(cockpit, "open", text, "--video-meta", "1")
    wait_for(lambda: any(m["state"] == "waiting" for m in composer.messages("gid-state")), "a word")
    assert composer.frames == []
    start_engine(cockpit, CANVASES)
    composer.finish()
    assert len(composer.frames) == 20, "a film waits for its engine"


def test_engine_that_is_killed(cockpit: Cockpit, engine: Program) -> None:
    """Live pictures are left out until it is back."""
    text = (
        f"{ENGINE} ! fakesink name=watch sync=true videotestsrc is-live=true ! "
        "video/x-raw,format=BGRx,width=64,height=64,framerate=30/1 ! compose."
    )
    composer = Pipeline(cockpit, "open", text, "--video-meta", "1")
    composer.wait_frames(20)
    before = composer.sums[-1]
    engine.kill()
    composer.wait_state("waiting")
    count = len(composer.frames)
    start_engine(cockpit, CANVASES)
    composer.wait_frames(count + 20)
    assert composer.is_running() and composer.errors() == []
    assert composer.stats("compose")["skipped"] > 0
    assert len(before) > 0


def test_a_film_loses_nothing_with_its_engine(cockpit: Cockpit, engine: Program) -> None:
    text = f"{ENGINE} ! fakesink name=watch sync=true {source('ball', '64x64', 90)} ! compose."
    composer = Pipeline(cockpit, "open", text, "--video-meta", "1")
    composer.wait_frames(20)
    engine.kill()
    composer.wait_state("waiting")
    start_engine(cockpit, CANVASES)
    composer.finish()
    assert len(composer.frames) == 90
    times = [f["pts"] for f in composer.frames]
    assert times == sorted(set(times))


def test_without_reconnect(cockpit: Cockpit, engine: Program) -> None:
    text = (
        f"{ENGINE} reconnect=false ! fakesink name=watch {source('ball', '64x64', -1)} ! compose."
    )
    composer = Pipeline(cockpit, "open", text)
    composer.wait_frames(5)
    engine.signal(signal.SIGTERM)
    assert composer.wait() != 0
    assert 'The engine of domain "cluster" ended' in composer.errors()[0]
    late = Pipeline(cockpit, "open", text)
    assert late.wait() != 0
    assert 'No gid-engine in domain "cluster" serves a canvas "panel" to us' in late.errors()[0]


def test_gidd_that_is_started_again(cockpit: Cockpit, engine: Program) -> None:
    text = (
        f"{ENGINE} ! fakesink name=watch sync=true videotestsrc is-live=true ! "
        "video/x-raw,format=BGRx,width=64,height=64,framerate=30/1 ! compose."
    )
    composer = Pipeline(cockpit, "open", text, "--video-meta", "1")
    composer.wait_frames(10)
    cockpit.restart("open")
    composer.wait_frames(len(composer.frames) + 20)
    assert composer.errors() == []


# --- mistakes ---


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ("engine=cluster", "Set engine=DOMAIN"),
        ("engine=cluster canvas=a//b", "the canvas's name, size or options are out of range"),
        ("engine=cluster canvas=panel domain=nobody", "No connection to gidd"),
    ],
)
def test_wrong_properties(cockpit: Cockpit, engine: Program, properties: str, words: str) -> None:
    text = f"gidcompose name=compose {properties} ! fakesink {source('ball', '64x64')} ! compose."
    composer = Pipeline(cockpit, "open", text)
    assert composer.wait() != 0
    assert words in composer.errors()[0]


def test_canvas_above_its_memory(make_cockpit: Callable[..., Cockpit], tmp_path: Path) -> None:
    cockpit = make_cockpit()
    cockpit.start_all()
    start_engine(cockpit, "[canvas panel]\ndomain=open\nmemory=64K\n")
    text = f"{ENGINE} ! fakesink {source('ball', '320x240')} ! compose."
    composer = Pipeline(cockpit, "open", text)
    assert composer.wait() != 0
    assert "larger than its memory= allows" in composer.errors()[0]
