# SPDX-License-Identifier: MIT
"""The two domains of the demo: their configuration and their daemons."""

from pathlib import Path

from children import Children

_CONFIGURATION = """\
[cockpit]
runtime={runtime}

[domain open]
number=1
memory=1G

[domain cluster]
number=2

[share open cluster]
streams=movie movie-i420 camera
"""

DOMAINS = ("open", "cluster")


def start(children: Children, folder: Path) -> None:
    """Starts a gidd for each domain, and waits until both answer."""
    configuration = folder / "cockpit.conf"
    configuration.write_text(_CONFIGURATION.format(runtime=folder))
    for domain in DOMAINS:
        command = ["gidd", f"--config={configuration}", f"--domain={domain}"]
        children.start(f"gidd-{domain}", command)
    for domain in DOMAINS:
        socket = folder / domain / "gidd.sock"
        children.wait_until(f"the start of {domain}'s gidd", socket.exists)
