# SPDX-License-Identifier: MIT
"""gidsrc fill=: what downstream gets while nobody produces the stream."""

import pytest
from lib.cockpit import Cockpit
from lib.length import at_length_but
from lib.pipeline import (
    LOSSLESS,
    Pipeline,
    decode,
    film,
    frames_of,
    quoted,
    send,
    sums_of,
    watch,
)
from lib.program import wait_for
from PIL import Image

DISCONT, GAP = 0x40, 0x800
SIZE = "width=320,height=240"
LIVE = "videotestsrc is-live=true pattern=ball ! video/x-raw,format={},{},framerate={}"


def camera(pixels: str = "I420", rate: str = "60/1") -> str:
    return LIVE.format(pixels, SIZE, rate)


def filled(receiver: Pipeline) -> list[dict]:
    return [frame for frame in receiver.frames if frame["flags"] & GAP]


def wait_filled(receiver: Pipeline, count: int) -> None:
    wait_for(lambda: len(filled(receiver)) >= count, f"{count} pictures to be filled in")


def wait_waiting(receiver: Pipeline, count: int) -> None:
    """Until it has waited for the stream so many times."""
    wait_for(
        lambda: [m["state"] for m in receiver.messages("gid-state")].count("waiting") >= count,
        "the stream to be away",
    )


def wait_pictures(receiver: Pipeline, count: int) -> None:
    """So many of the stream itself."""
    wait_for(
        lambda: len(receiver.frames) - len(filled(receiver)) >= count, f"{count} of the stream"
    )


def check_times(frames: list[dict]) -> None:
    times = [frame["pts"] for frame in frames]
    assert all(before < after for before, after in zip(times, times[1:], strict=False))


def test_last_picture_while_its_producer_is_dead(cockpit: Cockpit) -> None:
    """Twice, and each of them is told."""
    receiver = watch(cockpit, "fill=last", "", "--video-meta", "1", "--hold", "30")
    receiver.wait_state("waiting")
    for _ in range(2):
        before = len(receiver.frames)
        sender = send(cockpit, camera(), "")
        wait_pictures(receiver, before - len(filled(receiver)) + 10)
        sender.kill()
        wait_filled(receiver, len(filled(receiver)) + 20)
    least = len(filled(receiver))
    count = receiver.stats("src")["filled"]
    assert least <= count <= len(filled(receiver)) + 1
    receiver.tell("quit")
    receiver.finish()
    assert receiver.lines("end")[0]["overwritten"] == 0
    frames = receiver.frames
    check_times(frames)
    for before, frame in zip(frames, frames[1:], strict=False):
        if frame["flags"] & GAP:
            assert frame["sum"] == before["sum"] and not frame["flags"] & DISCONT
            assert frame["duration"] == 10**9 // 60
        elif before["flags"] & GAP:
            assert frame["flags"] & DISCONT
    told = receiver.messages("gid-fill")
    assert [(m["active"], m["fill"]) for m in told] == [
        (True, "last"),
        (False, "last"),
        (True, "last"),
    ]


