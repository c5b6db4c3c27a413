# SPDX-License-Identifier: MIT
"""The paths that gid-cockpit, and what it runs as root, follow: docs/security.md lists them.

Whoever is to run a domain owns its folder, and what lies in it may be a link. So each path there
has a test that puts one in its place; a path that is new has none yet.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from gid_cockpit.access import READ, WRITE, let_in
from gid_cockpit.configuration import CockpitError
from gid_vm.guest import why_not
from gid_vm.initramfs import find_kernel, make_initramfs
from gid_vm.kernel import unpack_kernel
from lib.followed import listed
from lib.program import PATIENCE, TOP
from test_cockpit import Tool, tool  # noqa: F401

from lab.domains.configuration import configuration

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

CONFIGURATION = configuration(
    {
        "host": "kind=host window=1M",
        "open": "kind=guest window=1M vm-accel=tcg vm-memory=256M",
        "hud": "",
    },
    {"open host": "movie", "hud host": "movie"},
    runtime="{runtime}",
)
COMMANDS = ("up host hud", "up open", "status", "reload host hud", "run open true", "down")
# Whose work it is that a process does with root's rights. QEMU is the guest's user's.
PROGRAMS = {"python3": "gid-cockpit", "setpriv": "gid-cockpit", "gidd": "gidd", "gidctl": "gidctl"}
STARTS = {"clone", "clone3", "fork", "vfork"}
# Asks only how a path is, or names it to another program.
HARMLESS = {"newfstatat", "stat", "lstat", "access", "faccessat2", "readlink", "execve", "statx"}


def trace(tool: Tool) -> str:  # noqa: F811
    """All file system calls of all commands, and of what they start, to its end."""
    cockpit = f"timeout 100 gid-cockpit --config '{tool.config}'"
    script = "\n".join(f"{cockpit} {command}" for command in COMMANDS)
    output = tool.folder / "trace"
    words = ["strace", "-f", "-qq", "-s", "300", "-e", "trace=%file,%process,connect,bind"]
    subprocess.run(
        [*words, "-o", str(output), "sh", "-c", script],
        env=tool.env,
        capture_output=True,
        timeout=3 * PATIENCE,
    )
    return output.read_text(errors="replace")


def normal(path: str) -> str:
    path = re.sub(r"/(host|open|hud)(?=/|$)", "/NAME", path)
    path = re.sub(r"/(?:host|open|hud)\.(sock|bus)$", r"/OTHER.\1", path)
    return re.sub(r"(/window/NAME)/.*", r"\1/FILE", re.sub(r"/log/NAME/.*", "/log/NAME/FILE", path))


def test_each_path_is_listed(tool: Tool) -> None:  # noqa: F811
    tool.write(CONFIGURATION)
    names: dict[str, str] = {}
    found: dict[str, set[str]] = {who: set() for who in PROGRAMS.values()}
    for line in trace(tool).splitlines():
        call = re.match(r"(\d+)\s+(?:<\.\.\. )?(\w+)(?:\(| resumed>)(.*)", line)
        if call is None:
            continue
        process, name, rest = call.groups()
        if (child := re.search(r" = (\d+)$", rest)) is not None and name in STARTS:
            names.setdefault(child[1], names.get(process, ""))
        paths = re.findall(r'"([^"]*)"', rest)
        if name == "execve" and paths:
            names[process] = Path(paths[0]).name
        who = PROGRAMS.get(names.get(process, ""))
        for path in paths if who is not None and name not in HARMLESS else ():
            if path.startswith(str(tool.runtime)):
                found[who].add(normal(path.replace(str(tool.runtime), "RUNTIME")))
    assert all(found.values()), "strace saw nothing"
    known = listed()
    for who, paths in found.items():
        assert paths <= known[who], f"{who} follows what docs/security.md does not list"
    # Not by an ordinary user: what is given to others. And files of a folder that is open already.
    assert known["gid-cockpit"] - found["gid-cockpit"] <= {
        "RUNTIME/bell",
        "RUNTIME/hub",
        "RUNTIME/window",
        "RUNTIME/window/NAME",
        "RUNTIME/window/NAME/FILE",
        "RUNTIME/log/NAME/FILE",
        "RUNTIME/NAME/start.lock",
    }


def test_what_a_guest_boots_from_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its user has the folder, and changes what is in it at any time: what root writes is new."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name in ("kernel", "initramfs"):
        (tmp_path / name).symlink_to(victim)
    image, modules = find_kernel()
    unpack_kernel(image, tmp_path / "kernel")
    make_initramfs(tmp_path / "initramfs", modules)
    assert victim.read_text() == "precious"
    assert not (tmp_path / "initramfs").is_symlink()
    # A pipe without an end takes the kernel's place before root has looked at what it wrote.
    programs = tmp_path / "programs"
    programs.mkdir()
    script = (
        f"rm '{tmp_path}/kernel' && mkfifo '{tmp_path}/kernel'; exec {shutil.which('zstd')} \"$@\""
    )
    (programs / "zstd").write_text(f"#!/bin/sh\n{script}\n")
    (programs / "zstd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    assert unpack_kernel(image, tmp_path / "kernel") == tmp_path / "kernel"


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe"])
def test_a_lock_is_nobody_elses(tool: Tool, kind: str) -> None:  # noqa: F811
    """As the domain's user could put another domain's in its place, which would then be held."""
    place, victim = tool.runtime / "open" / "start.lock", tool.folder / "victim"
    place.parent.mkdir(parents=True)
    victim.touch()
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "link":
        place.symlink_to(victim)
    else:
        place.hardlink_to(victim)
    result = tool.run("up", "open")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert f"gid-cockpit: {place}: " in result.stderr
    assert not (tool.runtime / "open" / "gidd.sock").exists()


@pytest.mark.parametrize("link", ["file", "folder"])
def test_rights_are_given_to_no_link(tmp_path: Path, link: str) -> None:
    """As the hub's user could put it in the place of a window, or of all windows of a domain."""
    victim = tmp_path / "victim" / "1.2"
    victim.parent.mkdir()
    victim.touch(0o600)
    folder = tmp_path / "open"
    if link == "folder":
        folder.symlink_to(victim.parent)
    else:
        folder.mkdir()
        (folder / "1.2").symlink_to(victim)
    with pytest.raises(CockpitError, match=r"1\.2"):
        let_in(folder / "1.2", {12345: READ | WRITE})
    assert "system.posix_acl_access" not in os.listxattr(victim)


