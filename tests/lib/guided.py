# SPDX-License-Identifier: MIT
"""A fuzzer for Python code, guided by its branches: what takes a new one is kept and changed again.

The interpreter itself tells of the branches (sys.monitoring), so this needs nothing else. With the
same seed and the same number of tries it does the same on every machine.
"""

import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType

_EVENTS = sys.monitoring.events


class Failure(AssertionError):
    """An input that the code does not bear; `data` has it."""

    def __init__(self, data: bytes, seed: int, tries: int) -> None:
        super().__init__(f"seed {seed}, try {tries}: {data!r}")
        self.data = data


class Fuzzer:
    """Feeds `target`, which raises for what should not be; `mutate` gives it ever other bytes."""

    def __init__(
        self,
        target: Callable[[bytes], None],
        mutate: Callable[[random.Random, bytes, bytes], bytes],
        where: Iterable[Path],
        seed: int = 1,
    ) -> None:
        """`where`: the files and folders whose branches count. `mutate(rng, data, other)`."""
        self.tries = 0
        self.corpus: list[bytes] = []
        self.branches: set[tuple] = set()
        self._target, self._mutate, self._seed = target, mutate, seed
        # As code was loaded, whose path may go by "..", and as it is.
        self._where = tuple(str(way) for path in where for way in (path, path.resolve()))
        self._rng = random.Random(seed)
        self._news = False

    def run(self, start: Iterable[bytes], tries: int, seconds: float = 0) -> None:
        """Until there were so many tries, and for so long. Raises Failure with what fails first."""
        end = time.monotonic() + seconds
        with self._watched():
            for data in start:
                self._try(data)
            while self.tries < tries or time.monotonic() < end:
                # Half of the tries go on from what was new last.
                recent = self.corpus[-16:] if self._rng.random() < 0.5 else self.corpus
                other = self._rng.choice(self.corpus)
                self._try(self._mutate(self._rng, self._rng.choice(recent), other))

    def _try(self, data: bytes) -> None:
        self.tries += 1
        self._news = False
        try:
            self._target(data)
        except Exception as error:
            raise Failure(data, self._seed, self.tries) from error
        if self._news or not self.corpus:
            self.corpus.append(data)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        monitoring, tool = sys.monitoring, sys.monitoring.COVERAGE_ID
        monitoring.use_tool_id(tool, "guided")
        monitoring.register_callback(tool, _EVENTS.BRANCH, self._branch)
        monitoring.set_events(tool, _EVENTS.BRANCH)
        try:
            yield
        finally:
            monitoring.set_events(tool, _EVENTS.NO_EVENTS)
            monitoring.register_callback(tool, _EVENTS.BRANCH, None)
            monitoring.free_tool_id(tool)
            monitoring.restart_events()

    def _branch(self, code: CodeType, offset: int, destination: int) -> object:
        if not code.co_filename.startswith(self._where):
            return sys.monitoring.DISABLE
        branch = (code.co_filename, code.co_firstlineno, offset, destination)
        if branch not in self.branches:
            self.branches.add(branch)
            self._news = True
        return None
