# SPDX-License-Identifier: MIT
"""Consumers that stall, hold on or die, producers that come and go, and what cannot start."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from gid_vm.preload import Preload
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.pipeline import (
    LEASE,
    LOSSLESS,
    Pipeline,
    clip,
    decode,
    film,
    gst_env,
    send,
    sums_of,
    watch,
)
from lib.program import BUILD, Program, wait_for
from lib.versions import h264_is_decoded_in_place

from lab.domains.configuration import configuration

DISCONT = 0x40
LIVE = "videotestsrc is-live=true pattern=ball ! video/x-raw,width=640,height=360,framerate=60/1"
BALL = "videotestsrc pattern=ball num-buffers={} ! video/x-raw,format=I420,width=320,height=240"


def memory_of(pid: int) -> int:
    """Bytes of shared memory that the process has."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssShmem"))


# --- consumers ---


def test_an_end_that_would_not_be_heard(cockpit: Cockpit) -> None:
    """Where there is no memory to listen for a slab's end its frames are lost, and not given on:
    downstream would keep what is nothing any more."""
    file = cockpit.folder / "unheard"
    file.touch()
    preload = Preload(BUILD / "tests/lib/programs/unheard.so")
    receiver = watch(cockpit, UNHEARD=str(file), **preload.env)
    send(cockpit, LIVE, "")
    wait_for(lambda: receiver.stats("src")["lost"] > 5, "frames to be lost")
    assert receiver.frames == []
    file.unlink()
    receiver.wait_frames(5)


def test_stopped_consumer(cockpit: Cockpit) -> None:
    """For five seconds of frames: neither the producer nor another consumer notices."""
    stopped = watch(cockpit, "drop-old=false credit=8")  # of the producer's 32 slots
    other = watch(cockpit, "credit=8")
    sender = send(cockpit, LIVE, "")
    stopped.wait_frames(30)
    other.wait_frames(30)
    waits = sender.stats("sink")["waits"]
    stopped.signal(signal.SIGSTOP)
    memory = memory_of(sender.pid)
    other.wait_frames(len(other.frames) + 300)
    stats = sender.stats("sink")
    assert stats["slots"] <= 32
    assert memory_of(sender.pid) <= memory + 32 * 640 * 360 * 4
    # One that lacked slots would wait at nearly each frame. Now and then the other is late itself.
    assert stats["waits"] - waits <= 3
    stopped.signal(signal.SIGCONT)
    count = len(stopped.frames)
    stopped.wait_frames(count + 30)


def test_stopped_consumer_of_a_film(cockpit: Cockpit) -> None:
    """A decoder that needs its slots back gets them from a consumer that does not move."""
    stopped = watch(cockpit, "credit=60")
    sender = send(cockpit, decode(clip()), "sync=false credit=60 slots=8 lease=300")
    wait_for(lambda: sender.messages("gid-consumers"), "the consumer", pause=0.001)
    stopped.signal(signal.SIGSTOP)
    sender.finish()
    assert sender.stats("sink")["frames"] >= 132
    stopped.signal(signal.SIGCONT)


def test_killed_consumer(cockpit: Cockpit) -> None:
    """What it held is back at once."""
    other = watch(cockpit)
    holder = watch(cockpit, "credit=8 max-size-bytes=0", "", "--video-meta", "1", "--hold", "5")
    sender = send(cockpit, LIVE, "lease=60000")
    holder.wait_frames(30)
    other.wait_frames(30)
    held = sender.stats("sink")["held"]
    assert held >= 5
    holder.kill()
    # Long before their lease runs out.
    wait_for(lambda: sender.stats("sink")["held"] < held - 3, "the frames to be back", pause=0.005)
    wait_for(lambda: sender.messages("gid-consumers")[-1]["consumers"] == 1, "its end to be told")


