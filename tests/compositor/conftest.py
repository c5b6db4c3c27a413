# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.session import Session


@pytest.fixture
def session(cockpit: Cockpit, tmp_path: Path) -> Iterator[Session]:
    """A cockpit with Weston, for one test."""
    made = Session(cockpit, tmp_path)
    yield made
    made.finish()


@pytest.fixture(scope="module")
def shared_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """The same for all tests of a file, each of which must leave it as it was."""
    cockpit = Cockpit()
    cockpit.start_all()
    made = Session(cockpit, tmp_path_factory.mktemp("session"))
    yield made
    made.finish()
    cockpit.close()
