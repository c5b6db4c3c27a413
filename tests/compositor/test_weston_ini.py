# SPDX-License-Identifier: MIT
"""Wrong values in weston.ini: which one it is, in which line; and nothing is taken for another."""

import re
from pathlib import Path

import pytest
from lib.weston import Weston

OUTPUT = "[gid-output]\nname=left\nstream=a\ninput=open\n"
WINDOW = "[gid-window]\nstream=map\napp-id=org.example.map\ninput=open\n"
ROLE = "[gid-safety]\nrole=lamp\napp-id=org.example.lamp\n"
# What begins as a number, is more than one has room for, or that C's functions take for one.
SIZES = ["", "64x", "64x64 64", "4294967360x64", "+64x64", "64x-64"]
RATES = [
    "",
    "0",
    "0.999",
    "1000.001",
    "1e2",
    "0x3c",
    "nan",
    "inf",
    "-30",
    "+30",
    "60Hz",
    "30.",
    ".5",
]
RATES += ["1.2.3", "9" * 30]
NUMBERS = ["", "0x10", "1e1", "50ms", "-1", "2147483648", "9" * 30]


def mistake(folder: Path, config: str) -> tuple[str, str]:
    """The line that Weston's log names, and what it says of that."""
    weston = Weston(folder, {"GID_DOMAIN": "cluster", "GID_RUNTIME_DIR": str(folder)})
    weston.configure(config)
    assert weston.launch().wait() != 0
    (path,) = folder.glob("**/weston.ini")
    log = weston.read_log()
    found = re.findall(rf"gid: {re.escape(str(path))}:(\d+): \[[a-z-]+\] (.*)", log)
    assert len(found) == 1, log
    number, words = found[0]
    return path.read_text().splitlines()[int(number) - 1], words


@pytest.mark.parametrize(
    ("section", "line", "words"),
    [
        ("[gid]\non-revoke=vanish", "on-revoke=vanish", "must be keep or blank"),
        ("[gid]\npacing=fast", "pacing=fast", "must be off, observe or on"),
        ("[gid]\npacing-miss-rate=1", "pacing-miss-rate=1", "must be from"),
        ("[gid]\ncapture-clients=grim", "capture-clients=grim", "absolute paths"),
        ("[gid-output]\nstream=a", "[gid-output]", "set name="),
        ("[gid-output]\nname=left", "[gid-output]", "stream= must be"),
        (f"{OUTPUT}scale=3\nmode=64x64", "scale=3", "divide both numbers of mode="),
        (f"{OUTPUT}cursor=yes", "cursor=yes", "must be true or false"),
        (f"{OUTPUT}[gid-output]\nname=left\nstream=b", "name=left", "another section"),
        ("[gid-window]\nstream=a", "[gid-window]", "set app-id= or title="),
        (f"{WINDOW}user=nobody-of-that-name", "user=nobody-of-that-name", "neither a user's name"),
        (f"{WINDOW}user=-18446744073709551615", "user=-18446744073709551615", "neither a user"),
        (f"{WINDOW}{WINDOW}", "stream=map", "two sections of window map"),
        ("[gid-safety]\nsize=1x1", "[gid-safety]", "a role's name is missing"),
        ("[gid-safety]\nrole=lamp", "[gid-safety]", "nobody can take it"),
        (f"{ROLE}clients=lamp", "clients=lamp", "absolute paths of executables"),
        (f"{ROLE}visible=no", "visible=no", "must be true or false"),
    ],
)
def test_where_it_is(tmp_path: Path, section: str, line: str, words: str) -> None:
    """Behind a section of the same name without a mistake, and comments that have the key."""
    before = f"# {line}\n[other]\n{line.strip('[]').split('=')[0]}=1\n"
    named, said = mistake(tmp_path, f"{before}{section}\n#{line}\n")
    assert named == line
    assert words in said


def test_which_section_it_is(tmp_path: Path) -> None:
    """Of several of the same name, and of a key that is there twice the first, which counts."""
    config = f"{OUTPUT}mode=64x64\n[gid-output]\nname=right\nstream=b\nmode=no\nmode=64x64\n"
    assert mistake(tmp_path, config)[0] == "mode=no"


WRONG = [(f"{OUTPUT}mode=64x64@", rate) for rate in RATES]
WRONG += [
    (before, size)
    for before in (
        f"{OUTPUT}mode=",
        f"{OUTPUT}mode=1x1\nresize=",
        f"{WINDOW}resize=",
        f"{ROLE}size=",
    )
    for size in SIZES
]
WRONG += [(f"{ROLE}heartbeat-ms=", number) for number in NUMBERS]
WRONG += [(f"{ROLE}client-ms=", "9" * 30), (f"{OUTPUT}scale=", "9" * 30)]


@pytest.mark.parametrize(("before", "value"), WRONG)
def test_what_is_none(tmp_path: Path, before: str, value: str) -> None:
    line = f"{before}{value}".splitlines()[-1]
    named, said = mistake(tmp_path, f"{before}{value}\n")
    assert named == line
    assert "must be" in said
