# SPDX-License-Identifier: MIT
"""Debian's packages have each file that is installed, once. ./run package makes them."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from installation import ADDED, DEBIAN, LEFT_OUT, fits, patterns
from lib.program import BUILD, PATIENCE, TOP


def test_each_file_is_in_one_package(installed: set[str]) -> None:
    rules = (DEBIAN / "rules").read_text()
    assert all(f"debian/tmp/{name}" in rules for name in ADDED)
    assert installed >= LEFT_OUT
    for name in sorted((installed | ADDED) - LEFT_OUT):
        packages = [package for package, pattern in patterns() if fits(name, pattern)]
        assert len(packages) == 1, f"{name} is in {packages or 'no package'}"


def test_each_line_has_a_file(installed: set[str]) -> None:
    for package, pattern in patterns():
        assert any(fits(name, pattern) for name in installed | ADDED), f"{package}: {pattern}"


def test_they_are_in_debians_places(installed: set[str]) -> None:
    """Where stock Weston, GStreamer, systemd and pkg-config look by themselves."""
    for pattern in (
        "usr/lib/*/weston/gid-buffer.so",
        "usr/lib/*/gstreamer-1.0/libgstgid.so",
        "usr/lib/systemd/system/gidd@.service",
        "usr/lib/*/pkgconfig/libgid.pc",
        "usr/share/man/man8/gidd.8",
    ):
        assert any(fits(name, pattern) for name in installed), pattern
        assert any(fits(pattern, line) for _, line in patterns()), pattern


def test_the_packages_are_those_of_the_control_file() -> None:
    control = (DEBIAN / "control").read_text()
    named = set(re.findall(r"^Package: (.*)$", control, re.MULTILINE))
    assert named == {path.stem for path in DEBIAN.glob("*.install")}


def test_lines_of_descriptions_fit() -> None:
    """As lintian asks, which only ./run package runs."""
    lines = (DEBIAN / "control").read_text().splitlines()
    described = [line for line in lines if re.match(r" [^ .]", line) and not line.endswith(",")]
    assert [line for line in described if len(line) > 80] == []


def field(package: str, name: str) -> set[str]:
    """What the control file says of a package."""
    control = (DEBIAN / "control").read_text()
    section = re.search(rf"(?ms)^Package: {re.escape(package)}$.*?(?=^Package: |\Z)", control)[0]
    value = re.search(rf"(?m)^{name}:((?:.*\n)(?: .*\n)*)", section)
    return {one.split()[0] for one in value[1].split(",") if one.strip()} if value else set()


def test_the_line_of_install_md_gives_all_that_its_test_takes() -> None:
    """The short test there, the engine and the headers, and each package but those for a few."""
    line = re.search(
        r"apt install \./build/packages/\{(.*)\}", (TOP / "docs/install.md").read_text()
    )
    named = set(line[1].split(","))
    all_of_them = {path.stem for path in DEBIAN.glob("*.install")}
    assert all_of_them - named == {"gid-dmabuf-dkms", "libgid-wlroots-dev"}
    assert {"gstreamer1.0-tools", "gstreamer1.0-plugins-base"} <= field(
        "gstreamer1.0-gid", "Recommends"
    )
    assert line[1] in (TOP / "packaging/README.md").read_text()


def test_what_is_installed_is_what_is_removed() -> None:
    page = (TOP / "docs/install.md").read_text()
    installed = re.search(r"apt install \./build/packages/\{(.*)\}", page)[1].split(",")
    assert re.search(r"apt purge (.*)", page)[1].split() == installed


MADE = ["gidd_1_amd64.deb", "libgid0_1_amd64.deb", "gidway_1.dsc", "gidway_1.debian.tar.xz"]
MADE += ["gidway_1.buildinfo", "gidway_1.changes"]


# What dpkg-buildpackage does here: it makes empty packages.
BUILDS = """
echo "$*" >'{folder}/asked'
find . -type f >'{folder}/packed'
pwd >'{folder}/built in'
echo "$CCACHE_DISABLE" >'{folder}/compiled'
cd ..
touch {made}
"""


def package(
    top: Path, target: Path, folder: Path, *options: str | Path, **environment: str
) -> set[str]:
    """What ./run package packs, with programs that make empty packages only."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name, script in (
        ("dpkg-checkbuilddeps", f"echo \"$*\" >'{folder}/needed'"),
        ("dpkg-buildpackage", BUILDS.format(folder=folder, made=" ".join(MADE))),
        ("lintian", "exit 0"),
        # What looks whether programs are hardened.
        ("python3", f"echo \"$*\" >'{folder}/hardened'"),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    env = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "GIDWAY_BUILD": str(BUILD)}
    env |= environment
    words = [top / "scripts" / "package", *options, target]
    subprocess.run(words, env=env, check=True, capture_output=True, timeout=PATIENCE)
    return set((folder / "packed").read_text().splitlines())


