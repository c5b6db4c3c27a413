# SPDX-License-Identifier: MIT
"""Where gidds, QEMUs and guests' consoles write: files of bounded size, in folders of our own.

What is written is a domain's, and may be hostile: as much as it likes, and a domain that runs as
another user could put links where its log belongs. So it only gets a pipe, which a process of ours
empties into a file, beginning another one where that is full. What comes while the pipe is full is
lost: nobody ever waits for its log.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
from pathlib import Path

if __name__ != "__main__":
    import hashlib

    from gid_vm.folder import home

    from .configuration import DEFAULT_RUNTIME, CockpitError, Configuration

MOST_BYTES = 4 << 20  # of a file; of each log there are two
PIPE_BYTES = 1 << 20


def log_folder(configuration: "Configuration", domain: str) -> Path:
    """Not in /run, which is memory."""
    runtime = configuration.runtime
    if not any(runtime.is_relative_to(place) for place in ("/run", "/var/run")):
        return runtime / "log" / domain
    if os.geteuid() == 0:
        return Path("/var/log/gidway", domain)
    return state_home() / "gidway" / _log_name(runtime) / domain


def _log_name(runtime: Path) -> str:
    """Several cockpits of one user may have domains of one name."""
    if runtime in (DEFAULT_RUNTIME, Path("/run/user", str(os.geteuid()), "gidway")):
        return "log"
    return f"log-{hashlib.sha256(os.fsencode(runtime)).hexdigest()[:8]}"


def state_home() -> Path:
    """One that is relative counts for nothing: from each folder it would be another."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    return named if named.is_absolute() else home() / ".local" / "state"


def open_folder(folder: Path) -> int:
    """A descriptor of the folder, which is made. CockpitError: others may write there."""
    # Not at once: a mode counts for the last one only, and users may have an umask of 002.
    folder.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    folder.mkdir(mode=0o755, exist_ok=True)
    for path in (folder.parent, folder):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or status.st_mode & 0o022:
            os.close(descriptor)
            raise CockpitError(f"{path}: others may write here, where logs go: remove it")
        if path is not folder:
            os.close(descriptor)
    return descriptor


class Log:
    """One log while its writer is started: give the writer `pipe`, then close it here."""

    def __init__(self, configuration: "Configuration", domain: str, name: str) -> None:
        self.path = log_folder(configuration, domain) / name
        try:
            folder = open_folder(self.path.parent)
        except OSError as error:
            place, why = self.path.parent, f"{self.path.parent}: {error.strerror}, for logs"
            if place.is_relative_to(state_home()):
                why += ": name a folder that can be written by XDG_STATE_HOME"
            raise CockpitError(why) from None
        try:
            file = begin(name, folder)  # at once: who looks for it finds this one
        except OSError:
            file = subprocess.DEVNULL  # as on a full disk: the keeper tries again
        reader, self.pipe = os.pipe()
        os.set_blocking(self.pipe, False)
        # A user with many large pipes gets no more of them: a small one will do.
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, name, "1" if file >= 0 else "-1"],
            stdin=reader,
            stdout=file,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: os.fchdir(folder),
            start_new_session=True,
        )
        for descriptor in (reader, folder, *([file] if file >= 0 else [])):
            os.close(descriptor)

    def __enter__(self) -> "Log":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self.pipe >= 0:
            os.close(self.pipe)
            self.pipe = -1

    def last(self) -> list[str]:
        """Its last lines, once its writer has ended."""
        self.close()
        try:
            self.keeper.wait(5)
        except subprocess.TimeoutExpired:
            pass  # something that the writer started lives on
        return last_lines(self.path)


def last_lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            return file.read().decode(errors="replace").splitlines()[-5:]
    except FileNotFoundError:
        return []


def begin(name: str, folder: int | None = None) -> int:
    """A new file, in the folder or the current one; the one that was there ends in .1 then."""
    with contextlib.suppress(FileNotFoundError):
        os.rename(name, f"{name}.1", src_dir_fd=folder, dst_dir_fd=folder)
    how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, how, 0o640, dir_fd=folder)


def keep(name: str, file: int) -> None:
    """The process at the other end: copies stdin to `file`, called `name`; -1: to a new one."""
    size, data = 0 if file >= 0 else MOST_BYTES + 1, b""
    while True:
        try:
            if size + len(data) > MOST_BYTES:
                fresh = begin(name)
                if file >= 0:
                    os.close(file)
                file, size = fresh, 0
            size += os.write(file, data)
        except OSError:
            pass  # a full disk: what comes is lost, and its writer does not notice
        data = os.read(0, 65536)
        if not data:
            return


if __name__ == "__main__":
    keep(sys.argv[1], int(sys.argv[2]))
