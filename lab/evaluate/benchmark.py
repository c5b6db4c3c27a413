# SPDX-License-Identifier: MIT
"""A benchmark as a program of its own: it ends in time, and what is no answer is not believed.

What it says of itself is not asked: whether it worked follows from its status and its figures.
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

TIDY_SECONDS = 30.0  # for one that is ended to end what it has started
SAID = 300  # characters of an error that are told
ANSWER_MAX = 64 << 20  # bytes


def answer(script: Path, name: str, arguments: Sequence[str], seconds: float) -> dict[str, Any]:
    """Its JSON. Raises NotRun if something is wanting that it names, and Broke for all else."""
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
    """Its status and the end of what it said: its errors, and with its output if that is wanted.
    Raises Broke if it takes longer."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=errors if with_output else subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,  # so that all of it can be ended
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
    """It is given the time to end the cockpits and guests that it has started."""
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
