# SPDX-License-Identifier: MIT
"""Forwarding under valgrind: the module touches no memory that is gone, and loses none."""

from lib.cockpit import Cockpit
from lib.display import HEIGHT, WIDTH
from lib.forwarding import ROLE, Forwarding, GidBuffers, ShmBuffers, Window, random_picture
from lib.program import BUILD, wait_for
from lib.stream_reader import StreamReader
from lib.valgrind import VALGRIND, complaints

LIBGID = BUILD / "libgid/libgid.so"
MAP = "org.example.map"
WINDOW = f"[gid-window]\nstream=map\napp-id={MAP}\n"


def live_through_everything(forwarding: Forwarding) -> None:
    display, cockpit = forwarding.display, forwarding.cockpit
    with forwarding.connection() as connection, forwarding.owner() as owner:
        window = Window(connection)
        window.take_role()
        gids = GidBuffers(connection, owner, cockpit.folder, slots=8)
        kept = [gids.draw(random_picture(slot)) for slot in range(6)]
        for buffer in kept * 5:
            window.show(buffer)
        display.wait_role("live")
        for height in (HEIGHT, 60, HEIGHT):
            shm = ShmBuffers(connection, WIDTH, height)
            window.show(shm.draw(random_picture(1, WIDTH, height)))
            if height != HEIGHT:  # a busy module looks at the newest picture alone
                window.wait_lost("refused_content")
        window.show(kept[0])
        kept[0]("destroy")
        connection.roundtrip()
        window.show(kept[1])
        child = window.compositor("create_surface")
        connection.bind("wl_subcompositor")("get_subsurface", child, window.surface)
        window.commit()
        child("destroy")
        child = window.compositor("create_surface")
        link = connection.bind("wl_subcompositor")("get_subsurface", child, window.surface)
        child("attach", ShmBuffers(connection, 64, 32).draw(random_picture(1, 64, 32)), 0, 0)
        child("commit")
        window.show(kept[2])
        display.wait_role("live")
        link("destroy")
        connection.roundtrip()
        child("destroy")
        window.show(None)
        display.wait_role("lost", "hidden")
        window.safety("destroy")
        other = Window(connection)
        safety = other.take_role()
        other.show(kept[2])
        display.wait_role("live")
        other.toplevel("destroy")
        display.wait_role("lost", "hidden")
        other.surface("destroy")
        connection.roundtrip()
        safety("destroy")
        window.take_role()
        window.show(kept[3])
        display.wait_role("live")
        cockpit.kill("open")
        window.show(kept[4])
        forwarding.weston.wait_log("went away")
        cockpit.restart("open")

        number = gids.gids[0] >> 32 & 0xFFFFFF  # of its slab

        def owner_is_back() -> bool:
            owner.call("dispatch")
            slabs = cockpit.status("open")["slabs"]
            return any(slab["gid"].startswith(f"1:{number}.") for slab in slabs)

        wait_for(owner_is_back, "slabs to be known again")
        window.show(kept[5])
        display.wait_role("live")
        owner.call("destroy", gids.slab, True)
        window.wait_lost("refused_memory")
        more = GidBuffers(connection, owner, cockpit.folder)
        window.show(more.draw(random_picture(7)))
        window.show(more.draw(random_picture(8)))
        display.program.kill()
        window.wait_lost("gone")
        assert forwarding.weston.stop() == 0


def ordinary_windows_come_and_go(forwarding: Forwarding) -> None:
    place = (LIBGID, forwarding.cockpit.socket("cluster"), "map", "open")
    with (
        StreamReader(*place) as reader,
        forwarding.connection() as first,
        forwarding.connection() as second,
    ):
        window, next_one = Window(first, MAP), Window(second, MAP)
        for one, seed in ((window, 1), (next_one, 2)):
            one.show(ShmBuffers(one.connection).draw(random_picture(seed)))
        reader.wait_picture(random_picture(1)[..., ::-1])
        window.show(None)
        reader.wait_picture(random_picture(2)[..., ::-1])
        for height in range(1, HEIGHT):
            shm = ShmBuffers(second, WIDTH, height)
            next_one.attach(shm.draw(random_picture(1, WIDTH, height)))
            next_one.surface("commit")
        next_one.toplevel("set_app_id", "org.example.other")
        next_one.commit()
        window.show(ShmBuffers(first).draw(random_picture(3)))
        reader.wait_picture(random_picture(3)[..., ::-1])
        next_one.toplevel("set_app_id", MAP)
        next_one.show(ShmBuffers(second).draw(random_picture(4)))
        first.close()
        reader.wait_picture(random_picture(4)[..., ::-1])


def test_valgrind_finds_nothing(cockpit: Cockpit) -> None:
    """Of roles and of ordinary windows, in one Weston."""
    report = cockpit.folder / "valgrind.xml"
    forwarding = Forwarding(cockpit, ROLE + WINDOW, under=[*VALGRIND, f"--xml-file={report}"])
    ordinary_windows_come_and_go(forwarding)
    live_through_everything(forwarding)
    assert complaints(report) == []