def test_lease(cockpit: Cockpit) -> None:
    """Who does not move holds no frame for longer than the lease, and the stream goes on."""
    holder = watch(cockpit, "credit=4", "", "--video-meta", "1", "--hold", "100")
    sender = send(cockpit, LIVE, "lease=5000")  # longer than a busy machine lets nothing run
    holder.wait_frames(16)
    assert sender.stats("sink")["leases-expired"] == 0
    holder.signal(signal.SIGSTOP)
    wait_for(lambda: sender.stats("sink")["leases-expired"] >= 2, "leases to run out")
    assert sender.stats("sink")["held"] <= 4
    holder.signal(signal.SIGCONT)
    holder.wait_frames(len(holder.frames) + 16)


def test_lossless_producer_waits(cockpit: Cockpit) -> None:
    """leaky=false: a slow consumer slows it down, and no frame is lost."""
    source = decode(film(640, 360))
    expected = sums_of(cockpit, source)
    slow = watch(cockpit, "", "! identity sleep-time=20000 ! queue max-size-buffers=1")
    start = time.monotonic()
    sender = send(cockpit, source, LOSSLESS)
    sender.finish()
    assert time.monotonic() - start > 0.02 * (len(expected) - 10)
    slow.finish()
    assert slow.sums == expected
    assert sender.stats("sink")["dropped"] == 0


def patient(count: int, properties: str, before: str = "") -> str:
    """As anybody writes it."""
    source = f"videotestsrc pattern=ball num-buffers={count} ! video/x-raw,width=320,height=240"
    return f"{source} {before} ! gidsink name=sink stream=movie leaky=false {properties}"


def test_a_reader_that_gets_no_processor(cockpit: Cockpit) -> None:
    """For three seconds, while the producer waits for readers: nothing is lost."""
    receiver = watch(cockpit, "is-live=false")
    sender = Pipeline(cockpit, "open", patient(150, "wait-for-connection=true"))
    receiver.wait_frames(5)
    receiver.signal(signal.SIGSTOP)
    time.sleep(3)
    receiver.signal(signal.SIGCONT)
    sender.finish()
    receiver.finish()
    assert [frame["offset"] for frame in receiver.frames] == list(range(150))
    stats = sender.stats("sink")
    assert stats["dropped"] == stats["leases-expired"] == 0
    assert "lost" not in sender.stderr
    assert "missed" not in receiver.stderr


def test_a_reader_for_which_nobody_waits_any_more(cockpit: Cockpit) -> None:
    """It is waited for once. Who records by `gst-launch-1.0 -q` hears of it."""
    lease = 4
    stopped = watch(cockpit, "is-live=false")
    other = watch(cockpit, "is-live=false")
    for receiver in (stopped, other):
        receiver.wait_state("waiting")
    text = patient(300, f"sync=false lease={lease}000", "! identity name=gate")
    sender = Pipeline(cockpit, "open", text)
    sender.tell("pass 5")
    stopped.wait_frames(5)
    stopped.signal(signal.SIGSTOP)
    sender.tell("open")
    begin = time.monotonic()
    sender.finish()
    assert time.monotonic() - begin < 4 * lease
    other.finish()
    last = [frame["offset"] for frame in other.frames][-250:]
    assert last == list(range(300 - len(last), 300)), "the other one has them all"
    assert sender.stats("sink")["dropped"] > 100
    assert f'"movie" were lost: a reader took none for {lease}000 ms.' in sender.stderr
    stopped.signal(signal.SIGCONT)
    stopped.finish()
    assert '"movie" were missed: this program took none for longer' in stopped.stderr


def test_a_reader_of_the_newest_frames_holds_up_nobody(cockpit: Cockpit) -> None:
    """It said that it may miss some: who waits for the other does not wait for it."""
    newest = watch(cockpit, "drop-old=true")
    other = watch(cockpit, "is-live=false")
    for receiver in (newest, other):
        receiver.wait_state("waiting")
    sender = Pipeline(cockpit, "open", patient(300, "sync=false lease=300000"))
    newest.wait_frames(5)
    newest.signal(signal.SIGSTOP)
    other.finish()
    last = [frame["offset"] for frame in other.frames][-250:]
    assert last == list(range(300 - len(last), 300)), "the other one has them all"
    newest.signal(signal.SIGCONT)
    sender.finish()
    newest.finish()
    assert newest.frames[-1]["offset"] == 299
    assert "lost" not in sender.stderr
    assert sender.stats("sink")["dropped"] == 0


