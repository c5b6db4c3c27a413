# SPDX-License-Identifier: MIT
"""An installation into a folder, used as docs/install.md says."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.document_reader import Reader
from lib.documents import read_document
from lib.program import BUILD, TOP

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `meson install` makes, below another root."""
    root = tmp_path_factory.mktemp("root")
    command = ["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", root]
    subprocess.run(command, check=True, capture_output=True)
    return root


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = Reader(os.environ)
    try:
        yield reader
    finally:
        reader.close()


def test_a_folder_of_ones_own(installed: Path, reader: Reader) -> None:
    prefix = installed / "usr/local"
    (reader.home / "opt").mkdir()
    (reader.home / "opt" / "gidway").symlink_to(prefix)
    reader.follow(read_document(TOP / "docs/install.md"))
    terminal = reader.terminal("1")
    terminal.run("command -v gidd gidctl gid-view gid-cluster gid-cockpit gid-timeline")
    terminal.run("gst-inspect-1.0 gidsrc | grep Filename")
    terminal.run("gid-timeline simulate --frames 2000 | grep 'fixed 7 ms'")  # has its library
    for end in ("/bin/gidd", "/bin/gid-cockpit", "/gstreamer-1.0/libgstgid.so"):
        lines = [line for line in terminal.text.splitlines() if line.endswith(end)]
        assert lines and all(f"{reader.home}/opt/gidway" in line for line in lines), lines
    terminal.run(
        "weston --backend=headless --renderer=pixman --modules=gid-buffer.so --log=weston.log "
        "--no-config -- true || true"
    )
    log = (reader.folder / "weston.log").read_text()
    assert f"Loading module '{reader.home}/opt/gidway" in log, log
    assert "gid: no connection to gidd" in log, "it has begun, and there is no daemon any longer"


def test_all_that_the_document_names_is_installed(installed: Path) -> None:
    """Programs, manuals, services, the library and the module, each in its folder."""
    names = {str(path.relative_to(installed)) for path in installed.rglob("*")}

    def is_there(end: str) -> bool:
        return any(name.endswith(end) for name in names)

    for program in ("gid-cockpit", "gidctl", "gid-timeline", "gid-view", "gid-telltale"):
        assert is_there(f"bin/{program}") and is_there(f"man/man1/{program}.1"), program
    for end in (
        "weston/gid-buffer.so",
        "gstreamer-1.0/libgstgid.so",
        "pkgconfig/libgid.pc",
        "include/gid/stream.h",
        "systemd/system/gidd@.service",
        "systemd/system/gidd@.socket",
        "systemd/system/gid-cluster@.service",
        "sysusers.d/gidd.conf",
        "tmpfiles.d/gidd.conf",
    ):
        assert is_there(end), f"{end} is not installed: {sorted(names)}"


FEATURES = re.findall(r"option\('(\w+)', type: 'feature'", (TOP / "meson.options").read_text())


def configure(folder: Path, *features: str) -> None:
    """A build without them."""
    without = [f"-D{feature}=disabled" for feature in features]
    command = ["meson", "setup", folder / "build", TOP, *without]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-500:]


def test_all_parts_can_be_left_out(tmp_path: Path) -> None:
    configure(tmp_path, *FEATURES)


@pytest.mark.at_length
@pytest.mark.parametrize("feature", FEATURES)
def test_each_part_can_be_left_out(feature: str, tmp_path: Path) -> None:
    configure(tmp_path, feature)
