# SPDX-License-Identifier: MIT
"""libgid.so exports what its headers declare, and stays what programs were built against."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lib.program import TOP

LIBRARY = Path(os.environ["LIBGID"])
HEADERS = TOP / "libgid" / "include" / "gid"
STORED = TOP / "libgid" / "libgid.abi"
MAP = TOP / "libgid" / "libgid.map"
CHANGED = 4  # of the bits that abidiff exits with


def run(*command: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_the_headers_can_be_used_in_cpp(standard: str, tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    folders = (HEADERS.parent, TOP / "engine" / "client" / "include")
    headers = [header for folder in folders for header in (folder / "gid").glob("*.h")]
    program = tmp_path / "program.cpp"
    text = "".join(f'#include "{header}"\n' for header in sorted(headers))
    text += "gid_id nothing = GID_NONE;\n"
    if standard == "c++20":  # which has initialisers by name
        text += "gid_frame frame = GID_FRAME_INIT;\n"
    program.write_text(text)
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wold-style-cast", "-Werror"]
    command = [compiler, f"-std={standard}", "-fsyntax-only", *warnings]
    result = run(*command, *(f"-I{folder}" for folder in folders), program)
    assert (result.returncode, result.stderr) == (0, "")


def exported() -> set[str]:
    """The functions that the library offers, without what a sanitizer or a node adds."""
    lines = run("nm", "--dynamic", "--defined-only", LIBRARY).stdout.splitlines()
    symbols = [line.split()[-2:] for line in lines]
    return {name.partition("@")[0] for kind, name in symbols if kind == "T"}


def declared() -> set[str]:
    """The functions of the public headers that are not inline."""
    names = set()
    for header in HEADERS.glob("*.h"):
        text = re.sub(r"/\*.*?\*/|^#.*?$", "", header.read_text(), flags=re.S | re.M)
        text = re.sub(r"static inline [^{]*\{.*?\n\}", "", text, flags=re.S)
        text = re.sub(r"typedef [^;]*;", "", text)
        names |= set(re.findall(r"^\w[\w \t]*[\s*](gid_\w+)\(", text, re.M))
    return names


def test_what_is_exported_is_what_the_headers_declare() -> None:
    assert exported() == declared()


def test_the_map_lists_each_of_them() -> None:
    assert set(re.findall(r"^\t(gid_\w+);$", MAP.read_text(), re.M)) == declared()


def test_programs_that_were_built_against_it_still_run() -> None:
    if "__asan_init" in run("nm", "--dynamic", LIBRARY).stdout:
        pytest.skip("a sanitizer's build has types of its own")
    found = run("abidiff", "--headers-dir2", HEADERS, STORED, LIBRARY)
    assert found.returncode & ~CHANGED == 0 and found.returncode & CHANGED == 0, (
        f"{found.stdout}{found.stderr}\nWhere that is meant: `ninja -C build abi`, and NEWS.md"
    )


def test_a_change_would_be_found(tmp_path: Path) -> None:
    source = STORED.read_text()
    smaller = source.replace("size-in-bits='1280'", "size-in-bits='1216'").replace(
        'size-in-bits="1280"', 'size-in-bits="1216"'
    )
    assert smaller != source, "no struct has the size of gid_frame"
    other = tmp_path / "other.abi"
    other.write_text(smaller)
    assert run("abidiff", other, STORED).returncode & CHANGED
