# SPDX-License-Identifier: MIT
"""The program that draws is in a guest, and the engine on the host, as in the demo."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from lab.domains.cockpit import Cockpit
from lab.domains.configuration import configuration

SECONDS = 120.0  # for a guest to boot
PATIENCE = 900.0  # for one measurement, without KVM
COCKPIT = configuration(
    {
        "open": "kind=guest window=256M memory=2G client-memory=2G",
        "cluster": "kind=host window=64M memory=2G client-memory=2G",
    },
    {"open cluster": "engine/*", "cluster open": "canvas/*"},
    runtime="{runtime}",
)


@contextlib.contextmanager
def measuring(folder: Path, engine: str) -> Iterator[Callable[..., dict[str, float]]]:
    """A function that measures as `gid-bench-engine` does with these words, in the guest."""
    cockpit = Cockpit(folder, COCKPIT.format(runtime=folder), ["open"], SECONDS)

    def measure(*words: object) -> dict[str, float]:
        command = ["gid-bench-engine", *map(str, words)]
        return json.loads(cockpit["open"].run(command, patience=PATIENCE))

    try:
        cockpit.start("open")
        host = cockpit["cluster"]
        written = host.write("engine.conf", engine.encode())
        host.start("engine", ["gid-engine", f"--config={written}", "--domain=cluster"])
        yield measure
    finally:
        cockpit.close()
