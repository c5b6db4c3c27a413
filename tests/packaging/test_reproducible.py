# SPDX-License-Identifier: MIT
"""Packages that are made twice, in two clones and circumstances, are equal, and hardened."""

import hashlib
import io
import json
import os
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from lib.program import BUILD, TOP

pytestmark = pytest.mark.timeout(7200)

# What tells of the circumstances themselves.
TELLS = {".buildinfo", ".changes", ".log", ".json"}


@dataclass(frozen=True)
class Made:
    folder: Path
    names: frozenset[str]


def copied(clone: Path) -> Path:
    """The files as they are, and the history."""
    clone.mkdir(parents=True)
    pack = ["tar", "-C", TOP, "--exclude=./build*", "--exclude=./out*", "-cf", "-", "."]
    with subprocess.Popen(pack, stdout=subprocess.PIPE) as packed:
        subprocess.run(["tar", "-C", clone, "-xf", "-"], stdin=packed.stdout, check=True)
    assert packed.returncode == 0
    return clone


def make(clone: Path, target: Path, umask: int, **environment: str) -> Made:
    said = subprocess.run(
        [clone / "scripts/package", target],
        env=os.environ | {"GIDWAY_BUILD": str(clone / "build")} | environment,
        umask=umask,
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    names = (path.name for path in target.iterdir() if path.suffix not in TELLS)
    return Made(target, frozenset(names))


def age(clone: Path) -> None:
    """As if somebody had brought the files years ago."""
    for path in clone.rglob("*"):
        if ".git" not in path.parts and path.is_file():
            os.utime(path, (1_000_000_000, 1_000_000_000))


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Made, Made]:
    """The first ones stay: ./run assurance tells of them."""
    folder = tmp_path_factory.mktemp("twice")
    one = copied(folder / "a")
    other = copied(folder / "another place" / "with a longer name")
    age(other)
    first = make(one, BUILD / "packages", 0o022, TZ="UTC", LC_ALL="C.UTF-8")
    home = folder / "home"
    home.mkdir()
    temporary = folder / "temporary files" / "longer"
    temporary.mkdir(parents=True)
    circumstances = {
        "DEB_BUILD_OPTIONS": "parallel=1",
        "HOME": str(home),
        "LC_ALL": "C",
        "LOGNAME": "somebody",
        "TMPDIR": str(temporary),
        "TZ": "Asia/Kathmandu",
        "USER": "somebody",
    }
    return first, make(other, folder / "b", 0o077, **circumstances)


def members(package: Path, part: str) -> dict[str, tuple]:
    """What a package has: of each file all that it brings to a machine."""
    packed = subprocess.run(["dpkg-deb", part, package], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return {
            one.name: (
                *(one.mode, one.uid, one.gid, one.mtime, one.linkname),
                hashlib.sha256(archive.extractfile(one).read()).hexdigest() if one.isfile() else "",
            )
            for one in archive
        }


def difference(one: Path, other: Path) -> str:
    if one.suffix != ".deb":
        return one.name
    found = []
    for part in ("--ctrl-tarfile", "--fsys-tarfile"):
        a, b = members(one, part), members(other, part)
        found += [
            f"{name}: {a.get(name)} {b.get(name)}"
            for name in sorted(a | b)
            if a.get(name) != b.get(name)
        ]
    return f"{one.name}: {'; '.join(found) or 'only as it is packed'}"


def test_packages_are_equal(twice: tuple[Made, Made]) -> None:
    first, second = twice
    assert first.names == second.names
    assert {Path(name).suffix for name in first.names} == {".deb", ".dsc", ".sha256", ".xz"}
    assert len(first.names) > 15
    differ = [
        difference(first.folder / name, second.folder / name)
        for name in sorted(first.names)
        if (first.folder / name).read_bytes() != (second.folder / name).read_bytes()
    ]
    assert differ == []


def test_what_is_packed_is_hardened(twice: tuple[Made, Made]) -> None:
    (programs,) = twice[0].folder.glob("gidway_*.programs.json")
    found = json.loads(programs.read_text())
    lacks = {one["name"]: one["lacks"] for one in found["programs"]}
    assert {"gidd", "gid-cluster", "gid-engine", "libgstgid.so", "gid-buffer.so"} <= lacks.keys()
    assert any(name.startswith("libgid.so.") for name in lacks)
    assert {name: lack for name, lack in lacks.items() if lack} == {}
