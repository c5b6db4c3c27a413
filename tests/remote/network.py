# SPDX-License-Identifier: MIT
"""Two machines for the network alone: namespaces, joined by a cable.

All else is shared: so a test can talk to programs of both, and their clocks are one.
"""

import subprocess
from functools import cache

ADDRESSES = {"sender": "192.0.2.1/24", "receiver": "192.0.2.2/24"}


class NoNetwork(Exception):
    """This machine does not let us make one."""


class Network:
    def __init__(self) -> None:
        self._holders: dict[str, subprocess.Popen] = {}
        try:
            self._make()
        except (OSError, subprocess.CalledProcessError) as error:
            self.close()
            output = getattr(error, "stderr", None) or str(error)
            raise NoNetwork(f"no network namespaces: {output.strip()}") from None

    def _make(self) -> None:
        # The first also has a user namespace, in which whoever runs this is root.
        self._hold("sender", ["unshare", "--user", "--map-root-user", "--net"])
        self._hold("receiver", [*self._enter("sender", network=False), "unshare", "--net"])
        receiver = str(self._holders["receiver"].pid)
        cable = ["ip", "link", "add", "cable", "type", "veth", "peer", "name", "cable"]
        self.run("sender", *cable, "netns", receiver)
        for name, address in ADDRESSES.items():
            self.run(name, "ip", "address", "add", address, "dev", "cable")
            self.run(name, "ip", "link", "set", "cable", "up")
            self.run(name, "ip", "link", "set", "lo", "up")

    def _hold(self, name: str, command: list[str]) -> None:
        """A process that does nothing but have its namespaces."""
        words = [*command, "sh", "-c", "echo ready; exec sleep infinity"]
        holder = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self._holders[name] = holder
        if holder.stdout.readline() != "ready\n":
            raise NoNetwork(f"no network namespaces: {holder.stderr.read().strip()}")

    def _enter(self, name: str, network: bool = True) -> list[str]:
        words = ["nsenter", f"--target={self._holders[name].pid}", "--user"]
        return [*words, "--preserve-credentials", *(["--net"] if network else [])]

    def command(self, name: str) -> list[str]:
        """What stands before a command to have it run on this machine."""
        return self._enter(name)

    def run(self, name: str, *words: str) -> None:
        command = [*self._enter(name), *words]
        subprocess.run(command, check=True, capture_output=True, text=True)

    def close(self) -> None:
        for holder in self._holders.values():
            holder.kill()
            holder.communicate()


@cache
def why_not() -> str | None:
    """Why there can be no such network here, if that is so."""
    try:
        Network().close()
    except NoNetwork as error:
        return str(error)
    return None
