# SPDX-License-Identifier: MIT
"""A complete self-test: chooses the guests, runs the steps, writes the report."""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import gid_console
from gid_vm.accel import probe_accel, why_no_kvm
from gid_vm.folder import memory_folder
from gid_vm.guest import why_not

from lab.domains.program import LabError
from lab.domains.progress import Progress
from lab.self_test import report
from lab.self_test.paths import Paths, steps
from lab.self_test.trial import FAILED, IMPOSSIBLE, LEFT_OUT, OK, Outcome, try_all

REPORT = "gidway-self-test.json"


def run(accel: str | None, path: Path) -> int:
    """`accel`: None: KVM where it works. The exit status is 1 if a step failed."""
    if (reason := why_not()) is not None:
        raise LabError(f"no guest can run here: {reason}")
    progress, begin = Progress(), time.monotonic()
    chosen = accel or probe_accel()
    if accel is None and (why := why_no_kvm()) is not None:
        progress.say(
            f"No KVM: {why.splitlines()[0]}. QEMU translates; no times are told from that."
        )
    warm_plugins()
    outcomes: list[Outcome] = []
    is_whole = False
    folder = Path(tempfile.mkdtemp(prefix="gid-self-", dir=memory_folder()))
    try:
        paths = Paths(folder, chosen)
        try:
            for outcome in try_all(steps(paths, accel != "tcg"), progress, paths.tidy):
                outcomes.append(outcome)
            is_whole = True
            progress.begin("the guests end")
        finally:
            paths.cockpit.close()
    finally:
        report.write(path, chosen, report.describe(), outcomes, is_whole)
        shutil.rmtree(folder, ignore_errors=True)
    progress.say(summary(outcomes, time.monotonic() - begin))
    gid_console.say(
        f"The report: {path}. Names of this machine and its user, and paths, are left out: look at "
        "it before you send it."
    )
    return int(any(outcome.result == FAILED for outcome in outcomes))


def warm_plugins() -> None:
    """Scans GStreamer's plugins: guests get the result with their files."""
    words = ["gst-inspect-1.0", "gidsink"]
    try:
        result = subprocess.run(words, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise LabError(f"GStreamer's tools are needed: {words[0]}: {error.strerror}") from None
    if result.returncode != 0:
        raise LabError(f"{' '.join(words)} fails: {result.stderr.strip() or result.stdout.strip()}")


def summary(outcomes: list[Outcome], seconds: float) -> str:
    counts = {kind: sum(one.result == kind for one in outcomes) for kind in (OK, FAILED)}
    other = sum(one.result in (IMPOSSIBLE, LEFT_OUT) for one in outcomes)
    return f"{counts[OK]} steps good, {counts[FAILED]} failed, {other} not tried; {seconds:.0f} s"
