# SPDX-License-Identifier: MIT
"""Memory between host and guest: written by one side, and by no other whatever it tries."""

import json
from pathlib import Path

import pytest
from gid_vm.guest import Guest, why_not
from guests import WINDOW
from lib.program import BUILD

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800),
]

HOSTILE_DMA = BUILD / "tests/hostile/programs/hostile-dma"


@pytest.fixture
def files(guest: Guest) -> tuple[Path, Path]:
    """Its own window, all o, and that of others, all x: written where they are, for it has them."""
    own, others = (window.path for window in guest.machine.windows)
    for path, byte in ((own, b"o"), (others, b"x")):
        with path.open("r+b") as file:
            file.write(byte * WINDOW)
    return own, others


def test_a_guest_writes_its_own_memory_and_no_other(guest: Guest, files: tuple[Path, Path]) -> None:
    own, others = files
    script = Path(__file__).with_name("windows.py")
    result = guest.run(["python3", str(script), str(ord("A")), str(ord("B"))])
    assert result.code == 0, result.err
    # While it runs: the host reads the very memory that the guest wrote.
    assert own.read_bytes() == b"A" * WINDOW
    assert others.read_bytes() == b"x" * WINDOW
    mine, theirs = ([int(word) for word in line.split()] for line in result.out.splitlines())
    assert mine == [WINDOW, ord("o"), ord("A"), ord("A")]
    assert theirs == [WINDOW, ord("x"), ord("x"), ord("x")]
    # And what the host writes there meanwhile, the guest sees.
    with others.open("r+b") as file:
        file.write(b"y")
    again = guest.run(["python3", str(script), str(ord("C")), str(ord("D"))])
    assert again.out.splitlines()[1].split()[1] == str(ord("y"))
    assert own.read_bytes() == b"C" * WINDOW
    assert others.read_bytes() == b"y" + b"x" * (WINDOW - 1)


def test_a_device_of_a_guest_writes_its_own_memory_and_no_other(
    guest: Guest, files: tuple[Path, Path]
) -> None:
    """By itself (DMA), where this guest has no IOMMU: it is told by the attacker alone."""
    own, others = files
    ways = {"own": (2, own), "": (0, others)}  # the exit status of each
    for number, (aim, (status, file)) in enumerate(ways.items()):
        pattern = f"{number + 1:x}" * 16
        words = ["timeout", "--preserve-status", "4", HOSTILE_DMA, pattern, *aim.split()]
        result = guest.run([*map(str, words)])
        assert result.code == status, result.err
        did = json.loads(result.out)
        assert did["windows"] == 1 and did["arrived"] == did["passed"] == did["devices"] == 4
        assert did["tried"] > 0
        found = file.read_bytes().count(bytes.fromhex(pattern) * 512)
        assert (found > 0, did["changed"] > 0, did["held"] > 0) == (aim == "own",) * 3
        assert did["written"] == 1000
    assert others.read_bytes() == b"x" * WINDOW
