# SPDX-License-Identifier: MIT
"""Whoever gives gidd a descriptor still has the file, and can lock it in the kernel for good: gidd
asks nothing of it that waits for such a lock.
"""

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import IMPORTED
from lib.holding import hold


@pytest.mark.parametrize("kind", ["position", "epoll", "closed"])
def test_gidd_goes_on(cockpit: Cockpit, kind: str) -> None:
    holder = hold(cockpit, "open", kind)
    assert cockpit.status("open")["domain"] == "open"
    holder.kill()


def test_nor_does_another_domain_wait(cockpit: Cockpit) -> None:
    """It imports what was exported in good order, and locked later."""
    holder = hold(cockpit, "open", "position")
    slab = int(holder.stdout.split()[0])
    with cockpit.connect("cluster") as reader:
        assert reader.import_(slab).type == IMPORTED
    assert cockpit.status("cluster")["domain"] == "cluster"
    holder.kill()
