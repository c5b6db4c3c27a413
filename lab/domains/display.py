# SPDX-License-Identifier: MIT
"""gid-cluster in a domain, and the status that it reports."""

from collections.abc import Callable, Sequence
from pathlib import Path

from lab.domains import priority
from lab.domains.place import Place
from lab.domains.program import LabError, Program

_TIMES = ("decided_ns", "shown_ns", "last_frame_ns")


class Display:
    """A gid-cluster. All times are of this machine's clock."""

    command: str | Path = "gid-cluster"

    def __init__(self, place: Place) -> None:
        self.place = place
        self.status_path = place.folder / "cluster.sock"

    def launch(self, configuration: str, *options: str, before: Sequence[str] = ()) -> None:
        """Returns when it reports its status. `before`: a command that gives it priority."""
        self.config = self.place.write("cluster.conf", configuration.encode())
        files = [f"--config={self.config}", f"--status={self.status_path}"]
        # If the domain has a screen, no other program uses it: no seat manager is needed.
        command = [*before, str(self.command), *files, *options]
        self.place.start("display", command, LIBSEAT_BACKEND="noop")
        self._wait("gid-cluster's start", lambda: self.place.ask(self.status_path))

    def _wait(self, what: str, condition: Callable[[], object]) -> None:
        self.place.wait_until(what, condition, "display")

    @property
    def program(self) -> Program:
        return self.place["display"]

    @property
    def scheduling(self) -> str:
        """The scheduling policy that it really got."""
        pid = self.program.pid_here
        return "what its own machine gives it" if pid is None else priority.scheduling(pid)

    def status(self) -> dict:
        status = self.place.ask(self.status_path)
        if status is None:
            ended = self.program.status()
            how = "does not report its status" if ended is None else f"ended with {ended}"
            raise LabError(f"gid-cluster {how}")
        for role in status["roles"]:
            for transition in role["transitions"]:
                for key in _TIMES:
                    if transition.get(key):
                        transition[key] = self.place.to_here(transition[key])
        return status

    def roles(self) -> dict[str, dict]:
        return {role["name"]: role for role in self.status()["roles"]}

    def role(self, name: str = "telltale") -> dict:
        return self.roles()[name]

    def wait_live(self, role: str = "telltale") -> None:
        self._wait(f"the {role}'s live picture", lambda: self.role(role)["state"] == "live")

    def photograph(self, picture: Path, stream: str, patience: float) -> None:
        """A picture of its screen or, if it has none, of the stream of its output."""
        if self.place.screen:
            self.place.photograph(picture)
            return
        self.snap(picture, self.place.domain, stream, patience)

    def snap(self, picture: Path, owner: str, stream: str, patience: float) -> None:
        """A picture of a stream that its domain may read."""
        shot = self.place.folder / "screenshot.png"
        command = ["gidctl", f"--domain={self.place.domain}", "snap", owner, stream]
        self.place.run([*command, f"--wait={patience}", "-o", str(shot)])
        picture.write_bytes(self.place.read(shot))
