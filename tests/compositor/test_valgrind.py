# SPDX-License-Identifier: MIT
"""Weston under valgrind: the module touches no memory that is gone, and loses none."""

import random
import signal

from lib.program import wait_for
from lib.session import Session
from lib.valgrind import VALGRIND, complaints
from lib.weston import HEIGHT, WIDTH, XRGB8888
from test_robust import cut_hidden_client, play


def live_through_everything(session: Session) -> None:
    slab, doomed = session.slab(slots=4), session.slab(slots=4)
    with session.client() as client:
        client.open_window()
        feedback = client.manager("get_feedback")
        _, first = client.create(slab.gids[0])
        client.show(first)
        # Params that go before, while and after their buffer is made; and the other way round.
        with session.stopped_gidd():
            for gid in doomed.gids:
                params = client.params(gid, WIDTH * 4)
                params("create", WIDTH, HEIGHT, XRGB8888)
                params("destroy")
                params, _ = client.create_immed(gid)
                params("destroy")
                params, buffer = client.create_immed(gid)
                buffer("destroy")
                client.create_immed(gid)
            client.display.roundtrip()
        params, buffer = client.create(doomed.gids[0])
        client.show(buffer)
        params("destroy")
        _, buffer = client.create(doomed.gids[1])
        buffer("destroy")
        params, unshown = client.create(doomed.gids[3])
        session.owner.call("destroy", doomed.index, False)
        params.wait("revoked")
        unshown("destroy")
        feedback.wait("done")
        client.create(doomed.gids[2])
        feedback("destroy")
        play(session, random.Random(1), slab, clients=40)
        cut_hidden_client(session)
        client.create_immed(slab.gids[1])
        session.cockpit.gidds["cluster"].signal(signal.SIGSTOP)
        client.create_immed((1 << 56) | (77 << 32))
        client.display.roundtrip()
        session.cockpit.kill("cluster")
        session.weston.wait_log("went away")
        session.cockpit.start("cluster")
        session.cockpit.wait_links()
        wait_for(lambda: client.create(slab.gids[2])[1], "gidd to be back")
        with session.stopped_gidd():
            client.create_immed((1 << 56) | (78 << 32))
            client.display.roundtrip()
            assert session.weston.stop() == 0


def test_valgrind_finds_nothing(session: Session) -> None:
    session.weston.stop()
    report = session.folder / "valgrind.xml"
    session.weston.start(under=[*VALGRIND, f"--xml-file={report}"])
    live_through_everything(session)
    assert complaints(report) == []
