# SPDX-License-Identifier: MIT
"""The read-only proof: nobody in one domain can write memory that the other one owns.

Not by agreement and not only by what a program maps now: all processes of both domains, all that
they have mapped, and all descriptors that they hold.
"""

import fcntl
import os
import re
from dataclasses import dataclass
from pathlib import Path

from lib.cockpit import Cockpit
from lib.display import with_deadline
from lib.forwarding import Forwarding
from lib.pipeline import gst_env
from lib.program import BUILD, Program, wait_for
from lib.wlroots_screen import WlrootsScreen

FILM = "[layer film]\ndomain=open\ny=120\nwidth=160\nheight=120\n"
F_GET_SEALS = 1034
F_SEAL_WRITE, F_SEAL_FUTURE_WRITE = 0x8, 0x10


@dataclass(frozen=True)
class Access:
    """How a process can reach one piece of shared memory."""

    inode: int
    program: str
    maps_writable: bool = False
    can_map_writable: bool = False  # by a descriptor


def program_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def is_ours(name: str) -> bool:
    return "memfd:gid" in name


def mapped(pid: int) -> list[Access]:
    found = []
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and is_ours(fields[5]):
            writable = fields[1][1] == "w" and fields[1][3] == "s"
            found.append(Access(int(fields[4]), program_of(pid), maps_writable=writable))
    return found


def held(pid: int) -> list[Access]:
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            if not is_ours(os.readlink(entry)):
                continue
            flags = re.search(
                r"^flags:\s*(\d+)", Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text(), re.M
            )
            # Our own description of the same file: seals are the file's.
            mine = os.open(entry, os.O_RDONLY)
        except FileNotFoundError:
            continue  # closed meanwhile
        seals = fcntl.fcntl(mine, F_GET_SEALS)
        inode = os.fstat(mine).st_ino
        os.close(mine)
        writable = int(flags[1], 8) & os.O_ACCMODE != os.O_RDONLY
        open_to_write = writable and not seals & (F_SEAL_FUTURE_WRITE | F_SEAL_WRITE)
        found.append(Access(inode, program_of(pid), can_map_writable=open_to_write))
    return found


def processes_of(domain: str, runtime: Path) -> list[int]:
    """By the environment that they were started with, children of theirs included."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"GID_DOMAIN={domain}".encode() in variables and (
            f"GID_RUNTIME_DIR={runtime}".encode() in variables
        ):
            found.append(int(process.name))
    return found


def accesses(domain: str, runtime: Path) -> list[Access]:
    found = []
    for pid in processes_of(domain, runtime):
        try:
            found += mapped(pid) + held(pid)
        except FileNotFoundError:
            continue  # ended meanwhile
    return found


def start_wayland_client(cockpit: Cockpit, domain: str, socket: Path, *command: str) -> Program:
    env = gst_env({"WAYLAND_DISPLAY": str(socket)}, cockpit.folder / "registry.bin")
    return cockpit.run(domain, command, **env)


def test_no_domain_can_write_the_others_memory(cockpit: Cockpit) -> None:
    clients = BUILD / "clients"
    forwarding = Forwarding(cockpit, roles=with_deadline(10000) + FILM)
    weston, display = forwarding.weston, forwarding.display
    forwarding.telltale("--cycle", "100")
    film = (
        "gst-launch-1.0 videotestsrc is-live=true ! video/x-raw,format=BGRx ! gidsink stream=film"
    )
    start_wayland_client(cockpit, "open", weston.socket, *film.split())
    view = [str(clients / "gid-view"), "--stream=film"]
    start_wayland_client(cockpit, "open", weston.socket, *view)
    screen = WlrootsScreen(cockpit, cockpit.folder)
    screen.wait_ready()
    start_wayland_client(cockpit, "cluster", screen.socket, *view, "--domain=open")
    receive = "gst-launch-1.0 gidsrc domain=open stream=film ! fakesink"
    start_wayland_client(cockpit, "cluster", screen.socket, *receive.split())
    display.wait_role("live")

    def flows() -> bool:
        subscriptions = cockpit.status("open")["subscriptions"]
        live = [one for one in subscriptions if one["consumer_counts"]["received"] > 10]
        return len(live) >= 5

    wait_for(flows, "the film at both views, gidsrc and the display, and the telltale there")
    theirs = accesses("open", cockpit.runtime)
    ours = accesses("cluster", cockpit.runtime)
    programs = {"gidd", "gst-launch-1.0", "gid-view"}
    assert programs | {"weston", "gid-telltale"} <= {one.program for one in theirs}
    assert programs | {"gid-cluster", "wlroots-screen"} <= {one.program for one in ours}

    written_by_theirs = {one.inode for one in theirs if one.maps_writable}
    written_by_ours = {one.inode for one in ours if one.maps_writable}
    read_by_theirs = {one.inode for one in theirs} - written_by_theirs
    read_by_ours = {one.inode for one in ours} - written_by_ours
    assert written_by_theirs & read_by_ours, "the cluster reads what open draws"
    assert written_by_ours & read_by_theirs, "and open what the cluster has released"
    assert not written_by_theirs & written_by_ours
    assert not [one for one in theirs + ours if one.can_map_writable], "sealed against new writers"
