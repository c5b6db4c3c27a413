# SPDX-License-Identifier: MIT
"""What gid-monitor makes of a drawing, on a display: each picture is live, and no other one."""

import re
import subprocess
from pathlib import Path

import numpy
from lib.cockpit import Cockpit
from lib.display import DISPLAY, Display, start_telltale
from lib.monitor import NO_SANITIZER, make
from lib.program import BUILD, wait_for
from PIL import Image

pytestmark = NO_SANITIZER

X, Y, WIDTH, HEIGHT = 300, 20, 160, 80  # of the indicators, with what --at adds


def designed(cockpit: Cockpit) -> Path:
    folder = cockpit.folder / "telltales"
    make(folder, "--at", "40,20", "--domain", "open", "--deadline-ms", "10000")
    return folder


def display_of(cockpit: Cockpit, folder: Path) -> Display:
    """Files are named from where the configuration lies, which is elsewhere here."""
    roles = re.sub("(?m)^allowed=", f"allowed={folder}/", (folder / "monitor.conf").read_text())
    return Display(cockpit, roles, display=DISPLAY)


def sheet_options(folder: Path) -> list[str]:
    return [
        "--stream",
        "safety/indicators",
        "--sheet",
        str(folder / "indicators.png"),
        "--size",
        f"{WIDTH}x{HEIGHT}",
    ]


def test_each_picture_is_shown(cockpit: Cockpit) -> None:
    folder = designed(cockpit)
    display = display_of(cockpit, folder)
    sheet = numpy.asarray(Image.open(folder / "indicators.png").convert("RGB"))
    for state, picture in enumerate(sheet.reshape(-1, HEIGHT, WIDTH, 3)):
        telltale = start_telltale(cockpit, *sheet_options(folder), "--state", str(state))
        display.wait_role("live", name="indicators")

        def is_shown(picture: numpy.ndarray = picture) -> bool:
            region = display.screenshot()[Y : Y + HEIGHT, X : X + WIDTH]
            return numpy.array_equal(region, picture)

        wait_for(is_shown, f"picture {state}")
        telltale.stop()
        display.wait_role("lost", name="indicators")


def test_another_picture_is_refused(cockpit: Cockpit) -> None:
    """One colour of one pixel is 1 of 255 off."""
    folder = designed(cockpit)
    display = display_of(cockpit, folder)
    sheet = numpy.asarray(Image.open(folder / "indicators.png").convert("RGB")).copy()
    sheet[HEIGHT + 40, 60, 2] ^= 1
    Image.fromarray(sheet).save(folder / "indicators.png")
    start_telltale(cockpit, *sheet_options(folder), "--state", "1")
    wait_for(lambda: display.role("indicators")["refused_frames"] > 0, "a picture that is refused")
    role = display.role("indicators")
    assert (role["state"], role["reason"]) == ("wrong", "not-allowed")


def test_what_is_near_to_the_drawing_is_learned(cockpit: Cockpit) -> None:
    """As a renderer draws that rounds otherwise. What is further from it is left out."""
    folder = designed(cockpit)
    display = display_of(cockpit, folder)
    drawn = folder / "drawn.png"
    (folder / "indicators.png").rename(drawn)
    sheet = numpy.asarray(Image.open(drawn).convert("RGB")).copy()
    for number, far in enumerate((0, 2, 3, 9)):
        sheet[HEIGHT * number + 5, 7, 1] += far
    Image.fromarray(sheet).save(folder / "indicators.png")
    telltale = start_telltale(cockpit, *sheet_options(folder), "--state", "0", "--cycle", "30")
    learned = folder / "learned.hashes"
    command: list[str | Path] = [BUILD / "cluster/gid-cluster", "--config", display.config]
    command += ["--learn", "indicators", "--output", learned, "--seconds", "5"]
    learner = cockpit.run("cluster", [*command, "--like", drawn, "--tolerance", "2"], "learner")
    assert learner.wait() == 0, learner.stderr
    assert "left out: no picture of --like is near to it" in learner.stderr
    assert len(re.findall("^[0-9a-f]{64}$", learned.read_text(), re.MULTILINE)) == 2
    telltale.stop()
    wrong = cockpit.run("cluster", [*command, "--like", folder / "warnings.png"], "wrong")
    assert wrong.wait() == 1
    assert "no PNG with pictures of 160x80 below each other" in wrong.stderr


def test_the_script_shows_all_of_them(cockpit: Cockpit) -> None:
    folder = designed(cockpit)
    display = display_of(cockpit, folder)
    path = {"PATH": f"{BUILD / 'clients'}:/usr/bin"}
    with subprocess.Popen([folder / "show.sh", "100"], env=cockpit.env("open") | path) as script:
        try:
            for name in ("warnings", "indicators"):
                display.wait_role("live", name=name)
            wait_for(lambda: display.role("warnings")["shown_frames"] > 16, "each of them, twice")
            for name in ("warnings", "indicators"):
                reasons = [one["reason"] for one in display.role(name)["transitions"]]
                assert reasons == ["none"]
        finally:
            script.terminate()
    assert script.returncode == 143 or script.returncode == 0, script.returncode
