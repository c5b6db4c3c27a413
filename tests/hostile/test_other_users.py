# SPDX-License-Identifier: MIT
"""What programs of one user leave for those of others."""

import os
import pwd
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from gid_vm.preload import Preload
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.gidwire import WAIT, Connection, Export, memfd
from lib.outcome import number
from lib.program import BUILD
from reloading import reload_well

ASKED_NAMES = BUILD / "tests/lib/programs/asked_names.so"
OTHER_USER = BUILD / "tests/lib/programs/other_user.so"
FEW = "[domain open]\nnumber=1\nlocal=*\n[client open *]\n"
SIX = "[domain open]\nnumber=1\nlocal=*\nclients=6\n"


def start(make_cockpit: Callable[..., Cockpit], config: str) -> tuple[Cockpit, Path]:
    """While there is that file, who comes is another user's program."""
    cockpit = make_cockpit(config)
    preload, others = Preload(OTHER_USER), cockpit.folder / "others"
    settings = preload.env | {"OTHER_PEERS": str(others)}
    cockpit.start("open", ["env", *(f"{name}={value}" for name, value in settings.items())])
    preload.check("gidd")
    return cockpit, others


def test_connections(make_cockpit: Callable[..., Cockpit]) -> None:
    """Who has more than half of all loses the newest to a program of another user."""
    cockpit, others = start(make_cockpit, SIX)
    with ExitStack() as stack:
        greedy = [stack.enter_context(cockpit.connect("open")) for _ in range(6)]
        others.touch()
        honest = []
        for loser in reversed(greedy[3:]):
            honest.append(stack.enter_context(cockpit.connect("open")))
            loser.wait_closed()
        for number_, one in enumerate((*greedy[:3], *honest)):
            assert one.publish(f"stream-{number_}")[0] == 0
        seventh = Connection(cockpit.socket("open"), hello=False)
        assert Connection.result(seventh.receive())[0] == number("EDQUOT")
        seventh.close()
        others.unlink()
    cockpit.wait_log("open", "its user has more than half of clients=6")


def test_connections_by_the_configuration(make_cockpit: Callable[..., Cockpit]) -> None:
    cockpit, others = start(make_cockpit, FEW + "clients=2\n")
    with cockpit.connect("open"), cockpit.connect("open"):
        third = Connection(cockpit.socket("open"), hello=False)
        error, _, words = Connection.result(third.receive())
        third.close()
        assert error == number("EDQUOT") and words.startswith("over the limit clients=2 of user ")
        others.touch()
        cockpit.connect("open").close()
        others.unlink()


LIMITS = "memory=8K\nslabs=3\nstreams=2\nsubscriptions=2\nheld=5\n"


def test_what_all_programs_of_a_user_have(make_cockpit: Callable[..., Cockpit]) -> None:
    """However many there are; those of another user have as much."""
    cockpit, others = start(make_cockpit, FEW + LIMITS)
    fd = memfd(4096)
    for user in ("own", "other"):
        with cockpit.connect("open") as one, cockpit.connect("open") as two:

            def is_over(limit: str, answer: tuple[int, int, str]) -> bool:
                return answer[0] == number("EDQUOT") and f"over the limit {limit} " in answer[2]

            slabs = [each.export(Export(generations=0), fd) for each in (one, two)]
            assert [error for error, _, _ in slabs] == [0, 0]
            assert is_over("memory=8192 of user", two.export(Export(generations=0), fd))
            assert [each.publish(f"{user}-{each is one}")[0] for each in (one, two)] == [0, 0]
            assert is_over("streams=2 of user", one.publish("third"))
            assert one.subscribe(1, "movie", credit=4, flags=WAIT)[0] == 0
            assert is_over("held=5 of user", two.subscribe(1, "movie", credit=2, flags=WAIT))
            assert two.subscribe(1, "movie", credit=1, flags=WAIT)[0] == 0
            assert is_over("subscriptions=2 of user", one.subscribe(2, "movie", flags=WAIT))
            one.unexport(slabs[0][1])
            assert two.export(Export(generations=0), fd)[0] == 0
        others.touch()
    os.close(fd)
    others.unlink()


def test_names_are_asked_for_once(make_cockpit: Callable[..., Cockpit]) -> None:
    """By who reads the configuration, and not by who connects: a server may take its time."""
    me = pwd.getpwuid(os.getuid()).pw_name
    config = f"{DEFAULT_CONFIG}[client open {me}]\npublish=safety/*\nclients=9\n"
    cockpit = make_cockpit(f"{config}[client open *]\npublish=movie\n")
    asked, preload = cockpit.folder / "asked", Preload(ASKED_NAMES)
    asked.touch()
    env = {**preload.env, "ASKED_NAMES": str(asked)}
    cockpit.start("open", ["env", *(f"{name}={value}" for name, value in env.items())])
    preload.check("gidd")
    before = asked.read_text().splitlines()
    for _ in range(3):
        with cockpit.connect("open") as connection:
            assert connection.publish("safety/telltale")[0] == 0
            assert connection.publish("movie")[0] == number("EPERM")
            assert connection.status()["domain"] == "open"
    assert asked.read_text().splitlines() == before
    assert before.count(f"getpwnam {me}") == 1
    reload_well(cockpit, cockpit.config_path.read_text(), "open")
    assert asked.read_text().splitlines() == [*before, f"getpwnam {me}"]
    with cockpit.connect("open") as connection:
        assert connection.publish("safety/telltale")[0] == 0
        assert connection.publish("movie")[0] == number("EPERM")