def test_gidctl_opens_what_is_listed() -> None:
    """What its sources, and those that reach gid-cluster's status for it, call with a path."""
    calls = r"\b(connect|open|openat|fopen|opendir|statfs|access|unlink|rename|mkdir|chown|chmod)\("
    found = {
        (path.name, call)
        for folder in ("gidctl", "display")
        for path in (TOP / "tools" / folder).glob("*.c")
        for call in re.findall(calls, path.read_text())
    }
    assert found == {
        ("assumptions.c", "access"),  # RUNTIME/window
        ("assumptions.c", "fopen"),  # below /proc and /sys
        ("assumptions.c", "open"),  # /proc/self/fd: memory of its own
        ("assumptions.c", "opendir"),  # below /sys
        ("doctor.c", "access"),  # RUNTIME/NAME/link/gidd.lock
        ("doctor.c", "opendir"),  # RUNTIME
        ("doctor.c", "statfs"),
        ("display_socket.c", "connect"),  # RUNTIME/NAME/cluster.sock, or a service's
        ("gidctl_picture.c", "open"),  # the file that whoever runs it names, and no other
        ("gidctl_picture.c", "unlink"),
        ("report.c", "access"),  # RUNTIME/NAME/gidd.sock
        ("report.c", "opendir"),  # RUNTIME
    }
