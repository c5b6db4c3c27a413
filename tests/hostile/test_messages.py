# SPDX-License-Identifier: MIT
"""Packets that are no messages, or not at this time, or not from this side."""

import os
import struct

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import (
    BODIES,
    DOORBELL,
    GRANT,
    HELLO,
    IMPORTED,
    PUBLISH,
    REPORT,
    RESULT,
    REVOKED,
    SEALED,
    STATUS,
    SUBSCRIBE,
    SUBSCRIBED,
    SUBSCRIBER,
    UNEXPORT,
    VERSION,
    WELCOME,
    Connection,
    memfd,
    pack,
)
from lib.outcome import expect_closed, expect_violation, number, untouched
from lib.program import wait_for
from lib.sample_messages import FDS, valid

TOO_LARGE = "a message that is too large, or with too many descriptors"
TOO_SHORT = "the message is shorter than its header"
SIZE = "the message's size is not that of its type"


def send(connection: Connection, data: bytes, count: int) -> None:
    """Sends with that many descriptors of a pipe, none of which may be left in gidd."""
    fds = [fd for _ in range((count + 1) // 2) for fd in os.pipe()]
    try:
        connection.send_raw(data, fds[:count])
    finally:
        for fd in fds:
            os.close(fd)


@pytest.mark.parametrize("type_", BODIES)
def test_only_the_exact_size_of_a_type_is_a_message(cockpit: Cockpit, type_: int) -> None:
    message = valid(type_)
    with untouched(cockpit):
        for wrong in (message[:-1], message + b"\0", message[:16], message + b"\0" * 4096):
            if wrong == message:
                continue  # a message without a body
            with cockpit.connect("open") as connection:
                send(connection, wrong, FDS.get(type_, 0))
                expect_violation(
                    cockpit,
                    connection,
                    TOO_LARGE if len(wrong) > 4096 else TOO_SHORT if len(wrong) < 16 else SIZE,
                )
        with cockpit.connect("open") as connection:
            lying = message[:4] + struct.pack("<I", len(message) + 1) + message[8:]
            send(connection, lying, FDS.get(type_, 0))
            expect_violation(cockpit, connection, SIZE)


@pytest.mark.parametrize("type_", BODIES)
def test_only_the_exact_number_of_descriptors(cockpit: Cockpit, type_: int) -> None:
    needed, gidd = FDS.get(type_, 0), cockpit.gidds["open"]
    with untouched(cockpit):
        before = gidd.open_fds()
        for count in {0, 1, 2, 3, 200} - {needed}:
            with cockpit.connect("open") as connection:
                send(connection, valid(type_), count)
                expect_violation(
                    cockpit,
                    connection,
                    TOO_LARGE
                    if count > 2
                    else "the message has not as many descriptors as its type",
                )
            # Who left many that are not closed yet, on a busy machine, is not let in again.
            wait_for(lambda: gidd.open_fds() <= before, "the descriptors to be closed")


@pytest.mark.parametrize("size", [1, 3, 4, 15])
def test_less_than_a_header(cockpit: Cockpit, size: int) -> None:
    with untouched(cockpit), cockpit.connect("open") as connection:
        connection.send_raw(valid(STATUS)[:size])
        expect_violation(cockpit, connection, TOO_SHORT)


def test_an_empty_packet_is_a_good_bye(cockpit: Cockpit) -> None:
    with untouched(cockpit), cockpit.connect("open") as connection:
        connection.send_raw(b"")
        expect_closed(cockpit, connection, "hung up")


@pytest.mark.parametrize(
    "type_", [0, 4, 15, 26, 31, 43, 47, 52, 63, 69, 79, 87, 265, 1 << 16, 0xFFFFFFFF]
)
def test_unknown_types(cockpit: Cockpit, type_: int) -> None:
    with untouched(cockpit), cockpit.connect("open") as connection:
        connection.send_raw(struct.pack("<IIII", type_, 16, 1, 0))
        expect_violation(cockpit, connection, "the message's type is unknown")


@pytest.mark.parametrize(
    "type_",
    [HELLO, WELCOME, RESULT, IMPORTED, REVOKED, SUBSCRIBER, SUBSCRIBED, DOORBELL, REPORT, SEALED],
)
def test_what_no_client_says(cockpit: Cockpit, type_: int) -> None:
    with untouched(cockpit), cockpit.connect("open") as connection:
        send(connection, valid(type_), FDS.get(type_, 0))
        expect_violation(cockpit, connection, "a message that no client sends")


def test_reserved_fields_are_zero(cockpit: Cockpit) -> None:
    header = struct.pack("<IIII", STATUS, 16, 1, 1)
    with untouched(cockpit):
        for message in (header, pack(UNEXPORT, 1, 1), pack(GRANT, 1, 2, 1, 1)):
            with cockpit.connect("open") as connection:
                connection.send_raw(message)
                expect_violation(cockpit, connection, "a reserved field is not 0")


# --- greetings ---


@pytest.mark.parametrize("type_", [type_ for type_ in BODIES if type_ != HELLO])
def test_a_client_greets_first(cockpit: Cockpit, type_: int) -> None:
    with untouched(cockpit):
        with Connection(cockpit.socket("open"), hello=False) as connection:
            send(connection, valid(type_), FDS.get(type_, 0))
            expect_violation(cockpit, connection, "it does not begin with a greeting")


@pytest.mark.parametrize("version", [0, 1, 3, 0xFFFFFFFF])
def test_another_version(cockpit: Cockpit, version: int) -> None:
    with untouched(cockpit), Connection(cockpit.socket("open"), hello=False) as connection:
        answer = connection.request(HELLO, version, 0, b"old")
        assert connection.result(answer) == (
            number("EPROTO"),
            0,
            f"gidd of domain open speaks version 2 of the wire, this program {version}: "
            "install the same release of both",
        )
        expect_closed(cockpit, connection, f"it speaks version {version}")


@pytest.mark.parametrize(
    "name", [b"\x1b[31mred", b"new\nline", b"\xff", b"\xc3", b"a" * 64, b"a\0b", b"\xe2\x80"]
)
def test_a_program_cannot_write_into_the_log(cockpit: Cockpit, name: bytes) -> None:
    with untouched(cockpit), Connection(cockpit.socket("open"), hello=False) as connection:
        connection.send_raw(pack(HELLO, VERSION, 0, name))
        expect_violation(cockpit, connection, "the name is not a valid text")
    assert "\x1b" not in cockpit.log("open") and "�" not in cockpit.log("open")


def test_who_connects_is_logged_with_its_credentials(cockpit: Cockpit) -> None:
    with cockpit.connect("open", "a program"):
        who = f"a program (pid {os.getpid()}, uid {os.getuid()})"
        cockpit.wait_log("open", f"gidd[open]: {who}: connected")


def test_a_client_cannot_claim_another_domain(cockpit: Cockpit) -> None:
    with Connection(cockpit.socket("open"), hello=False) as connection:
        answer = connection.request(HELLO, VERSION, 2, b"liar")
        assert answer.values[1] == 1


def test_who_does_not_greet_is_turned_away(cockpit: Cockpit) -> None:
    with untouched(cockpit), Connection(cockpit.socket("open"), hello=False) as connection:
        expect_closed(cockpit, connection, "no greeting")


# --- texts ---

BAD_NAMES = [
    b"", b"/", b"/movie", b"movie/", b"mo\x1bvie", b"mo\nvie", b"mo\tvie", b"mo vie", b"mo\x7fvie",
    b"m\xc3\xb6vie", b"movie\xff", b"..", b"a/../b", b"a//b", b"a" * 64, b"a\0b", b"*", b"%s",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_of_streams(cockpit: Cockpit, name: bytes) -> None:
    fds = [memfd(4096), memfd(4096)]
    why = "the stream's name is not valid"
    with untouched(cockpit):
        with cockpit.connect("open") as connection:
            connection.send_raw(pack(PUBLISH, name))
            expect_violation(cockpit, connection, why)
        with cockpit.connect("open") as connection:
            connection.send_raw(pack(SUBSCRIBE, 1, 0, 1, 0, b"", name, 0), fds)
            expect_violation(cockpit, connection, why)
        with cockpit.connect("open") as connection:
            connection.send_raw(pack(SUBSCRIBE, 1, 0, 1, 0, name or b"\0x", b"movie", 0), fds)
            expect_violation(cockpit, connection, "the domain's name is not valid")
    for fd in fds:
        os.close(fd)


@pytest.mark.parametrize("greeted", [False, True])
def test_an_empty_packet_leaves_no_descriptors(cockpit: Cockpit, greeted: bool) -> None:
    """Descriptors beside no bytes are closed all the same, and whoever sends them is cut off."""
    gidd = cockpit.gidds["open"]
    with untouched(cockpit):
        before = gidd.open_fds()
        for _ in range(20):
            with Connection(cockpit.socket("open"), hello=greeted) as connection:
                send(connection, b"", 2)
                expect_violation(cockpit, connection, TOO_LARGE)
        wait_for(lambda: gidd.open_fds() <= before, "that all descriptors are closed")
