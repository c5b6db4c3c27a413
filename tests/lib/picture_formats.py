# SPDX-License-Identifier: MIT
"""Pictures of all formats that gidway knows, packed as drm_fourcc.h describes them."""

import struct
from collections.abc import Callable

import numpy as np

# Words: the components from the highest bit down, as in drm_fourcc.h; x is not looked at.
WORDS = {
    **{"XR24": "x8 R8 G8 B8", "AR24": "A8 R8 G8 B8", "XB24": "x8 B8 G8 R8", "AB24": "A8 B8 G8 R8"},
    **{"RX24": "R8 G8 B8 x8", "RA24": "R8 G8 B8 A8", "BX24": "B8 G8 R8 x8", "BA24": "B8 G8 R8 A8"},
    **{"RG24": "R8 G8 B8", "BG24": "B8 G8 R8", "RG16": "R5 G6 B5", "BG16": "B5 G6 R5"},
    **{"XR15": "x1 R5 G5 B5", "AR15": "A1 R5 G5 B5", "XB15": "x1 B5 G5 R5"},
    **{"XR12": "x4 R4 G4 B4", "AR12": "A4 R4 G4 B4"},
    **{"XR30": "x2 R10 G10 B10", "AR30": "A2 R10 G10 B10"},
    **{"XB30": "x2 B10 G10 R10", "AB30": "A2 B10 G10 R10"},
    **{"RX30": "R10 G10 B10 x2", "RA30": "R10 G10 B10 A2"},
    **{"BX30": "B10 G10 R10 x2", "BA30": "B10 G10 R10 A2"},
    **{"XR48": "x16 R16 G16 B16", "AR48": "A16 R16 G16 B16"},
    **{"XB48": "x16 B16 G16 R16", "AB48": "A16 B16 G16 R16"},
    **{
        "XR4H": "x16 Rh Gh Bh",
        "AR4H": "Ah Rh Gh Bh",
        "XB4H": "x16 Bh Gh Rh",
        "AB4H": "Ah Bh Gh Rh",
    },
    **{"R8  ": "R8", "R16 ": "R16", "GR88": "G8 R8"},
    **{"AYUV": "A8 Y8 U8 V8", "XYUV": "x8 Y8 U8 V8", "VU24": "Y8 U8 V8"},
    **{"Y410": "A2 V10 Y10 U10", "Y416": "A16 V16 Y16 U16"},
    **{"Y412": "A12 x4 V12 x4 Y12 x4 U12 x4"},
}
GREY = {"R8  ", "R16 "}

# Samples in the order of memory, plane after plane; behind a plane how many pixels share a sample.
SAMPLES = {
    **{"NV12": "Y UV/2x2", "NV21": "Y VU/2x2", "NV16": "Y UV/2x1", "NV61": "Y VU/2x1"},
    **{"NV24": "Y UV/1x1", "NV42": "Y VU/1x1"},
    **{"P010": "Y UV/2x2", "P012": "Y UV/2x2", "P016": "Y UV/2x2"},
    **{"YUV9": "Y U/4x4 V/4x4", "YVU9": "Y V/4x4 U/4x4"},
    **{"YU11": "Y U/4x1 V/4x1", "YV11": "Y V/4x1 U/4x1"},
    **{"YU12": "Y U/2x2 V/2x2", "YV12": "Y V/2x2 U/2x2"},
    **{"YU16": "Y U/2x1 V/2x1", "YV16": "Y V/2x1 U/2x1"},
    **{"YU24": "Y U/1x1 V/1x1", "YV24": "Y V/1x1 U/1x1", "Q410": "Y U V", "Q401": "Y V U"},
    **{"S010": "Y U/2x2 V/2x2", "S210": "Y U/2x1 V/2x1", "S410": "Y U V"},
    **{"S012": "Y U/2x2 V/2x2", "S212": "Y U/2x1 V/2x1", "S412": "Y U V"},
    **{"S016": "Y U/2x2 V/2x2", "S216": "Y U/2x1 V/2x1", "S416": "Y U V"},
    **{"YUYV": "YUYV/2x1", "YVYU": "YVYU/2x1", "UYVY": "UYVY/2x1", "VYUY": "VYUY/2x1"},
    **{"Y210": "YUYV/2x1", "Y212": "YUYV/2x1", "Y216": "YUYV/2x1"},
}
# Samples of two bytes: the lowest bits are empty, but in the decoders' own formats the highest.
BITS = {"P010": 10, "P012": 12, "P016": 16, "Q410": 10, "Q401": 10, "Y210": 10, "Y212": 12}
BITS |= {"Y216": 16} | {f"S{kind}{bits}": bits for kind in "024" for bits in (10, 12, 16)}

