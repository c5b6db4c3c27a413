# SPDX-License-Identifier: MIT
"""What one party of bench/readers.py can do to the others: by writing into pictures, and by dying.

A witness reads all the while. It keeps each picture for half of the time until the next, and then
looks whether the picture is still what was sent.
"""

import ctypes
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench import readers_ways as ways
from bench.readers_crew import PATIENCE, Crew, Process
from lab.domains.cockpit import Cockpit
from lab.domains.program import wait_for

MARK_BYTES = 64
MARK = b"\xee" * MARK_BYTES
VICTIMS = 4  # readers that are killed at once, each with a picture in its hands
WATCHED = 2.0  # seconds
BACK = 15.0  # seconds for which the next producer's pictures are waited for once it sends them
PROT_READ_WRITE = 3


# --- a reader that writes -------------------------------------------------------------------------


@dataclass(frozen=True)
class Mapping:
    """A line of /proc/self/maps."""

    start: int
    end: int
    is_writable: bool
    is_shared: bool
    offset: int
    file: tuple[int, int]  # device and inode
    path: str


def mapping_of(address: int) -> Mapping:
    for line in Path("/proc/self/maps").read_text().splitlines():
        bounds, rights, offset, device, inode, *path = line.split(maxsplit=5)
        start, end = (int(one, 16) for one in bounds.split("-"))
        if start <= address < end:
            major, minor = (int(one, 16) for one in device.split(":"))
            file = os.makedev(major, minor), int(inode)
            is_writable, is_shared = rights[1] == "w", rights[3] == "s"
            name = path[0] if path else ""
            return Mapping(start, end, is_writable, is_shared, int(offset, 16), file, name)
    raise LookupError(hex(address))


def write_by_file(mapping: Mapping, address: int) -> bool:
    """By its name, and by each descriptor that this process has of it."""
    descriptors = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    for path in (mapping.path, *descriptors):
        try:
            found = os.stat(path)
            if (found.st_dev, found.st_ino) != mapping.file:
                continue
            opened = os.open(path, os.O_RDWR)
        except OSError:
            continue
        try:
            os.pwrite(opened, MARK, mapping.offset + address - mapping.start)
            return True
        except OSError:
            continue
        finally:
            os.close(opened)
    return False


def mistake(pixels: np.ndarray) -> str:
    """What comes of `pixels[0] = 0`."""
    if not pixels.flags.writeable:
        return "refused"
    return "written" if mapping_of(pixels.ctypes.data).is_writable else "crash"


def write_into(pixels: np.ndarray, at: int) -> str | None:
    """By the first way that works, which is returned. None: its memory cannot be written, or is of
    this process alone."""
    address = pixels.ctypes.data + at
    mapping = mapping_of(address)
    if not mapping.is_shared:
        return None
    if mapping.is_writable:
        ctypes.memset(address, MARK[0], MARK_BYTES)
        return "pointer"
    page = address & -os.sysconf("SC_PAGE_SIZE")
    length = ctypes.c_size_t(address + MARK_BYTES - page)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(page), length, PROT_READ_WRITE) == 0:
        ctypes.memset(address, MARK[0], MARK_BYTES)
        return "mprotect"
    return "file" if write_by_file(mapping, address) else None


