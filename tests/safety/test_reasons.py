# SPDX-License-Identifier: MIT
"""Why the frames of a safety surface do not arrive, as its client and Weston's log are told."""

import pytest
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.display import start_telltale
from lib.forwarding import Forwarding, Window
from lib.program import BUILD, Program, wait_for

FORBIDDEN = DEFAULT_CONFIG.replace("local=*", "local=movie").replace("streams=*", "streams=movie")


@pytest.mark.cockpit(FORBIDDEN)
def test_a_stream_that_the_configuration_does_not_allow(cockpit: Cockpit) -> None:
    forwarding = Forwarding(cockpit)
    with forwarding.connection() as connection:
        window = Window(connection)
        window.take_role()
        window.wait_lost("not_allowed")
    assert "has no stream safety/telltale" in forwarding.weston.read_log()


def test_a_stream_that_has_a_producer_already(cockpit: Cockpit) -> None:
    telltale = start_telltale(cockpit)
    wait_for(lambda: cockpit.status("open")["streams"], "its stream")
    forwarding = Forwarding(cockpit)
    with forwarding.connection() as connection:
        window = Window(connection)
        window.take_role()
        window.wait_lost("taken")
        log = forwarding.weston.read_log()
        assert f"(pid {telltale.pid}" in log, "who has it"
        telltale.stop()
        window.wait_lost("waiting")


def test_a_program_that_is_not_named_hears_which_compositor_answered(cockpit: Cockpit) -> None:
    forwarding = Forwarding(cockpit, "[gid-safety]\nrole=telltale\nclients=/bin/false\n")
    telltale = forwarding.telltale()
    assert telltale.wait() != 0
    assert f"process {forwarding.weston.program.pid})" in telltale.stderr
    assert str((BUILD / "clients" / "gid-telltale").resolve()) in telltale.stderr


def test_sockets_are_named_where_the_display_is_none(cockpit: Cockpit) -> None:
    forwarding = Forwarding(cockpit)
    env = forwarding.weston.environment | {"WAYLAND_DISPLAY": "wayland-none"}
    command = [BUILD / "clients" / "gid-view", "--stream", "movie"]
    view = Program(command, env, cockpit.folder)
    assert view.wait() != 0
    assert "wayland-none" in view.stderr
    assert "there is: " in view.stderr
    assert forwarding.weston.socket.name in view.stderr
