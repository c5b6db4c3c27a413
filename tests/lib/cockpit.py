# SPDX-License-Identifier: MIT
"""A cockpit for a test: a configuration, and one gidd for each of its domains."""

import gc
import os
import re
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from gid_vm.folder import memory_folder
from lib.gidwire import Closed, Connection
from lib.program import BUILD, Program, Room, wait_for

from lab.domains.configuration import configuration
from lab.domains.here import gidd_command

GIDD = BUILD / "gidd" / "gidd"
GIDCTL = BUILD / "tools" / "gidctl" / "gidctl"
# Two domains that may read each other's streams, whatever those are called.
DEFAULT_CONFIG = configuration(
    {"open": "local=*", "cluster": "local=*"}, {"open cluster": "*", "cluster open": "*"}
)

SANITIZER = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:")


class Domain(Room):
    """One whose gidd is the one that was built, and known to its cockpit."""

    gidd = GIDD

    def __init__(self, cockpit: "Cockpit", domain: str) -> None:
        super().__init__(cockpit.folder, cockpit.env(domain))
        self.cockpit = cockpit

    def launch(self, name: str, command: list[str], environment: dict[str, str]) -> Program:
        gidd = super().launch(f"{name}-{self.domain}", command, environment)
        self.cockpit.gidds[self.domain] = gidd
        self.cockpit.logs.append(gidd)
        return gidd


def forget_failure() -> None:
    """The variables of a test that failed: what they keep would be told as left behind."""
    error = getattr(sys, "last_exc", None)
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
    gc.collect()


