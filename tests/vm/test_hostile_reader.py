# SPDX-License-Identifier: MIT
"""A guest that may read one stream of another maps all that it can find: it sees that, and no more.

Each window has a mark, written by the host, that no guest can know. The hostile guest is told them,
turned round, and looks for them in every PCI device, in /dev/mem, in what it is lent over 9p.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_vm.guest import why_not
from guests import Machines

from lab.domains.configuration import configuration

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800),
]

# What open has for cluster, what it has for host, and what for both; and what host has for open.
CONFIG = configuration(
    {
        "open": "kind=guest window=4M",
        "cluster": "kind=guest window=4M vm-memory=768M local=*",
        "host": "kind=host window=4M local=*",
    },
    {
        "open host": "film secret/*",
        "open cluster": "film movie",
        "host open": "*",
        "cluster host": "*",
    },
    runtime="/run/gidway",
)
MARK = 32
PLACE = 5 * 4096


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    machines = Machines(CONFIG)
    yield machines
    machines.close()


def readers(path: Path) -> set[int]:
    return {int(word) for word in path.name.partition(".")[2].split("-")}


def test_a_hostile_reader(machines: Machines) -> None:
    folder = machines.configuration.runtime / "window"
    files = sorted(folder.glob("*/*"))
    machines.boot("cluster")
    marks = []
    for path in files:
        marks.append(os.urandom(MARK))
        with path.open("r+b") as window:
            window.seek(PLACE)
            window.write(marks[-1])
    turned = [bytes(byte ^ 0xFF for byte in mark).hex() for mark in marks]
    before = {path: path.read_bytes()[4096:] for path in files}
    sizes = {path: path.stat().st_size for path in files}
    script = Path(__file__).with_name("search.py")
    result = json.loads(machines.run("cluster", "python3", script, *turned).out)
    found = {path: result["found"][str(number)] for number, path in enumerate(files)}
    shared = {path for path in files if path.parent.name == "cluster" or 2 in readers(path)}
    # It does find what it may have: the search finds such things.
    assert {path for path in files if found[path]} >= shared
    print(f"looked at {result['looked']}")
    not_shared = [path for path in files if path not in shared]
    assert {path.parent.name for path in not_shared} == {"open", "host"}
    readable = sum(MARK for path in not_shared if found[path])
    own = {path for path in shared if path.parent.name == "cluster"}
    written = [p for p in files if p not in own and p.read_bytes()[4096:] != before[p]]
    resized = [path for path in files if path.stat().st_size != sizes[path]]
    assert (readable, written, resized, result["resized"]) == (0, [], [], [])
    # It does write what is its own, which shows that it tries.
    assert len({Path(place).parent for place in result["written"]}) == len(own)
