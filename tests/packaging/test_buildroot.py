# SPDX-License-Identifier: MIT
"""The external tree for Buildroot says what meson.build has, read by make without Buildroot."""

import re
import subprocess

import pytest
import recipes
from installation import sysusers, version
from lib.program import PATIENCE, TOP

BUILDROOT = TOP / "packaging" / "buildroot"
MENU = (BUILDROOT / "package/gidway/Config.in").read_text()
MAKEFILE = (BUILDROOT / "package/gidway/gidway.mk").read_text()

STUB = """
include external.mk
all:
\t$(info $(GIDWAY_VERSION))
\t$(info $(GIDWAY_CONF_OPTS))
\t$(info $(GIDWAY_DEPENDENCIES))
\t@:
"""


def made(*parts: str) -> list[list[str]]:
    """What Buildroot would do with these parts: version, options, dependencies."""
    chosen = [f"BR2_PACKAGE_GIDWAY_{part.upper()}=y" for part in parts]
    told = subprocess.run(
        ["make", "-s", "-f", "-", "BR2_EXTERNAL_GIDWAY_PATH=.", *chosen],
        cwd=BUILDROOT,  # make knows no spaces in names
        input=STUB,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (told.returncode, told.stderr) == (0, "")
    return [line.split() for line in told.stdout.splitlines()]


# Buildroot has no libei, no manuals on the target, and builds no extension of Python's by meson.
NEVER = {"libei", "man", "python"}


def test_buildroot_without_parts_is_the_library_alone() -> None:
    number, options, needs = made()
    assert number == [version()]
    assert sorted(options) == sorted(
        ["-Dtests=false", *(f"-D{part}=disabled" for part in recipes.features())]
    )
    base = {recipes.LIBRARIES[name][1] for name in recipes.variable("DEPENDS").split()}
    assert set(needs) == base | {"host-pkgconf"}


@pytest.mark.parametrize("part", sorted(set(recipes.features()) - NEVER))
def test_buildroot_has_each_part_with_what_yocto_has(part: str) -> None:
    _, _, base = made()
    _, options, needs = made(part)
    assert f"-D{part}=enabled" in options and f"-D{part}=disabled" not in options
    same = {recipes.LIBRARIES[name][1] for name in recipes.yocto_parts()[part].needs}
    assert set(needs) - set(base) == same


@pytest.mark.parametrize("part", sorted(set(recipes.features()) - NEVER))
def test_buildroot_brings_what_a_part_needs(part: str) -> None:
    """Its menu selects each library, or asks for it first. Others bring two kinds by themselves."""
    entry = re.search(
        rf"^config BR2_PACKAGE_GIDWAY_{part.upper()}\n((?:\t.*\n)+)", MENU, re.MULTILINE
    )
    brought = set(re.findall(r"^\t(?:select|depends on) BR2_PACKAGE_(\w+)", entry[1], re.MULTILINE))
    _, _, base = made()
    for name in set(made(part)[2]) - set(base) - {"gstreamer1", "libegl", "libgles"}:
        if not name.startswith("host-"):
            assert name.upper().replace("-", "_") in brought, name


def test_buildroot_has_no_other_parts() -> None:
    parts = re.findall(r"^config BR2_PACKAGE_GIDWAY_(\w+)$", MENU, re.MULTILINE)
    assert {part.lower() for part in parts} == set(recipes.features()) - NEVER


def test_buildroots_clone_is_the_one_around_its_tree() -> None:
    up = re.search(
        r"^GIDWAY_SITE = \$\(realpath \$\(BR2_EXTERNAL_GIDWAY_PATH\)/(.*)\)$", MAKEFILE, re.M
    )
    assert up is not None and (BUILDROOT / up[1]).resolve() == TOP


def test_buildroots_users_are_those_of_sysusers() -> None:
    lines = re.search(r"^define GIDWAY_USERS\n(.*?)^endef$", MAKEFILE, re.MULTILINE | re.DOTALL)[1]
    made = [line.split(None, 8) for line in lines.splitlines()]
    assert made[0][:3] == ["-", "-", "gidway"]
    users = {words[0]: words for words in made[1:]}
    assert users.keys() == sysusers().keys()
    for user, (what, _) in sysusers().items():
        assert users[user] == [user, "-1", user, "-1", "*", "-", "-", "gidway", what]
