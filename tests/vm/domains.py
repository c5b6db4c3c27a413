# SPDX-License-Identifier: MIT
"""Two domains of one guest, on a kernel of their own."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from gid_vm.agent import Command, Result
from gid_vm.guest import Guest
from gid_vm.own_kernel import own_kernel
from lib.pipeline import FRAMES, LOSSLESS, gst_env, make_registry
from lib.program import BUILD

from lab.domains.configuration import configuration

CONFIG = configuration(
    {"open": "", "cluster": "local=screen"}, {"open cluster": "*"}, runtime="/run/gidway"
)
PATIENCE = 300  # a guest under TCG, beside other tests

OwnKernel = Callable[[str, Sequence[str]], Guest]  # of a name, and the modules that it loads


class Domains:
    """The two domains in a guest."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self.reader_stats: dict = {}  # of the last transfer
        folders = ("gidd", "tools/gidctl", "tools/gid-cockpit")
        path = ":".join([*(str(BUILD / folder) for folder in folders), os.environ["PATH"]])
        env = {"PATH": path, "GID_RUNTIME_DIR": "/run/gidway"}
        self.env = gst_env(env, make_registry())

    def run(self, *words: str, stdin: bytes = b"") -> Result:
        result = self.guest.run(list(words), timeout=PATIENCE, env=self.env, stdin=stdin)
        assert result.code == 0, f"{words}:\n{result.out[-3000:]}\n{result.err[-3000:]}"
        return result

    def start(self, domain: str, *words: object, **environment: str) -> Command:
        env = self.env | {"GID_DOMAIN": domain} | environment
        return self.guest.start([str(word) for word in words], env=env)

    def play(self, domain: str, pipeline: str, *options: str) -> Command:
        return self.start(domain, FRAMES, *options, pipeline)

    def transfer(
        self, source: str, stream: str, options: str = ""
    ) -> tuple[list[dict], list[dict], dict]:
        """The frames that left the source, those that came, and the sink's statistics. Those of the
        reader are kept."""
        watch = f"gidsrc domain=open stream={stream} ! fakesink name=watch sync=false"
        receiver = self.play("cluster", watch, "--video-meta", "1")
        sink = f"identity name=watch ! gidsink name=sink stream={stream} {LOSSLESS} {options}"
        sent = lines(self.play("open", f"{source} ! {sink}"))
        received = lines(receiver)
        self.reader_stats = last_stats(received, "gid-src-stats")
        return frames(sent), frames(received), last_stats(sent, "gid-sink-stats")


@contextmanager
def domains_of_a_guest(
    modules: Sequence[str] = (), make: OwnKernel = own_kernel
) -> Iterator[Domains]:
    with make("open", modules) as guest:
        domains = Domains(guest)
        domains.run("sh", "-c", "cat > /run/cockpit.conf", stdin=CONFIG.encode())
        domains.run("gid-cockpit", "--config", "/run/cockpit.conf", "up")
        yield domains
        domains.run("gid-cockpit", "--config", "/run/cockpit.conf", "down")


def lines(command: Command) -> list[dict]:
    result = command.wait(PATIENCE)
    assert result.code == 0, f"{result.out[-3000:]}\n{result.err[-3000:]}"
    return [json.loads(line) for line in result.out.splitlines()]


def last_stats(lines: list[dict], name: str) -> dict:
    return [line["fields"] for line in lines if line.get("name") == name][-1]


def frames(lines: list[dict]) -> list[dict]:
    return [line for line in lines if "frame" in line]
