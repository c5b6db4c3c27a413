# SPDX-License-Identifier: MIT
"""What `./run assurance` says of programs and of the packages that they need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from assuring.bill import spdx
from assuring.crates import crates, read_crates
from assuring.hardening import (
    Program,
    built_programs,
    headers_of,
    lacking_in_command,
    lacking_in_file,
    main,
    of_packages,
)
from assuring.supply import (
    Package,
    Release,
    depended_on,
    licences_of,
    loaded,
    packages,
    roles_of,
    with_theirs,
)
from assuring.vulnerabilities import BadTracker, known, read_tracker
from lib.program import BUILD, TOP
from pip_package import bring
from testing.results import tree_state

HARD = ("gcc", "-O2", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong", "-fstack-clash-protection")
HARD += ("-Werror=format-security", "-fcf-protection")
SPDX_TOOLS = "0.8.3"
TRIXIE = Release("debian", "13", "trixie")
X86, ARM = "Advanced Micro Devices X86-64", "AArch64"


def test_packages_of_this_build() -> None:
    programs = built_programs(BUILD)
    cluster = next(program for program in programs if program.name == "gid-cluster")
    assert "libpixman-1.so.0" in cluster.needs
    listed = {one.name: one for one in packages(TOP, programs)}
    pixman = listed["libpixman-1-0"]
    assert pixman.role == "runs in the safety domain"
    assert (pixman.source, bool(pixman.version)) == ("pixman", True)
    assert "gid-cluster" in pixman.used_by
    assert pixman.tracker.endswith("/source-package/pixman")
    assert listed["meson"].role == "builds, tests or shows" and not listed["meson"].used_by
    bill = spdx("0", "t", "now", TRIXIE, list(listed.values()))
    relations = [tuple(one.values()) for one in bill["relationships"]]
    assert ("SPDXRef-gidway", "DYNAMIC_LINK", "SPDXRef-libpixman-1-0") in relations
    assert ("SPDXRef-meson", "DEV_DEPENDENCY_OF", "SPDXRef-gidway") in relations


CONTROL = """Source: x
Build-Depends: meson (>= 1.3.0)

Package: x-tools
Depends: python3-pil, python3:any (>= 3.11) | python4,
 ${misc:Depends},
Recommends: libx0, librsvg2-2
Suggests: zstd

Package: libx0
Pre-Depends: init-y
Depends: ${shlibs:Depends}

Package: libx-dev
Section: libdevel
Depends: libc6-dev
"""


def test_what_packages_depend_on_runs(tmp_path: Path) -> None:
    """Python and its modules, which no program is linked with, and what these need."""
    (tmp_path / "control").write_text(CONTROL)
    direct = depended_on(tmp_path / "control")
    tools = {name: {"x-tools"} for name in ("python3-pil", "python3", "python4", "librsvg2-2")}
    assert direct == tools | {"init-y": {"libx0"}}
    there = {"python3-pil": "libtiff6 (>= 4), python3", "python3": "python3-pil", "init-y": "a | b"}
    there |= {"libtiff6": "", "b": "python3:any", "c": "libtiff6"}
    both = {"x-tools", "libx0"}
    assert with_theirs(direct, there) == {
        **{"python3-pil": both, "python3": both, "libtiff6": both},
        **{"init-y": {"libx0"}, "b": {"libx0"}},
    }
    listed = {one.name: one for one in packages(TOP, built_programs(BUILD))}
    pillow = listed["python3-pil"]
    assert (pillow.role, pillow.is_linked) == ("runs beside it", False)
    assert "gid-tools" in pillow.used_by and pillow.version
    (library,) = (one for name, one in listed.items() if name.startswith("libtiff"))
    assert library.runs and "gid-tools" in library.used_by
    bill = spdx("0", "t", "now", TRIXIE, [pillow])
    relations = [tuple(one.values()) for one in bill["relationships"]]
    assert ("SPDXRef-gidway", "DEPENDS_ON", "SPDXRef-python3-pil") in relations


def test_scanners_find_each_package_in_the_bill() -> None:
    """As they ask: purl-spec's "deb" with its qualifiers, and Trivy's way to a source package."""
    pixman = Package(
        *("libpixman:1", "0.44+b1", "runs beside it", "pixman", "0.44-3", "amd64"),
        licences=("Expat", "MIT~x"),
    )
    bill = spdx("0.2", "t", "now", TRIXIE, [pixman, Package("gone", "", "runs beside it")])
    ours, system, found = bill["packages"]
    assert ours["externalRefs"][0]["referenceLocator"] == "pkg:generic/gidway@0.2"
    assert (system["name"], system["versionInfo"]) == ("debian", "13")
    assert system["SPDXID"] == "SPDXRef-OperatingSystem-debian"
    relations = [tuple(one.values()) for one in bill["relationships"]]
    assert (system["SPDXID"], "CONTAINS", "SPDXRef-libpixman-1") in relations
    assert found["sourceInfo"] == "built package from: pixman 0.44-3"
    assert found["licenseDeclared"] == "NOASSERTION", "Debian's names are not SPDX's"
    assert found["licenseComments"].endswith(": Expat; MIT~x")
    assert [tuple(one.values()) for one in found["externalRefs"]] == [
        (
            *("PACKAGE-MANAGER", "purl"),
            "pkg:deb/debian/libpixman%3A1@0.44%2Bb1"
            "?arch=amd64&distro=debian-13&upstream=pixman%400.44-3",
        ),
        ("SECURITY", "advisory", pixman.tracker),
    ]


LOCK = """version = 4
[[package]]
name = "gid"
version = "0.2.0"

