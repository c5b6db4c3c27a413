# SPDX-License-Identifier: MIT
"""What compilers find in C when they follow its ways: clang-tidy's bugprone set, gcc -fanalyzer.

Both read how the main build folder compiles each file.
"""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]

# Of clang-tidy's bugprone set, what is no finding here, and why.
NOT_ASKED = {
    "assignment-in-if-condition": "GStreamer's style, in gst/",
    "branch-clone": "the order of the cases is what they mean",
    "casting-through-void": "GObject's macros do",
    "easily-swappable-parameters": "x and y, width and height are of one type",
    "multi-level-implicit-pointer-conversion": "free() of an array of pointers",
    "narrowing-conversions": "the compiler's own warnings judge those",
    "not-null-terminated-result": "names are copied into zeroed memory",
    "reserved-identifier": "_GNU_SOURCE",
    "suspicious-missing-comma": "long literals are written in pieces",
    "switch-missing-default-case": "options that argp knows itself",
}
TIDY = [
    "--quiet",
    "--checks=-*,bugprone-*," + ",".join(f"-bugprone-{name}" for name in NOT_ASKED),
    "--warnings-as-errors=bugprone-*",  # gcc gives the other warnings
    "--config={CheckOptions: "
    "{bugprone-implicit-widening-of-multiplication-result.IgnoreConstantIntExpr: true}}",
]

# What gcc says where it does not know what a function of another file does: file, kind, the reason.
_FAIL = "gid_domain_fail() and gid_domain_request() return the error, never 0 without an answer"
_KEPT = "it stays in the object, and the caller's finish() gives it back after an error, too"
_QUEUE = "the loop takes the entry out of its queue before it is freed"
EXCUSED = {
    ("libgid/import.c", "use-of-uninitialized-value"): _FAIL,
    ("libgid/producer.c", "use-of-uninitialized-value"): _FAIL,
    ("libgid/subscriber.c", "infinite-loop"): "each turn adds to an atomic number",
    ("bench/ring/main.c", "infinite-loop"): "the other thread ends it",
    ("cluster/base/cluster_config.c", "malloc-leak"): _KEPT,
    ("cluster/cluster_status.c", "fd-leak"): _KEPT,
    ("gst/gidsrc/gstgidsrcbuffer.c", "out-of-bounds"): "gid_layout_check() lets 4 planes through",
    ("gidd/machine/doorbell_device.c", "use-after-free"): _QUEUE,
    ("gidd/core/slabs.c", "use-after-free"): _QUEUE,
    ("gidd/core/slabs_foreign.c", "use-after-free"): _QUEUE,
    ("gidd/link/link.c", "null-dereference"): "config_file.c lets no other kind through",
    (
        "weston-plugin/hidden_client.c",
        "use-of-uninitialized-value",
    ): "errno of what failed is not 0",
    ("weston-plugin/weston_buffer.c", "infinite-loop"): "a wl_list, as long as it is",
    ("wlroots/wlroots_buffer.c", "infinite-loop"): "a wl_list, as long as it is",
    ("tools/gidctl/main.c", "null-dereference"): "argp_error() ends the program",
}

_FINDING = re.compile(r"(?:\.\./)?(\S+?):\d+:\d+: warning: .*\[-Wanalyzer-([\w-]+)\]")


def words_of(command: str) -> list[str]:
    """Of a line of compile_commands.json. The compiler is the first: what is made again is not to
    come from a cache, which does not know all of what our options make.
    """
    words = shlex.split(command)
    return words[1:] if Path(words[0]).name == "ccache" else words


def commands(build: Path) -> Iterator[tuple[str, list[str]]]:
    """Each C file of ours, by its path from the top, and what compiles it; once."""
    seen = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = (build / entry["file"]).resolve()
        if file in seen or file.suffix != ".c" or file.is_relative_to(build):
            continue
        seen.add(file)
        yield str(file.relative_to(TOP)), words_of(entry["command"])


def each(build: Path, look: Callable[[str, list[str]], str]) -> int:
    """Prints what is found in the files; 1: something."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda both: look(*both), commands(build)))
    print(*filter(None, found), sep="\n")
    return bool(any(found))


def tidy(build: Path) -> int:
    def look(file: str, command: list[str]) -> str:
        if file.startswith("tests/"):
            return ""  # their sizes are small constants
        tidied = subprocess.run(
            ["clang-tidy", "-p", build, *TIDY, TOP / file], capture_output=True, text=True
        )
        return tidied.stdout if tidied.returncode != 0 else ""

    return each(build, look)


def gcc(build: Path) -> int:
    def look(file: str, command: list[str]) -> str:
        if "clang" in command[0] or file.startswith("tests/"):
            return ""  # a test without memory may end
        command[command.index("-o") + 1] = os.devnull
        for name in ("-MQ", "-MF"):
            at = command.index(name)
            del command[at : at + 2]
        command = [word for word in command if word != "-MD" and not word.startswith("-Werror")]
        how = ["-fanalyzer", "-fdiagnostics-plain-output", "-fdiagnostics-path-format=none"]
        said = subprocess.run(command + how, cwd=build, capture_output=True, text=True).stderr
        findings = []
        for line in said.splitlines():
            match = _FINDING.match(line)
            if match and match.groups() not in EXCUSED:
                findings.append(line)
        return "\n".join(findings)

    return each(build, look)
