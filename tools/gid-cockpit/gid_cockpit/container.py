# SPDX-License-Identifier: MIT
"""The container of one domain, which podman(1) runs: the domain's programs are in it.

Its gidd is not: that runs on the host, as a local domain's does. So whoever takes the container
over finds nothing but a socket at which he is this domain, and no other. He cannot end the gidd
that counts what he may have, nor read the file that says so. He sees no socket of another domain,
nor the places where the gidds of others come in, by which they are known. And the image needs
the programs alone: all that they have of gidway is libgid.
"""

import contextlib
import hashlib
import json
import os
import select
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .access import is_root, user_of
from .configuration import DEFAULT_RUNTIME, CockpitError, Configuration, Domain
from .daemon import Daemon
from .logs import Log, last_lines
from .process import START_SECONDS, handle, pass_signals_on

LABEL = "org.gidway.folder"  # whose container it is: that of the domain's sockets
LOG = "container.log"
STOP_SECONDS = 10
PODMAN_SECONDS = 60.0  # for one command, of which the longest ends a container
NUMBER_FD = 3  # the first that podman passes on
NUMBER_SIZE = 16  # of what is written there, which a container may do

# A command tells its number first, by which signals find it: podman passes none on.
TELL_NUMBER = f'echo $$ >&{NUMBER_FD}; exec {NUMBER_FD}>&-; exec "$@"'


def podman(domain: Domain) -> str:
    found = shutil.which("podman")
    if found is None:
        raise CockpitError(
            f"domain {domain.name} is a container, and podman, which runs those, is not in $PATH: "
            "install podman"
        )
    return found


def name_of(found: dict) -> str:
    return found["Names"][0]