@pytest.mark.parametrize("old", [False, True])
def test_which_frames_are_dropped(cockpit: Cockpit, old: bool) -> None:
    """After a stall, drop-old goes on with the newest frame, and without it with the next."""
    consumer = watch(cockpit, f"drop-old={str(old).lower()} credit=4")
    sender = send(cockpit, LIVE, "lease=600000")
    consumer.wait_frames(20)
    consumer.signal(signal.SIGSTOP)
    dropped = sender.stats("sink")["dropped"]
    wait_for(lambda: sender.stats("sink")["dropped"] > dropped + 100, "frames to be dropped")
    resumed = time.monotonic_ns()
    before = len(consumer.frames)
    consumer.signal(signal.SIGCONT)
    consumer.wait_frames(before + 10)
    frames = consumer.frames
    jump = next(
        later
        for earlier, later in zip(frames, frames[1:], strict=False)
        if later["time"] >= resumed and later["offset"] > earlier["offset"] + 90
    )
    # Of what was sent before the jump, one may have been in the consumer's hand when it stopped.
    followed = [f for f in frames if f["time"] >= resumed and f["offset"] < jump["offset"]]
    assert len(followed) <= 1 if old else len(followed) >= 2


# --- producers ---


@pytest.mark.parametrize("first", ["consumer", "producer"])
def test_producer_killed_and_back(cockpit: Cockpit, first: str) -> None:
    """In either start order; frames go on and say that some are missing."""
    if first == "consumer":
        receiver = watch(cockpit)
        receiver.wait_state("waiting")
        sender = send(cockpit, LIVE, "")
    else:
        sender = send(cockpit, LIVE, "")
        sender.wait_playing()
        receiver = watch(cockpit)
    receiver.wait_frames(20)
    assert receiver.stats("src")["lost"] == 0
    for _ in range(2):
        sender.kill()
        states = len(receiver.messages("gid-state"))
        wait_for(
            lambda count=states: (
                len(receiver.messages("gid-state")) > count
                or receiver.messages("gid-state")[-1]["state"] == "waiting"
            ),
            "the consumer to hear of it",
        )
        # A dead producer's slabs are revoked: what was unread then may be lost, but nothing later.
        before, lost = len(receiver.frames), receiver.stats("src")["lost"]
        sender = send(cockpit, LIVE, "")
        receiver.wait_frames(before + 10)
        assert receiver.frames[before]["flags"] & DISCONT
        assert receiver.stats("src")["lost"] == lost


def test_producer_ends_without_reconnect(cockpit: Cockpit) -> None:
    sender = send(cockpit, LIVE, "")
    sender.wait_playing()
    receiver = watch(cockpit, "reconnect=false")
    receiver.wait_frames(5)
    sender.tell("quit")
    sender.finish()
    receiver.finish()
    assert receiver.events("eos") == 1


def test_producer_killed_without_reconnect(cockpit: Cockpit) -> None:
    sender = send(cockpit, LIVE, "")
    sender.wait_playing()
    receiver = watch(cockpit, "reconnect=false")
    receiver.wait_frames(5)
    sender.kill()
    assert receiver.wait() == 1
    assert "ended unexpectedly" in receiver.errors()[0]


def test_gidd_killed(cockpit: Cockpit) -> None:
    """Streams that exist flow on without gidd, and new ones start when it is back."""
    sender = send(cockpit, LIVE, "")
    sender.wait_playing()
    receiver = watch(cockpit)
    receiver.wait_frames(20)
    for domain in ("open", "cluster"):
        cockpit.kill(domain)
    before = len(receiver.frames)
    receiver.wait_frames(before + 60)
    for domain in ("open", "cluster"):
        cockpit.start(domain)
    cockpit.wait_links()
    before = len(receiver.frames)
    late = watch(cockpit)
    late.wait_frames(20)
    receiver.wait_frames(before + 20)
    sequence = [frame["offset"] for frame in receiver.frames]
    assert sequence == sorted(set(sequence))


