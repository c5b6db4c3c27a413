# SPDX-License-Identifier: MIT
"""Runs steps one after the other. If one fails or hangs, only steps that need it are left out."""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from lab.domains.program import LabError, Wanting
from lab.domains.progress import Progress

OK, FAILED, IMPOSSIBLE, LEFT_OUT = "ok", "failed", "not possible", "left out"
AGAIN_SECONDS = 30.0  # for the cleanup of a step that took too long


class TooLong(BaseException):
    """The time of a step is over. No Exception: handlers of programs' errors ignore it."""


@dataclass(frozen=True)
class Step:
    """`run` returns what it found. It raises Wanting if the step is impossible here. `seconds`: its
    limit.
    """

    name: str
    what: str
    run: Callable[[], dict[str, object]]
    seconds: float
    needs: tuple[str, ...] = ()


@dataclass
class Outcome:
    step: str
    what: str
    result: str
    seconds: float = 0.0
    why: str = ""
    found: dict[str, object] = field(default_factory=dict)
    logs: str = ""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises TooLong in the block after this time. The cleanup has a limit of its own."""

    def over(_number: int, _frame: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def try_all(
    steps: Sequence[Step], progress: Progress, tidy: Callable[[], str]
) -> Iterator[Outcome]:
    """`tidy`: called after a failed step; returns the last output of the programs."""
    good: set[str] = set()
    for step in steps:
        missing = [name for name in step.needs if name not in good]
        if missing:
            outcome = Outcome(step.name, step.what, LEFT_OUT, why=f"it needs {missing[0]}")
        else:
            progress.begin(f"{step.what} …")
            outcome = _try(step)
        if outcome.result == OK:
            good.add(step.name)
        elif outcome.result == FAILED:
            outcome.logs = _tidy(tidy)
        tell(outcome, progress)
        yield outcome


def _try(step: Step) -> Outcome:
    begin = time.monotonic()
    outcome = Outcome(step.name, step.what, FAILED)
    try:
        with at_most(step.seconds):
            outcome.found = step.run()
        outcome.result = OK
    except Wanting as error:
        outcome.result, outcome.why = IMPOSSIBLE, str(error)
    except TooLong:
        outcome.why = f"it was not over after {step.seconds:.0f} s"
    except LabError as error:
        outcome.why = str(error)
    except Exception as error:  # the report covers all failures
        outcome.why = f"{type(error).__name__}: {error}"
    outcome.seconds = round(time.monotonic() - begin, 2)
    return outcome


def _tidy(tidy: Callable[[], str]) -> str:
    try:
        with at_most(AGAIN_SECONDS):
            return tidy()
    except TooLong:
        return "programs could not be ended in time"
    except Exception as error:
        return f"programs could not be ended: {error}"


def tell(outcome: Outcome, progress: Progress) -> None:
    """A line; for a failure, the first line of the reason."""
    why = outcome.why.partition("\n")[0]
    if outcome.result == OK:
        found = ", ".join(f"{key} {value}" for key, value in outcome.found.items())
        progress.done(f"{outcome.what} ({outcome.seconds:.1f} s){': ' if found else ''}{found}")
    elif outcome.result == FAILED:
        progress.fail(f"{outcome.what} ({outcome.seconds:.1f} s): {why}")
    else:
        progress.say(f"- {outcome.what}: {outcome.result}: {why}")
