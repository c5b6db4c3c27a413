# SPDX-License-Identifier: MIT
"""GStreamer pipelines as programs of a domain, with an account of every frame (see frames.c)."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.program import BUILD, EMULATED, PATIENCE, Program, wait_for

from lab.film import clip as films

FRAMES = BUILD / "tests/lib/programs/frames"

# The producer's, of which a busy machine takes more than a second. Tests of leases have their own.
LEASE = "lease=300000"

# For frames that all have to arrive: the sink starts when somebody listens, and waits for them. The
# first paces itself by the frames' times.
PATIENT = f"leaky=false {LEASE} wait-for-connection=true"
LOSSLESS = f"sync=false {PATIENT}"


@cache
def make_registry() -> Path:
    """The list of GStreamer's plugins, brought up to date: nobody else may write it.

    To make one takes a second, and in a guest half a minute.
    """
    registry = BUILD / "tests" / "gst" / "registry.bin"
    registry.parent.mkdir(parents=True, exist_ok=True)
    env = os.environ | _places(registry)
    subprocess.run(["gst-inspect-1.0", "gidsink"], env=env, check=True, stdout=subprocess.DEVNULL)
    return registry


def gst_env(env: dict[str, str], registry: Path) -> dict[str, str]:
    """`env` for programs that use GStreamer. A registry that is not there yet is made."""
    if EMULATED:
        pytest.skip("GStreamer is this machine's, and loads no element for another")
    if not registry.exists():
        # At once, for others may look for it at the same time.
        made = registry.with_name(f"{registry.name}.{os.getpid()}.{threading.get_ident()}")
        shutil.copy(make_registry(), made)
        made.rename(registry)
    return env | _places(registry) | {"GST_REGISTRY_UPDATE": "no"}  # it need not look at them again


def _places(registry: Path) -> dict[str, str]:
    path = os.pathsep.join([str(BUILD / "gst"), os.environ.get("GST_PLUGIN_PATH", "")])
    return {"GST_PLUGIN_PATH": path, "GST_REGISTRY": str(registry)}


class Pipeline(Program):
    """A pipeline that plays, and can be told more."""

    def __init__(
        self,
        cockpit: Cockpit,
        domain: str,
        text: str,
        *options: str,
        under: Sequence[str] = (),
        **environment: str,
    ) -> None:
        theirs, self.control = os.pipe()
        super().__init__(
            [*under, FRAMES, "--commands", str(theirs), *options, text],
            gst_env(cockpit.env(domain), cockpit.folder / "registry.bin") | environment,
            cockpit.folder,
            name=f"pipeline-{domain}",
            pass_fds=(theirs,),
        )
        os.close(theirs)
        self._objects: list[dict] = []  # the lines that it has written, as far as they were read
        self._read = 0  # bytes

    def tell(self, command: str) -> None:
        os.write(self.control, f"{command}\n".encode())

    # --- what it wrote ---

    def lines(self, key: str) -> list[dict]:
        """The objects that have this key."""
        with self.output_path.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._objects += map(json.loads, whole.splitlines())
        self._read += len(whole)
        return [thing for thing in self._objects if key in thing]

    @property
    def frames(self) -> list[dict]:
        return self.lines("frame")

    @property
    def sums(self) -> list[str]:
        return [frame["sum"] for frame in self.frames]

    @property
    def caps(self) -> list[str]:
        return [event["caps"] for event in self.lines("event") if "caps" in event]

    def events(self, name: str) -> int:
        return sum(event["event"] == name for event in self.lines("event"))

    def messages(self, name: str) -> list[dict]:
        """The fields of the element messages of that name."""
        return [m["fields"] for m in self.lines("bus") if m.get("name") == name]

    def errors(self) -> list[str]:
        return [message["text"] for message in self.lines("bus") if message["bus"] == "error"]

    # --- waits ---

    def wait_frames(self, count: int, timeout: float = PATIENCE) -> None:
        def there() -> bool:
            runs = self.is_running()  # asked first: they may come, and it end
            came = len(self.frames)
            assert came >= count or runs, f"ended with {came} frames:\n{self.account()}"
            return came >= count

        wait_for(there, f"{count} frames, not {len(self.frames)}", timeout)

    def wait_state(self, state: str) -> None:
        wait_for(
            lambda: any(s["state"] == state for s in self.messages("gid-state")),
            f"the stream to be {state}",
        )

    def changes_to(self, state: str) -> int:
        """How often it has come to that state."""
        return [m.get("state") for m in self.lines("bus")].count(state)

    def wait_changes(self, state: str, count: int) -> None:
        wait_for(lambda: self.changes_to(state) >= count, f"it to be {state}, {count} times")

    def wait_playing(self) -> None:
        self.wait_changes("PLAYING", 1)

    def finish(self, timeout: float = 5 * PATIENCE) -> "Pipeline":
        """Waits for its end, which must be a good one."""
        assert self.wait(timeout) == 0, self.account()
        return self

    def stats(self, element: str) -> dict:
        """The element's `stats` property now, or at the end."""
        before = len(self.lines("stats"))
        with suppress(BrokenPipeError):  # of one that has ended
            self.tell(f"stats {element}")
        wait_for(
            lambda: not self.is_running() or self.lines("stats")[before:], f"stats of {element}"
        )
        told = [line["fields"] for line in self.lines("stats")[before:]]
        return told[0] if told else self.messages(f"gid-{element}-stats")[-1]

    def account(self) -> str:
        return f"{self.arguments[-1]}\n{self.stdout[-2000:]}\n{self.stderr[-4000:]}"


