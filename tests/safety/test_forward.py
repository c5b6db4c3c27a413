# SPDX-License-Identifier: MIT
"""Safety surfaces of a real Weston in `open`, on the display of `cluster`."""

import json
import signal

import numpy
import pytest
from cockpit import Cockpit
from display import HEIGHT, WIDTH, telltale_picture
from forwarding import PYTHON, Forwarding, ShmSurface, random_picture
from program import wait_for
from wayland import ProtocolError

BY_APP_ID = f"[gid-safety]\nrole=telltale\napp-id=org.example.lamp\nsize={WIDTH}x{HEIGHT}\n"


@pytest.fixture
def forwarding(cockpit: Cockpit) -> Forwarding:
    return Forwarding(cockpit)


def wait_region(forwarding: Forwarding, picture: numpy.ndarray) -> None:
    wait_for(lambda: numpy.array_equal(forwarding.display.region(), picture), "the picture")


def test_bit_exact_without_copies(forwarding: Forwarding) -> None:
    telltale = forwarding.telltale("--state", "5")
    role = forwarding.display.wait_role("live")
    assert role["shows"] == "frame"
    folder = forwarding.cockpit.folder
    assert numpy.array_equal(forwarding.display.region(), telltale_picture(folder, 5))
    telltale.signal(signal.SIGUSR1)
    wait_region(forwarding, telltale_picture(folder, 6))
    counts = forwarding.counts()
    assert counts["frames"] > 2
    assert counts["copied_frames"] == counts["copied_bytes"] == 0
    slabs = forwarding.cockpit.status("open")["slabs"]
    assert ["gid-telltale" in slab["owner"] for slab in slabs] == [True], "the client's memory"
    assert telltale.stop() == 0
    report = json.loads(telltale.stdout)
    assert report["shown"] > 0
    assert 0 < report["sequence"] <= forwarding.counts()["frames"]


def test_every_state_follows(forwarding: Forwarding) -> None:
    """Fast changes: each frame is right, none is refused."""
    forwarding.telltale("--cycle", "40")
    display = forwarding.display
    display.wait_role("live")
    wait_for(lambda: display.role()["shown_frames"] > 60, "many changes")
    assert [t["reason"] for t in display.role()["transitions"]] == ["none"]


@pytest.mark.parametrize("way", ["hidden", "closed"])
def test_nothing_to_show(cockpit: Cockpit, way: str) -> None:
    forwarding = Forwarding(cockpit, BY_APP_ID)
    with forwarding.connection() as connection:
        surface = ShmSurface(connection, "org.example.lamp")
        surface.show(random_picture(1))
        forwarding.display.wait_role("live")
        if way == "hidden":
            surface.hide()
        else:
            connection.close()
        assert forwarding.display.wait_role("lost", "hidden")["shows"] == "fallback"


def test_ordinary_client_by_app_id(cockpit: Cockpit) -> None:
    """It knows nothing of roles: its surface's pictures are copied once each, and counted."""
    forwarding = Forwarding(cockpit, BY_APP_ID)
    with forwarding.connection() as connection:
        surface = ShmSurface(connection, "org.example.lamp")
        for seed in range(5):
            surface.show(random_picture(seed))
            wait_region(forwarding, random_picture(seed))
        forwarding.display.wait_role("live")
        counts = forwarding.counts()
        assert counts["copied_frames"] == 5
        assert counts["copied_bytes"] == 5 * WIDTH * HEIGHT * 4
        assert counts["frames"] > 5, "signs of life are not copied"


def test_others_by_app_id_get_nothing(cockpit: Cockpit) -> None:
    forwarding = Forwarding(cockpit, BY_APP_ID)
    with forwarding.connection() as connection:
        ShmSurface(connection, "org.example.other").show(random_picture(1))
        ShmSurface(connection, "org.example.lamp").show(random_picture(2))
        ShmSurface(connection, "org.example.lamp").show(random_picture(3))
        wait_region(forwarding, random_picture(2))
        assert "has a surface for it, too" in forwarding.weston.read_log()


def test_unnamed_client_cannot_bind(cockpit: Cockpit) -> None:
    """The global does not exist for it, and a guess at its name is an error."""
    config = "[gid-safety]\nrole=telltale\nclients=/usr/bin/true\n"
    forwarding = Forwarding(cockpit, config)
    telltale = forwarding.telltale()
    assert telltale.wait() != 0
    assert "clients= in a section [gid-safety]" in telltale.stderr
    with forwarding.connection() as connection:
        assert "gid_safety_manager_v1" not in connection.globals
        names = {name for name, _ in connection.globals.values()}
        hidden = next(name for name in range(1, 1000) if name not in names)
        connection.globals["gid_safety_manager_v1"] = (hidden, 1)
        with pytest.raises(ProtocolError):
            connection.bind("gid_safety_manager_v1")
            connection.roundtrip()


def test_wrong_user_cannot_bind(cockpit: Cockpit) -> None:
    forwarding = Forwarding(cockpit, f"[gid-safety]\nrole=telltale\nclients={PYTHON}\nuser=65533\n")
    with forwarding.connection() as connection:
        assert "gid_safety_manager_v1" not in connection.globals


@pytest.mark.parametrize("case", ["role_taken", "surface_taken", "unknown_role"])
def test_mistakes(forwarding: Forwarding, case: str) -> None:
    with forwarding.connection() as connection:
        manager = connection.bind("gid_safety_manager_v1")
        compositor = connection.bind("wl_compositor", 4)
        assert manager.wait("role") == ("telltale", WIDTH, HEIGHT)
        manager.wait("done")
        surface = compositor("create_surface")
        manager("get_safety_surface", surface, "telltale")
        connection.roundtrip()
        with pytest.raises(ProtocolError) as caught:
            match case:
                case "role_taken":
                    manager("get_safety_surface", compositor("create_surface"), "telltale")
                case "surface_taken":
                    manager("get_safety_surface", surface, "other")
                case "unknown_role":
                    manager("get_safety_surface", compositor("create_surface"), "brakes")
            connection.roundtrip()
        assert caught.value.error == case
    with forwarding.connection() as connection:
        manager = connection.bind("gid_safety_manager_v1")
        surface = connection.bind("wl_compositor", 4)("create_surface")
        manager("get_safety_surface", surface, "telltale")
        connection.roundtrip()


def test_weston_dies(forwarding: Forwarding) -> None:
    forwarding.telltale("--state", "3")
    forwarding.display.wait_role("live")
    forwarding.weston.kill()
    assert forwarding.display.wait_role("lost")["shows"] == "fallback"
    forwarding.restart_weston()
    forwarding.telltale("--state", "9")
    forwarding.display.wait_role("live")
    wait_region(forwarding, telltale_picture(forwarding.cockpit.folder, 9))
