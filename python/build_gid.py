# SPDX-License-Identifier: MIT
"""Generates the C source of gid._gid, the extension that calls libgid, from libgid's headers.

    build_gid.py OUTPUT.c [FLAG…]

FLAG are flags for the preprocessor. Python can call what the headers included by frame_calls.h
declare: there is no separate list.
"""

import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from cffi import FFI

HERE = Path(__file__).resolve().parent
SOURCES = (
    "frame_calls.c",
    "lock_type.c",
    "frame_type.c",
    "reader_type.c",
    "pictures_type.c",
    "draft_type.c",
    "add_types.c",
)
STABLE_ABI = "0x030c0000"  # of Python 3.12, the same as in python/gid/meson.build


def ours() -> tuple[str, str]:
    """The package's own C code: its declarations for cffi, and its source with inlined header."""
    header = (HERE / "frame_calls.h").read_text()
    source = "".join((HERE / name).read_text() for name in SOURCES)
    source = source.replace('#include "frame_calls.h"\n', header)
    return re.sub(r"^#.*$", "", header, flags=re.M) + "void free(void *);\n", source


def pkg_config(what: str, package: str) -> list[str] | None:
    """None: the package, or one that it requires, is missing."""
    command = [os.environ.get("PKG_CONFIG", "pkg-config"), what, package]
    done = subprocess.run(command, capture_output=True, text=True)
    return shlex.split(done.stdout) if done.returncode == 0 else None


def headers(flags: list[str]) -> str:
    """The declarations and constants of libgid's headers, without those of libc."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, "-E", "-dD", *flags, "-x", "c", str(HERE / "frame_calls.h")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    kept, is_ours = [], False
    for line in text.splitlines():
        if marker := re.match(r'# \d+ "(.*?)"', line):
            is_ours = re.search(r"(^|/)gid/\w+\.h$", marker[1]) is not None
        elif is_ours:
            kept.append(line)
    return "\n".join(kept)


def declarations(text: str) -> str:
    """The same, as cffi expects it: the compiler supplies the values of constants."""
    constants = re.findall(r"^#define (GID_\w+) +(?!\{)\S", text, re.M)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    text = re.sub(r"static inline ([^{;]*?)\s*\{.*?\n\}", r"\1;", text, flags=re.S)
    enums = re.compile(r"(\benum \w+ \{)(.*?)\}", re.S)
    text = enums.sub(lambda m: m[1] + re.sub(r"=[^,}]*", "= ...", m[2]) + "}", text)
    return text + "".join(f"\n#define {name} ..." for name in constants)


def make(flags: list[str], **options: Any) -> FFI:
    made, (header, source) = FFI(), ours()
    made.cdef(declarations(headers(flags)) + header)
    made.set_source("gid._gid", source, **options)
    return made


def for_setuptools() -> FFI:
    """Builds with the installed libgid, and libgid-protection if possible. setup.py names it."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        # There is no stable ABI for it, and the types in C rely on the interpreter's lock.
        raise SystemExit("gid runs in no free-threaded Python: take an ordinary one, as python3.13")
    package = "libgid-protection"
    if (flags := pkg_config("--cflags", package)) is not None:
        flags.append("-DGID_PY_PROTECTS")
    else:
        package = "libgid"
        flags = pkg_config("--cflags", package)
    if flags is None:
        raise SystemExit("pkg-config finds no libgid: install libgid-dev, or set PKG_CONFIG_PATH")
    libraries = pkg_config("--libs", package)
    return make(
        flags,
        define_macros=[("Py_LIMITED_API", STABLE_ABI)],
        extra_compile_args=["-include", "string.h", *flags],  # as meson.build does
        extra_link_args=libraries,
    )


if __name__ == "__main__":
    make(sys.argv[2:]).emit_c_code(sys.argv[1])
