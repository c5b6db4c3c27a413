# SPDX-License-Identifier: MIT
"""Guests that can be saved and restored: their programs are in their own memory, for QEMU saves no
machine that has mounted what the host lends.

Saved is what QEMU has of the machine, as an internal snapshot, and beside it the guest's own
windows: they are its memory, too, and QEMU leaves alone what machines share.
"""

import re
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from shutil import copy2, which
from urllib.parse import quote

from gid_cockpit.machine import describe
from gid_vm.agent import Agent
from gid_vm.guest import Guest, prepare
from gid_vm.initramfs import find_kernel
from gid_vm.monitor import Monitor, MonitorError
from gid_vm.qemu import RECONNECT_MS
from guests import SECONDS, Machines
from lib.program import wait_for

from lab.domains.configuration import configuration

SNAPSHOT = "here"
AGENT = "import sys, binascii, io, json, os, subprocess, threading, time"
# What python3 loads for this, where it lies and what it was compiled to.
LIST = "[print(p) for m in list(sys.modules.values()) for p in (getattr(m, '__file__', None), "
LIST += "getattr(m, '__cached__', None)) if p and os.path.exists(p)]"
IVSHMEM = (0x1AF4, 0x1110)


def libraries(program: Path) -> list[Path]:
    """All that the loader finds for it, and the loader."""
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return [Path(path) for path in re.findall(r"^\t(?:\S+ => )?(/.*) \(0x", said, re.MULTILINE)]


def make_usr(usr: Path, programs: Sequence[Path]) -> None:
    """A /usr with these programs, busybox, and as much of Python as the agent needs."""

    def place(path: Path, source: Path) -> None:
        target = usr / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            copy2(source, target)

    python, busybox = Path(which("python3")).resolve(), Path(which("busybox"))
    listed = subprocess.run(
        [python, "-I", "-S", "-c", f"{AGENT}; {LIST}"], check=True, capture_output=True, text=True
    )
    files = [Path(line).resolve() for line in listed.stdout.splitlines()]
    for path in files:
        place(path.relative_to("/usr"), path)
    place(Path("bin/python3"), python)
    place(Path("bin/busybox"), busybox)
    for program in programs:
        place(Path("bin") / program.name, program)
    for program in (python, *programs, *(path for path in files if ".so" in path.suffixes)):
        for library in libraries(program):
            folder = library.parent
            is_of_system = any(folder.is_relative_to(top) for top in ("/lib", "/lib64", "/usr/lib"))
            parts = [part for part in folder.parts[1:] if part != "usr"]
            place(Path(*parts if is_of_system else ["lib"], library.name), library)
    (usr / "sbin").mkdir(exist_ok=True)
    names = subprocess.run([busybox, "--list"], check=True, capture_output=True, text=True)
    for name in names.stdout.split():
        if not (usr / "bin" / name).exists():
            (usr / "bin" / name).symlink_to("busybox")


def ask(monitor: Monitor, line: str) -> None:
    """A line of QEMU's own monitor, which says nothing where all is well."""
    monitor.socket.settimeout(SECONDS)
    said = str(monitor.execute("human-monitor-command", **{"command-line": line})).strip()
    if said:
        raise MonitorError(f"{line}: {said}")


def with_guest(more: str = "") -> str:
    """Of the guest and the host, which read each other's streams. `more`: of the guest."""
    keys = "kind=guest window=4M window-kind=ivshmem vm-memory=256M doorbell=off"
    return (
        configuration(
            {"open": f"{keys} {more}".rstrip(), "host": "kind=host window=4M local=*"},
            {"open host": "*", "host open": "*"},
            runtime="/run/gidway",
        )
        + "[link open host]\nkind=ivshmem\nsilence=120\n"
    )