# --- gidd does not answer ---

LATE = "3"  # seconds; one that does not hang may run late, too


def warned(pipeline: Pipeline) -> list[str]:
    return [line["text"] for line in pipeline.lines("bus") if line["bus"] == "warning"]


def wait_without_gidd(sender: Pipeline) -> None:
    wait_for(lambda: any("before gidd answers" in text for text in warned(sender)), "the warning")


def test_streams_go_on_while_gidd_hangs(cockpit: Cockpit) -> None:
    """A reader that stands still has all slots. Others were asked for, and nobody waits for these:
    not its own stream, and not that of another branch.
    """
    stopped, other = watch(cockpit), watch(cockpit, stream="a")
    branches = " ".join(
        f"{LIVE} ! gidsink name={name} stream={stream} {LEASE}"
        for name, stream in (("sink", "movie"), ("other", "a"))
    )
    sender = Pipeline(cockpit, "open", branches, GID_ANSWER_SECONDS="600")
    stopped.wait_frames(10)
    other.wait_frames(10)
    cockpit.gidds["open"].signal(signal.SIGSTOP)
    stopped.signal(signal.SIGSTOP)
    before = sender.stats("sink")
    wait_for(lambda: sender.stats("sink")["frames"] > before["frames"] + 200, "frames for nobody")
    other.wait_frames(len(other.frames) + 100)
    assert sender.stats("sink")["slots"] == before["slots"] < 32
    cockpit.gidds["open"].signal(signal.SIGCONT)
    wait_for(lambda: sender.stats("sink")["slots"] > before["slots"], "more slots")
    stopped.signal(signal.SIGCONT)
    stopped.wait_frames(len(stopped.frames) + 30)


def film_beside_a_camera(cockpit: Cockpit, memory: str) -> tuple[Pipeline, Pipeline, Pipeline]:
    """Who sends both, and their receivers. The film has memory, and is yet to begin."""
    receiver, other = watch(cockpit), watch(cockpit, stream="a")
    sender = Pipeline(
        cockpit,
        "open",
        f"{BALL.format(20)} {memory} ! identity name=gate ! gidsink name=sink stream=movie "
        f"async=false {LOSSLESS} {LIVE} ! gidsink stream=a async=false sync=false",
        GID_ANSWER_SECONDS="600",
    )
    receiver.wait_state("live")
    other.wait_frames(10)
    wait_for(lambda: film_slabs(cockpit), "its memory")
    return sender, receiver, other


def film_slabs(cockpit: Cockpit) -> list[dict]:
    return [slab for slab in cockpit.status("open")["slabs"] if slab["width"] == 320]


def end_film(sender: Pipeline, receiver: Pipeline) -> None:
    sender.tell("open")
    receiver.finish()
    assert len(receiver.frames) == 20
    assert receiver.stats("src")["missed"] == receiver.stats("src")["lost"] == 0


def test_a_first_frame_has_its_grants_before(cockpit: Cockpit) -> None:
    """So that it waits for nobody, if gidd hangs by then."""
    sender, receiver, _ = film_beside_a_camera(cockpit, "")
    wait_for(lambda: all("grants" in slab for slab in film_slabs(cockpit)), "the grants")
    cockpit.gidds["open"].signal(signal.SIGSTOP)
    sender.tell("pass 5")
    wait_for(lambda: sender.stats("sink")["frames"] == 5, "the first frames")
    cockpit.gidds["open"].signal(signal.SIGCONT)
    receiver.wait_frames(5)
    end_film(sender, receiver)


def test_a_first_frame_waits_for_gidd_alone(cockpit: Cockpit) -> None:
    """Of memory that was made for no stream: other streams of the program go on."""
    sender, receiver, other = film_beside_a_camera(cockpit, "! gidalloc")
    cockpit.gidds["open"].signal(signal.SIGSTOP)
    sender.tell("pass 5")
    other.wait_frames(len(other.frames) + 100)
    assert sender.stats("sink")["frames"] == len(receiver.frames) == 0
    cockpit.gidds["open"].signal(signal.SIGCONT)
    receiver.wait_frames(5)
    end_film(sender, receiver)