def test_only_packages_of_an_earlier_run_are_removed(tmp_path: Path) -> None:
    """The folder may be anybody's, such as a home: all in it was gone."""
    target = tmp_path / "target"
    old = ["gidd_0_amd64.deb", "gidd-dbgsym_0_amd64.deb", "gidway_0.changes"]
    mine = ["letter.txt", "other_1_amd64.deb", "photos/one.jpg"]
    (target / "photos").mkdir(parents=True)
    for name in [*old, *mine]:
        (target / name).touch()
    package(small_archive(tmp_path / "gidway"), target, tmp_path)
    found = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert found >= {*MADE, *mine}
    assert not found & set(old)


@pytest.mark.parametrize(("arch", "words"), [("", []), ("arm64", ["-a", "arm64"])])
def test_they_are_of_the_architecture_that_is_built_for(
    tmp_path: Path, arch: str, words: list[str]
) -> None:
    """Those of this machine were asked for, whose libraries are not there."""
    package(small_archive(tmp_path / "gidway"), tmp_path / "target", tmp_path, GIDWAY_ARCH=arch)
    for name in ("needed", "asked"):
        said = (tmp_path / name).read_text().split()
        at = said.index("-a") if "-a" in said else len(said)
        assert said[at : at + 2] == words, name
    machine = "aarch64-linux-gnu" if arch else ""
    assert f"/obj-{machine}" in (tmp_path / "hardened").read_text()


