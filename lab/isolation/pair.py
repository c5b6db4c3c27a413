# SPDX-License-Identifier: MIT
"""Both domains, each on its own core: started together, and always stopped."""

from collections.abc import Collection, Mapping
from pathlib import Path

from lab.domains import cockpit, priority
from lab.domains.configuration import configuration
from lab.domains.contained import keys
from lab.domains.program import LabError
from lab.isolation.container import ContainedOpen, options_of
from lab.isolation.domains import Cluster, Open
from lab.isolation.guest import DEVICES, GuestOpen

TRANSLATED_DEADLINE_MS = 2000  # for a guest without KVM, which can take ten times as long


class Cockpit(cockpit.Cockpit):
    """The domains of an isolation measurement.

    `guest`: `open` is a virtual machine. Not `is_protected`: the cluster has no core of its own and
    no priority. Not `starts_open`: the caller starts it. `contained`: the domains whose programs
    run in containers.
    """

    open_class, cluster_class = Open, Cluster
    guest_keys = ""  # more keys of the domain `open` if it is a guest
    more_domains: Mapping[str, str] = {}
    more_shares: Mapping[str, str] = {}
    deadline_ms = 200  # of the roles

    def __init__(
        self,
        folder: Path,
        guest: bool = False,
        is_protected: bool = True,
        starts_open: bool = True,
        contained: Collection[str] = (),
    ) -> None:
        domains = {"open": "memory=512M", "cluster": "local=meter"}
        shares = {"open cluster": "safety/* engine/*", "cluster open": "canvas/*"}
        if guest:
            domains = {
                "open": f"kind=guest window=256M {self.guest_keys}",
                "cluster": "local=meter* window=16M",
                "host": "kind=host window=16M",
            }
            shares = {"open cluster": "safety/*", "cluster open": "", "open host": ""}
        for name in contained:
            domains[name] += f" {keys(name, folder)}"
        options = {name: options_of(name) for name in contained}
        text = configuration(domains | self.more_domains, shares | self.more_shares, folder)
        super().__init__(folder, text, ["open"] if guest else [], contained=options)
        self._starts_open = starts_open
        self.open_core, self.cluster_core = priority.two_cores()
        if not is_protected:
            self.cluster_core = self.open_core
        self.hub = self.place("host", self.cluster_core) if guest else None
        devices = DEVICES if guest else ()
        open_class = GuestOpen if guest else self.open_class
        if "open" in contained:
            open_class = ContainedOpen
        self.open = open_class(self.place("open", self.open_core, devices))
        self.cluster = self.cluster_class(
            self.place("cluster", self.cluster_core),
            TRANSLATED_DEADLINE_MS if guest else self.deadline_ms,
            is_protected,
        )

    def __enter__(self) -> "Cockpit":
        try:
            if self.hub is not None:
                self.hub.up()
            self.cluster.start()
            if self._starts_open:
                self.open.start()
                self.cluster.wait_live()
        except BaseException as error:
            self.__exit__(type(error), error)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, *_: object
    ) -> None:
        logs = self.logs() if isinstance(error, LabError) else ""
        self.kill()
        if isinstance(error, LabError):
            raise LabError(f"{error}\n{logs}") from error
