# SPDX-License-Identifier: MIT
"""The decoded frames of the film, as a reference for frames that arrive elsewhere."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

from lab.film.clip import location  # noqa: E402

# A standalone program.
PLAY = Path(__file__).resolve().with_name("play.py")

_PATIENCE = 120  # seconds, for the first frame on a slow machine


@dataclass
class Frame:
    buffer: Gst.Buffer
    info: GstVideo.VideoInfo


class FilmError(Exception):
    """The film cannot be decoded; the message says why."""


def decode(clip: Path) -> str:
    """The part of a pipeline that decodes the film; converts only if necessary."""
    return f"filesrc {location(clip)} ! decodebin3 ! videoconvert"


def decode_both(clip: Path) -> str:
    """The same for a film of H.264 with sound (AAC), which is decoded in real time, and dropped."""
    sound = "film.audio_0 ! queue ! aacparse ! avdec_aac ! audioconvert ! fakesink sync=true"
    picture = "film.video_0 ! queue ! h264parse ! avdec_h264 ! videoconvert"
    return f"filesrc {location(clip)} ! qtdemux name=film {sound} {picture}"


def playing(pipeline: str, *options: str) -> list[str]:
    """The command that plays a pipeline in a loop. The pipeline ends in `gidsink name=sink`."""
    return ["python3", str(PLAY), "--loop", *options, pipeline]


def sink_caps() -> str:
    """The formats that a gidsink accepts without conversion."""
    factory = Gst.ElementFactory.find("gidsink")
    if factory is None:
        raise FilmError("GStreamer has no element gidsink: is the plugin built and found?")
    template = factory.get_static_pad_templates()[0]
    caps = template.get_caps()
    plain = [
        caps.get_structure(index).to_string()
        for index in range(caps.get_size())
        if caps.get_features(index).is_equal(Gst.CapsFeatures.from_string("memory:SystemMemory"))
    ]
    return "; ".join(plain)


def frames(clip: Path, caps: str, seconds: float) -> Iterator[Frame]:
    """The first `seconds` of the film, converted to `caps` if the decoder's format differs."""
    for frame in run(decode(clip), caps):
        if frame.buffer.pts != Gst.CLOCK_TIME_NONE and frame.buffer.pts > seconds * Gst.SECOND:
            return
        yield frame


def run(description: str, caps: str) -> Iterator[Frame]:
    """The frames of any pipeline."""
    pipeline = Gst.parse_launch(
        f"{description} ! capsfilter name=filter ! appsink name=sink sync=false max-buffers=4"
    )
    pipeline.get_by_name("filter").set_property("caps", Gst.Caps.from_string(caps))
    sink, bus = pipeline.get_by_name("sink"), pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while (sample := _next(description, sink, bus)) is not None:
            info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
            yield Frame(sample.get_buffer(), info)
    finally:
        pipeline.set_state(Gst.State.NULL)


def _next(description: str, sink: Gst.Element, bus: Gst.Bus) -> Gst.Sample | None:
    """The next frame; None at the end."""
    end = time.monotonic() + _PATIENCE
    while (sample := sink.emit("try-pull-sample", Gst.SECOND // 5)) is None:
        message = bus.pop_filtered(Gst.MessageType.ERROR)
        if message is not None:
            raise FilmError(f"{description}: {message.parse_error()[0].message}")
        if sink.get_property("eos"):
            return None
        if time.monotonic() > end:
            raise FilmError(f"{description}: no frame came within {_PATIENCE} s")
    return sample