def small_archive(top: Path) -> Path:
    """What ./run package needs of one that was unpacked."""
    needed = ("scripts/package", "scripts/version", "scripts/say.sh", "packaging/debian")
    for name in (*needed, "meson.build", "NEWS.md"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-r", TOP / name, top / name], check=True)
    return top


def test_sums_are_of_what_anybody_can_make_again(tmp_path: Path) -> None:
    target = tmp_path / "target"
    package(small_archive(tmp_path / "gidway"), target, tmp_path)
    (sums,) = target.glob("gidway_*.sha256")
    (source,) = target.glob("gidway_*.orig.tar.xz")
    named = [line.split()[1] for line in sums.read_text().splitlines()]
    told = {name for name in MADE if not name.endswith((".buildinfo", ".changes"))}
    assert named == sorted(named) and set(named) == told | {source.name}
    assert (tmp_path / "compiled").read_text() == "1\n", "it is not what was compiled before"
    subprocess.run(["sha256sum", "--check", "--strict", sums], cwd=target, check=True)


# As dpkg-buildflags judges a path, before it hides the path from the programs.
PLAIN = re.compile(r"[-+:.0-9a-zA-Z~/_]+")


@pytest.mark.parametrize("name", ["temporary", "temporary files", "été", "link"])
def test_packages_are_built_where_no_path_gets_into_programs(tmp_path: Path, name: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as above:
        temporary = Path(above) / name
        place = Path(above) / "a place" if name == "link" else temporary
        place.mkdir()
        if name == "link":
            temporary.symlink_to(place)
        top = small_archive(tmp_path / "gidway")
        package(top, tmp_path / "target", tmp_path, TMPDIR=str(temporary))
        built_in = (tmp_path / "built in").read_text().removesuffix("\n")
        assert PLAIN.fullmatch(built_in)
        assert built_in.startswith(f"{temporary}/") == (name == "temporary")
        assert not Path(built_in).parent.exists() and list(place.iterdir()) == []


def check_of_the_document(folder: Path) -> subprocess.CompletedProcess[str]:
    page = (TOP / "docs/install.md").read_text()
    (lines,) = re.findall(r"^(openssl pkeyutl -verify .*\n(?:.+\n)*?sha256sum .*)$", page, re.M)
    command = ["bash", "-euc", lines]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_signed_packages_are_checked_as_the_document_says(tmp_path: Path) -> None:
    key, target = tmp_path / "release.key", tmp_path / "target"
    for words in (
        ("genpkey", "-algorithm", "ed25519", "-out", key),
        ("pkey", "-in", key, "-pubout", "-out", tmp_path / "gidway.pem"),
    ):
        subprocess.run(["openssl", *words], check=True)
    top = small_archive(tmp_path / "gidway")
    package(top, target, tmp_path, "--sign", key)
    (target / "gidway.pem").write_bytes((tmp_path / "gidway.pem").read_bytes())
    (target / "gidway_1.dsc").unlink()  # not all is brought to each machine
    assert check_of_the_document(target).returncode == 0

    (target / "libgid0_1_amd64.deb").write_text("another one")
    said = check_of_the_document(target)
    assert said.returncode != 0 and "libgid0_1_amd64.deb: FAILED" in said.stdout
    (sums,) = target.glob("gidway_*.sha256")
    subprocess.run(f"sha256sum *.deb >'{sums}'", shell=True, cwd=target, check=True)
    assert "Signature Verification Failure" in check_of_the_document(target).stdout

    package(top, target, tmp_path)
    assert not list(target.glob("*.sig")), "that of an earlier run is not for these"


def test_a_key_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    command = [TOP / "scripts/package", "--sign", tmp_path / "none", tmp_path / "target"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (said.returncode, (tmp_path / "target").exists()) == (2, False)
    assert f"cannot read the key {tmp_path}/none" in said.stderr


def test_a_clone_is_packed_as_git_knows_it(tmp_path: Path) -> None:
    top = small_archive(tmp_path / "gidway")
    (top / ".gitignore").write_text("*.o\n")
    (top / "left.o").touch()
    who = ("-c", "user.name=who", "-c", "user.email=who@example.org")
    for words in (("init", "--quiet"), ("add", "."), (*who, "commit", "--quiet", "-m", "all")):
        subprocess.run(["git", "-C", top, *words], check=True)
    packed = package(top, tmp_path / "target", tmp_path)
    assert "./scripts/package" in packed and "./left.o" not in packed


def test_an_unpacked_archive_is_packed_without_its_builds(tmp_path: Path) -> None:
    """Also where it lies in a repository of something else, which knows nothing of it."""
    top = small_archive(tmp_path / "gidway")
    for name in ("build-asan/large.o", "README.md"):
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).touch()
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("*\n")
    packed = package(top, tmp_path / "target", tmp_path)
    assert {"./README.md", "./scripts/package", "./debian/control"} <= packed
    assert "./build-asan/large.o" not in packed


def test_the_document_names_each_package_and_its_programs() -> None:
    rows = re.findall(r"^\| (`.*)$", (TOP / "docs/install.md").read_text(), re.M)
    packages = re.findall(r"^Package: (.*)$", (DEBIAN / "control").read_text(), re.M)
    for package in packages:
        (row,) = [row for row in rows if f"`{package}`" in row.split("|")[0]]
        files = (DEBIAN / f"{package}.install").read_text().split()
        for program in (Path(file).name for file in files if file.startswith("usr/bin/")):
            assert f"`{program}`" in row or program == package, f"{package}: {program}"
