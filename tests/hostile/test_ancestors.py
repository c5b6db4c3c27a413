# SPDX-License-Identifier: MIT
"""What went wrong in systems that did this before: each once, so that it stays right here."""

import errno
import fcntl
import os
import socket
import struct

import pytest
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.gidwire import (
    GRANT,
    IMPORTED,
    PAGE_SIZE,
    RING_SIZE,
    SUBSCRIBED,
    SUBSCRIBER,
    UNEXPORT,
    Closed,
    Connection,
    Export,
    gid,
    memfd,
    pack,
)
from lib.outcome import expect_violation, number, untouched
from lib.program import wait_for


def test_taking_back_the_old_leaves_the_new(cockpit: Cockpit) -> None:
    """A compositor saved the old buffer's name, then took back by the name of the new one."""
    with cockpit.connect("open") as owner, cockpit.connect("cluster") as reader:
        old = owner.export_new()
        owner.grant(old, 2)
        for _ in range(20):
            new = owner.export_new()
            owner.grant(new, 2)
            assert owner.unexport(old) == (0, 0, "")
            assert len(owner.import_(gid(1, old)).fds) == 0
            answer = reader.import_(gid(1, new))
            assert answer.type == IMPORTED
            answer.close()
            old = new


MANY = DEFAULT_CONFIG.replace("number=1", "number=1\nslabs=3000\nclient-slabs=3000")


@pytest.mark.cockpit(MANY)
def test_as_many_surfaces_as_the_quota_allows(cockpit: Cockpit) -> None:
    """A table of 12000 bytes was filled without a bound: about 80 surfaces."""
    with cockpit.connect("open") as owner:
        fd = memfd(4096)
        export = Export(generations=0, description=b"\xc3\xa9" * 1023)
        slabs = {owner.export(export, fd)[1] for _ in range(3000)}
        assert len(slabs) == 3000 and 0 not in slabs
        assert owner.export(export, fd)[0] == number("EDQUOT")
        report = owner.status()
        assert len(report["slabs"]) == 3000
        assert {slab["description"] for slab in report["slabs"]} == {"é" * 1023}
        os.close(fd)


