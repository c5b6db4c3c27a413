# SPDX-License-Identifier: MIT
"""What downstream holds, for whatever reason and time: it gets every frame, and none changes.

Producers wait for readers here (leaky=false), or send what a test lets through their gate. How much
reaches a reader in time where nobody waits is measured by test_held_live.py.
"""

import itertools
import signal
import time

import pytest
from lib.cockpit import Cockpit
from lib.length import at_length_but
from lib.pipeline import LOSSLESS, PATIENT, Pipeline, decode, film, frames_of, send, watch
from lib.program import wait_for

from lab.domains.configuration import configuration

DISCONT = 0x40
SIZE = "video/x-raw,format=I420,width=320,height=240"
COUNT = 120


def ball(count: int = COUNT, rate: int = 30) -> str:
    return f"videotestsrc pattern=ball num-buffers={count} ! {SIZE},framerate={rate}/1"


def camera(rate: int = 30) -> str:
    """Without an end."""
    return ball(10**6, rate).replace("videotestsrc", "videotestsrc is-live=true")


def drawn(cockpit: Cockpit, count: int = COUNT) -> list[str]:
    """Their sums, in order: the ball moves by time."""
    return [frame["sum"] for frame in frames_of(cockpit, ball(count))]


def sent_to(cockpit: Cockpit, receiver: Pipeline) -> Pipeline:
    receiver.wait_state("waiting")
    sender = send(cockpit, ball(), LOSSLESS)
    sender.finish()
    receiver.finish()
    return sender


def sent_by(sender: Pipeline) -> int:
    return sender.stats("sink")["frames"]


def read_by(receiver: Pipeline) -> int:
    return receiver.stats("src")["frames"]


def wait_sent(sender: Pipeline, count: int, what: str) -> None:
    """Until it has sent so many frames more."""
    until = sent_by(sender) + count
    wait_for(lambda: sent_by(sender) >= until, what)


class Steps:
    """A producer that waits for nobody, and sends what it is let: all that it has, step by step."""

    def __init__(self, cockpit: Cockpit, receiver: Pipeline, count: int, rate: int = 30) -> None:
        receiver.wait_state("waiting")
        self._receiver = receiver
        self._left = count
        self._sent = 0
        source = f"{ball(count, rate)} ! identity name=gate"
        properties = "sync=false wait-for-connection=true"
        self.sender = send(cockpit, source, properties)

    def send(self, count: int) -> None:
        """So many, at once, and whether anybody reads them or not."""
        self.sender.tell(f"pass {count}")
        self._left -= count
        self._sent += count
        wait_for(lambda: sent_by(self.sender) == self._sent, f"{self._sent} frames to be sent")

    def read(self, count: int, step: int = 4) -> None:
        """So many, no more at once than the ring has room for, and those that were sent before."""
        while count > 0:
            self.send(min(step, count))
            count -= step
            self._wait_read()

    def _wait_read(self) -> None:
        came = self._sent - self.sender.stats("sink")["dropped"]
        wait_for(lambda: read_by(self._receiver) >= came, f"{came} frames to be read")

    def finish(self, step: int = 4) -> Pipeline:
        """All that are left, and the end."""
        self.read(self._left, step)
        self.sender.tell("open")
        return self.sender.finish()


# --- what holds by itself ---

QUEUE = "! queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"
LOOKS_AHEAD = {
    "queue": f"{QUEUE} min-threshold-buffers=48",
    "small queue": "! queue min-threshold-buffers=12",
    "delay": f"{QUEUE} min-threshold-time=2500000000",
}


