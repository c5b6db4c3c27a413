# SPDX-License-Identifier: MIT
"""What the pixels of a frame mean, by BT.601's equations, and how far a screen is from that."""

import numpy

# Of narrow range: what YUV means where nothing says so. gid-view tells it to a Weston that asks.
BT601 = numpy.array(
    [[1.164384, 0, 1.596027], [1.164384, -0.391762, -0.812968], [1.164384, 2.017232, 0]]
)


def plane(data: bytes, offset: int, stride: int, rows: int) -> numpy.ndarray:
    return numpy.frombuffer(data, numpy.uint8, stride * rows, offset).reshape(rows, stride)


def components(data: bytes, case: dict) -> list[numpy.ndarray]:
    """Y, U and V of a frame in GStreamer's own layout, chroma repeated for all its pixels."""
    width, height = case["width"], case["height"]
    if case["format"] == "YUY2":
        rows = plane(data, 0, (width * 2 + 3) // 4 * 4, height)
        y, u, v = rows[:, ::2], rows[:, 1::4].repeat(2, axis=1), rows[:, 3::4].repeat(2, axis=1)
        return [part[:, :width] for part in (y, u, v)]
    stride = (width + 3) // 4 * 4
    y = plane(data, 0, stride, height)[:, :width]
    if case["format"] == "NV12":
        chroma = plane(data, stride * height, stride, height // 2)
        u, v = (chroma[:, i:width:2] for i in (0, 1))
    else:
        half = (width // 2 + 3) // 4 * 4
        size = half * (height // 2)
        u, v = (
            plane(data, stride * height + i * size, half, height // 2)[:, : width // 2]
            for i in (0, 1)
        )
    return [y, *(c.repeat(2, axis=0).repeat(2, axis=1) for c in (u, v))]


def reference(data: bytes, case: dict) -> numpy.ndarray:
    """The frame as blue, green, red."""
    if case["format"] == "BGRx":
        pixels = plane(data, 0, case["width"] * 4, case["height"])
        return pixels.reshape(case["height"], case["width"], 4)[..., :3].astype(float)
    yuv = numpy.stack(components(data, case), axis=-1)
    return numpy.clip((yuv - numpy.array([16.0, 128, 128])) @ BT601.T, 0, 255)[..., ::-1]


def compare(seen: numpy.ndarray, expected: numpy.ndarray) -> dict:
    error = numpy.abs(seen - expected[: len(seen), : len(seen[0])])
    return {
        "largest": float(error.max()),
        "mean": float(error.mean()),
        "colours": len(numpy.unique(seen.reshape(-1, 3), axis=0)),
    }