FORMATS = [*WORDS, *SAMPLES]

Colour = dict[str, float]  # R, G, B, A, and Y, U, V, each from 0 to 1


def colour(red: int, green: int, blue: int, alpha: float = 1) -> Colour:
    """Of 0 to 255. YUV is BT.601 of limited range."""
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    return {
        "R": red / 255,
        "G": green / 255,
        "B": blue / 255,
        "A": alpha,
        "Y": (16 + luma * 219 / 255) / 256,
        "U": (128 + (blue - luma) / 1.772 * 224 / 255) / 256,
        "V": (128 + (red - luma) / 1.402 * 224 / 255) / 256,
    }


def code(colour: Colour, name: str, bits: int) -> int:
    if name in "YUV":  # a code of 8 bits, with more behind it
        return min(round(colour[name] * 2**bits), 2**bits - 1)
    return round(colour[name] * (2**bits - 1))


def word(fourcc: str, colour: Colour) -> bytes:
    value = bits = 0
    for part in WORDS[fourcc].split():
        name, size = part[0], 16 if part[1:] == "h" else int(part[1:])
        if part[1:] == "h":
            (one,) = struct.unpack("<H", struct.pack("<e", colour[name]))
        else:
            one = 2**size - 1 if name == "x" else code(colour, name, size)  # x may be anything
        value = value << size | one
        bits += size
    return value.to_bytes(bits // 8, "little")


def sample(fourcc: str, colour: Colour, name: str) -> bytes:
    bits = BITS.get(fourcc, 8)
    value = code(colour, name, bits)
    if bits > 8 and fourcc[0] != "S":
        value <<= 16 - bits
    return value.to_bytes(1 if bits == 8 else 2, "little")


def pack(fourcc: str, width: int, height: int, at: Callable[[int, int], Colour]) -> bytes:
    """A picture, rows without padding. Pixels that share samples are to have one colour."""
    if fourcc in WORDS:
        return b"".join(word(fourcc, at(x, y)) for y in range(height) for x in range(width))
    planes = b""
    for plane in SAMPLES[fourcc].split():
        names, _, shared = plane.partition("/")
        across, down = map(int, (shared or "1x1").split("x"))
        for y in range(0, height, down):
            for x in range(0, width, across):
                planes += b"".join(sample(fourcc, at(x, y), name) for name in names)
    return planes


def expected(fourcc: str, colour: Colour) -> tuple[int, int, int]:
    red, green, blue = (round(colour[name] * 255) for name in "RGB")
    if fourcc in GREY:
        return red, red, red
    return (red, green, 0) if fourcc == "GR88" else (red, green, blue)


def tolerance(fourcc: str) -> int:
    """Of 255: a step of the format, and what rounding of YUV may do."""
    few = min((int(part[1:]) for part in WORDS.get(fourcc, "").split() if part[0] in "RGB"
               and part[1:] != "h"), default=8)  # fmt: skip
    return max(3, 255 // (2**few - 1) // 2 + 1)


def same(fourcc: str, shown: np.ndarray, at: Callable[[int, int], Colour]) -> bool:
    height, width = shown.shape[:2]
    wanted = np.array([[expected(fourcc, at(x, y)) for x in range(width)] for y in range(height)])
    return int(np.abs(shown[:, :, :3].astype(int) - wanted).max()) <= tolerance(fourcc)
