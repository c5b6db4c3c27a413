# SPDX-License-Identifier: MIT
"""./run vm: a guest by hand."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from gid_vm.accel import probe_accel
from gid_vm.agent import GuestError
from gid_vm.guest import Guest, prepare
from gid_vm.initramfs import CannotBoot
from gid_vm.modules import SOURCES
from gid_vm.qemu import Display, Machine

COMMAND_SECONDS = 1200


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./run vm",
        description="Boots a domain as a QEMU guest with its own kernel, and gives a shell or runs "
        "a command in it. It sees /usr, this clone and its build, and the folder it is started "
        "in unless that is a home, all read-only: what is written goes to memory.",
    )
    parser.add_argument("name", help="the domain's name, which the guest has as its host name")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what to run; default: a shell")
    parser.add_argument("--accel", choices=("kvm", "tcg"), help="default: KVM where it works")
    parser.add_argument("--memory", type=int, default=1024, metavar="MIB", help="default: 1024")
    parser.add_argument(
        "--display",
        type=screen_size,
        metavar="WIDTHxHEIGHT",
        help="with a screen of this size (a virtio-gpu), at a socket for VNC viewers",
    )
    parser.add_argument(
        "--module",
        action="append",
        default=[],
        metavar="NAME",
        help="loads this module; of those that Debian's kernel is without, these are built at "
        f"first use: {', '.join(SOURCES)}. May be given again",
    )
    options = parser.parse_args()
    try:
        accel = options.accel or probe_accel()
        with tempfile.TemporaryDirectory(prefix="gidway-") as name:
            folder = Path(name)
            machine = Machine(options.name, accel, options.memory, modules=options.module)
            if options.display is not None:
                machine.display = Display(*options.display, vnc=folder / "screen.sock")
                print(f"Its screen: vncviewer {machine.display.vnc}", file=sys.stderr)
            prepare(machine, folder, folder=Path.cwd(), GIDWAY_FOLDER=str(Path.cwd()))
            if not options.command:
                return open_shell(machine)
            with Guest(options.name, machine) as guest:
                command = guest.start(options.command, cwd=Path.cwd(), hear=show)
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


def screen_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]+)x([0-9]+)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"must be WIDTHxHEIGHT, as 1280x480, not {text}")
    return int(match[1]), int(match[2])


def open_shell(machine: Machine) -> int:
    print(f"Booting {machine.name} ({machine.accel}); `exit` ends it, Ctrl-A X kills it.")
    machine.console = "mon:stdio"
    machine.kernel_arguments.append("gidway.shell")
    return subprocess.run(machine.arguments()).returncode


if __name__ == "__main__":
    sys.exit(main())
