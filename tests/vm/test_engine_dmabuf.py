# SPDX-License-Identifier: MIT
"""The engine's OpenGL ES reads dma-bufs where they are: in a guest, whose kernel can make some."""

import pytest
from gid_vm.own_kernel import own_kernel, why_no_kernel
from lib.program import BUILD

pytestmark = [
    pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel())),
    pytest.mark.timeout(1800),
]

FORMATS = 5


def test_dmabufs_are_drawn_where_they_are() -> None:
    with own_kernel("open") as guest:
        guest.run(["modprobe", "udmabuf"])  # or it is a part of the kernel
        command = [str(BUILD / "tests/engine/test_engine_gles"), "dmabufs"]
        result = guest.start(command).wait(400)
        print(result.out, result.err)
        lines = result.out.splitlines()
        assert result.code == 0 and not any(line.startswith("not ok") for line in lines)
        assert sum(" in a dma-buf is drawn where it is" in line for line in lines) == FORMATS
