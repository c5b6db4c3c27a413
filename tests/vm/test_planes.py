# SPDX-License-Identifier: MIT
"""gid-cluster with roles on planes of their own: Linux' vkms in a guest, which has eight overlays.

What the display controller made of all planes is known by its checksums.
"""

import base64
import io
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import numpy
import pytest
from domains import PATIENCE, Domains
from gid_vm.agent import Command
from gid_vm.own_kernel import why_no_kernel
from guests import Running
from lib.company import IS_LONG
from lib.counted import GIVING_BACK, sums
from lib.pictures import RAW_ROLE
from lib.program import BUILD, CONFINE, wait_for
from lib.vkms import CHECKSUMS, checksum
from PIL import Image
from planes import (
    DISPLAY,
    LAMP,
    OVERLAYS,
    PLAIN,
    SMALL,
    TURNED,
    domains_with_planes,
    lamp,
    plain,
    role,
    screen,
)
from scanout import (
    ENVIRONMENT,
    FOLDER,
    Cluster,
    cluster_command,
    cluster_on_display,
    refreshes_of,
    running,
    write,
)

pytestmark = [
    pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel())),
    pytest.mark.timeout(1800),
]

DEVICE_WIDTH = 1024  # of the mode that vkms prefers
PICTURES = 40 if IS_LONG else 15  # that are compared while the guest is busy

# As gid_vm.preload has it on this machine: in the guest.
ODD_KMS, LINK, TOLD = BUILD / "tests/vm/libodd-kms.so", FOLDER / "odd-kms.so", FOLDER / "told"
ODD_CALL = BUILD / "tests/lib/programs/odd_call.so"
COUNTED, COUNTS = BUILD / "tests/lib/programs/counted_calls.so", FOLDER / "counted"
ODD = {
    "LD_PRELOAD": str(LINK),
    "GIDWAY_PRELOADED": str(TOLD),
    "ODD_KMS": str(FOLDER / "odd"),
}


@pytest.fixture(scope="module")
def domains() -> Iterator[Domains]:
    with domains_with_planes() as domains:
        yield domains


def make_odd(domains: Domains, whim: bytes) -> None:
    """The display of whoever is started with ODD."""
    write(domains, "odd", whim)
    write(domains, TOLD.name, b"")
    domains.run("ln", "-sfn", str(ODD_KMS), str(LINK))


@contextmanager
def cluster_on_odd_display(domains: Domains, configuration: str, whim: bytes) -> Iterator[Cluster]:
    make_odd(domains, whim)
    with cluster_on_display(domains, configuration, **ODD) as cluster:
        domains.run("grep", "-qx", "gid-cluster", str(TOLD))
        yield cluster


