# SPDX-License-Identifier: MIT
"""Of whose packages gidway's programs are made, and what each of them is to safety."""

import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

from assuring.hardening import Program, said

# Whose libraries run in the safety domain, wherever else they run.
SAFETY_PROGRAMS = ("gid-cluster", "gidd")

# From the least to the most. What our programs are linked with loads others, which come along.
ROLES = (
    "builds, tests or shows",
    "runs beside it, for another library",
    "runs beside it",
    "runs in the safety domain, for another library",
    "runs in the safety domain",
)

_ASKED = ("${Package}", "${Version}", "${source:Package}", "${source:Version}", "${Architecture}")
_ASKED += ("${Pre-Depends}, ${Depends}",)
_FOR_COMPILERS = ("libdevel", "kernel")


@dataclass(frozen=True)
class Package:
    """One of Debian's. `role`: what it is to us. `source`: by which its faults are told."""

    name: str
    version: str
    role: str
    source: str = ""
    source_version: str = ""
    architecture: str = ""
    licences: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()  # of our programs and packages
    is_linked: bool = True  # by one of our programs, or for one

    @property
    def runs(self) -> bool:
        return self.role != ROLES[0]

    @property
    def tracker(self) -> str:
        """Where its vulnerabilities are told."""
        return f"https://security-tracker.debian.org/tracker/source-package/{quote(self.source)}"


@dataclass(frozen=True)
class Release:
    """Of the system whose packages are listed."""

    system: str  # "debian"
    number: str
    codename: str


def this_release() -> Release:
    told = platform.freedesktop_os_release()
    codename = told.get("VERSION_CODENAME", "")
    return Release(told["ID"], told.get("VERSION_ID", codename), codename)


@cache
def library_paths() -> dict[str, Path]:
    """Of libraries for several architectures the first one is this machine's."""
    found = re.findall(r"^\s*(\S+) \(.*\) => (/\S+)$", said("ldconfig", "-p"), re.M)
    return {library: Path(path) for library, path in reversed(found)}


@cache
def needs_of(library: str) -> tuple[str, ...]:
    path = library_paths().get(library)
    if path is None:
        return ()
    return tuple(re.findall(r"\(NEEDED\).*\[(.+)\]", said("readelf", "--dynamic", path)))


def loaded(libraries: Iterable[str]) -> set[str]:
    """What these need, and so on: not they themselves, unless others need them, too."""
    found: set[str] = set()
    waiting = [need for library in libraries for need in needs_of(library)]
    while waiting:
        library = waiting.pop()
        if library not in found:
            found.add(library)
            waiting += needs_of(library)
    return found


def roles_of(programs: Sequence[Program]) -> dict[str, str]:
    """Of each library: the most that it is to one of the programs."""
    roles: dict[str, str] = {}

    def is_safe(one: Program) -> bool:
        return one.name in SAFETY_PROGRAMS or "libgid.so" in one.name

    linked = {library for one in programs for library in one.needs}
    safe = {library for one in programs if is_safe(one) for library in one.needs}
    for role, libraries in zip(
        ROLES[1:], (loaded(linked), linked, loaded(safe), safe), strict=True
    ):
        roles |= dict.fromkeys(libraries, role)
    return roles


def _fields(paragraph: str) -> dict[str, str]:
    """As Debian's control files have them: a line that begins with a blank goes on."""
    lines = re.sub(r"\n\s+", " ", paragraph).splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _names(relation: str) -> list[list[str]]:
    """Of each that it needs the alternatives; none of what debhelper fills in."""
    wanted = [
        [re.sub(r"[(:].*", "", one).strip() for one in each.split("|")]
        for each in relation.split(",")
    ]
    return [names for names in wanted if names[0] and not names[0].startswith("$")]


