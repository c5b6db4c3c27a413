# SPDX-License-Identifier: MIT
"""Somebody has filled /dev/shm, where all may write: a display that is started then shows all that
it has to.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import lib.cockpit
import numpy
import pytest
from lib import own_mount
from lib.cockpit import Cockpit
from lib.display import Display, start_telltale, telltale_picture
from lib.program import wait_for

SHM = Path("/dev/shm")
BYTES = 64 << 10


@pytest.fixture
def full() -> Iterator[None]:
    """For this process and what it starts."""
    try:
        own_mount.mount(SHM, f"size={BYTES},mode=1777")
    except OSError as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    with (SHM / "others").open("wb", 0) as file:
        file.write(bytes(BYTES))
    yield
    own_mount.unmount(SHM)


def test_a_display_that_starts(
    full: None, make_cockpit: Callable[..., Cockpit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lib.cockpit, "memory_folder", lambda: Path("/tmp"))
    cockpit = make_cockpit()
    cockpit.start_all()
    display = Display(cockpit)
    start_telltale(cockpit, "--state", "7")
    display.wait_role("live")
    picture = telltale_picture(cockpit.folder, 7)
    wait_for(lambda: numpy.array_equal(display.region(), picture), "the telltale")
    assert display.program.stop() == 0, display.program.stderr