[[package]]
name = "bitflags"
version = "2.13.2+x"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "3ded4057c258ba199e2d26386d3af3780957ecaee6c4ef4041c6b4b8b97c0b06"
"""


def test_the_bill_has_crates_of_others(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).write_text(LOCK)
    found = read_crates([tmp_path / "one", tmp_path / "other"])
    assert [(one.name, one.version) for one in found] == [("bitflags", "2.13.2+x")]
    bill = spdx("0.2", "t", "now", TRIXIE, [], found)
    crate = bill["packages"][-1]
    assert crate["externalRefs"][0]["referenceLocator"] == "pkg:cargo/bitflags@2.13.2%2Bx"
    assert crate["checksums"][0]["checksumValue"] == found[0].sha256
    relations = [tuple(one.values()) for one in bill["relationships"]]
    assert (crate["SPDXID"], "OPTIONAL_DEPENDENCY_OF", "SPDXRef-gidway") in relations
    ours = {one.name for one in crates(TOP)}
    assert {"bindgen", "rustix", "smithay"} <= ours and not {"gid", "gid-sys"} & ours


def validate(bill: dict, folder: Path) -> subprocess.CompletedProcess[str]:
    """By SPDX's own tool."""
    tools = bring("spdx-tools", SPDX_TOOLS, with_needs=True)
    if tools is None:
        pytest.skip(f"spdx-tools {SPDX_TOOLS} cannot be installed by pip")
    file = folder / "bill.spdx.json"
    file.write_text(json.dumps(bill))
    command = [sys.executable, "-P", "-m", "spdx_tools.spdx.clitools.pyspdxtools", "-i", file]
    env = os.environ | {"PYTHONPATH": str(tools), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_the_bill_is_as_spdx_wants_it(tmp_path: Path) -> None:
    listed = packages(TOP, built_programs(BUILD))
    made = "2026-11-26T21:00:00Z"
    bill = spdx("0.2.0~12.gabc", "abc", made, TRIXIE, listed, crates(TOP))
    done = validate(bill, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    bill["relationships"][-1]["relatedSpdxElement"] = "SPDXRef-nobody"
    assert validate(bill, tmp_path).returncode == 1, "it looks"


def test_licences_are_those_that_debian_names(tmp_path: Path) -> None:
    for name, text in (
        ("new", "Format: https://x/1.0/\n\nFiles: *\nLicense: MIT\n\nLicense: BSD-3-clause\n y\n"),
        ("old", "This is free.\nLicense: of its own kind\n"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "copyright").write_text(text)
    assert licences_of("new", tmp_path) == ("BSD-3-clause", "MIT")
    assert licences_of("old", tmp_path) == licences_of("none", tmp_path) == ()


def test_what_a_library_loads_is_told() -> None:
    """libpng of ours needs zlib; of gid-cluster alone it counts as of the safety domain."""
    assert "libz.so.1" in loaded(["libpng16.so.16"])
    beside = Program("gid-x", ("libpng16.so.16",), ())
    safe = Program("gid-cluster", ("libpng16.so.16",), ())
    assert roles_of([beside])["libz.so.1"] == "runs beside it, for another library"
    assert roles_of([beside, safe])["libz.so.1"] == "runs in the safety domain, for another library"
    both = Program("gidd", ("libz.so.1",), ())
    assert roles_of([beside, both])["libz.so.1"] == "runs in the safety domain"


def test_facts_of_a_program(tmp_path: Path) -> None:
    """A program is linked with and without what hardens it."""
    source = tmp_path / "main.c"
    source.write_text("int main(void) {\n\treturn 0;\n}\n")
    hard = ("-pie", "-fPIE", "-Wl,-z,relro,-z,now")
    soft = ("-no-pie", "-Wl,-z,norelro,-z,lazy,-z,execstack")
    found = {}
    for name, options in (("hard", hard), ("soft", soft)):
        subprocess.run(["gcc", *options, "-o", tmp_path / name, source], check=True)
        found[name] = lacking_in_file(headers_of(tmp_path / name))
    assert found["hard"] == []
    assert found["soft"] == [
        *("a random address", "no code on the stack", "read-only relocations"),
        "all of them at the start",
    ]


@pytest.mark.parametrize(
    ("words", "machine", "lacks"),
    [
        (HARD, X86, []),
        ((*HARD, "-O0"), X86, ["an optimizer, for checked copies"]),
        ((*HARD, "-U_FORTIFY_SOURCE"), X86, ["checked copies"]),
        ((*HARD, "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"), X86, []),
        ((*HARD, "-fno-stack-protector"), X86, ["stack guards"]),
        (HARD[:-1], X86, ["marked branches"]),
        (HARD, ARM, ["marked branches"]),
        ((*HARD, "-mbranch-protection=standard"), ARM, []),
        (HARD[:-1], "RISC-V", []),
        (("gcc", "-O2"), "RISC-V", ["stack guards", "checked copies", "checked formats"]),
    ],
)
def test_how_a_source_was_compiled(words: tuple[str, ...], machine: str, lacks: list[str]) -> None:
    assert lacking_in_command(words, machine) == lacks


def test_each_program_says_of_how_many_objects() -> None:
    """The developer's build is not hardened, but by what the compiler does by itself."""
    (gidd,) = (program for program in built_programs(BUILD) if program.name == "gidd")
    (guards,) = (what for what in gidd.lacks if what.startswith("stack guards"))
    count = int(guards.split(" of ")[1].split()[0])
    assert count > 30, "with the objects of its static libraries"


def test_packages_tell_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As ./run package asks; here of the developer's build, which lacks much."""
    assert main(BUILD, tmp_path / "gidway_1-1.programs.json") == 1
    assert "gidd lacks stack guards: in " in capsys.readouterr().err
    assert of_packages(tmp_path, tree_state(TOP)) == built_programs(BUILD)
    assert of_packages(tmp_path, "other") is None
    assert of_packages(tmp_path / "none", tree_state(TOP)) is None


# --- vulnerabilities ---


def fault(status: str, **more: str) -> dict:
    entry = {"status": status, "urgency": "low", "repositories": {}} | more
    return {"description": "Bad.", "releases": {"trixie": entry, "sid": {"status": "resolved"}}}


TRACKER = {
    "glibc": {
        "CVE-1": fault("open"),
        "CVE-2": fault("resolved", fixed_version="2.41-2"),
        "CVE-3": fault("resolved", fixed_version="2.40-1"),
        "CVE-4": fault("resolved", fixed_version="0"),
        "CVE-5": fault("undetermined", urgency="unimportant"),
        "CVE-6": {"description": "Of another release.", "releases": {"sid": {"status": "open"}}},
    },
    "meson": {"CVE-7": fault("open")},
    "pixman": {"CVE-8": fault("open")},
    "zlib": {"CVE-9": fault("open")},
}


def test_vulnerabilities_are_those_of_this_release_and_version() -> None:
    safe, beside = "runs in the safety domain", "runs beside it"
    listed = [
        Package("libc-bin", "2.41-1", beside, "glibc", "2.41-1"),
        Package("libc6", "2.41-1", safe, "glibc", "2.41-1"),
        Package("libpixman-1-0", "0.44-3+b1", beside, "pixman", "0.44-3"),
        Package("meson", "1.7", "builds, tests or shows", "meson", "1.7"),
    ]
    found = known(TRACKER, listed, "trixie")
    assert [(one.name, one.role, one.fixed, one.counts) for one in found] == [
        ("CVE-1", safe, "", True),
        ("CVE-2", safe, "2.41-2", True),
        ("CVE-5", safe, "", False),
        ("CVE-8", beside, "", True),
    ]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"glibc": {"CVE-1": {"releases": {"trixie": {}}}}}', '{"glibc": 1}']
)
def test_a_file_that_is_not_the_trackers_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "json"
    file.write_text(text)
    glibc = Package("libc6", "2.41-1", "runs beside it", "glibc", "2.41-1")
    with pytest.raises(BadTracker):
        known(read_tracker(file), [glibc], "trixie")
