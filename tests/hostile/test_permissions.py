# SPDX-License-Identifier: MIT
"""What the configuration lets the programs of a user do inside a domain."""

import os
import pwd
from collections.abc import Callable

import pytest
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.gidwire import REPORT, RESULT, STATUS, Connection, Export, gid, memfd
from lib.outcome import NO_STREAM, UNREADABLE, number
from reloading import reload_well

MakeCockpit = Callable[..., Cockpit]

ME = pwd.getpwuid(os.getuid()).pw_name
STRANGER = "nobody" if ME != "nobody" else "daemon"
REFUSED = (
    "the cockpit's configuration does not let user %s publish stream %s: see publish= of "
    "[client open …]"
)


def start(make_cockpit: MakeCockpit, sections: str) -> Cockpit:
    cockpit = make_cockpit(DEFAULT_CONFIG + sections)
    cockpit.start("open")
    return cockpit


def publishes(connection: Connection, name: str) -> bool:
    error, _, words = connection.publish(name)
    refused = [(number("EPERM"), REFUSED % (user, name)) for user in (ME, os.getuid())]
    assert (error, words) in [(0, ""), *refused]
    return error == 0


@pytest.mark.parametrize("me", [ME, str(os.getuid()), "*"])
def test_streams_of_a_user(make_cockpit: MakeCockpit, me: str) -> None:
    """By its name, its number, or as one of all others; a section for oneself counts first."""
    others = "" if me == "*" else "[client open *]\npublish=movie\n"
    cockpit = start(make_cockpit, f"{others}[client open {me}]\npublish=safety/* camera/rear\n")
    with cockpit.connect("open") as connection:
        assert publishes(connection, "safety/telltale")
        assert publishes(connection, "camera/rear")
        assert not publishes(connection, "movie")


def test_who_is_not_there(make_cockpit: MakeCockpit) -> None:
    """It is told, and such a section is nobody's."""
    names = ("is-not-there", "4294967295", "99999999999999999999999")
    sections = [f"[client open {name}]\npublish=\n" for name in names]
    cockpit = start(make_cockpit, "".join(sections))
    for name in names:
        cockpit.wait_log("open", f"[client open {name}]: there is no such user")
    with cockpit.connect("open") as connection:
        assert publishes(connection, "movie")


def test_sections_of_others_change_nothing(make_cockpit: MakeCockpit) -> None:
    sections = f"[client open {STRANGER}]\npublish=\nimport=off\nstatus=off\n"
    cockpit = start(make_cockpit, f"{sections}[client cluster *]\npublish=\nstatus=off\n")
    with cockpit.connect("open") as connection:
        assert publishes(connection, "movie")
        assert connection.status()["domain"] == "open"


def test_who_may_publish_nothing(make_cockpit: MakeCockpit) -> None:
    cockpit = start(make_cockpit, "[client open *]\npublish=\n")
    with cockpit.connect("open") as connection:
        assert not publishes(connection, "movie")


def test_what_the_domain_may_not_publish_no_user_may(make_cockpit: MakeCockpit) -> None:
    config = DEFAULT_CONFIG.replace("local=*\n", "").replace("streams=*", "streams=movie")
    cockpit = make_cockpit(config + f"[client open {ME}]\npublish=*\n")
    cockpit.start("open")
    with cockpit.connect("open") as connection:
        assert publishes(connection, "movie")
        assert connection.publish("camera")[0] == number("EPERM")


def test_who_may_import_nothing(make_cockpit: MakeCockpit) -> None:
    """Of other domains: in the words that tell nothing of what there is."""
    cockpit = make_cockpit(DEFAULT_CONFIG + "[client cluster *]\nimport=off\n")
    cockpit.start_all()
    with cockpit.connect("open") as owner, cockpit.connect("cluster") as reader:
        slab = owner.export_new()
        assert owner.grant(slab, 2)[0] == 0 and owner.publish("movie")[0] == 0
        assert Connection.result(reader.import_(gid(1, slab))) == (
            number("ENOENT"),
            0,
            UNREADABLE,
        )
        assert reader.subscribe(1, "movie", "open") == (number("ENOENT"), 0, NO_STREAM)
        own = reader.export_new()
        reader.import_(gid(2, own)).close()
        assert reader.publish("film")[0] == 0
        assert reader.subscribe(1, "film")[0] == 0


def test_sections_hold_for_what_comes_next(make_cockpit: MakeCockpit) -> None:
    """What a user has when the configuration is read again stays, also beyond a lower limit."""
    cockpit = start(make_cockpit, "[client open *]\n")
    with cockpit.connect("open") as one, cockpit.connect("open") as two:
        kept = [one.export_new() for _ in range(3)]
        assert publishes(one, "movie")
        less = f"[client open {ME}]\npublish=camera/*\nslabs=2\nstreams=1\nclients=1\n"
        reload_well(cockpit, DEFAULT_CONFIG + less, "open")
        assert one.events == [] and two.events == []
        words = f"of user {ME} (its programs have 3)"
        fd = memfd(4096)
        error, _, why = two.export(Export(generations=0), fd)
        os.close(fd)
        assert (error, why) == (number("EDQUOT"), f"over the limit slabs=2 {words}")
        assert not publishes(two, "movie")
        assert two.publish("camera/rear")[0] == number("EDQUOT")
        third = Connection(cockpit.socket("open"), hello=False)
        assert Connection.result(third.receive())[0] == number("EDQUOT")
        third.close()
        assert [stream["name"] for stream in one.status()["streams"]] == ["movie"]
        for slab in kept[:2]:
            one.unexport(slab)
        two.export_new()
        reload_well(cockpit, DEFAULT_CONFIG, "open")  # else nobody can look at how it ends


def test_who_may_not_look(make_cockpit: MakeCockpit) -> None:
    cockpit = start(make_cockpit, "[client open *]\nstatus=off\n")
    with cockpit.connect("open") as connection:
        answer = connection.request(STATUS)
        me = os.getuid()
        words = f"the cockpit's configuration does not let user {me} ask for a report: status=off"
        assert answer.type == RESULT
        assert Connection.result(answer) == (number("EPERM"), 0, words)
        # From the next reading on it may.
        reload_well(cockpit, DEFAULT_CONFIG, "open")
        answer = connection.request(STATUS)
        assert answer.type == REPORT
        answer.close()


OPEN, CLOSED = "[client open *]\npublish=movie safety/x\n", "[client open *]\npublish=movie\n"
LISTED = DEFAULT_CONFIG.replace("local=*\n", "").replace("streams=*", "streams=movie safety/x")


@pytest.mark.parametrize(
    ("config", "is_open"),
    [
        (DEFAULT_CONFIG, True),
        (DEFAULT_CONFIG + OPEN, True),
        (DEFAULT_CONFIG + CLOSED, False),
        (DEFAULT_CONFIG + f"[client open {ME}]\npublish=safety/*\n", True),
        (LISTED, True),
        (LISTED + CLOSED, False),
        (LISTED.replace(" safety/x", " my/safety/x"), False),
    ],
)
def test_it_is_told_where_anybody_may_be_a_telltale(
    make_cockpit: MakeCockpit, config: str, is_open: bool
) -> None:
    cockpit = make_cockpit(config)
    cockpit.start("open")
    assert cockpit.status("open")["safety_is_open"] == is_open
