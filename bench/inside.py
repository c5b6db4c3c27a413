# SPDX-License-Identifier: MIT
"""A benchmark that runs in a guest as a whole, on a kernel that has what this machine's has not."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from gid_vm.agent import GuestError, show
from gid_vm.initramfs import CannotBoot
from gid_vm.own_kernel import own_kernel

from bench.common import LabError

LIFE_SECONDS = 1500.0  # for all of it: no guest lives much longer
OUT = Path("/mnt/out")  # of the guest: its Guest.out


def run_inside(
    program: Path,
    words: Sequence[str],
    modules: Sequence[str],
    prepare: Callable[[Path], None] | None = None,
    **environment: str,
) -> tuple[list[dict], dict[str, float]]:
    """Rows and ratios of the program, which gets `words`, --here and --json. Its lines go to our
    output as they come. `prepare` is called with the folder that is OUT there, before it starts."""
    found = "result.json"
    command = ["python3", str(program.resolve()), *words, "--here", f"--json={OUT / found}"]
    try:
        with own_kernel("bench", modules) as guest:
            if prepare is not None:
                prepare(guest.out)
            result = guest.start(command, env=environment, hear=show).wait(LIFE_SECONDS)
            if result.code != 0:
                raise LabError("there are no figures")
            measured = json.loads((guest.out / found).read_text())
    except (CannotBoot, GuestError) as error:
        raise LabError(str(error)) from None
    return measured["rows"], measured["ratios"]