def test_rate_of_the_stream(cockpit: Cockpit) -> None:
    """As its caps say, however late each is: so many more in the time that passed, or fewer."""
    receiver = watch(cockpit, "fill=last")
    sender = send(cockpit, camera(rate="20/1"), "")
    receiver.wait_frames(5)
    sender.kill()
    wait_filled(receiver, 20)
    times = [frame["pts"] for frame in filled(receiver)][:20]
    assert all(later - time >= 10**9 // 20 for time, later in zip(times, times[1:], strict=False))


@pytest.mark.parametrize(
    "pixels", at_length_but(["I420", "NV12", "UYVY", "RGB", "Y42B"], "NV12", "UYVY", "RGB")
)
def test_black(cockpit: Cockpit, pixels: str) -> None:
    """As GStreamer itself paints it."""
    (black,) = sums_of(
        cockpit,
        f"videotestsrc pattern=black num-buffers=1 ! video/x-raw,format={pixels},{SIZE},"
        "framerate=60/1",
    )
    receiver = watch(cockpit, "fill=black")
    sender = send(cockpit, camera(pixels), "")
    receiver.wait_frames(5)
    sender.kill()
    wait_filled(receiver, 5)
    assert {frame["sum"] for frame in filled(receiver)} == {black}


@pytest.mark.parametrize("name, pixels", [("a.png", "I420"), ("a b.jpg", "RGB"), ("a.png", "NV12")])
def test_picture_of_a_file(cockpit: Cockpit, name: str, pixels: str) -> None:
    """As GStreamer itself scales it; its shape is another one."""
    still = cockpit.folder / name
    picture = Image.new("RGB", (100, 120), (200, 30, 60))
    picture.paste((10, 200, 90), (0, 0, 50, 60))
    picture.save(still)
    source = f"filesrc location={quoted(still)} ! decodebin ! videoconvertscale"
    square = f"video/x-raw,format={pixels},{SIZE},pixel-aspect-ratio=1/1"
    (shown,) = sums_of(cockpit, f"{source} ! {square}")
    receiver = watch(cockpit, f"fill=file fill-location={quoted(still)}")
    sender = send(cockpit, camera(pixels), "")
    receiver.wait_frames(5)
    sender.kill()
    wait_filled(receiver, 5)
    assert {frame["sum"] for frame in filled(receiver)} == {shown}
    # The bus is read by another thread than the one that the pictures go through.
    wait_for(lambda: receiver.messages("gid-fill"), "word of that")
    assert {message["fill"] for message in receiver.messages("gid-fill")} == {"file"}


@pytest.mark.parametrize("content", [None, b"", b"no picture", b"\x89PNG\r\n\x1a\n broken"])
def test_a_file_that_is_no_picture(cockpit: Cockpit, content: bytes | None) -> None:
    """Told at the start where there is none, else when it is needed; then the picture is black."""
    still = cockpit.folder / "still.png"
    if content is not None:
        still.write_bytes(content)
    receiver = watch(cockpit, f"fill=file fill-location={still}")

    def warned() -> bool:
        texts = [message["text"] for message in receiver.lines("bus") if "text" in message]
        return any(f"not that of fill-location={still}: " in text for text in texts)

    if content is None:
        wait_for(warned, "a warning of the file at the start")
    sender = send(cockpit, camera(), "")
    receiver.wait_frames(5)
    sender.kill()
    wait_filled(receiver, 5)
    (black,) = sums_of(
        cockpit,
        f"videotestsrc pattern=black num-buffers=1 ! video/x-raw,format=I420,{SIZE},framerate=60/1",
    )
    assert warned() and {frame["sum"] for frame in filled(receiver)} == {black}


def test_plain_downstream(cockpit: Cockpit) -> None:
    """It knows no GstVideoMeta, and the rows of the slots are wider than it thinks."""
    receiver = watch(cockpit, "fill=last", "! identity", "--hold", "10")
    source = "videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=322,height=246"
    sender = send(cockpit, source, "")
    wait_pictures(receiver, 5)
    sender.kill()
    wait_filled(receiver, 5)
    frames = receiver.frames
    last = max(i for i, frame in enumerate(frames) if not frame["flags"] & GAP)
    assert {frame["sum"] for frame in frames[last:]} == {frames[last]["sum"]}


@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_last_picture_of_a_film(cockpit: Cockpit, how: str) -> None:
    """An end in good order takes back its memory before it says so."""
    pixels = f"video/x-raw,format=I420,{SIZE},framerate=30/1"
    source = f"videotestsrc pattern=ball num-buffers=30 ! {pixels}"
    expected = frames_of(cockpit, source)
    receiver = watch(cockpit, "fill=last forward-eos=false")
    sender = send(cockpit, source, LOSSLESS)
    if how == "ends":
        sender.finish()
    else:
        wait_pictures(receiver, 3)
        sender.kill()
    wait_filled(receiver, 5)
    shown = [frame for frame in receiver.frames if not frame["flags"] & GAP]
    assert {frame["sum"] for frame in filled(receiver)} == {shown[-1]["sum"]}
    if how == "ends":
        assert shown[-1]["sum"] == expected[-1]["sum"]


def test_end_of_the_film_is_the_end(cockpit: Cockpit) -> None:
    """Of recordings, for instance: nothing is filled in behind it."""
    receiver = watch(cockpit, "fill=last")
    send(cockpit, f"videotestsrc num-buffers=20 ! video/x-raw,{SIZE}", LOSSLESS).finish()
    receiver.finish()
    assert len(receiver.frames) == 20 and not filled(receiver)


def test_without_reconnect_it_is_an_error(cockpit: Cockpit) -> None:
    sender = send(cockpit, camera(), "")
    sender.wait_playing()
    receiver = watch(cockpit, "fill=last reconnect=false")
    receiver.wait_frames(3)
    sender.kill()
    assert receiver.wait() != 0
    assert "ended unexpectedly" in receiver.errors()[0] and not filled(receiver)


@pytest.mark.parametrize("fill, live", [("none", "true"), ("last", "false"), ("black", "false")])
def test_nothing_is_filled_in(cockpit: Cockpit, fill: str, live: str) -> None:
    """Not asked for; or a recording, whose timestamps are the producer's."""
    receiver = watch(cockpit, f"fill={fill} is-live={live}")
    receiver.wait_state("waiting")
    sender = send(cockpit, camera(), "")
    receiver.wait_frames(5)
    sender.kill()
    wait_waiting(receiver, 2)
    again = send(cockpit, camera(), "")
    receiver.wait_frames(len(receiver.frames) + 5)
    again.kill()
    assert not filled(receiver) and receiver.stats("src")["filled"] == 0
    warned = any("is-live=false" in m["text"] for m in receiver.lines("bus") if "text" in m)
    assert warned == (live == "false")


def test_gidds_are_restarted(cockpit: Cockpit) -> None:
    """Frames flow on without them, and nothing is filled in."""
    receiver = watch(cockpit, "fill=black")
    sender = send(cockpit, camera(), "")
    receiver.wait_frames(10)
    for domain in ("cluster", "open"):
        cockpit.restart(domain)
        receiver.wait_frames(len(receiver.frames) + 10)
    assert not filled(receiver)
    sender.kill()
    wait_filled(receiver, 3)


def test_pause_while_it_is_away(cockpit: Cockpit) -> None:
    receiver = watch(cockpit, "fill=last")
    sender = send(cockpit, camera(), "")
    receiver.wait_frames(5)
    sender.kill()
    wait_filled(receiver, 5)
    for state, count in (("paused", 2), ("playing", 2)):
        receiver.tell(f"state {state}")
        receiver.wait_changes(state.upper(), count)
    wait_filled(receiver, len(filled(receiver)) + 5)
    check_times(receiver.frames)


def test_filled_in_pictures_are_sent_on_as_they_lie(cockpit: Cockpit) -> None:
    """They are in a sealed file, as other copies of gidsrc."""
    relay = Pipeline(
        cockpit,
        "cluster",
        "gidsrc name=src domain=open stream=movie fill=last ! gidsink name=sink stream=again",
    )
    sender = send(cockpit, camera(), "")
    receiver = Pipeline(
        cockpit,
        "open",
        "gidsrc name=src domain=cluster stream=again ! fakesink name=watch sync=false",
        "--video-meta",
        "1",
    )
    receiver.wait_frames(10)
    sender.kill()
    wait_filled(receiver, 10)
    assert len({frame["sum"] for frame in filled(receiver)}) == 1
    assert relay.stats("sink")["copied-frames"] == 0


def test_encoder_goes_on(cockpit: Cockpit) -> None:
    """x264enc refuses times that go back, and mp4mux those that do not go on."""
    target = cockpit.folder / "film.mp4"
    recorder = Pipeline(
        cockpit,
        "cluster",
        "gidsrc name=src domain=open stream=movie fill=black ! tee name=t "
        "t. ! queue ! fakesink name=watch sync=false "
        "t. ! queue ! videoconvert ! x264enc tune=zerolatency ! mp4mux "
        f"! filesink location={target}",
    )
    for _ in range(2):
        sender = send(cockpit, camera(), "")
        wait_pictures(recorder, len(recorder.frames) - len(filled(recorder)) + 5)
        sender.kill()
        wait_filled(recorder, len(filled(recorder)) + 5)
    recorder.tell("eos")
    recorder.finish()
    count = len(recorder.frames)
    assert len(frames_of(cockpit, decode(target))) == count


def test_frames_of_a_decoder(cockpit: Cockpit) -> None:
    """Their slots are larger than the picture, and were the decoder's own before."""
    receiver = watch(cockpit, "fill=last forward-eos=false")
    send(cockpit, decode(film(640, 360)), LOSSLESS).finish()
    wait_filled(receiver, 3)
    shown = [frame for frame in receiver.frames if not frame["flags"] & GAP]
    assert {frame["sum"] for frame in filled(receiver)} == {shown[-1]["sum"]}
