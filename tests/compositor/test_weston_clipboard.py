# SPDX-License-Identifier: MIT
"""Weston's own clipboard, which keeps what was copied last when its program has gone: programs that
do what they like with their pipes stop neither Weston nor each other."""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from lib.clipboard import TEXT, TEXT_MAX, ClipboardPeer, ClipboardWindow, Program
from lib.cockpit import Cockpit
from lib.holding import held_pipes
from lib.two_desks import CONFIG, DESK_SIZE, desk_output
from lib.typist import Typist
from lib.weston import Weston

from lab.domains.wayland import Display

LONG = bytes(range(1, 128)) * 10_000  # more than pipes have room for
PATIENCE_S = 30  # with who is to go on
HELD_UP = 16  # pipes into which helpers write
SHARED = ("clipboard/input/desk", "open", "clipboard/desk")
UNHEARD_S = 0.5  # five times as long as until a text is asked for


@pytest.fixture
def cockpit() -> Iterator[Cockpit]:
    made = Cockpit(CONFIG)
    made.start_all()
    yield made
    made.close()


@pytest.fixture
def weston(cockpit: Cockpit, tmp_path: Path) -> Iterator[Weston]:
    """With somebody who types there from elsewhere: its programs have the keyboard."""
    made = Weston(tmp_path, cockpit.env("open"))
    made.configure(desk_output("desk") + "clipboard=true\n")
    made.start()
    with Typist(cockpit.env("cluster"), "input/desk"):
        yield made
    assert made.stop() == 0


@pytest.fixture
def other(weston: Weston) -> Iterator[Display]:
    with Display(weston.socket, weston.protocols) as display:
        yield display


def open_window(weston: Weston) -> Program:
    return ClipboardWindow(weston.socket, "desk", DESK_SIZE).program


@pytest.mark.parametrize("kind", ["copied", "pasted", "refused"])
def test_pipes_that_are_locked(cockpit: Cockpit, weston: Weston, other: Display, kind: str) -> None:
    with held_pipes(cockpit, weston, kind):
        for _ in range(3):
            other.roundtrip(PATIENCE_S)


def test_who_reads_late(weston: Weston, other: Display) -> None:
    """And gets it whole."""
    program = open_window(weston)
    program.leave(LONG)
    reading = program.begin_paste()
    other.roundtrip(PATIENCE_S)
    with open(reading, "rb") as pipe:
        assert pipe.read() == LONG


def test_who_closes_at_once(weston: Weston, other: Display) -> None:
    program = open_window(weston)
    program.leave(LONG)
    for _ in range(2 * HELD_UP):
        os.close(program.begin_paste())
        other.roundtrip(PATIENCE_S)
    assert program.paste() == LONG


def test_many_who_never_read(weston: Weston, other: Display) -> None:
    """Those for whom there is no helper get nothing, and are told so by the end of it."""
    program = open_window(weston)
    program.leave(LONG)
    pipes = [program.begin_paste() for _ in range(HELD_UP + 1)]
    other.roundtrip(PATIENCE_S)
    weston.wait_log("Weston does not write what it kept to a client")
    for pipe in pipes:
        os.close(pipe)
    program.wait(lambda: program.paste() == LONG, "helpers for others")


def test_what_is_no_pipe(weston: Weston, other: Display) -> None:
    """It is closed, and nothing is written."""
    program = open_window(weston)
    program.leave(b"12345678")
    before = weston.descriptors()
    for made in (os.memfd_create("none"), os.eventfd(0)):
        for _ in range(20):
            program.offer("receive", TEXT, made)
        other.roundtrip(PATIENCE_S)
        os.close(made)
    program.wait(lambda: len(weston.descriptors()) <= len(before), "what was given to be closed")
    assert program.paste() == b"12345678"


def test_a_long_text_of_who_has_gone(cockpit: Cockpit, weston: Weston, other: Display) -> None:
    """The module asks for it in Weston's own thread, also when Weston is who gives it."""
    program = open_window(weston)
    with ClipboardPeer(cockpit.env("cluster"), *SHARED):
        weston.wait_log("clipboard/desk is taken")  # before Weston has a part of the text only
        program.leave(LONG)
        said = f"it has more than {TEXT_MAX} bytes"
        program.wait(lambda: said in weston.read_log(), "it to be refused")
        other.roundtrip(PATIENCE_S)


@pytest.mark.parametrize("reader", ["before", "after"])
def test_a_text_that_comes_in_two_parts(cockpit: Cockpit, weston: Weston, reader: str) -> None:
    """Weston offers the first one as soon as the program has taken its offer back. The other domain
    gets all of it, or nothing yet; also who reads there only `after` that."""
    program = open_window(weston)
    pipes: list[int] = []

    def write_half(pipe: int) -> None:
        os.write(pipe, b"one half, ")
        pipes.append(pipe)

    def write_rest() -> None:
        for pipe in pipes:
            with suppress(BrokenPipeError):
                os.write(pipe, b"and the other")
            os.close(pipe)

    with ExitStack() as peers:
        if reader == "before":
            peer = peers.enter_context(ClipboardPeer(cockpit.env("cluster"), *SHARED))
            weston.wait_log("clipboard/desk is taken")
        program.copy(write_half, program.serial() + 1)
        asked = 2 if reader == "before" else 1  # Weston, and the module
        program.wait(lambda: program.asked == asked, "all to ask")
        program.source("destroy")
        program.source = program.offer = None
        program.wait(program.has_text, "what Weston keeps")
        if reader == "after":
            peer = peers.enter_context(ClipboardPeer(cockpit.env("cluster"), *SHARED))
            weston.wait_log("clipboard/desk is taken")
        time.sleep(UNHEARD_S)
        write_rest()
        assert peer.wait_text() == b"one half, and the other"