def test_live_pictures_and_fallbacks_on_planes(domains: Domains) -> None:
    """One that changes, and one that is turned and of another format, beside each other."""
    upright = numpy.random.default_rng(1).integers(0, 256, (TURNED[2], TURNED[3], 3), numpy.uint8)
    write(domains, "turned", upright.tobytes())
    turned = numpy.rot90(upright, -1)  # a picture of transform 90 is shown clockwise
    configuration = DISPLAY + "writeback=0\n"
    configuration += role("lamp", LAMP, "red") + role(
        "turned", TURNED, "last", "formats=BG24\ntransform=90"
    )
    source = [RAW_ROLE, "safety/turned", FOLDER / "turned", "BG24"]
    source += [TURNED[3], TURNED[2], 0, 0, 0, 0, TURNED[3], TURNED[2], 1]
    both = {checksum(screen((LAMP, lamp(i)), (TURNED, turned))) for i in (0, 1)}
    after = checksum(screen((LAMP, plain("red")), (TURNED, turned)))
    with cluster_on_display(domains, configuration) as cluster:
        with (
            running(domains, *source, domain="open"),
            running(domains, BUILD / "tests/vm/dmabuf-lamp", *LAMP[2:], domain="open") as producer,
        ):
            cluster.wait_shown(both, 60, "both roles live, and nothing else")
            before = cluster.status()
            assert [one["place"] for one in before["roles"]] == ["plane", "plane"]
            assert [one["checked_by"] for one in before["roles"]] == ["copy", "copy"]
            least = {"paced_frames": before["paced_frames"] + 64, "frames": before["frames"] + 20}
            status: dict = {}

            def have_come() -> bool:
                status.update(cluster.status())
                return all(status[what] >= count for what, count in least.items())

            cluster.wait(have_come, "frames, and paced ones")
            assert status["composed_frames"] == before["composed_frames"]
            assert cluster.role("lamp")["plane_copies"] > before["roles"][0]["plane_copies"]
            assert cluster.role("turned")["plane_copies"] == before["roles"][1]["plane_copies"]
            # Whoever reads its stream gets all of it; then the roles are on planes again.
            copy = [numpy.asarray(copied(domains)) for _ in range(2)]
            assert {checksum(picture) for picture in copy} <= both
            cluster.wait(lambda: cluster.role("lamp")["place"] == "plane", "the planes again")
            cluster.wait_shown(both, 60, "both roles on planes again")
            del producer
        seen: set[int] = set()

        def falls_back() -> bool:
            now = cluster.refreshes.next(30)
            seen.update(now)
            return set(now) == {after}

        wait_for(falls_back, "the fallbacks", PATIENCE)
        assert seen <= both | {after}
        assert {one["place"] for one in cluster.status()["roles"]} == {"plane"}


def tell_gidd(domains: Domains, word: str) -> None:
    command = [str(BUILD / "tools/gidctl/gidctl"), word]
    told = domains.guest.run(command, env=domains.env | {"GID_DOMAIN": "cluster"})
    assert told.code == 0, told.err


@pytest.fixture
def unsealed(domains: Domains) -> Iterator[None]:
    """In the end: a display that is confined cannot go on after that."""
    yield
    tell_gidd(domains, "unseal")


@pytest.mark.parametrize(("planes", "writeback"), [("on", 0), ("on", 2), ("off", 0)])
@pytest.mark.usefixtures("unsealed")
def test_a_frame_takes_no_memory(domains: Domains, planes: str, writeback: int) -> None:
    """No library does either, while pictures change in a sealed domain: on their plane, and read
    back, or composed. The descriptor that the kernel gives for each writeback is not counted."""
    domains.run("ln", "-sfn", str(COUNTED), str(LINK))
    domains.run("sh", "-c", f"rm -rf {COUNTS}; mkdir {COUNTS}")
    write(domains, TOLD.name, b"")
    environment = {
        "LD_PRELOAD": str(LINK),
        "GIDWAY_PRELOADED": str(TOLD),
        "COUNTED_CALLS": str(COUNTS),
    }

    def taken() -> dict[str, int]:
        told = domains.run("sh", "-c", f"base64 -w0 {COUNTS}/gid-cluster.*")
        return sums(base64.b64decode(told.out), *GIVING_BACK)

    def shown() -> int:
        copied, composed = cluster.role("lamp")["plane_copies"], cluster.status()["composed_frames"]
        return composed if planes == "off" else copied

    configuration = DISPLAY.replace("planes=on", f"planes={planes}") + f"writeback={writeback}\n"
    configuration += role("lamp", LAMP, "red")
    live = {checksum(screen((LAMP, lamp(i)))) for i in (0, 1)}
    with (
        cluster_on_display(domains, configuration, **environment) as cluster,
        running(domains, BUILD / "tests/vm/dmabuf-lamp", *LAMP[2:], domain="open"),
    ):
        cluster.wait_shown(live, 60, "the lamp")
        tell_gidd(domains, "seal")
        cluster.wait(lambda: cluster.status()["sealed"], "it to hear of the seal")
        frames, read, before = shown(), cluster.role("lamp")["read_back"], taken()
        assert before["malloc"] > 0
        assert set(cluster.refreshes.next(120)) == live
        assert taken() == before
        assert shown() > frames
        assert (cluster.role("lamp")["read_back"] > read) == (writeback > 0)


