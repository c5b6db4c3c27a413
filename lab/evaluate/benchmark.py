# SPDX-License-Identifier: MIT
"""Runs a benchmark as a separate program, with a time limit and a check of its answer.

Success is judged by its exit status and its figures, not by what it says of itself.
"""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gid_evaluate.outcome import WANTING, Broke, NotRun

TIDY_SECONDS = 30.0  # for a stopped benchmark to stop what it has started
SAID = 300  # characters of an error that are reported
ANSWER_MAX = 64 << 20  # bytes


def answer(script: Path, name: str, arguments: Sequence[str], seconds: float) -> dict[str, Any]:
    """Runs a benchmark, and returns its JSON. Raises NotRun if something required is missing, and
    Broke for all other failures.
    """
    called = f"./run bench {name}"
    with tempfile.TemporaryDirectory(prefix="gid-evaluate-") as folder:
        path = Path(folder) / "result.json"
        words = [sys.executable, str(script), f"--json={path}", *arguments]
        code, said = finish(words, seconds, called)
        if code == WANTING and said and not path.exists():
            raise NotRun(said.removeprefix("bench: "))
        if code != 0:
            how = f"signal {-code}" if code < 0 else f"status {code}"
            raise Broke(f"{called} ended with {how}: {said or 'it said nothing'}")
        try:
            if path.stat().st_size > ANSWER_MAX:
                raise ValueError("it is too long")
            found = json.loads(
                path.read_text(encoding="utf-8"), parse_constant=_refuse, parse_float=_finite
            )
            return _checked(found)
        except OSError:
            raise Broke(f"{called} gave no answer") from None
        except (ValueError, RecursionError) as error:
            raise Broke(f"{called}: its answer is no result: {error}") from None


def finish(
    words: Sequence[str], seconds: float, called: str, *, with_output: bool = False
) -> tuple[int, str]:
    """Its exit status and the end of its stderr, with its stdout if wanted. Raises Broke if it
    takes longer.
    """
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=errors if with_output else subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,  # so that its whole process group can be stopped
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Broke(f"{called} took over {seconds / 60:.3g} minutes") from None
        finally:
            _end(process)
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - 4 * SAID))
        return code, errors.read().decode(errors="replace").strip()[-SAID:]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stops it, and gives it time to stop the cockpits and guests that it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(TIDY_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no figure")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _checked(found: object) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError("it is no object")
    if not isinstance(found.get("rows"), list) or not isinstance(found.get("ratios"), dict):
        raise ValueError("it has no rows and ratios")
    if not found["rows"]:
        raise ValueError("it has no figures")
    again = found.get("tried_again", [])
    if not isinstance(again, list) or not all(isinstance(one, str) for one in again):
        raise ValueError("what was tried again are texts")
    return found
