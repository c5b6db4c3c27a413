# SPDX-License-Identifier: MIT
"""What is taken from a reader: it sees zeroes soon, whether it co-operates or not; others go on."""

import errno
import mmap
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lib.clipboard import ClipboardPeer, frame
from lib.cockpit import Cockpit
from lib.company import IS_LONG
from lib.forwarding import TELLTALE, ShmBuffers, Window, random_picture
from lib.gidwire import ALLOC, READERS_STREAM, WITHDRAW, Connection
from lib.machines import CONFIG, MIB, NAMES, start, window_number, window_path, windows
from lib.painter import Painter
from lib.peer import ENDED, LIVE, WAITING, Peer, consume, produce
from lib.program import BUILD, PATIENCE, Program, wait_for
from lib.weston import Weston

from lab.domains.wayland import Display

GIDCTL = BUILD / "tools" / "gidctl" / "gidctl"
METER = BUILD / "clients" / "gid-meter"
ZERO_SECONDS = 0.050  # of the command, the median of ROUNDS
ROUNDS = 20 if IS_LONG else 3


@pytest.fixture
def machines(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    start(cockpit)
    return cockpit


def revoke(
    cockpit: Cockpit, asked: str, *words: str, ok: bool = True
) -> subprocess.CompletedProcess:
    result = subprocess.run(
        [GIDCTL, "revoke", *words],
        env=cockpit.env(asked),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (result.returncode == 0) is ok, result.stderr
    return result


def slab_of(cockpit: Cockpit, owner: str = "open") -> dict:
    (slab,) = [s for s in cockpit.status(owner)["slabs"] if s["owner"]]
    return slab


class Spy:
    """A reader that does not co-operate: it has mapped all of a window, and keeps it."""

    def __init__(self, path: str) -> None:
        fd = os.open(path, os.O_RDONLY)
        self.memory = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
        os.close(fd)

    def sees(self) -> bool:
        """Anything that a program wrote; the first page is the hub's."""
        return self.memory[4096:].count(0) != len(self.memory) - 4096

    def wait_blind(self) -> float:
        """Until when it saw something."""
        end = time.monotonic() + PATIENCE
        now = time.monotonic()
        pages = range(4096, len(self.memory), 4096)
        places: Iterable[int] = pages  # of which each is quick to look at
        while True:
            places = [at for at in places if any(self.memory[at : at + 64])]
            now = time.monotonic()
            if not places and not self.sees():
                return now
            assert now < end, "it sees something still"
            places = places or pages


@contextmanager
def spy(path: str) -> Iterator[Spy]:
    one = Spy(path)
    try:
        yield one
    finally:
        one.memory.close()


def refused(cockpit: Cockpit, stream: str, reader: str) -> None:
    peer = consume(cockpit, stream, reader)
    wait_for(lambda: "error" in peer.last, "the refusal")
    assert peer.last["error"] == -errno.ENOENT


def whole(consumer: Peer) -> None:
    """It goes on, and has lost nothing."""
    last = consumer.wait_frames(50)
    assert last["state"] == LIVE and last["reconnects"] == 0
    assert (last["torn"], last["missed"], last["lost_imports"]) == (0, 0, 0), last


@pytest.mark.parametrize("asked", ["open", "host"])
def test_others_lose_no_frame(machines: Cockpit, asked: str) -> None:
    """The hub tells the owner's gidd where the owner is another machine."""
    path = window_path(machines, "open", "cluster", "host", "hud")
    producer = produce(machines, "movie", fps=100, lossless=True)
    loser = consume(machines, "movie", "cluster")
    others = [consume(machines, "movie", reader) for reader in ("host", "hud", "open")]
    for consumer in (loser, *others):
        consumer.wait_frames(20)
    before = slab_of(machines)["gid"]
    with spy(path) as reader:
        assert reader.sees()
        revoke(machines, asked, "open", "movie", "--from=cluster")
        reader.wait_blind()
        loser.wait(lambda line: line["state"] in (ENDED, WAITING), "its end")
        for consumer in others:
            whole(consumer)
        assert not reader.sees()  # nor what was written since
    assert producer.last["consumers"] == 3
    slab = slab_of(machines)
    assert slab["gid"] != before and slab["memory"] == "window"
    assert set(slab["grants"]) == {"host", "hud"}
    # Nor may it have the stream again.
    refused(machines, "movie", "cluster")


def test_how_soon(machines: Cockpit) -> None:
    path = window_path(machines, "open", "cluster", "host", "hud")
    seconds = []
    for i in range(ROUNDS):
        producer = produce(machines, f"camera/{i}", fps=100)
        consumer = consume(machines, f"camera/{i}", "host")
        consumer.wait_frames(5)
        with spy(path) as reader:
            assert reader.sees()
            began = time.monotonic()
            revoke(machines, "host", "open", f"camera/{i}", "--from=cluster")
            seconds.append(reader.wait_blind() - began)
        consumer.wait_frames(5)
        assert consumer.last["torn"] == 0
        producer.program.kill()
    print(f"# zero after {statistics.median(seconds) * 1000:.1f} ms (median)")
    soon = statistics.median(seconds) <= ZERO_SECONDS
    assert soon or not IS_LONG, sorted(seconds)


def test_a_program_that_stays(machines: Cockpit) -> None:
    """It writes on where it was; what it writes there is emptied until it has left."""
    path = window_path(machines, "open", "cluster", "host", "hud")
    with machines.connect("open") as client, spy(path) as reader:
        memory = client.request(ALLOC, 8 * 4096, READERS_STREAM, 0, b"movie")
        number, offset = memory.values[0] >> 40, memory.values[0] & (1 << 40) - 1
        assert number == window_number(path)
        with mmap.mmap(memory.fds[0], 8 * 4096, offset=offset) as mine:
            mine[:] = b"m" * len(mine)
            assert reader.sees()
            revoke(machines, "host", "open", "movie", "--from=cluster")
            reader.wait_blind()
            mine[:] = b"n" * len(mine)
            reader.wait_blind()
        memory.close()
        # Others get the same piece only when the hub has emptied it for the last time.
        fresh = client.request(ALLOC, 4096, READERS_STREAM, 0, b"movie")
        assert fresh.values[0] >> 40 != number
        fresh.close()


def test_a_stopped_program_is_not_waited_for(machines: Cockpit) -> None:
    path = window_path(machines, "open", "cluster", "host", "hud")
    producer = produce(machines, "movie", fps=100)
    consumer = consume(machines, "movie", "host")
    consumer.wait_frames(20)
    with spy(path) as reader:
        producer.program.signal(signal.SIGSTOP)
        revoke(machines, "host", "open", "movie", "--from=cluster")
        reader.wait_blind()
        producer.program.signal(signal.SIGCONT)
        consumer.wait_frames(20)
        wait_for(lambda: not reader.sees(), "nothing more to be there")
    assert slab_of(machines)["memory"] == "window"


def test_a_slab(machines: Cockpit) -> None:
    """Its program goes on with another one, which it sends to the same readers."""
    produce(machines, "movie", fps=100, lossless=True)
    consumer = consume(machines, "movie", "cluster")
    consumer.wait_frames(20)
    gid = slab_of(machines)["gid"]
    revoke(machines, "host", "open", gid)
    wait_for(lambda: slab_of(machines)["gid"] != gid, "another slab")
    whole(consumer)
    assert slab_of(machines)["grants"] == ["cluster"]


def test_an_owner_on_the_host(machines: Cockpit) -> None:
    path = window_path(machines, "host", "open", "hud")
    produce(machines, "film", "host", fps=100, lossless=True)
    other = consume(machines, "film", "hud", "host")
    loser = consume(machines, "film", "open", "host")
    loser.wait_frames(20)
    with spy(path) as reader:
        revoke(machines, "host", "host", "film", "--from=open")
        reader.wait_blind()
    whole(other)
    loser.wait(lambda line: line["state"] in (ENDED, WAITING), "its end")


def test_all_others(machines: Cockpit) -> None:
    """Nobody else reads it any more, but the owner's own programs do."""
    produce(machines, "movie", fps=100, lossless=True)
    inside = consume(machines, "movie", "open")
    losers = [consume(machines, "movie", reader) for reader in ("cluster", "host", "hud")]
    for loser in losers:
        loser.wait_frames(10)
    revoke(machines, "open", "open", "*")
    for loser in losers:
        loser.wait(lambda line: line["state"] in (ENDED, WAITING), "its end")
    whole(inside)
    assert slab_of(machines)["memory"] == "memfd"


def read_again(cockpit: Cockpit, text: str) -> None:
    cockpit.config_path.write_text(text)
    for domain in ("host", "open", "cluster", "hud"):
        before = cockpit.status(domain)["configuration"]["readings"]
        cockpit.gidds[domain].signal(signal.SIGHUP)
        wait_for(
            lambda domain=domain, before=before: (
                cockpit.status(domain)["configuration"]["readings"] > before
            ),
            f"gidd of {domain} to read it",
        )
        assert not cockpit.status(domain)["configuration"]["refused"]


GONE = "[share open cluster]\nstreams=movie camera/*\n"


@pytest.mark.parametrize("left", ["", "[share open cluster]\nstreams=camera/*\n"])
def test_a_share_that_is_gone(machines: Cockpit, left: str) -> None:
    """The configuration is read again, by the hub first. All of a share can go, or a stream."""
    path = window_path(machines, "open", "cluster", "host", "hud")
    produce(machines, "movie", fps=100, lossless=True)
    loser = consume(machines, "movie", "cluster")
    other = consume(machines, "movie", "host")
    for consumer in (loser, other):
        consumer.wait_frames(20)
    with spy(path) as reader:
        assert reader.sees()
        read_again(machines, CONFIG.replace(GONE, left))
        reader.wait_blind()
        loser.wait(lambda line: line["state"] in (ENDED, WAITING), "its end")
        whole(other)
        assert not reader.sees()


@pytest.mark.parametrize("left", ["", "[share open cluster]\nstreams=camera/*\n"])
def test_a_share_that_is_gone_after_a_restart(machines: Cockpit, left: str) -> None:
    """A gidd that came back knows memory by its owner's word alone, and not for which stream."""
    path = window_path(machines, "open", "cluster", "host", "hud")
    produce(machines, "movie", fps=100)
    other = consume(machines, "movie", "open", reconnect=True)
    other.wait_frames(20)
    before = slab_of(machines)["gid"]
    machines.restart("open")
    wait_for(lambda: machines.status("open")["streams"], "the producer to come back")
    slabs = machines.status("open")["slabs"]
    assert before in [slab["gid"] for slab in slabs if slab["owner"]]
    with spy(path) as reader:
        assert reader.sees()
        read_again(machines, CONFIG.replace(GONE, left))
        reader.wait_blind()
        other.wait_frames(20)
        assert not reader.sees()


def test_what_is_read_again_is_given_back(machines: Cockpit) -> None:
    revoke(machines, "host", "open", "movie", "--from=cluster")
    read_again(machines, CONFIG)
    produce(machines, "movie", fps=100)
    consume(machines, "movie", "cluster").wait_frames(20)


def test_an_owner_that_comes_back_hears_of_it(machines: Cockpit) -> None:
    machines.kill("open")
    words = revoke(machines, "host", "open", "movie", "--from=cluster", ok=False).stderr
    assert "it will hear of it when it comes" in words
    machines.start("open")
    machines.wait_links()
    produce(machines, "movie", fps=100)
    consume(machines, "movie", "host").wait_frames(20)
    wait_for(lambda: "movie" in machines.log("open"), "its gidd to know")
    refused(machines, "movie", "cluster")


@pytest.mark.parametrize(
    ("asked", "words", "message"),
    [
        ("host", ["nobody", "movie"], "there is no domain nobody"),
        ("host", ["open", "movie", "--from=nobody"], "there is no domain nobody"),
        ("host", ["open", "a b"], "not valid"),
        ("host", ["open", "3:1.0#0"], "not of domain open"),
        ("open", ["open", "1:77.0#0"], "there is no such slab"),
        ("cluster", ["open", "movie"], "gidctl --domain open"),
        ("open", ["open", "1:77.0#0", "--from=host"], "a slab is taken from all"),
        ("open", ["open"], "revoke takes a domain"),
    ],
)
def test_what_cannot_be(machines: Cockpit, asked: str, words: list[str], message: str) -> None:
    assert message in revoke(machines, asked, *words, ok=False).stderr


def test_spares_have_no_pages_until_they_are_needed(machines: Cockpit) -> None:
    """For what is left of a stream's readers there is a window, which costs nothing before."""
    spare = window_path(machines, "open", "host", "cluster")
    assert os.stat(spare).st_size == 4 * MIB and os.stat(spare).st_blocks * 512 <= 2 * 4096
    revoke(machines, "host", "open", "movie", "--from=hud")
    assert os.stat(spare).st_blocks * 512 >= 4 * MIB
    with machines.connect("open") as client:
        memory = client.request(ALLOC, 3 * MIB, READERS_STREAM, 0, b"movie")
        assert os.fstat(memory.fds[0]).st_ino == os.stat(spare).st_ino
        memory.close()
    assert Path(spare).name.partition(".")[2] == f"{NAMES['cluster']}-{NAMES['host']}"
    assert len(windows(machines, "open")) == 7


def test_only_gidds_user_may(machines: Cockpit) -> None:
    """Tests have one user: what is left is that a client must name all that it means."""
    with machines.connect("open") as client:
        answer = client.request(WITHDRAW, 0, b"open", b"cluster", b"movie")
        assert Connection.result(answer)[0] == 0


# --- memory that cannot be moved, as there is no room for it twice ---


@pytest.fixture
def narrow(make_cockpit: Callable[..., Cockpit], request: pytest.FixtureRequest) -> Cockpit:
    """Clients of `open` may have so much."""
    own = "number=1\nkind=guest\n"
    assert own in CONFIG
    cockpit = make_cockpit(CONFIG.replace(own, f"{own}client-memory={request.param}\n"))
    start(cockpit)
    return cockpit


def lose(cockpit: Cockpit) -> None:
    gid = slab_of(cockpit)["gid"]
    revoke(cockpit, "host", "open", gid)
    wait_for(lambda: all(s["gid"] != gid for s in cockpit.status("open")["slabs"]), "its loss")


@pytest.mark.parametrize("narrow", ["600K"], indirect=True)
def test_a_telltale_without_room(narrow: Cockpit) -> None:
    lights = Program([TELLTALE, "--stream=lamp", "--cycle=100"], narrow.env("open"), narrow.folder)
    wait_for(lambda: narrow.status("open")["streams"], "the stream")
    consumer = consume(narrow, "lamp", "host")
    consumer.wait_frames(5)
    for _ in range(2):
        lose(narrow)
        consumer.wait_frames(10)
    assert lights.process.poll() is None


@pytest.mark.parametrize("narrow", ["600K"], indirect=True)
def test_a_meter_without_room(narrow: Cockpit) -> None:
    """Its five pictures have 500 KiB."""
    meter = narrow.run("open", [METER, "--size=320x80"])
    wait_for(lambda: narrow.status("open")["streams"], "the stream")
    consumer = consume(narrow, "meter", "host")
    consumer.wait_frames(5)
    for _ in range(2):
        lose(narrow)
        consumer.wait_frames(10)
    assert meter.is_running()


@pytest.mark.parametrize("narrow", ["800K"], indirect=True)
def test_copies_of_weston_without_room(narrow: Cockpit) -> None:
    weston = Weston(narrow.folder, narrow.env("open"), "pixman")
    weston.configure("[gid-safety]\nrole=telltale\nsize=320x80\napp-id=org.example.lamp\n")
    weston.start()
    consumer = consume(narrow, "safety/telltale", "host")
    with Display(weston.socket, weston.protocols) as connection:
        buffers = ShmBuffers(connection)
        window = Window(connection, "org.example.lamp")
        for number in range(3):
            window.show(buffers.draw(random_picture(number)))
            wait_for(lambda: narrow.status("open")["slabs"], "a slab of the picture")
            consumer.wait(lambda line: line["frames"] > 0, "a frame")
            lose(narrow)


@pytest.mark.parametrize("narrow", ["800K"], indirect=True)
def test_an_output_without_room(narrow: Cockpit) -> None:
    weston = Weston(
        narrow.folder, narrow.env("open"), "pixman", kind="kiosk", options=["--no-outputs"]
    )
    weston.configure("[gid-output]\nname=left\nstream=screen\nmode=320x80\n")
    weston.start()
    wait_for(lambda: narrow.status("open")["streams"], "the stream")
    consumer = consume(narrow, "screen", "host")
    picture = Painter(weston.socket, "left", (320, 80))
    for number in range(3):
        frames = consumer.last["frames"]
        picture.paint(number)
        consumer.wait(lambda line, frames=frames: line["frames"] > frames, "the picture")
        lose(narrow)


@pytest.mark.parametrize("narrow", ["600K"], indirect=True)
def test_a_clipboard_without_room(narrow: Cockpit) -> None:
    theirs, ours = "clipboard/back", "clipboard/there"
    with (
        ClipboardPeer(narrow.env("host"), theirs, "open", ours, heard=False) as reader,
        ClipboardPeer(narrow.env("open"), ours, "host", theirs) as peer,
    ):
        for number in range(3):
            peer.send(frame(b"%d" % number))
            assert reader.wait_text() == b"%d" % number
            lose(narrow)
