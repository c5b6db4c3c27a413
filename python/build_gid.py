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

from cffi import FFI

# What libgid calls while it is called itself, and the start of a frame, which is a macro in C.
OURS = """
struct gid_py_import {
	bool is_done;
	int error;
	struct gid_slab *slab;
};
void gid_py_imported(void *, gid_id, int, struct gid_slab *);
void gid_py_released(void *, gid_id);
static const struct gid_frame gid_py_frame_init;
void free(void *);
"""
# In C: an exception has no way out of Python that libgid calls, so a Ctrl-C would be lost there.
SOURCE = """
#include <gid/stream.h>
#include <stdbool.h>
#include <stdlib.h>

static const struct gid_frame gid_py_frame_init = GID_FRAME_INIT;

struct gid_py_import {
	bool is_done;
	int error;
	struct gid_slab *slab; /* a reference of the caller's */
};

static void gid_py_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct gid_py_import *import = data;
	*import = (struct gid_py_import){.is_done = true, .error = error, .slab = slab};
}

static void gid_py_released(void *data, gid_id gid) {
	gid_slab_give(data, gid_slot_of(gid));
}
"""


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
    return text + "".join(f"\n#define {name} ..." for name in constants) + OURS


def make(flags: list[str], **options: list[str]) -> FFI:
    made = FFI()
    made.cdef(declarations(headers(flags)))
    made.set_source("gid._gid", SOURCE, **options)
    return made


def for_setuptools() -> FFI:
    """With the libgid that is installed: setup.py names this."""
    flags = pkg_config("--cflags")
    return make(flags, extra_compile_args=flags, extra_link_args=pkg_config("--libs"))


if __name__ == "__main__":
    make(sys.argv[2:] or pkg_config("--cflags")).emit_c_code(sys.argv[1])
