# SPDX-License-Identifier: MIT
"""Debian's sources of a kernel, for what of it guests need that Debian has not built."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .initramfs import CannotBoot

FETCH_SECONDS = 900
BUILD_SECONDS = 900


def run(command: Sequence[str | Path], work: Path, seconds: float) -> None:
    """Runs it with its output in a file of `work`, and reports its end where it fails."""
    path = work / "log"
    with path.open("wb") as log:
        try:
            result = subprocess.run(
                [str(word) for word in command],
                cwd=work,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                env=os.environ | {"LC_ALL": "C"},
            )
        except subprocess.TimeoutExpired:
            raise CannotBoot(f"{Path(command[0]).name} was not done in {seconds:.0f} s") from None
    if result.returncode != 0:
        said = path.read_text(errors="replace").strip()[-1000:]
        raise CannotBoot(f"{Path(command[0]).name} failed:\n{said}")


def fetch_sources(release: str, work: Path) -> Path:
    """The package with the sources, from where this system has its other packages from.

    apt's lists are fetched for this alone: the private root has none, and only root could write
    the system's.
    """
    match = re.match(r"[0-9]+\.[0-9]+", release)
    query = ["dpkg-query", "-W", "-f", "${Version}", f"linux-image-{release}"]
    found = subprocess.run(query, capture_output=True, text=True)
    if match is None or found.returncode != 0:
        raise CannotBoot(f"Linux {release} is not one of Debian's packages: no sources are known")
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True)
    apt = ["apt-get", "-q", "-y", "-o", f"Dir::State={work}/state"]
    apt += ["-o", f"Dir::Cache={work}/cache"]
    apt += ["-o", "Dir::State::status=/var/lib/dpkg/status", "-o", "APT::Sandbox::User="]
    apt += ["-o", "Acquire::Languages=none"]
    package = f"linux-source-{match[0]}"
    run([*apt, "update"], work, FETCH_SECONDS)
    try:
        run([*apt, "download", f"{package}={found.stdout}"], work, FETCH_SECONDS)
    except CannotBoot:
        # The archive has gone on. Another state of the same release most often fits the headers.
        run([*apt, "download", package], work, FETCH_SECONDS)
    return next(work.glob("linux-source-*.deb"))


def extract(package: Path, paths: Sequence[str], work: Path) -> Path:
    """Those files and folders of the sources, all of them if none is named, below `work`."""
    run(["dpkg-deb", "--extract", package, work / "package"], work, BUILD_SECONDS)
    (archive,) = (work / "package/usr/src").glob("linux-source-*.tar.xz")
    top = archive.name.removesuffix(".tar.xz")
    named = [f"{top}/{path}" for path in paths]
    run(["tar", "--extract", "--file", archive, *named], work, BUILD_SECONDS)
    return work / top
