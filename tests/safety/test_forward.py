# SPDX-License-Identifier: MIT
"""Safety surfaces of a real Weston in `open`, on the display of `cluster`."""

import json
import re
import signal
import struct
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.company import waited_ms
from lib.display import (
    HEIGHT,
    WIDTH,
    Display,
    snap_telltale,
    start_telltale,
    telltale_picture,
    with_deadline,
)
from lib.display import ROLE as ROLE_SHOWN
from lib.forwarding import GID_VIEW, PYTHON, ROLE, Forwarding, ShmBuffers, Window, random_picture
from lib.keys import CMAC, IS_WHOLE, KEY, write_key
from lib.program import BUILD, Program, wait_for
from lib.stream_reader import StreamReader, keeper
from lib.weston import Weston

from lab.domains.wayland import ProtocolError

LAMP = "org.example.lamp"
# Of a client that hangs.
CLIENT_MS, HANG_DEADLINE_MS = 300, 200
FLOOD_DEADLINE_MS = 200
BY_APP_ID = f"[gid-safety]\nrole=telltale\napp-id={LAMP}\nsize={WIDTH}x{HEIGHT}\nclient-ms=0\n"
BY_APP_ID += "lease-ms=60000\n"
CAMERA = f"[gid-safety]\nrole=telltale\nclients={GID_VIEW}\nlease-ms=60000\n"

STOPPED = 0.5  # seconds
SIGNS = 0.2  # seconds, in which several signs of life are due
LEASES = 80  # signs of life, one each 50 ms: more than three leases of a second

TWO_ROLES = ROLE + f"[gid-safety]\nrole=other\nclients={PYTHON}\n"


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
    # The first entry of the stream is no frame: it says that there is nothing to be shown yet.
    assert 0 < report["sequence"] <= forwarding.counts()["frames"] + 1


def test_every_state_follows(forwarding: Forwarding) -> None:
    """Fast changes: each frame is right, none is refused."""
    forwarding.telltale("--cycle", "40")
    display = forwarding.display
    display.wait_role("live")
    wait_for(lambda: display.role()["shown_frames"] > 60, "many changes")
    assert [t["reason"] for t in display.role()["transitions"]] == ["none"]


def test_a_camera_that_gid_view_shows(cockpit: Cockpit) -> None:
    """Another program's stream of the domain goes on from the memory it was drawn into."""
    forwarding = Forwarding(cockpit, CAMERA)
    camera = start_telltale(cockpit, "--stream", "camera/rear", "--state", "7")
    forwarding.client([GID_VIEW, "--stream", "camera/rear", "--role", "telltale"])
    wait_region(forwarding, telltale_picture(cockpit.folder, 7))
    camera.signal(signal.SIGUSR1)
    wait_region(forwarding, telltale_picture(cockpit.folder, 8))
    forwarding.display.wait_role("live")
    assert forwarding.counts()["copied_frames"] == 0
    assert camera.stop() == 0


def test_a_still_camera(cockpit: Cockpit) -> None:
    """One picture that is sent again and again stays, however long: nobody takes it back."""
    forwarding = Forwarding(cockpit, CAMERA)
    camera = start_telltale(cockpit, "--stream", "camera/rear", "--state", "7")
    forwarding.client([GID_VIEW, "--stream", "camera/rear", "--role", "telltale"])
    forwarding.display.wait_role("live")
    frames = forwarding.counts()["frames"]
    wait_for(lambda: forwarding.counts()["frames"] > frames + LEASES, "signs of life")
    role = forwarding.display.role()
    assert (role["state"], role["transition_count"]) == ("live", 1), role["transitions"]
    assert camera.stop() == 0


def test_who_comes_late_to_a_still_surface_sees_it(cockpit: Cockpit) -> None:
    """As long as its client lives: nobody gets a picture that no one answers for."""
    forwarding = Forwarding(cockpit, ROLE + "heartbeat-ms=600000\n")
    telltale = forwarding.telltale("--state", "5")
    for _ in range(2):
        assert numpy.array_equal(snap_telltale(cockpit), telltale_picture(cockpit.folder, 5))
    assert telltale.stop() == 0


def test_readers_that_keep_all(cockpit: Cockpit) -> None:
    """And say all the time that they live: the surface's client gets its buffers back."""
    forwarding = Forwarding(cockpit, ROLE.replace("lease-ms=60000", "lease-ms=1000"))
    telltale = forwarding.telltale("--state", "1")
    forwarding.display.wait_role("live")
    with ExitStack() as stack:
        for state in range(2, 12):  # more than the client has buffers for
            if state < 5:  # each keeps others
                place = (cockpit.socket("cluster"), "safety/telltale", "open")
                stack.enter_context(keeper(BUILD / "libgid" / "libgid.so", *place))
            telltale.signal(signal.SIGUSR1)
            wait_region(forwarding, telltale_picture(cockpit.folder, state))


