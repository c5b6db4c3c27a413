# SPDX-License-Identifier: MIT
"""What is built, of what: facts about each program by readelf, and the packages that it needs."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

# Whose libraries run in the safety domain, wherever else they run.
SAFETY_PROGRAMS = ("gid-cluster", "gidd")


@dataclass(frozen=True)
class Program:
    """A program or library of ours that is installed. `lacks`: of what hardens it."""

    name: str
    needs: tuple[str, ...]  # names of libraries
    lacks: tuple[str, ...]


@dataclass(frozen=True)
class Package:
    """One of Debian's. `role`: what it is to us."""

    name: str
    version: str
    role: str


def _said(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True).stdout


def built_programs(build: Path) -> list[Program]:
    """Those that are installed and are built already."""
    listed = json.loads(_said("meson", "introspect", "--installed", build) or "{}")
    found = []
    for name in sorted(listed):
        path = Path(name)
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            found.append(looked_at(path))
    return found


def looked_at(path: Path) -> Program:
    said = _said("readelf", "--wide", "--dynamic", "--program-headers", "--dyn-syms", path)
    needs = tuple(re.findall(r"\(NEEDED\).*\[(.+)\]", said))
    holds = {
        "a random address": "Elf file type is DYN" in said,
        "no code on the stack": re.search(r"GNU_STACK .* RW ", said) is not None,
        "read-only relocations": "GNU_RELRO" in said,
        "all of them at the start": re.search(r"BIND_NOW|FLAGS.* NOW", said) is not None,
        "stack guards": "__stack_chk_fail" in said,
        "checked copies": re.search(r"__\w+_chk@", said.replace("__stack_chk", "")) is not None,
    }
    return Program(
        path.name, needs, tuple(what for what, is_there in holds.items() if not is_there)
    )


def packages(top: Path, programs: list[Program]) -> list[Package]:
    """Whose libraries are linked, and what builds, tests and shows: packages.txt."""
    roles: dict[str, str] = {}
    safe = [one for one in programs if one.name in SAFETY_PROGRAMS or "libgid.so" in one.name]
    for role, ones in (("runs beside it", programs), ("runs in the safety domain", safe)):
        libraries = {library for one in ones for library in one.needs}
        roles |= dict.fromkeys(_packages_of(libraries), role)
    for line in (top / "packages.txt").read_text(encoding="utf-8").splitlines():
        name = line.partition("#")[0].partition("|")[0].strip()
        if name:
            roles.setdefault(name, "builds, tests or shows")
    said = _said("dpkg-query", "--show", "--showformat", "${Package} ${Version}\n")
    versions = dict(line.split(" ", 1) for line in said.splitlines())
    return [Package(name, versions.get(name, ""), role) for name, role in sorted(roles.items())]


def _packages_of(libraries: set[str]) -> set[str]:
    """Debian's names; nothing for those that are ours. dpkg knows files by where /lib is, or was.

    Of libraries for several architectures the first one is this machine's.
    """
    found = re.findall(r"^\s*(\S+) \(.*\) => /(\S+)$", _said("ldconfig", "-p"), re.M)
    paths = {library: path.removeprefix("usr/") for library, path in reversed(found)}
    places = [f"{top}{paths[name]}" for name in libraries & paths.keys() for top in ("/", "/usr/")]
    said = _said("dpkg", "--search", *places) if places else ""
    return set(re.findall(r"^([^:,\s]+)(?::\w+)?: ", said, re.M))


def spdx(version: str, tree: str, created: str, listed: list[Package]) -> dict:
    """A software bill of materials: SPDX 2.3."""

    def identifier(name: str) -> str:
        return f"SPDXRef-{re.sub(r'[^A-Za-z0-9.]', '-', name)}"

    def package(name: str, number: str, licence: str, comment: str = "") -> dict:
        one = {
            "SPDXID": identifier(name),
            "name": name,
            "versionInfo": number,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION",
            "licenseDeclared": licence,
            "copyrightText": "NOASSERTION",
        }
        return one | ({"comment": comment} if comment else {})

    ours = package("gidway", version, "MIT AND GPL-2.0-only", f"files: {tree}")
    others = []
    relations = [_relation("SPDXRef-DOCUMENT", "DESCRIBES", ours["SPDXID"])]
    for one in listed:
        if one.version:
            others.append(package(one.name, one.version, "NOASSERTION", one.role))
            others[-1]["externalRefs"] = [
                {
                    "referenceCategory": "PACKAGE-MANAGER",
                    "referenceType": "purl",
                    "referenceLocator": f"pkg:deb/debian/{quote(one.name)}@{quote(one.version)}",
                }
            ]
            if one.role.startswith("runs"):
                relations.append(_relation(ours["SPDXID"], "DYNAMIC_LINK", identifier(one.name)))
            else:
                kind = "DEV_DEPENDENCY_OF"
                relations.append(_relation(identifier(one.name), kind, ours["SPDXID"]))
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"gidway-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/gidway-{version}-{tree}",
        "creationInfo": {"created": created, "creators": ["Tool: gidway-assurance"]},
        "packages": [ours, *others],
        "relationships": relations,
    }


def _relation(one: str, kind: str, other: str) -> dict:
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
