# SPDX-License-Identifier: MIT
"""A guest on QEMU's user network, which has the host at 10.0.2.2."""

from collections.abc import Sequence

from gid_vm.agent import Agent

from lab.domains.program import LabError

GUEST = "10.0.2.15"
SECONDS = 120.0
COMMANDS = f"""
modprobe virtio_net
link=$(ls /sys/class/net | grep -v lo)
ip link set $link up && ip addr replace {GUEST}/24 dev $link
"""


def devices(ports: Sequence[int] = ()) -> list[str]:
    """Arguments of QEMU. Of the host's own `ports`, those of the guest with their numbers."""
    forwarded = "".join(f",hostfwd=tcp:127.0.0.1:{port}-{GUEST}:{port}" for port in ports)
    return ["-netdev", f"user,id=n{forwarded}", "-device", "virtio-net-pci,netdev=n,romfile="]


def bring_up(agent: Agent) -> None:
    result = agent.start(["sh", "-c", COMMANDS]).wait(SECONDS)
    if result.code != 0:
        raise LabError(f"the guest has no network: {result.err}")