class Container(Daemon):
    """A gidd, as each domain has, and a container. The process that it is known by is gidd's.

    `extra`: further arguments of podman run.
    """

    def __init__(
        self, configuration: Configuration, domain: Domain, extra: Sequence[str] = ()
    ) -> None:
        super().__init__(configuration, domain)
        self._extra = extra
        self._began_gidd = False

    @property
    def name(self) -> str:
        """Of one that is started now: others may have had another file, and so another name.

        Podman has one set of names for each user; several cockpits may have domains of one.
        """
        file = os.fsencode(self.configuration.path.resolve())
        return f"gidway-{self.domain.name}-{hashlib.sha256(file).hexdigest()[:8]}"

    def arguments(self) -> list[str]:
        """Podman's command line, as `up` has it."""
        words = [podman(self.domain), "run", "--detach", "--replace", f"--name={self.name}"]
        words += [f"--label={LABEL}={self.folder.resolve()}", "--log-driver=passthrough"]
        options = self.options(self._user())
        return [*words, *options, self.domain.container.image, *self.command()]

    def options(self, user: list[str]) -> list[str]:
        """Podman's, whoever starts the container, with those that say as which `user`."""
        name = self.domain.name
        place = DEFAULT_RUNTIME / name
        # What is not here is fetched by who wants it, and not by the way.
        words = [f"--hostname={name}", "--pull=never"]
        # Those of ours may have a password, and there is no network to use them.
        words += ["--http-proxy=false"]
        words += ["--read-only", "--cap-drop=all", "--security-opt=no-new-privileges"]
        # The folder, not the socket: a gidd that is started anew makes another one. Read-only is
        # enough to connect. Where other gidds come in is no place for programs.
        words += [f"--volume={self.folder}:{place}:ro", f"--security-opt=mask={place / 'link'}"]
        words += [f"--env=GID_DOMAIN={name}", f"--env=GID_RUNTIME_DIR={DEFAULT_RUNTIME}"]
        words += user
        keys = self.domain.container
        options = [*self._split("container-options", keys.options), *self._extra]
        # More than one is not the last one, as with other options: podman would join them all.
        if not any(word.partition("=")[0] in ("--network", "--net") for word in options):
            words.append("--network=none")
        return [*words, *options]

    def command(self) -> list[str]:
        """What runs in it. Empty: the image's own."""
        return self._split("container-command", self.domain.container.command)

    def _user(self) -> list[str]:
        """Nothing where podman is an ordinary user's: the container's root is that user."""
        if not is_root():
            return []
        if self.domain.user is None:
            raise CockpitError(
                f"domain {self.domain.name}: programs in a container of root's would be the "
                "machine's root: give it a user=, or be an ordinary user"
            )
        user = user_of(self.domain)
        return [f"--user={user.pw_uid}:{user.pw_gid}" if user is not None else "--user=0:0"]

    def _split(self, key: str, text: str) -> list[str]:
        try:
            return shlex.split(text)
        except ValueError as error:
            raise CockpitError(f"{key}= of domain {self.domain.name}: {error}") from None

    # --- whether it runs ---

    def _find_all(self) -> list[dict]:
        """What podman says of those of this domain, whatever they are called."""
        if shutil.which("podman") is None:
            return []
        words = ["ps", "--all", f"--filter=label={LABEL}", "--format=json"]
        place = str(self.folder.resolve())  # a comma in it would be two words of podman's
        found = json.loads(self._podman(*words) or "[]")
        return [one for one in found if one["Labels"][LABEL] == place]

    def _find(self) -> dict | None:
        """The one that runs, or another one. None: there is none."""
        found = self._find_all()
        return max(found, key=lambda one: one["State"] == "running", default=None)

    def _podman(self, *words: str) -> str:
        command = [podman(self.domain), *words]
        try:
            result = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=PODMAN_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise CockpitError(
                f"podman {words[0]}, for domain {self.domain.name}: no answer in "
                f"{PODMAN_SECONDS:.0f} s"
            ) from None
        if result.returncode != 0:
            raise CockpitError(f"podman, for domain {self.domain.name}: {result.stderr.strip()}")
        return result.stdout

    def known(self) -> str:
        """Its name, as far as podman tells; empty: none, as where podman does not work."""
        try:
            found = self._find()
        except CockpitError:
            return ""
        return name_of(found) if found is not None else ""

    def container_pid(self) -> int | None:
        """The first process in it, or None: it does not run."""
        found = self._find()
        return found["Pid"] if found is not None and found["State"] == "running" else None

    def lacks(self) -> str:
        found = self._find()
        if found is None:
            start = self.configuration.command(f"up {self.domain.name}")
            return f"it has no container: {start}"
        if found["State"] == "running":
            return ""
        if found["State"] == "paused":
            return f"its container is paused: podman unpause {name_of(found)}"
        logs = self.configuration.command(f"logs {self.domain.name}")
        status = found["ExitCode"]
        return f"its container has ended (exit status {status}): {logs} has what it said"

    # --- start ---

    def start(self) -> int:
        """The gidd, if it does not run, and the container anew."""
        self.arguments()  # mistakes of the file are told before anything is started
        pid = self.pid()
        self._began_gidd = pid is None
        if pid is None:
            pid = super().start()
        try:
            self.start_container()
        except BaseException:
            if self._began_gidd:
                with contextlib.suppress(CockpitError):  # that it does not start is told
                    self.stop()
            raise
        return pid

    def start_container(self) -> None:
        """Anew, where it runs already. Its gidd does."""
        words = self.arguments()
        self._remove([name for one in self._find_all() if (name := name_of(one)) != self.name])
        log = Log(self.configuration, self.domain.name, LOG)
        with log:
            try:
                result = subprocess.run(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=log.pipe,
                    stderr=log.pipe,
                    cwd="/",
                    timeout=START_SECONDS,
                )
            except subprocess.TimeoutExpired:
                raise CockpitError(
                    f"podman does not start domain {self.domain.name}: no answer in "
                    f"{START_SECONDS:.0f} s"
                ) from None
        if result.returncode != 0:
            said = "\n".join(log.last())
            raise CockpitError(f"podman does not start domain {self.domain.name}:\n{said}")
        if (why := self.lacks()) != "":
            said = "\n".join(last_lines(log.path))
            raise CockpitError(f"domain {self.domain.name}: {why}:\n{said}")

    # --- end ---

    def stop(self) -> bool:
        """The programs first: they lose nothing that they could still ask for."""
        was_there = False
        try:
            was_there = self.stop_container()
        finally:
            ended = super().stop()
        return ended or was_there

    def stop_started(self) -> None:
        """What start() began: no gidd that ran before."""
        try:
            self.stop_container()
        finally:
            if self._began_gidd:
                super().stop()

    def stop_container(self) -> bool:
        """False: there was none."""
        return self._remove([name_of(one) for one in self._find_all()])

    def _remove(self, names: list[str]) -> bool:
        if names:
            self._podman("rm", "--force", f"--time={STOP_SECONDS}", *names)
        return bool(names)

    # --- a command in it ---

    def run(self, words: list[str], cwd: Path) -> int:
        """Runs a command there, with our terminal, until it ends. Returns its exit status.

        `cwd` is a folder of this machine's, and so means nothing to it.
        """
        if (why := self.lacks()) != "":
            raise CockpitError(f"domain {self.domain.name}: {why}")
        name = self.known()
        command = [podman(self.domain), "exec", "--interactive"]
        if os.isatty(0) and os.isatty(1):
            command.append("--tty")
        command += ["--preserve-fds=1", name, "sh", "-c", TELL_NUMBER, "sh", *words]
        reader, writer = os.pipe()
        pass_on = pass_signals_on()
        actions = [(os.POSIX_SPAWN_DUP2, writer, NUMBER_FD)]
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
        os.close(writer)
        number = ""

        def send(which: signal.Signals) -> None:
            if not number:
                os.kill(pid, which)
                return
            script = f"kill -{which.name.removeprefix('SIG')} {number}"
            inside = [command[0], "exec", name, "sh", "-c", script]
            subprocess.run(inside, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        pass_on(send)
        number = self._read_number(reader, pid)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code < 0 and number:
            send(signal.Signals(-code))  # podman has ended, and what it ran goes on without it
        return code if code >= 0 else 128 - code

    def _read_number(self, reader: int, pid: int) -> str:
        """As TELL_NUMBER writes it. Empty: podman has ended, or something else was written."""
        told = b""
        with handle(pid, "podman") as descriptor:
            poll = select.poll()
            poll.register(reader, select.POLLIN)
            poll.register(descriptor, select.POLLIN)
            while not told.endswith(b"\n") and len(told) < NUMBER_SIZE:
                if reader not in dict(poll.poll()):
                    break
                part = os.read(reader, NUMBER_SIZE - len(told))
                if not part:
                    break
                told += part
        os.close(reader)
        number = told.decode(errors="replace").strip()
        return number if number.isdecimal() else ""
