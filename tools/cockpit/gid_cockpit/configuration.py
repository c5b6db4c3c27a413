# SPDX-License-Identifier: MIT
"""The configuration as far as starting a cockpit takes it. gidd alone judges what is right."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gid_console import printable

DEFAULT_CONFIG = Path("/etc/gidway/gidway.conf")
DEFAULT_RUNTIME = Path("/run/gidway")


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
    kernel: Path | None = None
    initrd: Path | None = None
    append: str = ""
    disks: tuple[Path, ...] = ()
    display: tuple[int, int] | None = None  # width and height of its screen in pixels
    options: str = ""  # further arguments of QEMU, split as the shell does


@dataclass(frozen=True)
class Domain:
    """One domain. `joined`: the names of those that it has a link to."""

    name: str
    number: int
    user: str | None
    joined: frozenset[str]
    kind: str = "local"  # or "guest", "host"
    doorbell: bool = True  # whether a guest has a doorbell device, and the host serves those
    window_kind: str = "ivshmem"  # or "dax", "auto"
    machine: MachineKeys = MachineKeys()


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

    def by_name(self, name: str) -> Domain:
        return next(domain for domain in self.domains if domain.name == name)

    def choose(self, names: list[str]) -> list[Domain]:
        """The domains of these names; all, if there are none."""
        known = {domain.name: domain for domain in self.domains}
        for name in names:
            if name not in known:
                raise CockpitError(f"{self.path} has no [domain {name}]; it has: {' '.join(known)}")
        return [domain for domain in self.domains if not names or domain.name in names]


def size(text: str) -> int:
    """Bytes: a number with K, M, G or T of 1024 behind it, as gidd reads it."""
    shift = {"K": 10, "M": 20, "G": 30, "T": 40}.get(text[-1:], 0)
    return int(text[:-1] if shift else text) << shift


def read_machine(keys: Mapping[str, str]) -> MachineKeys:
    """The defaults for one with a mistake, which is not started."""
    try:
        return understand_machine(keys)
    except ValueError:
        return MachineKeys()


def understand_machine(keys: Mapping[str, str]) -> MachineKeys:
    def path(key: str) -> Path | None:
        return Path(keys[key]) if key in keys else None

    return MachineKeys(
        memory_mib=size(keys.get("vm-memory", "1G")) >> 20,
        cpus=int(keys.get("vm-cpus", "1")),
        accel=keys.get("vm-accel", "auto"),
        kernel=path("vm-kernel"),
        initrd=path("vm-initrd"),
        append=keys.get("vm-append", ""),
        disks=tuple(map(Path, keys.get("vm-disk", "").split())),
        display=screen_size(keys.get("vm-display", "none")),
        options=keys.get("vm-options", ""),
    )


def screen_size(text: str) -> tuple[int, int] | None:
    """WIDTHxHEIGHT, or none."""
    if text == "none":
        return None
    width, height = text.split("x")
    return int(width), int(height)


def read_sections(text: str) -> list[tuple[list[str], dict[str, str]]]:
    """The words of each section's head, and its keys. What gidd finds a mistake is left out.

    As gidd takes it: what is indented behind a key goes on with its value, a first key is no such.
    """
    found: list[tuple[list[str], dict[str, str]]] = []
    key = ""
    for line in text.split("\n"):
        words = line.strip(" \t\r")
        if words == "" or words[0] in "#;":
            continue
        goes_on = key != "" and line[0] != words[0]
        if words[0] == "[" and not goes_on:
            found.append((words[1:].partition("]")[0].split(), {}))
            key = ""
            continue
        if not found or (not goes_on and re.search("[=:]", words) is None):
            continue  # a mistake
        if not goes_on:
            key, words = re.split(r"\s*[=:]", words, maxsplit=1)
        value = re.split(r"\s;", words, maxsplit=1)[0].strip()
        keys = found[-1][1]
        keys[key] = f"{keys[key]}\n{value}" if goes_on else value
    return found


def find_program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise CockpitError(f"{name} is not in $PATH: is gidway installed?")
    return found


def read(path: Path) -> Configuration:
    """Reads a configuration. MistakesError has each that gidd found, with its line."""
    path = path.absolute()
    if not path.exists():
        raise CockpitError(
            f"{path}: there is no such file: write one (`gid-cockpit init` makes a first), see "
            "gidway.conf(5), or name another with --config"
        )
    check = subprocess.run(
        [find_program("gidd"), "--check", "--config", str(path)], capture_output=True
    )
    if check.returncode != 0:
        # It quotes bytes of the file, which may be any.
        mistakes = check.stderr.decode(errors="backslashreplace").strip()
        raise MistakesError(mistakes or f"{path}: gidd refuses it")
    return understand(path)


def understand(path: Path) -> Configuration:
    """What is in the file; of one with mistakes, what can be understood without them."""
    # With a byte order mark, which some editors leave, and in any encoding.
    text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    sections = [(words[0], words[1:], keys) for words, keys in read_sections(text) if words]
    joined: dict[str, set[str]] = {}
    for kind, names, _ in sections:
        if kind == "share" and len(names) == 2:
            joined.setdefault(names[0], set()).add(names[1])
            joined.setdefault(names[1], set()).add(names[0])
    domains = {
        names[0]: Domain(
            names[0],
            int(number) if (number := keys.get("number", "")).isdecimal() else 0,
            keys.get("user"),
            frozenset(joined.get(names[0], ())),
            keys.get("kind", "local"),
            keys.get("doorbell", "on") != "off",
            keys.get("window-kind", "ivshmem"),
            read_machine(keys),
        )
        for kind, names, keys in sections
        if kind == "domain" and len(names) == 1 and names[0].isascii()
    }
    runtimes = [
        keys["runtime"] for kind, _, keys in sections if kind == "cockpit" and "runtime" in keys
    ]
    configured = runtimes[0] if runtimes else str(DEFAULT_RUNTIME)
    return Configuration(
        path,
        Path(os.environ.get("GID_RUNTIME_DIR") or configured).absolute(),
        tuple(sorted(domains.values(), key=lambda domain: domain.number)),
    )