@pytest.mark.parametrize("gidd", ["hangs", "is away"])
def test_another_size_while_gidd(cockpit: Cockpit, gidd: str) -> None:
    """There is no memory for it. The pipeline waits, and says so."""
    size = "video/x-raw,format=I420,framerate=30/1,width={},height=240"
    source = f"videotestsrc is-live=true ! capsfilter name=form caps={size.format(320)}"
    receiver = watch(cockpit)
    sink = "gidsink name=sink stream=movie"
    sender = Pipeline(cockpit, "open", f"{source} ! {sink}", GID_ANSWER_SECONDS=LATE)
    receiver.wait_frames(10)
    if gidd == "hangs":
        cockpit.gidds["open"].signal(signal.SIGSTOP)
    else:
        cockpit.kill("open")
    sender.tell(f"set form caps {size.format(640)}")
    wait_without_gidd(sender)
    if gidd == "hangs":
        cockpit.gidds["open"].signal(signal.SIGCONT)
    else:
        cockpit.start("open")
    wait_for(lambda: len(receiver.caps) > 1, "the other size")
    receiver.wait_frames(len(receiver.frames) + 10)
    assert "width=(int)640" in receiver.caps[1]


def test_nothing_is_read_twice_when_gidd_answers_late(cockpit: Cockpit) -> None:
    """Its program gives it up, and gidd what it knows of the program. The reader subscribes anew,
    and is sent what the stream shows, which it has.
    """
    film = f"{BALL.format(20)} ! identity name=gate"
    expected = sums_of(cockpit, BALL.format(20))
    receiver = watch(cockpit, "is-live=false")
    sender = Pipeline(
        cockpit,
        "open",
        f"{film} ! gidsink name=sink stream=movie {LOSSLESS} "
        f"{LIVE} ! valve name=valve drop=true ! gidsink stream=a async=false sync=false",
        GID_ANSWER_SECONDS=LATE,
    )

    def subscribed() -> int:
        return sum(message["state"] == "live" for message in receiver.messages("gid-state"))

    sender.tell("pass 5")
    receiver.wait_frames(5)
    before = subscribed()
    cockpit.gidds["open"].signal(signal.SIGSTOP)
    sender.tell("set valve drop false")  # its first memory
    wait_without_gidd(sender)
    cockpit.gidds["open"].signal(signal.SIGCONT)
    wait_for(lambda: subscribed() > before, "it to subscribe anew")
    sender.tell("pass 5")
    receiver.wait_frames(10)
    sender.tell("open")
    receiver.wait_frames(len(expected))
    sender.tell("eos")
    sender.finish()
    receiver.finish()
    assert receiver.sums == expected
    assert receiver.stats("src")["missed"] == receiver.stats("src")["lost"] == 0


# --- starts and stops ---


@pytest.mark.parametrize("end", ["sink", "src"])
def test_hundred_cycles_leave_nothing(cockpit: Cockpit, end: str) -> None:
    steady = send(cockpit, LIVE, "") if end == "src" else watch(cockpit)
    cycled: Pipeline = watch(cockpit) if end == "src" else send(cockpit, LIVE, "")
    (cycled if end == "src" else steady).wait_frames(5)

    def cycle(count: int) -> None:
        for _ in range(count):
            cycled.tell("state null")
            before = len(cycled.lines("bus"))
            cycled.tell("state playing")
            wait_for(lambda b=before: len(cycled.lines("bus")) > b, "the next start")

    def settled() -> int:
        cycled.tell("state null")
        count = len(cycled.lines("stats"))
        cycled.tell(f"stats {end}")
        wait_for(lambda: len(cycled.lines("stats")) > count, "the pipeline to have stopped")
        return cycled.open_fds()

    cycle(5)
    fds, maps = settled(), len(open(f"/proc/{cycled.pid}/maps").readlines())
    cycle(100)
    wait_for(lambda: settled() <= fds, f"no more than {fds} descriptors")
    assert len(open(f"/proc/{cycled.pid}/maps").readlines()) < maps + 60
    cycled.tell("state playing")
    if end == "src":
        cycled.wait_frames(len(cycled.frames) + 10)
    else:
        steady.wait_frames(len(steady.frames) + 10)


