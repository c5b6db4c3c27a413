# SPDX-License-Identifier: MIT
"""gid-engine under test."""

from lib.cockpit import Cockpit
from lib.program import BUILD, Program


def start_engine(cockpit: Cockpit, canvases: str, domain: str = "cluster") -> Program:
    """By this configuration."""
    path = cockpit.folder / "engine.conf"
    path.write_text(canvases)
    return cockpit.run(domain, [BUILD / "engine" / "gid-engine", "--config", path])
