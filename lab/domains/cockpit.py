# SPDX-License-Identifier: MIT
"""A cockpit for measuring: its configuration, and a gidd for each domain of this machine."""

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PATIENCE = 30.0  # seconds, for a gidd to be there: it ends early when all is well

# Of a domain whose programs have as many streams, and as large pictures, as they like.
GREAT = """\
memory=4G
client-memory=4G
streams=256
client-streams=256
subscriptions=256
client-subscriptions=256
slabs=1024
client-slabs=1024
held=4096
client-held=4096
"""


class DomainError(Exception):
    """Why a domain does not run, in a sentence for the user."""


def configuration(
    runtime: Path, domains: Mapping[str, str], shares: Mapping[tuple[str, str], str]
) -> str:
    """Domains with their keys, numbered from 1 on; and of each owner and reader, which streams."""
    parts = [f"[cockpit]\nruntime={runtime}\n"]
    for number, (name, keys) in enumerate(domains.items(), 1):
        parts.append(f"[domain {name}]\nnumber={number}\n{keys}")
    for (owner, reader), streams in shares.items():
        parts.append(f"[share {owner} {reader}]\nstreams={streams}\n")
    return "\n".join(parts)


@contextlib.contextmanager
def gidds(text: str, folder: Path, domains: Sequence[str]) -> Iterator[None]:
    """One for each of these domains of the configuration, in that order. Programs that are started
    meanwhile find them by their GID_DOMAIN."""
    path = folder / "cockpit.conf"
    path.write_text(text)
    os.environ["GID_RUNTIME_DIR"] = str(folder)
    with contextlib.ExitStack() as running:
        for domain in domains:
            running.enter_context(_gidd(path, folder, domain))
        yield


@contextlib.contextmanager
def _gidd(path: Path, folder: Path, domain: str) -> Iterator[None]:
    log = folder / f"gidd-{domain}.log"
    command = ["gidd", f"--config={path}", f"--domain={domain}"]
    with log.open("wb") as output:
        gidd = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    end = time.monotonic() + PATIENCE
    try:
        while not (folder / domain / "gidd.sock").exists():
            if gidd.poll() is not None or time.monotonic() > end:
                gidd.kill()
                raise DomainError(f"gidd of {domain} does not start:\n{log.read_text()}")
            time.sleep(0.01)
        yield
    finally:
        gidd.terminate()
        gidd.wait(PATIENCE)
