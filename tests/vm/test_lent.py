# SPDX-License-Identifier: MIT
"""Surfaces in dma-bufs of ordinary clients as safety surfaces of another domain, without a copy.

In a guest, whose kernel has udmabuf, a virtual camera and fences that any program can make. GL is
llvmpipe there. lent.py says what each scenario does.
"""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gid_vm.own_kernel import own_kernel, why_no_kernel
from guests import Running
from lib.company import IS_LONG
from lib.length import at_length_but
from lib.pipeline import make_registry
from lib.program import BUILD, python_env

pytestmark = [
    pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel())),
    pytest.mark.timeout(1800),
]

HERE = Path(__file__).parent
KILLS = os.environ.get("GIDWAY_KILLS", "1")  # the documents tell of 20
NAMES = "/run/scenarios"  # of the guest: which come next


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[str], dict]]:
    """Runs a scenario in a guest that all have in turn, and says what was seen."""
    environment = python_env() | {"GIDWAY_BUILD": str(BUILD), "GIDWAY_KILLS": KILLS}
    words = ["sh", "-c", 'mkfifo "$1" && exec python3 "$2" "$3" 0<>"$1"', "sh"]
    words += [NAMES, str(HERE / "lent.py"), str(make_registry())]
    with own_kernel("open") as guest:
        guest.run(["modprobe", "udmabuf"])  # or it is a part of the kernel
        scenarios = Running(guest.start(words, env=environment))
        scenarios.wait_lines("ready", 1)

        def scenario(name: str) -> dict:
            guest.run(["sh", "-c", f"echo {name} >{NAMES}"])
            seen = scenarios.wait_lines(name, 1)[0][name]
            assert "failed" not in seen, seen["failed"]
            return seen

        yield scenario
        scenarios.signal(signal.SIGTERM)
        scenarios.finish()


def test_a_gl_clients_picture_is_the_dmabufs_bit_by_bit(run: Callable[[str], dict]) -> None:
    seen = run("still")
    assert seen["client"]["frames"] == 1 and seen["client"]["shown"] > 0
    assert seen["shown"] in seen["dmabufs"]
    assert seen["colours"] > 4, "roads and houses"
    assert seen["counts"]["copied_frames"] == 0


@pytest.mark.at_length
def test_a_map_that_moves(run: Callable[[str], dict]) -> None:
    """With figures, beside those of a telltale that changes 33 times a second."""
    for name in ("telltale", "moving") if IS_LONG else ("moving",):
        seen = run(name)
        before, after = seen["before"], seen["after"]
        frames = after["shown_frames"] - before["shown_frames"]
        median, late = after["latency_p50_ns"] / 1e6, after["latency_p99_ns"] / 1e6
        print(f"{name}: {frames / seen['seconds']:.1f} pictures a second, {seen['client']}")
        print(f"latency {median:.1f} ms (median), {late:.1f} ms (p99)")
    assert after["state"] == "live" and after["transition_count"] == before["transition_count"]
    assert frames >= 30
    assert after["refused_frames"] == before["refused_frames"]
    assert seen["counts"]["copied_frames"] == seen["counts"]["leases_expired"] == 0


def test_another_machine_gets_a_copy_of_each_picture(run: Callable[[str], dict]) -> None:
    """As gidds see machines; test_lent_machines.py has guests."""
    seen = run("copied")
    counts = seen["counts"]
    # A copy counts before it is sent.
    assert 3 < counts["copied_frames"] <= counts["frames"] + 1
    assert counts["copied_bytes"] == counts["copied_frames"] * seen["bytes"]


def test_its_domain_killed(run: Callable[[str], dict]) -> None:
    seen = run("kills")
    print(
        f"{seen['kills']} kills: the fallback after {seen['median_ms']:.0f} ms (median), "
        f"{seen['worst_ms']:.0f} ms (worst)"
    )
    assert seen["due_ms"] <= seen["deadline_ms"]
    assert seen["worst_ms"] < seen["deadline_ms"] + 100 or not IS_LONG


@pytest.mark.parametrize(
    "client", at_length_but(["view", "view-nv12", "player", "player-nv12"], "view", "player")
)
def test_a_cameras_dmabufs(run: Callable[[str], dict], client: str) -> None:
    """By gids and gid-view, and by waylandsink, which has a black window behind its video."""
    seen = run(client)
    assert seen["colours"] > 4
    assert seen["counts"]["copied_frames"] == 0
    assert (seen["role"]["converted_frames"] > 0) == client.endswith("nv12")


def test_who_holds_a_dmabuf(run: Callable[[str], dict]) -> None:
    seen = run("held")
    print(f"not read it was kept for {seen['kept_unread_ms']:.0f} ms")
    assert seen["kept_unread_ms"] >= seen["lease_ms"], "the other display has not read it"
    assert seen["kept"], "a buffer that its client destroyed is shown on"
    assert seen["counts"]["copied_frames"] == 0


def test_who_hangs_with_a_dmabuf_takes_it_from_nobody_else(run: Callable[[str], dict]) -> None:
    """Of the third domain's lease: its client draws into it again, and the display shows that."""
    seen = run("forced")
    assert seen["taken"]["cluster"] == 0 and seen["taken"]["record"] >= 1
    assert seen["reasons"] == ["none"], "the display's role was live all the time"
    assert seen["counts"]["copied_frames"] == 0


def test_what_cannot_be_lent_is_refused_by_name(run: Callable[[str], dict]) -> None:
    seen = run("refused")
    assert set(seen["reasons"].values()) == {"dmabuf"}
    for line, words in zip(seen["log"], ("y_invert", "several"), strict=True):
        assert words in line
    assert all(seen["ended"].values()), "these are not taken at all"
    others = {name: seen["ended"][name] for name in seen["others"]}
    assert all("out_of_bounds" in error for error in others.values()), others
    assert seen["told"] == len(others), "and Weston's log says so of each"


def test_what_would_have_to_be_drawn_is_refused_by_name(run: Callable[[str], dict]) -> None:
    seen = run("drawn")
    assert seen["reasons"] == dict.fromkeys(("beside another", "scaled"), ["dmabuf", "fallback"])
    assert len(seen["log"]) == 2 and all("dma-buf" in line for line in seen["log"]), seen["log"]
    assert seen["counts"]["copied_frames"] == 0


def test_planes(run: Callable[[str], dict]) -> None:
    seen = run("planes")
    assert seen["counts"]["copied_frames"] == 0 and seen["converted"] > 0
    assert (seen["grey"], seen["ends"]) == (0, [0, 255])


def test_a_flood_of_buffers(run: Callable[[str], dict]) -> None:
    assert run("flood")["kept"] <= 40


def test_one_buffer_in_two_roles(run: Callable[[str], dict]) -> None:
    seen = run("two_roles")
    assert not seen["early"], "the other role shows it"
    assert seen["states"] == ["live", "live"]


def test_a_gidd_that_hangs(run: Callable[[str], dict]) -> None:
    seen = run("silent")
    assert seen["counts"]["copied_frames"] == 0


def test_a_gidd_that_dies(run: Callable[[str], dict]) -> None:
    seen = run("away")
    assert seen["detail"] == "memory"
    assert seen["counts"]["copied_frames"] == 0


def test_pictures_that_are_being_drawn(run: Callable[[str], dict]) -> None:
    seen = run("fences")
    assert seen["by_dmabuf"] == seen["by_protocol"] == {"unseen": True, "quiet": 0}
    assert seen["counts"]["copied_frames"] == 0
