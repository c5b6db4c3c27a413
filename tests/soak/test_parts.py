# SPDX-License-Identifier: MIT
"""A long soak in parts, of several machines: hours add up, and what broke is not forgotten."""

import dataclasses
from pathlib import Path

import pytest

from lab.soak import parts


def part(name: str, hours: float, state: str = parts.ENDED, **more: object) -> parts.Part:
    one = dataclasses.replace(parts.begin(), id=name, machine="one", hours=hours, state=state)
    return dataclasses.replace(one, **more)


def test_of_each_run_the_last_line_counts(tmp_path: Path) -> None:
    """So that one that was switched off counts up to its last sample."""
    file = tmp_path / "parts"
    for one in (part("a", 1, parts.RUNS), part("b", 3, parts.RUNS), part("a", 2)):
        parts.add(file, one)
    found = parts.read(file)
    assert [(one.id, one.hours, one.state) for one in found] == [
        ("a", 2, parts.ENDED),
        ("b", 3, parts.RUNS),
    ]
    told = "5.00 of 48 hours, in 2 parts on 1 machine: nothing broke, nothing grew"
    assert parts.summary(found) == f"{told}; 43.00 hours are left."


def test_files_of_several_machines_are_put_together(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    parts.add(here, part("a", 30))
    parts.add(there, part("b", 18.5, machine="two"))
    here.write_bytes(here.read_bytes() + there.read_bytes())
    told = "48.50 of 48 hours, in 2 parts on 2 machines: nothing broke, nothing grew."
    assert parts.summary(parts.read(here)) == told


def test_what_broke_or_grew_in_one_part_is_told_of_all() -> None:
    found = [part("a", 2, parts.BROKE), part("b", 40), part("c", 9, grows=True)]
    assert "in 3 parts on 1 machine: 1 broke off, something grew in 1." in parts.summary(found)


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"id": 1}', "soak", "1e999"])
def test_what_is_no_part_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "parts"
    parts.add(file, part("a", 1))
    file.write_text(f"{file.read_text()}{line}\n")
    with pytest.raises(parts.BadParts, match=":2: this is no part of a soak"):
        parts.read(file)
