# SPDX-License-Identifier: MIT
"""A picture that changes in memory as it is composed: that is checked before it is shown."""

import threading
from contextlib import suppress

from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.display import ROLE, Display, start_telltale, telltale_picture
from lib.program import BUILD, wait_for
from lib.stream_reader import StreamReader

from lab.domains.configuration import section

SPOILED = BUILD / "tests" / "safety" / "spoiled_composition.so"
LIBGID = BUILD / "libgid/libgid.so"
# So few refreshes that who looks on misses none of them.
SCREEN = section("display", "worst-frame=0 width=640 height=240 refresh=20 stream=screen")
# Below the first one in the list, and always as it should be: it shows its fallback.
OTHER = section("role other", "domain=open x=500 y=120 width=64 height=48 deadline-ms=10000")
TIMES = 5


class Onlooker(threading.Thread):
    """Has each picture that is shown, until it is told to end."""

    def __init__(self, *place: object) -> None:
        super().__init__()
        self._place = place
        self.ends = threading.Event()
        self.seen: set[bytes] = set()

    def run(self) -> None:
        with StreamReader(*self._place) as reader:
            while not self.ends.is_set():
                with suppress(TimeoutError):
                    self.seen.add(reader.next(0.1).pixels[..., ::-1].tobytes())


def test_what_is_drawn_wrong_is_not_shown(cockpit: Cockpit) -> None:
    """Not once: the same frame has the fallback. The next good pictures are shown again."""
    preload, spoil = Preload(SPOILED), cockpit.folder / "spoil"
    names = preload.env | {"SPOILED_COMPOSITION": str(spoil)}
    under = ("env", *(f"{name}={value}" for name, value in names.items()))
    display = Display(cockpit, ROLE + OTHER, display=SCREEN, under=under)
    preload.check("gid-cluster")
    picture = display.screenshot()
    allowed = {picture.tobytes()}
    for state in range(16):
        with_lamp = picture.copy()
        with_lamp[20:100, 40:360] = telltale_picture(cockpit.folder, state)
        allowed.add(with_lamp.tobytes())
    onlooker = Onlooker(LIBGID, cockpit.socket("cluster"), "screen")
    onlooker.start()
    try:
        start_telltale(cockpit, "--cycle", "40")
        for _ in range(TIMES):
            before = display.wait_role("live")["transition_count"]
            spoil.touch()
            wait_for(lambda: not spoil.exists(), "a picture that is drawn wrong")
            wait_for(
                lambda before=before: display.role()["transition_count"] > before,
                "the role to be wrong",
            )
        changes = display.wait_role("live")["transitions"]
    finally:
        onlooker.ends.set()
        onlooker.join()
    wrong = [change for change in changes if change["reason"] == "display"]
    assert [(change["from"], change["to"]) for change in wrong] == [("live", "wrong")] * TIMES
    assert {change["reason"] for change in changes} == {"none", "display"}
    assert display.role("other")["transition_count"] <= 1
    assert len(onlooker.seen) > 3, "pictures of the lamp, and the fallback"
    assert onlooker.seen <= allowed, "a picture that was drawn wrong"