# --- films ---


@cache
def clip() -> Path:
    """The H.264 film of 1280x720 that the demo shows, or a made one where it cannot be had."""
    return films.find(None)


def film(width: int, height: int, frames: int = 40, codec: str = "h264") -> Path:
    """A moving picture, encoded once for each build."""
    encoders = {
        "h264": ("x264enc speed-preset=veryfast bframes=2 ! h264parse ! mp4mux", "mp4"),
        "vp9": ("vp9enc deadline=1 cpu-used=8 ! webmmux", "webm"),
        "jpeg": ("jpegenc ! avimux", "avi"),
        "mpeg4": ("avenc_mpeg4 ! mpeg4videoparse ! mp4mux", "mp4"),
    }
    encode, suffix = encoders[codec]
    path = BUILD / "tests" / "gst" / f"film-{codec}-{width}x{height}-{frames}.{suffix}"
    if not path.exists():
        partial = path.with_name(f".{os.getpid()}-{path.name}")
        text = (
            f"videotestsrc pattern=ball num-buffers={frames} ! "
            f"video/x-raw,format=I420,width={width},height={height},framerate=30/1 ! "
            f"{encode} ! filesink"
        )
        subprocess.run(
            ["gst-launch-1.0", "-q", *text.split(), f"location={partial}"],
            check=True,
            timeout=120,
        )
        partial.rename(path)
    return path


def quoted(path: Path) -> str:
    """As a property's value in the text of a pipeline."""
    return '"{}"'.format(str(path).replace("\\", "\\\\").replace('"', '\\"'))


DECODE = {
    "h264": "filesrc location={} ! qtdemux ! h264parse ! avdec_h264",
    "vp9": "filesrc location={} ! matroskademux ! vp9dec",
    "jpeg": "filesrc location={} ! avidemux ! jpegdec",
    "mpeg4": "filesrc location={} ! qtdemux ! mpeg4videoparse ! avdec_mpeg4",
}


def decode(path: Path, codec: str = "h264") -> str:
    return DECODE[codec].format(quoted(path))


def frames_of(cockpit: Cockpit, source: str) -> list[dict]:
    """What the source itself gives, frame by frame."""
    alone = Pipeline(cockpit, "open", f"{source} ! fakesink name=watch", "--video-meta", "1")
    return alone.finish().frames


def sums_of(cockpit: Cockpit, source: str) -> list[str]:
    return [frame["sum"] for frame in frames_of(cockpit, source)]


def send(
    cockpit: Cockpit, source: str, properties: str = LOSSLESS, stream: str = "movie"
) -> Pipeline:
    sink = f"gidsink name=sink stream={stream} {LEASE} {properties}"
    return Pipeline(cockpit, "open", f"{source} ! {sink}")


def watch(
    cockpit: Cockpit,
    properties: str = "",
    then: str = "",
    *options: str,
    domain: str = "cluster",
    stream: str = "movie",
    **environment: str,
) -> Pipeline:
    """A consumer that takes GstVideoMeta and looks at every frame."""
    return Pipeline(
        cockpit,
        domain,
        f"gidsrc name=src domain=open stream={stream} {properties} {then} "
        "! fakesink name=watch sync=false",
        *(options or ("--video-meta", "1")),
        **environment,
    )


def pairs(cockpit: Cockpit, source: str, **watching) -> Iterator[Pipeline]:
    """Sends all of the source, and receives it in the other domain."""
    receiver = watch(cockpit, **watching)
    sender = send(cockpit, source)
    yield sender.finish()
    yield receiver.finish()
