# SPDX-License-Identifier: MIT
"""Memory of a window, dealt out by gidd: whole, clean, to one client at a time, within limits."""

import ctypes
import errno
import fcntl
import mmap
import os
import select
import signal
import socket
import stat
import struct
from collections.abc import Callable
from contextlib import suppress

import pytest
from lib import large_pages
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.gidwire import (
    ALLOC,
    ALLOCATED,
    FREE,
    PAGE_SIZE,
    READERS_ANY,
    READERS_DOMAIN,
    READERS_STREAM,
    RESULT,
    WINDOW,
    Connection,
    Export,
    Message,
    gid,
    pack,
)
from lib.machines import (
    CONFIG,
    MIB,
    NAMES,
    map_window,
    start,
    window,
    window_number,
    window_path,
    windows,
)
from lib.program import wait_for


@pytest.fixture
def machines(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    start(cockpit)
    return cockpit


def allocate(client: Connection, size: int) -> Message:
    return client.request(ALLOC, size, READERS_ANY, 0, b"")


def allocate_for(client: Connection, size: int, domain: str) -> Message:
    return client.request(ALLOC, size, READERS_DOMAIN, 0, domain.encode())


def place(memory: Message) -> tuple[int, int]:
    """The number of the window that the memory is in, and where in it."""
    return memory.values[0] >> 40, memory.values[0] & (1 << 40) - 1


def free(client: Connection, offset: int, size: int) -> int:
    return Connection.result(client.request(FREE, offset, size))[0]


def error_of(answer: Message) -> int:
    assert answer.type == RESULT, answer
    return Connection.result(answer)[0]


def test_windows_are_files_of_the_hub(machines: Cockpit) -> None:
    for path in (path for domain in NAMES for path in windows(machines, domain)):
        status = os.stat(path)
        assert status.st_size == 4 * MIB and stat.S_IMODE(status.st_mode) == 0o600
        # None is missing when it is written. A spare has none yet but the first and the last.
        assert status.st_blocks * 512 >= 4 * MIB or status.st_blocks * 512 <= 2 * 4096


@pytest.mark.skipif(not large_pages.are_there(), reason="the kernel gives no large pages")
def test_windows_are_of_large_pages(machines: Cockpit) -> None:
    """One at least: what takes long, as on a busy machine, is left out (libgid/large_pages)."""
    for domain in NAMES:
        path = window_path(machines, domain)
        fd = os.open(path, os.O_RDWR)
        with large_pages.mapped(fd, 4 * MIB) as begin:
            for at in range(0, 4 * MIB, large_pages.SIZE):
                ctypes.string_at(begin + at, 1)
            assert large_pages.seen_by("self", path) > 0
        os.close(fd)


def test_a_window_outlives_the_hub(machines: Cockpit) -> None:
    before = os.stat(window_path(machines, "open")).st_ino
    with window(machines, "open") as memory:
        memory[:4096] = b"x" * 4096  # its owner may
        memory[8192:8196] = b"kept"
    machines.restart("host")
    assert os.stat(window_path(machines, "open")).st_ino == before
    with window(machines, "open") as memory:
        assert memory[:8] == b"gidwindo"[:8][::1] and memory[8192:8196] == b"kept"


def landlock_version() -> int:
    """What the kernel forbids a process that asks for it; from 3 on also to truncate files."""
    create_ruleset, version = 444, 1
    libc = ctypes.CDLL(None)
    return libc.syscall(create_ruleset, None, ctypes.c_size_t(0), version)


@pytest.mark.skipif(landlock_version() < 3, reason="no Landlock that knows of truncation")
@pytest.mark.parametrize("domain", ["host", "hud", "open"])
def test_no_client_shrinks_a_window(machines: Cockpit, domain: str) -> None:
    """Its descriptor is writable, for it writes its range; gidds and machines live by the rest."""
    with machines.connect(domain, "shrinks") as client:
        reader = "host" if domain == "open" else "open"
        memory = allocate_for(client, 4096, reader)
        assert memory.type == ALLOCATED
        for size in (0, 4096, 8 * MIB):
            with pytest.raises(PermissionError):
                os.ftruncate(memory.fds[0], size)
        with mmap.mmap(memory.fds[0], 4096, offset=place(memory)[1]) as mine:
            mine[:] = b"m" * 4096
        memory.close()
    for path in windows(machines, domain):
        assert os.stat(path).st_size == 4 * MIB
    machines.wait_links()


def test_memory_is_clean_and_nobody_elses(machines: Cockpit) -> None:
    with machines.connect("open") as one, machines.connect("open") as other:
        first = allocate(one, 5000)
        assert first.type == ALLOCATED and first.values == (4096, 8192)
        second = allocate(other, 1)
        assert second.values == (4096 + 8192, 4096)
        with mmap.mmap(first.fds[0], 8192, offset=4096) as memory:
            assert memory[:] == bytes(8192)
            memory[:] = b"s" * 8192
        first.close()
        assert free(one, 4096, 8192) == 0
        again = allocate(other, 8192)
        assert again.values == (4096, 8192)
        with mmap.mmap(again.fds[0], 8192, offset=4096) as memory:
            assert memory[:] == bytes(8192)
        again.close()
        second.close()


PAGES = CONFIG.replace("window=4M", "window=16M\nwindow-kind=dax", 1)
HEAD = 2 * MIB  # what the guest's kernel keeps of such a window
INFO = 4096


def info_is_whole(path: str) -> bool:
    """Whether there is the block by which Linux knows a device-dax, with its checksum."""
    with open(path, "rb") as file:
        file.seek(INFO)
        block = file.read(4096)
    low = high = 0
    for word in struct.unpack("<1022I", block[:4088]) + (0, 0):
        low = low + word & 0xFFFFFFFF
        high = high + low & 0xFFFFFFFFFFFFFFFF
    (there,) = struct.unpack("<Q", block[4088:])
    sound = there == (high << 32 | low) & 0xFFFFFFFFFFFFFFFF
    return sound and block.startswith(b"NVDIMM_DAX_INFO\0")


def test_a_window_that_a_machine_has_with_pages(make_cockpit: Callable[..., Cockpit]) -> None:
    cockpit = make_cockpit(PAGES)
    cockpit.start("host")
    cockpit.start("open")
    first, other = window_path(cockpit, "open"), window_path(cockpit, "host")
    assert info_is_whole(first) and not info_is_whole(other)
    with window(cockpit, "open") as memory:
        assert memory[:136] == memory[HEAD : HEAD + 136]  # the device begins with its first page
    with cockpit.connect("open") as client:
        given = allocate(client, 4096)
        assert place(given) == (0, HEAD + 4096)
        given.close()
    cockpit.kill("open")
    with window(cockpit, "open") as memory:
        memory[: HEAD + 4096] = b"x" * (HEAD + 4096)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as machine:
        machine.connect(str(cockpit.runtime / "hub" / "open.sock"))  # as QEMU does at first
        wait_for(lambda: info_is_whole(first), "the hub to write it again")


LARGE = CONFIG.replace("window=4M", "window=256M", 1)


def is_readable(connection: Connection) -> bool:
    return bool(select.select([connection.socket], [], [], 0)[0])


def test_nobody_waits_for_another_ones_memory(make_cockpit: Callable[..., Cockpit]) -> None:
    """It is cleaned in pieces: whoever wants a page does not wait for one who wants nearly all."""
    cockpit = make_cockpit(LARGE)
    cockpit.start("host")
    gidd = cockpit.start("open")
    overtaken = 0
    with cockpit.connect("open") as greedy, cockpit.connect("open") as modest:
        for serial in range(1, 11):
            gidd.signal(signal.SIGSTOP)
            greedy.send_raw(pack(ALLOC, 200 * MIB, READERS_ANY, 0, b"", serial=serial))
            modest.send_raw(pack(ALLOC, 4096, READERS_ANY, 0, b"", serial=serial))
            gidd.signal(signal.SIGCONT)
            page = modest.receive()
            overtaken += not is_readable(greedy)
            memory = greedy.receive()
            assert (page.type, memory.type) == (ALLOCATED, ALLOCATED)
            assert free(modest, *page.values) == 0
            with mmap.mmap(memory.fds[0], 200 * MIB, offset=memory.values[0]) as mine:
                for offset in (*range(0, 200 * MIB, 7 * MIB), 200 * MIB - 4096):
                    assert mine[offset : offset + 4096] == bytes(4096)
                    mine[offset] = 1
            assert free(greedy, *memory.values) == 0
            memory.close()
            page.close()
    assert overtaken > 0


def test_gidd_serves_while_it_cleans(make_cockpit: Callable[..., Cockpit]) -> None:
    cockpit = make_cockpit(LARGE)
    cockpit.start("host")
    cockpit.start("open")
    overtaken = 0
    with cockpit.connect("open") as greedy, cockpit.connect("open") as other:
        for _ in range(10):
            greedy.send_raw(pack(ALLOC, 200 * MIB, READERS_ANY, 0, b"", serial=1))
            slab = other.export_new()
            other.unexport(slab)
            overtaken += not is_readable(greedy)
            memory = greedy.receive()
            memory.close()
            assert free(greedy, *memory.values) == 0
    assert overtaken > 0


def test_memory_that_is_not_given_yet(make_cockpit: Callable[..., Cockpit]) -> None:
    cockpit = make_cockpit(LARGE)
    cockpit.start("host")
    gidd = cockpit.start("open")
    with cockpit.connect("open") as client:
        before = allocate(client, 4096)
        gidd.signal(signal.SIGSTOP)
        client.send_raw(pack(ALLOC, 200 * MIB, READERS_ANY, 0, b"", serial=98))
        client.send_raw(pack(FREE, 8192, 200 * MIB, serial=99))
        gidd.signal(signal.SIGCONT)
        assert error_of(client.receive()) == -errno.ENOENT
        given = client.receive()
        assert (given.type, given.values) == (ALLOCATED, (8192, 200 * MIB))
        given.close()
        before.close()


def test_requests_for_memory_are_bounded(machines: Cockpit) -> None:
    with machines.connect("open") as client, machines.connect("open") as other:
        gidd = machines.gidds["open"]
        gidd.signal(signal.SIGSTOP)
        for serial in range(1, 61):
            client.send_raw(pack(ALLOC, 4096, READERS_ANY, 0, b"", serial=serial))
        gidd.signal(signal.SIGCONT)
        answers = [client.receive() for _ in range(60)]
        refused = [error_of(answer) for answer in answers if answer.type == RESULT]
        assert set(refused) == {-errno.EAGAIN}
        given = [answer.values for answer in answers if answer.type == ALLOCATED]
        assert len(given) >= 16 and len(set(given)) == len(given)
        allocate(other, 4096).close()
        for answer in answers:
            answer.close()


def test_who_leaves_is_not_cleaned_for(machines: Cockpit) -> None:
    for _ in range(20):
        with machines.connect("open") as client:
            for serial in range(1, 9):
                client.send_raw(pack(ALLOC, 100 * 1024, READERS_ANY, 0, b"", serial=serial))
    with machines.connect("open") as client:
        assert allocate(client, 4096).type == ALLOCATED


def test_memory_with_a_slab_is_not_given_back(machines: Cockpit) -> None:
    """Wherever in it the slab begins."""
    with machines.connect("open") as owner:
        memory = allocate(owner, 5 * 4096)
        offset, size = memory.values
        export = Export(memory=WINDOW, offset=offset + 8192, generations=offset + 12288)
        error, slab, words = owner.export(export, memory.fds[0])
        assert error == 0, words
        assert free(owner, offset, size) == -errno.EBUSY
        owner.unexport(slab)
        assert free(owner, offset, size) == 0
        memory.close()


def test_only_ones_own_is_given_back(machines: Cockpit) -> None:
    with machines.connect("open") as one, machines.connect("open") as other:
        memory = allocate(one, 8192)
        offset, size = memory.values
        for client, bad in (
            (other, (offset, size)),
            (one, (offset, 4096)),
            (one, (offset + 4096, 4096)),
            (one, (offset | 1 << 40, size)),
            (one, (offset | 63 << 40, size)),
        ):
            assert free(client, *bad) == -errno.ENOENT
        assert free(one, offset, size) == 0
        assert free(one, offset, size) == -errno.ENOENT
        memory.close()


def test_what_is_mapped_is_not_dealt_out(machines: Cockpit) -> None:
    """Also by a gidd that never dealt it out itself."""
    with machines.connect("open") as one:
        memory = allocate(one, 8192)
        kept = mmap.mmap(memory.fds[0], 8192, offset=memory.values[0])
        memory.close()
        assert free(one, *memory.values) == 0
        other = allocate(one, 4096)
        assert other.values == (4096 + 8192, 4096)
        other.close()
    machines.restart("open")
    with machines.connect("open") as one:
        assert allocate(one, 4096).values == (4096 + 8192, 4096)
        kept.close()
        assert allocate(one, 8192).values == (4096, 8192)
        one.close()


def test_limits(machines: Cockpit) -> None:
    with machines.connect("open") as one, machines.connect("open") as other:
        for size in (4 * MIB, 1 << 62):
            assert error_of(allocate(one, size)) in (-errno.ENOMEM, -errno.EDQUOT)
        whole = allocate(one, 4 * MIB - 4096)
        assert whole.type == ALLOCATED
        assert error_of(allocate(other, 1)) == -errno.ENOMEM
        whole.close()
        one.close()  # a client that is gone has given all back
        while True:
            answer = allocate(other, 4 * MIB - 4096)
            if answer.type == ALLOCATED:
                answer.close()
                break


FEW = CONFIG.replace("window=4M", "window=4M\nslabs=6\nsubscriptions=4", 1)


def test_pieces_are_bounded(make_cockpit: Callable[..., Cockpit]) -> None:
    """Whoever asks for memory waits for a walk through all of them, here and in the kernel."""
    cockpit = make_cockpit(FEW)
    start(cockpit)

    def fill(client: Connection, limit: str) -> Message:
        taken = [allocate(client, 4096) for _ in range(10)]
        for answer in taken:
            assert answer.type == ALLOCATED, answer
            answer.close()
        words = Connection.result(allocate(client, 4096))[2]
        assert words.startswith(f"over the limit {limit} of domain open ("), words
        return taken[0]

    with cockpit.connect("open") as one:
        with cockpit.connect("open") as two:
            memory = fill(one, "client-pieces=10")
            fill(two, "client-pieces=10")
            with cockpit.connect("open") as third:
                words = Connection.result(allocate(third, 4096))[2]
                assert words == "over the limit pieces=20 of domain open (its clients have 20)"
            assert free(one, *memory.values) == 0
            allocate(one, 4096).close()

        def used() -> tuple[int, int]:
            found = {quota["name"]: quota["used"] for quota in one.status()["quotas"]}
            return found["pieces"], found["memory"]

        wait_for(lambda: used() == (10, 10 * 4096), "those of who left to be free")


OFD_SETLK = 37  # fcntl(2)


def lock(fd: int, offset: int) -> None:
    fcntl.fcntl(fd, OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, offset, 4096, 0))


