# SPDX-License-Identifier: MIT
"""What all benchmarks share: their command line, their cockpit, and the form of their results."""

import argparse
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import gid_console
from gid_evaluate import machine
from gid_evaluate.outcome import WANTING
from gid_vm.folder import memory_folder as memory_folder

from bench import aims
from lab.domains.cockpit import Cockpit, gidds
from lab.domains.configuration import GREAT, configuration
from lab.domains.program import LabError, Wanting

TOP = Path(__file__).resolve().parents[1]
FILM_HELP = "the film is one of H.264 with sound, decoded; else a live test picture stands for it"

seconds = gid_console.decimal_number(0.01, 86400)
count = gid_console.whole_number(1, 10**9)


def parser(name: str, description: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog=f"./run bench {name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "--json", type=to_write, metavar="FILE", help="write the figures there as well"
    )
    return made


def to_write(name: str) -> Path:
    """A file that can be written: not at the end of a long run is said that it cannot."""
    path = Path(name)
    folder = path.absolute().parent
    why = None
    if path.is_dir():
        why = "it is a folder"
    elif not folder.is_dir():
        why = f"{folder} is not a folder" if folder.exists() else f"there is no folder {folder}"
    elif not os.access(path if path.exists() else folder, os.W_OK):
        why = "this user may not"
    if why is not None:
        raise argparse.ArgumentTypeError(f"{name} cannot be written: {why}")
    return path


def run(main: Callable[[], int]) -> int:
    """A benchmark's main, with errors put for people. However it is ended, it tidies up."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as after nohup
            signal.signal(number, signal.default_int_handler)

    def measured() -> int:
        try:
            return main()
        except Wanting as error:
            if Progress.has_begun:
                raise  # whoever calls it that: what was being measured broke
            gid_console.tell(f"bench: {error}")
            return WANTING

    return gid_console.run("bench", measured, trouble=(LabError, subprocess.SubprocessError))


def cpu_seconds(pid: int) -> float:
    """Of the process, with the children that it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def children_seconds() -> float:
    """Of the processor, of all that we have waited for, to the microsecond."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def write(
    path: Path | None, rows: list[dict], ratios: dict[str, float], command: str | None = None
) -> None:
    """The form that all benchmarks' results have. Times mean little elsewhere; the ratios do. Which
    aims of the fast path they reach is also told to people; of `command` alone, where it is given.
    """
    reached = list(aims.reached(ratios, command))
    print(*map(aims.line, reached), sep="\n", end="\n" if reached else "")
    if path is None:
        return
    result = {
        "rows": rows,
        "ratios": ratios,
        "aims": reached,
        "tried_again": _tried_again,
        "machine": machine.describe(),
    }
    path.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")


_tried_again: list[str] = []


def report_retry(what: str) -> None:
    """That it is measured once more, and why: the report counts it. What crashed never is."""
    _tried_again.append(what)
    gid_console.tell(f"bench: tried again: {what}")


class Progress:
    """How far it is, on stderr: in place on a terminal, else a line every ten seconds."""

    has_begun = False  # anything was measured in this process

    def __init__(self, steps: int) -> None:
        self._steps, self._done = steps, 0
        self._terminal = gid_console.obeys(sys.stderr)
        self._begin = time.monotonic()
        self._last = self._begin

    def step(self, what: str) -> None:
        """The next step begins."""
        Progress.has_begun = True
        now = time.monotonic()
        text = f"{self._done + 1}/{self._steps} {what}"
        if self._done:
            left = (now - self._begin) / self._done * (self._steps - self._done)
            text += f", {left:.0f} s left"
        self._done += 1
        if self._terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif now - self._last >= 10:
            self._last = now
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def cockpit(
    folder: Path,
    streams: str,
    answers: str | None = None,
    great: Sequence[str] = ("open",),
    cores: Sequence[int | None] = (),
) -> Iterator[Cockpit]:
    """Two domains with a gidd each: `open` (1) and `cluster` (2), which reads `streams` of open;
    open reads `answers` of cluster. The quotas of those that are `great` bound nothing here. All
    programs of a domain run on its one of `cores`."""
    domains = {name: f"local=* {GREAT if name in great else ''}" for name in ("open", "cluster")}
    shares = {"open cluster": streams}
    if answers is not None:
        shares["cluster open"] = answers
    text = configuration(domains, shares, folder)
    with gidds(text, folder, list(domains), cores) as running:
        yield running
