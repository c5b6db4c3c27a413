# SPDX-License-Identifier: MIT
"""A guest that is there for its kernel: for drivers that this machine's kernel is without.

Programs in it see what they would see here; memory that machines share, it has none. With KVM it is
a machine of QEMU, as any other guest. Without, it is User-mode Linux, if that can be built.
"""

import itertools
import os
import shutil
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .accel import CACHE, probe_accel
from .agent import Agent, GuestError
from .folder import memory_folder
from .guest import BOOT_SECONDS, Guest, guest_files
from .initramfs import CannotBoot, find_kernel, make_initramfs
from .modules import module_files
from .root import copy_etc, lent_folders, mount_list
from .uml import AGENT, KERNEL, Program, built_kernel, folder_of_kernel, why_no_uml

MODULES = Path("/run/guest/kernel")  # in the guest
OUT = Path("/mnt/out")

# The variable that names a build folder in which gcc's counts of the guest's programs are added up.
COUNTED = "GIDWAY_COUNTED"


def own_kernel(name: str, modules: Sequence[str] = ()) -> Guest:
    """A guest that loads `modules` as it starts; to be used by `with`.

    Raises CannotBoot where there can be none with these modules.
    """
    if is_program():
        try:
            return UmlGuest(name, modules)
        except CannotBoot as error:  # as without a network
            print(f"a guest of QEMU instead of User-mode Linux: {error}", file=sys.stderr)
    return Guest(name, cpus=2, modules=list(modules))


def is_program() -> bool:
    """Whether it will be User-mode Linux."""
    return why_no_uml() is None and probe_accel() != "kvm"


def is_to_be_built(cache: Path = CACHE) -> bool:
    """Whether the next of them would build its kernel first, for minutes."""
    try:
        return is_program() and not folder_of_kernel(cache).is_dir()
    except (CannotBoot, OSError):
        return False  # the tests say why


def why_no_kernel(modules: Sequence[str] = ()) -> str | None:
    """Why no such guest can be had here, or None."""
    if is_program():
        return None
    try:
        module_files(find_kernel()[1].parent, modules)
    except CannotBoot as error:
        return str(error)
    return None


def prepare_program(
    name: str,
    work: Path,
    modules: Sequence[str] = (),
    folder: Path | None = None,
    out: Path | None = None,
    **environment: str,
) -> Program:
    """As guest.prepare() for QEMU. `out`: a folder of this machine that the guest can write to."""
    built = built_kernel()
    mounts = [("hostfs", f"ro,{lent}", "none", lent) for lent in lent_folders(folder)]
    mounts += [("hostfs", f"ro,{built}", "none", MODULES)]
    mounts += [("hostfs", f"rw,{out}", "none", OUT)] if out is not None else []
    if counted := os.environ.get(COUNTED):
        mounts.append(("hostfs", f"rw,{counted}", "none", counted))
    files = guest_files(mount_list(mounts), folder=folder, **environment)
    files["line"] = AGENT.encode()
    files["modules"] = "".join(f"{module}\n" for module in modules).encode()
    make_initramfs(work / "initramfs", None, files, copy_etc)
    return Program(name, built / KERNEL, work / "initramfs", work)


def memory_environment() -> dict[str, str]:
    """For the kernel: its memory is a file, which must lie where files are memory."""
    return os.environ | {"TMPDIR": memory_folder()}


class FileAgent(Agent):
    """An agent that is told by files, and of each by its name over the line.

    The kernel's serial line mixes up what it is sent if that is more than it has room for.
    """

    def __init__(self, folder: Path, describe: Callable[[str], str]) -> None:
        super().__init__(folder, describe)
        self._messages = itertools.count()

    def _write(self, data: bytes) -> None:
        name = f".message-{next(self._messages)}"
        (self.path / name).write_bytes(data)
        super()._write(f"{name}\n".encode())


class UmlGuest(Guest):
    """One in User-mode Linux. It has this machine's clock."""

    def __init__(
        self,
        name: str,
        modules: Sequence[str] = (),
        folder: Path | None = None,
        **environment: str,
    ) -> None:
        self._make_folders(name)
        try:
            machine = prepare_program(name, self.work, modules, folder, self.out, **environment)
        except BaseException:
            shutil.rmtree(self.work)
            raise
        self._ours, self._theirs = socket.socketpair()
        machine.agent = self._theirs.fileno()
        self.machine = machine
        self.agent = FileAgent(self.out, self.describe)

    def launch(self) -> None:
        """Starts the kernel, and waits for nothing."""
        self._start("uml.log", pass_fds=(self._theirs.fileno(),), env=memory_environment())
        self._theirs.close()

    def wait_ready(self) -> None:
        try:
            self.agent.take(self._ours)
            self.agent.wait_ready(BOOT_SECONDS)
        except OSError as error:
            raise GuestError(self.describe(str(error))) from None

    def finish(self) -> None:
        self._theirs.close()
        super().finish()
        self._ours.close()
