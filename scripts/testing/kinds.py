# SPDX-License-Identifier: MIT
"""The build folders beside the main one: each sanitizer's, and that of the fuzz targets."""

import os
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]

# Without what lives inside other people's processes (Weston, gst-launch).
_OWN_PROCESSES = ("-Dweston=disabled", "-Dgstreamer=disabled", "-Dwlroots=disabled")


@dataclass
class Kind:
    suffix: str
    sanitizer: str
    suites: tuple[str, ...]  # of which it runs the tests
    options: tuple[str, ...]  # of meson setup
    env: dict[str, str] = field(default_factory=dict)
    under: tuple[str, ...] = ()
    without: dict[str, str] = field(default_factory=dict)  # tests, each with the reason

    def folder(self, build: Path) -> Path:
        return build.with_name(build.name + self.suffix)

    def build(self, build: Path, nice: int = 0) -> subprocess.Popen[bytes]:
        """Begins to bring up to date what the folder's tests need."""
        options = ("-Dwerror=true", *self.options)
        needed = ("--for", ",".join(self.suites)) if self.suites else ()
        return subprocess.Popen(
            ["nice", "-n", str(nice), TOP / "scripts/build", *needed, self.folder(build), *options],
            env=os.environ | self.env,
            stdin=subprocess.DEVNULL,
            start_new_session=nice > 0,
        )


# Half as long to build as with what the main folder has; the lines of a trace are the same.
_QUICK = ("-Doptimization=1", "-Dc_args=-g1")

_COUNTERS = "-fprofile-instr-generate -fcoverage-mapping"

ASAN = Kind(
    "-asan",
    "ASan and UBSan",
    ("unit", "libgid", "hostile"),
    (*_OWN_PROCESSES, *_QUICK, "-Db_sanitize=address,undefined"),
)
# TSan knows only the usual address layouts.
TSAN = Kind(
    "-tsan",
    "TSan",
    ("ring",),
    (*_OWN_PROCESSES, "-Db_sanitize=thread"),
    under=("setarch", "--addr-no-randomize"),
)
_TARGETS = ("-Dgstreamer=disabled", "-Dclients=disabled", "-Dfuzz=true", "-Db_lundef=false")
FUZZ = Kind("-fuzz", "libFuzzer and ASan", ("fuzz",), (*_TARGETS, *_QUICK), {"CC": "ccache clang"})
# The fuzz targets once more, to see what lines they reach: ./run fuzz --coverage.
COVERAGE = Kind(
    "-coverage",
    "",
    FUZZ.suites,
    (*_TARGETS, f"-Dc_args={_COUNTERS}", f"-Dc_link_args={_COUNTERS}"),
    FUZZ.env,
)
# What the tests reach of statements and conditions, by gcc: ./run coverage. One process may have
# several threads, and several processes write to one file.
_REACHED = "-fcondition-coverage -fprofile-update=atomic -Wno-coverage-too-many-conditions"
REACH = Kind(
    "-reach",
    "",
    ("unit", "libgid", "stream", "ivshmem", "faults", "hostile", "safety", "displays"),
    ("-Db_coverage=true", "-Doptimization=0", f"-Dc_args={_REACHED}"),
)
TESTED = (ASAN, TSAN, FUZZ)

_SANITIZERS = TOP / "tests/sanitizers"

# Only by ./run test --deep. Other people's processes load our code: the sanitizer is there first.
OTHERS = Kind(
    "-others",
    "ASan and UBSan",
    ("gst", "compositor", "safety"),
    ("-Db_sanitize=address,undefined",),
    under=(str(_SANITIZERS / "with-asan"),),
    without={
        "gst/system_calls": "it counts those of the code alone",
        "compositor/weston-valgrind": "valgrind and ASan exclude each other",
        "safety/forward_valgrind": "valgrind and ASan exclude each other",
    },
)
# The threads of libgid, all of its unit tests.
THREADS = replace(TSAN, suites=("unit", "libgid"))
# Those of the elements, in a program that has them built in. TSan does not know the fences by which
# the engine's programs order what they write, and gcc warns of it: gidcompose is not looked at.
ELEMENTS = replace(
    TSAN,
    suffix="-threads",
    suites=("threads",),
    options=(
        "-Dweston=disabled",
        "-Dwlroots=disabled",
        "-Db_sanitize=thread",
        "-Dc_args=-Wno-tsan",
    ),
)
# Of programs for another architecture, which QEMU runs: what is tested, and what cannot be, each
# with the reason. docs/boards.md has the same table.
EMULATED_SUITES = ("unit", "libgid", "stream", "hostile")
_LOADERS = "Weston, GStreamer and Python are this machine's, and load nothing for another"
EMULATED_WITHOUT = {
    "hostile/endless": _LOADERS,
    "hostile/pipewire endless": _LOADERS,
    "hostile/silent_gidd": _LOADERS,
    "unit/confine": "there is no seccomp()",
    "unit/dmabuf": "timer_create() refuses SIGRTMAX, which sigaction() takes",
    "unit/drawn": "timer_create() refuses SIGRTMAX, which sigaction() takes",
    "unit/large_pages": "MADV_COLLAPSE does nothing, and says that it did",
}
DEEP = (ASAN, OTHERS, THREADS, ELEMENTS, FUZZ)