def test_all_that_it_does_confined(domains: Domains) -> None:
    """Roles on planes above a film: both come, are killed, and come again; somebody looks on; and
    gidd is started anew. Then one call that showing does not need."""
    film = (300, 300, 64, 36)
    pixels = numpy.random.default_rng(2).integers(0, 256, (film[3], film[2], 4), numpy.uint8)
    write(domains, "film", pixels.tobytes())
    layer = "\n[layer film]\ndomain=open\nfallback=last\nx={}\ny={}\nwidth={}\nheight={}\n"
    configuration = DISPLAY + "writeback=0\n" + role("lamp", LAMP, "red") + layer.format(*film)
    source = [RAW_ROLE, "film", FOLDER / "film", "XR24", *film[2:], 0, 0]
    shown = (film, pixels[..., 2::-1])
    live = {checksum(screen((LAMP, lamp(i)), shown)) for i in (0, 1)}
    command = [BUILD / "tests/vm/dmabuf-lamp", *LAMP[2:]]
    with (
        running(domains, *source, domain="open"),
        cluster_on_display(domains, configuration) as cluster,
    ):
        for again in range(2):
            producer = Running(domains.start("open", *command, **ENVIRONMENT))
            cluster.wait_shown(live, 60, "the lamp above the film")
            if again == 0:
                copied(domains)
                cluster.wait(lambda: cluster.role("lamp")["place"] == "plane", "its plane again")
            else:
                for order in ("down", "up"):
                    domains.run("gid-cockpit", "--config", "/run/cockpit.conf", order, "cluster")
                cluster.wait_shown(live, 60, "both again")
            producer.signal(signal.SIGKILL)
            cluster.wait_shown({checksum(screen((LAMP, plain("red")), shown))}, 3, "the fallback")
            producer.finish()
            # gid-cluster itself hears of it behind us.
            cluster.wait(lambda: cluster.role("lamp")["fallback_max_ns"] > 0, "how long it took")
            told = cluster.role("lamp")
            took, bound = (round(told[f"fallback_{of}_ns"] / 1e6, 1) for of in ("max", "bound"))
            print(f"the fallback came after {took} ms, of {bound} ms on a quiet machine")


@pytest.mark.skipif(not ODD_CALL.exists(), reason="sanitizers make calls of their own")
@pytest.mark.skipif(not CONFINE, reason="what is counted is not confined")
def test_any_other_call_ends_it(domains: Domains) -> None:
    """Also where it shows on a device: the filter is there, and has no hole for this one."""
    domains.run("ln", "-sfn", str(ODD_CALL), str(LINK))
    environment = {
        "LD_PRELOAD": str(LINK),
        "ODD_CALL": str(FOLDER / "odd-call"),
        "GIDWAY_PRELOADED": str(TOLD),
    }
    write(domains, TOLD.name, b"")
    words = cluster_command(domains, DISPLAY + "writeback=0\n" + role("lamp", LAMP, "red"))
    program = Running(domains.start("cluster", *words, **ENVIRONMENT | environment))
    wait_for(lambda: "ready, with" in program.err or not program.is_running, "it", PATIENCE)
    assert program.is_running, program.err
    domains.run("grep", "-qx", "gid-cluster", str(TOLD))
    write(domains, "odd-call", b"")
    assert program.finish().code == -signal.SIGSYS


