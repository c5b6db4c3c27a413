# SPDX-License-Identifier: MIT
"""A guest for its kernel alone: for drivers that this machine's kernel lacks.

Programs in it see the same files as here, but no memory shared between machines. With KVM it is an
ordinary QEMU guest. Without KVM it is User-mode Linux, if that can be built.
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

# The variable with the build folder in which the guest's programs add up their gcov counters.
COUNTED = "GIDWAY_COUNTED"


def own_kernel(name: str, modules: Sequence[str] = ()) -> Guest:
    """A guest that loads `modules` at boot, for use with `with`.

    Raises CannotBoot if no guest can have these modules.
    """
    if is_program():
        try:
            return UmlGuest(name, modules)
        except CannotBoot as error:  # as without a network
            print(f"a guest of QEMU instead of User-mode Linux: {error}", file=sys.stderr)
    return Guest(name, cpus=2, modules=list(modules))


def is_program() -> bool:
    """Whether it is User-mode Linux here."""
    return why_no_uml() is None and probe_accel() != "kvm"


def is_to_be_built(cache: Path = CACHE) -> bool:
    """Whether the next guest would first build its kernel, for minutes."""
    try:
        return is_program() and not folder_of_kernel(cache).is_dir()
    except (CannotBoot, OSError):
        return False  # the tests report the reason


def why_no_kernel(modules: Sequence[str] = ()) -> str | None:
    """Why no such guest is possible here, or None."""
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
    """Like guest.prepare() for QEMU. `out`: a folder here that the guest can write to."""
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
    """The kernel's environment: its memory is a file in TMPDIR, which must be a tmpfs."""
    return os.environ | {"TMPDIR": memory_folder()}


class FileAgent(Agent):
    """An agent whose messages are files; only their names pass over the line.

    The kernel's serial line corrupts input that exceeds its buffer.
    """

    def __init__(self, folder: Path, describe: Callable[[str], str]) -> None:
        super().__init__(folder, describe)
        self._messages = itertools.count()

    def _write(self, data: bytes) -> None:
        name = f".message-{next(self._messages)}"
        (self.path / name).write_bytes(data)
        super()._write(f"{name}\n".encode())


class UmlGuest(Guest):
    """A guest in User-mode Linux. It uses this machine's clock."""

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
        """Starts the kernel without waiting for it."""
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
