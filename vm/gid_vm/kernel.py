# SPDX-License-Identifier: MIT
"""Unpacks a Linux image for x86.

The image unpacks itself at boot, which takes an emulated processor over a second: longer than the
firmware and much of the boot. This machine's own processor needs a tenth of a second.
"""

import shutil
import struct
import subprocess
from pathlib import Path

# In the header of the boot protocol: the number of sectors before the code, and the place of the
# packed kernel in that code.
_SETUP_SECTORS, _MAGIC, _PAYLOAD = 0x1F1, 0x202, 0x248
_SECTOR = 512
_ZSTD = b"\x28\xb5\x2f\xfd"
# The note by which QEMU finds the entry point of an unpacked kernel (PVH).
_ENTRY_NOTE = struct.pack("<III4s", 4, 8, 18, b"Xen\0")


def unpack_kernel(image: Path, target: Path) -> Path:
    """Writes the kernel that is packed in `image` to `target` (some 60 MB), and returns `target`.

    If that is not possible, or QEMU could not start it, returns `image`, which always works.
    """
    zstd = shutil.which("zstd")
    packed = _payload(image.read_bytes())
    if zstd is None or not packed.startswith(_ZSTD):
        return image
    # Another user may own the folder, and could have put a link there.
    target.unlink(missing_ok=True)
    with target.open("x+b") as file:
        result = subprocess.run(
            [zstd, "--decompress", "--quiet", "--stdout"],
            input=packed,
            stdout=file,
            stderr=subprocess.DEVNULL,
        )
        file.seek(0)
        if result.returncode == 0 and _ENTRY_NOTE in file.read():
            return target
    target.unlink(missing_ok=True)
    return image


def _payload(image: bytes) -> bytes:
    """The packed kernel; empty if the image is of another kind."""
    if image[_MAGIC : _MAGIC + 4] != b"HdrS" or len(image) < _PAYLOAD + 8:
        return b""
    begin = ((image[_SETUP_SECTORS] or 4) + 1) * _SECTOR
    offset, length = struct.unpack_from("<II", image, _PAYLOAD)
    # The last 4 bytes are its unpacked size, for the unpacker in the image.
    return image[begin + offset : begin + offset + length][:-4]
