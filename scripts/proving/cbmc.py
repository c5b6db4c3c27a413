# SPDX-License-Identifier: MIT
"""One proof, of the sources as they are or of a mutant of one, by CBMC."""

import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from proving.catalog import SOURCES, Mutant, Proof

TOP = Path(__file__).resolve().parents[2]

PATIENCE = 900  # seconds of a processor, for one proof: a machine that is busy makes none fail
MEMORY = 8 << 30  # bytes, of one program

# Nothing that C leaves undefined, and no loop that could go on.
_CHECKS = (
    *("--bounds-check", "--pointer-check", "--pointer-primitive-check", "--pointer-overflow-check"),
    *("--div-by-zero-check", "--signed-overflow-check"),
    *("--undefined-shift-check", "--unwinding-assertions"),
)
_INCLUDES = ("libgid", "libgid/include", "cluster/base")
_VERDICTS = {0: "holds", 10: "refused"}  # by what CBMC ends with


@dataclass(frozen=True)
class Result:
    """`verdict`: holds, refused or broken. `why`: a promise that is not kept, or what broke."""

    verdict: str
    why: str = ""


class Broken(Exception):
    """A tool did not do its work."""


def _run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    limited = ("prlimit", f"--as={MEMORY}", f"--cpu={PATIENCE}", *command)
    result = subprocess.run(limited, cwd=folder, capture_output=True, text=True)
    if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):  # the latter a second later
        raise Broken(f"it took more than {PATIENCE} s of a processor")
    return result


def _must(folder: Path, *command: str | Path) -> str:
    result = _run(folder, *command)
    if result.returncode != 0:
        last = (result.stderr + result.stdout).strip().splitlines()[-5:]
        raise Broken(" / ".join([str(command[0]), *last]))
    return result.stdout


def _mutate(mutant: Mutant, folder: Path) -> Path:
    text = (TOP / mutant.file).read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise Broken(f"{mutant.file} does not have just once what the mutant changes")
    file = folder / Path(mutant.file).name
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    return file


def _compile(proof: Proof, mutant: Mutant | None, folder: Path) -> Path:
    """A program without main(), in which calls are replaced."""
    changed = {mutant.file: _mutate(mutant, folder)} if mutant is not None else {}
    includes = [f"-I{folder}", *(f"-I{TOP / name}" for name in _INCLUDES)]
    includes += _must(folder, "pkg-config", "--cflags", "libdrm").split()
    sources = [changed.get(name, TOP / name) for name in SOURCES[proof.file]]
    plain, replaced = folder / "plain.goto", folder / "replaced.goto"
    command = ["goto-cc", "-std=gnu17", "-D_GNU_SOURCE", *includes, "-o", plain]
    _must(folder, *command, TOP / "tests/proofs" / proof.file, *sources)
    if not proof.replaced:
        return plain
    names = [word for pair in proof.replaced for word in ("--replace-calls", ":".join(pair))]
    _must(folder, "goto-instrument", *names, plain, replaced)
    return replaced


def prove(proof: Proof, mutant: Mutant | None, folder: Path) -> Result:
    """In a folder that is empty."""
    try:
        program = _compile(proof, mutant, folder)
        command = ["cbmc", program, "--function", proof.function, *_CHECKS]
        command += ["--unwind", str(proof.most)]
        if proof.loops:
            command += ["--unwindset", ",".join(proof.loops)]
        said = _run(folder, *command)
    except Broken as error:
        return Result("broken", str(error))
    if said.returncode not in _VERDICTS:
        return Result("broken", " / ".join((said.stdout + said.stderr).splitlines()[-3:]))
    failures = re.findall(r"^\[(\S+)\] (.*): FAILURE$", said.stdout, re.M)
    return Result(_VERDICTS[said.returncode], " ".join(failures[0]) if failures else "")
