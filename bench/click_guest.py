# SPDX-License-Identifier: MIT
"""The desk of click.py as a guest, on QEMU's user network for those that need one."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from bench import guest_network
from bench.click_ways import PARTS, Scene, free_port
from bench.waypipe.relay import Relay
from lab.domains.cockpit import Cockpit
from lab.domains.configuration import GREAT, configuration

SECONDS = 600.0  # for anything there to begin: it may be translated
RELAY = PARTS.parent / "waypipe/relay.py"
IN_GUEST = Path("/run/waypipe.sock")
CONFIGURATION = configuration(
    {"open": f"kind=guest window=512M local=* {GREAT}", "cluster": f"kind=host local=* {GREAT}"},
    {"open cluster": "*", "cluster open": "*"},
    runtime="{folder}",
)


class GuestScene(Scene):
    def reach(self, path: Path) -> Path:
        """By TCP, and a program on either side that copies nothing."""
        port = free_port()
        self.parts.enter_context(Relay().listening(port, str(path)))
        self.desk.run(["rm", "-f", str(IN_GUEST)])  # that of a run before
        relay = self.desk.start("relay", ["python3", str(RELAY), str(IN_GUEST), str(port)])
        self.desk.wait_until("the relay", lambda: "ready" in relay.said(), "relay")
        return IN_GUEST


@contextlib.contextmanager
def cockpit(
    folder: Path, cores: Sequence[int | None]
) -> Iterator[tuple[Cockpit, Callable[..., Scene]]]:
    """`open` is a guest, whose network is up; and what makes a scene in it."""
    made = Cockpit(folder, CONFIGURATION.format(folder=folder), ["open"], SECONDS, sessions=False)
    port = free_port()
    try:
        viewer = made.start("cluster", cores[1])
        desk = made.start("open", cores[0], guest_network.devices([port]))
        guest_network.bring_up(desk.agent)
        address = guest_network.GUEST
        yield (
            made,
            partial(GuestScene, desk, viewer, address=address, port=port, machine=desk.qemu),
        )
    finally:
        made.close()
