# SPDX-License-Identifier: MIT
"""gid-monitor: what it makes of a drawing, and that gid-cluster's own code sees other pictures."""

import base64
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy
import pytest
from lib.monitor import DRAWING, NO_SANITIZER, make, monitor
from lib.program import BUILD, TOP
from PIL import Image

pytestmark = NO_SANITIZER

FRAMES = 700  # of each: as designed, and not

ROLE = """<svg xmlns="http://www.w3.org/2000/svg" width="64" height="32">
<g id="role-oil"><rect width="64" height="32" fill="#000"/>
<circle id="unlit-oil" cx="32" cy="16" r="9" fill="#400"/>
<circle id="lamp-oil" cx="32" cy="16" r="9" fill="#f00"/></g></svg>
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "telltales"
    make(folder, "--at", "40,20", "--domain", "open", "--output", "left", "--deadline-ms", "100")
    return folder


@pytest.fixture(scope="module")
def tried(made: Path) -> dict:
    """What a trial has found out."""
    file = made / "trial.json"
    done = monitor("test", made, "--frames", str(FRAMES), "--json", file)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(file.read_text())


def test_gid_cluster_takes_the_configuration(made: Path) -> None:
    config = made / "cluster.conf"
    config.write_text(
        "[output left]\nwidth=640\nheight=240\n" + (made / "monitor.conf").read_text()
    )
    command = [BUILD / "cluster/gid-cluster", "--headless", "--check", "--config", config]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "x=300\ny=20\nwidth=160\nheight=80\ndeadline-ms=100\n" in config.read_text()


def test_a_picture_for_each_state(made: Path) -> None:
    states = {"warnings": 8, "indicators": 4}
    for name, count in states.items():
        width = 240 if name == "warnings" else 160
        sheet = Image.open(made / f"{name}.png")
        assert sheet.size == (width, 80 * count)
        pictures = numpy.asarray(sheet.convert("RGB")).reshape(count, -1)
        assert len({picture.tobytes() for picture in pictures}) == count
        told = re.findall(
            r"^[0-9a-f]{64} # (\S+) by (.*)$", (made / f"{name}.hashes").read_text(), re.MULTILINE
        )
        assert len({state for state, _ in told}) == count
        for renderer in ("librsvg", "pixman", "gl"):
            assert sum(renderer in by.split(", ") for _, by in told) == count


def test_what_is_drawn_is_what_was_designed(made: Path) -> None:
    """Of the arrows, which states have which: lit they are bright, each in its half."""
    sheet = numpy.asarray(Image.open(made / "indicators.png").convert("RGB"))
    summary = json.loads((made / "monitor.json").read_text())
    (states,) = (role["states"] for role in summary["roles"] if role["name"] == "indicators")
    for number, state in enumerate(states):
        green = sheet[80 * number : 80 * number + 80, :, 1]
        lit = {
            name
            for name, half in (("left", green[:, :80]), ("right", green[:, 80:]))
            if half.max() > 200
        }
        assert lit == set(state.split("+")) - {"off"}


def test_every_change_is_seen(tried: dict) -> None:
    changed = tried["changed"]
    assert len(changed) == 8
    for kind, told in changed.items():
        assert told["missed"] == 0 and told["seen"] == told["frames"], kind
    others = changed.pop("another renderer")
    assert others["frames"] + others["made_no_difference"] == 2 * (8 + 4)
    assert others["frames"] > 0, "rounded otherwise, some pixels are"
    for kind, told in changed.items():
        drawn = told["frames"] + told["made_no_difference"]
        assert drawn == FRAMES // 7 and told["frames"] > drawn * 0.9, kind
        if kind not in ("stale", "one lamp missing", "two lamps swapped"):
            assert told["different_pictures"] > 20, kind
    assert set(changed["stale"]["reasons"]) == {"old-frame", "age", "deadline"}
    assert set(changed["a picture of another size"]["reasons"]) == {"layout"}


def test_no_false_alarm_by_any_renderer(tried: dict) -> None:
    assert tried["false_alarms"] == 0
    assert sum(tried["as_designed"].values()) == FRAMES
    assert min(tried["as_designed"].values()) >= FRAMES // 3 - 2
    assert tried["as_designed"].keys() == {"librsvg", "pixman", "gl"} == tried["renderers"].keys()


def test_chance_can_be_repeated(made: Path) -> None:
    def table(seed: str) -> str:
        return monitor("test", made, "--frames", "28", "--seed", seed).stdout

    assert table("1") == table("1") != table("2")


def test_what_is_not_seen_is_told(tmp_path: Path) -> None:
    """Without what is seen of a lamp that is not lit, one that is missing is no other picture."""
    drawing = tmp_path / "one.svg"
    drawing.write_text(re.sub(r"<circle id=.unlit.*\n", "", ROLE))
    done = monitor("make", drawing, "--out", tmp_path / "out")
    assert done.returncode == 0 and "without unlit-oil" in done.stdout
    done = monitor("test", tmp_path / "out", "--frames", "140")
    assert done.returncode == 1 and "missed: oil by" in done.stdout, done.stdout


def test_a_wrong_hash_is_a_false_alarm(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(made, folder)
    hashes = folder / "indicators.hashes"
    lines = [line for line in hashes.read_text().splitlines() if " left+right by" not in line]
    hashes.write_text("\n".join(lines) + "\n")
    done = monitor("test", folder, "--frames", "140")
    assert done.returncode == 1
    assert re.search(r"^false alarms [1-9]", done.stdout, re.MULTILINE), done.stdout
    assert "indicators left+right by" in done.stdout


MISTAKES = {
    "no role": ("role-oil", "oil", "no group is called role-NAME"),
    "no region": ("<rect", "<path", "role-oil: it has no rect"),
    "a part of a pixel": (
        'width="64" height="32" f',
        'width="63.5" height="32" f',
        "'63.5' must be",
    ),
    "a region that is moved": (
        'id="role-oil"',
        'id="role-oil" transform="translate(1)"',
        "a transform moves its region",
    ),
    "a region outside": ("<rect", '<rect x="1"', "its region leaves the drawing"),
    "a region seen through": ("#000", "none", "its region can be seen through"),
    "no lamp": ("lamp-oil", "lump-oil", "it has 0 lamps"),
    "unlit alone": ("unlit-oil", "unlit-gas", "unlit-gas, and no lamp-gas"),
    "units that are no pixels": (
        "<svg",
        '<svg viewBox="0 0 32 16"',
        "its viewBox must be 0 0 64 32",
    ),
    "a viewBox of no numbers": (
        "<svg",
        '<svg viewBox="0 0 64 2em"',
        "its viewBox must be 0 0 64 32",
    ),
    "a picture that is linked": (
        "<circle",
        '<image href="logo.png" width="8" height="8"/><circle',
        "logo.png is another file: put it into the drawing",
    ),
    "a part of another drawing": (
        "<circle",
        '<use xmlns:x="http://www.w3.org/1999/xlink" x:href="parts.svg#lamp"/><circle',
        "parts.svg#lamp is another file: put it into the drawing",
    ),
    "a style sheet beside it": (
        "<svg",
        '<?xml-stylesheet type="text/css" href="lamps.css"?><svg',
        "its style sheet is another file",
    ),
    "styles that are fetched": (
        "<g",
        '<style>/* url(x.png) */ @import "lamps.css";</style><g',
        "lamps.css is another file",
    ),
    "a shade of another drawing": (
        'fill="#400"',
        'style="fill:url(&quot;shades.svg#red&quot;)"',
        "shades.svg#red is another file",
    ),
    "an id of two": ('id="unlit-oil"', 'id="lamp-oil"', "2 elements have the id lamp-oil"),
    "a region that a style moves": (
        '<g id="role-oil">',
        '<rect width="64" height="32"/><style>.a{transform:translate(8px)}</style>'
        '<g id="role-oil" class="a">',
        "its region is drawn at 8 0 64 32, and its rect says 0 0 64 32",
    ),
    "a region within a drawing": (
        '<g id="role-oil">',
        '<rect width="64" height="32"/><svg x="-4" width="64" height="32"><g id="role-oil">',
        "its region is drawn at -4 0 64 32",
    ),
    "a region that a style makes smaller": (
        '<g id="role-oil"><rect',
        '<rect width="64" height="32"/><g id="role-oil"><rect style="width:50%"',
        "its region is drawn at 0 0 32 32",
    ),
    "more rows than a picture can have": (
        ROLE[ROLE.index(' width="64"') :],
        ' width="64" height="9000"><g id="role-oil"><rect width="64" height="9000"/>'
        + "".join(f'<path id="lamp-{n}" d="M{n} 0h1v1h-1z" fill="#fff"/>' for n in range(2))
        + "</g></svg>",
        "role-oil: it has 4 pictures of 64x9000",
    ),
    "a lamp that draws nothing": (
        '<circle id="lamp-oil" cx="32" cy="16" r="9" fill="#f00"/>',
        '<g id="lamp-oil"/>',
        "role-oil: lamp-oil cannot be seen",
    ),
    "a lamp beside its region": (
        'id="unlit-oil" cx="32"',
        'id="unlit-oil" cx="132"',
        "role-oil: unlit-oil cannot be seen",
    ),
    "states alike": ("#400", "#ff0100", "off and oil look the same"),
    "a lamp that is not there": ('"role-oil"', '"role-oil" data-states="gas"', "gas is not of its"),
    "a lamp that is never lit": ('"role-oil"', '"role-oil" data-states="off"', "oil is never lit"),
    "no XML": ("</svg>", "", "bad.svg: it is no SVG: no element found"),
    "an encoding that nobody knows": ("<svg", '<?xml version="1.0" encoding="foo"?><svg', "foo"),
    "an encoding that is not read": (
        "<svg",
        '<?xml version="1.0" encoding="cp932"?><svg',
        "multi-byte encodings",
    ),
    "a number without an end": (
        'width="64" height="32" f',
        f'width="{"9" * 5000}" height="32" f',
        "must be a whole number of pixels",
    ),
}


def test_a_folder_that_was_not_made(tmp_path: Path) -> None:
    done = monitor("test", tmp_path / "out")
    said = f"gid-monitor: {tmp_path}/out is no folder that `gid-monitor make` has written\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_of_a_drawing(mistake: str, tmp_path: Path) -> None:
    old, new, said = MISTAKES[mistake]
    drawing = tmp_path / "bad.svg"
    text = ROLE.replace(old, new, 1)
    drawing.write_text(text.replace("</g></svg>", "</g></svg></svg>") if "<svg x=" in new else text)
    done = monitor("make", drawing, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists(), "nothing is half made"


@pytest.mark.parametrize(
    ("options", "name", "said"),
    [
        (("--at", "16385,0"), "oil", "x=16385 is not a number from 0 to 16384"),
        (("--domain", "a b"), "oil", "domain=a b"),
        ((), "o" * 60, "a section's name is longer than"),
    ],
)
def test_what_gid_cluster_would_not_take(
    tmp_path: Path, options: tuple[str, ...], name: str, said: str
) -> None:
    """It was found when that was started with it."""
    drawing = tmp_path / "good.svg"
    drawing.write_text(ROLE.replace("role-oil", f"role-{name}"))
    done = monitor("make", drawing, "--out", tmp_path / "out", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and f"gid-cluster cannot watch over {name}" in done.stderr
    assert not (tmp_path / "out").exists()


def test_pictures_within_the_drawing(tmp_path: Path) -> None:
    """And links to its own parts, and to pages that nobody draws."""
    picture = io.BytesIO()
    Image.new("RGB", (8, 8), "blue").save(picture, "PNG")
    data = base64.b64encode(picture.getvalue()).decode()
    within = f'<image href="data:image/png;base64,{data}" width="8" height="8"/>'
    within += '<path id="dot" d="M0 20h4v4h-4z" fill="#0f0"/>'
    within += '<a href="https://example.com"><use href="#dot" x="20"/></a>'
    drawing = tmp_path / "good.svg"
    drawing.write_text(ROLE.replace("<circle", within + "<circle", 1))
    make(tmp_path / "out", drawing=drawing)
    pixels = numpy.asarray(Image.open(tmp_path / "out/oil.png").convert("RGB"))
    assert (pixels[4, 4] == (0, 0, 255)).all(), "the picture"
    assert (pixels[22, 22] == (0, 255, 0)).all(), "the part of it"


def test_names_by_inkscape(tmp_path: Path) -> None:
    """By labels of its layers, whatever their ids are, and hidden as they may be."""
    drawing = tmp_path / "ink.svg"
    text = ROLE.replace(
        "<svg ", '<svg xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" '
    )
    for name in ("role-oil", "lamp-oil", "unlit-oil"):
        text = text.replace(f'id="{name}"', f'id="{name[0]}1" inkscape:label="{name}"')
    text = text.replace('id="l1"', 'id="l1" style="display:none"')
    drawing.write_text(text)
    plain = tmp_path / "plain.svg"
    plain.write_text(ROLE)
    for file in (drawing, plain):
        make(tmp_path / file.stem, drawing=file)
    assert (tmp_path / "ink/oil.hashes").read_text() == (tmp_path / "plain/oil.hashes").read_text()


def test_lamps_that_classes_hide(tmp_path: Path) -> None:
    """However important that is to them, and whatever the file and its folder are called."""
    folder = tmp_path / "Öl und mehr"
    folder.mkdir()
    style = "<style>@namespace url(http://www.w3.org/2000/svg); .off {display:none !important}"
    text = ROLE.replace("<g ", f"{style} .on {{fill:#f00}}</style><g ")
    text = text.replace('id="lamp-oil"', 'id="lamp-oil" class="on off"').replace('fill="#f00"', "")
    hidden, plain = folder / "Lämpchen 1.svg", folder / "plain.svg"
    hidden.write_text(text)
    plain.write_text(ROLE)
    make(folder / "a b", drawing=hidden)
    make(folder / "c", drawing=plain)
    assert (folder / "a b/oil.hashes").read_text() == (folder / "c/oil.hashes").read_text()


def test_parts_of_parts(tmp_path: Path) -> None:
    """As tools draw: groups that are moved and cut, lamps above each other, copies, percentages."""
    within = """<defs><clipPath id="cut"><circle cx="50%" cy="50%" r="12"/></clipPath>
    <symbol id="sign" viewBox="0 0 10 10"><rect width="100%" height="100%"/></symbol></defs>
    <g transform="translate(4,4) scale(.5)"><g clip-path="url(#cut)" transform="rotate(5)">
    <use id="lamp-gas" href="#sign" width="50" height="40" fill="#00f" opacity=".5"/></g></g>"""
    drawing = tmp_path / "parts.svg"
    drawing.write_text(ROLE.replace("</g></svg>", within + "</g></svg>"))
    make(tmp_path / "out", drawing=drawing)
    summary = json.loads((tmp_path / "out/monitor.json").read_text())
    assert summary["roles"][0]["states"] == ["off", "oil", "gas", "oil+gas"]
    done = monitor("test", tmp_path / "out", "--frames", "70")
    assert "false alarms 0" in done.stdout, done.stdout + done.stderr


def test_a_full_disk_changes_nothing(made: Path, tmp_path: Path) -> None:
    """What was there before stays as it was, all of it; a new folder is none."""
    folder = tmp_path / "before"
    shutil.copytree(made, folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    drawing = tmp_path / "other.svg"
    drawing.write_text(DRAWING.read_text().replace("</svg>", f"<!--{'x' * 60000}--></svg>"))
    for out in (folder, tmp_path / "new"):
        # A file that grows larger than that cannot be written, as on a full disk.
        command = ["bash", "-c", 'trap "" XFSZ; ulimit -f 40; exec "$@"', "-"]
        command += [BUILD / "tools/gid-monitor/gid-monitor", "make", drawing, "--out", out]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        assert "File too large" in done.stderr
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert not (tmp_path / "new").exists()


def test_a_folder_that_was_changed(made: Path, tmp_path: Path) -> None:
    """By whom it may be: what is wrong with it is told."""
    damages = {
        "monitor.json": (b'{"renderers": {"cairo": ""}}', "there is no renderer cairo"),
        "monitor.conf": (b"[role \xff]", "can't decode byte"),
        "warnings.hashes": (b"no hash", "gid-cluster cannot watch over"),
    }
    for name, (content, said) in damages.items():
        folder = tmp_path / name
        shutil.copytree(made, folder)
        (folder / name).write_bytes(content)
        done = monitor("test", folder, "--frames", "14")
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        assert said in done.stderr


def test_a_renderer_that_draws_otherwise(tmp_path: Path) -> None:
    """Beyond the tolerance, nothing is written."""
    done = monitor("make", DRAWING, "--out", tmp_path / "out", "--tolerance", "0")
    assert done.returncode == 2
    assert "away from those of librsvg, of 255: --tolerance is 0" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_example_is_that_of_the_manual() -> None:
    manual = (TOP / "tools/gid-monitor/gid-monitor.1.scd").read_text()
    assert 'data-states="off left right left+right"' in manual
    assert 'data-states="off left right left+right"' in DRAWING.read_text()
