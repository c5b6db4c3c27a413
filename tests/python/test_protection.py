# SPDX-License-Identifier: MIT
"""Checks from end to end: what a consumer finds of what happens to frames on their way."""

import asyncio
import errno
import signal
import threading
import time
from pathlib import Path

import gid
import pytest
from gid._memory import ImportedSlab
from lib.cockpit import Cockpit
from lib.faults import PROTECTED, STREAM, faults_of
from lib.keys import write_key
from lib.program import wait_for
from pairs import LEASE, make_pair, send

Domains = tuple[gid.Domain, gid.Domain]


def protect(folder: Path, profile: str) -> dict[str, object]:
    """What both ends are told."""
    keyed = {"protection_key": write_key(folder)} if profile == "cmac" else {}
    return {"protection": profile, **keyed}


def make_protected(
    domains: Domains, sends: dict[str, object], reads: dict[str, object]
) -> tuple[gid.Producer, gid.Consumer]:
    producer = domains[0].producer("test", "R8", 8, 4, slots=4, lease=LEASE, **sends)
    consumer = domains[1].consumer("test", domains[0].name, **reads)
    wait_for(lambda: producer.consumers, "the consumer to have subscribed")
    return producer, consumer


def reason_of(frame: gid.Frame) -> str | None:
    """Why its picture may not be seen; None: it may."""
    try:
        with frame:
            return None
    except gid.ProtectionError as error:
        return error.reason


@pytest.mark.parametrize("profile", ["crc64", "cmac"])
def test_what_happens_on_the_way_is_seen(cockpit: Cockpit, profile: str) -> None:
    """By faults that another program makes, between its check and its ring."""
    how = protect(cockpit.folder, profile)
    with gid.Domain(str(cockpit.socket("cluster"))) as domain:
        # How old a frame may be is the program's to say: late ones come after some that were not.
        for fault, reason in (faults_of(profile) | {"late": "old-frame"}).items():
            sender = cockpit.run("open", [PROTECTED, fault, profile, cockpit.folder / "lamp.key"])
            with domain.consumer(STREAM, "open", **how) as consumer:
                assert [reason_of(consumer.frame(60)) for _ in range(5)] == [None] * 5, fault
                sender.signal(signal.SIGUSR1)
                frames = (consumer.frame(60) for _ in range(500))
                found = next((why for why in map(reason_of, frames) if why is not None), None)
                assert found == reason, fault
                sender.signal(signal.SIGUSR1)
                wait_for(
                    lambda consumer=consumer: reason_of(consumer.frame(60)) is None, "good frames"
                )
            sender.kill()


@pytest.mark.parametrize("profile", ["crc64", "cmac"])
def test_pictures_are_copies_that_stay(domains: Domains, tmp_path: Path, profile: str) -> None:
    """Of what was checked: whoever writes into the slot then, or takes it back, changes nothing."""
    how = protect(tmp_path, profile)
    producer, consumer = make_protected(domains, how, how)
    slot = producer.slot(crop=(2, 1, 4, 2), note=b"note", metadata=b"beside")
    slot.picture[...] = 7
    rows = slot.picture[:]  # which stays writable
    slot.submit()
    frame = consumer.frame(60)
    rows[...] = 9
    with frame as picture:
        assert picture.shape == (2, 4) and (picture == 7).all()
        assert (frame.planes[0] == 7).all() and not picture.flags.writeable
        assert (frame.note, frame.metadata, frame.crop) == (b"note", b"beside", (2, 1, 4, 2))
    assert frame.current and (picture == 7).all()
    with pytest.raises(ValueError, match="given back"):
        _ = frame.picture
    assert consumer.stats["held"] == 0
    send(producer, 5)
    with consumer.frame(60) as picture:
        producer.close(0)
    assert (picture == 5).all()


def test_what_is_seen_of_a_changed_picture(domains: Domains, tmp_path: Path) -> None:
    """Of one with a crop only its part: padding, and what nobody shows, may be anything."""
    how = protect(tmp_path, "cmac")
    producer, consumer = make_protected(domains, how, how)
    for place, reason in (((1, 2), "check-mismatch"), ((0, 0), None), ((3, 7), None)):
        slot = producer.slot(crop=(2, 1, 4, 2))
        slot.picture[...] = 7
        rows = slot.picture[:]
        slot.submit()
        rows[place] ^= 1
        frame = consumer.frame(60)
        assert reason_of(frame) == reason, place


def test_nothing_of_a_wrong_picture_can_be_had(domains: Domains, tmp_path: Path) -> None:
    """By no way, and as often as one asks. Its slot comes back, and the next ones are good."""
    how = protect(tmp_path, "crc64")
    producer, consumer = make_protected(domains, {}, how)
    send(producer, 3)
    frame = consumer.frame(60)
    looks = (lambda: frame.picture, lambda: frame.planes, frame.copy, lambda: memoryview(frame))
    for look in looks:
        with pytest.raises(gid.ProtectionError, match="frame 1 of test: it has no check") as caught:
            look()
        assert (caught.value.errno, caught.value.reason) == (errno.ENODATA, "no-check")
    assert frame.sequence == 1
    frame.release()
    for value in range(20):
        send(producer, value)
        with pytest.raises(gid.ProtectionError):
            consumer.frame(60).copy()
    assert consumer.stats["held"] <= 1


