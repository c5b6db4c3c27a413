# SPDX-License-Identifier: MIT
"""One test of a build folder as meson knows it: what it is, a run of it, and what came of that."""

import json
import os
import random
import re
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from testing import forked

# Each test's own limit is for a quiet machine, which runs the programs itself.
TIMEOUT_FACTOR = 4
EMULATED_FACTOR = 3

# Root's, those that judge times (which needs a quiet machine), and those that take minutes.
ONLY_BY_NAME = {"root", "long"}

# Between the end that is asked for and the one that is not.
_GRACE_SECONDS = 10

_CASE = re.compile(r"(not )?ok\b\s*(\d+)?\s*(?:- )?(.*?)(?:\s*#\s*(skip|todo)\S*\s*(.*))?", re.I)
_PLAN = re.compile(r"1\.\.(\d+)(?:\s*#\s*skip\S*\s*(.*))?", re.I)

_STOP = "halt_on_error=1:abort_on_error=1:print_summary=1"

# What nobody's lateness can be the reason of: a sanitizer's report, libFuzzer's, a program's crash.
_REPORT = re.compile(
    r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:|ERROR: libFuzzer"
    r"|a sanitizer complains|died: -(?:4|6|7|8|11)\b"
)
_WAITED = re.compile(r"waited [0-9.]+ s in vain|Timeout >|does not end|TimeoutExpired")


@dataclass(frozen=True)
class Test:
    """What is known of a test before it runs."""

    __test__ = False  # says to pytest that it is none of its own
    folder: Path
    name: str
    suites: tuple[str, ...]
    command: tuple[str, ...]
    env: dict[str, str]
    seconds: float  # it may take on a quiet machine
    is_tap: bool
    is_alone: bool  # it measures: nothing that computes may run beside it
    sanitizer: str = ""  # what the folder is built with; "" for the ordinary one

    @property
    def title(self) -> str:
        return f"{self.suites[0]}/{self.name}"

    @property
    def is_built(self) -> bool:
        """Else its command only says what of the build is missing for it."""
        return "not-built" not in {Path(word).name for word in self.command}

    @property
    def is_guest(self) -> bool:
        """It boots guests, which keep a core busy."""
        return "guest" in self.suites

    @property
    def has_own_kernel(self) -> bool:
        """It boots what gid_vm.own_kernel gives: a kernel that has to be built first."""
        return "own-kernel" in self.suites

    @property
    def limit(self) -> float:
        """After so many seconds it is ended."""
        emulated = EMULATED_FACTOR if os.environ.get("GIDWAY_ARCH") else 1
        return self.seconds * TIMEOUT_FACTOR * emulated

    @property
    def is_calm(self) -> bool:
        """It measures, and mostly waits: another of these does not disturb it."""
        return self.is_alone and "calm" in self.suites

    def is_wanted(self, wanted: list[str]) -> bool:
        """Whether one of the names is a suite of it, or one SUITE/TEST. No name means all tests.

        Those of the suites ONLY_BY_NAME are not among these, nor do their other suites bring them.
        """
        special = set(self.suites) & ONLY_BY_NAME
        if not wanted:
            return not special
        names = {f"{suite}/{self.name}" for suite in self.suites}
        return not (names | (special or set(self.suites))).isdisjoint(wanted)


@dataclass(frozen=True)
class Case:
    name: str
    outcome: str  # "passed" | "failed" | "skipped"
    why: str = ""  # it was skipped


@dataclass
class Outcome:
    """What came of one run of a test."""

    test: Test
    seconds: float
    cases: list[Case] = field(default_factory=list)
    log: str = ""
    is_crash: bool = False  # ended by a signal, or something it ran reported a fault of ours
    cpu_seconds: float = 0.0  # with those of whatever it started and waited for

    @property
    def has_failed(self) -> bool:
        return any(case.outcome == "failed" for case in self.cases)

    @property
    def may_be_lateness(self) -> bool:
        """Whether the failure can come of a machine that was busy with other tests.

        Under a sanitizer only a wait in vain can.
        """
        return not self.is_crash and (not self.test.sanitizer or bool(_WAITED.search(self.log)))


def list_tests(folder: Path, sanitizer: str = "", under: tuple[str, ...] = ()) -> list[Test]:
    """The tests of a configured build folder. `under`: what each is run with."""
    command = ["meson", "introspect", "--tests", folder]
    listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return [
        Test(
            folder=folder,
            name=test["name"],
            suites=tuple(suite.partition(":")[2] for suite in test["suite"]),
            command=(*under, *test["cmd"]),
            env=test["env"],
            seconds=test["timeout"],
            is_tap=test["protocol"] == "tap",
            is_alone=not test["is_parallel"],
            sanitizer=sanitizer,
        )
        for test in listed
    ]


