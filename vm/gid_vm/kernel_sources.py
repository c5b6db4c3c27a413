# SPDX-License-Identifier: MIT
"""Debian's kernel sources, for parts that guests need and Debian does not build."""

import os
import platform
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .initramfs import CannotBoot

FETCH_SECONDS = 900
BUILD_SECONDS = 3600  # four minutes of two processors, while all tests may run as well


def run(command: Sequence[str | Path], work: Path, seconds: float) -> None:
    """Runs a command with its output in a file of `work`; an error quotes the end of it."""
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
    """The package with the sources of Debian's kernel `release`."""
    match = re.match(r"[0-9]+\.[0-9]+", release)
    query = ["dpkg-query", "-W", "-f", "${Version}", f"linux-image-{release}"]
    found = subprocess.run(query, capture_output=True, text=True)
    if match is None or found.returncode != 0:
        raise CannotBoot(f"Linux {release} is not one of Debian's packages: no sources are known")
    apt = Apt(work)
    apt.update()
    package = f"linux-source-{match[0]}"
    try:
        return apt.download(f"{package}={found.stdout}")
    except CannotBoot:
        # The archive has a newer version. Another revision of the same release usually fits the
        # headers.
        return apt.download(package)


def fetch_newer_sources(wanted: str, work: Path) -> Path:
    """The package with the sources of Linux `wanted`, which a release may have as a backport.

    If that is not available, the newest package there is.
    """
    apt = Apt(work)
    try:
        apt.update(backports=True)
    except CannotBoot:  # not every release has backports
        apt.update()
    found = apt.search("linux-source-")
    package = f"linux-source-{wanted}"
    return apt.download(package if package in found else max(found, key=_version))


def _version(package: str) -> list[int]:
    return [int(number) for number in re.findall("[0-9]+", package)]


class Apt:
    """apt with its own lists and cache, and the system's archives.

    The private root has no lists, and only root can write the system's. With an `architecture` of
    Debian it sees only packages of that architecture, none of them installed.
    """

    def __init__(self, work: Path, architecture: str | None = None) -> None:
        self._work = work
        for folder in ("state/lists/partial", "cache/archives/partial", "sources"):
            (work / folder).mkdir(parents=True)
        self._options = ["-o", f"Dir::State={work}/state", "-o", f"Dir::Cache={work}/cache"]
        status = Path("/var/lib/dpkg/status")
        if architecture is not None:
            status = work / "state/status"
            status.touch()
            self._options += ["-o", f"APT::Architecture={architecture}"]
            self._options += ["-o", f"APT::Architectures={architecture}"]
        self._options += ["-o", f"Dir::State::status={status}"]
        self._options += ["-o", "APT::Sandbox::User=", "-o", "Acquire::Languages=none"]

    def update(self, backports: bool = False) -> None:
        """Fetches the lists; with `backports` also those of the release's backports."""
        where = self._with_backports() if backports else []
        run(["apt-get", "-q", *self._options, *where, "update"], self._work, FETCH_SECONDS)
        self._options += where

    def _with_backports(self) -> list[str]:
        """Options for the system's archives, each repeated for the backports of its release."""
        release = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
        places = [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]
        for place in places:
            if release and place.suffix in (".list", ".sources") and place.is_file():
                text = place.read_text()
                more = re.sub(rf"(?<=\s){release}(?=\s)", f"{release}-backports", text)
                for name, content in ((place.name, text), (f"backports-{place.name}", more)):
                    (self._work / "sources" / name).write_text(content)
        parts = f"Dir::Etc::sourceparts={self._work}/sources"
        return ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", parts]

    def search(self, prefix: str) -> list[str]:
        """The packages whose names are `prefix` and a version."""
        command = ["apt-cache", *self._options, "pkgnames", prefix]
        found = subprocess.run(command, capture_output=True, text=True).stdout.split()
        versions = [name for name in found if re.fullmatch(rf"{prefix}[0-9.]+", name)]
        if not versions:
            raise CannotBoot(f"apt knows no package {prefix}VERSION")
        return versions

    def download(self, package: str) -> Path:
        command = ["apt-get", "-q", "-y", *self._options, "download", package]
        run(command, self._work, FETCH_SECONDS)
        return next(self._work.glob(f"{package.partition('=')[0]}_*.deb"))

    def download_with_all(self, dependencies: Sequence[str]) -> list[Path]:
        """These packages and their dependencies. An entry may list alternatives (a | b)."""
        options = [*self._options, "--no-install-recommends", "--download-only"]
        run(["apt-get", "-q", "-y", *options, "satisfy", *dependencies], self._work, FETCH_SECONDS)
        return sorted((self._work / "cache/archives").glob("*.deb"))


def extract(package: Path, paths: Sequence[str], work: Path) -> Path:
    """Extracts these files and folders of the sources below `work`; all if none is named."""
    run(["dpkg-deb", "--extract", package, work / "package"], work, BUILD_SECONDS)
    (archive,) = (work / "package/usr/src").glob("linux-source-*.tar.xz")
    top = archive.name.removesuffix(".tar.xz")
    named = [f"{top}/{path}" for path in paths]
    run(["tar", "--extract", "--file", archive, *named], work, BUILD_SECONDS)
    return work / top
