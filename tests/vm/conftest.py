# SPDX-License-Identifier: MIT
"""Fixtures for all tests that have guests."""

from collections.abc import Iterator

import pytest
from guests import commands_end


@pytest.fixture(autouse=True)
def kill_commands() -> Iterator[None]:
    """A guest is there for many tests: one camera that goes on takes it from all that follow."""
    with commands_end():
        yield
