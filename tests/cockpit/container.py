# SPDX-License-Identifier: MIT
"""A cockpit of two domains, of which `open` is a container."""

import hashlib
import os

from test_cockpit import Tool

from lab.domains.configuration import configuration


class Cockpit(Tool):
    def __init__(self) -> None:
        super().__init__()
        self.set_keys("container-image=localhost/none\n")

    def set_keys(self, keys: str) -> None:
        """Those of the container."""
        domains = {"open": f"kind=container {keys}", "cluster": ""}
        self.config.write_text(configuration(domains, {"open cluster": "movie"}, self.runtime))

    @property
    def name(self) -> str:
        """That of the container."""
        digest = hashlib.sha256(os.fsencode(self.config.resolve())).hexdigest()
        return f"gidway-open-{digest[:8]}"