class Running:
    """A test that runs, in a folder of its own for whatever it makes."""

    def __init__(self, test: Test, place: Path, log: Path) -> None:
        self.test = test
        self.place = place
        self._log = log
        runtime = place / "run"
        runtime.mkdir(parents=True, mode=0o700)
        place.chmod(0o1777)  # as /tmp itself
        log.parent.mkdir(parents=True, exist_ok=True)
        defaults = {
            "ASAN_OPTIONS": _STOP,
            "UBSAN_OPTIONS": f"{_STOP}:print_stacktrace=1",
            "MALLOC_PERTURB_": str(random.randint(1, 255)),
        }
        own = {
            "GIDWAY_BUILD": str(test.folder),
            "TMPDIR": str(place),
            "XDG_RUNTIME_DIR": str(runtime),
        }
        # A domain that the user has chosen is theirs.
        around = {name: value for name, value in os.environ.items() if name[:4] != "GID_"}
        env = defaults | around | test.env | own
        self._process: forked.Forked | subprocess.Popen[bytes]
        with log.open("wb") as err, self._tap.open("wb") as out:
            if forked.can_start(test.command, env):
                self._process = forked.start(test.command, env, out.fileno(), err.fileno())
            else:
                self._process = subprocess.Popen(
                    ("env", "--default-signal", *test.command),  # nohup's are for us alone
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
        self._start = time.monotonic()
        self._end = self._start + test.limit
        self._timed_out = False
        self._cpu_seconds = 0.0

    @property
    def _tap(self) -> Path:
        return self.place.with_suffix(".tap")  # another run has the same log

    def poll(self) -> Outcome | None:
        """What came of it, once it has ended; ends it where it has run for too long."""
        if not self._reap(os.WNOHANG):
            late = time.monotonic() - self._end
            if late > 0:
                self._timed_out = True
                self._signal(signal.SIGKILL if late > _GRACE_SECONDS else signal.SIGTERM)
            return None
        left = self.sweep()
        out = self._tap.read_text(errors="replace")
        log = self._log.read_text(errors="replace")
        seconds = time.monotonic() - self._start
        cases = tap_cases(out) if self.test.is_tap else []
        status = self._process.returncode
        problem = ""
        if self._timed_out:
            problem = f"ended after {seconds:.0f} s, its limit"
        elif status < 0:
            problem = f"ended by {signal.Signals(-status).name}"
        elif not self.test.is_tap and status == 77:
            cases = [Case(self.test.name, "skipped", "it ended with 77")]
        elif status != 0 and not any(case.outcome == "failed" for case in cases):
            problem = f"exit status {status}"
        elif not cases:
            cases = [Case(self.test.name, "failed" if self.test.is_tap else "passed")]
        if problem:
            cases.append(Case(problem, "failed"))
            log += f"\n{problem}; Timeout >" if self._timed_out else f"\n{problem}"
        if left:
            log += f"\nleft behind, and ended now: {', '.join(left)}"
        with self._log.open("a") as file:
            file.write(out)
        self._tap.unlink()
        crashed = status < 0 and not self._timed_out
        report = out + log
        is_crash = crashed or bool(_REPORT.search(report))
        return Outcome(self.test, seconds, cases, report, is_crash, self._cpu_seconds)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._reap()
        self.sweep()

    def _reap(self, options: int = 0) -> bool:
        """Whether it has ended. Popen's own wait() does not tell what it used."""
        if self._process.returncode is None:
            pid, status, used = os.wait4(self._process.pid, options)
            if pid == 0:
                return False
            self._process.returncode = os.waitstatus_to_exitcode(status)
            self._cpu_seconds = used.ru_utime + used.ru_stime
        return True

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass

    def sweep(self) -> list[str]:
        """Ends what the test started and left behind; the names of it."""
        mark = re.compile(re.escape(bytes(self.place)) + rb"[/\0]")
        left = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark.search((process / "environ").read_bytes()):
                    left.append((process / "comm").read_text().strip())
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                pass  # it has gone, or is not ours to look at
        return left


def tap_cases(text: str) -> list[Case]:
    """The cases of a TAP stream; what is wrong with the stream itself is a failed one."""
    cases: list[Case] = []
    planned: int | None = None
    for line in text.splitlines():
        if plan := _PLAN.fullmatch(line.rstrip()):
            planned = int(plan[1])
            if planned == 0:
                cases.append(Case("all", "skipped", plan[2] or ""))
                planned = 1
        elif line.startswith("Bail out!"):
            cases.append(Case(line.strip(), "failed"))
        elif case := _CASE.fullmatch(line.rstrip()):
            is_bad, number, name, directive, why = case.groups()
            outcome = "failed" if is_bad else "passed"
            if directive:
                expected = directive.lower() == "todo" and is_bad
                is_skipped = directive.lower() == "skip" and not is_bad
                outcome = "skipped" if expected or is_skipped else "failed"
            cases.append(Case(name.strip() or f"case {number}", outcome, why or ""))
    if planned is None:
        cases.append(Case("it did not say how many cases there are", "failed"))
    elif planned != len(cases):
        cases.append(Case(f"{len(cases)} of {planned} cases came", "failed"))
    return cases
