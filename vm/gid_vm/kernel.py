# SPDX-License-Identifier: MIT
"""A Linux image for x86 without its packing.

It unpacks itself as it starts, which takes a translated processor over a second: longer than the
firmware and much of the boot. This machine's own processor does it in a tenth of one.
"""

import shutil
import struct
import subprocess
from pathlib import Path

# Of the boot protocol's header: how many sectors lie before the code, and where the packed kernel
# is in that.
_SETUP_SECTORS, _MAGIC, _PAYLOAD = 0x1F1, 0x202, 0x248
_SECTOR = 512
_ZSTD = b"\x28\xb5\x2f\xfd"
# The note by which QEMU knows where to enter a kernel that is not packed (PVH).
_ENTRY_NOTE = struct.pack("<III4s", 4, 8, 18, b"Xen\0")


def unpack_kernel(image: Path, target: Path) -> Path:
    """Writes what is packed in `image` to `target`, which it returns: some 60 MB.

    Where that cannot be done, or QEMU could not start it, the answer is `image`, which always can
    be started.
    """
    zstd = shutil.which("zstd")
    packed = _payload(image.read_bytes())
    if zstd is None or not packed.startswith(_ZSTD):
        return image
    # Its folder may be another's, who could have put a link there.
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
    """The packed kernel; nothing where the image is of another kind."""
    if image[_MAGIC : _MAGIC + 4] != b"HdrS" or len(image) < _PAYLOAD + 8:
        return b""
    begin = ((image[_SETUP_SECTORS] or 4) + 1) * _SECTOR
    offset, length = struct.unpack_from("<II", image, _PAYLOAD)
    # Its last 4 bytes say how long it will be, for the unpacker in the image.
    return image[begin + offset : begin + offset + length][:-4]
