# SPDX-License-Identifier: MIT
"""Which folders of this machine a guest is lent, wherever gidway and its user are."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_vm import root
from gid_vm.root import copy_etc, lent_folders


@pytest.fixture
def clone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A clone with a build in it, a home beside it, and no gidd elsewhere."""
    # Not where the tests' folders are made: that may be below /dev, of which nothing is lent.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        clone = Path(name, "ä b", "gidway")
        (clone / "build" / "meson-info").mkdir(parents=True)
        (clone / "meson.build").touch()
        Path(name, "home").mkdir()
        monkeypatch.setattr(root, "TOP", clone)
        monkeypatch.setenv("GIDWAY_BUILD", str(clone / "build"))
        monkeypatch.setenv("HOME", f"{name}/home")
        monkeypatch.setenv("PATH", "/usr/bin")
        yield clone


def make_gidd(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "gidd").touch(0o755)


def test_a_clone_with_its_build_is_one_folder(clone: Path) -> None:
    assert lent_folders() == [Path("/usr"), clone]


def test_a_build_elsewhere_is_lent_besides(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = clone.parent / "built"
    (elsewhere / "meson-info").mkdir(parents=True)
    make_gidd(elsewhere / "gidd")
    monkeypatch.setenv("PATH", f"{elsewhere}/gidd:/usr/bin")
    assert lent_folders() == [Path("/usr"), clone, elsewhere]


def test_of_a_prefix_only_what_was_installed(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = clone.parent / "prefix"
    make_gidd(prefix / "bin")
    (prefix / "lib").mkdir()
    (prefix / "share" / "keyrings").mkdir(parents=True)
    monkeypatch.setattr(root, "TOP", prefix / "share")
    monkeypatch.delenv("GIDWAY_BUILD")
    monkeypatch.setenv("PATH", f"{prefix}/bin:/usr/bin")
    assert lent_folders() == [Path("/usr"), prefix / "bin", prefix / "lib"]


def test_the_users_folder_but_no_home_and_nothing_around(clone: Path) -> None:
    """A home, and whatever has others' folders in it, is more than somebody's work."""
    work = clone.parent / "work"
    work.mkdir()
    assert lent_folders(work)[2:] == [work]
    inside = Path.home() / "films"
    inside.mkdir()
    assert lent_folders(inside)[2:] == [inside]
    for folder in (clone / "build", clone.parent, Path.home(), Path.home().parent, Path("/")):
        assert lent_folders(folder) == [Path("/usr"), clone]
    for name in ("/run", "/run/user", "/tmp", "/var/tmp", "/etc", "/dev/shm", "/usr/share"):
        assert lent_folders(Path(name)) == [Path("/usr"), clone], name


def test_no_secret_of_etc(tmp_path: Path) -> None:
    etc = tmp_path / "etc"
    (etc / "xdg" / "keys").mkdir(parents=True)
    (etc / "xdg" / "keys" / "mine").write_text("secret")
    (etc / "xdg" / "keys").chmod(0o700)
    (etc / "xdg" / "menu").write_text("all")
    (etc / "passwd").write_text("root:x:0:0")
    (etc / "shadow").write_text("root:secret")
    (etc / "services").write_text("secret")
    (etc / "services").chmod(0o640)
    for path in (etc, etc / "xdg"):
        path.chmod(0o755)
    for path in (etc / "passwd", etc / "xdg" / "menu"):
        path.chmod(0o644)
    os.symlink("/usr/share/zoneinfo/UTC", etc / "localtime")
    copy_etc(tmp_path / "copy", etc)
    found = sorted(str(p.relative_to(tmp_path / "copy")) for p in (tmp_path / "copy").rglob("*"))
    assert found == ["localtime", "passwd", "xdg", "xdg/menu"]
