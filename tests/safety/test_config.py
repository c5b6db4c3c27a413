# SPDX-License-Identifier: MIT
"""Every mistake in gid-cluster's configuration is named with its file and line, all at once."""

import math
import os
import re
import resource
import subprocess
from pathlib import Path

import pytest
from assuring.light import lights_in
from lib.length import at_length_but
from lib.program import BUILD, COUNTED, PATIENCE, TOP
from PIL import Image

CLUSTER = BUILD / "cluster" / "gid-cluster"
ROLE = "[role oil]\nwidth=64\nheight=64\n"
LAYER = "[layer film]\nwidth=64\nheight=64\n"
LETTERS = "those have up to 63 letters, digits and - _ ."
NO_DOMAIN = f"cannot be a domain's name: {LETTERS}"
NO_STREAM = f"cannot be a stream's name: {LETTERS} with / between them"
NO_COMMENT = "behind a value a comment begins with ; and not with #"
UNKNOWN = "unknown section [rol]; there are [display], [output NAME], [role NAME] and [layer NAME]"
FORMATS = "the code of a format that can be shown, such as XR24, AR24 or NV12, or any"
SIZE = "width=320\nheight=240\n"  # of a display: what a larger one costs takes longer to measure
ANY_TIME = "[display]\nworst-frame=0\n"  # that a frame takes here
TRANSFORMS = "normal, 90, 180, 270, flipped, flipped-90, flipped-180, flipped-270 or any"
OUTPUTS = "[output left]\nwidth=64\n[output right]\nwidth=64\n"
SCREEN = f"[display]\n{SIZE}refresh=60\n"


def fuel(*keys: str) -> str:
    """A second role beside ROLE, of the same size."""
    return "\n".join(["[role fuel]", "width=64", "height=64", *keys, ""])


