# SPDX-License-Identifier: MIT
"""Pictures in every kind of format, with what the standards say of their samples."""

import subprocess
from pathlib import Path

import numpy
from lib.program import BUILD, PATIENCE

RAW_ROLE = BUILD / "tests/lib/programs/raw-role"
UNKNOWN, FULL, LIMITED = 0, 1, 2
BT709, BT601, BT2020 = 1, 6, 9

# GStreamer's name, and DRM's.
FORMATS = {
    "NV12": "NV12",
    "NV21": "NV21",
    "NV16": "NV16",
    "NV24": "NV24",
    "I420": "YU12",
    "YV12": "YV12",
    "Y42B": "YU16",
    "Y444": "YU24",
    "YUY2": "YUYV",
    "YVYU": "YVYU",
    "UYVY": "UYVY",
    "P010_10LE": "P010",
    "I420_10LE": "S010",
    "I422_10LE": "S210",
    "Y444_10LE": "S410",
    "I420_12LE": "S012",
    "I422_12LE": "S212",
    "Y444_12LE": "S412",
    "Y444_16LE": "S416",
    "xBGR": "RX24",
    "RGBx": "XB24",
    "BGR": "RG24",
    "RGB": "BG24",
    "RGB16": "RG16",
    "BGRx": "XR24",
}
# What a picture's colorimetry is to GStreamer, and the matrix and range of a layout.
COLOURS = {
    "bt601 limited": ("2:4:16:4", BT601, LIMITED),
    "bt601 full": ("1:4:16:4", BT601, FULL),
    "bt709 limited": ("2:3:5:1", BT709, LIMITED),
    "bt709 full": ("1:3:5:1", BT709, FULL),
    "bt2020 limited": ("2:6:5:1", BT2020, LIMITED),
}


WEIGHTS = {BT601: (0.299, 0.114), BT709: (0.2126, 0.0722), BT2020: (0.2627, 0.0593)}
CELL = 8  # pixels


class Picture:
    """Coloured cells, as GStreamer has them in a format and as red, green and blue.

    GStreamer unpacks the format. The equations are those of ITU-R BT.601, 709 and 2020, for its
    own matrices are off by up to 5.6 of 255 on its ways to 8 bits, and by 2.1 on those to 16.
    """

    def __init__(
        self, folder: Path, name: str, colours: tuple[str, int, int], width: int, height: int
    ) -> None:
        colorimetry, matrix, value_range = colours
        self.path, self.name, self.width, self.height = folder / "picture", name, width, height
        source = folder / "source"
        cells = numpy.random.default_rng(7).integers(
            16, 240, (-(-height // CELL), -(-width // CELL), 4), numpy.uint8
        )
        source.write_bytes(cells.repeat(CELL, 0).repeat(CELL, 1)[:height, :width].tobytes())
        is_rgb = FORMATS[name] in ("RX24", "XB24", "RG24", "BG24", "RG16", "XR24")
        said = "" if is_rgb else f",colorimetry={colorimetry}"
        self.convert(source, self.raw("BGRx"), self.path, self.raw(name) + said)
        wide = folder / "wide"
        unpacked = self.raw("GBR_16LE" if is_rgb else "Y444_16LE") + said
        self.convert(self.path, self.raw(name) + said, wide, unpacked)
        planes = numpy.frombuffer(wide.read_bytes(), "<u2").reshape(3, height, width)
        if is_rgb:
            self.rgb = planes[[2, 0, 1]].transpose(1, 2, 0) / 257
        else:
            # GStreamer repeats the upper bits in those that 16 bits have more.
            bits = int(name[-4:-2]) if name.endswith("LE") else 8
            codes = (planes >> (16 - bits)) / (1 << (bits - 8))
            self.rgb = self.equations(codes, matrix, value_range)
        # It mixes the colours of neighbours where pixels share samples: not away from the edges.
        inside = abs(numpy.arange(max(width, height)) % CELL - (CELL - 1) / 2) < 2
        self.inside = inside[:height, None] & inside[None, :width]

    @staticmethod
    def equations(planes: numpy.ndarray, matrix: int, value_range: int) -> numpy.ndarray:
        red, blue = WEIGHTS[matrix]
        full = value_range == FULL
        luma = planes[0] if full else (planes[0].astype(float) - 16) * 255 / 219
        u, v = (planes[1:].astype(float) - 128) * (1 if full else 255 / 224)
        r, b = luma + 2 * (1 - red) * v, luma + 2 * (1 - blue) * u
        g = (luma - red * r - blue * b) / (1 - red - blue)
        return numpy.clip(numpy.stack([r, g, b], -1), 0, 255)

    def raw(self, name: str) -> str:
        return f"video/x-raw,format={name},width={self.width},height={self.height},framerate=1/1"

    @staticmethod
    def convert(source: Path, caps: str, result: Path, wanted: str) -> None:
        size = source.stat().st_size
        pipeline = f"filesrc location={source} blocksize={size} ! {caps} ! videoconvert dither=none"
        pipeline += f" ! {wanted} ! filesink location={result}"
        subprocess.run(["gst-launch-1.0", "-q", *pipeline.split()], check=True, timeout=PATIENCE)
