# SPDX-License-Identifier: MIT
"""What each test gave when it last ran, and of which state of the files: for `./run assurance`."""

import datetime
import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from testing.one import Case, Outcome

FILE = "test-results.json"
_CASES = ("cases", "at_first")


@dataclass(frozen=True)
class Result:
    """`tree`: what `tree_state()` said when the test ran. `when`: its end, in UTC. `at_first`: what
    failed beside other tests, before it passed by itself.
    """

    folder: str
    title: str
    tree: str
    when: str
    cases: tuple[Case, ...]
    at_first: tuple[Case, ...] = ()


def tree_state(top: Path) -> str:
    """A hash of all files that git knows, as they are now; "unknown" where git does not say."""
    git = ["git", "-c", "safe.directory=*", "-C", str(top), "ls-files", "-z"]
    try:
        listed = subprocess.run(git, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    state = hashlib.sha256()
    for name in sorted(listed.split(b"\0")):
        path = top / os.fsdecode(name)
        if path.is_file():
            state.update(name + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return state.hexdigest()[:12]


def now() -> str:
    """As results have it: later ones are greater."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def read_results(build: Path, since: str = "") -> list[Result]:
    """Those that came then or later; all of them without a time."""
    try:
        listed = json.loads((build / FILE).read_text(encoding="utf-8"))
    except OSError:
        return []
    results = [
        Result(**one | {name: tuple(Case(**case) for case in one.get(name, ())) for name in _CASES})
        for one in listed
    ]
    return [result for result in results if result.when >= since]


def keep_results(
    build: Path, tree: str, outcomes: Sequence[Outcome], forgiven: Sequence[Outcome] = ()
) -> None:
    """In place of what the same tests of the same folders gave before; others stay. `forgiven`: as
    only_alone() gives them.
    """
    when = now()
    kept = {(result.folder, result.title): result for result in read_results(build)}
    for outcome in outcomes:
        folder, title = outcome.test.folder.name, outcome.test.title
        mine = [one for before in forgiven if before.test == outcome.test for one in before.cases]
        failed = tuple(case for case in mine if case.outcome == "failed")
        kept[folder, title] = Result(folder, title, tree, when, tuple(outcome.cases), failed)
    listed = [
        vars(result) | {name: [vars(case) for case in getattr(result, name)] for name in _CASES}
        for result in kept.values()
    ]
    partial = build / f"{FILE}.new"
    partial.write_text(json.dumps(listed, indent=1), encoding="utf-8")
    partial.replace(build / FILE)
