# SPDX-License-Identifier: MIT
"""What the demo says while it works: nobody sits before a silent terminal."""

import os
import pty
import re
import sys

import pytest
from lib.program import wait_for

from lab.domains.progress import Progress


def test_a_step_that_takes_long_says_so_again(capsys: pytest.CaptureFixture) -> None:
    """Whatever its caller is busy with; and no longer than it lasts."""
    progress, said = Progress(), ""

    def says(text: str) -> bool:
        nonlocal said
        said += capsys.readouterr().err
        return re.search(text, said) is not None

    progress.begin("reading the timelines")
    assert says(r"reading the timelines\n")
    wait_for(lambda: says(r"reading the timelines \(\d+ s\)\n"), "a second word", 60)
    progress.done("the timelines are read")
    assert says("✓ the timelines are read\n")
    progress.begin("writing the report")
    wait_for(lambda: says(r"writing the report \(\d+ s\)\n"), "a word of the next step", 60)
    progress.done("written")
    assert said.rindex("reading the timelines") < said.index("✓ the timelines")


def test_a_step_in_a_terminal_stays_on_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("NO_COLOR", "1")
        progress, said = Progress(), b""
        progress.begin("reading the timelines")
        while said.count(b" s)") < 2:
            said += os.read(ours, 4096)
        progress.done("read")
        while b"read\r\n" not in said:
            said += os.read(ours, 4096)
    os.close(ours)
    again = rb"(\r\x1b\[Kreading the timelines \(\d+ s\)){2,}"
    shown = rb"\r\x1b\[Kreading the timelines" + again + rb"\r\x1b\[K\S+ read\r\n"
    assert re.fullmatch(shown, said)
