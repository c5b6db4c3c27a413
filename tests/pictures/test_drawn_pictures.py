# SPDX-License-Identifier: MIT
"""Every format in all colours, drawn in each of the ways that displays and the engine have.

gid-view, gid-cluster, Weston's module and gidctl convert by convert/; gid-compose and gidcompose
have the engine draw, by pixman or by OpenGL ES; wlroots/ has a device draw by weights.
"""

import re
import struct
import subprocess

import numpy
import pytest
from lib.picture_formats import FORMATS, GREY, SAMPLES
from lib.picture_table import HEIGHT, WIDTH, Case, cases, is_yuv
from lib.program import BUILD, PATIENCE, TOP

DRAW = BUILD / "tests" / "pictures" / "draw-pictures"
CASES = cases()


def drawn(way: str) -> list[numpy.ndarray | None]:
    """What this way makes of each of the pictures; None: it refuses the format."""
    packed = b"".join(
        case.fourcc.encode()
        + struct.pack("<5I", WIDTH, HEIGHT, case.matrix, case.range, len(case.data))
        + case.data
        for case in CASES
    )
    run = subprocess.run([DRAW, way], input=packed, capture_output=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr.decode()
    found: list[numpy.ndarray | None] = []
    at = 0
    while at < len(run.stdout):
        (is_drawn,) = struct.unpack_from("<I", run.stdout, at)
        at += 4
        if is_drawn:
            pixels = numpy.frombuffer(run.stdout, numpy.uint8, WIDTH * HEIGHT * 4, at)
            found.append(pixels.reshape(HEIGHT, WIDTH, 4)[:, :, 2::-1])
            at += WIDTH * HEIGHT * 4
        else:
            found.append(None)
    return found


def off(case: Case, pixels: numpy.ndarray) -> float:
    return float(numpy.abs(pixels - case.rgb).max())


@pytest.mark.parametrize(
    ("way", "refused"),
    [
        ("convert", set()),
        ("pixman", GREY),
        ("gles", GREY),
        ("weights", set(FORMATS) - set(SAMPLES)),
    ],
)
def test_the_pixels_are_those_of_the_standards(way: str, refused: set[str]) -> None:
    found = drawn(way)
    assert len(found) == len(CASES)
    wrong = []
    for case, pixels in zip(CASES, found, strict=True):
        if pixels is None:
            assert case.fourcc in refused, f"{case} is refused"
        else:
            assert case.fourcc not in refused
            if off(case, pixels) > 1:
                wrong.append(f"{case}: {off(case, pixels):.1f} of 255")
    assert wrong == []


def names(text: str) -> set[str]:
    return set(re.findall(r"\bDRM_FORMAT_([A-Z]+[0-9]*F?)\b", text))


def test_a_new_format_is_one_row() -> None:
    """No other file of the product names a format of YUV, but the one that has PipeWire's names."""
    table = TOP / "libgid" / "format.c"
    rows = re.findall(r"^\t(\w+)\((\w+), (\w+)", table.read_text(), re.M)
    assert len(rows) == len(FORMATS)
    yuv = {name for macro, name, kind in rows if macro != "WORD" or kind == "YUV"}
    assert len(yuv) == len({case.fourcc for case in CASES if is_yuv(case.fourcc)})
    folders = ["libgid", "convert", "engine", "wlroots", "compositor", "weston-plugin", "kms"]
    folders += ["cluster", "gst", "clients", "tools/gid-compose", "tools/gidctl"]
    folders += ["tools/gid-recorder"]
    naming = {
        str(file.relative_to(TOP))
        for folder in folders
        for file in (TOP / folder).rglob("*.[ch]")
        if names(file.read_text()) & yuv
    }
    assert naming == {"libgid/format.c", "clients/gid-pipewire/video_formats.c"}