def change_to_light(forwarding: Forwarding, changes: int) -> tuple[list[float], list[float]]:
    """How long each commit of a change took, in ms, and what all waited for others meanwhile. When
    it was shown is in the display's latencies."""
    display = forwarding.display
    with forwarding.connection() as connection:
        window = Window(connection)
        window.take_role()
        buffers = ShmBuffers(connection)
        pictures = [buffers.draw(random_picture(seed)) for seed in range(8)]
        window.show(pictures[0])
        display.wait_role("live")
        seen = display.role()["shown_frames"]
        commits, waits = [], []
        programs = (*forwarding.cockpit.gidds.values(), forwarding.weston.program, display.program)
        for change in range(1, changes + 1):
            before = waited_ms(*programs)
            started = time.monotonic()
            window.show(pictures[change % 8])  # Weston has sent it when this returns
            commits.append((time.monotonic() - started) * 1e3)
            wait_for(
                lambda change=change: display.role()["shown_frames"] >= seen + change,
                "the change",
                pause=0.005,
            )
            waits.append(waited_ms(*programs) - before)
    return commits, waits


def test_from_change_to_light(forwarding: Forwarding) -> None:
    """What is shown has its latency. How long that may be is asked by test_times.py."""
    commits, _ = change_to_light(forwarding, changes=50)
    role = forwarding.display.role()
    assert len(commits) == 50
    assert 0 < role["latency_count"] <= role["shown_frames"]
    assert 0 < role["latency_p50_ns"] <= role["latency_p99_ns"]


def test_a_weston_that_is_late_is_late_for_its_client(forwarding: Forwarding) -> None:
    """What it makes its client wait is not seen by who is sent the picture."""
    telltale = forwarding.telltale("--state", "5")
    display, weston = forwarding.display, forwarding.weston.program
    display.wait_role("live")
    shown = display.role()["shown_frames"]
    turns = times_slept(telltale)
    weston.signal(signal.SIGSTOP)
    try:
        telltale.signal(signal.SIGUSR1)
        wait_for(lambda: times_slept(telltale) > turns, "the telltale to have committed")
        time.sleep(STOPPED)
    finally:
        weston.signal(signal.SIGCONT)
    wait_for(lambda: display.role()["shown_frames"] > shown, "the change")
    role = display.role()
    assert role["capture_latency_count"] == role["latency_count"]
    assert role["capture_latency_max_ns"] >= role["latency_max_ns"] > 0
    assert telltale.stop() == 0
    report = json.loads(telltale.stdout)
    assert report["commits"] >= 2 and report["commit_max_us"] >= STOPPED * 1e6


def test_no_picture_is_repeated_while_a_commit_waits(forwarding: Forwarding) -> None:
    """However late Weston is: what comes from it then is the new picture, though its timer is over,
    which most often comes before what its clients sent.
    """
    telltale = forwarding.telltale("--state", "0")
    forwarding.display.wait_role("live")
    cockpit, weston = forwarding.cockpit, forwarding.weston.program
    place = (BUILD / "libgid" / "libgid.so", cockpit.socket("cluster"), "safety/telltale", "open")
    with StreamReader(*place) as reader:
        for state in range(1, 11):
            reader.next()
            weston.signal(signal.SIGSTOP)
            try:
                with pytest.raises(TimeoutError):
                    while True:
                        reader.next(SIGNS)  # what came before
                turns = times_slept(telltale)  # which nobody wakes now
                telltale.signal(signal.SIGUSR1)
                wait_for(lambda turns=turns: times_slept(telltale) > turns, "a commit")
            finally:
                weston.signal(signal.SIGCONT)
            new = telltale_picture(cockpit.folder, state)[..., ::-1]
            assert numpy.array_equal(reader.next().pixels, new), state


def test_a_client_that_sends_more_than_is_read(cockpit: Cockpit) -> None:
    """Its last picture is no sign of its life: what it shows now may be another one."""
    forwarding = Forwarding(cockpit, deadline_ms=FLOOD_DEADLINE_MS)
    display = forwarding.display
    with forwarding.connection() as connection:
        window = Window(connection)
        window.take_role()
        window.show(ShmBuffers(connection).draw(random_picture(1)))
        display.wait_transition("none")
        damage = struct.pack("=2I4i", window.surface.number, 24 << 16 | 2, 0, 0, 1, 1)
        ends = threading.Event()

        def flood() -> None:
            while not ends.is_set():
                connection.socket.sendall(damage * 1000)

        sender = threading.Thread(target=flood)
        sender.start()
        try:
            display.wait_transition("deadline")
        finally:
            ends.set()
            sender.join()
        connection.roundtrip()
        display.wait_role("live")