MISTAKES: dict[str, tuple[str, list[str]]] = {
    "no key": (ROLE + "nonsense\n", ["4: neither [section] nor key=value"]),
    "an unknown section": ("[rol]\nx=1\ny=2\n", [f"1: {UNKNOWN}"]),
    "a key before all sections": (
        "x=1\ny=2\n",
        [f"1: a key before the first section; {UNKNOWN.partition('; ')[2]}"],
    ),
    "a comment of another form": (
        ROLE + "x=1 # pixel\n",
        ["4: x=1 # pixel is not a number from 0 to 16384", f"4: {NO_COMMENT}"],
    ),
    "an unknown key of a role": (ROLE + "alpha=1\n", ['4: a role has no "alpha"']),
    "an unknown key of the display": ("[display]\ndepth=1\n", ['2: the display has no "depth"']),
    "a pacing": ("[display]\npacing=fast\n", ["2: pacing=fast must be bound, on or off"]),
    "planes": ("[display]\nplanes=3\n", ["2: planes=3 must be on, off or direct"]),
    "a part of a refresh": (
        "[display]\nworst-frame=101\n",
        ["2: worst-frame=101 is not a number from 0 to 100"],
    ),
    "a stream of the display": (
        "[display]\nstream=a b\n",
        [f"2: stream=a b {NO_STREAM}"],
    ),
    "a program that copies the screen": (
        "[display]\nscreen-copies=/usr/bin/grim\n",
        ['2: the display has no "screen-copies"'],
    ),
    "a role without a name": (
        "[role ]\nstream=oil\nwidth=1\nheight=1\n",
        ["2: [role NAME] needs a name"],
    ),
    "a layer without a name": ("[layer ]\nstream=oil\n", ["2: [layer NAME] needs a name"]),
    "a name that a terminal obeys": (
        "[role oil\x1b[2J]\nstream=oil\nwidth=1\nheight=1\n",
        ["2: [role NAME] has a name that is not UTF-8, or has a character that cannot be shown"],
    ),
    "a name that turns what follows it": (
        "[layer \u202eoil]\nstream=oil\nwidth=1\nheight=1\n",
        ["2: [layer NAME] has a name that is not UTF-8, or has a character that cannot be shown"],
    ),
    "a name of an output that cannot be shown": (
        "[output a\tb]\nwidth=1\nheight=1\n",
        ["2: [output NAME] has a name that is not UTF-8, or has a character that cannot be shown"],
    ),
    "a section with a long name": (
        f"[role {'a' * 45}]\nwidth=1\nheight=1\n",
        ["1: a section's name is longer than 49 bytes"],
    ),
    "one stream of two outputs": (
        "[output left]\nstream=screen\n[output right]\nwidth=64\nstream=screen\n",
        ["3: [output right] has stream=screen, as [output left] has"],
    ),
    "a role without a size": ("[role oil]\nx=1\n", ["1: [role oil] needs width= and height="]),
    "a section behind a blank": ("\v[role oil]\nx=1\n", ["1: [role oil] needs width= and height="]),
    "a width of nothing": (
        "[role oil]\nwidth=0\nheight=1\n",
        ["2: width=0 is not a number from 1 to 16384"],
    ),
    "no number": (ROLE + "x=-1\n", ["4: x=-1 is not a number from 0 to 16384"]),
    "a stream's name": (ROLE + "stream=a b\n", [f"4: stream=a b {NO_STREAM}"]),
    "a domain's name": (ROLE + "domain=..\n", [f"4: domain=.. {NO_DOMAIN}"]),
    "a role that names no stream": (
        "[role oil lamp]\nwidth=1\nheight=1\n",
        ["1: [role oil lamp] needs stream=: safety/oil lamp cannot be a stream's name"],
    ),
    "a format": (
        ROLE + "formats=XR24,XRGB8888\n",
        [f'4: formats=XR24,XRGB8888: "XRGB8888" is not {FORMATS}'],
    ),
    "a format that is slow": (
        LAYER + "formats=Y416\n",
        [f'4: formats=Y416: "Y416" is not {FORMATS}'],
    ),
    "no format": (ROLE + "formats=\n", [f'4: formats=: "" is not {FORMATS}']),
    "a transform": (
        ROLE + "transform=normal, 45\n",
        [f'4: transform=normal, 45: "45" is not {TRANSFORMS}'],
    ),
    "a fallback": (
        ROLE + "fallback=black\n",
        ["4: fallback=black must be pattern, blank, last or the name of a .png file"],
    ),
    "a fallback of layers": (
        ROLE + "fallback=grey\n",
        ["4: fallback=grey must be pattern, blank, last or the name of a .png file"],
    ),
    "a fallback of a layer": (
        LAYER + "fallback=black\n",
        ["4: fallback=black must be grey, pattern, blank, last or the name of a .png file"],
    ),
    "a profile": (
        ROLE + "protection=crc32\n",
        ["4: protection=crc32 must be none, crc64 or cmac"],
    ),
    "a check without its key": (
        ROLE + "protection=cmac\n",
        ["1: [role oil] has protection=cmac, which needs protection-key="],
    ),
    "a key without its check": (
        ROLE + "protection=crc64\nprotection-key=a\n",
        ["1: [role oil] has protection-key=, which is for protection=cmac alone"],
    ),
    "a key that is not there": (
        ROLE + "protection=cmac\nprotection-key=/nowhere\n",
        ["1: [role oil] protection-key=/nowhere: No such file or directory"],
    ),
    "a key that is none": (
        ROLE + "protection=cmac\nprotection-key=/dev/null\n",
        ["1: [role oil] protection-key=/dev/null: others may read or write it: chmod 600"],
    ),
    "an unknown key of a layer": (LAYER + "allowed=a\n", ['4: a layer has no "allowed"']),
    "a fit": (LAYER + "fit=big\n", ["4: fit=big must be contain, cover, fill or none"]),
    "an input": (LAYER + "input=mouse\n", ["4: input=mouse must be off, touch, pointer or all"]),
    "input of two pictures by one stream": (
        LAYER + "input=touch\n" + ROLE + "input=all\nstream=film\n",
        [
            "1: [layer film] has input= of stream=film, as another section has: both would be "
            "input/film"
        ],
    ),
    "input of a stream with a long name": (
        LAYER + "input=touch\nstream=" + "a" * 60 + "\n",
        [
            "1: [layer film] has input=, and stream="
            + "a" * 60
            + " is too long for that: 57 bytes "
            "at most"
        ],
    ),
    "an order": (LAYER + "order=1001\n", ["4: order=1001 is not a number from 0 to 1000"]),
    "a layer without a size": ("[layer film]\nx=1\n", ["1: [layer film] needs width= and height="]),
    "a fallback of three letters": (
        ROLE + "fallback=dim\n",
        ["4: fallback=dim must be pattern, blank, last or the name of a .png file"],
    ),
    "a layer without a height": (
        "[layer film]\nwidth=1\n",
        ["1: [layer film] needs width= and height="],
    ),
    "a layer that names no stream": (
        "[layer a film]\nwidth=1\nheight=1\n",
        ["1: [layer a film] needs stream=: a film cannot be a stream's name"],
    ),
    "a stream of a layer": (LAYER + "stream=/\n", [f"4: stream=/ {NO_STREAM}"]),
    "too many layers": (
        "".join(f"[layer l{i}]\nwidth=1\nheight=1\n" for i in range(33)),
        ["98: more than 32 layers", "99: more than 32 layers"],
    ),
    "no file of hashes": (ROLE + "allowed=none\n", ["4: allowed=none: No such file or directory"]),
    "an empty role": ("[role fuel]\n" + ROLE, ["1: a section without a key"]),
    "an empty role at the end": (ROLE + "[role fuel]\n", ["4: a section without a key"]),
    "a value that goes on": (
        ROLE + "stream=a\n  b\n",
        ["5: neither [section] nor key=value"],
    ),
    "a line that is too long": (ROLE + f"stream={'a' * 999}\n", ["4: longer than "]),
    "no text": (ROLE + "stream=a\0b\n", ["4: a byte of zero, which no text has"]),
    "an empty role behind a byte order mark": (
        "\ufeff[role fuel]\n" + ROLE,
        ["1: a section without a key"],
    ),
    "an unknown key of an output": (
        "[output left]\nworst-frame=60\n",
        ['2: an output has no "worst-frame"'],
    ),
    "an output without a name": ("[output ]\nwidth=1\n", ["2: [output NAME] needs a name"]),
    "the only output, and others": (
        "[display]\nwidth=64\n" + OUTPUTS,
        ["2: besides [output left], [display] can only have worst-frame="],
    ),
    "an output that there is not": (
        OUTPUTS + ROLE + "output=middle\n",
        ["5: [role oil] is on output=middle, of which there is no [output middle]"],
    ),
    "an output where there is none": (
        ROLE + "output=left\n",
        ["1: [role oil] is on output=left, of which there is no [output left]"],
    ),
    "too many outputs": (
        "".join(f"[output {i}]\nwidth=1\n" for i in range(17)),
        ["34: more than 16 outputs"],
    ),
    "a key twice": (
        ROLE + "domain=open\nwidth=32\ndomain=hud\n",
        [
            "5: width= is in line 2 of this section already",
            "6: domain= is in line 4 of this section already",
        ],
    ),
    "a key twice of a role in two places": (
        ROLE + LAYER + "fit=fill\n" + ROLE,
        [
            "9: width= is in line 2 of this section already",
            "10: height= is in line 3 of this section already",
        ],
    ),
    "a key twice of the display": (
        "[display]\nstream=a\nrefresh=60\nstream=b\n" + ROLE,
        ["4: stream= is in line 2 of this section already"],
    ),
    "two roles in one place": (
        SCREEN + ROLE + fuel(),
        ["8: [role fuel] is where a part of [role oil] of line 5 is: give each a place of its own"],
    ),
    "a role with a corner of another": (
        SCREEN + ROLE + fuel("x=63", "y=63"),
        ["8: [role fuel] is where a part of [role oil] of line 5 is"],
    ),
    "a role within another, where the output says nothing": (
        fuel("x=2000") + "[role oil]\nx=2010\ny=10\nwidth=1\nheight=1\n",
        ["5: [role oil] is where a part of [role fuel] of line 1 is"],
    ),
    "three roles in one place": (
        SCREEN + ROLE + fuel("x=64") + "[role all]\nwidth=128\nheight=64\n",
        [
            "12: [role all] is where a part of [role oil] of line 5 is",
            "12: [role all] is where a part of [role fuel] of line 8 is",
        ],
    ),
    "two roles in one place of the second output": (
        OUTPUTS + ROLE + "output=right\n" + fuel("output=right"),
        ["9: [role fuel] is where a part of [role oil] of line 5 is"],
    ),
    "a role that is partly beside its output": (
        SCREEN + ROLE + "x=257\n",
        ["5: [role oil] reaches to x=321, beyond its output, which has width=320"],
    ),
    "a role that is below its output": (
        SCREEN + ROLE + "y=16384\n",
        ["5: [role oil] reaches to y=16448, beyond its output, which has height=240"],
    ),
    "a role that is on no part of its output": (
        OUTPUTS + ROLE + "output=right\nx=64\n",
        ["5: [role oil] reaches to x=128, beyond its output, which has width=64"],
    ),
    "a rate that the output does not have": (
        SCREEN + ROLE + "min-rate=1000\n",
        [
            "5: [role oil] has min-rate=1000, on an output with refresh=60: frames that come once "
            "a refresh keep 59 at most"
        ],
    ),
    "a rate that only frames without a delay keep": (
        SCREEN + ROLE + "min-rate=60\n",
        ["5: [role oil] has min-rate=60, on an output with refresh=60"],
    ),
    "a rate that is none": (ROLE + "min-rate=1001\n", ["4: min-rate=1001 is not a number from 0"]),
    "a rate below nothing": (ROLE + "min-rate=-1\n", ["4: min-rate=-1 is not a number from 0"]),
    "a place that is no number, and so in no other's": (
        SCREEN + ROLE + fuel("x=left"),
        ["11: x=left is not a number from 0 to 16384"],
    ),
    "two at once": (ROLE + "x=a\ny=b\n", ["4: x=a is not a number from 0 to 16384", "5: y=b is"]),
}


