# SPDX-License-Identifier: MIT
"""Video frames of other programs and machines as numpy arrays, without a copy; and sending them.

    import gid

    with gid.Domain() as domain, domain.consumer("camera/front", owner="open") as camera:
        for frame in camera:
            with frame as picture:  # a read-only array of the memory that the camera wrote
                print(frame.sequence, picture.shape, picture.mean())

docs/python.md says more. `gid.ffi` and `gid.lib` give access to libgid through cffi.
"""

from ._consumer import Consumer
from ._domain import Domain
from ._errors import (
    AccessError,
    DisconnectedError,
    EndOfStream,
    ForkError,
    GidError,
    GidTimeoutError,
    LeaseError,
    NotFoundError,
    ProtectionError,
)
from ._formats import formats
from ._frame import Frame
from ._gid import Pictures, ffi, lib
from ._producer import Producer, Slot

__all__ = [
    "AccessError",
    "Consumer",
    "DisconnectedError",
    "Domain",
    "EndOfStream",
    "ForkError",
    "Frame",
    "GidError",
    "GidTimeoutError",
    "LeaseError",
    "NotFoundError",
    "Pictures",
    "Producer",
    "ProtectionError",
    "Slot",
    "ffi",
    "formats",
    "lib",
]

# Tracebacks show classes under their public names.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
