# SPDX-License-Identifier: MIT
"""How many of a million faults on a picture's way are seen, as a test of that says."""

import re
from collections.abc import Iterable

from testing.results import Result

A_MILLION = 1_000_000
TEST = "unit/detected"
SAID = re.compile(rf"detected (\d+) of {A_MILLION} by (\w+)")


def detected_of(results: Iterable[Result], tree: str) -> dict[str, int] | None:
    """By each profile. None: the test did not run with just these files, or was skipped."""
    mine = [result for result in results if (result.title, result.tree) == (TEST, tree)]
    cases = [case for result in mine for case in result.cases]
    found: dict[str, int] = {}
    for said in filter(None, (SAID.search(case.name) for case in cases)):
        found[said[2]] = min(int(said[1]), found.get(said[2], A_MILLION))
    return found or None
