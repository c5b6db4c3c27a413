# SPDX-License-Identifier: MIT
"""Makes the C source of gid._gid, the extension that calls libgid, from libgid's own headers.

    build_gid.py OUTPUT.c [FLAG…]

FLAG are the preprocessor's, as those of `pkg-config --cflags libgid`, which are taken where none
are given. What Python can call is what the headers declare: there is no list beside them.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent


def ours() -> tuple[str, str]:
    """What the package calls of its own: in cffi's words, and the source with its header in it."""
    header = (HERE / "frame_calls.h").read_text()
    source = "".join((HERE / name).read_text() for name in ("frame_calls.c", "lock_type.c"))
    source = source.replace('#include "frame_calls.h"\n', header)
    return re.sub(r"^#.*$", "", header, flags=re.M) + "void free(void *);\n", source


def pkg_config(what: str) -> list[str]:
    command = [os.environ.get("PKG_CONFIG", "pkg-config"), what, "libgid"]
    return shlex.split(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def headers(flags: list[str]) -> str:
    """What <gid/stream.h> declares and defines, without what it includes of libc."""
    command = [*shlex.split(os.environ.get("CC", "cc")), "-E", "-dD", *flags, "-x", "c", "-"]
    text = subprocess.run(
        command, input="#include <gid/stream.h>\n", check=True, capture_output=True, text=True
    ).stdout
    kept, is_ours = [], False
    for line in text.splitlines():
        if marker := re.match(r'# \d+ "(.*?)"', line):
            is_ours = re.search(r"(^|/)gid/\w+\.h$", marker[1]) is not None
        elif is_ours:
            kept.append(line)
    return "\n".join(kept)


def declarations(text: str) -> str:
    """The same in cffi's words, which leaves the values of constants to the compiler."""
    constants = re.findall(r"^#define (GID_\w+) +(?!\{)\S", text, re.M)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    text = re.sub(r"static inline ([^{;]*?)\s*\{.*?\n\}", r"\1;", text, flags=re.S)
    enums = re.compile(r"(\benum \w+ \{)(.*?)\}", re.S)
    text = enums.sub(lambda m: m[1] + re.sub(r"=[^,}]*", "= ...", m[2]) + "}", text)
    return text + "".join(f"\n#define {name} ..." for name in constants)


def make(flags: list[str], **options: list[str]) -> FFI:
    made, (header, source) = FFI(), ours()
    made.cdef(declarations(headers(flags)) + header)
    made.set_source("gid._gid", source, **options)
    return made


def for_setuptools() -> FFI:
    """With the libgid that is installed: setup.py names this."""
    flags = pkg_config("--cflags")
    return make(flags, extra_compile_args=flags, extra_link_args=pkg_config("--libs"))


if __name__ == "__main__":
    make(sys.argv[2:] or pkg_config("--cflags")).emit_c_code(sys.argv[1])