def times_slept(program: Program) -> int:
    status = Path(f"/proc/{program.pid}/status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\t(\d+)", status, re.M)[1])


def protected(folder: Path, profile: str, digits: str = KEY) -> str:
    """For both ends."""
    key = f"protection-key={write_key(folder, digits)}\n" if profile == "cmac" else ""
    return f"protection={profile}\n{key}"


@pytest.mark.parametrize("profile", ["crc64", CMAC])
def test_protected(cockpit: Cockpit, profile: str) -> None:
    """From Weston to the display: pictures that are lent, that change and that stand still, and
    those that are copied.
    """
    how = protected(cockpit.folder, profile)
    forwarding = Forwarding(cockpit, ROLE + how, roles=with_deadline(10000) + how)
    display = forwarding.display
    telltale = forwarding.telltale("--cycle", "40")
    display.wait_role("live")
    wait_for(lambda: display.role()["shown_frames"] > 20, "changes")
    assert telltale.stop() == 0
    with forwarding.connection() as connection:
        window, buffers = Window(connection), ShmBuffers(connection)
        window.take_role()
        for seed in range(3):
            window.show(buffers.draw(random_picture(seed)))
            wait_region(forwarding, random_picture(seed))
        frames = display.role()["frames"]
        wait_for(lambda: display.role()["frames"] > frames + 20, "signs of life")
        display.wait_role("live")
    reasons = {change["reason"] for change in display.role()["transitions"]}
    assert reasons <= {"none", "hidden"}, reasons


@pytest.mark.skipif(not IS_WHOLE, reason="built without nettle or liblzma")
@pytest.mark.parametrize(
    ("profile", "digits", "reason"),
    [("none", "", "no-check"), ("crc64", "", "no-check"), ("cmac", "0" * 32, "check-mismatch")],
)
def test_protected_otherwise(cockpit: Cockpit, profile: str, digits: str, reason: str) -> None:
    """Nothing of it is shown."""
    display = Display(cockpit, ROLE_SHOWN + protected(cockpit.folder, "cmac"))
    config = ROLE + protected(cockpit.folder, profile, digits)
    Forwarding(cockpit, config, display=display).telltale("--cycle", "40")
    display.wait_transition(reason)
    wait_for(lambda: display.role()["frames"] > 5, "more frames")
    assert display.role()["shown_frames"] == 0


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("protection=crc32\n", "protection must be none, crc64 or cmac"),
        ("protection=cmac\n", "protection=cmac needs protection-key="),
        ("protection-key=lamp.key\n", "protection-key= is for protection=cmac alone"),
        ("protection=cmac\nprotection-key=/nowhere\n", "protection-key=/nowhere: No such file"),
        ("protection=cmac\nprotection-key=/dev/null\n", "others may read or write it: chmod 600"),
    ],
)
def test_mistakes_of_protection(cockpit: Cockpit, keys: str, said: str) -> None:
    weston = Weston(cockpit.folder, cockpit.env("open"))
    weston.configure(ROLE + keys)
    assert weston.launch().wait() != 0
    assert said in weston.read_log()


@pytest.mark.parametrize("way", ["hidden", "no window", "closed"])
def test_nothing_to_show(cockpit: Cockpit, way: str) -> None:
    forwarding = Forwarding(cockpit, BY_APP_ID)
    with forwarding.connection() as connection:
        window = Window(connection, LAMP)
        window.show(ShmBuffers(connection).draw(random_picture(1)))
        forwarding.display.wait_role("live")
        match way:
            case "hidden":
                window.show(None)
            case "no window":
                window.toplevel("destroy")  # and the surface is there still
                connection.roundtrip()
            case _:
                connection.close()
        assert forwarding.display.wait_role("lost", "hidden")["shows"] == "fallback"


def test_shown_again(cockpit: Cockpit) -> None:
    """What was away is copied once more, and not twice."""
    forwarding = Forwarding(cockpit, BY_APP_ID)
    with forwarding.connection() as connection:
        window, buffers = Window(connection, LAMP), ShmBuffers(connection)
        window.show(buffers.draw(random_picture(1)))
        wait_region(forwarding, random_picture(1))  # memory for copies comes by itself
        window.show(None)
        window.show(buffers.draw(random_picture(2)))
        wait_region(forwarding, random_picture(2))
        assert forwarding.counts()["copied_frames"] == 2


def test_ordinary_client_by_app_id(cockpit: Cockpit) -> None:
    """It knows nothing of roles: its surface's pictures are copied once each, and counted."""
    forwarding = Forwarding(cockpit, BY_APP_ID)
    with forwarding.connection() as connection:
        window, buffers = Window(connection, LAMP), ShmBuffers(connection)
        for seed in range(5):
            window.show(buffers.draw(random_picture(seed)))
            wait_region(forwarding, random_picture(seed))
        forwarding.display.wait_role("live")
        counts = forwarding.counts()
        assert counts["copied_frames"] == 5
        assert counts["copied_bytes"] == 5 * WIDTH * HEIGHT * 4
        assert counts["frames"] > 5, "signs of life are not copied"