@pytest.mark.parametrize(
    ("what", "live"),
    at_length_but(
        itertools.product(LOOKS_AHEAD, ["true", "false"]),
        ("queue", "false"),
        ("small queue", "true"),
        ("delay", "true"),
    ),
)
def test_queues(cockpit: Cockpit, what: str, live: str) -> None:
    receiver = watch(cockpit, f"is-live={live}", LOOKS_AHEAD[what])
    sender = sent_to(cockpit, receiver)
    assert receiver.sums == drawn(cockpit)
    assert sender.stats("sink")["leases-expired"] == 0
    assert sender.stats("sink")["dropped"] == 0
    stats = receiver.stats("src")
    assert stats["missed"] == stats["taken"] == 0
    assert stats["copy-reasons"].get("held", 0) == stats["copied-frames"]


@pytest.mark.parametrize(
    ("properties", "sink"),
    [
        ("latency=200", "sync=true"),
        ("", "sync=true processing-deadline=100000000"),
        pytest.param("", "sync=true ts-offset=400000000", marks=pytest.mark.at_length),
        pytest.param("", "sync=true render-delay=300000000", marks=pytest.mark.at_length),
    ],
)
def test_latency(cockpit: Cockpit, properties: str, sink: str) -> None:
    """Wherever it comes from."""
    receiver = Pipeline(
        cockpit,
        "cluster",
        f"gidsrc name=src domain=open stream=movie {properties} ! fakesink name=watch {sink}",
        "--video-meta",
        "1",
    )
    receiver.wait_state("waiting")
    sender = send(cockpit, ball(60, 60), f"{PATIENT} credit=63")
    wait_for(lambda: receiver.stats("src")["credit"], "it to be subscribed")
    assert receiver.stats("src")["credit"] == (36 if properties else 24)  # 200 ms of 60 a second
    sender.finish()
    receiver.finish()
    assert receiver.sums == drawn(cockpit, 60)


@pytest.mark.parametrize("live", ["true", "false"])
def test_encoder_that_looks_ahead(cockpit: Cockpit, live: str) -> None:
    path = cockpit.folder / "copy.mkv"
    receiver = Pipeline(
        cockpit,
        "cluster",
        f"gidsrc name=src domain=open stream=movie is-live={live} ! x264enc ! matroskamux "
        f"! filesink location={path}",
    )
    sent_to(cockpit, receiver)
    copy = Pipeline(
        cockpit,
        "open",
        f"filesrc location={path} ! matroskademux ! h264parse ! avdec_h264 ! fakesink name=watch",
    )
    assert len(copy.finish().frames) == COUNT
    said = [
        m["text"] for m in receiver.lines("bus") if m["bus"] == "info" and "copied" in m["text"]
    ]
    assert len(said) == 1
    assert not [m for m in receiver.lines("bus") if m["bus"] == "warning"]


def test_who_looks_ahead_may_be_late(cockpit: Cockpit) -> None:
    """Who says that it will hold more than there is leaves half of the ring free from the start."""
    text = "gidsrc name=src domain=open stream=movie ! x264enc ! fakesink"
    receiver = Pipeline(cockpit, "cluster", text)
    steps = Steps(cockpit, receiver, 60)
    steps.read(24)  # as many as it has credit for
    receiver.signal(signal.SIGSTOP)
    steps.send(10)
    receiver.signal(signal.SIGCONT)
    sender = steps.finish()
    receiver.finish()
    assert receiver.stats("src")["missed"] == 0
    assert sender.stats("sink")["dropped"] == 0


def test_film_into_a_file(cockpit: Cockpit) -> None:
    """By an encoder with its defaults: one that waited for a lease would take minutes."""
    receiver = Pipeline(
        cockpit,
        "cluster",
        "gidsrc name=src domain=open stream=movie is-live=false ! x264enc ! mp4mux ! fakesink",
    )
    receiver.wait_state("waiting")
    sender = send(cockpit, decode(film(320, 240, 250)), LOSSLESS)
    sender.finish()
    receiver.finish()
    assert sender.stats("sink")["delivered"] >= 250
    assert sender.stats("sink")["dropped"] == 0
    assert sender.stats("sink")["leases-expired"] == 0