def write(way: str, place: ways.Place) -> None:
    """Into each picture; the first line says how, or that it cannot."""
    for count, pixels in enumerate(ways.read(way, place, 1, itself=True)):
        how = write_into(pixels, place.size // 2)
        if count == 0:
            print(mistake(pixels), how or "refused", flush=True)


# --- who is watched, and who dies -----------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """A line of the witness, times in ns."""

    had: int
    sent: int
    sequence: int
    wrong: int


def witness(way: str, place: ways.Place) -> None:
    at = place.size // 2
    expected = ways.picture_of(place)[at : at + MARK_BYTES]
    for pixels in ways.read(way, place, 0, itself=True):
        had = time.monotonic_ns()
        sequence, sent = ways.stamp_of(pixels)
        time.sleep(0.5 / place.rate)
        wrong = pixels.reshape(-1)[at : at + MARK_BYTES].tobytes() != expected
        print(had, sent, sequence, int(wrong), flush=True)


def hold(way: str, place: ways.Place, number: int) -> None:
    for _pixels in ways.read(way, place, number, itself=True):
        print("held", flush=True)
        signal.pause()


def seen_by(process: Process) -> list[Seen]:
    return [Seen(*map(int, line.split())) for line in process.lines()]


def start(crew: Crew) -> tuple[Process, Process]:
    """A producer, and a witness that has got used to its pictures."""
    producer, watching = crew.start("produce"), crew.start("witness")
    crew.wait("pictures came", [watching], lambda one: len(one.lines()) >= 30)
    return producer, watching


def watch(crew: Crew, watching: Process) -> dict:
    """What it sees of the next seconds."""
    begin = time.monotonic_ns()
    end = begin + int(WATCHED * 1e9)
    while time.monotonic_ns() < end + 500_000_000 and not watching.has_ended():
        time.sleep(0.05)
    seen = [one for one in seen_by(watching) if begin <= one.had < end]
    if watching.has_ended() or len(seen) < 2:
        return {"missed": round(WATCHED * crew.place.rate) - len(seen), "gap_ms": WATCHED * 1000}
    times = [begin, *(one.had for one in seen), end]
    gap = max(late - early for early, late in zip(times, times[1:], strict=False))
    missed = seen[-1].sequence - seen[0].sequence + 1 - len(seen)
    return {"missed": missed, "gap_ms": round(gap / 1e6, 1)}


def written(crew: Crew) -> dict:
    _, watching = start(crew)
    writer = crew.start("write")
    crew.wait("it tried to write", [writer], lambda one: one.lines())
    begin = time.monotonic_ns()
    time.sleep(WATCHED)
    seen = [one for one in seen_by(watching) if one.had >= begin]
    by_mistake, on_purpose = writer.lines()[0].split()
    return {
        "mistake": by_mistake,
        "written_by": on_purpose,
        "others_saw": len(seen),
        "others_wrong": sum(one.wrong for one in seen),
    }


def readers_killed(crew: Crew) -> dict:
    _, watching = start(crew)
    victims = [crew.start("hold", number + 1) for number in range(VICTIMS)]
    crew.wait("each held a picture", victims, lambda one: one.lines())
    crew.kill(*victims)
    return {f"readers_killed_{key}": value for key, value in watch(crew, watching).items()}


def went_on(begin: int, first: int, had: int) -> dict:
    """How long the reader took, without the start of the next producer's program; times in ns."""
    return {
        "producer_killed": "goes on",
        "producer_back_s": round((had - first) / 1e9, 4),
        "producer_again_s": round((first - begin) / 1e9, 2),
    }


def producer_killed(crew: Crew) -> dict:
    """Until the reader has a picture of the next one."""
    producer, watching = start(crew)
    crew.kill(producer)
    begin = time.monotonic_ns()
    producer = crew.start("produce")
    wait_for(f"{crew.way}: the next producer's first picture", producer.lines, PATIENCE)
    first = int(producer.lines()[0].split()[2])
    while time.monotonic_ns() < first + BACK * 1e9 and not watching.has_ended():
        later = [one for one in seen_by(watching) if one.sent > begin]
        if later:
            return went_on(begin, first, later[0].had)
        time.sleep(0.05)
    how = "reader ends" if watching.has_ended() else "reader waits"
    return {"producer_killed": how, "producer_back_s": None}


def daemons_killed(crew: Crew, cockpit: Cockpit) -> dict:
    _, watching = start(crew)
    for domain in ("open", "cluster"):
        cockpit[domain]["gidd"].signal(signal.SIGKILL)
    found = watch(crew, watching)
    for domain in ("open", "cluster"):
        cockpit[domain].stop("gidd")
        cockpit[domain].up()
    return {f"daemons_killed_{key}": value for key, value in found.items()}


SCENES = {
    "a reader writes": written,
    "readers are killed": readers_killed,
    "the producer is killed": producer_killed,
}
ROLES = {"witness": witness, "write": write, "hold": hold}
