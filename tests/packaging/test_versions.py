# SPDX-License-Identifier: MIT
"""Which version this is: said by everything alike, and of a snapshot that it is one."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lib.program import BUILD, PATIENCE, TOP

PROGRAMS = ("gidd/gidd", "engine/gid-engine", "cluster/gid-cluster", "tools/gidctl/gidctl")
PROGRAMS += ("tools/gid-compose/gid-compose", "tools/gid-recorder/gid-recorder")
PROGRAMS += ("tools/gid-cockpit/gid-cockpit",)
PROGRAMS += ("tools/gid-timeline/gid-timeline", "tools/gid-evaluate/gid-evaluate")
PROGRAMS += ("tools/gid-monitor/gid-monitor",)
PROGRAMS += tuple(f"clients/gid-{name}" for name in ("capture", "map", "meter", "telltale", "view"))


def ask(*words: str | Path) -> str:
    return subprocess.run(
        words, capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout


def number() -> str:
    return re.search(r"^  version: '(.*)',$", (TOP / "meson.build").read_text(), re.MULTILINE)[1]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What scripts/version looks at, in no repository."""
    (tmp_path / "scripts").mkdir()
    for name in ("scripts/version", "meson.build", "NEWS.md"):
        shutil.copy(TOP / name, tmp_path / name)
    return tmp_path


def test_the_texts_name_the_next_version() -> None:
    news = (TOP / "NEWS.md").read_text()
    newest = re.search(r"^## (\S+)(?: \(not released yet\))?$", news, re.MULTILINE)
    assert newest is not None and newest[1] == number()
    assert f"Version {number().rpartition('.')[0]} " in (TOP / "README.md").read_text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_say_the_same(name: str) -> None:
    if not (BUILD / name).exists():
        pytest.skip("this build has none")
    said = ask(BUILD / name, "--version").strip()
    assert said == f"{Path(name).name} {ask(TOP / 'scripts/version').strip()}"


def test_a_snapshot_is_less_than_the_release_to_dpkg() -> None:
    said = ask(TOP / "scripts/version").strip()
    assert re.fullmatch(rf"{re.escape(number())}(~git(\d{{8}}\.[0-9a-f]+)?)?", said)
    if said != number():
        subprocess.run(["dpkg", "--compare-versions", said, "lt", number()], check=True)


def test_a_release_is_its_number_alone(copy: Path) -> None:
    news = (TOP / "NEWS.md").read_text().replace(" (not released yet)", "", 1)
    (copy / "NEWS.md").write_text(news)
    assert ask(copy / "scripts/version") == f"{number()}\n"


def test_an_archive_says_what_it_was_made_of(copy: Path) -> None:
    (copy / "NEWS.md").write_text(f"## {number()} (not released yet)\n")
    assert ask(copy / "scripts/version") == f"{number()}~git\n", "nobody knows"
    script = copy / "scripts/version"
    script.write_text(script.read_text().replace("$Format:%cs %h$", "2026-11-25 6ad6f22"))
    assert ask(script) == f"{number()}~git20261125.6ad6f22\n", "as git archive makes it"
    (copy / "VERSION").write_text("0.9.0~git1.abc\n")
    assert ask(script) == "0.9.0~git1.abc\n", "as scripts/package makes it"
