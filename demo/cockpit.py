# SPDX-License-Identifier: MIT
"""The two domains of the demo: their configuration and their daemons."""

from pathlib import Path

from children import Child, Children

_CONFIGURATION = """\
[cockpit]
runtime={runtime}

[domain open]
number=1
memory=1G
local=camera

[domain cluster]
number=2

[share open cluster]
streams=movie movie-i420 safety/*
"""


def configure(folder: Path) -> Path:
    """The one configuration of all domains."""
    configuration = folder / "cockpit.conf"
    configuration.write_text(_CONFIGURATION.format(runtime=folder))
    return configuration


def start_gidd(children: Children, configuration: Path, domain: str) -> Child:
    """Returns when it can be connected to."""
    socket = configuration.parent / domain / "gidd.sock"
    socket.unlink(missing_ok=True)  # that of one that was killed
    command = ["gidd", f"--config={configuration}", f"--domain={domain}"]
    child = children.start(f"gidd-{domain}", command)
    children.wait_until(f"the start of {domain}'s gidd", socket.exists)
    return child
