# SPDX-License-Identifier: MIT
"""A domain of this machine whose programs run in a container: podman as gid-cockpit uses it.

Its gidd runs outside the container, as a process of this machine. The container's image has only
empty folders: this machine's programs and gidway's build are mounted into it.
"""

import contextlib
import io
import json
import os
import pwd
import shlex
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from gid_cockpit.configuration import DEFAULT_RUNTIME, CockpitError, read
from gid_cockpit.container import Container

from lab.domains.here import Here, Process
from lab.domains.place import TELL_PID
from lab.domains.program import PATIENCE, LabError, Program, Wanting, wait_for

TOP = Path(__file__).resolve().parents[2]
IMAGE = "localhost/gidway-lab"
ALIVE = "alive"  # a FIFO: the container's first process reads it, and ends when we end

# Variables that a container sets itself, or that belong to our user's session.
_OWN = {"HOME", "HOSTNAME", "TMPDIR", "XDG_RUNTIME_DIR"}
_NO_MORE = 128  # larger exit statuses mean signals
_STOP_SECONDS = 1  # for a container whose programs must end


# --- podman ---------------------------------------------------------------------------------------


def archive() -> bytes:
    """The image's files: folders, and the usual links into /usr."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in ("dev", "etc", "proc", "run", "sys", "tmp", "usr", "var"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
        for name in ("bin", "lib", "lib64", "sbin"):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
            tar.addfile(link)
    return buffer.getvalue()


def podman(*words: str, stdin: bytes = b"") -> str:
    """Runs podman, and returns its output."""
    found = shutil.which("podman")
    if found is None:
        raise LabError("podman is not in $PATH")
    command = [found, *words]
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LabError(f"podman {words[0]}: {error}") from None
    if done.returncode != 0:
        raise LabError(f"podman {words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")


def make_image() -> str:
    """Replaces the image. Returns the id of the previous one, whose containers keep running."""
    before = podman("images", "--quiet", IMAGE).strip()
    podman("import", "-", IMAGE, stdin=archive())
    return before


@cache
def why_not() -> str | None:
    """The reason why no container can run here; None: containers can run."""
    words = ["--rm", "--network=none", "--read-only", "--volume=/usr:/usr:ro", IMAGE, "true"]
    try:
        if not podman("images", "--quiet", IMAGE).strip():
            make_image()
        podman("run", *words)
    except LabError as error:
        return str(error)
    return None


@cache
def controllers() -> list[str]:
    """The control group controllers that podman can use here."""
    return json.loads(podman("info", "--format={{json .Host.CgroupControllers}}"))


def has_groups() -> bool:
    """Whether podman can use control groups here, and so pause and limit containers."""
    return "memory" in controllers()


def keys(domain: str, folder: Path) -> str:
    """The keys of a domain in the cockpit's file. `folder`: its runtime folder."""
    alive = _files(domain, folder) / ALIVE
    command = shlex.join(["sh", "-c", f"cat {shlex.quote(str(alive))} && exit"])
    user = f"user={pwd.getpwuid(os.geteuid()).pw_name}" if os.geteuid() == 0 else ""
    return f"kind=container container-image={IMAGE} container-command={command} {user}"


def _files(domain: str, folder: Path) -> Path:
    return folder / f"{domain}-files"


def _options(files: Path) -> list[str]:
    """Podman's options that mount files into the container."""
    build = Path(os.environ.get("GIDWAY_BUILD", TOP))
    # Some libraries are links from /usr to an alternative.
    lent = {Path("/usr"), Path("/etc/alternatives"), TOP}
    lent |= set() if build.is_relative_to(TOP) else {build}
    words = ["--rm", f"--stop-timeout={_STOP_SECONDS}", f"--volume={files}:{files}"]
    return [*words, *(f"--volume={place}:{place}:ro" for place in sorted(lent))]


# --- the place ------------------------------------------------------------------------------------


class ContainedProgram(Program):
    """A program in the container.

    `client`: the podman process that has its output and ends with it. `told`: the file with its
    process id.
    """

    def __init__(self, name: str, place: "Contained", client: Process, told: Path) -> None:
        self.name, self._place, self._client, self._told = name, place, client, told
        self._pid_here = 0

    @property
    def pid(self) -> int:
        def told() -> bool:
            return self._told.exists() and self._told.read_text().endswith("\n")

        wait_for(f"the start of {self.name}", lambda: told() or not self.is_running())
        if not told():
            raise LabError(f"{self.name} did not start:\n{self.last_words()}")
        return int(self._told.read_text())

    @property
    def pid_here(self) -> int:
        if self._pid_here == 0:
            self._pid_here = self._place.pid_here(self.pid)
        return self._pid_here

    def status(self) -> int | None:
        code = self._client.status()
        return _NO_MORE - code if code is not None and code > _NO_MORE else code

    def printed(self) -> str:
        return self._client.printed()

    def said(self) -> str:
        return self._client.said()

    def signal(self, number: signal.Signals) -> None:
        """Sends the signal to the program itself: podman does not forward signals."""
        if self.is_running():
            with contextlib.suppress(ProcessLookupError, LabError):  # it has just ended
                os.killpg(self.pid_here, number)

    def wait(self, patience: float) -> int:
        try:
            self._client.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self._client.wait(PATIENCE)
            raise LabError(f"{self.name} does not end; see {self._client.log}") from None
        self._client.wait(patience)
        status = self.status()
        assert status is not None
        return status