def processor_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as stat_file:
        times = stat_file.read().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def test_places_that_a_program_keeps_locked(make_cockpit: Callable[..., Cockpit]) -> None:
    """As many as it likes: gidd does not ask the kernel about all of them for one request."""
    cockpit = make_cockpit(CONFIG.replace("window=4M", "window=64M", 1))
    cockpit.start("host")
    gidd = cockpit.start("open")
    with cockpit.connect("open") as greedy, cockpit.connect("open") as other:
        memory = allocate(greedy, 4096)
        for offset in range(8192, 64 * MIB, 8192):
            lock(memory.fds[0], offset)
        before = processor_seconds(gidd.pid)
        assert error_of(allocate(other, 8192)) == -errno.ENOMEM
        assert processor_seconds(gidd.pid) - before < 0.25
        cockpit.wait_log("open", "keep too many places of window 0 locked")
        memory.close()
        answer = allocate(other, 8192)
        assert answer.type == ALLOCATED
        answer.close()


@pytest.mark.cockpit(DEFAULT_CONFIG)
def test_a_domain_without_other_machines_has_none(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as client:
        assert error_of(allocate(client, 4096)) == -errno.ENOTSUP


def make_slab(client: Connection) -> tuple[int, Message]:
    memory = allocate(client, 8192)
    offset = memory.values[0]
    export = Export(memory=WINDOW, offset=offset, generations=offset + 4096)
    error, slab, words = client.export(export, memory.fds[0])
    assert error == 0, words
    return slab, memory


def write_slab(memory: Message) -> None:
    """Pixels, and a table that names them."""
    with mmap.mmap(memory.fds[0], 8192, offset=memory.values[0]) as mine:
        mine[:4096] = b"film" * 1024
        struct.pack_into("<I", mine, 4096, 7)


def read_slab(cockpit: Cockpit, memory: Message) -> tuple[bytes, int]:
    with window(cockpit, "open") as all_:
        offset = memory.values[0]
        return all_[offset : offset + 4], struct.unpack_from("<I", all_, offset + 4096)[0]


def test_a_table_ends_with_its_memory(machines: Cockpit) -> None:
    """Who reads there still, and then looks whether it was current, takes no others' for whole."""
    with machines.connect("open") as owner:
        slab, memory = make_slab(owner)
        write_slab(memory)
        owner.unexport(slab)
        assert read_slab(machines, memory) == (b"film", 7)
        assert free(owner, *memory.values) == 0
        assert read_slab(machines, memory) == (b"film", 0)
        memory.close()


@pytest.mark.parametrize("size", [4096, 8192])
def test_the_table_of_who_is_killed_ends(machines: Cockpit, size: int) -> None:
    """Also where another one gets a part without it."""
    with machines.connect("open") as other:
        with machines.connect("open") as owner:
            _, memory = make_slab(owner)
            write_slab(memory)
            memory.close()
        wait_for(lambda: not machines.status("open")["slabs"], "it to be missed")
        assert read_slab(machines, memory) == (b"film", 7)
        got = allocate(other, size)
        assert got.values[0] == memory.values[0]
        assert read_slab(machines, memory) == (b"\0" * 4, 0)
        got.close()


def test_a_range_has_one_slab(machines: Cockpit) -> None:
    """Of several only one table would be ended with the range. Then the next one is exported."""
    with machines.connect("open") as owner:
        memory = allocate(owner, 4 * 4096)
        offset = memory.values[0]
        one = Export(memory=WINDOW, offset=offset, generations=offset + 4096)
        other = Export(memory=WINDOW, offset=offset + 8192, generations=offset + 12288)
        error, slab, words = owner.export(one, memory.fds[0])
        assert error == 0, words
        error, _, words = owner.export(other, memory.fds[0])
        assert error == -errno.EBUSY and "a slab is in this memory" in words
        owner.unexport(slab)
        assert owner.export(other, memory.fds[0])[0] == 0
        memory.close()


def test_who_comes_back_has_its_table(machines: Cockpit) -> None:
    """Its connection was lost, and not its memory: it is to copy that under another number."""
    with machines.connect("open") as owner:
        slab, memory = make_slab(owner)
        write_slab(memory)
    wait_for(lambda: not machines.status("open")["slabs"], "it to be missed")
    with machines.connect("open") as again, machines.connect("open") as other:
        offset = memory.values[0]
        export = Export(memory=WINDOW, offset=offset, generations=offset + 4096, slab=slab)
        assert again.export(export, memory.fds[0])[0] == -errno.EEXIST
        memory.close()
        allocate(other, 8192).close()
        assert read_slab(machines, memory) == (b"film", 7)
        assert free(again, *memory.values) == 0
        assert read_slab(machines, memory) == (b"film", 0)


def test_slabs_of_windows(machines: Cockpit) -> None:
    """A slab lies in memory that its client has; others get a descriptor that can only be read."""
    with machines.connect("open") as owner, machines.connect("host") as reader:
        slab, memory = make_slab(owner)
        offset, size = memory.values
        assert free(owner, offset, size) == -errno.EBUSY
        assert owner.grant(slab, 3)[0] == 0
        got = reader.import_(gid(1, slab))
        assert got.values[2] == WINDOW and got.values[4] == offset
        with pytest.raises(PermissionError):
            mmap.mmap(got.fds[0], size, offset=offset)
        with mmap.mmap(memory.fds[0], size, offset=offset) as written:
            written[:4] = b"film"
            with mmap.mmap(got.fds[0], size, offset=offset, prot=mmap.PROT_READ) as read:
                assert read[:4] == b"film"
        got.close()
        owner.unexport(slab)
        assert free(owner, offset, size) == 0
        memory.close()


@pytest.mark.parametrize("lie", ["of another client", "beyond it", "another file", "first page"])
def test_slabs_elsewhere_are_refused(machines: Cockpit, lie: str) -> None:
    with machines.connect("open") as owner, machines.connect("open") as thief:
        memory = allocate(owner, 8192)
        mine = allocate(thief, 8192)
        offset = mine.values[0]
        fd = mine.fds[0]
        if lie == "of another client":
            offset = memory.values[0]
        elif lie == "beyond it":
            offset += 4096
        elif lie == "another file":
            fd = os.open(window_path(machines, "cluster"), os.O_RDWR)
        elif lie == "first page":
            offset = 4 * MIB
        export = Export(memory=WINDOW, offset=offset, generations=offset + 4096)
        error, _, words = thief.export(export, fd)
        assert error in (-errno.EACCES, -errno.EBADF, -errno.ERANGE), words
        memory.close()
        mine.close()


def test_a_memfd_does_not_reach_another_machine(machines: Cockpit) -> None:
    with machines.connect("open") as owner:
        slab = owner.export_new()
        for reader in (2, 3, 4):
            error, _, words = owner.grant(slab, reader)
            assert error == -errno.ENOTSUP and "another machine" in words


def test_pages_elsewhere_are_refused(machines: Cockpit) -> None:
    with machines.connect("host") as consumer, machines.connect("open") as producer:
        producer.publish("movie")
        error, _, words = consumer.subscribe(1, "movie", "open")
        assert error == -errno.ENOTSUP, words
        memory = allocate(consumer, PAGE_SIZE)
        with suppress(FileNotFoundError):
            bell = os.open(machines.socket("open"), os.O_PATH)
            error, _, words = consumer.subscribe(
                2, "movie", "open", fds=[memory.fds[0], bell], window_offset=memory.values[0]
            )
            os.close(bell)
            assert error == -errno.EBADF, words
        memory.close()


# --- a window for each set of readers ---


def readers_of(cockpit: Cockpit, memory: Message) -> set[str]:
    """Who has the file that the memory is in, by its name."""
    names = {number: name for name, number in NAMES.items()}
    number, _ = place(memory)
    path = next(path for path in windows(cockpit, "open") if window_number(path) == number)
    assert os.stat(path).st_ino == os.fstat(memory.fds[0]).st_ino
    return {names[int(word)] for word in path.rpartition(".")[2].split("-")}


SETS = [
    ((READERS_ANY, 0, b""), {"cluster", "host", "hud"}),
    ((READERS_STREAM, 0, b"movie"), {"cluster", "host", "hud"}),
    ((READERS_STREAM, 0, b"camera/rear"), {"cluster", "host", "hud"}),
    ((READERS_STREAM, 0, b"film"), {"host", "hud"}),
    ((READERS_DOMAIN, 0, b"cluster"), {"cluster"}),
    ((READERS_DOMAIN, 2, b""), {"cluster"}),
    ((READERS_DOMAIN, 3, b""), {"host"}),
]


def test_memory_is_in_the_window_of_its_readers(machines: Cockpit) -> None:
    with machines.connect("open") as client:
        for request, readers in SETS:
            memory = client.request(ALLOC, 4096, *request)
            assert memory.type == ALLOCATED, memory
            assert readers_of(machines, memory) == readers, request
            with mmap.mmap(memory.fds[0], 4096, offset=place(memory)[1]) as mine:
                mine[:] = b"m" * 4096
            assert free(client, *memory.values) == 0
            memory.close()


def test_who_reads_it_the_hub_says(machines: Cockpit) -> None:
    """Nobody else: its own programs write the first page, also while its gidd is away."""
    machines.kill("open")
    hub = machines.gidds["host"]
    with window(machines, "open") as first, window(machines, "open", "cluster") as other:
        readers = first[104:136]
        hub.signal(signal.SIGSTOP)
        first[104:136] = other[104:136]
        other[104:136] = readers
    machines.start("open")
    with machines.connect("open") as client:
        refused = client.request(ALLOC, 4096, READERS_DOMAIN, 2, b"")
        assert error_of(refused) == -errno.ENOTCONN and "has not said" in str(refused.values)
        client.send_raw(pack(ALLOC, 4096, READERS_DOMAIN, 2, b"", serial=77))
        hub.signal(signal.SIGCONT)
        memory = client.receive()
        assert memory.type == ALLOCATED and readers_of(machines, memory) == {"cluster"}
        memory.close()
    machines.wait_links()


@pytest.mark.parametrize(
    ("domain", "request_"),
    [
        ("cluster", (READERS_ANY, 0, b"")),  # which shares nothing
        ("open", (READERS_DOMAIN, 0, b"")),  # its own
        ("open", (READERS_DOMAIN, 0, b"open")),
        ("open", (READERS_DOMAIN, 0, b"nobody")),
        ("open", (READERS_DOMAIN, 77, b"")),
        ("host", (READERS_DOMAIN, 4, b"")),  # on one kernel with it
        ("cluster", (READERS_DOMAIN, 3, b"")),  # nothing is shared
    ],
)
def test_memory_that_no_other_machine_reads_is_in_no_window(
    machines: Cockpit, domain: str, request_: tuple[int, int, bytes]
) -> None:
    with machines.connect(domain) as client:
        error, _, words = Connection.result(client.request(ALLOC, 4096, *request_))
        assert error == -errno.ENOTSUP and "a memfd will do" in words


def test_a_slab_goes_to_the_readers_of_its_window(machines: Cockpit) -> None:
    """And to no other: who may read the domain, but not that stream, does not even get a grant."""
    with machines.connect("open") as owner, machines.connect("host") as reader:
        memory = owner.request(ALLOC, 8192, READERS_STREAM, 0, b"film")
        _, offset = place(memory)
        export = Export(memory=WINDOW, offset=offset, generations=offset + 4096)
        error, slab, words = owner.export(export, memory.fds[0])
        assert error == 0, words
        error, _, words = owner.grant(slab, NAMES["cluster"])
        assert error == -errno.ENOTSUP and "cannot see this memory" in words
        assert owner.grant(slab, NAMES["host"])[0] == 0
        with mmap.mmap(memory.fds[0], 8192, offset=offset) as mine:
            mine[:4] = b"film"
        got = reader.import_(gid(1, slab))
        assert got.values[4] == offset
        with mmap.mmap(got.fds[0], 8192, offset=offset, prot=mmap.PROT_READ) as theirs:
            assert theirs[:4] == b"film"
        got.close()
        memory.close()


def test_windows_of_others_are_not_opened(machines: Cockpit) -> None:
    """A domain beside the host opens those that it may read, though it could reach all files."""
    with machines.connect("open") as owner, machines.connect("hud"):
        memory = owner.request(ALLOC, 4096, READERS_DOMAIN, NAMES["cluster"], b"")
        secret = os.fstat(memory.fds[0]).st_ino
        pid = machines.gidds["hud"].pid
        opened = {os.stat(f"/proc/{pid}/fd/{fd}").st_ino for fd in os.listdir(f"/proc/{pid}/fd")}
        assert os.stat(window_path(machines, "open")).st_ino in opened
        assert secret not in opened
        memory.close()


def test_numbers_of_windows_stay(machines: Cockpit) -> None:
    """Machines know windows by them: what the same domains read keeps its number."""
    kept = [window_path(machines, "open", reader) for reader in ("cluster", "host")]
    inodes = [os.stat(path).st_ino for path in kept]
    gone = [window_path(machines, "open", *readers) for readers in (("host", "hud"), ("hud",))]
    all_readers = window_path(machines, "open")
    with map_window(all_readers) as left:
        left[4096:4100] = b"left"
        machines.kill("host")
        text = machines.config_path.read_text()
        machines.config_path.write_text(text.replace("[share open hud]\nstreams=*\n", ""))
        machines.start("host")
        assert [os.stat(path).st_ino for path in kept] == inodes
        assert not any(os.path.exists(path) for path in (*gone, all_readers))
        assert window_path(machines, "open", "cluster", "host") != all_readers
        # Of one that is gone nobody sees any more what was in it.
        assert left[:8192] == bytes(8192)