# --- what cannot start ---


def fails(pipeline: Pipeline) -> str:
    assert pipeline.wait() == 1, pipeline.account()
    return pipeline.errors()[0]


def test_no_gidd(make_cockpit: Callable[..., Cockpit]) -> None:
    cockpit = make_cockpit()
    for pipeline in (
        lambda: send(cockpit, LIVE, ""),
        lambda: watch(cockpit),
        lambda: Pipeline(cockpit, "open", f"{LIVE} ! gidalloc ! fakesink"),
    ):
        text = fails(pipeline())
        assert "gidd" in text
        assert "start" in text.lower()


def test_no_stream_named(cockpit: Cockpit) -> None:
    assert "stream=" in fails(Pipeline(cockpit, "open", f"{LIVE} ! gidsink"))
    assert "stream=" in fails(Pipeline(cockpit, "open", "gidsrc ! fakesink"))


def test_no_caps(cockpit: Cockpit) -> None:
    """Sources that can be anything push buffers of nothing in particular."""
    source = "fakesrc sizetype=fixed sizemax=1000"
    text = fails(Pipeline(cockpit, "open", f"{source} ! gidsink stream=movie"))
    assert "data stream" in text


def test_second_producer(cockpit: Cockpit) -> None:
    send(cockpit, LIVE, "").wait_playing()
    text = fails(send(cockpit, LIVE, ""))
    assert "movie" in text


@pytest.mark.parametrize("name", ["no\tname", "/movie", "a b"])
def test_names(cockpit: Cockpit, name: str) -> None:
    text = fails(Pipeline(cockpit, "open", f'{LIVE} ! gidsink stream="{name}"'))
    assert "name" in text


@pytest.mark.parametrize("name", ["1", "nowhere"])
def test_a_domain_that_does_not_run_here(cockpit: Cockpit, name: str) -> None:
    """A program is in a domain by its name: those that there are, are told."""
    text = fails(Pipeline(cockpit, "open", f"{LIVE} ! gidsink domain={name} stream=movie"))
    assert f"no gidd for domain '{name}'" in text
    assert "(domains that run here: " in text and "cluster" in text and "open" in text


def test_waiting_is_told(cockpit: Cockpit) -> None:
    """To programs and, by gst-launch-1.0, to people."""
    receiver = watch(cockpit)
    receiver.wait_state("waiting")
    assert receiver.messages("gid-state")[0]["reason"] == "nobody produces it now"
    said = wait_for(lambda: [m for m in receiver.lines("bus") if m["bus"] == "info"], "a word")
    assert "movie" in said[0]["text"]
    # Of an information it shows only the part that is for who mends things.
    env = gst_env(cockpit.env("cluster"), cockpit.folder / "registry.bin")
    words = "gidsrc domain=open stream=movie ! fakesink".split()
    launched = Program(["gst-launch-1.0", *words], env, cockpit.folder, "launched")
    launched.wait_output('Waiting for the stream "movie": nobody produces it now')


def test_stream_that_is_set_while_another_is_read(cockpit: Cockpit) -> None:
    """It is for the next start: messages go on to name the one that is read."""
    receiver = watch(cockpit)
    sender = send(cockpit, LIVE, "")
    receiver.wait_frames(1)
    receiver.tell("set src stream camera/rear")
    wait_for(lambda: receiver.stats("src")["stream"] == "camera/rear", "the other stream to be set")
    sender.signal(signal.SIGKILL)
    wait_for(
        lambda: [s["state"] for s in receiver.messages("gid-state")][-2:] == ["live", "waiting"],
        "the loss of the stream to be told",
    )
    said = [m["text"] for m in receiver.lines("bus") if m["bus"] == "info"]
    assert said[-1].startswith('Waiting for the stream "movie"')