class Contained(Here):
    """A domain with a container. `options`: further options of podman.

    signal_all() acts on the container; only kill() also acts on its gidd.
    """

    def __init__(
        self,
        domain: str,
        configuration: Path,
        core: int | None = None,
        patience: float = PATIENCE,
        sessions: bool = True,
        options: Sequence[str] = (),
    ) -> None:
        if (reason := why_not()) is not None:
            raise Wanting(f"no container can run here: {reason}")
        super().__init__(domain, configuration, core, patience, sessions)
        self._beside = Here(domain, configuration, core, patience, sessions)
        self.runtime = DEFAULT_RUNTIME
        self.environment["GID_RUNTIME_DIR"] = str(self.runtime)
        try:
            cockpit = read(configuration)
            words = [*_options(self.folder), *options]
            self.container = Container(cockpit, cockpit.by_name(domain), words)
        except CockpitError as error:
            raise LabError(str(error)) from None
        alive = self.folder / ALIVE
        with contextlib.suppress(FileExistsError):  # from an earlier place
            os.mkfifo(alive)
        self._alive = os.open(alive, os.O_RDWR | os.O_CLOEXEC)
        if (registry := os.environ.get("GST_REGISTRY")) and Path(registry).exists():
            # This machine's programs have scanned GStreamer's plugins; the container cannot write.
            self.environment |= {
                "GST_REGISTRY": str(self.put(Path(registry))),
                "GST_REGISTRY_UPDATE": "no",
            }

    # --- the container ---

    def up(self) -> None:
        """Starts its gidd and its container, unless they run."""
        if not self.is_running("gidd"):
            self._beside.up()
            self._programs["gidd"] = self._beside["gidd"]
        if self._first_process() is None:
            self._start_container()

    def is_up(self) -> bool:
        return super().is_up() and self._first_process() is not None

    def update(self) -> None:
        """Replaces the image, and creates the container anew; then nothing runs in it."""
        before = make_image()
        self._start_container()
        self._await_clients()
        with contextlib.suppress(LabError):  # another container still uses it
            podman("rmi", before)

    def end_container(self) -> None:
        """Kills the container at once. Its gidd keeps running."""
        podman("rm", "--force", "--ignore", "--time=0", self.container.name)
        self._await_clients()

    def _start_container(self) -> None:
        try:
            self.container.start_container()
        except CockpitError as error:
            raise LabError(str(error)) from None

    def _first_process(self) -> int | None:
        try:
            return self.container.container_pid()
        except CockpitError as error:
            raise LabError(str(error)) from None

    def _await_clients(self) -> None:
        for program in self._programs.values():
            if isinstance(program, ContainedProgram):
                program.wait(PATIENCE)

    def pid_here(self, pid: int) -> int:
        """The process id on this machine of a process in the container."""
        if (first := self._first_process()) is None:
            raise ProcessLookupError(f"the container of {self.domain} does not run")
        space = os.readlink(f"/proc/{first}/ns/pid")
        for found in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has just ended, or belongs to another user
                if os.readlink(found / "ns" / "pid") == space:
                    status = (found / "status").read_text()
                    (line,) = (one for one in status.splitlines() if one.startswith("NSpid:"))
                    if line.split()[-1] == str(pid):
                        return int(found.name)
        raise ProcessLookupError(f"there is no process {pid} in {self.domain}")

    def signal_all(self, number: signal.Signals) -> None:
        verb = {signal.SIGSTOP: "pause", signal.SIGCONT: "unpause"}.get(number)
        if verb is not None and has_groups():
            podman(verb, self.container.name)
            return
        for program in self._programs.values():
            if isinstance(program, ContainedProgram):
                program.signal(number)

    def kill(self) -> None:
        self.end_container()
        if self.is_running("gidd"):
            self["gidd"].kill()

    def stop_all(self) -> None:
        super().stop_all()
        self.end_container()

    # --- its programs ---

    def _exec(self, environment: dict[str, str], *options: str) -> list[str]:
        given = {key: one for key, one in os.environ.items() if key not in _OWN} | environment
        words = [shutil.which("podman") or "podman", "exec", *options]
        words += [f"--env={key}={one}" for key, one in given.items()]
        return [*words, self.container.name]

    def launch(self, name: str, command: list[str], environment: dict[str, str]) -> Program:
        """Starts a program that ends with the container. The container ends with us, even if we are
        killed.
        """
        told = self.folder / f"{name}.pid"
        told.unlink(missing_ok=True)
        words = [*self._exec(environment), *TELL_PID, str(told), *self._before, *command]
        return ContainedProgram(name, self, self._process(name, words, os.environ), told)

    def run(self, command: Sequence[str], stdin: bytes = b"", patience: float | None = None) -> str:
        words = [*self._exec(self.environment, "--interactive"), *command]
        return self._run(command, words, os.environ, stdin, patience)

    def before_others(self, level: int = 9) -> list[str]:
        """Finds out in the container: its permissions can differ from ours."""
        for words in (["chrt", "--fifo", str(level)], ["nice", "--adjustment=-15"]):
            with contextlib.suppress(LabError):
                self.run([*words, "true"])
                return words
        return []

    def pids(self) -> list[int]:
        programs = [one for one in self._programs.values() if isinstance(one, ContainedProgram)]
        return [program.pid for program in programs if program.is_running()]

    def put(self, file: Path) -> Path:
        return self.write(file.name, file.read_bytes())
