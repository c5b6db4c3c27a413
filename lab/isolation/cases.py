# SPDX-License-Identifier: MIT
"""The attacks in the domain `open` while the cluster's frames are measured."""

import json
import mmap
import re
import secrets
import signal
import subprocess
import time
from pathlib import Path

from lab.domains.program import LabError, Program, wait_for
from lab.isolation.domains import COSTLY
from lab.isolation.pair import Cockpit

OPEN_NUMBER = 1
COSTLY_KINDS = ("XR24", "XR30", "XR12", "Y216", "YUYV", "NV12")
COSTLY_NAME = re.compile(r"(role|layer)-(\w{2,4})(-turned)?(-scaled)?")
FILM = (1920, 1080)  # differs from the size of its place, so that it is scaled
BEGIN_AFTER = 0.5  # seconds of the measurement before a single event


class Case:
    """Calls begin(), measures the cluster's frames while within() runs, then calls end()."""

    name: str
    what: str
    calm = "undisturbed"  # the case that it is compared with
    role = ""  # on the display, of the hostile program's own stream
    seconds = 0.0  # the minimum for this measurement and the one it is compared with
    in_guest = True  # it is possible in a guest
    in_container = True  # it is possible in a container

    def begin(self, cockpit: Cockpit) -> None:
        pass

    def start_meter(self, cockpit: Cockpit, seconds: float) -> Program:
        """The program that measures the frames, and ends with a line of JSON like gid-meter's."""
        return cockpit.cluster.start_meter(seconds)

    def within(self, cockpit: Cockpit, seconds: float) -> None:
        pass

    def end(self, cockpit: Cockpit) -> dict:
        """Ends the attack. Returns what was done, for the report."""
        return {}


def _start(cockpit: Cockpit, name: str, *command: str) -> Program:
    return cockpit.open.place.start(name, command)


def end_attack(cockpit: Cockpit, name: str, *, may_be_killed: bool = False) -> dict:
    """The line of JSON that a hostile program prints at its end. Where one has ended by itself
    without a line, such as for want of OpenGL, there was no attack, and nothing was withstood.
    """
    process = cockpit.open.place[name]
    has_ended = not process.is_running()
    text = process.finish()
    cockpit.open.place.forget(name)
    if text:
        return json.loads(text)
    if has_ended and not may_be_killed:
        said = process.last_words()
        raise LabError(f"the attack {name} ended by itself, status {process.status()}:\n{said}")
    return {"status": process.status()}


class Undisturbed(Case):
    name = "undisturbed"
    what = "nothing happens"


class Flood(Case):
    name = role = "flood"
    what = "commits of a surface that is forwarded, and frames of a role, as fast as they are taken"

    def begin(self, cockpit: Cockpit) -> None:
        _start(cockpit, "flood", "hostile-flood", "safety/flood", "surface")

    def end(self, cockpit: Cockpit) -> dict:
        return end_attack(cockpit, "flood")


class Costly(Case):
    """A role or a layer of full size, with pictures that are as costly as possible for their
    reader.
    """

    def __init__(self, kind: str, turned: bool, film: bool = False, scaled: bool = False) -> None:
        self.name = f"{'layer' if film else 'role'}-{kind}"
        self.what = f"pictures of {kind}, of full size, all new"
        for is_so, how in ((turned, "turned"), (scaled, "scaled")):
            self.name += f"-{how}" if is_so else ""
            self.what += f", {how}" if is_so else ""
        self.role = "" if film else "costly"
        size = FILM if scaled else COSTLY
        across, down = reversed(size) if turned else size
        stream = "safety/film-costly" if film else "safety/costly"
        self._words = [stream, kind.ljust(4), *map(str, (across, down, int(turned)))]

    def begin(self, cockpit: Cockpit) -> None:
        """Drawing its first pictures takes seconds on a busy machine, and is no attack yet."""
        costly = _start(cockpit, "costly", "hostile-costly", *self._words)
        wait_for("pictures", lambda: not costly.is_running() or "sends" in costly.said())

    def end(self, cockpit: Cockpit) -> dict:
        return end_attack(cockpit, "costly")


class Leak(Case):
    name = "leak"
    what = "memory and slabs leak, up to the limit and gidd's quota"
    seconds = 5.0

    def begin(self, cockpit: Cockpit) -> None:
        self._limit = cockpit.open.limit()
        _start(cockpit, "leak", *self._limit.command("hostile-leak"))

    def end(self, cockpit: Cockpit) -> dict:
        leak = cockpit.open.place["leak"]

        def is_at_its_limit() -> bool:
            return not leak.is_running() or (not self._limit.kills and "refused" in leak.said())

        wait_for("its limit", is_at_its_limit)
        did = {"limit": self._limit.kind, **end_attack(cockpit, "leak", may_be_killed=True)}
        self._limit.close()
        return did


