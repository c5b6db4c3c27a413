# SPDX-License-Identifier: MIT
"""Fences that a program of `open` never signals, while the cluster's frames are measured.

Only a kernel with a device that has fences can do that, so both domains are in one guest, whose
kernel has vgem. Translated code is slow: the display is small there, and has fewer refreshes.
"""

from domains import Cluster, Open
from pair import TRANSLATED_DEADLINE_MS, Cockpit

MODULE = "vgem"
_METER = """
[layer meter]
x=368
y=20
width=64
height=24
"""


class LightOnly(Open):
    """A telltale that needs no Weston."""

    def start(self) -> None:
        self.start_desktop()
        if not self.processes.is_running("telltale"):
            light = ["--stream=safety/telltale", "--state=5", "--cycle=0"]
            self.processes.start("telltale", "gid-telltale", *light)

    def start_desktop(self) -> None:
        if not self.processes.is_running("gidd"):
            self.processes.start_gidd(self._configuration)


class SmallCluster(Cluster):
    size, refresh, roles = (800, 120), 60, ("telltale", "fences")
    meter = ("--size=64x24",)
    more = ""

    def display_conf(self) -> str:
        return super().display_conf() + _METER


class FencesCockpit(Cockpit):
    open_class, cluster_class = LightOnly, SmallCluster
    deadline_ms = TRANSLATED_DEADLINE_MS
