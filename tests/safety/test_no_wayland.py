# SPDX-License-Identifier: MIT
"""gid-cluster is no Wayland compositor: nobody can connect to it, to ask its thread for anything.

Nine attacks of Wayland clients on the display's thread stood here once, by descriptors, memory,
rectangles and objects without a bound. They have no way in any more.
"""

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.display import ROLE, Display, start_telltale
from lib.program import BUILD, wait_for

CLUSTER = BUILD / "cluster" / "gid-cluster"
LISTENS = "00010000"  # of /proc/net/unix' flags
SERVES = r"wl_(display|global|client|resource|shm|protocol_logger)_\w+"


def listening(pid: int) -> set[str]:
    """The paths of all sockets of the process that others can connect to."""
    held = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            held |= set(re.findall(r"^socket:\[(\d+)\]", os.readlink(entry)))
        except FileNotFoundError:
            continue  # closed meanwhile
    found = set()
    for line in Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]:
        words = line.split(maxsplit=7)
        if words[3] == LISTENS and words[6] in held:
            found.add(words[7] if len(words) > 7 else "")
    return found


def test_its_status_is_all_that_listens(cockpit: Cockpit) -> None:
    folder = cockpit.folder / "user"
    folder.mkdir(0o700)
    display = Display(cockpit, under=("env", f"XDG_RUNTIME_DIR={folder}"))
    start_telltale(cockpit)
    display.wait_role("live")
    assert display.screenshot().any()
    assert listening(display.program.pid) == {str(display.status_path)}
    assert list(folder.iterdir()) == []
    for protocol in ("tcp", "tcp6", "udp", "udp6"):
        table = Path(f"/proc/{display.program.pid}/net/{protocol}").read_text()
        inodes = {line.split()[9] for line in table.splitlines()[1:]}
        for entry in Path(f"/proc/{display.program.pid}/fd").iterdir():
            assert not inodes & set(re.findall(r"socket:\[(\d+)\]", os.readlink(entry)))


@pytest.mark.parametrize("what", ["a socket", "a fifo", "a file", "a link into nothing"])
def test_files_of_a_display_are_ignored(cockpit: Cockpit, what: str) -> None:
    """That others made where a compositor's would be: it opens none, and waits for none."""
    folder = cockpit.folder / "user"
    folder.mkdir(0o700)
    path = folder / "wayland-0"
    with socket.socket(socket.AF_UNIX) as trap:
        if what == "a socket":
            trap.bind(str(path))
            trap.listen(0)
            trap.setblocking(False)
        elif what == "a fifo":
            os.mkfifo(path)
        elif what == "a file":
            path.write_text("no socket")
        else:
            path.symlink_to("nothing")
        (folder / "wayland-0.lock").write_text("")
        names = (f"XDG_RUNTIME_DIR={folder}", "WAYLAND_DISPLAY=wayland-0")
        display = Display(cockpit, ROLE, under=("env", *names))
        start_telltale(cockpit)
        display.wait_role("live")
        wait_for(lambda: display.status()["frames"] > 0, "frames")
        assert {entry.name for entry in folder.iterdir()} == {"wayland-0", "wayland-0.lock"}
        if what == "a socket":
            with pytest.raises(BlockingIOError):
                trap.accept()


def test_nothing_serves_in_the_program() -> None:
    """libwayland's event loop is there; no display, no global and no client could be made."""
    command = ["nm", "--dynamic", "--undefined-only", "--format=posix", CLUSTER]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = {line.split()[0].partition("@")[0] for line in listing.splitlines()}
    assert "wl_event_loop_create" in names
    assert not {name for name in names if re.fullmatch(SERVES, name)}


def test_there_is_no_option_for_it(cockpit: Cockpit) -> None:
    found = subprocess.run([CLUSTER, "--socket=wayland-1"], capture_output=True, text=True)
    assert found.returncode == 2 and "--socket" in found.stderr
