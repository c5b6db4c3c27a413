# SPDX-License-Identifier: MIT
"""The gidd of one domain: whether it runs, how it does, its start and its end."""

import json
import os
import pwd
import select
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from gid_vm.folder import short_folder

from .access import check_place, give, identity, user_of
from .configuration import CockpitError, Configuration, Domain, find_program
from .logs import Log
from .process import START_SECONDS, check_ours, handle, listener, program
from .sandbox import GIDD_SHARE, confine, dissolve, put_into_share

STOP_SECONDS = 5.0
ANSWER_SECONDS = 10.0
HUB_FOLDERS = ("bell", "hub", "window")  # of the host's gidd, beside its own


class Daemon:
    def __init__(self, configuration: Configuration, domain: Domain) -> None:
        self.configuration, self.domain = configuration, domain
        self.folder = configuration.runtime / domain.name

    def environment(self) -> dict[str, str]:
        return os.environ | {"GID_RUNTIME_DIR": str(self.configuration.runtime)}

    def pid(self) -> int | None:
        """The process that listens for the domain's programs, or None."""
        return listener(self.folder / "gidd.sock", socket.SOCK_SEQPACKET)

    def lacks(self) -> str:
        """What of the domain does not run beside its gidd, and what to do; empty: nothing."""
        return ""

    def ask(self) -> dict:
        """What gidd says of itself: gidctl's JSON."""
        words = [find_program("gidctl"), "--domain", self.domain.name, "--json", "status"]
        try:
            result = subprocess.run(
                words,
                capture_output=True,
                text=True,
                env=self.environment(),
                timeout=ANSWER_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise CockpitError(f"the gidd of {self.domain.name} does not answer") from None
        if result.returncode != 0:
            raise CockpitError(result.stderr.strip())
        return json.loads(result.stdout)

    # --- start ---

    def start(self) -> int:
        """Starts gidd and returns its process once it is ready."""
        user = user_of(self.domain)
        folders = [self.folder]
        if self.domain.kind == "host" and os.geteuid() == 0:
            folders += [self.configuration.runtime / name for name in HUB_FOLDERS]
        check_place(self.configuration.runtime)
        for path in folders:
            give(path, user)
        log = Log(self.configuration, self.domain.name, "gidd.log")
        # TMPDIR can be ours alone, as with pam_tmpdir, where another user's gidd tells nothing.
        place = "/tmp" if user is not None else short_folder()
        with log, tempfile.TemporaryDirectory(dir=place) as folder:
            os.chmod(folder, 0o711)
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
                told = Path(folder, "ready")
                ready.bind(str(told))
                told.chmod(0o666)
                process = self._spawn(log.pipe, told, user)
                put_into_share(process.pid, self.domain.name, GIDD_SHARE)
                self._await(process, ready, log)
        return process.pid

    def _spawn(
        self, log: int, ready: Path, user: pwd.struct_passwd | None
    ) -> subprocess.Popen[bytes]:
        words = [find_program("gidd"), "--config", str(self.configuration.path)]
        words += ["--domain", self.domain.name]
        return subprocess.Popen(
            confine(words, [self.configuration.runtime], user is None and os.geteuid() == 0),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=self.environment() | {"NOTIFY_SOCKET": str(ready)},
            start_new_session=True,
            **identity(user),
        )

    def _await(self, process: subprocess.Popen[bytes], ready: socket.socket, log: Log) -> None:
        end = time.monotonic() + START_SECONDS
        ready.settimeout(0.05)
        while time.monotonic() < end and process.poll() is None:
            try:
                if b"READY=1" in ready.recv(4096).split(b"\n"):
                    return
            except TimeoutError:
                pass
        why = "ended" if process.poll() is not None else "is not ready"
        process.kill()
        process.wait()
        last = "\n".join(log.last())
        raise CockpitError(f"the gidd of {self.domain.name} {why}:\n{last}")

    # --- end ---

    def stop(self) -> bool:
        """Ends gidd. False: none ran. One that does not end by itself in time is killed."""
        pid = self.pid()
        if pid is None:
            return False
        name = self.domain.name
        try:
            with handle(pid, f"the gidd of {name}") as descriptor:
                if program(pid) != "gidd":
                    raise CockpitError(
                        f"systemd listens for {name}: systemctl stop gidd@{name}.socket "
                        f"gidd@{name}.service"
                    )
                check_ours(pid, self.folder, f"the gidd of {name}")
                self._end(descriptor)
        except ProcessLookupError:
            pass  # it has just ended
        dissolve(name)
        return True

    def _end(self, descriptor: int) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            signal.pidfd_send_signal(descriptor, number)
            ready, _, _ = select.select([descriptor], [], [], STOP_SECONDS)
            if ready:
                return
        raise CockpitError(f"the gidd of {self.domain.name} cannot be ended")
