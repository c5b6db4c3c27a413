# SPDX-License-Identifier: MIT
"""Each call that may wait for another program or a disk takes seconds: gid-cluster, and Weston with
our module, make none of them in the display's thread, whatever happens around them.
"""

import json
import signal
from pathlib import Path

from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.display import ROLE, Display, start_telltale
from lib.forwarding import ROLE as SURFACE
from lib.forwarding import Forwarding, GidBuffers, Window, random_picture, show_each
from lib.pictures import RAW_ROLE
from lib.program import BUILD, Program, wait_for
from lib.session import CLUSTER, OwnerProcess
from lib.weston import XRGB8888

from lab.domains.configuration import section
from lab.domains.wayland import Display as Connection

SLOW_MS = 6000  # longer than a busy machine stands still
# Their memory is unmapped, each picture by itself where Weston keeps it, when the owner dies.
WIDTH, HEIGHT, SLOTS = 3840, 2160, 3
RESTING = 24  # slabs of hostile-restless
AT_ONCE = (1024, 512)  # of their pictures


RESTLESS = BUILD / "tests" / "hostile" / "programs" / "hostile-restless"
LARGE = section("layer large", "domain=open y=120 width=160 height=90")


class SlowCalls:
    """The calls, of these objects, that took their time."""

    def __init__(self, folder: Path, objects: str) -> None:
        self.log = folder / "slow-calls"
        self.preload = Preload(BUILD / "tests" / "safety" / "slow_calls.so")
        settings = self.preload.env | {
            "SLOW_CALLS": self.log,
            "SLOW_CALLS_MS": SLOW_MS,
            "SLOW_CALLS_OF": objects,
        }
        self.under = ("env", *(f"{name}={value}" for name, value in settings.items()))

    def made(self, by: str) -> list[str]:
        self.preload.check(by)
        return self.log.read_text().splitlines()


def lose_large_slab(owner: OwnerProcess, connection: Connection) -> None:
    """A client shows pictures of a slab whose owner then dies."""
    slab, *gids = owner.call("create", XRGB8888, WIDTH, HEIGHT, SLOTS, 0)
    owner.call("grant", slab, CLUSTER)
    made = show_each(connection, gids, WIDTH, HEIGHT)
    owner.kill()
    for params in made:
        params.wait("revoked")
    connection.roundtrip()


def show_large_pictures(cockpit: Cockpit) -> Program:
    path = cockpit.folder / "large"
    with path.open("wb") as file:
        file.truncate(WIDTH * HEIGHT * 4)
    size = (str(WIDTH), str(HEIGHT))
    return cockpit.run("open", [RAW_ROLE, "large", path, "XR24", *size, "0", "0"])


def large_layer(display: Display) -> dict:
    (layer,) = display.status()["layers"]
    return layer


def lose_all_at_once(cockpit: Cockpit, display: Display) -> None:
    """Many slabs, none of them large, of which each page was read, and that go at one moment."""
    words = [RESTLESS, "at-once", "large", *map(str, AT_ONCE)]
    restless = cockpit.run("open", words)
    frames = large_layer(display)["frames"] + 2 * RESTING
    wait_for(lambda: large_layer(display)["frames"] > frames, "its frames")
    restless.signal(signal.SIGKILL)


def test_gid_cluster(cockpit: Cockpit) -> None:
    calls = SlowCalls(cockpit.folder, "gid-cluster,libgid")
    display = Display(cockpit, ROLE + LARGE, under=calls.under)
    telltale = start_telltale(cockpit, "--cycle", "5")
    display.wait_role("live")
    begun = display.status()["frames"]
    wait_for(lambda: display.status()["frames"] > begun + 60, "frames")

    telltale.signal(signal.SIGKILL)
    display.wait_role("lost")
    telltale = start_telltale(cockpit, "--cycle", "5")
    display.wait_role("live")
    display.screenshot()
    for _ in range(2):
        large = show_large_pictures(cockpit)
        wait_for(lambda: large_layer(display)["state"] == "live", "a large picture")
        large.signal(signal.SIGKILL)
        wait_for(lambda: large_layer(display)["state"] == "stale", "its loss")
    lose_all_at_once(cockpit, display)
    for domain in ("open", "cluster"):
        cockpit.restart(domain)
        wait_for(lambda: display.status()["gidd"], "gidd to be back")
        display.wait_role("live")
    telltale.kill()
    display.wait_role("lost")
    start_telltale(cockpit, "--cycle", "5")
    display.wait_role("live")
    frames = display.status()["frames"]
    wait_for(lambda: display.status()["frames"] > frames + 60, "frames")

    status = display.status()
    print(json.dumps({key: status[key] for key in ("frames", "missed", "longest_gap_ns")}))
    assert calls.made("gid-cluster") == [], calls.made("gid-cluster")
    assert status["longest_gap_ns"] < SLOW_MS * 1_000_000, "one such call, whoever made it"
    # So that none of this could have been missed: at its end it removes its files itself.
    assert display.program.stop() == 0
    assert any("unlink" in line for line in calls.made("gid-cluster"))


def test_weston(cockpit: Cockpit) -> None:
    calls = SlowCalls(cockpit.folder, "gid-buffer,libgid")
    forwarding = Forwarding(cockpit, SURFACE, under=list(calls.under))
    telltale = forwarding.telltale("--cycle", "5")
    display = forwarding.display
    display.wait_role("live")
    telltale.signal(signal.SIGKILL)
    display.wait_role("lost")
    with forwarding.connection() as connection, forwarding.owner() as owner:
        window = Window(connection)
        window.take_role()
        gids = GidBuffers(connection, owner, cockpit.folder, slots=3)
        window.show(gids.draw(random_picture(1)))
        display.wait_role("live")
        window.show(gids.draw(random_picture(2)))
        lose_large_slab(OwnerProcess(cockpit.env("open")), connection)
        for domain in ("cluster", "open"):
            cockpit.restart(domain)
        forwarding.weston.wait_log("went away")
        display.wait_role("live")
        owner.call("destroy", gids.slab, True)
        window.wait_lost("refused_memory")
    assert forwarding.weston.is_running(), forwarding.weston.read_log()
    assert calls.made("weston") == []
    assert forwarding.weston.stop() == 0
