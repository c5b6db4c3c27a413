#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the tests in the JUnit files that meson leaves in meson-logs, every TAP case by itself.

Prints what the failed ones asserted, their names and, last, the line `N passed, N failed`
(`, N skipped` where there are any). A file that is missing means that its build folder could not
be built or tested, and counts as one failure. Exit status: 0 if at least one test passed and none
failed.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def outcomes(junit: Path) -> list[tuple[str, str]]:
    """(name, "passed" | "failed" | "skipped") of every test case of one file."""
    folder = junit.parent.parent.name
    if not junit.exists():
        return [(f"{folder}: no tests were run", "failed")]
    found = []
    for suite in ElementTree.parse(junit).iter("testsuite"):
        for case in suite.iter("testcase"):
            kinds = {child.tag for child in case}
            outcome = "passed"
            if kinds & {"failure", "error"}:
                outcome = "failed"
            elif "skipped" in kinds:
                outcome = "skipped"
            found.append((f"{folder}: {suite.get('name')} {case.get('name')}", outcome))
    return found


def assertions(junit: Path) -> list[str]:
    """What pytest said of the failures, a line each: `E   assert …`."""
    if not junit.exists():
        return []
    said = ElementTree.parse(junit).iter("system-err")
    lines = [line for part in said for line in (part.text or "").splitlines()]
    return [f"  {line[1:].strip()[:300]}" for line in lines if line.startswith("E  ")]


def main() -> int:
    tests = [test for path in sys.argv[1:] for test in outcomes(Path(path))]
    count = {
        kind: sum(1 for _, outcome in tests if outcome == kind)
        for kind in ("passed", "failed", "skipped")
    }
    print()
    if count["failed"]:
        said = [line for path in sys.argv[1:] for line in assertions(Path(path))]
        print(*list(dict.fromkeys(said))[:30], sep="\n")
    for name, outcome in tests:
        if outcome == "failed":
            print(f"FAILED {name}")
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    print(f"{count['passed']} passed, {count['failed']} failed{skipped}")
    return 0 if count["passed"] and not count["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
