# SPDX-License-Identifier: MIT
"""Pictures with a number that survives every encoder: 16 squares, black or white."""

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

WIDTH, HEIGHT, RATE = 160, 128, 30
SIDE = 20  # of a square, in pixels: two rows of eight
BITS = 16
BLACK, GREY, WHITE = 20, 128, 235
CAPS = f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate={RATE}/1"


def draw(number: int) -> bytes:
    rows = []
    for row in range(BITS * SIDE // WIDTH):
        bits = range(row * WIDTH // SIDE, (row + 1) * WIDTH // SIDE)
        line = b"".join(bytes([WHITE if number >> bit & 1 else BLACK]) * SIDE for bit in bits)
        rows.append(line * SIDE)
    luma = b"".join(rows).ljust(WIDTH * HEIGHT, bytes([GREY]))
    return luma + bytes([GREY]) * (WIDTH * HEIGHT // 2)


def read(buffer: Gst.Buffer, info: GstVideo.VideoInfo) -> int:
    """The number of a picture whose first plane is luma; -1: it cannot be read."""
    meta = GstVideo.buffer_get_video_meta(buffer)
    offset, stride = (meta.offset[0], meta.stride[0]) if meta else (info.offset[0], info.stride[0])
    mapped, memory = buffer.map(Gst.MapFlags.READ)
    if not mapped:
        return -1
    number = 0
    try:
        for bit in range(BITS):
            row, column = divmod(bit, WIDTH // SIDE)
            x, y = column * SIDE + SIDE // 4, row * SIDE + SIDE // 2
            at = offset + y * stride + x
            middle = memory.data[at : at + SIDE // 2]
            level = sum(middle) / len(middle)
            if BLACK + 60 < level < WHITE - 60:
                return -1
            number |= (level > GREY) << bit
    finally:
        buffer.unmap(memory)
    return number
