# SPDX-License-Identifier: MIT
"""A program whose system calls fail, one in each run: strace learns what it calls, then injects."""

import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.cockpit import Cockpit
from lib.gidwire import Closed
from lib.program import COUNTED, PATIENCE, Program, wait_for

# What a call may fail with, each by no fault of its caller's; others are not injected. Not here:
# what cannot fail, and close and munmap, for an injected call is not made, and what it ends stays.
ERRORS = {
    "accept4": ("EMFILE", "ENOMEM"),
    "access": ("EACCES",),
    "bind": ("EADDRINUSE",),
    "brk": ("ENOMEM",),
    "chmod": ("EPERM",),
    "clone": ("EAGAIN",),
    "clone3": ("EAGAIN",),
    "connect": ("EAGAIN", "ECONNREFUSED"),
    "dup": ("EMFILE",),
    "epoll_create1": ("EMFILE",),
    "epoll_ctl": ("ENOMEM", "ENOSPC"),
    "eventfd2": ("EMFILE",),
    "fallocate": ("ENOSPC",),
    "fcntl": ("EPERM",),
    "flock": ("EINTR",),
    "fstat": ("EIO",),
    "fstatfs": ("EIO",),
    "ftruncate": ("ENOSPC",),
    "getrandom": ("EINTR",),
    "getsockname": ("ENOBUFS",),
    "getsockopt": ("ENOBUFS",),
    "ioctl": ("ENOTTY",),
    "listen": ("EADDRINUSE",),
    "lseek": ("EIO",),
    "madvise": ("ENOMEM",),
    "memfd_create": ("EMFILE", "ENOMEM"),
    "mkdir": ("ENOSPC",),
    "mlockall": ("ENOMEM",),
    "mmap": ("ENOMEM",),
    "mremap": ("ENOMEM",),
    "newfstatat": ("EIO",),
    "openat": ("EMFILE", "EACCES"),
    "pipe2": ("EMFILE",),
    "poll": ("ENOMEM",),
    "ppoll": ("ENOMEM",),
    "pread64": ("EIO",),
    "pwrite64": ("ENOSPC",),
    "read": ("EIO",),
    "readlink": ("EACCES",),
    "recvfrom": ("ENOMEM",),
    "recvmsg": ("ENOMEM", "EMFILE"),
    "sched_setscheduler": ("EPERM",),
    "sendmsg": ("ENOBUFS", "EPIPE"),
    "sendto": ("ENOBUFS", "EPIPE"),
    "setsockopt": ("ENOMEM",),
    "signalfd4": ("EMFILE",),
    "socket": ("EMFILE",),
    "socketpair": ("EMFILE",),
    "timerfd_create": ("EMFILE",),
    "unlink": ("EACCES",),
    "write": ("ENOSPC",),
    "writev": ("ENOSPC",),
}
# What a fault ends a program with, if it does: not a signal, and not without a word.
CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}


@dataclass(frozen=True)
class Fault:
    """The `nth` call of this name, counted from the program's start, fails with this error."""

    call: str
    error: str
    nth: int

    def __str__(self) -> str:
        return f"{self.call}-{self.nth}-{self.error}"

    def options(self) -> list[str]:
        # brk() fails by where the heap ends. A negative answer would be a very high end to libc.
        what = "retval=0" if self.call == "brk" else f"error={self.error}"
        inject = f"inject={self.call}:{what}:when={self.nth}"
        # Only what is injected is stopped for, so that the rest runs as fast as ever.
        return ["--seccomp-bpf", "-e", f"trace={self.call}", "-e", inject]