def test_memory_of_devices_is_not_copied(domains: Domains, tmp_path: Path) -> None:
    """Its layout does not say how large it is: a copy would be larger than the room for it."""
    how = protect(tmp_path, "crc64")
    producer = domains[0].producer("test", "XR24", 1920, 1080, slots=4, lease=LEASE, **how)
    consumer = domains[1].consumer("test", domains[0].name, **how)
    wait_for(lambda: producer.consumers, "the consumer to have subscribed")
    send(producer, 1)
    assert reason_of(consumer.frame(60)) is None
    look = consumer._guard.look

    def look_at_tiles(c: object, frame: object, slab: ImportedSlab) -> object:
        slab.info.layout.modifier = 0x0100000000000002
        return look(c, frame, slab)

    consumer._guard.look = look_at_tiles
    send(producer, 2)
    with pytest.raises(gid.ProtectionError, match="rows are not linear") as caught:
        consumer.frame(60).copy()
    assert caught.value.reason == "check-mismatch"


def test_a_loop_gives_out_nothing_else(domains: Domains, tmp_path: Path) -> None:
    """Nor does what is under it, which looks at nothing."""
    how = protect(tmp_path, "crc64")
    producer, consumer = make_protected(domains, how, how)
    for value in range(20):
        send(producer, value)
        with next(consumer) as picture:
            assert (picture == value).all() and picture.base is not None
    send(producer, 1)
    frame = gid.Consumer.__next__(consumer)
    for look in (frame.__enter__, lambda: frame.picture, lambda: frame.planes, frame.copy):
        with pytest.raises(AttributeError):
            look()


def test_both_ends_have_to_have_the_same(domains: Domains, tmp_path: Path) -> None:
    """Also a producer that shows the last picture to who comes late."""
    mine = protect(tmp_path, "cmac")
    producer, consumer = make_protected(domains, mine, mine)
    send(producer, 1)
    assert reason_of(consumer.frame(60)) is None
    other = {"protection": "cmac", "protection_key": write_key(tmp_path, "f" * 32)}
    for how, reason in ((other, "check-mismatch"), ({"protection": "crc64"}, "no-check")):
        with domains[1].consumer("test", domains[0].name, **how) as late:
            assert reason_of(late.frame(60)) == reason
    with domains[1].consumer("test", domains[0].name) as late, late.frame(60) as picture:
        assert (picture == 1).all()  # whoever does not ask is told nothing


def test_frames_go_to_threads_and_tasks_without_a_false_alarm(
    domains: Domains, tmp_path: Path
) -> None:
    """Each is looked at in its turn, whoever gets it."""
    how = protect(tmp_path, "crc64")
    producer, consumer = make_protected(
        domains, {**how, "patient": True}, {**how, "reconnect": False}
    )
    reasons: list[str | None] = []

    def read() -> None:
        reasons.extend(reason_of(frame) for frame in consumer)

    async def read_too() -> None:
        async for frame in consumer:
            reasons.append(reason_of(frame))

    threads = [threading.Thread(target=read) for _ in range(3)]
    threads.append(threading.Thread(target=lambda: asyncio.run(read_too())))
    for thread in threads:
        thread.start()
    for value in range(300):
        send(producer, value % 251)
    producer.close(LEASE)
    for thread in threads:
        thread.join(LEASE)
    assert reasons == [None] * 300


def test_a_producer_that_comes_back(domains: Domains, tmp_path: Path) -> None:
    """It counts its frames anew, and is no old one."""
    how = protect(tmp_path, "crc64")
    producer, consumer = make_protected(domains, how, how)
    for round_ in range(3):
        for value in range(4 - round_):
            send(producer, value)
            frame = consumer.frame(60)
            assert (frame.sequence, reason_of(frame)) == (value + 1, None)
        producer.close(0)
        with pytest.raises(gid.EndOfStream):
            consumer.frame(60)
        producer = domains[0].producer("test", "R8", 8, 4, slots=4, lease=LEASE, **how)


def test_times_are_those_that_were_protected(domains: Domains, tmp_path: Path) -> None:
    how = protect(tmp_path, "crc64")
    producer, consumer = make_protected(domains, how, how)
    before = time.monotonic_ns()
    send(producer, 1, pts=5)
    frame = consumer.frame(60)
    assert before <= frame.submit_time <= time.monotonic_ns() and frame.pts == 5
    assert reason_of(frame) is None


@pytest.mark.parametrize(
    ("how", "kind", "said"),
    [
        ({"protection": "cmac"}, gid.GidError, "protection='cmac' needs protection_key="),
        ({"protection_key": "lamp.key"}, gid.GidError, "for protection='cmac' alone"),
        ({"protection": "crc64", "protection_key": "x"}, gid.GidError, "'cmac' alone"),
        ({"protection": "crc32"}, gid.GidError, "'crc32': 'crc64' or 'cmac'"),
        ({"protection": "cmac", "protection_key": "gone"}, gid.NotFoundError, "No such file"),
        ({"protection": "cmac", "protection_key": "short"}, gid.GidError, "32 hexadecimal digits"),
        ({"protection": "cmac", "protection_key": "open"}, gid.AccessError, "chmod 600"),
    ],
)
def test_mistakes(
    domains: Domains,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: dict[str, object],
    kind: type[gid.GidError],
    said: str,
) -> None:
    """Nothing is published, and nothing read."""
    monkeypatch.chdir(tmp_path)
    write_key(tmp_path, "0011").rename("short")
    write_key(tmp_path).rename("open")
    Path("open").chmod(0o604)
    with pytest.raises(kind, match=said):
        domains[0].producer("test", "R8", 8, 4, **how)
    with pytest.raises(kind, match=said):
        domains[1].consumer("test", domains[0].name, **how)
    make_pair(*domains)[0].close(0)  # the name is free
