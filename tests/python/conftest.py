# SPDX-License-Identifier: MIT
"""Two domains, and a pair of ends."""

from collections.abc import Iterator

import gid
import pytest
from lib.cockpit import Cockpit
from pairs import make_pair


@pytest.fixture
def domains(cockpit: Cockpit) -> Iterator[tuple[gid.Domain, gid.Domain]]:
    """`open`, which sends, and `cluster`, which reads."""
    with gid.Domain(str(cockpit.socket("open"))) as sends:
        with gid.Domain(str(cockpit.socket("cluster"))) as reads:
            yield sends, reads


@pytest.fixture
def producer(cockpit: Cockpit) -> Iterator[gid.Domain]:
    """`open` alone: what reads is another program."""
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        yield domain


@pytest.fixture
def pair(domains: tuple[gid.Domain, gid.Domain]) -> tuple[gid.Producer, gid.Consumer]:
    """Grey pictures of 8x4, and their reader."""
    return make_pair(*domains)