def test_more_roles_than_planes(domains: Domains) -> None:
    """What has no plane is composed."""
    names = sorted(PLAIN)
    places = {f"r{i}": ((i % 5) * 100, 200 + i // 5 * 60, *SMALL) for i in range(OVERLAYS + 2)}
    colours = {name: names[i % len(names)] for i, name in enumerate(places)}
    configuration = DISPLAY + "writeback=0\n"
    for name, place in places.items():
        configuration += role(name, place, colours[name])
    parts = [(place, plain(colours[name])) for name, place in places.items()]
    with cluster_on_display(domains, configuration) as cluster:
        cluster.wait_shown({checksum(screen(*parts))}, 3, "all the fallbacks")
        roles = {one["name"]: one for one in cluster.status()["roles"]}
    on = {name: one["place_reason"] for name, one in roles.items() if one["place"] == "composed"}
    assert on == {"r8": "no-plane", "r9": "no-plane"}
    assert {roles[name]["checked_by"] for name in on} == {"composition"}


def test_a_role_beyond_the_output(domains: Domains) -> None:
    """Which is as large as its device says, for the configuration does not: it has no plane."""
    display = re.sub(r"(width|height)=\d+\n", "", DISPLAY) + "writeback=0\n"
    beyond = (DEVICE_WIDTH - 100, 20, *LAMP[2:])
    configuration = display + role("lamp", LAMP, "red") + role("beyond", beyond, "blue")
    with cluster_on_display(domains, configuration) as cluster:
        cluster.wait(lambda: cluster.role("lamp")["place"] == "plane", "the other one's plane")
        assert cluster.status()["outputs"][0]["width"] == DEVICE_WIDTH
        seen = cluster.role("beyond")
        assert (seen["place"], seen["place_reason"]) == ("composed", "off-output")


def test_a_device_that_refuses(domains: Domains) -> None:
    """Planes that it does not take in the test, and then a frame with one that it had taken."""
    places = {"lamp": LAMP, "second": (300, 300, *SMALL), "third": (400, 300, *SMALL)}
    configuration = DISPLAY + "writeback=0\n"
    configuration += "".join(role(name, box, "red") for name, box in places.items())
    others = [(places[name], plain("red")) for name in ("second", "third")]
    waiting = checksum(screen((LAMP, plain("red")), *others))
    live = {checksum(screen((LAMP, lamp(i)), *others)) for i in (0, 1)}
    with cluster_on_odd_display(domains, configuration, b"limit 1") as cluster:
        cluster.wait_shown({waiting}, 3, "the fallbacks")
        roles = cluster.status()["roles"]
        assert [one["place"] for one in roles] == ["plane", "composed", "composed"]
        assert [one["place_reason"] for one in roles] == ["", "refused", "refused"]
        write(domains, "odd", b"refuse")
        seen: set[int] = set()

        def is_live() -> bool:
            now = cluster.refreshes.next(30)
            seen.update(now)
            return set(now) == live

        with running(domains, BUILD / "tests/vm/dmabuf-lamp", *LAMP[2:], domain="open"):
            wait_for(is_live, "the lamp, composed", PATIENCE)
        assert seen <= {waiting} | live
        assert {one["place_reason"] for one in cluster.status()["roles"]} == {"refused"}


@pytest.mark.parametrize("whim", [b"silent", b"busy"])
def test_a_device_that_shows_nothing_any_more(domains: Domains, whim: bytes) -> None:
    """It ends, to be started again: its last picture would stay, and be taken for a current one."""
    configuration = DISPLAY + "writeback=0\n" + role("lamp", LAMP, "red")
    waiting = {checksum(screen((LAMP, plain("red"))))}
    make_odd(domains, b"none")
    with refreshes_of(domains) as refreshes:
        # By itself: others do not go on where it ended.
        words = [*cluster_command(domains, configuration), f"--state={FOLDER}/{whim.decode()}"]
        program = Running(domains.start("cluster", *words, **ENVIRONMENT | ODD))
        try:
            wait_for(lambda: set(refreshes.next(3)) == waiting, "the fallback", PATIENCE)
            write(domains, "odd", whim)
            with running(domains, BUILD / "tests/vm/dmabuf-lamp", *LAMP[2:], domain="open"):
                wait_for(lambda: not program.is_running, "its end", PATIENCE)
            wait_for(lambda: not waiting & set(refreshes.next(1)), "its picture to go", PATIENCE)
        finally:
            program.signal(signal.SIGKILL)
            result = program.finish()
    assert result.code == 1 and "does not show what it is given: ending" in result.err, result.err


def test_what_is_shown_is_read_back(domains: Domains) -> None:
    """By the controller's writeback. A plane that shows something else is not used any longer."""
    configuration = DISPLAY + "writeback=12\n" + role("lamp", LAMP, "red")
    waiting = checksum(screen((LAMP, plain("red"))))
    live = {checksum(screen((LAMP, lamp(i)))) for i in (0, 1)}
    with cluster_on_odd_display(domains, configuration, b"none") as cluster:
        # Also where nothing changes, which composes nothing.
        cluster.wait(lambda: cluster.role("lamp")["read_back"] >= 5, "5 pictures read back")
        assert cluster.status()["composed_frames"] == 1
        cluster.wait_shown({waiting}, 3, "the fallback")
        with running(domains, BUILD / "tests/vm/dmabuf-lamp", *LAMP[2:], domain="open"):
            cluster.wait_shown(live, 6, "the lamp on its plane")
            before = cluster.role("lamp")["read_back"]
            cluster.wait(lambda: cluster.role("lamp")["read_back"] > before + 5, "more of them")
            one = cluster.role("lamp")
            assert (one["place"], one["checked_by"], one["differed"]) == ("plane", "writeback", 0)
            write(domains, "odd", b"shift")
            cluster.wait(lambda: cluster.role("lamp")["differed"] == 1, "the difference")
            cluster.wait_shown(live, 6, "the lamp, composed and at its place")
            one = cluster.role("lamp")
            assert (one["place"], one["place_reason"]) == ("composed", "differed")
            assert [change["reason"] for change in one["transitions"]][1:] == ["display", "none"]
            before = one["read_back"]
            cluster.wait(lambda: cluster.role("lamp")["read_back"] > before + 5, "more of them")
            assert cluster.role("lamp")["differed"] == 1


def test_a_device_that_writes_nothing_any_more(domains: Domains) -> None:
    """It is said, and the role goes on."""
    configuration = DISPLAY + "writeback=2\n" + role("lamp", LAMP, "red")
    with (
        cluster_on_odd_display(domains, configuration, b"none") as cluster,
        running(domains, BUILD / "tests/vm/dmabuf-lamp", *LAMP[2:], domain="open"),
    ):
        cluster.wait(lambda: cluster.role("lamp")["read_back"] >= 2, "pictures read back")
        write(domains, "odd", b"unwritten")
        cluster.wait(lambda: "is not read back now" in cluster.program.err, "that it is said")
        live = {checksum(screen((LAMP, lamp(i)))) for i in (0, 1)}
        wait_for(lambda: set(cluster.refreshes.next(6)) == live, "the lamp", PATIENCE)


@pytest.mark.at_length
def test_who_ends_its_checksums_takes_no_picture_from_the_others(domains: Domains) -> None:
    """Of the guests' vkms, see gid_vm.vkms: Linux' own loses what a commit is to write, if they are
    closed between that and its refresh."""
    configuration = DISPLAY + "writeback=2\n" + role("lamp", LAMP, "red")
    again = f"while :; do timeout 0.1 cat {CHECKSUMS}/data >/dev/null 2>&1; sleep 1.5; done"
    with cluster_on_display(domains, configuration) as cluster:
        cluster.refreshes.close()
        closing = Running(domains.start("open", "sh", "-c", again))
        cluster.wait(lambda: cluster.role("lamp")["read_back"] >= 200, "pictures read back")
        closing.signal(signal.SIGKILL)
        closing.program.wait(PATIENCE)


def test_a_dmabuf_itself_on_a_plane(domains: Domains) -> None:
    """Whose producer dies; and one that draws over it, which only the writeback tells."""
    display = DISPLAY.replace("planes=on", "planes=direct") + "writeback=12\n"
    live = {checksum(screen((LAMP, lamp(i)))) for i in (0, 1)}
    command = [BUILD / "tests/vm/dmabuf-lamp", *LAMP[2:], 0]
    with cluster_on_display(domains, display + role("lamp", LAMP, "last")) as cluster:

        def keeps_one() -> bool:
            shown = set(cluster.refreshes.next(4))
            return len(shown) == 1 and shown <= live

        with running(domains, *command, domain="open"):
            cluster.wait_shown(live, 6, "the lamp on its plane")
            cluster.wait(lambda: cluster.role("lamp")["read_back"] > 5, "pictures read back")
            cluster.wait(lambda: cluster.role("lamp")["plane_direct"] > 5, "pictures not copied")
            one = cluster.role("lamp")
            assert (one["place"], one["checked_by"], one["differed"]) == ("plane", "writeback", 0)
            assert one["plane_copies"] == 1  # the fallback
        cluster.wait(lambda: cluster.role("lamp")["state"] == "lost", "the end of the lamp")
        cluster.wait(keeps_one, "its last picture")
        with running(domains, *command, domain="open") as producer:
            cluster.wait_shown(live, 6, "the lamp again")
            producer.signal(signal.SIGUSR1)
            cluster.wait(lambda: cluster.role("lamp")["differed"] == 1, "the difference")
            cluster.wait(keeps_one, "the last picture that was right, composed")
            one = cluster.role("lamp")
            assert (one["state"], one["reason"]) == ("wrong", "display")
            assert (one["place"], one["place_reason"]) == ("composed", "differed")


@pytest.mark.parametrize(
    ("planes", "stream", "producer"),
    [
        ("on", "safety/left", (BUILD / "tests/lib/programs/liar", "flood")),
        pytest.param(
            "direct",
            "safety/lamp",
            (BUILD / "tests/vm/dmabuf-lamp", 320, 80, 0, "moving"),
            marks=pytest.mark.at_length,
        ),
    ],
)
def test_what_is_written_late(
    domains: Domains, planes: str, stream: str, producer: tuple[object, ...]
) -> None:
    """Is what was shown then, in a guest so busy that vkms writes it when it is off the screen.

    All pictures change with each frame, and the role goes from its plane and back again.
    """
    configuration = DISPLAY.replace("planes=on", f"planes={planes}") + "writeback=2\n"
    configuration += role("left", (40, 20, 320, 80), "pattern", f"stream={stream}")
    seen: dict = {}
    with (
        cluster_on_display(domains, configuration) as cluster,
        running(domains, *producer, domain="open"),
        busy(domains, 4),
    ):

        def is_done() -> bool:
            start_copying(domains).wait(PATIENCE)
            seen.update(cluster.role("left"))
            assert seen["differed"] == 0, cluster.program.err
            return seen["read_back"] >= PICTURES and "composed: copied" in cluster.program.err

        cluster.wait(is_done, "pictures that were compared")


@contextmanager
def busy(domains: Domains, programs: int) -> Iterator[None]:
    started = [domains.start("open", "sh", "-c", "while :; do :; done") for _ in range(programs)]
    try:
        yield
    finally:
        for program in started:
            program.signal(signal.SIGKILL)
            program.wait(PATIENCE)


def start_copying(domains: Domains) -> Command:
    gidctl = BUILD / "tools/gidctl/gidctl"
    return domains.start("cluster", gidctl, "snap", "screen", "-o", FOLDER / "copy.png")


def copied(domains: Domains) -> numpy.ndarray:
    assert start_copying(domains).wait(PATIENCE).code == 0
    data = domains.guest.read(FOLDER / "copy.png")
    assert data is not None
    return numpy.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