class Scribble(Case):
    name = role = "scribble"
    what = "all that open can write and cluster can read is overwritten, with the rings"

    def begin(self, cockpit: Cockpit) -> None:
        pids = [str(pid) for pid in cockpit.open.place.pids()]
        _start(cockpit, "scribble", "hostile-scribble", "safety/scribble", *pids)

    def end(self, cockpit: Cockpit) -> dict:
        did = end_attack(cockpit, "scribble")
        cockpit.open.place.kill()  # as after any such fault, the domain is restarted
        return did


class Restart(Case):
    name = "restart"
    what = "Weston, gidd and all programs of open are killed and started again"
    seconds = 6.0  # also of a short run: until all of it runs again

    def within(self, cockpit: Cockpit, seconds: float) -> None:
        time.sleep(BEGIN_AFTER)
        self._killed = len(cockpit.open.place.pids())
        cockpit.open.place.kill()
        time.sleep(BEGIN_AFTER)
        cockpit.open.start()

    def end(self, cockpit: Cockpit) -> dict:
        return {"killed": self._killed}


class Reboot(Case):
    """The machine's reset button. Most of the measurement covers the boot of the guest."""

    name = "reboot"
    what = "the guest is reset while all of its programs run, and boots again"
    seconds = 45.0

    def within(self, cockpit: Cockpit, seconds: float) -> None:
        time.sleep(BEGIN_AFTER)
        cockpit.open.place.reset()
        cockpit.open.start()


class Ended(Case):
    """Kills what runs in the container, as podman kill does."""

    name = "killed"
    what = "the container of open is killed, not its gidd, and another one started"

    def within(self, cockpit: Cockpit, seconds: float) -> None:
        time.sleep(BEGIN_AFTER)
        cockpit.open.place.end_container()
        time.sleep(BEGIN_AFTER)
        cockpit.open.start()


class Updated(Case):
    name = "updated"
    what = "the image of open's container is replaced, and the container made anew"

    def within(self, cockpit: Cockpit, seconds: float) -> None:
        time.sleep(BEGIN_AFTER)
        cockpit.open.place.update()
        cockpit.open.start()


class Dma(Case):
    """The attacker owns the guest's kernel and devices, and its IOMMU lets them through."""

    name = "dma"
    what = "devices of the guest write by themselves into memory of other domains"

    def begin(self, cockpit: Cockpit) -> None:
        self._pattern = secrets.randbits(64)
        dma = _start(cockpit, "dma", "hostile-dma", f"{self._pattern:016x}")
        wait_for("devices that write", lambda: not dma.is_running() or "writes" in dma.said())

    def end(self, cockpit: Cockpit) -> dict:
        """`pages`: pages of other domains, as the host sees them, into which the devices wrote."""
        did = end_attack(cockpit, "dma")
        others = [path for path in windows(cockpit) if path.parent.name != "open"]
        return did | {"pages": sum(_pages_with(path, self._pattern) for path in others)}


def windows(cockpit: Cockpit) -> list[Path]:
    return sorted((cockpit.folder / "window").glob("*/*"))


