# SPDX-License-Identifier: MIT
"""What strangers can reach of the display's thread, as docs/security.md counts it."""

import re
from pathlib import Path

from lib.cockpit import Cockpit
from lib.display import ROLE, Display, start_telltale
from lib.program import TOP, wait_for

FRAMES = 180  # of the display, while its calls are written down
LINES_OFF = 0.1  # by what part the document may differ from the code


def row(what: str) -> str:
    """Of the table "What reaches the display's thread"."""
    text = (TOP / "docs/security.md").read_text()
    table = text.partition("\n## What reaches the display's thread\n")[2].partition("\n## ")[0]
    (found,) = (line for line in table.splitlines() if line.startswith(f"| {what} |"))
    return found


def number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found is not None, f"{pattern} in {text}"
    return int(found[1].replace(",", ""))


def test_bytes_of_others() -> None:
    told = row("bytes of other domains that it reads")
    wire = (TOP / "libgid/wire_ring.h").read_text()
    reader = (TOP / "cluster/workers/stream_reader.h").read_text()
    entry = number(r"sizeof\(struct gid_wire_frame\) == (\d+)", wire)
    entries = number(r"#define STREAM_READER_ENTRIES (\d+)u", reader)
    assert number(r"at most (\d+) bytes", told) == entry
    assert number(r"at most (\d+) for each stream", told) == entries


def test_lines_of_its_code() -> None:
    """All of cluster/, but for the files that the document leaves out."""
    told = row("lines of C in that thread")
    left_out = re.findall(r"\w+", told.partition("which is ")[2].partition(" |")[0])
    files = [path for end in "ch" for path in (TOP / "cluster").rglob(f"*.{end}")]
    names = {path.stem for path in files}
    left_out = {name for name in left_out if name != "and"}
    assert left_out <= names, left_out - names
    counted = sum(len(path.read_text().splitlines()) for path in files if path.stem not in left_out)
    assert abs(counted / number(r"\| ([\d,]+) \(", told) - 1) <= LINES_OFF, counted


def test_calls_that_it_may_make(cockpit: Cockpit) -> None:
    display = Display(cockpit, arguments=("--confine",))
    log = "thread is confined to"
    display.program.wait_output(log)
    said = next(line for line in display.program.stderr.splitlines() if log in line)
    assert number(r"confined to (\d+)", said) == number(r"(\d+) in all", row("system calls"))


def test_calls_while_it_shows(cockpit: Cockpit) -> None:
    """Of its thread alone, for strace follows no other; and of one that only shows: no stranger
    asks it for anything meanwhile.
    """
    trace = cockpit.folder / "calls"
    under = ("strace", "--kill-on-exit", "-qq", "-o", str(trace))
    display = Display(cockpit, ROLE, under=under)
    start_telltale(cockpit, "--cycle", "50")
    display.wait_role("live")
    asked = trace.stat().st_size
    wait_for(lambda: calls(trace, asked)[1] > FRAMES, "the end of the last answer")
    before = trace.stat().st_size
    wait_for(lambda: calls(trace, before)[1] > FRAMES, "calls of its timers")
    made, _ = calls(trace, before)
    told = set(re.findall(r"\w+", row("system calls").partition("`): ")[2].partition(".")[0]))
    assert made <= told | {"epoll_pwait"}, made - told
    assert made >= {"epoll_wait", "timerfd_settime"} or "epoll_pwait" in made


def calls(trace: Path, since: int) -> tuple[set[str], int]:
    """Their names, and how often it set a timer."""
    with trace.open("rb") as file:
        file.seek(since)
        text = file.read().decode(errors="replace")
    found = re.findall(r"^(\w+)\(", text, re.M)
    return set(found), found.count("timerfd_settime")
