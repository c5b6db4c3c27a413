# SPDX-License-Identifier: MIT
"""A cockpit of two domains, of which `open` is a container."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from gid_vm.folder import memory_folder
from lib.program import BUILD, PATIENCE

from lab.domains.configuration import configuration


class Cockpit:
    PROGRAMS = ("gid-cockpit", "gidd", "gidctl")

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gid-", dir=memory_folder()))
        self.runtime = self.folder / "run"
        self.config = self.folder / "cockpit.conf"
        self.write("container-image=localhost/none\n")
        programs = [BUILD / "tools" / "cockpit", BUILD / "gidd", BUILD / "tools" / "gidctl"]
        self.env = os.environ | {"PATH": ":".join([*map(str, programs), os.environ["PATH"]])}
        self.env.pop("GID_RUNTIME_DIR", None)

    def write(self, keys: str) -> None:
        domains = {"open": f"kind=container {keys}", "cluster": ""}
        self.config.write_text(configuration(domains, {"open cluster": "movie"}, self.runtime))

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["gid-cockpit", "--config", str(self.config), *words],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def status(self) -> dict[str, dict]:
        result = self.run("status", "--json")
        return {domain["domain"]: domain for domain in json.loads(result.stdout)}
