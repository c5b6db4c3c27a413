# SPDX-License-Identifier: MIT
"""./run vm: runs a guest by hand."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import gid_console
from gid_vm.accel import probe_accel
from gid_vm.agent import GuestError, show
from gid_vm.architecture import by_name
from gid_vm.folder import short_folder
from gid_vm.guest import Guest, prepare
from gid_vm.initramfs import CannotBoot
from gid_vm.modules import SOURCES
from gid_vm.own_kernel import UmlGuest, memory_environment, prepare_program
from gid_vm.qemu import Display, Machine

from lab.domains.program import LabError
from lab.self_test.run import REPORT
from lab.self_test.run import run as run_self_test

COMMAND_SECONDS = 1200


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./run vm",
        description="Boots a domain as a guest with its own kernel, and gives a shell or runs "
        "a command in it. It sees /usr, this clone and its build, and the folder it is started "
        "in unless that is a home, all read-only: what is written goes to memory.",
    )
    parser.add_argument(
        "name",
        type=domain_name,
        nargs="?",
        help="the domain's name, which the guest has as its host name",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what to run; default: a shell")
    parser.add_argument(
        "--accel",
        choices=("kvm", "tcg", "uml"),
        help="uml: User-mode Linux, which needs no KVM to be fast, and has none of QEMU's devices; "
        "built at first use, in four minutes (default: KVM where it works, else tcg)",
    )
    parser.add_argument(
        "--arch",
        choices=("arm64", "arm64-16k"),
        help="of this architecture, by tcg, with gidway as GIDWAY_ARCH=arm64 ./run build builds "
        "it, and Debian's programs, which are fetched at first use. arm64-16k: with pages of "
        "16 KiB (default: this machine's)",
    )
    parser.add_argument(
        "--memory",
        type=gid_console.whole_number(64, 1 << 20),
        default=1024,
        metavar="MIB",
        help="default: 1024",
    )
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
        help="loads this module, NAME or 'NAME PARAMETER=VALUE'; of those that Debian's kernel is "
        f"without, these are built at first use: {', '.join(SOURCES)}. May be given again",
    )
    parser.add_argument(
        "--self-test",
        action="store_true",
        help="in place of NAME: tries all that frames, words and rings go by between guests and "
        "this machine, in a few minutes, and writes a report that may be sent to others. The exit "
        "status is 1 if a step fails. Without KVM guests are translated",
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help=f"of --self-test (default: {REPORT})",
    )
    return parser


def main() -> int:
    parser = make_parser()
    options = parser.parse_args()
    if options.self_test:
        return test_self(parser, options)
    if options.name is None or options.report is not None:
        parser.error("NAME is missing" if options.name is None else "--report is of --self-test")
    if options.accel == "uml" and options.display is not None:
        parser.error("User-mode Linux has no virtio-gpu: --module vkms is its display")
    if options.accel == "uml" and options.arch is not None:
        parser.error("User-mode Linux is of this machine's architecture")
    if options.accel == "uml":
        return run_program(options)
    arch = by_name(options.arch)
    if not arch.is_own and (options.accel == "kvm" or options.module):
        parser.error(f"a guest of {arch.name} has neither KVM nor --module")
    accel = options.accel or (probe_accel() if arch.is_own else "tcg")
    with tempfile.TemporaryDirectory(prefix="gidway-", dir=short_folder()) as name:
        folder = Path(name)
        machine = Machine(options.name, accel, options.memory, modules=options.module, arch=arch)
        if options.display is not None:
            machine.display = Display(*options.display, vnc=folder / "screen.sock")
            print(f"Its screen: vncviewer {machine.display.vnc}", file=sys.stderr)
        prepare(machine, folder, folder=Path.cwd())
        if not options.command:
            return open_shell(machine)
        return run_command(Guest(options.name, machine), options.command)


def test_self(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    alone = ("name", "arch", "display", "module")
    if any(getattr(options, name) for name in alone) or options.accel == "uml":
        parser.error("--self-test goes with --accel kvm, --accel tcg and --report only")
    report = Path(REPORT) if options.report is None else options.report
    if not report.absolute().parent.is_dir():
        parser.error(f"there is no folder {report.absolute().parent}")
    return run_self_test(options.accel, report)


def run_command(guest: Guest, words: list[str]) -> int:
    """Boots the guest and runs the command in it; returns the exit status for a shell."""
    with guest:
        code = guest.start(words, cwd=Path.cwd(), hear=show).wait(COMMAND_SECONDS).code
    return code if code >= 0 else 128 - code


def run_program(options: argparse.Namespace) -> int:
    """The same in User-mode Linux."""
    if options.command:
        guest = UmlGuest(options.name, options.module, Path.cwd())
        guest.machine.memory_mib = options.memory
        return run_command(guest, options.command)
    with tempfile.TemporaryDirectory(prefix="gidway-") as name:
        machine = prepare_program(options.name, Path(name), options.module, Path.cwd())
        machine.memory_mib = options.memory
        machine.console = "fd:0,fd:1"
        machine.kernel_arguments.append("gidway.shell")
        print(f"Starting {machine.name}; `exit` ends it.")
        return subprocess.run(machine.arguments(), env=memory_environment()).returncode


def domain_name(text: str) -> str:
    """The name becomes part of file names, and of arguments for QEMU and the kernel."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", text) is None:
        raise argparse.ArgumentTypeError(f"no domain has such a name: {text}")
    return text


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
    sys.exit(gid_console.run("vm", main, trouble=(GuestError, CannotBoot, LabError)))
