# SPDX-License-Identifier: MIT
"""Both domains together, each on its core: started, and ended whatever happens."""

from pathlib import Path

import common
from common import BenchError
from domains import Cluster, Open
from guest import GuestOpen
from processes import Processes

COCKPIT = """\
[cockpit]
runtime={runtime}

[domain open]
number=1
memory=512M

[domain cluster]
number=2
local=meter

[share open cluster]
streams=safety/* engine/*

[share cluster open]
streams=canvas/*
"""
COCKPIT_WITH_GUEST = """\
[cockpit]
runtime={runtime}

[domain open]
number=1
kind=guest
window=256M

[domain cluster]
number=2
local=meter
window=16M

[domain host]
number=4
kind=host
window=16M

[share open cluster]
streams=safety/*

[share cluster open]

[share open host]
"""
TRANSLATED_DEADLINE_MS = 2000  # for a guest without KVM, which may take ten times as long


class Cockpit:
    """`guest`: `open` is a machine of its own. Not `is_protected`: the cluster has no core of its
    own and no priority. Not `starts_open`: the caller does that."""

    open_class, cluster_class = Open, Cluster
    deadline_ms = 200  # of the roles

    def __init__(
        self,
        folder: Path,
        guest: bool = False,
        is_protected: bool = True,
        starts_open: bool = True,
    ) -> None:
        self.configuration = folder / "cockpit.conf"
        conf = COCKPIT_WITH_GUEST if guest else COCKPIT
        self.configuration.write_text((conf + self.more_conf()).format(runtime=folder))
        self._folder, self._starts_open = folder, starts_open
        self.open_core, cluster_core = common.two_cores()
        if not is_protected:
            cluster_core = self.open_core
        self.hub = Processes("host", folder, cluster_core) if guest else None
        open_class = GuestOpen if guest else self.open_class
        deadline_ms = TRANSLATED_DEADLINE_MS if guest else self.deadline_ms
        self.open = open_class(folder, self.configuration, self.open_core)
        self.cluster = self.cluster_class(
            folder, self.configuration, cluster_core, deadline_ms, is_protected=is_protected
        )

    def more_conf(self) -> str:
        """Of further domains."""
        return ""

    def __enter__(self) -> "Cockpit":
        try:
            if self.hub is not None:
                self.hub.start_gidd(self.configuration)
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
        logs = self._logs() if isinstance(error, BenchError) else ""
        self.open.processes.kill_all()
        self.cluster.processes.kill_all()
        if self.hub is not None:
            self.hub.kill_all()
        if isinstance(error, BenchError):
            raise BenchError(f"{error}\n{logs}") from error

    def _logs(self, lines: int = 8) -> str:
        """The end of what each program wrote."""
        files = sorted(self._folder.glob("*.log"))
        texts = {log.stem: log.read_text(errors="replace") for log in files}
        ends = []
        for name, text in (texts | self.open.processes.far_logs()).items():
            said = text.splitlines()[-lines:]
            ends += [f"--- {name}", *said] if said else []
        return "\n".join(ends)
