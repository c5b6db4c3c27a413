# SPDX-License-Identifier: MIT
"""A loop over pictures alone: each goes back when the next one is asked for, and no other time."""

import gc
import itertools
import threading
import time

import gid
import numpy as np
import pytest
from lib.program import wait_for
from pairs import LEASE, make_pair, send

Domains = tuple[gid.Domain, gid.Domain]
Pair = tuple[gid.Producer, gid.Consumer]


def held(consumer: gid.Consumer) -> int:
    return consumer.stats["held"]


def test_each_picture_goes_back_for_the_next(pair: Pair) -> None:
    producer, consumer = pair
    pictures = consumer.pictures()
    assert pictures.frame is None and iter(pictures) is pictures
    for number in range(9):  # more than there are slots, and than may be held
        send(producer, number, pts=7 * number)
        picture = next(pictures)
        assert (picture == number).all() and not picture.flags.writeable
        assert (pictures.frame.pts, pictures.frame.current) == (7 * number, True)
        assert held(consumer) == 1
    last = pictures.frame
    pictures.close()
    assert pictures.frame is None and held(consumer) == 0
    assert last.current and last.release()  # as it was then
    pictures.close()
    send(producer, 50)
    assert (next(pictures) == 50).all()


def test_it_ends_with_the_flow(domains: Domains) -> None:
    producer, consumer = make_pair(*domains)
    for number in range(3):
        send(producer, number)
    thread = threading.Thread(target=producer.close)
    thread.start()
    assert [int(picture[0, 0]) for picture in consumer.pictures()] == [0, 1, 2]
    thread.join()
    assert held(consumer) == 0


@pytest.mark.parametrize("how", ("left", "in a circle", "by an exception"))
def test_who_leaves_it_half_way_gives_the_last_one_back(pair: Pair, how: str) -> None:
    producer, consumer = pair

    def look(value: int) -> None:
        send(producer, value)
        pictures = consumer.pictures()
        if how == "in a circle":
            circle: list[object] = [pictures]
            circle.append(circle)
        for picture in pictures:
            assert (picture == value).all()
            if how != "by an exception":
                break
            1 / 0  # noqa: B018

    for number in range(9):
        if how == "by an exception":
            with pytest.raises(ZeroDivisionError):
                look(number)
        else:
            look(number)
        gc.collect()
        assert held(consumer) == 0


def test_a_kept_frame_is_not_given_to_others(pair: Pair) -> None:
    """Its loop went on, so it went back: it is as after its own `release()`."""
    producer, consumer = pair
    pictures = consumer.pictures()
    send(producer, 1)
    next(pictures)
    kept = pictures.frame
    kept.release()  # by hand: the loop has nothing to give back then
    send(producer, 2)
    assert (next(pictures) == 2).all()
    with pytest.raises(ValueError, match="given back"):
        kept.copy()


def test_a_lease_that_ended_is_told_with_the_next_one(domains: Domains) -> None:
    sends, reads = domains
    producer = sends.producer("test", "R8", 8, 4, slots=2, lease=0.2)
    consumer = reads.consumer("test", "open")
    wait_for(lambda: producer.consumers, "the consumer to have subscribed")
    send(producer, 1)
    pictures = consumer.pictures()
    next(pictures)
    send(producer, 2)
    wait_for(lambda: not pictures.frame.current, "the lease to end")
    with pytest.raises(gid.LeaseError, match="was taken back while it was read"):
        next(pictures)
    assert pictures.frame is None
    assert (next(pictures) == 2).all()


def test_two_threads_do_not_share_one(pair: Pair) -> None:
    """The picture of the one would go back for the other's: whoever comes second is told."""
    producer, consumer = pair
    pictures = consumer.pictures()
    got: list[int] = []
    told: list[str] = []

    def take() -> None:
        try:
            got.append(int(next(pictures)[0, 0]))
        except ValueError as error:
            told.append(str(error))

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    wait_for(lambda: told, "one to be told")
    assert not got
    send(producer, 5)
    for thread in threads:
        thread.join(60)
    assert got == [5]
    assert told == ["another thread is in this loop: each has pictures() of its own"]


def test_each_thread_has_its_own(domains: Domains) -> None:
    """All of them take different pictures, which stay as they are while they are looked at."""
    producer, consumer = make_pair(*domains, slots=16, credit=8)
    seen: list[int] = []

    def read() -> None:
        for picture in itertools.islice(consumer.pictures(), 20):
            value = int(picture[0, 0])
            time.sleep(0.001)
            assert (picture == value).all()
            seen.append(value)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(60):
        send(producer, number)
        wait_for(lambda number=number: len(seen) > number - 4, "the pictures before")
    for thread in threads:
        thread.join(60)
    assert sorted(seen) == list(range(60))


def test_parts_of_pictures_and_planes(domains: Domains) -> None:
    producer, consumer = make_pair(*domains, "NV12")
    planes = [np.full((4, 8), 3), np.full((2, 4, 2), (5, 6))]
    pictures = consumer.pictures()
    for crop, shape in (((3, 1, 2, 2), (2, 2)), (None, (4, 8))):
        producer.submit(planes, crop=crop)
        y, uv = next(pictures)
        assert y.shape == shape and (y == 3).all() and (uv == (5, 6)).all()


def test_pictures_that_are_checked(domains: Domains) -> None:
    """A picture that nobody protected has none to be seen: it goes back, and the loop goes on."""
    sends, reads = domains
    for profile in (None, "crc64"):
        with sends.producer("test", "R8", 8, 4, lease=LEASE, protection=profile) as producer:
            consumer = reads.consumer("test", "open", protection="crc64")
            wait_for(lambda p=producer: p.consumers, "the consumer to have subscribed")
            pictures = consumer.pictures()
            for number in range(9):
                send(producer, number)
                if profile is None:
                    with pytest.raises(gid.ProtectionError):
                        next(pictures)
                    assert pictures.frame is None
                else:
                    assert (next(pictures) == number).all()
            pictures.close()
            assert held(consumer) == 0
            consumer.close()


def test_after_the_end_of_its_consumer(pair: Pair) -> None:
    producer, consumer = pair
    pictures = consumer.pictures()
    send(producer, 1)
    picture = next(pictures)
    consumer.close()
    with pytest.raises(gid.LeaseError, match="taken back"):
        next(pictures)
    with pytest.raises(ValueError, match="is closed"):
        next(pictures)
    assert picture.shape == (4, 8)


def test_who_else_makes_one_is_told(pair: Pair) -> None:
    _, consumer = pair
    for wrong in ((), (1,), (consumer, consumer)):
        with pytest.raises(TypeError):
            gid.Pictures(*wrong)
    with pytest.raises(TypeError, match=r"Consumer\.pictures\(\) makes it"):
        gid.Pictures(consumer=consumer)
