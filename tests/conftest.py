# SPDX-License-Identifier: MIT
"""Fixtures of more than one suite: domains, and a browser."""

import gc
import os
from collections.abc import Callable, Iterator

import pytest
from lib.browser import Browser
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.program import Program, why_no_other_users

os.environ["TERM"] = "xterm"  # of terminals that tests make: ours may be a dumb one, or none


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("needs_root") and (reason := why_no_other_users()) is not None:
        pytest.skip(reason)


def pytest_collection_finish() -> None:
    """What is there before the first test, a hundred thousand objects of modules, stays: each
    cockpit looks for what its test has left in circles, and need not look at these."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def kill_programs() -> Iterator[None]:
    """Whatever a test started and, having failed, did not end."""
    before = len(Program.started)
    yield
    for program in Program.started[before:]:
        program.kill()
    del Program.started[before:]


@pytest.fixture
def make_cockpit() -> Iterator[Callable[..., Cockpit]]:
    """Makes cockpits, none of whose gidds runs yet; ended and checked after the test."""
    cockpits: list[Cockpit] = []

    def make(config: str = DEFAULT_CONFIG) -> Cockpit:
        cockpits.append(Cockpit(config))
        return cockpits[-1]

    yield make
    for cockpit in cockpits:
        cockpit.close()


@pytest.fixture
def cockpit(request: pytest.FixtureRequest, make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    """Two domains, `open` and `cluster`, with a gidd each and the link between them up.

    `@pytest.mark.cockpit(text)` gives the test a configuration of its own.
    """
    marker = request.node.get_closest_marker("cockpit")
    cockpit = make_cockpit(*(marker.args if marker else ()))
    cockpit.start_all()
    return cockpit


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()