class Cockpit:
    """Starts the gidds; ends them and looks for what they left when it is closed."""

    def __init__(self, config: str = DEFAULT_CONFIG) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gid-", dir=memory_folder()))
        self.runtime = self.folder / "run"
        self.config_path = self.folder / "cockpit.conf"
        self.config_path.write_text(config)
        self.domains = re.findall(r"^\[domain ([^\]]+)\]", config, re.MULTILINE)
        self.links = {domain: self._linked(config, domain) for domain in self.domains}
        self.gidds: dict[str, Program] = {}
        self.idle_fds: dict[str, int] = {}
        self.logs: list[Program] = []
        self.log_seen: dict[int, int] = {}

    @staticmethod
    def _linked(config: str, domain: str) -> set[str]:
        pairs = re.findall(r"^\[share (\S+) (\S+)\]", config, re.MULTILINE)
        return {name for pair in pairs if domain in pair for name in pair if name != domain}

    # --- places ---

    def env(self, domain: str) -> dict[str, str]:
        """The environment of a program in this domain."""
        late = {"GID_ANSWER_SECONDS": "30"}  # where gidd itself runs late, too
        places = {"GID_RUNTIME_DIR": str(self.runtime), "GID_DOMAIN": domain}
        return late | os.environ | places

    def socket(self, domain: str) -> Path:
        return self.runtime / domain / "gidd.sock"

    def connect(self, domain: str, program: str = "test") -> Connection:
        """A client by the raw wire."""
        return Connection(self.socket(domain), program)

    def status(self, domain: str) -> dict:
        with self.connect(domain, "status") as connection:
            return connection.status()

    def log(self, domain: str) -> str:
        """What the domain's present gidd has written."""
        return self.gidds[domain].stderr

    def wait_log(self, domain: str, words: str) -> None:
        """Until the gidd has written this, behind what was waited for before."""
        gidd = self.gidds[domain]
        seen = self.log_seen.get(gidd.pid, 0)

        def written() -> bool:
            return words in gidd.stderr[seen:]

        try:
            wait_for(written, f"gidd of {domain} to write {words!r}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it wrote:\n{gidd.stderr[seen:]}") from None
        self.log_seen[gidd.pid] = seen + gidd.stderr[seen:].index(words) + len(words)

    # --- gidds ---

    def start(self, domain: str, under: Sequence[str | Path] = ()) -> Program:
        """Starts the domain's gidd, by a command before it, and waits until it is ready."""
        Domain(self, domain).up(*under)
        return self.gidds[domain]

    def gidd_command(self, domain: str) -> list[str]:
        """For tests that start it in ways of their own."""
        return gidd_command(domain, self.config_path, GIDD)

    def start_all(self) -> None:
        for domain in self.domains:
            self.start(domain)
        self.wait_links()
        for domain in self.domains:
            self.idle_fds[domain] = self.gidds[domain].open_fds()

    def wait_links(self) -> None:
        """Until every gidd that runs has a link to every other one that it shares with."""
        running = {domain for domain, gidd in self.gidds.items() if gidd.is_running()}
        for domain in running:

            def linked(domain: str = domain) -> bool:
                up = {
                    link["domain"] for link in self.status(domain)["links"] if link["state"] == "up"
                }
                return self.links[domain] & running <= up

            wait_for(linked, f"the links of {domain}")

    def kill(self, domain: str, number: signal.Signals = signal.SIGKILL) -> None:
        """Ends the domain's gidd, without a chance to clean up, and waits for its end."""
        self.gidds[domain].signal(number)
        self.gidds[domain].wait()

    def restart(self, domain: str) -> None:
        """Kills the domain's gidd where it runs, starts another, and waits for its links."""
        if self.gidds[domain].is_running():
            self.kill(domain)
        self.start(domain)
        self.wait_links()

    # --- programs ---

    @property
    def programs(self) -> list[Program]:
        """All but the gidds that were started in one of its domains, whoever did."""
        ours = [one for one in Program.started if one.runtime == str(self.runtime)]
        return [program for program in ours if program not in self.logs]

    def run(
        self,
        domain: str,
        arguments: Sequence[str | Path],
        name: str | None = None,
        **environment: str,
    ) -> Program:
        """Starts a program in the domain. It is killed at the end of the test at the latest."""
        return Program(arguments, self.env(domain) | environment, self.folder, name)

    # --- the end ---

    def wait_idle(self, domain: str) -> None:
        """Until the domain's gidd holds nothing more than when nobody had come yet."""
        gidd = self.gidds[domain]
        everything = ("clients", "slabs", "streams", "subscriptions")

        def idle() -> bool:
            try:
                status = self.status(domain)
            except Closed:
                return False  # those who had all the places have just gone, and gidd has not heard
            held = {key: status[key] for key in everything}
            held["clients"] = [c for c in held["clients"] if c["program"] != "status"]
            used = {q["name"]: q["used"] for q in status["quotas"] if q["name"] != "clients"}
            return not any(held.values()) and not any(used.values())

        wait_for(idle, f"gidd of {domain} to have let go of everything")
        wait_for(
            lambda: gidd.open_fds() <= self.idle_fds.get(domain, gidd.open_fds()),
            f"gidd of {domain} to have closed its descriptors",
        )

    def close(self, check: bool = True) -> None:
        """Ends everything; with `check` also makes sure that no gidd died, leaked or complained."""
        problems = []
        forget_failure()
        for program in self.programs:
            program.end()
        for domain, gidd in self.gidds.items():
            if check and gidd.is_running():
                try:
                    self.wait_idle(domain)
                except (AssertionError, OSError) as problem:
                    problems.append(f"{domain}: {problem}")
        for domain, gidd in self.gidds.items():
            killed = not gidd.is_running()
            if not killed and gidd.stop() != 0:
                problems.append(f"gidd of {domain} ended with {gidd.process.returncode}")
            elif killed and gidd.process.returncode != -signal.SIGKILL:
                problems.append(f"gidd of {domain} died: {gidd.process.returncode}")
            if not killed and self.socket(domain).exists():
                problems.append(f"gidd of {domain} left its socket behind")
        for gidd in self.logs:
            if SANITIZER.search(gidd.stderr):
                problems.append(f"{gidd.name}: a sanitizer complains")
        logs = "\n".join(f"--- {gidd.name}\n{gidd.stderr}" for gidd in self.logs)
        shutil.rmtree(self.folder, ignore_errors=True)
        if check and problems:
            raise AssertionError("; ".join(problems) + "\n" + logs)
