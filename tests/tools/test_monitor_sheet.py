# SPDX-License-Identifier: MIT
"""gid-monitor of PNGs with a table: what it makes of them is what they show, and it is tried as any
drawing."""

import json
import re
import shutil
from pathlib import Path

import numpy
import pytest
from lib.monitor import NO_SANITIZER, make, monitor
from PIL import Image, ImageDraw

pytestmark = NO_SANITIZER

FRAMES = 700  # of each: as designed, and not
SMOOTH = 4  # so many times as large things are drawn, for soft edges
LAMPS = {"brake": (6, 8), "oil": (70, 8)}  # where they lie, within the role
SIZE = (128, 64)
TABLE = """# as it was exported
[role warnings]
x=20
base=base plate.png
unlit-brake=lamps/brake off.png at 6,8
lamp-brake=lamps/brake on.png at 6,8
unlit-oil=lamps/oil off.png at 70,8
lamp-oil=lamps/oil on.png at 70,8

[role gear]
x=200
y=4
base=gear/none.png
states=P R N
lamp-P=gear/P.png
lamp-R=gear/R.png
lamp-N=gear/N.png
"""


def lamp(name: str, colour: tuple[int, int, int]) -> Image.Image:
    """A symbol with soft edges and a shine, on nothing."""
    width, height = 52 * SMOOTH, 48 * SMOOTH
    large = Image.new("RGBA", (width, height))
    draw = ImageDraw.Draw(large)
    draw.ellipse((0, 0, width - 1, height - 1), fill=(*colour, 60))
    draw.ellipse((40, 40, width - 40, height - 40), outline=(*colour, 255), width=20)
    draw.text((70, 50), name[0], fill=(*colour, 255), font_size=90)
    return large.resize((width // SMOOTH, height // SMOOTH), Image.Resampling.BOX)


def plate(size: tuple[int, int], letter: str = "") -> Image.Image:
    """All of it opaque."""
    found = Image.new("RGB", size, (5, 7, 10))
    draw = ImageDraw.Draw(found)
    draw.line((0, size[1] - 3, size[0], size[1] - 9), fill=(40, 44, 50), width=2)
    if letter:
        draw.text((8, 2), letter, fill=(240, 240, 240), font_size=30)
    return found


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """The table, with its pictures beside it."""
    for folder in ("lamps", "gear"):
        (tmp_path / folder).mkdir()
    plate(SIZE).save(tmp_path / "base plate.png")
    for name in LAMPS:
        lamp(name, (70, 20, 18)).save(tmp_path / f"lamps/{name} off.png")
        lamp(name, (255, 42, 26)).save(tmp_path / f"lamps/{name} on.png")
    plate((40, 40)).save(tmp_path / "gear/none.png")
    for letter in "PRN":
        plate((40, 40), letter).save(tmp_path / f"gear/{letter}.png")
    table = tmp_path / "telltales.ini"
    table.write_text(TABLE)
    return table


def states_of(folder: Path, role: str) -> list[str]:
    summary = json.loads((folder / "monitor.json").read_text())
    (found,) = (one["states"] for one in summary["roles"] if one["name"] == role)
    return found


def pictures(folder: Path, role: str) -> dict[str, numpy.ndarray]:
    """Of each state, as its sheet has it."""
    states = states_of(folder, role)
    rows = numpy.asarray(Image.open(folder / f"{role}.png").convert("RGB")).astype(int)
    return dict(zip(states, numpy.split(rows, len(states)), strict=True))


def differ(one: numpy.ndarray, other: Image.Image) -> int:
    return int(numpy.abs(one - numpy.asarray(other.convert("RGB")).astype(int)).max())


def test_each_state_is_what_its_pictures_show(exported: Path) -> None:
    """Put above each other by another program."""
    out = exported.parent / "out"
    make(out, "--at", "100,50", drawing=exported)
    assert states_of(out, "gear") == ["P", "R", "N"]
    warnings = pictures(out, "warnings")
    assert list(warnings) == ["off", "brake", "oil", "brake+oil"]
    for state, found in warnings.items():
        wanted = Image.open(exported.parent / "base plate.png").convert("RGBA")
        for name, place in LAMPS.items():
            which = "on" if name in state else "off"
            wanted.alpha_composite(Image.open(exported.parent / f"lamps/{name} {which}.png"), place)
        assert differ(found, wanted) <= 2, state
    for state, found in pictures(out, "gear").items():
        assert differ(found, Image.open(exported.parent / f"gear/{state}.png")) == 0, state
    config = (out / "monitor.conf").read_text()
    assert re.search(r"\[role warnings\]\nx=120\ny=50\nwidth=128\nheight=64\n", config)
    assert re.search(r"\[role gear\]\nx=300\ny=54\nwidth=40\nheight=40\n", config)


def test_every_change_is_seen(exported: Path) -> None:
    """By what was made alone: the pictures may be gone."""
    out = exported.parent / "out"
    make(out, drawing=exported)
    for folder in ("lamps", "gear"):
        shutil.rmtree(exported.parent / folder)
    done = monitor("test", out, "--frames", str(FRAMES), "--json", out / "trial.json")
    assert done.returncode == 0, done.stdout + done.stderr
    tried = json.loads((out / "trial.json").read_text())
    assert tried["false_alarms"] == 0 and sum(tried["as_designed"].values()) == FRAMES
    assert len(tried["changed"]) == 8
    for kind, told in tried["changed"].items():
        assert told["missed"] == 0 and told["seen"] == told["frames"], kind
        if kind != "another renderer":
            assert told["frames"] > FRAMES // 7 * 0.9, kind


MODES = ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"]


@pytest.mark.parametrize("mode", MODES)
def test_any_kind_of_png(exported: Path, mode: str) -> None:
    """Of a gear's picture, with all that such a file can have."""
    picture = plate((40, 40), "P").convert("L")
    if mode == "I;16":  # 257 times as much is the same grey
        grey = numpy.asarray(picture).astype(numpy.uint16) * 257
        Image.fromarray(grey).save(exported.parent / "gear/P.png")
    else:
        picture = picture.convert(mode)
        picture.save(exported.parent / "gear/P.png")
    make(exported.parent / "out", drawing=exported)
    found = pictures(exported.parent / "out", "gear")["P"]
    assert differ(found, picture.convert("RGB")) == 0


MISTAKES = {
    "no table": ("[role warnings]", "warnings", "no section headers"),
    "another section": ("[role gear]", "[gear]", "[gear] is not [role NAME]"),
    "a section twice": ("[role gear]", "[role warnings]", "already exists"),
    "a key twice": ("lamp-R=", "lamp-P=", "already exists"),
    "an unknown key": ("states=", "state=", "role gear: state is none of x y base states"),
    "no base": ("base=gear/none.png\n", "", "role gear: base=: there is no such file"),
    "a base that is placed": ("none.png", "none.png at 1,1", "none.png at 1,1: there is no such"),
    "no picture": ("gear/P.png", "gear/D.png", "lamp-P=gear/D.png: there is no such file"),
    "a folder": ("gear/P.png", "gear", "lamp-P=gear: there is no such file"),
    "no PNG": ("gear/P.png", "telltales.ini", "telltales.ini: "),
    "a lamp that leaves the base": (
        "oil on.png at 70,8",
        "oil on.png at 77,8",
        "lamp-oil: 52x48 pixels at 77,8 leave the base, of 128x64",
    ),
    "a place that is none": ("x=200", "x=-2", "role gear: x=-2 is no place in pixels"),
    "roles in one place": ("x=200", "x=140", "have places in common"),
    "a name that is none": ("lamp-R=", "lamp-R&D=", "a name has letters, digits, _ and -"),
    "a state that is none": ("states=P", "states=D P", "D is not of its lamps"),
    "no roles": (TABLE, "", "no group is called role-NAME"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_of_a_table(exported: Path, mistake: str) -> None:
    old, new, said = MISTAKES[mistake]
    assert old in TABLE
    exported.write_text(TABLE.replace(old, new))
    refused(exported, said)


def refused(table: Path, said: str) -> None:
    out = table.parent / "out"
    done = monitor("make", table, "--out", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and "Traceback" not in done.stderr
    assert not out.exists(), "nothing is half made"


def test_pictures_that_cannot_be(exported: Path) -> None:
    lit = exported.parent / "lamps/oil on.png"
    whole = lit.read_bytes()
    lit.write_bytes(whole[: len(whole) // 2])
    refused(exported, "oil on.png: ")
    Image.new("RGBA", (52, 48)).save(lit)
    refused(exported, "role-warnings: lamp-oil cannot be seen")
    lit.write_bytes(whole + bytes(4 << 20))
    refused(exported, "oil on.png: it has more than 4 MiB")
    lit.write_bytes(whole)
    lamp("base", (1, 2, 3)).resize(SIZE).save(exported.parent / "base plate.png")
    refused(exported, "role-warnings: its region can be seen through")


def test_the_table_is_that_of_the_manual(exported: Path) -> None:
    """A user copies it."""
    manual = (Path(__file__).parents[2] / "tools/gid-monitor/gid-monitor.1.scd").read_text()
    (table,) = re.findall(r"^```\n(\[role .*?)^```", manual, re.MULTILINE | re.DOTALL)
    for name in re.findall(r"=(\S+\.png)", table):
        path = exported.parent / name
        path.parent.mkdir(exist_ok=True)
        size = SIZE if name.endswith("base.png") else (40, 40)
        picture = plate(size) if name.endswith("base.png") else lamp(path.stem, (200, 90, 9))
        picture.resize(size).save(path)
    for off in exported.parent.rglob("*-off.png"):
        lamp(off.stem, (60, 20, 9)).resize((40, 40)).save(off)
    exported.write_text(table)
    make(exported.parent / "out", drawing=exported)