def told(output: str) -> tuple[list[str], list[str]]:
    """The lines of the tables, and those about processors."""
    lines = [line for line in output.splitlines() if not line.startswith("memory: ")]
    processors = [line for line in lines if line.startswith(("it runs on", "streams that"))]
    return [line for line in lines if line not in processors], processors


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    """As an editor of long ago writes it: nobody could be told the status."""
    path = tmp_path / "cluster.conf"
    path.write_bytes("[role Kühlwasser]\nstream=oil\nwidth=1\nheight=1\n".encode("latin-1"))
    status, lines = check(path)
    assert (status, len(lines)) == (1, 1)
    assert lines[0].startswith(f"{path}:2: [role NAME] has a name that is not UTF-8")


def write_png(path: Path, mode: str = "RGB") -> None:
    Image.new(mode, (8, 8)).save(path, "PNG")


def test_pictures_that_cannot_be_shown(tmp_path: Path) -> None:
    """Without them it would not start, or without its background. Told beside other mistakes."""
    path, cut = tmp_path / "cluster.conf", tmp_path / "cut.png"
    write_png(cut)
    cut.write_bytes(cut.read_bytes()[:-20])
    (tmp_path / "text.png").write_text("no picture")
    text = (
        f"[output left]\nbackground=text.png\n{SIZE}[output right]\n{SIZE}"
        f"{ROLE}fallback=none.png\n{fuel('x=64')}"
        f"{LAYER}fallback=cut.png\n[layer map]\nwidth=64\nheight=64\n"
    )
    said = {
        (1, "background", "text.png", "no PNG that can be read"),
        (8, "fallback", "none.png", "No such file or directory"),
        (16, "fallback", "cut.png", "no PNG that can be read"),
    }
    expected = {f"{path}:{line}: {key}={tmp_path}/{name}: {why}" for line, key, name, why in said}
    path.write_text(text)
    status, lines = check(path)
    assert (status, set(lines)) == (1, expected)
    path.write_text(text + "y=b\n")
    status, lines = check(path)
    assert status == 1
    assert set(lines) == expected | {f"{path}:23: y=b is not a number from 0 to 16384"}


