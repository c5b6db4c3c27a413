# SPDX-License-Identifier: MIT
"""A cockpit of machines: the host's gidd here, and guests whose gidds run in them."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy
from gid_cockpit.configuration import Configuration, read
from gid_cockpit.machine import describe
from gid_vm.agent import Command, Result
from gid_vm.guest import Guest, prepare
from gid_vm.monitor import Monitor
from lib.cockpit import Cockpit
from lib.pipeline import FRAMES, gst_env, make_registry
from lib.program import BUILD, Program, wait_for
from PIL import Image

from lab.domains.configuration import configuration

CONFIG = configuration(
    {
        "open": "kind=guest window=32M vm-memory=768M",
        "cluster": "kind=guest window=16M vm-memory=768M",
        "host": "kind=host window=32M local=*",
        "spare": "kind=guest window=16M vm-memory=768M",
    },
    {
        "open host": "*",
        "host open": "*",
        "open cluster": "*",
        "cluster host": "*",
        "cluster open": "*",
        "spare host": "*",
        "host spare": "*",
    },
    runtime="/run/gidway",
)
SILENCE = 120
WINDOW = 4 << 20  # bytes of a window, of a guest without a cockpit
FOLDERS = ("gidd", "clients", "cluster", "tools/gidctl", "tools/gid-cockpit", "tests/lib/programs")
# A busy machine is silent for long: who is not told that a guest is gone hears of it late.
for one, other in (("open", "host"), ("open", "cluster"), ("cluster", "host"), ("spare", "host")):
    CONFIG += f"[link {one} {other}]\nkind=ivshmem\nsilence={SILENCE}\n"
SECONDS = 300.0  # for whatever a guest has to do under TCG, beside other tests
LOOK_SECONDS = 1.0  # between looks that start a program in a guest, which takes it a third of that
LOOK_AGAIN_SECONDS = 5.0  # that displays have to show the last picture of a program


@contextmanager
def commands_end() -> Iterator[None]:
    """Ends whatever was started in guests meanwhile and, its test having failed, goes on there."""
    started: list[Command] = []
    start = Guest.start

    def remember(guest: Guest, words: list[str], **options: object) -> Command:
        started.append(start(guest, words, **options))
        return started[-1]

    with patch.object(Guest, "start", remember):
        yield
    left = [command for command in started if command.code is None]
    for command in left:
        command.signal(signal.SIGKILL)
    for command in left:
        command.wait(SECONDS)


class Machines:
    """The host's gidd, and as many of the guests as a test has booted."""

    def __init__(self, config: str = CONFIG) -> None:
        self.config = config
        self.host = Cockpit(config)
        os.environ["PATH"] = ":".join([*(str(BUILD / f) for f in FOLDERS), os.environ["PATH"]])
        os.environ["GID_RUNTIME_DIR"] = str(self.host.runtime)
        self.host.start("host")
        self.configuration: Configuration = read(self.host.config_path)
        self.registry = make_registry()
        self.guests: dict[str, Guest] = {}

    # --- guests ---

    def launch(self, name: str) -> Guest:
        """Starts a guest and waits for nothing."""
        domain = self.configuration.choose([name])[0]
        machine = describe(self.configuration, domain)
        machine.monitor.parent.mkdir(exist_ok=True)
        guest = Guest(name, machine)
        environment = gst_env({"GID_RUNTIME_DIR": "/run/gidway"}, self.registry)
        prepare(machine, guest.work, self.config, **environment, GIDWAY_PATIENCE=str(SECONDS))
        self.guests[name] = guest
        guest.launch()
        return guest

    def boot(self, *names: str) -> None:
        """Boots guests side by side, and waits until they are joined to the host."""
        for name in names:
            self.launch(name)
        for name in names:
            self.guests[name].wait_ready()
            self.wait_link(name, "up")
        # Windows of guests are opened when they first come, and kept.
        self.host.idle_fds["host"] = self.host.gidds["host"].open_fds()

    def close(self) -> None:
        for guest in self.guests.values():
            guest.finish()
        self.host.close()

    def screenshot(self, name: str) -> numpy.ndarray:
        """What the guest's screen shows, as rows of RGB: QEMU's word, not the guest's."""
        guest = self.guests[name]
        picture = guest.work / "screen.png"
        with Monitor(guest.machine.monitor) as monitor:
            monitor.screenshot(picture)
        return numpy.asarray(Image.open(picture).convert("RGB"))

    # --- what the host's gidd knows ---

    def link(self, peer: str) -> dict:
        links = self.host.status("host")["links"]
        return next(link for link in links if link["domain"] == peer)

    def wait_link(self, peer: str, state: str, timeout: float = SECONDS) -> float:
        """Until the host's gidd has the link in this state; the seconds that it took."""
        start = time.monotonic()
        wait_for(
            lambda: self.link(peer)["state"] == state, f"the link to {peer} to be {state}", timeout
        )
        return time.monotonic() - start

    def link_of(self, domain: str, peer: str) -> dict:
        """What the domain's gidd knows of its link."""
        if domain == "host":
            return self.link(peer)
        status = json.loads(self.run(domain, "gidctl", "status", "--json").out)
        return next(link for link in status["links"] if link["domain"] == peer)

    def doorbells(self, domain: str, peer: str) -> dict:
        """What the domain's gidd counts of its doorbells with another machine."""
        return self.link_of(domain, peer)["doorbells"]

    # --- programs in any of the domains ---

    def start(self, domain: str, *words: str | Path, **options: object) -> "Running":
        if domain == "host":
            environment = gst_env(self.host.env("host"), self.host.folder / "registry.bin")
            program = Program([*words], environment, self.host.folder)
            return Running(program)
        return Running(self.guests[domain].start([str(word) for word in words], **options))

    def run(self, domain: str, *words: str | Path, **options: object) -> Result:
        result = self.start(domain, *words, **options).finish()
        assert result.code == 0, f"{words} in {domain}:\n{result.out[-2000:]}\n{result.err[-2000:]}"
        return result

    def play(self, domain: str, pipeline: str, *options: str) -> "Running":
        """A pipeline that tells of every frame that comes by its element `watch`."""
        return self.start(domain, FRAMES, *options, pipeline)


