# SPDX-License-Identifier: MIT
"""The domains of the demo: their configuration, and where each of them is."""

import os
from pathlib import Path

from gid_vm.accel import probe_accel
from gid_vm.architecture import by_name
from gid_vm.guest import why_not
from gid_vm.system import why_no_system

from demo import backdrop
from demo.scene import FULL, GUESTS, TRANSLATED
from lab.domains import cockpit
from lab.domains.configuration import configuration
from lab.domains.contained import keys
from lab.domains.place import Place
from lab.domains.program import LabError

# Programs that start side by side on a busy machine are slow to answer one another.
_LATE = {"GID_ANSWER_SECONDS": os.environ.get("GID_ANSWER_SECONDS", "30")}


def _configuration(
    folder: Path,
    guests: set[str],
    screen: tuple[int, int],
    arch: str | None,
    is_contained: bool,
) -> str:
    """`screen`: of `cluster` as a machine of its own, a KMS device. `arch`: of open's machine."""
    if not guests:
        kind = keys("open", folder) if is_contained else ""
        return configuration(
            {
                "open": f"memory=1G local=camera map movie symbols {kind}",
                "cluster": "local=canvas/* meter screen screen/*",
            },
            {
                "open cluster": "movie movie-i420 safety/* engine/* desktop/*",
                "cluster open": "canvas/*",
            },
            folder,
        )
    width, height = screen
    cluster = f"kind=guest vm-display={width}x{height}" if "cluster" in guests else ""
    other = "" if arch is None else f"vm-arch={arch}"
    # Memory is shared for each stream: so the engine gets at map and symbols, and the display at
    # the camera's pictures, which come in safety/camera.
    return configuration(
        {
            "open": f"kind=guest window=256M local=camera map movie symbols {other}",
            "cluster": f"window=32M local=canvas/* meter screen {cluster}",
            "host": "kind=host window=16M",
        },
        {
            "open cluster": "movie movie-i420 map symbols camera safety/* engine/*",
            "cluster open": "canvas/*",
            "open host": "",
        },
        folder,
    )


class Cockpit(cockpit.Cockpit):
    """`guests`: those of `open` and `cluster` that are machines of their own. `arch`: vm-arch= of
    open's. `is_contained`: whether open's programs are in a container."""

    def __init__(
        self, folder: Path, guests: set[str], arch: str | None, is_contained: bool
    ) -> None:
        self.scene = FULL
        if guests:
            if (reason := why_not() or why_no_system(by_name(arch))) is not None:
                raise LabError(f"no guest can run here: {reason}")
            is_quick = by_name(arch).is_own and probe_accel() == "kvm"
            self.scene = GUESTS if is_quick else TRANSLATED
        screen = backdrop.size(backdrop.CLUSTER, self.scene.divisor)
        text = _configuration(folder, guests, screen, arch, is_contained)
        contained = {"open": []} if is_contained else {}
        super().__init__(folder, text, guests, self.scene.patience, contained=contained)

    @property
    def link(self) -> str:
        return "ivshmem" if self._guests else "local"

    def place(self, *arguments: object) -> Place:
        """Its programs write the points of their timeline."""
        place = super().place(*arguments)
        place.environment |= _LATE | {"GID_TIMELINE": str(points(place))}
        return place


def points(place: Place) -> Path:
    return place.folder / "points.log"