class Traced(Program):
    """A program under strace, all its threads; `fault` of None only writes down what it calls."""

    def __init__(
        self, cockpit: Cockpit, domain: str, command: Sequence[str | Path], fault: Fault | None
    ) -> None:
        self.fault = fault
        self.trace = cockpit.folder / f"trace-{time.monotonic_ns()}"
        options = fault.options() if fault else ["-e", f"trace={','.join(ERRORS)}"]
        super().__init__(
            # Not -f's own "exited" lines, which come between the calls of threads.
            ["strace", "-f", "-qq", "-s", "256", "-o", self.trace, *options, *command],
            cockpit.env(domain),
            cockpit.folder,
            name=f"traced-{Path(command[0]).name}",
        )

    def inner(self) -> int | None:
        """The program's own process, which strace started."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        try:
            found = children.read_text().split()
        except OSError:
            return None
        return int(found[0]) if found else None

    def inner_fds(self) -> int:
        return len(os.listdir(f"/proc/{self.inner()}/fd"))

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends the program itself; strace then ends as it did.

        Where gcc counts, a fault that is still to come would hit what reads and writes the counts:
        those of all runs before would be lost.
        """
        inner = self.inner()
        if COUNTED and self.fault is not None and not self.injected():
            self.kill()
            return 0
        if inner is not None:
            os.kill(inner, number)
        return self.wait()

    def check_ended_well(self) -> None:
        """It has ended because of the fault: by itself, and with a word."""
        code = self.wait()
        if self.hit_what_cannot_fail():
            return
        assert -code not in CRASHES, f"it crashed: {signal.Signals(-code).name}\n{self.stderr}"
        assert code >= 0, f"it was ended by signal {-code}"
        assert code == 0 or self.stderr.strip(), f"it ended with {code}, without a word"

    def hit_what_cannot_fail(self) -> bool:
        """Of epoll_ctl() only EPOLL_CTL_ADD takes memory. No kernel refuses the others for want of
        it, and nobody can do anything then: what is removed stays in the set, or is not heard.
        """
        line = self.injected_line()
        return "EPOLL_CTL_DEL" in line or "EPOLL_CTL_MOD" in line

    def injected(self) -> bool:
        return self.injected_line() != ""

    def injected_line(self) -> str:
        """The first call that the fault hit, as strace writes it."""
        lines = self.trace.read_text(errors="replace").splitlines()
        return next((line for line in lines if "(INJECTED)" in line), "")


@dataclass
class Calls:
    """How often each call was made: by the first thread before and since it began, by others."""

    before: Counter[str]
    since: Counter[str]
    others: dict[int, Counter[str]]


def learn(traced: Traced, begins: str) -> Calls:
    """It begins with the first line of the trace that has `begins` in it, and ends where what gcc
    counts is written.
    """
    calls = Calls(Counter(), Counter(), {})
    first, begun = None, False
    for line in traced.trace.read_text(errors="replace").splitlines():
        found = re.match(r"(\d+)\s+(\w+)\(", line)
        if ".gcda" in line:
            break
        if found is None:
            continue  # the rest of a call that another thread came between
        thread, call = int(found[1]), found[2]
        first = thread if first is None else first
        begun |= begins in line
        if thread != first:
            if begun:
                calls.others.setdefault(thread, Counter())[call] += 1
        elif begun:
            calls.since[call] += 1
        else:
            calls.before[call] += 1
    assert begun, f"no call has {begins!r} in it:\n{traced.stderr}"
    return calls


def faults(calls: Calls, most: int, threads: bool = False) -> list[Fault]:
    """Each call that was made since then, up to `most` of a name, evenly spread, with each error.

    strace counts each thread's calls by themselves: a fault hits all that get as far. With
    `threads` theirs are tried, too; else none is hit but the first, so that they can try again.
    """
    chosen: list[Fault] = []
    for call, errors in sorted(ERRORS.items()):
        theirs = max((counts[call] for counts in calls.others.values()), default=0)
        before = calls.before[call]
        numbers = set(range(before + 1, before + calls.since[call] + 1))
        numbers = (
            numbers | set(range(1, theirs + 1)) if threads else {n for n in numbers if n > theirs}
        )
        ordered = sorted(numbers)
        for nth in ordered[:: max(1, -(-len(ordered) // most))]:
            chosen += [Fault(call, error, nth) for error in errors]
    return chosen


def sample[T](all_of_them: list[T], count: int) -> list[T]:
    """As many, of all names, each run others in turn by GIDWAY_FAULTS_TURN."""
    if os.environ.get("GIDWAY_FAULTS") == "all" or len(all_of_them) <= count:
        return all_of_them
    step = len(all_of_them) / count
    first = int(os.environ.get("GIDWAY_FAULTS_TURN", "0")) % max(1, int(step))
    return [all_of_them[int(first + i * step)] for i in range(count)]


def try_each(chosen: list[Fault], one: Callable[[Fault], None]) -> None:
    """All of them, whatever one of them shows; says at the end which were not withstood."""
    problems = []
    for fault in chosen:
        try:
            one(fault)
        except (AssertionError, Closed, OSError) as error:
            problems.append(f"{fault}: {error}")
    print(f"{len(chosen)} faults, {len(problems)} not withstood")
    assert not problems, "\n\n".join(problems)


def is_ready_or_ended(program: Program, ready: Callable[[], bool]) -> bool:
    """False where it has ended. Waits for one of both."""
    wait_for(lambda: not program.is_running() or ready(), "it to be ready, or to end", PATIENCE)
    return program.is_running()