def test_a_first_picture_while_gidd_is_away(cockpit: Cockpit) -> None:
    """There is no memory for its copy then. Its client may never draw another one."""
    forwarding = Forwarding(cockpit, BY_APP_ID)
    with forwarding.connection() as connection:
        window, buffers = Window(connection, LAMP), ShmBuffers(connection)
        forwarding.weston.wait_log("is published")
        cockpit.kill("open")
        window.show(buffers.draw(random_picture(1)))
        cockpit.restart("open")
        wait_region(forwarding, random_picture(1))
        forwarding.display.wait_role("live")


def test_others_by_app_id_get_nothing(cockpit: Cockpit) -> None:
    forwarding = Forwarding(cockpit, BY_APP_ID)
    with forwarding.connection() as connection:
        buffers = ShmBuffers(connection)
        for seed, app_id in ((1, "org.example.other"), (2, LAMP), (3, LAMP)):
            Window(connection, app_id).show(buffers.draw(random_picture(seed)))
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
def test_mistakes(cockpit: Cockpit, case: str) -> None:
    forwarding = Forwarding(cockpit, TWO_ROLES)
    with forwarding.connection() as connection:
        manager = connection.bind("gid_safety_manager_v1")
        compositor = connection.bind("wl_compositor", 4)
        assert manager.wait("role") == ("telltale", WIDTH, HEIGHT)
        assert manager.wait("role") == ("other", 0, 0)
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


def hang_times(cockpit: Cockpit, hangs: int) -> tuple[list[float], list[float]]:
    """A client that hangs, again and again: how long it took each time to the fallback, in ms; and
    the same without what all waited for others. A picture is not repeated for it, and is again when
    it goes on.
    """
    forwarding = Forwarding(
        cockpit, ROLE.replace("client-ms=0", f"client-ms={CLIENT_MS}"), deadline_ms=HANG_DEADLINE_MS
    )
    telltale, display = forwarding.telltale(), forwarding.display
    programs = (display.program, forwarding.weston.program, telltale)
    times, own = [], []
    for _ in range(hangs):
        count = display.wait_role("live")["transition_count"]
        before, hung = waited_ms(*programs), time.monotonic_ns()
        telltale.signal(signal.SIGSTOP)
        role = display.wait_role("late", "deadline")
        assert role["shows"] == "fallback"
        waited = waited_ms(*programs) - before
        fall = next(one for one in role["transitions"] if one["number"] == count + 1)
        times.append((fall["shown_ns"] - hung) / 1e6)
        own.append(times[-1] - waited)
        forwarding.weston.wait_log("does not read its events")
        telltale.signal(signal.SIGCONT)
    display.wait_role("live")
    return times, own


def test_client_hangs(cockpit: Cockpit) -> None:
    """Each time the fallback is there; how soon is asked by test_times.py."""
    times, _ = hang_times(cockpit, hangs=2)
    assert min(times) > 0


def test_ordinary_client_hangs(cockpit: Cockpit) -> None:
    """The same of one that knows nothing of roles: this test, which does not read."""
    forwarding = Forwarding(
        cockpit, BY_APP_ID.replace("client-ms=0", "client-ms=3000"), deadline_ms=200
    )
    display = forwarding.display
    with forwarding.connection() as connection:
        window = Window(connection, LAMP)
        window.show(ShmBuffers(connection).draw(random_picture(1)))
        display.wait_transition("none")
        display.wait_role("late", "deadline")

        def lives_again() -> bool:
            connection.roundtrip()
            return display.role()["state"] == "live"

        wait_for(lives_again, "the picture to be live again")


def test_stopped_while_gidd_restarts(forwarding: Forwarding) -> None:
    """For so long that Weston gives its memory up. It draws again when it is known again."""
    telltale = forwarding.telltale("--state", "3")
    forwarding.display.wait_role("live")
    telltale.signal(signal.SIGSTOP)
    forwarding.cockpit.restart("open")
    forwarding.display.wait_role("lost", "hidden")
    telltale.signal(signal.SIGCONT)
    forwarding.display.wait_role("live")
    wait_region(forwarding, telltale_picture(forwarding.cockpit.folder, 3))


def test_weston_dies(forwarding: Forwarding) -> None:
    forwarding.telltale("--state", "3")
    forwarding.display.wait_role("live")
    forwarding.weston.kill()
    assert forwarding.display.wait_role("lost")["shows"] == "fallback"
    forwarding.start_weston()
    forwarding.telltale("--state", "9")
    forwarding.display.wait_role("live")
    wait_region(forwarding, telltale_picture(forwarding.cockpit.folder, 9))
