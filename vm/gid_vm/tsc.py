# SPDX-License-Identifier: MIT
"""The frequency of this processor's time stamp counter.

An emulated guest sees the host's counter, and would measure its frequency by a short loop at boot.
On a busy host the result, and so all its clocks, would be wrong by a multiple.
"""

import ctypes
import functools
import mmap
import platform
import time

# rdtsc; shl $32, %rdx; or %rdx, %rax; ret
_READ = bytes.fromhex("0f31 48c1e220 4809d0 c3")
_SECONDS = 0.05
_LOOKS = 50
_PLAUSIBLE_KHZ = range(100_000, 20_000_000)


@functools.cache
def tsc_khz() -> int | None:
    """None: unknown, as for another processor, or if memory cannot be made executable."""
    if platform.machine() != "x86_64":
        return None
    try:
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    code.write(_READ)
    place = ctypes.c_char.from_buffer(code)
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(place))
    begin = _look(read)
    time.sleep(_SECONDS)
    end = _look(read)
    khz = round((end[1] - begin[1]) * 1_000_000 / (end[0] - begin[0]))
    return khz if khz in _PLAUSIBLE_KHZ else None


def _look(read: "ctypes._CFuncPtr") -> tuple[int, int]:
    """The time in ns and the counter, from the reading with the smallest delay between both."""
    looks = []
    for _ in range(_LOOKS):
        before = time.monotonic_ns()
        counter = read()
        after = time.monotonic_ns()
        looks.append((after - before, (before + after) // 2, counter))
    return min(looks)[1:]