def test_a_long_wait_is_told_to_who_sees_no_messages(cockpit: Cockpit) -> None:
    """Once, and only where the stream is not there: a film that is paused is."""
    env = gst_env(cockpit.env("cluster"), cockpit.folder / "registry.bin")
    programs = [
        Program(["gst-launch-1.0", "-q", *words.split()], env, cockpit.folder, name)
        for name, words in {
            "missing": "gidsrc domain=open stream=camera/rear ! fakesink",
            "paused": "gidsrc domain=open stream=movie ! fakesink",
        }.items()
    ]
    sender = send(cockpit, LIVE, "")
    sender.wait_playing()
    sender.tell("state paused")
    missing, paused = programs
    missing.wait_output(
        'gidsrc0: Still waiting for the stream "camera/rear" of domain "open": nobody'
    )
    time.sleep(6)  # as long as it took, and more
    assert missing.stderr.count("waiting") == 1
    assert "waiting" not in paused.stderr


@pytest.mark.cockpit(DEFAULT_CONFIG + "[client cluster *]\nread=movie\n")
def test_a_stream_that_its_user_may_not_read(cockpit: Cockpit) -> None:
    """However long it would wait for one that is not there."""
    text = fails(watch(cockpit, stream="input/desk"))
    assert "add it to read= of [client cluster *]" in text


def test_no_such_stream(cockpit: Cockpit) -> None:
    text = fails(watch(cockpit, "reconnect=false", stream="nothing"))
    assert "nothing" in text


@pytest.mark.parametrize("reconnect", ["true", "false"])
def test_a_gidd_that_does_not_answer(cockpit: Cockpit, reconnect: str) -> None:
    """The producer's stands still: the pipeline plays all the same, and can be ended."""
    cockpit.gidds["open"].signal(signal.SIGSTOP)
    # Nobody waits for as long as an answer may take. Nor does this sink, for its first frame.
    source = f"gidsrc domain=open stream=movie reconnect={reconnect}"
    receiver = Pipeline(
        cockpit, "cluster", f"{source} ! fakesink async=false", GID_ANSWER_SECONDS="600"
    )
    receiver.wait_playing()
    assert not receiver.messages("gid-state")  # nothing is known yet
    receiver.tell("quit")
    receiver.finish()
    receiver = watch(cockpit, f"reconnect={reconnect}", GID_ANSWER_SECONDS="10")
    if reconnect == "true":
        receiver.wait_state("waiting")
        assert receiver.messages("gid-state")[0]["reason"] != "nobody produces it now"
        cockpit.gidds["open"].signal(signal.SIGCONT)
        send(cockpit, LIVE, "")
        receiver.wait_frames(10)
    else:
        assert "movie" in fails(receiver)
        cockpit.gidds["open"].signal(signal.SIGCONT)
    cockpit.wait_links()


BIG = "videotestsrc num-buffers=10 ! video/x-raw,format=BGRx,width={width},height={height}"

STRICT = configuration({"open": "memory=64M", "cluster": ""}, {"open cluster": "movie"})


@pytest.mark.cockpit(STRICT)
def test_not_configured(cockpit: Cockpit) -> None:
    assert "secret" in fails(watch(cockpit, stream="secret"))


@pytest.mark.cockpit(STRICT)
def test_too_little_memory(cockpit: Cockpit) -> None:
    """One frame of 8K is more than the domain has: what to do about it is on the bus."""
    text = fails(send(cockpit, BIG.format(width=7680, height=4320), ""))
    assert "132710400 bytes" in text
    assert "memory=" in text


@pytest.mark.cockpit(STRICT.replace("memory=64M", "memory=80M\nclient-memory=80M"))
def test_little_memory(cockpit: Cockpit) -> None:
    """Six slots of UHD are more than the domain has, but two are enough."""
    receiver = watch(cockpit)
    sender = send(cockpit, BIG.format(width=3840, height=2160), LOSSLESS).finish()
    assert len(receiver.finish().frames) == 10
    stats = sender.stats("sink")
    assert stats["slots"] == 2
    assert stats["copied-frames"] == 0