def _pages_with(path: Path, pattern: int) -> int:
    words = memoryview(path.read_bytes()).cast("Q")
    return sum(word == pattern for word in words[:: mmap.PAGESIZE // words.itemsize])


class Stop(Case):
    name = "stop"
    what = "everything in open is stopped, and continued"

    def __init__(self, seconds: float) -> None:
        self._stopped = seconds
        self.seconds = seconds + 2 * BEGIN_AFTER

    def within(self, cockpit: Cockpit, seconds: float) -> None:
        time.sleep(BEGIN_AFTER)
        cockpit.open.place.signal_all(signal.SIGSTOP)
        time.sleep(self._stopped)
        cockpit.open.place.signal_all(signal.SIGCONT)

    def end(self, cockpit: Cockpit) -> dict:
        return {"stopped_s": self._stopped}


class Messages(Case):
    name = "messages"
    what = "random messages to open's gidd and to Weston, as fast as they are taken"

    def begin(self, cockpit: Cockpit) -> None:
        _start(cockpit, "to-gidd", "hostile-messages", "gidd", str(cockpit.open.place.gidd_socket))
        socket = str(cockpit.open.wayland_socket)
        _start(cockpit, "to-weston", "hostile-messages", "wayland", socket)

    def end(self, cockpit: Cockpit) -> dict:
        return {"gidd": end_attack(cockpit, "to-gidd"), "weston": end_attack(cockpit, "to-weston")}


class Link(Case):
    name = "link"
    what = "a captured gidd of open: random messages to the cluster's gidd"
    in_guest = False  # a guest's link has another wire format: tests/ivshmem attacks it
    in_container = False  # gidd does not run in the container

    def begin(self, cockpit: Cockpit) -> None:
        cockpit.open.place["gidd"].kill()
        socket = str(cockpit.open.link_socket)
        _start(cockpit, "to-link", "hostile-messages", "link", socket, str(OPEN_NUMBER))

    def end(self, cockpit: Cockpit) -> dict:
        return end_attack(cockpit, "to-link")


class Rings(Case):
    """What hostile-rings does to the readers of its stream."""

    role = "rings"

    def __init__(self, mode: str, what: str) -> None:
        self.name, self.what = mode, what

    def begin(self, cockpit: Cockpit) -> None:
        _start(cockpit, "rings", "hostile-rings", self.name, "safety/rings")

    def end(self, cockpit: Cockpit) -> dict:
        return end_attack(cockpit, "rings")


class Requests(Case):
    """What hostile-requests asks of open's gidd."""

    def __init__(self, mode: str, what: str) -> None:
        self.name, self.what = mode, what

    def begin(self, cockpit: Cockpit) -> None:
        socket = str(cockpit.open.place.gidd_socket)
        _start(cockpit, "requests", "hostile-requests", self.name, socket)

    def end(self, cockpit: Cockpit) -> dict:
        return end_attack(cockpit, "requests")


class Traps(Case):
    name, role = "traps", "rings"
    what = "descriptors whose last close blocks for seconds, for gid-cluster and for open's gidd"

    def __init__(self) -> None:
        self._both = {"display": Rings("traps", ""), "gidd": Requests("traps", "")}

    def begin(self, cockpit: Cockpit) -> None:
        for one in self._both.values():
            one.begin(cockpit)

    def end(self, cockpit: Cockpit) -> dict:
        return {name: one.end(cockpit) for name, one in self._both.items()}


class Silent(Case):
    name = "silent"
    what = "open's gidd takes every question, and answers none"

    def begin(self, cockpit: Cockpit) -> None:
        """All roles must subscribe again; some ask for streams that nobody publishes."""
        cockpit.open.place["telltale"].kill()
        cockpit.open.place["gidd"].signal(signal.SIGSTOP)

    def end(self, cockpit: Cockpit) -> dict:
        cockpit.open.place["gidd"].signal(signal.SIGCONT)
        return {}


class Gpu(Case):
    name = "gpu"
    what = "a shader that computes without end, on the graphics processor if there is one"

    def begin(self, cockpit: Cockpit) -> None:
        """Its preparation takes seconds on a busy machine, and is no attack yet."""
        hog = _start(cockpit, "gpu", "gid-bench-gpu-hog")
        wait_for("the shader", lambda: not hog.is_running() or "computes" in hog.said())

    def end(self, cockpit: Cockpit) -> dict:
        return end_attack(cockpit, "gpu")


class Crowd(Case):
    name = "crowded"
    what = "programs without a pause on the display's own core, which nothing forbids them"
    in_guest = False  # a guest's programs run on the cores of its machine
    programs = 16

    def begin(self, cockpit: Cockpit) -> None:
        core = str(cockpit.cluster_core)
        busy = ("taskset", "--cpu-list", core, "sh", "-c", "while :; do :; done")
        for number in range(self.programs):
            _start(cockpit, f"busy{number}", *busy)

    def end(self, cockpit: Cockpit) -> dict:
        for number in range(self.programs):
            cockpit.open.place.stop(f"busy{number}")
        return {"programs": self.programs}


class Fences(Case):
    """Not one of all_cases(): needs a kernel with vgem for its fences."""

    name = role = "fences"
    what = "frames whose fences never come, come after seconds, or belong to other pictures"

    def begin(self, cockpit: Cockpit) -> None:
        _start(cockpit, "fences", "hostile-fences", "safety/fences")

    def end(self, cockpit: Cockpit) -> dict:
        return end_attack(cockpit, "fences")


def every_format() -> list[Case]:
    """Each format of libgid's table: as a role and as a layer, each also rotated, the layer also
    scaled.
    """
    known = subprocess.run(
        ["hostile-costly", "formats"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    return [
        Costly(kind.strip(), turned, film, scaled)
        for kind in known.splitlines()
        for turned in (False, True)
        for film, scaled in ((False, False), (True, False), (True, True))
    ]


def costly_case(name: str) -> Case | None:
    """The case of this name, in any format; None: it is no such name."""
    found = COSTLY_NAME.fullmatch(name)
    if found is None or (found[1] == "role" and found[4]):
        return None
    return Costly(found[2], bool(found[3]), found[1] == "layer", bool(found[4]))


def all_cases(stopped: float, guest: bool = False, container: bool = False) -> list[Case]:
    """The cases for a process, a guest or a container. `stopped`: seconds that the domain is
    stopped.
    """
    cases = [
        Flood(),
        *(Costly(kind, turned) for kind in COSTLY_KINDS for turned in (False, True)),
        *(Costly(kind, True, film=True, scaled=True) for kind in COSTLY_KINDS),
        Leak(),
        Scribble(),
        Restart(),
        Stop(stopped),
        Messages(),
        Link(),
        Traps(),
        Rings("sparse", "frames of 16 MiB of memory, of which no page was ever touched"),
        Silent(),
        Rings("notes", "the end of the flow, and nothing to show, in turn, without end"),
        Rings("bells", "the display's doorbell, rung without end, for nothing"),
        Requests("live", "subscriptions that are said to be live already, without end"),
        Requests("status", "requests for gidd's status, whose answers are never read"),
        Gpu(),
        Crowd(),
    ]
    if container:
        return [case for case in cases if case.in_container] + [Ended(), Updated()]
    if not guest:
        return cases
    return [case for case in cases if case.in_guest] + [Reboot(), Dma()]
