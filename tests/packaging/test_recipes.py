# SPDX-License-Identifier: MIT
"""The recipe for Yocto says what meson.build has, read without bitbake.

./run options builds each part with the libraries that it has for it.
"""

import hashlib
import json
import re
import subprocess

import pytest
import recipes
from installation import ADDED, LEFT_OUT, SYSTEMD, fits, patterns, sysusers, version
from lib.program import BUILD, PATIENCE, TOP

LAYER = TOP / "packaging" / "yocto" / "meta-gidway"
IMAGES = LAYER / "recipes-core" / "images"
RECIPE = recipes.YOCTO.read_text()

# Where what is installed lies, in the words of OpenEmbedded.
FOLDERS = {
    "PYTHON_SITEPACKAGES_DIR": "usr/lib/python3/dist-packages",
    "SOLIBS": ".so.*",
    "SOLIBSDEV": ".so",
    "bindir": "usr/bin",
    "datadir": "usr/share",
    "includedir": "usr/include",
    "libdir": "usr/lib/*",
    "libexecdir": "usr/libexec",
    "nonarch_libdir": "usr/lib",
    "sysconfdir": "etc",
    "systemd_system_unitdir": "usr/lib/systemd/system",
    "systemd_user_unitdir": "usr/lib/systemd/user",
}
# Packages that have another name than Debian's.
NAMES = {"gid-clients": "gid-tools", "gidctl": "gid-tools", "libgid": "libgid0"}
# In the package of all manuals, and left to a recipe of the kernel's.
ELSEWHERE = ("usr/share/man/", "usr/src/gid-dmabuf-")


def packages() -> list[tuple[str, str]]:
    """(package, pattern) of all that FILES: has."""
    found = []
    for package in re.findall(r'^FILES:(\S+) = "', RECIPE, re.MULTILINE):
        for pattern in recipes.variable(f"FILES:{package}").split():
            found.append((package, re.sub(r"\$\{(\w+)\}", lambda m: FOLDERS[m[1]], pattern)))
    return found


def in_debian(package: str) -> str:
    return NAMES.get(package, package.replace("-staticdev", "-dev"))


@pytest.mark.parametrize("part", recipes.features())
def test_each_part_can_be_chosen(part: str) -> None:
    has = recipes.yocto_parts()[part]
    assert (has.enabled, has.disabled) == (f"-D{part}=enabled", f"-D{part}=disabled")
    assert has.needs and has.needs <= recipes.LIBRARIES.keys()


def test_each_choice_is_a_part() -> None:
    assert recipes.yocto_parts().keys() == set(recipes.features())
    assert "-Dtests=false" in recipes.variable("EXTRA_OEMESON").split()
    for conf in (LAYER / "conf" / "multiconfig").glob("*.conf"):
        chosen = recipes.variable("PACKAGECONFIG:pn-gidway", conf).split()
        assert chosen and set(chosen) <= set(recipes.features()), conf.name


def test_the_licence_and_the_version_are_gidways() -> None:
    checksum = hashlib.md5((TOP / "LICENSE").read_bytes()).hexdigest()
    assert recipes.variable("LIC_FILES_CHKSUM") == f"file://LICENSE;md5={checksum}"
    assert recipes.variable("LICENSE") == "MIT"
    assert recipes.variable("PV") == f"{version()}+git"


def test_the_clone_is_the_one_around_the_layer() -> None:
    up = re.search(r"normpath\(d\.getVar\('THISDIR'\) \+ '/(.*)'\)", RECIPE)
    assert up is not None and (recipes.YOCTO.parent / up[1]).resolve() == TOP


def test_each_file_is_in_one_package_as_debian_has_it(installed: set[str]) -> None:
    listed = packages()
    names = sorted((installed | ADDED) - LEFT_OUT)
    assert any(name.startswith(ELSEWHERE[0]) for name in names)
    for name in (name for name in names if not name.startswith(ELSEWHERE)):
        found = [package for package, pattern in listed if fits(name, pattern)]
        debian = [package for package, pattern in patterns() if fits(name, pattern)]
        assert [in_debian(package) for package in found] == debian, f"{name} is in {found}"


def test_each_pattern_has_a_file(installed: set[str]) -> None:
    for package, pattern in packages():
        assert any(fits(name, pattern) for name in installed | ADDED), f"{package}: {pattern}"


def test_its_packages_are_those_with_files() -> None:
    listed = re.search(r'^PACKAGES =\+ "(.*?)"$', RECIPE, re.MULTILINE | re.DOTALL)[1]
    assert set(listed.replace("\\", " ").split()) == {package for package, _ in packages()}
    for field in ("CONFFILES", "RDEPENDS", "RRECOMMENDS", "SYSTEMD_SERVICE", "USERADD_PARAM"):
        for package in re.findall(rf"^{field}:(\S+) = ", RECIPE, re.MULTILINE):
            assert package in {package for package, _ in packages()}, f"{field}:{package}"


def test_its_units_are_all_there_are() -> None:
    named = set(
        re.findall(
            r"\bgid[\w-]*@\.(?:service|socket)\b",
            "".join(line for line in RECIPE.splitlines() if line.startswith("SYSTEMD_SERVICE:")),
        )
    )
    units = {path.name for path in (BUILD / "packaging").glob("*@.service")}
    assert named == units | {path.name for path in SYSTEMD.glob("*@.socket")}


def test_its_users_are_those_of_sysusers() -> None:
    assert recipes.variable("USERADD_PACKAGES").split() == ["gidd", "gid-cluster", "gid-engine"]
    assert sysusers().keys() == set(recipes.variable("USERADD_PACKAGES").split())
    for user, (_, home) in sysusers().items():
        words = recipes.variable(f"USERADD_PARAM:{user}").split()
        assert words[words.index("--home-dir") + 1] == home and words[-1] == user
        assert {"--system", "--user-group", "--no-create-home"} <= set(words)
        assert recipes.variable(f"GROUPADD_PARAM:{user}") == "--system gidway"


def test_the_images_cockpit_has_their_domains() -> None:
    command = [
        BUILD / "gidd" / "gidd",
        "--check",
        "--json",
        "--config",
        IMAGES / "files/cockpit.conf",
    ]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert checked.returncode == 0, checked.stderr
    domains = {domain["name"]: domain for domain in json.loads(checked.stdout)["domains"]}
    images = sorted(IMAGES.glob("*.bb"))
    assert len(images) == 2
    for image in images:
        name = recipes.variable("GIDWAY_DOMAIN", image)
        assert domains[name]["kind"] == "guest" and image.stem == f"gidway-image-{name}"
        assert (LAYER / f"conf/multiconfig/gidway-{name}.conf").exists()
        ours = [
            word
            for word in recipes.variable("IMAGE_INSTALL:append", image).split()
            if "gid" in word
        ]
        assert ours and set(ours) <= {package for package, _ in packages()}


def test_a_guests_gidd_has_the_rights_that_its_manual_names() -> None:
    manual = (TOP / "gidd/gidd.8.scd").read_text()
    lines = (IMAGES / "files/guest.conf").read_text().splitlines()
    service = "\n".join(line for line in lines if not line.startswith("#"))
    assert f"```\n{service}\n```" in manual