def depended_on(control: Path) -> dict[str, set[str]]:
    """What our packages depend on or recommend to run, each with those of ours that do.

    Of alternatives all: the one that is there counts. Those for who compiles are none that run.
    """
    paragraphs = [_fields(one) for one in control.read_text(encoding="utf-8").split("\n\n")]
    ours = [one for one in paragraphs if "Package" in one]
    own = {one["Package"] for one in ours}
    found: dict[str, set[str]] = {}
    for one in ours:
        if one.get("Section") not in _FOR_COMPILERS:
            for kind in ("Pre-Depends", "Depends", "Recommends"):
                for names in _names(one.get(kind, "")):
                    for name in set(names) - own:
                        found.setdefault(name, set()).add(one["Package"])
    return found


def with_theirs(users: dict[str, set[str]], needs: dict[str, str]) -> dict[str, set[str]]:
    """These packages, and what they depend on, and so on. `needs`: what each that is there does."""
    found: dict[str, set[str]] = {}
    waiting = [(name, by) for name, by in users.items() if name in needs]
    while waiting:
        name, by = waiting.pop()
        if by <= found.get(name, set()):
            continue
        found.setdefault(name, set()).update(by)
        theirs = [other for names in _names(needs[name]) for other in names if other in needs]
        waiting += [(other, set(found[name])) for other in theirs]
    return found


def packages(top: Path, programs: Sequence[Program]) -> list[Package]:
    """Whose libraries are loaded, what our packages depend on, and what builds, tests and shows:
    packages.txt.

    What is loaded by name while a program runs, and is no package that ours depend on, such as
    drivers, nobody sees here.
    """
    roles: dict[str, str] = {}
    users: dict[str, set[str]] = {}
    for line in (top / "packages.txt").read_text(encoding="utf-8").splitlines():
        name = line.partition("#")[0].partition("|")[0].strip()
        if name:
            roles[name] = ROLES[0]
    libraries = roles_of(programs)
    owners = packages_of(libraries)
    for library, role in libraries.items():
        name = owners.get(library)
        if name is not None:
            roles[name] = max(roles.get(name, ROLES[0]), role, key=ROLES.index)
    for one in programs:
        for library in {*one.needs, *loaded(one.needs)} & owners.keys():
            users.setdefault(owners[library], set()).add(one.name)
    known: dict[str, list[str]] = {}
    needs: dict[str, str] = {}
    for line in said("dpkg-query", "--show", "--showformat", "\t".join(_ASKED) + "\n").splitlines():
        name, *known[name], needs[name] = line.split("\t")
    linked = set(users)
    direct = depended_on(top / "packaging/debian/control")
    for name, by in with_theirs(direct, needs).items():
        role = ROLES[2] if name in direct else ROLES[1]
        roles[name] = max(roles.get(name, ROLES[0]), role, key=ROLES.index)
        users.setdefault(name, set()).update(by)
    return [
        Package(
            *(name, version, role, source, source_version, architecture),
            licences_of(name),
            tuple(sorted(users.get(name, ()))),
            name in linked,
        )
        for name, role in sorted(roles.items())
        for version, source, source_version, architecture in [known.get(name, [""] * 4)]
    ]


def licences_of(package: str, documents: Path = Path("/usr/share/doc")) -> tuple[str, ...]:
    """By Debian's copyright file in its usual form; none where the system keeps no such files."""
    file = documents / package / "copyright"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    if not text.startswith("Format"):
        return ()
    return tuple(sorted(set(re.findall(r"^License: *(\S.*?) *$", text, re.M))))


def packages_of(libraries: Iterable[str]) -> dict[str, str]:
    """Debian's names; none for what is ours. dpkg knows files by where /lib is, or was."""
    paths = {
        f"{top}{str(path).removeprefix('/usr').removeprefix('/')}": library
        for library in libraries
        if (path := library_paths().get(library)) is not None
        for top in ("/", "/usr/")
    }
    found = said("dpkg", "--search", *paths) if paths else ""
    pairs = re.findall(r"^([^:,\s]+)(?::\w+)?: (.+)$", found, re.M)
    return {paths[path]: package for package, path in pairs if path in paths}
