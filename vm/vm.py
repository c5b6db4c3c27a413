# SPDX-License-Identifier: MIT
"""./run vm: a guest by hand."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from guest import CACHE, SOURCE, Guest, GuestError
from initramfs import CannotBoot, find_kernel, make_initramfs
from qemu import Machine, probe_accel

COMMAND_SECONDS = 1200

# Where the build is, so that a command finds in the guest what it finds here.
BUILD = {
    name: os.environ[name]
    for name in ("PATH", "LD_LIBRARY_PATH", "GST_PLUGIN_PATH", "GST_REGISTRY")
    if name in os.environ
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./run vm",
        description="Boots a domain as a QEMU guest with its own kernel, on this root file system "
        "(read-only; what is written goes to memory), and gives a shell or runs a command in it.",
    )
    parser.add_argument("name", help="the domain's name, which the guest has as its host name")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what to run; default: a shell")
    parser.add_argument("--accel", choices=("kvm", "tcg"), help="default: KVM where it works")
    parser.add_argument("--memory", type=int, default=1024, metavar="MIB", help="default: 1024")
    options = parser.parse_args()
    accel = options.accel or probe_accel(CACHE)
    try:
        if not options.command:
            return open_shell(options.name, accel, options.memory)
        with Guest(options.name, accel=accel, memory_mib=options.memory) as guest:
            command = guest.start(options.command, env=BUILD, cwd=Path.cwd(), hear=show)
            result = command.wait(COMMAND_SECONDS)
    except KeyboardInterrupt:
        return 130
    except (GuestError, CannotBoot) as error:
        print(f"vm: {error}", file=sys.stderr)
        return 1
    return result.code if result.code >= 0 else 128 - result.code


def show(kind: str, data: bytes) -> None:
    stream = sys.stdout if kind == "out" else sys.stderr
    stream.buffer.write(data)
    stream.flush()


def open_shell(name: str, accel: str, memory_mib: int) -> int:
    kernel, modules = find_kernel()
    print(f"Booting {name} ({accel}); `exit` ends it, Ctrl-A X kills it.", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        initramfs = Path(folder) / "initramfs"
        make_initramfs(initramfs, modules)
        machine = Machine(name, Path(folder), SOURCE, accel, memory_mib, shell=True)
        return subprocess.run(machine.arguments(kernel, initramfs)).returncode


if __name__ == "__main__":
    sys.exit(main())