# --- programs that hold ---


@pytest.mark.parametrize("hold", at_length_but([5, 14, 100], 5, 14))
def test_program_that_holds(cockpit: Cockpit, hold: int) -> None:
    """Beyond what it may have of the producer's there are copies, and before that none.

    Without max-size-bytes=0 there would also be some where it was late.
    """
    options = ("--video-meta", "1", "--hold", str(hold), "--stay")
    receiver = watch(cockpit, "max-size-bytes=0", "", *options)
    receiver.wait_state("waiting")
    sender = send(cockpit, ball(), LOSSLESS)
    receiver.wait_frames(COUNT)
    stats = receiver.stats("src")
    receiver.tell("quit")
    receiver.finish()
    sender.finish()
    assert receiver.sums == drawn(cockpit)
    assert receiver.lines("end")[0]["overwritten"] == 0
    assert stats["taken"] == 0
    assert (stats["copied-frames"] == 0) == (hold < 14)


def test_who_asks_for_many_gets_them(cockpit: Cockpit) -> None:
    """As an encoder that looks ahead does, in its answer to the ALLOCATION query."""
    options = ("--video-meta", "1", "--hold", "16", "--stay", "--asks-for", "17")
    receiver = watch(cockpit, "max-size-bytes=0", "", *options)
    receiver.wait_state("waiting")
    sender = send(cockpit, ball(), LOSSLESS)
    receiver.wait_frames(COUNT)
    copied = receiver.stats("src")["copied-frames"]
    receiver.tell("quit")
    receiver.finish()
    sender.finish()
    assert receiver.sums == drawn(cockpit)
    assert copied == 0


FILTER = "! capsfilter name=filter"


def forbid_descriptors(receiver: Pipeline) -> None:
    """What is behind gidsrc negotiates anew, and takes plain memory, as a waylandsink does."""
    receiver.tell("set src fd-memory false")
    receiver.tell("set filter caps video/x-raw,width=320")


def wait_plain(receiver: Pipeline, since: int) -> None:
    wait_for(
        lambda: len(receiver.frames) > since + 5
        and not any(frame["fd"] for frame in receiver.frames[-5:]),
        "frames in memory without a descriptor",
    )


def test_copies_follow_what_downstream_takes(cockpit: Cockpit) -> None:
    receiver = watch(cockpit, "", FILTER, "--video-meta", "1", "--hold", "3")
    send(cockpit, camera(100), "lease=5")  # too short, so that each frame is a copy
    receiver.wait_frames(10)
    assert all(frame["fd"] for frame in receiver.frames)
    forbid_descriptors(receiver)
    wait_plain(receiver, len(receiver.frames))
    assert receiver.stats("src")["copied-frames"] >= 10


def test_copies_that_wait_follow_what_downstream_takes(cockpit: Cockpit) -> None:
    receiver = watch(cockpit, "credit=8", f"! identity name=gate {FILTER}")
    send(cockpit, camera(100), "")
    receiver.tell("pass 1")
    receiver.wait_frames(1)
    wait_for(lambda: receiver.stats("src")["waiting"] >= 8, "frames to wait as copies")
    forbid_descriptors(receiver)
    receiver.tell("open")
    receiver.wait_frames(9)
    assert [bool(frame["fd"]) for frame in receiver.frames[:9]] == [True] * 2 + [False] * 7
    sums = receiver.sums
    assert all(before != after for before, after in zip(sums[:8], sums[1:9], strict=True))


def test_what_is_filled_in_follows_what_downstream_takes(cockpit: Cockpit) -> None:
    receiver = watch(cockpit, "fill=last", FILTER)
    sender = send(cockpit, camera(), "")
    receiver.wait_frames(5)
    sender.signal(signal.SIGKILL)
    receiver.wait_state("waiting")
    wait_for(lambda: receiver.stats("src")["filled"] > 0, "a picture to be filled in")
    last = receiver.frames[-1]
    assert last["fd"]
    forbid_descriptors(receiver)
    wait_plain(receiver, len(receiver.frames))
    assert receiver.frames[-1]["sum"] == last["sum"]


