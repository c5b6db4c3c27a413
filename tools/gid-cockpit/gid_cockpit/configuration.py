# SPDX-License-Identifier: MIT
"""The configuration as far as starting a cockpit takes it. gidd alone judges what is right."""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gid_console import printable

DEFAULT_CONFIG = Path("/etc/gidway/gidway.conf")
DEFAULT_RUNTIME = Path("/run/gidway")
FIRST_FILE = Path("cockpit.conf")  # of `init`


class CockpitError(Exception):
    """What went wrong and what to do about it, for people."""


class MistakesError(CockpitError):
    """The configuration has some, a line each."""

    def __str__(self) -> str:
        return printable(super().__str__())


@dataclass(frozen=True)
class MachineKeys:
    """What the file says of a guest's machine. Without disks it boots from this machine's root."""

    memory_mib: int = 1024
    cpus: int = 1
    accel: str = "auto"  # or "kvm", "tcg"
    arch: str = "own"  # or one that gid_vm.architecture knows
    kernel: Path | None = None
    initrd: Path | None = None
    append: str = ""
    disks: tuple[Path, ...] = ()
    display: tuple[int, int] | None = None  # width and height of its screen in pixels
    options: str = ""  # further arguments of QEMU, split as the shell does


@dataclass(frozen=True)
class ContainerKeys:
    """What the file says of a container. Command and options are split as the shell does."""

    image: str = ""
    command: str = ""  # empty: the image's own
    options: str = ""  # further arguments of podman run


@dataclass(frozen=True)
class Domain:
    """One domain. `joined`: the names of those that it has a link to."""

    name: str
    number: int
    user: str | None
    joined: frozenset[str]
    kind: str = "local"  # or "container", "guest", "host"
    doorbell: bool = True  # whether a guest has a doorbell device, and the host serves those
    window_kind: str = "ivshmem"  # or "dax", "auto"
    machine: MachineKeys = MachineKeys()
    container: ContainerKeys = ContainerKeys()


@dataclass(frozen=True)
class Configuration:
    """`domains` in the order of their numbers."""

    path: Path
    runtime: Path
    domains: tuple[Domain, ...]

    @property
    def hub(self) -> Domain | None:
        """The domain that is the host of the guests."""
        return next((domain for domain in self.domains if domain.kind == "host"), None)

    def command(self, words: str) -> str:
        """What people type."""
        return f"gid-cockpit --config {shlex.quote(str(self.path))} {words}"

    def by_name(self, name: str) -> Domain:
        return next(domain for domain in self.domains if domain.name == name)

    def choose(self, names: list[str]) -> list[Domain]:
        """The domains of these names; all, if there are none."""
        known = {domain.name: domain for domain in self.domains}
        for name in names:
            if name not in known:
                raise CockpitError(f"{self.path} has no [domain {name}]; it has: {' '.join(known)}")
        return [domain for domain in self.domains if not names or domain.name in names]


def find_program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise CockpitError(f"{name} is not in $PATH: is gidway installed?")
    return found


def read(path: Path, environment: Mapping[str, str] = os.environ) -> Configuration:
    """Reads a configuration. MistakesError has each that gidd found, with its line."""
    configuration, mistakes = understand(path, environment)
    if mistakes:
        raise MistakesError(mistakes)
    return configuration


def read_for_services(path: Path) -> Configuration:
    """As systemd's services read it, which have nothing of the environment of who asks here."""
    return read(path, {})


def understand(
    path: Path, environment: Mapping[str, str] = os.environ
) -> tuple[Configuration, str]:
    """As gidd reads it: of a file with mistakes what can be understood without them, and these."""
    path = path.absolute()
    if not path.exists():
        what = "write one (`gid-cockpit init` makes a first), see gidway.conf(5), or name another"
        if path == DEFAULT_CONFIG and FIRST_FILE.exists():
            what = f"this folder has a {FIRST_FILE}, which you can name"
        raise CockpitError(f"{path}: there is no such file: {what} with --config")
    command = [find_program("gidd"), "--check", "--json", "--config", str(path)]
    check = subprocess.run(command, capture_output=True)
    # It quotes bytes of the file, which may be any.
    mistakes = check.stderr.decode(errors="backslashreplace").strip()
    if check.returncode != 0 and not mistakes:
        mistakes = f"{path}: gidd refuses it"
    if not check.stdout:
        raise MistakesError(mistakes)
    found = json.loads(check.stdout.decode(errors="surrogateescape"))
    folder = path.absolute().parent
    domains = {entry["name"]: domain(entry, folder) for entry in found["domains"]}
    runtime = environment.get("GID_RUNTIME_DIR") or found["runtime"] or DEFAULT_RUNTIME
    by_number = sorted(domains.values(), key=lambda domain: domain.number)
    configuration = Configuration(path, Path(runtime).absolute(), tuple(by_number))
    return configuration, mistakes if check.returncode != 0 else ""


def domain(entry: dict[str, Any], folder: Path) -> Domain:
    """`folder`: that of the file, where paths begin."""
    return Domain(
        entry["name"],
        entry["number"],
        entry["user"],
        frozenset(entry["joined"]),
        entry["kind"],
        entry["doorbell"],
        entry["window-kind"],
        machine(entry["machine"], folder),
        ContainerKeys(**{key: value or "" for key, value in entry["container"].items()}),
    )


def machine(entry: dict[str, Any], folder: Path) -> MachineKeys:
    def path(key: str) -> Path | None:
        return None if entry[key] is None else folder / entry[key]

    return MachineKeys(
        memory_mib=entry["memory"] >> 20,
        cpus=entry["cpus"],
        accel=entry["accel"],
        arch=entry["arch"],
        kernel=path("kernel"),
        initrd=path("initrd"),
        append=entry["append"] or "",
        disks=tuple(folder / disk for disk in (entry["disk"] or "").split()),
        display=(entry["width"], entry["height"]) if entry["width"] else None,
        options=entry["options"] or "",
    )
