# SPDX-License-Identifier: MIT
"""A guest that libvirt starts from `gid-cockpit libvirt-xml`: linked, and its frames arrive.

libvirtd runs for the test alone, as it does for a user (qemu:///session): in a user namespace, so
that it takes itself for nobody's, and may still read what its caller may.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_vm.agent import Agent
from gid_vm.folder import memory_folder
from gid_vm.guest import BOOT_SECONDS, why_no_pages, why_not
from guests import Running
from lib.peer import PEER, WAITING
from lib.program import BUILD, PATIENCE, Program, wait_for

from lab.domains.configuration import configuration

CONFIG = configuration(
    {
        "open": "kind=guest window=16M window-kind={kind} vm-memory=512M vm-accel=tcg",
        "host": "kind=host window=16M local=*",
    },
    {"open host": "*", "host open": "*"},
    runtime="{runtime}",
)
NOBODY = 65534
FRAMES = 100

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.skipif(shutil.which("libvirtd") is None, reason="there is no libvirtd"),
    pytest.mark.timeout(1800),
]


class Libvirt:
    """A libvirtd of its own, with all that it keeps in one folder."""

    def __init__(self, folder: Path) -> None:
        for name in ("run", "config", "cache", "data"):
            (folder / name).mkdir()
        home = {
            f"XDG_{name.upper()}_HOME": str(folder / name) for name in ("config", "cache", "data")
        }
        self.env = os.environ | home | {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run")}
        self.socket = folder / "run/libvirt/libvirt-sock"
        (folder / "libvirtd.conf").touch()
        alone = ["unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}"]
        command = [*alone, "libvirtd", "--config", folder / "libvirtd.conf"]
        self.program = Program(command, self.env, folder)
        wait_for(lambda: self.virsh("version").returncode == 0, "libvirtd to answer")

    def virsh(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        assert self.program.is_running(), self.program.stderr
        command = ["virsh", "-c", f"qemu+unix:///session?socket={self.socket}", *words]
        return subprocess.run(
            command, env=self.env, capture_output=True, text=True, timeout=PATIENCE
        )

    def tell(self, *words: str | Path) -> str:
        result = self.virsh(*words)
        assert result.returncode == 0, f"virsh {words}: {result.stderr}\n{self.program.stderr}"
        return result.stdout

    def close(self) -> None:
        self.virsh("destroy", "open")
        self.program.stop()


class Machine:
    """The host's gidd, as gid-cockpit starts it, and the guest as libvirt does."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder, self.runtime = folder, folder / "gidway"
        self.config = folder / "cockpit.conf"
        self.config.write_text(CONFIG.format(runtime=self.runtime, kind=kind))
        programs = [BUILD / "tools" / "gid-cockpit", BUILD / "gidd", BUILD / "tools" / "gidctl"]
        path = ":".join([*map(str, programs), os.environ["PATH"]])
        self.env = os.environ | {"PATH": path, "GID_DOMAIN": "host"}
        self.env["GID_RUNTIME_DIR"] = str(self.runtime)
        self.cockpit("up", "host")
        self.libvirt = Libvirt(folder)

    def cockpit(self, *words: str) -> str:
        command = ["gid-cockpit", "--config", str(self.config), *words]
        env = {name: text for name, text in self.env.items() if not name.startswith("GID_")}
        result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def start(self) -> Agent:
        """Defines and starts the guest, and waits until it answers."""
        text = self.folder / "open.xml"
        text.write_text(self.cockpit("libvirt-xml", "open"))
        assert "defined" in self.libvirt.tell("define", text)
        self.libvirt.tell("start", "open")
        agent = Agent(self.runtime / "open/agent.sock")
        agent.connect(time.monotonic() + PATIENCE, lambda: True)
        agent.wait_ready(BOOT_SECONDS)
        return agent

    def close(self) -> None:
        self.libvirt.close()
        self.cockpit("down")


@pytest.fixture
def machine(kind: str) -> Iterator[Machine]:
    folder = Path(tempfile.mkdtemp(prefix="gid-", dir=memory_folder()))  # short: sockets lie there
    machine = Machine(folder, kind)
    yield machine
    machine.close()
    shutil.rmtree(folder)


@pytest.mark.parametrize("kind", ["dax", pytest.param("ivshmem", marks=pytest.mark.at_length)])
def test_a_guest_of_libvirt(machine: Machine, kind: str) -> None:
    if kind == "dax" and (reason := why_no_pages()) is not None:
        pytest.skip(reason)
    agent = machine.start()
    guest = Running(agent.start([str(PEER), "produce", "movie", "fps=50"]))
    words = [PEER, "consume", "open", "movie", "reconnect=1"]
    host = Running(Program(words, machine.env, machine.folder))
    host.wait_more(FRAMES)
    assert host.lines("frames")[-1]["torn"] == 0
    assert guest.is_running
    log = agent.start(["cat", "/var/log/gidd.log"]).wait(PATIENCE).out
    assert ("window 0 of domain open: /dev/dax" in log) == (kind == "dax"), log
    command = ["gidctl", "status", "--json"]
    status = subprocess.run(command, env=machine.env, capture_output=True, text=True, check=True)
    (link,) = json.loads(status.stdout)["links"]
    assert (link["state"], link["doorbells"]["way"]) == ("up", "device")
    # libvirt has the domain, and ends it; the host hears of it.
    assert machine.libvirt.tell("domstate", "open").strip() == "running"
    machine.libvirt.tell("destroy", "open")
    wait_for(
        lambda: host.lines("state")[-1]["state"] == WAITING, "the host to hear that it is gone"
    )
    host.program.stop()
    agent.close()
