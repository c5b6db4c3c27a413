# SPDX-License-Identifier: MIT
"""Disturbances of the cockpit in a soak, in addition to the cases of `bench isolation`."""

import subprocess
import time

from lab.domains.program import PATIENCE, LabError
from lab.isolation.cases import BEGIN_AFTER, Case
from lab.soak.rear import SoakCockpit


class Reload(Case):
    name = "reload"
    what = "the configuration changes, and gid-cockpit has the gidds of this machine read it again"

    _slabs = 900

    def within(self, cockpit: SoakCockpit, seconds: float) -> None:
        self._slabs += 1 if self._slabs < 1000 else -100
        text = cockpit.configuration.read_text()
        lines = [line for line in text.splitlines() if not line.startswith("slabs=")]
        lines.insert(lines.index("number=2") + 1, f"slabs={self._slabs}")
        cockpit.configuration.write_text("\n".join(lines) + "\n")
        words = ["gid-cockpit", f"--config={cockpit.configuration}", "reload"]
        words += cockpit.reloaded
        result = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
        if result.returncode != 0:
            raise LabError(f"gid-cockpit reload: {result.stderr.strip()}")


class Kills(Case):
    name = "kills"
    what = "each program of open is killed by itself, and started again"

    def within(self, cockpit: SoakCockpit, seconds: float) -> None:
        names = ("film", "view", "telltale", "weston", "gidd")
        for name in names:
            time.sleep(BEGIN_AFTER)
            cockpit.open.place[name].kill()
            cockpit.open.start()


class Daemon(Case):
    name = "daemon"
    what = "the gidd of rear is killed and started again: all of its programs live on"

    def within(self, cockpit: SoakCockpit, seconds: float) -> None:
        time.sleep(BEGIN_AFTER)
        cockpit.rear.restart_gidd()
        cockpit.wait_rear()
