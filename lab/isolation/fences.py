# SPDX-License-Identifier: MIT
"""Fences that a program of `open` never signals, while the cluster's frames are measured.

This needs a kernel with a device that has fences, so both domains are in one guest, whose kernel
has vgem. Emulated code is slow: the display is small there, and has a lower refresh rate.
"""

from lab.domains.configuration import section
from lab.isolation.domains import Cluster, Open
from lab.isolation.pair import TRANSLATED_DEADLINE_MS, Cockpit

MODULE = "vgem"
_METER = section("layer meter", "x=368 y=20 width=64 height=24")


class LightOnly(Open):
    """A telltale that needs no Weston."""

    def start(self) -> None:
        self.start_desktop()
        if not self.place.is_running("telltale"):
            light = ["--stream=safety/telltale", "--state=5", "--cycle=0"]
            self.place.start("telltale", ["gid-telltale", *light])

    def start_desktop(self) -> None:
        if not self.place.is_running("gidd"):
            self.place.up()


class SmallCluster(Cluster):
    size, refresh, names = (800, 120), 60, ("telltale", "fences")
    meter = ("--size=64x24",)
    more = ""

    def configuration(self) -> str:
        return super().configuration() + _METER


class FencesCockpit(Cockpit):
    open_class, cluster_class = LightOnly, SmallCluster
    deadline_ms = TRANSLATED_DEADLINE_MS
