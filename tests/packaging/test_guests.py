# SPDX-License-Identifier: MIT
"""What makes a guest with a disk of its own: packaging/guests. docs/own-guest.md has how."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lib.program import BUILD, TOP

FOLDER = TOP / "packaging" / "guests"
MAKE_DISK = FOLDER / "make-disk"
COCKPIT = FOLDER / "three.conf"
FILM = FOLDER / "film.service"


def make_disk(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([MAKE_DISK, *map(str, words)], capture_output=True, text=True)


def test_three_guests_share_among_themselves() -> None:
    """The host only joins them. Each has what the page says of it."""
    gidd = BUILD / "gidd" / "gidd"
    words = [gidd, "--check", "--json", "--config", COCKPIT]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    domains = {domain["name"]: domain for domain in json.loads(done.stdout)["domains"]}
    assert {name: domain["kind"] for name, domain in domains.items()} == {
        "host": "host",
        "open": "guest",
        "maps": "guest",
        "cluster": "guest",
    }
    pairs = re.findall(r"^\[share (\S+) (\S+)\]", COCKPIT.read_text(), re.MULTILINE)
    assert {name for pair in pairs for name in pair} == set(domains) - {"host"}
    # What make-disk makes, under the names that it has there.
    for name in ("open.img", "vmlinuz", "initrd.img"):
        assert f"={name}\n" in COCKPIT.read_text(), name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--help"], "--packages FOLDER"),
        ([], "which domain, of which cockpit?"),
        (["open"], "which domain, of which cockpit?"),
        (["open", "/no/such/file"], "there is no file /no/such/file"),
        (["other", COCKPIT], "has no domain other"),
        (["--unit", "/no/such.service", "open", COCKPIT], "there is no unit /no/such.service"),
        (["--color", "open", COCKPIT], "there is no option --color"),
    ],
)
def test_what_it_says(words: list[object], said: str) -> None:
    done = make_disk(*words)
    assert done.returncode == (0 if words == ["--help"] else 1)
    assert said in done.stdout + done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root's makes a disk")
def test_it_takes_root(tmp_path: Path) -> None:
    done = make_disk("open", COCKPIT, tmp_path)
    assert "it takes root: sudo" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_film_is_a_unit_of_its_domain() -> None:
    text = FILM.read_text()
    domain = re.search(r"GID_DOMAIN=(\S+)", text)
    assert domain is not None and f"After=gidd@{domain[1]}.service\n" in text
    assert f"useradd --system --groups gidway --shell /usr/sbin/nologin {user_of(text)}" in (
        MAKE_DISK.read_text()
    )
    if (analyze := shutil.which("systemd-analyze")) is not None:
        done = subprocess.run([analyze, "verify", FILM], capture_output=True, text=True)
        lines = [line for line in done.stderr.splitlines() if str(FILM) in line]
        assert lines == []


def user_of(unit: str) -> str:
    found = re.search(r"^User=(\S+)$", unit, re.MULTILINE)
    assert found is not None
    return found[1]
