# SPDX-License-Identifier: MIT
"""What a domain's processes are kept from where systemd does not start them: what its units say, as
far as this system lets us.

A program starts another only with the rights that it has; gidd writes nowhere but in its run-time
folder; and each domain has its own share of the machine's memory and processes, where the control
groups are ours to write.
"""

import contextlib
import functools
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")

# What the hub needs of root: to give its sockets to the users of its domains.
CAPABILITIES = "-all,+chown,+dac_override,+fowner"


# All that changes files, in Landlock's words.
WRITING = ",".join(
    ("write-file", "truncate", "remove-dir", "remove-file", "make-char", "make-dir", "make-reg")
    + ("make-sock", "make-fifo", "make-block", "make-sym")
)


@dataclass(frozen=True)
class Share:
    """Of the machine. `memory` in bytes; `weight` of the processors, where 100 is usual."""

    memory: int
    processes: int
    weight: int
    oom: int  # from -1000, who is never killed for memory, to 1000, who is first


# A hub's windows of its guests count as its memory.
MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
GIDD_SHARE = Share(memory=MEMORY // 2, processes=300, weight=500, oom=-800)


def guest_share(memory: int) -> Share:
    """For QEMU: the guest's memory, its windows, and what QEMU itself needs."""
    return Share(memory + (1 << 30), processes=300, weight=100, oom=300)


@functools.cache
def can_keep_from_writing() -> bool:
    """Whether setpriv and the kernel have Landlock."""
    words = ["setpriv", "--no-new-privs", "--landlock-access", f"fs:{WRITING}", "true"]
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True)
    return result.returncode == 0


def confine(words: list[str], writable: Iterable[Path], as_root: bool) -> list[str]:
    """The same command, without a way to more rights. It writes nowhere but in `writable`.

    `as_root`: it runs as root, and keeps little of what that means.
    """
    if shutil.which("setpriv") is None:
        return words
    command = ["setpriv", "--no-new-privs"]
    if as_root:
        command += ["--bounding-set", CAPABILITIES, "--inh-caps", "-all"]
    if can_keep_from_writing():
        command += ["--landlock-access", f"fs:{WRITING}"]
        for path in writable:
            command += ["--landlock-rule", f"path-beneath:{WRITING}:{path}"]
    return [*command, "--", *words]


def groups_folder() -> Path | None:
    """The control group that we are in, where it is of version 2."""
    try:
        line = next(
            line
            for line in Path("/proc/self/cgroup").read_text().splitlines()
            if line.startswith("0::")
        )
    except (OSError, StopIteration):
        return None
    folder = Path(f"{GROUPS}{line.removeprefix('0::').rstrip('/')}")
    return folder if (folder / "cgroup.procs").exists() else None


def put_into_share(pid: int, name: str, share: Share, folder: Path | None = None) -> Path | None:
    """Gives a process its share. Returns its control group; None: they are not ours to write."""
    _try_write(Path(f"/proc/{pid}/oom_score_adj"), str(share.oom))  # only root makes it less likely
    folder = folder or groups_folder()
    if folder is None:
        return None
    group = folder / "gidway" / name
    try:
        group.mkdir(parents=True, exist_ok=True)
        for parent in (folder, group.parent):
            for controller in ("cpu", "memory", "pids"):
                _try_write(parent / "cgroup.subtree_control", f"+{controller}")
        _try_write(group / "memory.max", str(share.memory))
        _try_write(group / "pids.max", str(share.processes))
        _try_write(group / "cpu.weight", str(share.weight))
        (group / "cgroup.procs").write_text(str(pid))
    except OSError:
        return None
    return group


def dissolve(name: str) -> None:
    """Removes the control group of a domain that has ended."""
    folder = groups_folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            (folder / "gidway" / name).rmdir()


def _try_write(path: Path, text: str) -> None:
    """One that this group does not have is left out."""
    with contextlib.suppress(OSError):
        path.write_text(text)
