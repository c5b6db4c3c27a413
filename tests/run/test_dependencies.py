# SPDX-License-Identifier: MIT
"""What programs of ours ask meson for is what `./run assurance`, Debian's packages and the recipes
say of them: a library that only one of these knows nobody watches over."""

import json
import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import recipes
from assuring.hardening import built_programs, said
from assuring.supply import (
    ROLES,
    SAFETY_PROGRAMS,
    library_paths,
    packages,
    packages_of,
    with_theirs,
)
from lib.program import BUILD, TOP


@cache
def asked_for() -> dict[str, set[str]]:
    """By each program that is installed: pkg-config's names."""
    dependencies = json.loads(said("meson", "introspect", "--dependencies", BUILD))
    known = {one["name"] for one in dependencies if one["type"] == "pkgconfig"}
    targets = json.loads(said("meson", "introspect", "--targets", BUILD))
    programs = {
        one["name"]: set(one["dependencies"]) & known for one in targets if one["installed"]
    }
    return {name: asked for name, asked in programs.items() if asked}


def libraries_of(dependency: str) -> set[str]:
    """As programs that are linked with it name them; none of what has only headers."""
    words = said("pkg-config", "--libs-only-l", dependency).split()
    found = set()
    for word in words:
        library = library_paths()[f"lib{word.removeprefix('-l')}.so"]
        found.update(re.findall(r"\(SONAME\).*\[(.+)\]", said("readelf", "--dynamic", library)))
    return found


@cache
def needs() -> dict[str, str]:
    """Of each package that is here: what it depends on."""
    shown = said("dpkg-query", "--show", "--showformat", "${Package}\t${Pre-Depends}, ${Depends}\n")
    return dict(line.split("\t") for line in shown.splitlines())


@cache
def builders() -> dict[str, str]:
    """Of each dependency the package that brings what a compiler needs of it."""
    names = set().union(*asked_for().values())
    found = {}
    for name in sorted(names):
        file = Path(said("pkg-config", "--variable=pcfiledir", name).strip()) / f"{name}.pc"
        found[name] = said("dpkg", "--search", file.resolve()).partition(":")[0]
    return found


def brought_by(listed: list[str]) -> set[str]:
    return with_theirs({name: {"us"} for name in listed}, needs()).keys() | set(listed)


def of_one(package: str) -> set[str]:
    """The package, and those that it depends on by its name: some only bring another one."""
    return {package, *re.findall(r"[a-z0-9][\w.+-]+", needs().get(package, ""))}


def test_programs_ask_for_something() -> None:
    """What the other tests go by."""
    asked = asked_for()
    assert any(name.startswith("wlroots-0.") for name in asked["gid-cluster"])
    assert {"libsystemd", "inih"} <= asked["gidd"] and "gstreamer-1.0" in asked["gstgid"]
    assert "libeis-1.0" not in set().union(*asked.values()), "that is the tests' own"


def test_the_report_has_each_with_its_role() -> None:
    """Also one that is linked as an archive, or loaded by name, would have to be told."""
    told = {one.name: one for one in packages(TOP, built_programs(BUILD))}
    asked_by_any = set().union(*asked_for().values())
    libraries = {dependency: libraries_of(dependency) for dependency in asked_by_any}
    owners = packages_of(set().union(*libraries.values()))
    for program, asked in asked_for().items():
        role = ROLES[-1] if program in SAFETY_PROGRAMS else ROLES[2]
        for dependency in asked:
            unknown = libraries[dependency] - owners.keys()
            assert not unknown, f"{dependency}: whose are they?"
            for library in libraries[dependency]:
                one = told[owners[library]]
                where = f"{program} asks for {dependency}, of {one.name}: {one.role}"
                assert ROLES.index(one.role) >= ROLES.index(role), where
                assert one.version and one.source, where


def test_debians_packages_are_built_with_them_and_no_others() -> None:
    control = (TOP / "packaging/debian/control").read_text()
    (relation,) = re.findall(r"^Build-Depends:\n((?: .*\n)+)", control, re.M)
    listed = re.findall(r"^ ([^\s,]+)", relation, re.M)
    owners = builders()
    brought = brought_by(listed)
    assert {name: owner for name, owner in owners.items() if owner not in brought} == {}
    libraries = {name for name in listed if name.startswith("lib") and name.endswith("-dev")}
    assert {name for name in libraries if not of_one(name) & set(owners.values())} == set()


def test_the_environment_has_them() -> None:
    listed = re.findall(r"^([a-z][^\s|#]*)", (TOP / "packages.txt").read_text(), re.M)
    brought = brought_by(listed)
    assert {name: owner for name, owner in builders().items() if owner not in brought} == {}


def test_recipes_name_them() -> None:
    patterns = [pattern for names, _ in recipes.LIBRARIES.values() for pattern in names]
    for name in builders():
        assert any(fnmatch(name, pattern) for pattern in patterns), name
