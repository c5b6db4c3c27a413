# SPDX-License-Identifier: MIT
"""Frames from one Python program to another: pixels, times, waiting, tasks, and what is shared."""

import asyncio
import errno
import gc
import threading
import time
import tracemalloc
from pathlib import Path

import gid
import numpy as np
import pytest
from lib.cockpit import DEFAULT_CONFIG
from lib.program import wait_for
from pairs import LEASE, make_pair, send


def test_a_frame_has_its_pixels_and_all_that_is_said_of_it(
    pair: tuple[gid.Producer, gid.Consumer],
) -> None:
    producer, consumer = pair
    before = time.monotonic_ns()
    said = {"pts": 5, "duration": 7, "present_time": before + 9, "crop": (2, 1, 4, 2)}
    beside = {"note": b"\0note", "metadata": b"\0" + b"x" * 9999}
    send(producer, 200, **said, **beside, damage=(1, 1, 2, 2), transform=3, flags=4)
    with (frame := consumer.frame(60)) as picture:
        assert picture.shape == (2, 4) and picture.dtype == np.uint8 and (picture == 200).all()
        assert frame.planes[0].shape == (4, 8)
        assert (frame.format, frame.width, frame.height) == ("R8", 8, 4)
        assert {name: getattr(frame, name) for name in said} == said
        assert frame.damage == (1, 1, 2, 2) and frame.transform == 3 and frame.flags & 4
        assert {name: getattr(frame, name) for name in beside} == beside and frame.sequence == 1
        assert before <= frame.capture_time <= frame.submit_time <= time.monotonic_ns()
        assert frame.current
    assert frame.current
    assert consumer.stats["held"] == 0


def test_metadata(pair: tuple[gid.Producer, gid.Consumer]) -> None:
    producer, consumer = pair
    send(producer, 1)
    send(producer, 2, metadata=bytes(gid.lib.GID_METADATA_DEFAULT))
    with (frame := consumer.frame(60)):
        assert frame.metadata == b""
    with (frame := consumer.frame(60)):
        assert frame.metadata == bytes(gid.lib.GID_METADATA_DEFAULT)
    with pytest.raises(ValueError, match="given back"):
        _ = frame.metadata
    slot = producer.slot(metadata=bytes(gid.lib.GID_METADATA_DEFAULT + 1))
    with pytest.raises(gid.GidError, match="metadata"):
        slot.submit()
    send(producer, 3)
    with (frame := consumer.frame(60)) as picture:
        assert (picture == 3).all() and frame.metadata == b""


