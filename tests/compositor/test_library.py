# SPDX-License-Identifier: MIT
"""The library for compositors on wlroots: what it exports, and its example, which shows streams."""

import subprocess

import numpy
from lib.cockpit import Cockpit
from lib.display import HEIGHT, WIDTH, start_telltale, telltale_picture
from lib.program import BUILD, wait_for
from PIL import Image


def test_the_example(cockpit: Cockpit) -> None:
    """It shows a stream, and outlives its producer."""
    socket = cockpit.folder / "example.sock"
    example = cockpit.run("cluster", [BUILD / "examples" / "compositor", socket])
    example.wait_output("ready")
    movie = start_telltale(cockpit, "--stream", "movie", "--state", "6")
    command = [BUILD / "clients" / "gid-view", "--domain", "open", "--stream", "movie"]
    cockpit.run("cluster", command, WAYLAND_DISPLAY=str(socket))
    picture = telltale_picture(cockpit.folder, 6)

    def shown() -> bool:
        path = cockpit.folder / "example.png"
        grim = cockpit.run("cluster", ["grim", path], WAYLAND_DISPLAY=str(socket))
        assert grim.wait() == 0, grim.stderr
        seen = numpy.asarray(Image.open(path).convert("RGB"))
        return numpy.array_equal(seen[:HEIGHT, :WIDTH], picture)

    wait_for(shown, "the stream's picture")
    movie.kill()
    assert example.stop() == 0


def test_its_names() -> None:
    """A compositor that links with it has names of its own."""
    library = BUILD / "wlroots" / "libgid-wlroots.a"
    command = ["nm", "--extern-only", "--defined-only", "--format=posix", library]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listing.splitlines() if " T " in line or " D " in line]
    assert names == ["gid_buffer_manager_create", "gid_buffer_manager_leave_yuv_to_driver"]
