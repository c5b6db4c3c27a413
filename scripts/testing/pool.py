# SPDX-License-Identifier: MIT
"""Runs tests side by side, those that measure afterwards, and again what failed in company."""

import contextlib
import itertools
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from gid_vm.folder import memory_folder

from testing.one import Case, Outcome, Running, Test
from testing.processors import Processors

# Most tests wait for something and do not compute. Where much of the processors is free for all
# that, there is one place more, and so on: until the next look, for many tests if these are short.
# But not for a guest: a translated one that gets too little of a processor takes up to three times
# as much of it, for its programs wait for one another.
_PLACES_A_CORE, _MOST_PLACES_A_CORE = 2, 8
_GUESTS_A_CORE = 1
_FREE = 0.2  # of all processors

_POLL_SECONDS = 0.05

# Of a failed test's output, to read at once; the rest is in its log.
_SHOWN_LINES = 100


class Pool:
    """The tests that wait, those that run, and the outcome of each of them."""

    def __init__(
        self, cores: int | None = None, free: Callable[[], float | None] | None = None
    ) -> None:
        self._cores = cores or len(os.sched_getaffinity(0))
        self._free = free or Processors().free
        self._waiting: list[Test] = []
        self._alone: list[Test] = []
        self._running: list[Running] = []
        self._places = self._cores * _PLACES_A_CORE
        self._has_news = False  # there is a test more that waits, or a place more
        self._numbers = itertools.count()
        self._total = self._finished = 0
        self.outcomes: list[Outcome] = []
        self.first: list[Outcome] = []  # of those that ran twice, the failed first run

    def add(self, tests: Iterable[Test]) -> None:
        """Longest first, guests before all."""
        tests = list(tests)
        self._total += len(tests)
        self._alone += [test for test in tests if test.is_alone]
        self._waiting += [test for test in tests if not test.is_alone]
        self._waiting.sort(
            key=lambda test: (not test.is_guest, bool(test.sanitizer), -test.seconds)
        )
        self._has_news = True

    def leave_out(self, tests: Iterable[Test], why: str) -> None:
        """Those are told of as not tested."""
        self.outcomes += [Outcome(test, 0.0, [Case("all", "skipped", why)]) for test in tests]

    def run(self, feed: Callable[[], bool]) -> None:
        """Runs everything. `feed` may add tests; asked until it says that none will follow."""
        folder = memory_folder()
        # Not a TemporaryDirectory: tests that are forked would end with it.
        self._folder = Path(tempfile.mkdtemp(prefix="gid", dir=folder))
        self._folder.chmod(0o755)  # some tests start programs as other users
        try:
            while feed() or self._waiting or self._running:
                self._start_some()
                time.sleep(_POLL_SECONDS)
                self._collect()
            # Those that are calm leave most of a processor idle.
            calm = [test for test in self._alone if test.is_calm]
            calm.sort(key=lambda test: -test.seconds)
            self._measure(calm, self._cores + 1)
            self._measure([test for test in self._alone if not test.is_calm], 1)
            self._again()
        finally:
            for running in self._running:
                running.kill()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start_some(self) -> None:
        if (free := self._free()) is not None:
            self._places = self._cores * _PLACES_A_CORE
            if free >= _FREE:
                most = self._cores * _MOST_PLACES_A_CORE
                self._places = max(self._places, min(self._used() + 1, most))
            self._has_news = True
        if self._has_news:  # else as before: hundreds of tests, none of which has a place
            self._has_news = False
            for test in list(self._waiting):
                if self._has_place(test):
                    self._start(test)

    def _guests(self) -> int:
        return sum(running.test.is_guest for running in self._running)

    def _used(self) -> int:
        """Of the places; a guest takes two."""
        return len(self._running) + self._guests()

    def _has_place(self, test: Test) -> bool:
        free = self._places - self._used()
        if test.is_guest:
            return self._guests() < self._cores * _GUESTS_A_CORE and free >= 2
        return free >= 1

    def _start(self, test: Test) -> None:
        self._waiting.remove(test)
        self._running.append(self._started(test))

    def _started(self, test: Test) -> Running:
        place = self._folder / str(next(self._numbers))
        name = test.title.replace("/", "-").replace(" ", "-")
        return Running(test, place, test.folder / "test-logs" / f"{name}.log")

    def _collect(self) -> None:
        for running in list(self._running):
            if (outcome := running.poll()) is not None:
                self._running.remove(running)
                self._has_news = True
                self._finish(running, outcome)
                self.outcomes.append(outcome)

    def _measure(self, tests: list[Test], places: int) -> None:
        """In their order, no more than so many at a time."""
        while tests or self._running:
            if tests and len(self._running) < places:
                self._running.append(self._started(tests.pop(0)))
            else:
                time.sleep(_POLL_SECONDS)
                self._collect()

    def _again(self) -> None:
        """What failed while others ran beside it, and may have been late only."""
        for index, outcome in enumerate(self.outcomes):
            test = outcome.test
            had_company = not test.is_alone or test.is_calm
            if outcome.has_failed and had_company and outcome.may_be_lateness:
                self._total += 1
                print(f"again, by itself: {test.folder.name} {test.title}", file=sys.stderr)
                self.first.append(outcome)
                self._measure([test], 1)
                self.outcomes[index] = self.outcomes.pop()

    def _finish(self, running: Running, outcome: Outcome) -> None:
        with contextlib.suppress(OSError):
            shutil.rmtree(running.place)
        test = outcome.test
        count = {
            kind: sum(case.outcome == kind for case in outcome.cases)
            for kind in ("passed", "failed", "skipped")
        }
        said = ", ".join(f"{number} {kind}" for kind, number in count.items() if number)
        self._finished += 1
        print(
            f"[{self._finished}/{self._total}] {outcome.seconds:6.1f} s, "
            f"CPU {outcome.cpu_seconds:6.1f} s  {test.folder.name} {test.title}: {said}",
            file=sys.stderr,
        )
        if outcome.has_failed:
            lines = outcome.log.splitlines()
            print(*lines[-_SHOWN_LINES:], sep="\n", file=sys.stderr)
        sys.stderr.flush()
