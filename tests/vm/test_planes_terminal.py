# SPDX-License-Identifier: MIT
"""gid-cluster with roles on planes, whose terminal and screen go and come back.

In a machine of QEMU, for User-mode Linux has no terminals to change between.
"""

from collections.abc import Iterator

import pytest
from domains import PATIENCE, Domains
from gid_vm.guest import Guest, why_not
from lib.program import BUILD, wait_for
from lib.vkms import checksum
from planes import DISPLAY, LAMP, SMALL, domains_with_planes, lamp, plain, role, screen
from scanout import cluster_on_display, running

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module")
def domains() -> Iterator[Domains]:
    with domains_with_planes(lambda name, modules: Guest(name, modules=modules)) as domains:
        yield domains


def test_a_screen_that_goes_and_comes_back(domains: Domains) -> None:
    """To another terminal, with which the planes are gone; and then unplugged meanwhile."""
    configuration = (
        DISPLAY
        + "writeback=0\n"
        + role("lamp", LAMP, "red")
        + role("other", (300, 300, *SMALL), "blue")
    )
    other = ((300, 300, *SMALL), plain("blue"))
    live = {checksum(screen((LAMP, lamp(i)), other)) for i in (0, 1)}

    def terminal(number: int) -> None:
        domains.run("busybox", "chvt", str(number))

    def connect(state: str) -> None:
        domains.run("sh", "-c", f"echo {state} > /sys/class/drm/card0-Virtual-1/status")

    with (
        running(domains, BUILD / "tests/vm/dmabuf-lamp", *LAMP[2:], domain="open"),
        cluster_on_display(domains, configuration, LIBSEAT_BACKEND="builtin") as cluster,
    ):
        cluster.wait_shown(live, 60, "the lamp live")
        terminal(3)
        wait_for(
            lambda: not live & set(cluster.refreshes.next(3)), "the other terminal's", PATIENCE
        )
        terminal(1)
        cluster.wait_shown(live, 60, "the lamp live again")
        assert {one["place"] for one in cluster.status()["roles"]} == {"plane"}
        # Without udevd, what is connected is looked at when the terminal is ours again.
        terminal(3)
        connect("off")
        terminal(1)
        cluster.wait(lambda: cluster.status()["output"] == "", "the screen to be gone")
        assert {one["place"] for one in cluster.status()["roles"]} == {"composed"}
        cluster.wait(lambda: cluster.role("lamp")["state"] == "live", "the lamp, unseen")
        terminal(3)
        connect("on")
        terminal(1)
        cluster.wait_shown(live, 60, "the lamp live on the new screen")
        assert {one["place"] for one in cluster.status()["roles"]} == {"plane"}