def test_memory_is_the_producers_own_and_read_only(
    pair: tuple[gid.Producer, gid.Consumer],
) -> None:
    producer, consumer = pair
    with producer.slot() as drawn:
        drawn[...] = 1
    with pytest.raises(ValueError, match="read-only"):
        drawn[...] = 9  # it is the readers' now
    with consumer.frame(60) as picture:
        address = picture.__array_interface__["data"][0]
        maps = [line.split() for line in open("/proc/self/maps")]
        ranges = [[int(end, 16) for end in words[0].split("-")] for words in maps]
        (words,) = [w for w, (a, b) in zip(maps, ranges, strict=True) if a <= address < b]
        assert words[1].startswith("r--s") and "memfd:gid" in words[5]
        with pytest.raises(ValueError, match="read-only"):
            picture[0, 0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            picture.flags.writeable = True
        assert memoryview(picture).readonly


def test_buffers_and_dlpack_share_the_memory(pair: tuple[gid.Producer, gid.Consumer]) -> None:
    producer, consumer = pair
    send(producer, 77)
    frame = consumer.frame(60)
    view = memoryview(frame)
    assert view.readonly and view.shape == (4, 8) and view[3, 7] == 77
    shared = np.from_dlpack(frame)
    assert np.shares_memory(shared, frame.picture) and not shared.flags.writeable
    with pytest.raises(BufferError):
        frame.__dlpack__()  # the oldest form cannot say that it is read-only
    kept = frame.copy()
    frame.release()
    with pytest.raises(ValueError, match="given back"):
        frame.picture  # noqa: B018
    assert kept.flags.owndata and kept.flags.writeable and (kept == 77).all()


def test_planes_are_a_tuple(domains: tuple[gid.Domain, gid.Domain]) -> None:
    producer, consumer = make_pair(*domains, "NV12")
    assert producer.submit([np.full((4, 8), 3), np.full((2, 4, 2), (5, 6))], crop=(3, 1, 2, 2)) == 1
    with (frame := consumer.frame(60)) as (y, uv):
        assert [plane.shape for plane in frame.planes] == [(4, 8), (2, 4, 2)]
        assert y.shape == (2, 2) and uv.shape == (2, 2, 2)  # all colours that the crop touches
        assert (y == 3).all() and (uv == (5, 6)).all()
        with pytest.raises(BufferError, match="2 planes"):
            memoryview(frame)
    assert producer.stats["copied_frames"] == 1
    with pytest.raises(ValueError, match=r"\(4, 8\) is needed"):
        producer.submit([np.zeros((8, 4)), np.zeros((2, 4, 2))])


def test_an_exception_sends_nothing(pair: tuple[gid.Producer, gid.Consumer]) -> None:
    producer, consumer = pair
    for _ in range(9):  # more often than there are slots
        with pytest.raises(ZeroDivisionError):
            with producer.slot():
                1 / 0  # noqa: B018
        producer.slot()  # and of one that is forgotten
    with pytest.raises(gid.GidTimeoutError, match="its producer sent none"):
        consumer.frame(0.1)
    assert producer.stats["frames"] == 0


def test_who_holds_all_frames_is_told(domains: tuple[gid.Domain, gid.Domain]) -> None:
    producer, consumer = make_pair(*domains, slots=8)
    held = []
    for number in range(4):
        send(producer, number)
        held.append(consumer.frame(60))
    send(producer, 4)
    with pytest.raises(TimeoutError, match="holds all 4 frames that it may: release"):
        consumer.frame(0.1)
    del held
    send(producer, 5)
    # The one that it had no room for is what the stream showed until now: it has that first.
    assert [int(consumer.frame(60).planes[0][0, 0]) for _ in range(2)] == [4, 5]


@pytest.mark.cockpit(DEFAULT_CONFIG + "[client cluster *]\nread=movie\n")
def test_a_stream_that_its_user_may_not_read(domains: tuple[gid.Domain, gid.Domain]) -> None:
    for reconnect in (True, False):
        with pytest.raises(gid.AccessError, match=r"add it to read= of \[client cluster \*\]"):
            domains[1].consumer("input/desk", "open", reconnect=reconnect)


def test_nobody_sends(domains: tuple[gid.Domain, gid.Domain]) -> None:
    consumer = domains[1].consumer("nothing", "open")
    with pytest.raises(gid.GidTimeoutError, match="nobody sends it"):
        consumer.frame(0.05)
    assert consumer.state == "waiting"
    with pytest.raises(FileNotFoundError) as caught:
        domains[1].consumer("nothing", "open", reconnect=False)
    assert isinstance(caught.value, gid.GidError) and caught.value.errno == errno.ENOENT


def test_no_domain_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a domain is named or not, one looks for the same exception."""
    monkeypatch.setenv("GID_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("GID_DOMAIN", raising=False)
    with pytest.raises(gid.NotFoundError, match=f"no domain runs in {tmp_path}: start it"):
        gid.Domain()
    with pytest.raises(gid.NotFoundError, match=f"no gidd for domain 'open' at {tmp_path}/open"):
        gid.Domain("open")


def test_errors_say_what_to_do(domains: tuple[gid.Domain, gid.Domain]) -> None:
    with pytest.raises(gid.NotFoundError, match="no gidd for domain 'nowhere' at /nowhere/"):
        gid.Domain("/nowhere/gidd.sock")
    with pytest.raises(gid.GidError, match="format='BGRx'.*XR24"):
        domains[0].producer("test", "BGRx", 8, 4)
    with pytest.raises(gid.GidError, match="sizes are 1 to 16384"):
        domains[0].producer("test", "R8", 8, 0)
    with domains[0].producer("test", "R8", 8, 4):
        with pytest.raises(gid.GidError) as caught:
            domains[0].producer("test", "R8", 8, 4)
        assert caught.value.errno == errno.EEXIST
    with pytest.raises(TypeError, match="pts"):
        domains[0].producer("other", "R8", 8, 4).slot(colour=1)


def test_a_loop_ends_with_the_flow(domains: tuple[gid.Domain, gid.Domain]) -> None:
    producer, consumer = make_pair(*domains)
    with producer:
        for number in range(3):
            send(producer, number)
        thread = threading.Thread(target=producer.close)
        thread.start()
        seen = []
        for frame in consumer:
            with frame as picture:
                seen.append(int(picture[0, 0]))
        thread.join()
    assert seen == [0, 1, 2]


def test_waiting_lets_other_threads_run(pair: tuple[gid.Producer, gid.Consumer]) -> None:
    producer, consumer = pair
    frames: list[gid.Frame] = []
    threads = [threading.Thread(target=lambda: frames.append(consumer.frame(30))) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    assert not frames
    for number in range(3):  # each goes to one of them
        send(producer, number)
    for thread in threads:
        thread.join()
    assert sorted(int(frame.picture[0, 0]) for frame in frames) == [0, 1, 2]


def test_many_threads_at_once(domains: tuple[gid.Domain, gid.Domain]) -> None:
    """All of them read, release, look and forget at the same time."""
    producer, consumer = make_pair(*domains, credit=16)
    problems: list[BaseException] = []
    is_over = threading.Event()

    def read() -> None:
        try:
            while not is_over.is_set():
                try:
                    frame = consumer.frame(0.1)
                except gid.GidTimeoutError:
                    continue
                value = int(frame.picture[0, 0])
                if value % 3:
                    assert (frame.copy() == value).all()
                if value % 2:
                    assert frame.release()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(1000):
        send(producer, number % 200)
    is_over.set()
    for thread in threads:
        thread.join()
    assert not problems
    assert consumer.stats["held"] == 0


def test_closing_wakes_who_waits(pair: tuple[gid.Producer, gid.Consumer]) -> None:
    _, consumer = pair
    caught: list[BaseException] = []

    def wait() -> None:
        try:
            consumer.frame()
        except ValueError as error:
            caught.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.05)
    consumer.close()
    thread.join(30)
    assert "is closed" in str(caught[0])


def test_tasks(domains: tuple[gid.Domain, gid.Domain]) -> None:
    sends, reads = domains
    size = {"slots": 24, "lease": LEASE}  # for all that is sent
    producers = [sends.producer(f"task/{number}", "R8", 8, 4, **size) for number in range(2)]
    consumers = [reads.consumer(f"task/{number}", "open", credit=24) for number in range(2)]
    wait_for(lambda: all(p.consumers for p in producers), "the consumers to be there")

    async def read(consumer: gid.Consumer) -> list[int]:
        seen = []
        async for frame in consumer:
            with frame as picture:
                seen.append(int(picture[0, 0]))
        return seen

    async def write(producer: gid.Producer) -> None:
        for number in range(20):
            await asyncio.sleep(0.005)
            send(producer, number)
        await asyncio.to_thread(producer.close)

    async def all_of_it() -> list[list[int]]:
        with pytest.raises(TimeoutError):
            await consumers[0].frame_async(0.05)
        reading = [asyncio.create_task(read(consumer)) for consumer in consumers]
        cancelled = asyncio.create_task(consumers[0].frame_async())
        await asyncio.sleep(0.02)
        cancelled.cancel()
        await asyncio.gather(*map(write, producers))
        return await asyncio.wait_for(asyncio.gather(*reading), 60)

    assert asyncio.run(all_of_it()) == [list(range(20))] * 2


def test_a_busy_program_hears_of_readers(domains: tuple[gid.Domain, gid.Domain]) -> None:
    """It sent a picture, and does something else: who comes gets it all the same."""
    producer = domains[0].producer("still", "R8", 8, 4)
    send(producer, 42)
    with domains[1].consumer("still", "open").frame(60) as picture:
        assert (picture == 42).all()


@pytest.mark.parametrize("slots", [1, 2])
def test_who_comes_late_costs_no_picture(
    domains: tuple[gid.Domain, gid.Domain], slots: int
) -> None:
    """What is kept for them never keeps a producer from sending, however little memory it has."""
    producer = domains[0].producer("still", "R8", 8, 4, slots=slots, patient=True)
    for number in range(5):
        send(producer, number)
    consumer = domains[1].consumer("still", "open")
    if slots > 1:
        with consumer.frame(60) as picture:
            assert (picture == 4).all()
    else:
        wait_for(lambda: producer.consumers, "the consumer to be there")
        with pytest.raises(gid.GidTimeoutError):
            consumer.frame(0.2)


def test_who_asks_for_it_keeps_nothing(domains: tuple[gid.Domain, gid.Domain]) -> None:
    producer = domains[0].producer("events", "R8", 8, 4, keeps_shown=False)
    send(producer, 42)
    consumer = domains[1].consumer("events", "open")
    wait_for(lambda: producer.consumers, "the consumer to be there")
    with pytest.raises(gid.GidTimeoutError):
        consumer.frame(0.2)


def test_a_patient_producer_loses_nothing(domains: tuple[gid.Domain, gid.Domain]) -> None:
    producer = domains[0].producer("film", "R8", 8, 4, patient=True, lease=LEASE)
    consumer = domains[1].consumer("film", "open")
    wait_for(lambda: producer.consumers, "the consumer to be there")

    def write() -> None:
        for number in range(60):
            send(producer, number)
        producer.close(drain=60)

    thread = threading.Thread(target=write)
    thread.start()
    seen = []
    for frame in consumer:
        with frame as picture:
            time.sleep(0.002)
            seen.append(int(picture[0, 0]))
    thread.join()
    assert seen == list(range(60))


def test_arrays_outlive_everything(domains: tuple[gid.Domain, gid.Domain]) -> None:
    """They show something else then, but it is memory, and goes with the last of them."""
    sends, reads = domains
    producer, consumer = make_pair(sends, reads)
    send(producer, 9)
    frame = consumer.frame(60)
    part = frame.picture[1:3, ::2]
    drawn = producer.slot().planes[0]
    del frame
    consumer.close()
    producer.close()
    del consumer, producer
    sends.close()
    reads.close()
    gc.collect()
    assert part.shape == (2, 4) and int(part.sum()) >= 0 and int(drawn.sum()) >= 0
    assert "memfd:gid" in open("/proc/self/maps").read()
    del part, drawn
    wait_for(lambda: "memfd:gid" not in open("/proc/self/maps").read(), "the memory to be gone")


def test_nothing_is_leaked(domains: tuple[gid.Domain, gid.Domain]) -> None:
    producer, consumer = make_pair(*domains)

    def pass_frames(count: int) -> None:
        for number in range(count):
            send(producer, number % 250, note=b"x" * 200)
            with consumer.frame(60) as picture:
                picture.sum()
            consumer.stats  # noqa: B018
        gc.collect()

    def growth() -> int:
        before = tracemalloc.take_snapshot()
        pass_frames(500)
        after = tracemalloc.take_snapshot()
        return sum(entry.size_diff for entry in after.compare_to(before, "filename"))

    pass_frames(50)
    tracemalloc.start()
    grown = [growth() for _ in range(5)]
    tracemalloc.stop()
    # What is leaked is leaked each time; a table grows once, and what is kept of each slot ends.
    assert min(grown) < 500 * 8, f"{grown} bytes for 500 frames each"


def test_streams_can_be_made_again_and_again(domains: tuple[gid.Domain, gid.Domain]) -> None:
    from pathlib import Path

    def number() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    def once() -> None:
        producer, consumer = make_pair(*domains)
        send(producer, 1)
        consumer.frame(60).picture.sum()
        producer.close()  # the consumer is forgotten

    once()
    gc.collect()
    before = number()
    for _ in range(10):
        once()
    gc.collect()
    wait_for(lambda: number() <= before + 2, "the descriptors to be closed")