@pytest.mark.parametrize(
    "mode", at_length_but(["1", "L", "LA", "P", "RGB", "RGBA", "I;16"], "1", "P", "RGBA", "I;16")
)
def test_pictures_of_any_kind_of_png(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "cluster.conf"
    write_png(tmp_path / "any.png", mode)
    path.write_text(f"{ANY_TIME}{SIZE}background=any.png\n{ROLE}fallback=any.png\n")
    assert check(path) == (0, [])


def processor_seconds() -> float:
    """Of all programs that this test has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def check(path: Path) -> tuple[int, list[str]]:
    command = [CLUSTER, "--check", "--config", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stderr.splitlines()


def test_a_key_that_is_too_short(tmp_path: Path) -> None:
    key, config = tmp_path / "short.key", tmp_path / "short.conf"
    key.write_text("00112233")
    key.chmod(0o600)
    config.write_text(ROLE + f"protection=cmac\nprotection-key={key}\n")
    said = f"{config}:1: [role oil] protection-key={key}: it has not 32 hexadecimal digits"
    assert check(config) == (1, [said])


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(tmp_path: Path, name: str) -> None:
    text, expected = MISTAKES[name]
    path = tmp_path / "cluster.conf"
    path.write_text(text)
    status, lines = check(path)
    assert status == 1
    assert len(lines) == len(expected)
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(f"{path}:{start}")


@pytest.mark.parametrize(
    "good",
    [
        ROLE,
        f"[role {'a' * 44}]\nwidth=1\nheight=1\n",
        "[role Öl ⛽]\nstream=safety/oil\nwidth=1\nheight=1\n",
        "[role oil lamp]\nstream=safety/oil\nwidth=1\nheight=1\n",
        ROLE.replace("\n", "\n\t "),
        ROLE + "fallback=blank\n",
        ROLE + "[layer oil]\nwidth=64\nheight=64\n[role oil]\nfallback=last\n",
        ROLE + "formats=XR24, NV12,P010\ntransform=normal,flipped-90\n",
        LAYER + "formats=YUYV\ntransform=any\n",
        OUTPUTS + ROLE + "output=right\n",
        OUTPUTS
        + LAYER
        + "output=right\nfit=cover\norder=3\ninput=touch\ndeadline-ms=0\nfallback=grey\n",
        ANY_TIME + SIZE + "output=left\n" + ROLE + "output=left\n",
        "[display]\nworst-frame=60\n" + OUTPUTS + ROLE,
        "[display]\nstream=screen\nworst-frame=100\n" + SIZE + ROLE,
        ROLE + "domain=open\n" + LAYER,
        ROLE + fuel("x=64") + "[role all]\ny=64\nwidth=128\nheight=64\n",
        ROLE + "x=256\ny=176\n",
        ROLE + "y=64\n" + fuel(),
        OUTPUTS + ROLE + fuel("output=right"),
        OUTPUTS + "stream=screen\n" + ROLE,
        "[display]\nworst-frame=100\nrefresh=60\n" + SIZE + ROLE + "min-rate=59\n",
        ROLE + "min-rate=0\n",
        "[display]\nworst-frame=0\n" + ROLE + "x=16384\nmin-rate=1000\n",
    ],
)
def test_what_is_right_is_silent(tmp_path: Path, good: str) -> None:
    path = tmp_path / "cluster.conf"
    size = "" if OUTPUTS in good else SIZE
    path.write_text(good if "worst-frame" in good else f"{ANY_TIME}{size}{good}")
    assert check(path) == (0, [])


def cost_to_read(path: Path, keys: str) -> tuple[str, float]:
    """The dearest format of the role, and what its worker takes for a picture, in ms."""
    path.write_text(f"[role oil]\nwidth=1600\nheight=700\n{keys}")
    command = [CLUSTER, "--check", "--config", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    header, role = (line.split() for line in done.stdout.splitlines()[:2])
    assert header == ["stream", "pixels", "dearest", "to", "read", "before", "others"]
    assert role[:3] == ["role", "oil", "1600x700"] and role[5:] == ["ms", "as", "others"]
    return role[3], float(role[4])


def test_a_role_of_plain_pixels_is_cheaper(tmp_path: Path) -> None:
    path = tmp_path / "cluster.conf"
    dearest, plain = cost_to_read(path, "")
    assert dearest in ("XR24", "AR24") and plain > 0
    assert cost_to_read(path, "formats=NV12\n")[0] == "NV12"
    dearest, most = cost_to_read(path, "formats=any\ntransform=any\n")
    assert dearest not in ("XR24", "AR24") and most > 2 * plain


def test_who_is_read_before_others(tmp_path: Path) -> None:
    """Roles, and what the domain draws itself. One that takes too much leaves the others theirs,
    also if it comes first. Never a stranger's film.
    """
    path = tmp_path / "cluster.conf"
    path.write_text(
        f"{ANY_TIME}[role rear]\nwidth=3000\nheight=3000\nformats=any\n"
        f"[role oil]\nx=3000\n{SIZE}[layer film]\ndomain=open\n{SIZE}[layer map]\n{SIZE}"
    )

    def shares(*options: str) -> dict[str, str]:
        command = [CLUSTER, "--check", "--config", path, *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        rows = (line.split() for line in done.stdout.splitlines()[1:5])
        return {row[1]: " ".join(row[6:]) for row in rows}

    ordinary = dict.fromkeys(("oil", "rear", "film", "map"), "as others")
    assert shares() == shares("--realtime=1") == ordinary
    granted = shares("--realtime")
    assert granted["rear"] == granted["film"] == "as others"
    for name in ("oil", "map"):
        number, unit = granted[name].split()
        assert 0 < float(number) < 1000 / 60 / 2 and unit == "ms"


def test_what_a_frame_takes_is_told_and_refused(tmp_path: Path) -> None:
    """1 % of a refresh is less than any frame takes, also of a display that is soon measured, as a
    bound that is refused is again and again."""
    path = tmp_path / "cluster.conf"
    command = [CLUSTER, "--check", "--config", path]
    for percent, status, word in ((100, 0, "allowed"), (1, 1, "more than worst-frame= allows")):
        path.write_text(f"[display]\nworst-frame={percent}\nwidth=160\nheight=64\n{ROLE}{LAYER}")
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        table, processors = told(done.stdout)
        table = table[3:]  # behind those of the role and the layer
        assert done.returncode == status and table[2].endswith(word)
        assert table[0].split() == ["output", "pixels", "refresh", "compose", "check", "bound"]
        assert table[1].startswith("(the first)") and "160x64" in table[1]
        assert len(table) == (7 if status == 0 else 3), "no promise of what does not start"
        assert len(processors) == (2 if status == 0 else 0)
    start = [CLUSTER, "--headless", "--config", path, "--status", tmp_path / "status"]
    done = subprocess.run([*start], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and "worst-frame= allows 1 %" in done.stderr


def test_what_it_refuses_it_does_not_start_with(tmp_path: Path) -> None:
    path = tmp_path / "cluster.conf"
    path.write_text(SCREEN + ROLE + fuel("y=200", "min-rate=60"))
    refused = check(path)
    assert (refused[0], len(refused[1])) == (1, 2)
    start = [CLUSTER, "--headless", "--config", path, "--status", tmp_path / "status"]
    done = subprocess.run(start, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr.splitlines()) == refused


def test_what_is_not_checked_is_told(tmp_path: Path) -> None:
    """Of roles on an output that takes its screen's size or rate."""
    path = tmp_path / "cluster.conf"
    command = [CLUSTER, "--check", "--config", path]
    sized = "[display]\nworst-frame=0\n" + SIZE
    for text, roles in (
        (ANY_TIME + ROLE + fuel("x=64"), ["oil", "fuel"]),
        (ANY_TIME + OUTPUTS + ROLE + LAYER, ["oil"]),
        (sized + ROLE + fuel("x=64", "min-rate=59"), ["fuel"]),
        (sized + "refresh=60\n" + ROLE + "min-rate=59\n", []),
        (ANY_TIME + LAYER, []),
    ):
        path.write_text(text)
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        found = re.findall(r"^role (.+): whether it is on its output", done.stdout, re.M)
        assert (done.returncode, found) == (0, roles), done.stderr


def test_the_time_to_the_fallback_is_told(tmp_path: Path) -> None:
    """The deadline, and a refresh and a half of the role's own output; two without pacing."""
    path = tmp_path / "cluster.conf"
    command = [CLUSTER, "--check", "--config", path]
    for pacing, more in (("bound", 30), ("off", 40), ("on", 40)):
        path.write_text(
            f"[display]\nwidth=320\nheight=240\nrefresh=50\nworst-frame=100\npacing={pacing}\n"
            "[role oil]\nwidth=80\nheight=40\ndeadline-ms=300\n"
        )
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        header, role = (line.split() for line in told(done.stdout)[0][-4:-2])
        assert header == ["role", "deadline", "display", "fallback"]
        assert role[:7] == ["oil", "300.00", "ms", f"{more}.00", "ms", f"{300 + more}.00", "ms"]


def test_the_way_to_the_light_is_told_as_a_sum(tmp_path: Path) -> None:
    """Of the display in the report, whose telltale costs less than its camera. What is counted is
    not optimized: there a frame may take longer than it may.
    """
    path = TOP / "assurance/example.conf"
    if COUNTED:
        text = path.read_text().replace("[display]\n", ANY_TIME)
        path = tmp_path / "example.conf"
        path.write_text(text)
    command = [CLUSTER, "--check", "--config", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    bound = re.search(r"a frame takes (\d+\.\d\d) ms at the worst here", done.stdout)
    assert done.returncode == 0 and bound is not None, done.stdout + done.stderr
    frame, refresh = float(bound[1]), 1000 / 60
    telltale, rear = lights = lights_in(done.stdout)
    assert [light.role for light in lights] == ["telltale", "rear"]
    for light in lights:
        assert light.total == pytest.approx(light.taken + light.examined + light.shown, abs=0.03)
        assert light.taken == pytest.approx(2 * (frame + refresh), abs=0.03)
        shown = refresh + max(refresh / 2, frame + refresh / 8)
        if frame > refresh:  # whole refreshes go by
            shown = math.ceil(2 * frame / refresh) * refresh
        assert light.shown == pytest.approx(shown, abs=0.03)
    assert frame < telltale.examined < rear.examined


def test_who_else_may_run_there_is_told(tmp_path: Path) -> None:
    """On its own processors, as it is started: by this test, which may run there, too."""
    path = tmp_path / "cluster.conf"
    path.write_text("[display]\nworst-frame=0\nwidth=320\nheight=240\n")
    one = max(os.sched_getaffinity(0))
    command = ["taskset", "-c", str(one), CLUSTER, "--check", "--config", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    where, remedy = told(done.stdout)[1]
    others = r"which (\d+) other programs? may use: (.+)"
    found = re.fullmatch(rf"it runs on processor {one}, {others}", where)
    assert found is not None, where
    assert int(found[1]) > 0 and found[2].split(";")[0]
    assert remedy.endswith("see PROCESSORS in gid-cluster(1)")


@pytest.mark.parametrize("what", ["a line of 64 MiB", "zeroes without end"])
def test_a_file_of_hashes_takes_bounded_memory(tmp_path: Path, what: str) -> None:
    if what == "zeroes without end":
        (tmp_path / "oil.hashes").symlink_to("/dev/zero")
    else:
        (tmp_path / "oil.hashes").write_text("#" * (64 << 20))
    path = tmp_path / "cluster.conf"
    path.write_text(ROLE + "allowed=oil.hashes\n")
    status, lines = check(path)
    assert (status, len(lines)) == (1, 1)
    assert "a line that is not a SHA-256" in lines[0]


def test_many_hashes_take_little_time(tmp_path: Path) -> None:
    """From the largest to the smallest, twice: each had to be put before all others, which took
    minutes of a processor."""
    lines = [f"{number:064x}\n" for number in reversed(range(300_000))]
    (tmp_path / "oil.hashes").write_text("".join(lines * 2))
    path = tmp_path / "cluster.conf"
    path.write_text(ANY_TIME + SIZE + ROLE + "allowed=oil.hashes\n")
    before = processor_seconds()
    assert check(path) == (0, [])
    assert processor_seconds() - before < 30


@pytest.mark.parametrize(
    "line", ["", 63 * "a" + "\n", 65 * "a" + "\n", "0123456789abcdef\n", "no hash\n"]
)
def test_a_file_of_hashes_that_is_none(tmp_path: Path, line: str) -> None:
    (tmp_path / "oil.hashes").write_text("# only this:\n" + line)
    path = tmp_path / "cluster.conf"
    path.write_text(ROLE + "allowed=oil.hashes\n")
    status, lines = check(path)
    assert status == 1
    assert len(lines) == 1
    assert lines[0].startswith(f"{path}:4: allowed=oil.hashes has ")