@pytest.mark.skipif(Path("/dev/udmabuf").exists(), reason="here there are dma-bufs")
def test_no_udmabuf(cockpit: Cockpit) -> None:
    text = fails(send(cockpit, BIG.format(width=64, height=48), "dmabuf=true"))
    assert "there is no /dev/udmabuf, which the kernel's module udmabuf makes" in text


def test_8k(cockpit: Cockpit) -> None:
    """Fits into what a client may have by default."""
    receiver = watch(cockpit)
    send(cockpit, BIG.format(width=7680, height=4320), LOSSLESS).finish()
    assert len(receiver.finish().frames) == 10


# --- copies ---


def test_copies_can_be_forbidden(cockpit: Cockpit) -> None:
    source = decode(film(640, 360, codec="vp9"), "vp9")
    text = fails(send(cockpit, source, "copy-policy=error sync=false"))
    assert "memory of upstream's own" in text
    source = decode(film(640, 360, codec="mpeg4"), "mpeg4")
    send(cockpit, source, "copy-policy=error sync=false").finish()
    sender = send(cockpit, decode(clip()), "copy-policy=error sync=false")
    if h264_is_decoded_in_place():
        sender.finish()
    else:
        assert "decodes into memory of its own" in fails(sender)


def test_copies_are_warned_of_once(cockpit: Cockpit) -> None:
    sender = send(
        cockpit, decode(film(640, 360, codec="vp9"), "vp9"), "copy-policy=warn sync=false"
    )
    sender.finish()
    warnings = [m["text"] for m in sender.lines("bus") if m["bus"] == "warning"]
    assert len(warnings) == 1
    assert "avdec_vp9" in warnings[0]


def test_buffers_without_memory(cockpit: Cockpit) -> None:
    """Nothing is sent for them, of which people hear once."""
    caps = "video/x-raw,format=BGRx,width=64,height=64,framerate=30/1"
    sender = send(cockpit, f"fakesrc num-buffers=5 format=time ! {caps}", "sync=false")
    sender.finish()
    (warning,) = [m["text"] for m in sender.lines("bus") if m["bus"] == "warning"]
    assert "A buffer without memory came" in warning
    assert sender.stats("sink")["frames"] == 0


def test_statistics_as_messages(cockpit: Cockpit) -> None:
    sender = send(cockpit, LIVE, "stats-interval=100")
    wait_for(lambda: len(sender.messages("gid-sink-stats")) >= 5, "messages")
    frames = [fields["frames"] for fields in sender.messages("gid-sink-stats")]
    assert frames == sorted(frames)
    assert os.getpgid(sender.pid) == sender.pid


def test_why_it_does_not_start_is_said_once(cockpit: Cockpit) -> None:
    """GstBaseSink's own words would be the last that people read: that nobody said why."""
    env = gst_env(cockpit.env("open"), cockpit.folder / "registry.bin")
    words = ["gst-launch-1.0", "-q", "videotestsrc", "!", "gidsink"]
    launched = Program(words, env, cockpit.folder, "launched")
    assert launched.wait() != 0
    (said,) = [line for line in launched.stderr.splitlines() if "from element" in line]
    assert "No stream to publish. Set stream=NAME" in said


# --- who may read ---


@pytest.mark.parametrize("name", ["readers", "peer"])
def test_readers(cockpit: Cockpit, name: str) -> None:
    """Only the domains named in readers= may subscribe, in whatever way they are named."""
    send(cockpit, LIVE, f"{name}=cluster")
    watch(cockpit).wait_frames(3)
    refused = watch(cockpit, "reconnect=false", domain="open")
    assert refused.wait() == 1
    assert "movie" in refused.errors()[0]
    send(cockpit, LIVE, 'readers="1, 2"', stream="both")
    watch(cockpit, stream="both").wait_frames(3)
    watch(cockpit, stream="both", domain="open").wait_frames(3)


def test_unknown_reader(cockpit: Cockpit) -> None:
    text = fails(send(cockpit, LIVE, "readers=cluster,moon"))
    assert "moon" in text
    assert "cluster" in text
