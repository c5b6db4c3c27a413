# SPDX-License-Identifier: MIT
"""The program that draws is in a guest, and the engine on the host, as in the demo."""

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import common
from gid_cockpit.configuration import CockpitError, read
from gid_cockpit.daemon import Daemon
from gid_cockpit.machine import Guest
from gid_vm.agent import Agent, GuestError
from gid_vm.guest import why_not

SECONDS = 120.0  # for a guest to boot
PATIENCE = 900.0  # for one measurement, without KVM
COCKPIT = """\
[cockpit]
runtime={runtime}

[domain open]
number=1
kind=guest
window=256M
memory=2G
client-memory=2G

[domain cluster]
number=2
kind=host
window=64M
memory=2G
client-memory=2G

[share open cluster]
streams=engine/*

[share cluster open]
streams=canvas/*
"""


@contextlib.contextmanager
def _started(configuration: Path) -> Iterator[Agent]:
    parts = read(configuration)
    host = Daemon(parts, parts.by_name("cluster"))
    machine = Guest(parts, parts.by_name("open"))
    try:
        host.start()
        machine.start()
        agent = Agent(machine.folder / "agent.sock", lambda text: f"{text}\n{machine.last()}")
        agent.connect(time.monotonic() + SECONDS, lambda: True)
        agent.wait_ready(SECONDS)
        yield agent
    finally:
        machine.stop()
        host.stop()


@contextlib.contextmanager
def measuring(folder: Path, engine: str) -> Iterator[Callable[..., dict[str, float]]]:
    """A function that measures as `gid-bench-engine` does with these words, in the guest."""
    if (reason := why_not()) is not None:
        raise common.Wanting(f"no guest can run here: {reason}")
    configuration = folder / "c"
    configuration.write_text(COCKPIT.format(runtime=folder / "r"))
    (folder / "engine.conf").write_text(engine)
    os.environ["GID_RUNTIME_DIR"] = str(folder / "r")

    def measure(*words: object) -> dict[str, float]:
        result = agent.start(["gid-bench-engine", *map(str, words)]).wait(PATIENCE)
        if result.code != 0:
            raise common.BenchError(result.err.strip())
        return json.loads(result.out)

    try:
        with _started(configuration) as agent, (folder / "engine.log").open("wb") as log:
            process = subprocess.Popen(
                ["gid-engine", f"--config={folder}/engine.conf", "--domain=cluster"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            try:
                yield measure
            finally:
                process.terminate()
                process.wait(10)
    except (CockpitError, GuestError) as error:
        raise common.BenchError(str(error)) from None