class Running:
    """A program, wherever it runs."""

    def __init__(self, program: Program | Command) -> None:
        self.program = program
        self.parsed: list[dict] = []
        self.parsed_size = 0

    @property
    def pid(self) -> int | None:
        """None in a guest."""
        return self.program.pid if isinstance(self.program, Program) else None

    @property
    def out(self) -> str:
        return self.program.stdout if isinstance(self.program, Program) else self.program.out

    @property
    def is_running(self) -> bool:
        if isinstance(self.program, Program):
            return self.program.is_running()
        return self.program.code is None

    def lines(self, key: str) -> list[dict]:
        """The JSON objects it has printed so far that have this key."""
        out = self.out
        whole = out[: out.rfind("\n") + 1]
        self.parsed += map(json.loads, whole[self.parsed_size :].splitlines())
        self.parsed_size = len(whole)
        return [thing for thing in self.parsed if key in thing]

    def wait_lines(self, key: str, count: int) -> list[dict]:
        def there() -> bool:
            if len(self.lines(key)) >= count:
                return True
            assert self.is_running, f"it ended:\n{self.out[-2000:]}\n{self.err[-2000:]}"
            return False

        wait_for(there, f"{count} × {key}, of which came {len(self.lines(key))}", SECONDS)
        return self.lines(key)

    def wait_more(self, count: int, *others: "Running") -> None:
        """Until a stream-peer has had so many frames more than now, for which others go on, too."""
        lines = self.lines("frames")
        goal = count + (lines[-1]["frames"] if lines else 0)
        programs = (self, *others)

        def there() -> bool:
            for one in programs:
                assert one.is_running, f"it ended:\n{one.out[-2000:]}\n{one.err[-2000:]}"
            return bool(lines := self.lines("frames")) and lines[-1]["frames"] >= goal

        def what() -> str:
            last = [line for one in programs for line in one.lines("frames")[-1:]]
            return f"{count} more frames; said last: {last}"

        wait_for(there, what, SECONDS)

    @property
    def err(self) -> str:
        if isinstance(self.program, Program):
            return self.program.stderr
        with self.program.changed:
            return self.program.texts["err"].decode(errors="replace")

    def finish(self, timeout: float = SECONDS) -> Result:
        if isinstance(self.program, Program):
            code = self.program.wait(timeout)
            return Result(code, self.program.stdout, self.program.stderr)
        return self.program.wait(timeout)

    def signal(self, number: int) -> None:
        if self.is_running:
            self.program.signal(number)

    def stop_where_all_show(self, is_shown: Callable[[], bool], what: str) -> None:
        """Stops it for good, so that what it sent last stays on display.

        Where it is stopped between two of its readers, one has a picture more than the other for as
        long: then it goes on, and is stopped again. How often is printed: that is to be rare.
        """
        stops = 0

        def stop_and_look() -> bool:
            nonlocal stops
            stops += 1
            self.signal(signal.SIGSTOP)
            end = time.monotonic() + LOOK_AGAIN_SECONDS
            while time.monotonic() < end:
                if is_shown():
                    return True
                time.sleep(LOOK_SECONDS)
            self.signal(signal.SIGCONT)
            return False

        wait_for(stop_and_look, what, SECONDS, LOOK_SECONDS)
        print(f"{what}: stopped {stops} times")