class Savable(Machines):
    """Its guests can be saved. Each of them has `programs` in its memory.

    `s3`: they can be suspended to that memory as well, and so have a kernel that takes longer to
    start.
    """

    def __init__(self, config: str, programs: Sequence[Path], s3: bool = False) -> None:
        super().__init__(config)
        self.s3 = s3
        self.usr = self.host.folder / "usr"
        make_usr(self.usr, programs)
        self.windows: dict[Path, bytes] = {}
        self.prepared: set[int] = set()  # processes of QEMU

    def launch(self, name: str) -> Guest:
        machine = describe(self.configuration, self.configuration.choose([name])[0])
        machine.monitor.parent.mkdir(exist_ok=True)
        guest = Guest(name, machine)
        machine.shares.clear()
        disk = guest.work / "states.qcow2"
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", disk, "1M"], check=True)
        machine.disks = [disk]
        if machine.accel == "tcg":  # docs/vm.md: else its clock does not go back with it
            machine.kernel_arguments.append("tsc=unstable")
        environment = {"GID_RUNTIME_DIR": "/run/gidway", "GST_REGISTRY": "/none"}
        prepare(machine, guest.work, self.config, usr=self.usr, **environment)
        if self.s3:
            machine.kernel, machine.s3 = find_kernel()[0], True
        self.guests[name] = guest
        guest.launch()
        return guest

    def monitor(self, name: str) -> Monitor:
        return Monitor(self.guests[name].machine.monitor)

    def own_windows(self, name: str) -> list[Path]:
        return sorted((self.host.runtime / "window" / name).iterdir())

    def clock(self, name: str) -> float:
        """What time it is there, in seconds since some moment."""
        return float(self.guests[name].read(Path("/proc/uptime"), SECONDS).split()[0])

    # --- saving ---

    def prepare(self, name: str, monitor: Monitor) -> None:
        """Shared memory is neither saved nor written; who reads it hears when it is restored."""
        capability = {"capability": "x-ignore-shared", "state": True}
        monitor.execute("migrate-set-capabilities", capabilities=[capability])
        process = self.guests[name].process.pid
        if process not in self.prepared:
            bus = f"unix:path={quote(str(self.host.runtime / 'hub' / f'{name}.bus'))}"
            monitor.execute("object-add", **{"qom-type": "dbus-vmstate", "id": "hub", "addr": bus})
            self.prepared.add(process)

    def save(self, name: str) -> None:
        with self.monitor(name) as monitor:
            self.prepare(name, monitor)
            monitor.execute("stop")
            ask(monitor, f"savevm {SNAPSHOT}")
            self.windows = {path: path.read_bytes() for path in self.own_windows(name)}
            monitor.execute("cont")

    def part(self, name: str) -> None:
        """Whoever connects there takes the machine's place: others hear that it is gone."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as hub:
            hub.connect(str(self.host.runtime / "hub" / f"{name}.sock"))
            self.wait_link(name, "down")

    def put_windows_back(self) -> None:
        for path, data in self.windows.items():
            with path.open("r+b") as file:
                file.write(data)

    # --- restoring ---

    def set_back(self, name: str) -> None:
        """Just that, in the process that runs: nobody but QEMU tells the hub."""
        with self.monitor(name) as monitor:
            monitor.execute("stop")
            ask(monitor, f"loadvm {SNAPSHOT}")
            monitor.execute("cont")

    def restore(self, name: str) -> None:
        """As docs/vm.md has it: nobody reads its windows while they become what they were."""
        with self.monitor(name) as monitor:
            monitor.execute("stop")
            self.part(name)
            # As by hand: QEMU has connected again, to a hub that knows nobody there.
            time.sleep(5 * RECONNECT_MS / 1000)
            self.put_windows_back()
            ask(monitor, f"loadvm {SNAPSHOT}")
            monitor.execute("cont")

    def restore_anew(self, name: str) -> None:
        """In a new process. It has to begin to boot, so that the windows are where they were."""
        guest = self.guests[name]
        guest.kill()
        guest.agent.close()
        self.wait_link(name, "down")
        guest.machine.monitor.unlink()
        guest.launch()
        wait_for(guest.machine.monitor.exists, "QEMU to listen", SECONDS)
        with self.monitor(name) as monitor:
            wait_for(lambda: are_placed(monitor), "the windows to have their places", SECONDS)
            monitor.execute("stop")
            self.prepare(name, monitor)
            self.put_windows_back()
            ask(monitor, f"loadvm {SNAPSHOT}")
            monitor.execute("cont")
        guest.agent = Agent(guest.agent.path, guest.describe)
        guest.wait_ready()


def are_placed(monitor: Monitor) -> bool:
    """Whether its firmware has given each window its addresses."""
    devices = [device for bus in monitor.execute("query-pci") for device in bus["devices"]]
    regions = [
        region
        for device in devices
        if (device["id"]["vendor"], device["id"]["device"]) == IVSHMEM
        for region in device["regions"]
    ]
    return bool(regions) and all(region["address"] > 0 for region in regions)