def test_leases_too_short_to_be_renewed(cockpit: Cockpit) -> None:
    """Then each frame is a copy."""
    receiver = watch(cockpit, "", "", "--video-meta", "1", "--hold", "3")
    sender = send(cockpit, camera(100), "lease=5")
    receiver.wait_frames(200)
    stats = receiver.stats("src")
    assert stats["taken"] == 0
    assert stats["copied-frames"] == stats["copy-reasons"]["held"] >= 200
    receiver.tell("quit")
    assert receiver.finish().lines("end")[0]["overwritten"] == 0
    sender.stop()


LEASE = 6000  # ms: longer than a busy machine lets nothing run


def test_leases_are_renewed(cockpit: Cockpit) -> None:
    """What a program has stays as it is while the producer goes on, paused or stuck."""
    options = ("--video-meta", "1", "--hold", "6")
    paused = watch(cockpit, "", "", *options)
    stuck = watch(cockpit, "", "! identity name=gate", *options)
    sender = send(cockpit, camera(), f"lease={LEASE}")
    stuck.tell("pass 20")
    for receiver in (paused, stuck):
        receiver.wait_frames(20)
    paused.tell("state paused")
    paused.wait_changes("PAUSED", 2)
    wait_sent(sender, 30 * LEASE // 1000 * 4 // 3, "frames for longer than a lease")
    for receiver in (paused, stuck):
        assert receiver.stats("src")["held"] >= 6
        assert receiver.stats("src")["taken"] == 0
        receiver.tell("quit")
        assert receiver.finish().lines("end")[0]["overwritten"] == 0


FAST = camera(2000).replace(SIZE, "video/x-raw,format=I420,width=16,height=16")


@pytest.mark.parametrize(
    ("source", "pauses"),
    [
        (camera(100), 1),
        (FAST, 10),
        pytest.param(FAST, 40, marks=pytest.mark.at_length),
    ],
)
def test_pause_is_no_backlog(cockpit: Cockpit, source: str, pauses: int) -> None:
    """Live, what came in a pause is past: only its last picture is given downstream after it.

    Where they come so fast, one also comes just when the reader is paused.
    """
    receiver = watch(cockpit)
    sender = send(cockpit, source, "")
    for pause in range(pauses):
        receiver.wait_frames(len(receiver.frames) + 20)
        receiver.tell("state paused")
        receiver.wait_changes("PAUSED", pause + 2)
        wait_sent(sender, 60, "frames in the pause")
        sent, count = sent_by(sender), len(receiver.frames)
        receiver.tell("state playing")
        receiver.wait_frames(count + 30)
        past = [frame for frame in receiver.frames[count:] if frame["offset"] < sent]
        assert len(past) <= 2  # one may have been in its hand when it was paused


def pause(receiver: Pipeline, sender: Pipeline, sent: int, then: int) -> int:
    """Until so many were sent meanwhile, and so many came then: how many came before."""
    receiver.tell("state paused")
    receiver.wait_changes("PAUSED", 2)
    wait_sent(sender, sent, "frames in the pause")
    count = len(receiver.frames)
    receiver.tell("state playing")
    receiver.wait_frames(count + then)
    return count


def test_a_short_pause_is_one_gap(cockpit: Cockpit) -> None:
    """Shorter than the ring has room for: what comes behind the pause's last picture follows it."""
    receiver = watch(cockpit)
    sender = send(cockpit, camera(20), "")
    receiver.wait_frames(10)
    count = pause(receiver, sender, 3, 10)
    pairs = list(itertools.pairwise(receiver.frames[count - 1 :]))
    gaps = [frame["offset"] for before, frame in pairs if frame["offset"] != before["offset"] + 1]
    assert gaps == [frame["offset"] for _, frame in pairs if frame["flags"] & DISCONT]
    assert len(gaps) == 1
    assert not [said for said in receiver.lines("bus") if said["bus"] == "warning"]


@pytest.mark.parametrize("old", ["false", "true"])
def test_a_pause_holds_up_no_film(cockpit: Cockpit, old: str) -> None:
    """Whose producer waits for its readers, five minutes for each."""
    receiver = watch(cockpit, f"drop-old={old}")
    receiver.wait_state("waiting")
    sender = send(cockpit, ball(10**6), LOSSLESS)
    receiver.wait_frames(20)
    count = pause(receiver, sender, 200, 20)
    offsets = [frame["offset"] for frame in receiver.frames[count:]]
    assert offsets[1] > 150, "one may have been in its hand when it was paused"
    assert not [said for said in receiver.lines("bus") if said["bus"] == "warning"]
    assert "lost" not in sender.stderr


def paused(cockpit: Cockpit) -> Pipeline:
    """A live reader that has not played yet."""
    receiver = watch(cockpit, "", "", "--video-meta", "1", "--paused")
    receiver.wait_changes("PAUSED", 1)
    return receiver


def test_pause_before_it_plays(cockpit: Cockpit) -> None:
    """As of any live source, nothing comes of it, and its first frames are those of now."""
    receiver = paused(cockpit)
    sender = send(cockpit, camera(100), "")
    wait_sent(sender, 60, "frames before it plays")
    assert sender.stats("sink")["consumers"] == 0
    receiver.tell("state playing")
    receiver.wait_frames(30)
    times = [frame["pts"] for frame in receiver.frames]
    assert times == sorted(set(times))


def test_film_begins_when_its_reader_plays(cockpit: Cockpit) -> None:
    receiver = paused(cockpit)
    sender = send(cockpit, ball(), LOSSLESS)
    sender.wait_playing()
    receiver.tell("state playing")
    sender.finish()
    receiver.finish()
    assert receiver.sums == drawn(cockpit)


def test_end_in_a_pause(cockpit: Cockpit) -> None:
    """The last picture is shown, and then comes the end."""
    receiver = watch(cockpit)
    receiver.wait_state("waiting")
    sender = send(cockpit, f"{ball(30)} ! identity name=gate ! identity name=watch", LOSSLESS)
    sender.tell("pass 20")
    receiver.wait_frames(20)
    receiver.tell("state paused")
    receiver.wait_changes("PAUSED", 2)
    sender.tell("open")
    wait_for(lambda: sender.events("eos"), "the end")
    receiver.tell("state playing")
    receiver.finish()
    sender.finish()
    assert receiver.sums[-1] == drawn(cockpit, 30)[-1]


def test_stopped_program_is_told(cockpit: Cockpit) -> None:
    """A reader that does not move loses what it held, and hears of it all when it moves again."""
    receiver = watch(cockpit, "max-size-bytes=0", "", "--video-meta", "1", "--hold", "6")
    sender = send(cockpit, camera(100), f"lease={LEASE}")
    receiver.wait_frames(20)
    receiver.tell("state paused")
    receiver.wait_changes("PAUSED", 2)
    held = receiver.stats("src")["held"]
    assert held >= 6
    assert not receiver.messages("gid-taken")
    receiver.signal(signal.SIGSTOP)
    wait_for(
        lambda: sender.stats("sink")["leases-expired"] >= held,
        "its leases to run out",
    )
    wait_sent(sender, 100, "others in their place")
    receiver.signal(signal.SIGCONT)
    wait_for(
        lambda: sum(message["frames"] for message in receiver.messages("gid-taken")) >= held,
        f"messages of the {held} frames that it held",
    )
    warned = [m["text"] for m in receiver.lines("bus") if m["bus"] == "warning"]
    assert any("taken back" in text for text in warned)
    count = len(receiver.frames)
    receiver.tell("state playing")
    receiver.wait_frames(count + 20)


def test_an_end_that_is_told_late_takes_nothing(cockpit: Cockpit) -> None:
    """The frames of a slab that has ended are out of date before its reader hears of the end."""
    receiver = watch(cockpit, "max-size-bytes=0", "", "--video-meta", "1", "--hold", "6", "--stay")
    sender = send(cockpit, camera())
    receiver.wait_frames(20)
    cockpit.gidds["cluster"].signal(signal.SIGSTOP)
    sender.tell("quit")
    sender.finish()
    time.sleep(2)  # eight looks
    cockpit.gidds["cluster"].signal(signal.SIGCONT)
    wait_for(lambda: receiver.messages("gid-state")[-1]["state"] != "streaming", "the end")
    receiver.tell("quit")
    assert receiver.finish().lines("end")[0]["overwritten"] == 0
    assert not receiver.messages("gid-taken")


def test_producer_makes_slots_for_who_holds(cockpit: Cockpit) -> None:
    """More than it was told to have, rather than that it stands still."""
    receiver = watch(cockpit, "", "", "--video-meta", "1", "--hold", "100")
    sender = send(cockpit, camera(100), "slots=3")
    receiver.wait_frames(300)
    assert receiver.stats("src")["taken"] == 0
    assert sender.stats("sink")["leases-expired"] == 0
    receiver.tell("quit")
    assert receiver.finish().lines("end")[0]["overwritten"] == 0


LITTLE = configuration(
    {"open": "memory=2M client-memory=800K", "cluster": ""}, {"open cluster": "*"}
)


@pytest.mark.cockpit(LITTLE)
def test_producer_that_lacks_memory(cockpit: Cockpit) -> None:
    """It has no slot but those that a program holds: it waits for a lease, and takes them."""
    receiver = watch(cockpit, "credit=63", "", "--video-meta", "1", "--hold", "100")
    sender = send(cockpit, camera(100), "credit=63 lease=200")
    wait_for(lambda: receiver.messages("gid-taken"), "the message of it")
    receiver.wait_frames(len(receiver.frames) + 20)
    assert sender.stats("sink")["slots"] <= 8


@pytest.mark.cockpit(LITTLE)
def test_who_waits_for_what_it_holds_is_told(cockpit: Cockpit) -> None:
    """A branch that has all the memory that there is, and needs more to go on."""
    sender = Pipeline(
        cockpit,
        "open",
        f"{camera()} ! gidalloc ! tee name=t {QUEUE.replace('!', 't. !', 1)} "
        "min-threshold-buffers=50 ! fakesink async=false t. ! queue ! gidsink stream=movie",
    )
    wait_for(
        lambda: any("hold all frames" in m["text"] for m in sender.lines("bus") if "text" in m),
        "the warning",
    )
    assert sender.is_running()


# --- downstream that is slow ---

AWAY = "! identity name=gate"  # until it is opened


@pytest.mark.parametrize("live", ["true", "false"])
def test_stall(cockpit: Cockpit, live: str) -> None:
    """Downstream is away with the first frame, and the others wait, more than a ring has."""
    receiver = watch(cockpit, f"is-live={live}", AWAY)
    steps = Steps(cockpit, receiver, COUNT)
    steps.read(COUNT - 10, 16)
    stats = receiver.stats("src")
    assert stats["waiting"] == COUNT - 11 and not receiver.frames
    receiver.tell("open")
    steps.finish()
    receiver.finish()
    assert receiver.sums == drawn(cockpit)
    assert receiver.stats("src")["missed"] == receiver.stats("src")["waiting"] == 0


@pytest.mark.parametrize("live", ["true", "false"])
def test_end_that_is_asked_for(cockpit: Cockpit, live: str) -> None:
    """As by Ctrl-C of gst-launch-1.0 -e: behind all that has arrived, and before the rest."""
    receiver = watch(cockpit, f"is-live={live}", AWAY)
    steps = Steps(cockpit, receiver, COUNT)
    steps.read(40, 16)
    assert receiver.stats("src")["waiting"] > 20 and not receiver.frames
    receiver.tell("eos")
    assert receiver.stats("src")["waiting"] > 20  # it has obeyed
    steps.send(20)
    receiver.tell("open")
    receiver.finish()
    assert receiver.sums == drawn(cockpit)[:40]
    steps.sender.stop()


def test_what_comes_back_while_a_frame_is_taken(cockpit: Cockpit) -> None:
    """A frame that is being copied out of the ring goes before the one that comes meanwhile."""
    receiver = watch(cockpit, "credit=8", "! queue max-size-buffers=1 ! identity sleep-time=15000")
    receiver.wait_state("waiting")
    source = "videotestsrc is-live=true pattern=black num-buffers=200 "
    source += "! video/x-raw,format=BGRx,width=1920,height=1080,framerate=60/1"
    send(cockpit, source, "wait-for-connection=true credit=8").finish()
    receiver.finish()
    times = [frame["pts"] for frame in receiver.frames]
    assert times == sorted(times)
    assert receiver.stats("src")["waiting"] == 0


@pytest.mark.parametrize("live", at_length_but(["true", "false"], "true"))
def test_what_is_kept_of_a_pipeline_that_was_stopped(cockpit: Cockpit, live: str) -> None:
    """As of a program that takes a picture and ends: its stream goes on, and it has what it took.
    The subscription ends with the last of it, and the program may read the stream again before.
    """
    receiver = watch(cockpit, f"is-live={live}", "", "--video-meta", "1", "--hold", "4", "--stay")
    receiver.wait_state("waiting")
    sender = send(cockpit, camera(120), "")
    receiver.wait_frames(20)
    receiver.tell("state null")
    wait_sent(sender, 150, "as many as it has memory for, several times")
    receiver.tell("state playing")
    receiver.wait_frames(len(receiver.frames) + 20)
    receiver.tell("state null")
    wait_sent(sender, 150, "the same again")
    receiver.tell("release")
    wait_for(lambda: sender.stats("sink")["consumers"] == 0, "it to unsubscribe")
    receiver.tell("quit")
    assert receiver.finish().lines("end")[0]["overwritten"] == 0
    sender.stop()


def test_what_is_missed_is_told(cockpit: Cockpit) -> None:
    """Where nothing more may wait."""
    receiver = watch(cockpit, "is-live=false max-size-bytes=0 credit=4", AWAY)
    steps = Steps(cockpit, receiver, COUNT)
    steps.read(1)
    steps.send(40)
    assert steps.sender.stats("sink")["dropped"] == 37  # it has one in its hand, and three more
    receiver.tell("open")
    receiver.wait_frames(5)  # with the last one, which is what is shown now
    steps.finish(1)
    receiver.finish()
    assert receiver.stats("src")["missed"] == 36
    warned = [m["text"] for m in receiver.lines("bus") if m["bus"] == "warning"]
    assert sum("missed" in text for text in warned) == 1
    assert len(receiver.frames) == COUNT - 36


def test_what_the_newest_frames_cost_is_told(cockpit: Cockpit) -> None:
    """With the reason: neither the producer nor more memory is to blame."""
    receiver = watch(cockpit, "is-live=false drop-old=true", AWAY)
    steps = Steps(cockpit, receiver, COUNT)
    steps.read(1)
    steps.send(COUNT - 2)
    receiver.tell("open")
    steps.finish(1)
    receiver.finish()
    assert receiver.stats("src")["missed"] > 100
    (warned,) = {m["text"] for m in receiver.lines("bus") if "were missed:" in m.get("text", "")}
    assert "drop-old=true" in warned and "its producer" not in warned