@pytest.mark.parametrize("domain", [0, 255, 256, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
def test_numbers_are_checked_before_they_index(cockpit: Cockpit, domain: int) -> None:
    """An output's number, signed and from the guest, was an index before it was checked."""
    why = "the slab, the domain or what is allowed is out of range"
    with untouched(cockpit), cockpit.connect("open") as owner:
        slab = owner.export_new()
        owner.send_raw(pack(GRANT, slab, domain, 1, 0))
        expect_violation(cockpit, owner, why)


@pytest.mark.parametrize("slab", [0, 1 << 24, 0xFFFFFFFF])
def test_slabs_numbers_too(cockpit: Cockpit, slab: int) -> None:
    with untouched(cockpit), cockpit.connect("open") as owner:
        owner.send_raw(pack(UNEXPORT, slab, 0))
        expect_violation(cockpit, owner, "the slab's number is out of range")


def resident(cockpit: Cockpit) -> int:
    with open(f"/proc/{cockpit.gidds['open'].pid}/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def sanitized(cockpit: Cockpit) -> bool:
    with open(f"/proc/{cockpit.gidds['open'].pid}/maps") as maps:
        return "libasan" in maps.read()


def test_the_same_message_again_and_again_takes_nothing_more(cockpit: Cockpit) -> None:
    """An offset grew with every message of a guest until it left its buffer; descriptions of
    images were never freed."""
    with cockpit.connect("open") as owner, cockpit.connect("open") as reader:
        fd = memfd(4096)

        def cycle(times: int) -> None:
            for _ in range(times):
                slab = owner.export(Export(generations=0), fd)[1]
                assert owner.grant(slab, 2)[0] == owner.grant(slab, 2)[0] == 0
                for _ in range(2):
                    reader.import_(gid(1, slab)).close()
                assert owner.unexport(slab)[0] == 0
                reader.events.clear()

        cycle(200)
        before = resident(cockpit)
        cycle(2000)
        # A sanitizer keeps what was freed for a while; what leaks it finds itself.
        assert resident(cockpit) - before < (4 << 20 if not sanitized(cockpit) else 64 << 20)
        os.close(fd)


def test_counts_have_a_floor(cockpit: Cockpit) -> None:
    """A count of users went down once for each message that said so, below zero."""
    with untouched(cockpit), cockpit.connect("open") as owner:
        slab = owner.export_new()
        owner.grant(slab, 2)
        for _ in range(3):
            assert owner.grant(slab, 2, allow=False) == (0, 0, "")
        stream = owner.publish("movie")[1]
        assert owner.subscribe(1, "movie") == (0, 1, "")
        asked = owner.event(SUBSCRIBER)
        asked.close()
        for _ in range(3):
            owner.end(1)
            owner.end(asked.values[0])
        results = [owner.unexport(slab)[0] for _ in range(3)]
        assert results == [0, number("ENOENT"), number("ENOENT")]
        results = [owner.unpublish(stream)[0] for _ in range(3)]
        assert results == [0, number("ENOENT"), number("ENOENT")]
        used = {q["name"]: q["used"] for q in owner.status()["quotas"]}
        assert (used["slabs"], used["streams"], used["subscriptions"]) == (1, 1, 0)


def shared(size: int, content: bytes) -> int:
    """A page or ring with this content from beginning to end."""
    fd = os.memfd_create("hostile", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, (content * (size // len(content) + 1))[:size])
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, 2 | 4 | 16)
    reader = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
    os.close(fd)
    return reader


@pytest.mark.parametrize(
    "content", [b"\xff", b"\x80\0\0\0\0\0\0\x80", struct.pack("<d", float("nan")), b"\x1b[2J"]
)
def test_shared_memory_is_never_a_bound(cockpit: Cockpit, content: bytes) -> None:
    """A count in shared memory was the bound of a loop, an offset in it was followed."""
    page, ring = shared(PAGE_SIZE, content), shared(RING_SIZE, content)
    with cockpit.connect("open") as producer, cockpit.connect("open") as consumer:
        producer.publish("movie")
        with cockpit.connect("open") as liar:
            fds = [page, _pair()]
            assert liar.subscribe(1, "movie", fds=fds) == (0, 1, "")
            os.close(fds[1])
            asked = producer.event(SUBSCRIBER)
            asked.close()
            producer.accept(asked.values[0], ring)
            liar.event(SUBSCRIBED).close()
            counts = consumer.status()["subscriptions"][0]
            (value,) = struct.unpack("<Q", (content * 8)[:8])
            assert counts["consumer_counts"]["latency_buckets"] == [value] * 24
            assert counts["producer_counts"]["held"] == value
    for fd in (page, ring):
        os.close(fd)


def _pair() -> int:
    return socket.socketpair()[0].detach()


def test_pictures_whose_size_wraps_in_32_bits(cockpit: Cockpit) -> None:
    """width * bytes of a pixel, or stride * height, wrapped around and passed the check."""
    fd = memfd(8192)
    with untouched(cockpit):
        for width, height, stride in (
            (0x40000001, 1, 4),
            (16384, 0x10001, 0x10000),
            (1, 16384, 0x40000),
            (64, 0xFFFFFFFF, 256),
        ):
            export = Export(generations=0)
            export.layout.width, export.layout.height = width, height
            export.layout.planes = [(0, stride)]
            with cockpit.connect("open") as owner:
                owner.send_raw(export.pack(), [fd])
                owner.wait_closed()
    os.close(fd)


def test_one_bad_message_costs_one_connection(cockpit: Cockpit) -> None:
    """One bad message of one window took away all windows of its machine."""
    with untouched(cockpit), untouched(cockpit, "cluster"):
        with cockpit.connect("open") as good, cockpit.connect("open") as bad:
            slab = good.export_new()
            bad.send_raw(b"\0" * 16)
            expect_violation(cockpit, bad, "the message's type is unknown")
            assert good.import_(gid(1, slab)).type == IMPORTED
            assert cockpit.status("cluster")["links"][0]["state"] == "up"


def test_what_dies_in_the_middle_is_gone(cockpit: Cockpit) -> None:
    """Resources of an unfinished request were never freed."""
    with untouched(cockpit):
        for _ in range(50):
            dying = cockpit.connect("open")
            fd = memfd(4096)
            dying.send_raw(Export(generations=0).pack(1), [fd])
            dying.send_raw(pack(GRANT, 1, 2, 1, 0, serial=2))
            os.close(fd)
            dying.close()
        wait_for(lambda: len(cockpit.status("open")["slabs"]) == 1, "their slabs to be gone")


def test_nobody_hears_of_others(cockpit: Cockpit) -> None:
    """Everybody was told of everything, and filtered for themselves."""
    with cockpit.connect("open") as listener, cockpit.connect("cluster") as other:
        with cockpit.connect("open") as owner:
            slab = owner.export_new()
            owner.publish("movie")
            owner.grant(slab, 2)
            owner.subscribe(1, "movie")
            owner.unexport(slab)
        for client in (listener, other):
            with pytest.raises(TimeoutError):
                client.receive(0.2)


def test_an_error_is_not_the_end(cockpit: Cockpit) -> None:
    """After its first refused request a guest's channel was out of step."""
    with cockpit.connect("open") as client:
        for _ in range(10):
            assert client.unexport(77)[0] == -errno.ENOENT
            assert client.subscribe(1, "none")[0] == -errno.ENOENT
            assert Connection.result(client.import_(0))[0] == -errno.ENOENT
        client.export_new()
        with pytest.raises(Closed):
            client.send_raw(b"")
            client.receive()
