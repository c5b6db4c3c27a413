#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether sound and picture of a film stay together: flashes of light and bursts of tone.

A film is made first: each second the picture is white for a tenth, and the tone, which never ends,
is loud just as long. `open` plays it: the sound to a sound server (PulseAudio, with a sink that
plays into nothing, at a card's pace), the picture into gid memory. gid-cluster shows it in the
domain `cluster`. A second consumer there notes when a flash comes, to which the time from a frame's
sending to its light is added that gid-cluster has counted; and what the sound server plays is
recorded, so that is told when a burst was to be heard, and where the tone had a gap.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import gi
import numpy

from bench import common, shown
from lab.domains.cockpit import Cockpit
from lab.domains.program import LabError, Wanting

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

FRAMES, SIZE = 30, (320, 180)  # of the picture: a second's, and its size
SAMPLES = 48000  # of the sound: a second's
MARK = 0.1  # seconds of a flash and of a burst, at the beginning of each second
QUIET, LOUD, TONE = 0.1, 0.8, 1000  # amplitudes and Hz: a whole number of waves fits into STEP
STEP = SAMPLES // 1000  # samples that are looked at together
AROUND = 10 * SAMPLES  # parts of the sound that tell when a sample of it was played
BRIGHT = 128
# What the server mixes at a time: it can all be recorded when the first of it is to be heard.
MIXED_US = 2000
STREAM = "movie"
SERVER = "pulseaudio"


def make_film(folder: Path, seconds: int) -> Path:
    """Losslessly as to the sound, whose codec then has no delay."""
    width, height = SIZE
    dark = numpy.zeros(width * height * 3 // 2, numpy.uint8)
    dark[: width * height], dark[width * height :] = 16, 128
    light = dark.copy()
    light[: width * height] = 235
    with (folder / "pictures").open("wb") as file:
        for i in range(seconds * FRAMES):
            file.write((light if i % FRAMES < MARK * FRAMES else dark).tobytes())
    at = numpy.arange(seconds * SAMPLES)
    amplitude = numpy.where(at % SAMPLES < MARK * SAMPLES, LOUD, QUIET)
    sound = amplitude * numpy.sin(2 * numpy.pi * TONE * at / SAMPLES)
    (folder / "sound").write_bytes((sound * 32767).astype("<i2").tobytes())
    film = folder / "film.mkv"
    picture = f"rawvideoparse format=i420 width={width} height={height} framerate={FRAMES}/1"
    pipeline = (
        f"matroskamux name=film ! filesink location={film} "
        f"filesrc location={folder}/pictures ! {picture} "
        f"! x264enc speed-preset=ultrafast key-int-max={FRAMES} ! h264parse ! queue ! film. "
        f"filesrc location={folder}/sound ! rawaudioparse sample-rate={SAMPLES} num-channels=1 "
        f"! flacenc ! flacparse ! queue ! film."
    )
    subprocess.run(
        ["gst-launch-1.0", "-q", *pipeline.split()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=120,
    )
    return film


# --- what comes -----------------------------------------------------------------------------------


class Watcher:
    """Calls `take` with each buffer of a pipeline, and when it came, until told to end."""

    def __init__(self, description: str, take: Callable[[Gst.Buffer, float], None]) -> None:
        self._pipeline = Gst.parse_launch(f"{description} ! appsink name=sink sync=false")
        self._sink, self._take = self._pipeline.get_by_name("sink"), take
        self._pipeline.set_state(Gst.State.PLAYING)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ending.is_set():
            sample = self._sink.emit("try-pull-sample", Gst.SECOND // 5)
            if sample is not None:
                self._take(sample.get_buffer(), time.monotonic())

    def end(self) -> None:
        self._ending.set()
        self._thread.join()
        self._pipeline.set_state(Gst.State.NULL)


class Light:
    """When each flash began."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self._is_bright = False

    def take(self, buffer: Gst.Buffer, now: float) -> None:
        is_bright = buffer.extract_dup(0, 1)[0] >= BRIGHT
        if is_bright and not self._is_bright:
            self.times.append(now)
        self._is_bright = is_bright


class Sound:
    """All that was played, and when each part of it came."""

    def __init__(self) -> None:
        self._parts: list[numpy.ndarray] = []
        self._ends: list[int] = []  # samples
        self._times: list[float] = []

    def take(self, buffer: Gst.Buffer, now: float) -> None:
        part = numpy.frombuffer(buffer.extract_dup(0, buffer.get_size()), "<i2")
        self._parts.append(part)
        self._ends.append((self._ends[-1] if self._ends else 0) + len(part))
        self._times.append(now)

    def _time(self, sample: int) -> float:
        """When it was to be heard: what the parts around it allow at the earliest, for one may come
        late, but none before it is mixed. Then all of a mix comes, and its end is heard that much
        later. Not of all parts, for the sound's clock has its own pace."""
        first, last = numpy.searchsorted(self._ends, [sample - AROUND, sample + AROUND])
        ends, times = numpy.array(self._ends[first:last]), numpy.array(self._times[first:last])
        mixed = float((times - (ends - sample) / SAMPLES).min())
        return mixed + MIXED_US / 1e6

    def bursts_and_gaps(self) -> tuple[list[float], int]:
        """When each burst began, and how often the tone was interrupted between the first and the
        last of them."""
        whole = numpy.concatenate(self._parts).astype(float) / 32767
        steps = whole[: len(whole) // STEP * STEP].reshape(-1, STEP)
        strength = numpy.sqrt((steps**2).mean(axis=1)) * 2**0.5
        loud, silent = strength > (LOUD + QUIET) / 2, strength < QUIET / 2
        begins = _rises(loud)
        if not len(begins):
            raise LabError("no sound was played")
        gaps = _rises(silent[begins[0] : begins[-1]])
        return [self._time(int(step) * STEP) for step in begins], len(gaps)


def _rises(flags: numpy.ndarray) -> numpy.ndarray:
    return numpy.flatnonzero(flags[1:] & ~flags[:-1]) + 1


# --- the cockpit and its sound server -------------------------------------------------------------


def sound_server(folder: Path) -> list[str]:
    """With a sink that plays into nothing, and nothing else."""
    socket = f"module-native-protocol-unix socket={folder}/pulse.sock auth-anonymous=1"
    sink = f"module-null-sink sink_name=card rate={SAMPLES} channels=1 norewinds=1"
    options = ["-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1"]
    options += ["--realtime=no", "--high-priority=no", "--disable-shm=yes"]
    return [SERVER, *options, "--load", socket, "--load", sink]


def play(cockpit: Cockpit, film: Path, options: argparse.Namespace) -> tuple[Light, Sound, float]:
    """What was seen and heard, and the seconds from a frame's sending to its light."""
    light, sound = Light(), Sound()
    in_time = " display-sync=true display-domain=cluster" if options.display_sync else ""
    pipeline = (
        f"filesrc location={film} ! matroskademux name=film "
        f"film. ! queue ! h264parse ! avdec_h264 ! videoconvert ! video/x-raw,format=BGRx "
        f"! gidsink stream={STREAM}{in_time} "
        f"film. ! queue ! flacparse ! flacdec ! audioconvert ! audioresample "
        f"! pulsesink device=card"
    )
    record = f"pulsesrc device=card.monitor buffer-time=100000 latency-time={MIXED_US}"
    record += f" ! audio/x-raw,format=S16LE,rate={SAMPLES},channels=1"
    with shown.display(cockpit["cluster"], shown.CLUSTER, "open", STREAM) as told:
        watchers = [
            Watcher(f"gidsrc domain=open stream={STREAM} ! queue", light.take),
            Watcher(record, sound.take),
        ]
        try:
            time.sleep(1)  # both listen before anything is played
            player = ["gst-launch-1.0", "-q", *pipeline.split()]
            cockpit["open"].run(player, patience=options.seconds + shown.PATIENCE)
            to_light = told()["latency_us"]["p50"] / 1e6
        finally:
            for watcher in watchers:
                watcher.end()
    return light, sound, to_light


def lags(light: list[float], sound: list[float]) -> list[float]:
    """Of each flash to the burst that is next to it, less than half a second away: how much later
    the sound came, s."""
    pairs = [(flash, min(sound, key=lambda burst: abs(burst - flash))) for flash in light]
    return [burst - flash for flash, burst in pairs if abs(burst - flash) < 0.5]


def measure(cockpit: Cockpit, options: argparse.Namespace) -> dict:
    folder = cockpit.folder
    film = make_film(folder, options.seconds)
    os.environ["PULSE_SERVER"] = f"unix:{folder}/pulse.sock"
    os.environ["PULSE_RUNTIME_PATH"] = os.environ["HOME"] = str(folder)
    os.environ["GID_DOMAIN"] = "cluster"  # of who watches, in this process
    place = cockpit["open"]
    with place.running(SERVER, sound_server(folder)):
        place.wait_until("the sound server's start", (folder / "pulse.sock").exists, SERVER)
        light, sound, to_light = play(cockpit, film, options)
    bursts, gaps = sound.bursts_and_gaps()
    flashes = [flash + to_light for flash in light.times]
    late = lags(flashes, bursts)
    if len(late) < 2:
        raise LabError(f"{len(flashes)} flashes and {len(bursts)} bursts do not fit")
    third = max(1, len(late) // 3)
    drift = statistics.median(late[-third:]) - statistics.median(late[:third])
    return {
        "bench": "together",
        "what": "sound after the picture",
        "lag_ms": round(statistics.median(late) * 1e3, 2),
        "lag_ms_min": round(min(late) * 1e3, 2),
        "lag_ms_max": round(max(late) * 1e3, 2),
        "drift_ms": round(drift * 1e3, 2),
        "to_light_ms": round(to_light * 1e3, 2),
        "marks": options.seconds,
        "flashes": len(flashes),
        "bursts": len(bursts),
        "gaps": gaps,
        "n": len(late),
    }


def main() -> int:
    parser = common.parser("together", __doc__)
    parser.add_argument(
        "--seconds", type=common.count, default=20, help="of the film (default: 20)"
    )
    parser.add_argument(
        "--display-sync",
        action="store_true",
        help="each picture is sent in time for the refresh of the display that is nearest to it",
    )
    options = parser.parse_args()
    if shutil.which(SERVER) is None:
        raise Wanting(f"there is no sound server (package {SERVER})")
    Gst.init(None)
    with tempfile.TemporaryDirectory(prefix="gid-film-", dir=common.memory_folder()) as name:
        with common.cockpit(Path(name), STREAM) as cockpit:
            row = measure(cockpit, options)
    print(
        f"sound after the picture {row['lag_ms']:.1f} ms ({row['lag_ms_min']:.1f} to "
        f"{row['lag_ms_max']:.1f}), drift {row['drift_ms']:.1f} ms; of {row['marks']} marks "
        f"{row['flashes']} seen and {row['bursts']} heard; {row['gaps']} gaps"
    )
    common.write(options.json, [row], {"worst_lag_ms": max(-row["lag_ms_min"], row["lag_ms_max"])})
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
