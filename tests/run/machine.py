# SPDX-License-Identifier: MIT
"""A machine that `./run` finds, as far as its system goes: with what a test gives it."""

import os
import shutil
import subprocess
from pathlib import Path

from lib.program import PATIENCE, TOP

SETUP = TOP / "scripts" / "debian-root"
ROOT, NOBODY = 0, 65534


class Machine:
    """One that is Debian, has none of the packages, and cannot have them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.first, self.sbin = folder / "first", folder / "sbin"
        for path in (self.first, self.sbin, folder / "cache"):
            path.mkdir()
        self.mounts = ["--bind", str(self.sbin), "/usr/sbin"]
        self.release("bookworm")
        for path in Path("/usr/bin").iterdir():
            (self.first / path.name).symlink_to(path)
        self.env: dict[str, str] = {}
        self.add("dpkg-query", "exit 0")
        self.add("apt-get", "exit 1")
        self.add("apt-config", "exit 0")

    def add(self, name: str, script: str, folder: Path | None = None) -> None:
        """A program that is found before the machine's own."""
        path = (folder or self.first) / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def release(self, name: str) -> None:
        """Of its Debian, whose apt has fetched no lists of packages."""
        path = self.folder / f"os-release-{name}"
        path.write_text(f"ID=debian\nVERSION_CODENAME={name}\n")
        self.mounts += ["--bind", str(path), "/usr/lib/os-release"]
        if Path("/var/lib/apt/lists").exists():
            self.mounts += ["--tmpfs", "/var/lib/apt/lists"]

    def make_root(self) -> None:
        """One that is prepared already: this system's folders."""
        self.add("sha256sum", "cat >/dev/null; echo 0123456789abcdef")
        root = self.folder / "cache" / "gidway" / "root-0123456789ab"
        (root / "var" / "lib").mkdir(parents=True)
        for name in ("boot", "etc", "usr", "var/lib/dpkg"):
            (root / name).symlink_to(f"/{name}")

    def hide(self, name: str) -> None:
        (self.first / name).unlink(missing_ok=True)

    def run(
        self, *words: str, user: int = NOBODY, suite: str = "forky"
    ) -> subprocess.CompletedProcess[str]:
        """As another user, who has our rights in a user namespace."""
        other = ["--unshare-user", "--uid", str(user), "--gid", str(user), "--cap-add", "ALL"]
        command = [shutil.which("bwrap"), *other, "--dev-bind", "/", "/", *self.mounts]
        env = {k: v for k, v in os.environ.items() if not k.startswith(("GIDWAY_", "XDG_"))}
        env |= {"PATH": str(self.first), "GIDWAY_SUITE": suite}
        env |= {"XDG_CACHE_HOME": str(self.folder / "cache")}
        return subprocess.run(
            [*command, str(SETUP), *words],
            env=env | self.env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def run_here(self, *words: str) -> subprocess.CompletedProcess[str]:
        """On this machine as it is, but for the programs that were added."""
        return subprocess.run(
            [str(SETUP), *words],
            env=self.env_here(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def env_here(self) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("GIDWAY_", "XDG_"))}
        env |= {"XDG_CACHE_HOME": str(self.folder / "cache")} | self.env
        return env | {"PATH": f"{self.first}:{env['PATH']}"}
