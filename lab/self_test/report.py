# SPDX-License-Identifier: MIT
"""The report of a self-test for users to send: the machine and the steps, without personal data.

It leaves out the names of the machine and of the user, and all paths except those of the system.
"""

import contextlib
import getpass
import json
import re
import socket
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from gid_evaluate import machine
from gid_vm.accel import MODULES
from gid_vm.folder import home
from gid_vm.initramfs import CannotBoot
from gid_vm.qemu import find_qemu

from lab.self_test.trial import FAILED, Outcome

# These are the same on each machine.
SYSTEM = {"bin", "boot", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys", "usr"}
PATH = re.compile(r"(?<![\w~.>/…])…?/[^\s'\",;:=()]+")
GONE = "…"
KVM = {
    "kvm": ("halt_poll_ns", "tdp_mmu"),
    "kvm_intel": ("nested", "ept", "enable_apicv", "unrestricted_guest"),
    "kvm_amd": ("nested", "npt", "avic"),
    "kvm_pvm": (),
}


def names() -> set[str]:
    """The names of this machine and of its user."""
    host = socket.gethostname()
    found = {host, host.partition(".")[0]}
    with contextlib.suppress(KeyError, OSError):  # a user without a name
        found.add(getpass.getuser())
    return found - {"", "localhost", "root"}


def folders() -> list[Path]:
    """The user's folders, whose names may have blanks."""
    return [Path(__file__).resolve().parents[2], Path.cwd(), home()]


class Scrubber:
    """Removes from any JSON value what identifies the user."""

    def __init__(self, private: Iterable[str], folders: Iterable[Path]) -> None:
        words = "|".join(map(re.escape, sorted(private, key=len, reverse=True)))
        # Whole words only: the user "open" does not match "opened".
        self._word = re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])") if words else None
        self._folders = [str(folder) for folder in folders if len(folder.parts) > 1]

    def clean(self, value: object) -> object:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {self.clean(key): self.clean(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean(one) for one in value]
        return value

    def _text(self, text: str) -> str:
        for folder in self._folders:
            text = text.replace(folder, GONE)
        # Only outside system paths, which stay: the user "dev" does not match /dev/kvm.
        parts, end = [], 0
        for match in PATH.finditer(text):
            parts += [self._hide(text[end : match.start()]), self._path(match[0])]
            end = match.end()
        return "".join([*parts, self._hide(text[end:])])

    def _path(self, path: str) -> str:
        first, second = path.split("/")[:2]
        if first != GONE and second in SYSTEM:
            return path
        return f"{GONE}/{self._hide(path.rpartition('/')[2])}"

    def _hide(self, text: str) -> str:
        return text if self._word is None else self._word.sub(GONE, text)


def describe() -> dict[str, object]:
    """The properties of the machine that matter to guests."""
    facts = machine.describe()
    facts["gidway"] = machine.gidway()
    facts["system"] = _system()
    facts["qemu"] = _qemu()
    facts["kvm"] = {
        module: {name: value for name in parameters if (value := _parameter(module, name))}
        for module, parameters in KVM.items()
        if (MODULES / module).exists()
    }
    return facts


def _parameter(module: str, name: str) -> str:
    try:
        return (MODULES / module / "parameters" / name).read_text().strip()
    except OSError:
        return ""


def _system() -> str:
    try:
        text = Path("/etc/os-release").read_text()
    except OSError:
        return "unknown"
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', text, re.M)
    return found[1] if found else "unknown"


def _qemu() -> str:
    try:
        words = [find_qemu(), "--version"]
        said = subprocess.run(words, capture_output=True, text=True, timeout=20).stdout
    except (CannotBoot, OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return said.partition("\n")[0]


def write(
    path: Path,
    accel: str,
    facts: dict[str, object],
    outcomes: Sequence[Outcome],
    is_whole: bool = True,
) -> None:
    """`is_whole`: False if steps are missing, for example after Ctrl-C."""
    report = {
        "what": "gidway, ./run vm --self-test",
        "good": is_whole and all(outcome.result != FAILED for outcome in outcomes),
        "whole": is_whole,
        "guests run by": accel,
        "machine": facts,
        "steps": [asdict(outcome) for outcome in outcomes],
    }
    clean = Scrubber(names(), folders()).clean(report)
    path.write_text(json.dumps(clean, indent=1, ensure_ascii=False) + "\n")
