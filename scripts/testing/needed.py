# SPDX-License-Identifier: MIT
"""python3 -m testing.needed FOLDER SUITE[,SUITE…]: what ninja builds for the tests of suites."""

import json
import sys
from pathlib import Path


def needed(folder: Path, suites: set[str]) -> list[str]:
    """The files, as ninja knows them. Of a build folder that is configured."""
    tests, targets = (
        json.loads((folder / f"meson-info/intro-{what}.json").read_text())
        for what in ("tests", "targets")
    )
    wanted = {
        target
        for test in tests
        if suites & {suite.partition(":")[2] for suite in test["suite"]}
        for target in test["depends"]
    }
    return sorted(
        str(Path(file).relative_to(folder))
        for target in targets
        if target["id"] in wanted
        for file in target["filename"]
    )


if __name__ == "__main__":
    print(*needed(Path(sys.argv[1]).resolve(), set(sys.argv[2].split(","))), sep="\n")
