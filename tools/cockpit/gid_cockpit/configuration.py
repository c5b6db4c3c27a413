# SPDX-License-Identifier: MIT
"""The configuration as far as starting a cockpit takes it. gidd alone judges what is right."""

import configparser
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

DEFAULT_CONFIG = Path("/etc/gidway/gidway.conf")
DEFAULT_RUNTIME = Path("/run/gidway")


class CockpitError(Exception):
    """What went wrong and what to do about it, for people."""


@dataclass(frozen=True)
class Domain:
    """One domain. `joined`: the names of those that it has a link to."""

    name: str
    number: int
    user: str | None
    joined: frozenset[str]


@dataclass(frozen=True)
class Configuration:
    """A configuration without mistakes. `domains` in the order of their numbers."""

    path: Path
    runtime: Path
    domains: tuple[Domain, ...]

    def choose(self, names: list[str]) -> list[Domain]:
        """The domains of these names; all, if there are none."""
        known = {domain.name: domain for domain in self.domains}
        for name in names:
            if name not in known:
                raise CockpitError(f"{self.path} has no [domain {name}]; it has: {' '.join(known)}")
        return [domain for domain in self.domains if not names or domain.name in names]


def find_program(name: str) -> str:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = Path(folder, name)
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    raise CockpitError(f"{name} is not in $PATH: is gidway installed?")


def read(path: Path) -> Configuration:
    """Reads a configuration. CockpitError has every mistake that gidd found, each with its line."""
    path = path.absolute()
    check = subprocess.run(
        [find_program("gidd"), "--check", "--config", str(path)], capture_output=True, text=True
    )
    if check.returncode != 0:
        raise CockpitError(check.stderr.strip() or f"{path}: gidd refuses it")
    parser = configparser.ConfigParser(
        interpolation=None, inline_comment_prefixes=(";",), strict=False
    )
    parser.read_string(path.read_text(encoding="utf-8"), str(path))
    sections = [(words[0], words[1:], parser[name]) for name in parser if (words := name.split())]
    joined: dict[str, set[str]] = {}
    for kind, names, _ in sections:
        if kind == "share":
            joined.setdefault(names[0], set()).add(names[1])
            joined.setdefault(names[1], set()).add(names[0])
    domains = [
        Domain(
            names[0],
            int(keys["number"]),
            keys.get("user"),
            frozenset(joined.get(names[0], ())),
        )
        for kind, names, keys in sections
        if kind == "domain"
    ]
    configured = parser.get("cockpit", "runtime", fallback=str(DEFAULT_RUNTIME))
    return Configuration(
        path,
        Path(os.environ.get("GID_RUNTIME_DIR") or configured),
        tuple(sorted(domains, key=lambda domain: domain.number)),
    )
