# SPDX-License-Identifier: MIT
"""`./run test` as people start it: whatever they closed, ignored, set or left out, each test finds
the same around it. On a small clone, whose one suite looks.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent

import pytest
from lib.length import at_length_but
from lib.program import PATIENCE, TOP
from machine import Machine

PROJECT = """
project('sample', 'c')
executable('built', 'built.c', install: true)
test('around', import('python').find_installation(), args: files('around.py'), suite: 'sample')
pytest = find_program('tests/pytest-tap')
test('by pytest', pytest, args: files('test_around.py'), suite: 'sample', protocol: 'tap')
"""

AROUND = """
import locale, os, signal, sys
from pathlib import Path

assert os.read(0, 1) == b"" and os.read(0, 1) == b"", "an input that has an end"
handled = [one for one in signal.valid_signals() if one not in (signal.SIGKILL, signal.SIGSTOP)]
ignored = {one for one in handled if signal.getsignal(one) == signal.SIG_IGN}
assert ignored <= {signal.SIGPIPE, signal.SIGXFSZ}, ignored  # which Python itself ignores
assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()), "none is blocked"
assert locale.getencoding().lower() == sys.getfilesystemencoding() == "utf-8"
assert Path(os.environ["HOME"]).is_dir()
assert Path.home() == Path(os.environ["HOME"])
for name in ("TMPDIR", "XDG_RUNTIME_DIR"):
    assert os.access(os.environ[name], os.W_OK), name
assert not {"LD_PRELOAD", "GID_DOMAIN", "GID_RUNTIME_DIR"} & os.environ.keys()
assert "nowhere" not in os.environ["PYTHONPATH"]
"""
BY_PYTEST = f"""
import os, sys, tempfile
from pathlib import Path

def test_the_same(pytestconfig):
    pytestconfig.pluginmanager.getplugin("capturemanager").suspend(in_=True)
{indent(AROUND, "    ")}
    assert Path(sys.argv[0]).name == "pytest-tap"
    assert tempfile.gettempdir() == os.environ["TMPDIR"]
    assert os.getsid(0) == os.getpid() and "testing" not in sys.modules
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For all tests: to configure and build it takes longer than all else."""
    clone = tmp_path_factory.mktemp("clones") / "a clone"
    shutil.copytree(TOP / "scripts", clone / "scripts")
    (clone / "tests").mkdir()
    shutil.copy(TOP / "tests" / "pytest-tap", clone / "tests")
    shutil.copy(TOP / "run", clone / "run")
    (clone / "vm").symlink_to(TOP / "vm")
    shutil.copy(TOP / "packages.txt", clone / "packages.txt")
    (clone / "meson.build").write_text(PROJECT)
    (clone / "built.c").write_text("int main(void) { return 0; }\n")
    (clone / "around.py").write_text(AROUND)
    (clone / "test_around.py").write_text(BY_PYTEST)
    return clone


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A machine that has all packages, as this one has where tests run."""
    machine = Machine(tmp_path_factory.mktemp("machine"))
    for name in ("dpkg-query", "apt-get", "apt-config"):
        machine.hide(name)
        (machine.first / name).symlink_to(f"/usr/bin/{name}")
    return machine.env_here()


WAYS = {
    "as always": ["env"],
    "nohup": ["nohup"],
    "all signals ignored": ["env", "--ignore-signal"],
    "no input": ["sh", "-c", 'exec "$@" <&-', "sh"],
    "an input that never ends": ["sh", "-c", 'exec "$@" </dev/zero', "sh"],
    "LANG=C": ["env", "-u", "LC_ALL", "-u", "LC_CTYPE", "LANG=C"],
    "LC_ALL=POSIX": ["env", "LC_ALL=POSIX"],
    "umask 077": ["sh", "-c", 'umask 077; exec "$@"', "sh"],
    "umask 000": ["sh", "-c", 'umask 000; exec "$@"', "sh"],
    "no HOME": ["env", "-u", "HOME"],
    "an empty HOME": ["env", "HOME="],
    "no TERM": ["env", "-u", "TERM"],
    "a domain chosen": ["env", "GID_DOMAIN=open", "GID_RUNTIME_DIR=/nowhere"],
    "a library before others": ["env", "LD_PRELOAD=libpthread.so.0", "PYTHONPATH=/nowhere"],
    "nothing else": ["env", "-i"],
}
# In these it is also configured and built.
ANEW = ("all signals ignored", "LANG=C", "umask 077", "no HOME", "nothing else")
# Each of them is much like one of the others.
AT_LENGTH = ("as always", "nohup")
AT_LENGTH += ("an input that never ends", "LC_ALL=POSIX", "umask 000", "an empty HOME", "no TERM")
# Nothing of these is there where nothing else is.
AT_LENGTH += ("LANG=C", "no HOME")


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, id=name, marks=pytest.mark.at_length if name in AT_LENGTH else ())
        for name, way in WAYS.items()
    ],
)
def test_tests_find_the_same(clone: Path, env: dict[str, str], way: Sequence[str]) -> None:
    if way in [WAYS[name] for name in ANEW]:
        shutil.rmtree(clone / "build", ignore_errors=True)
    kept = [f"{name}={env[name]}" for name in ("PATH", "XDG_CACHE_HOME")]
    command = [*way, *(["env", *kept] if way == ["env", "-i"] else [])]
    command += [clone / "run", "test", "--quick", "sample"]
    result = subprocess.run(
        command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
    )
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result.stdout + result.stderr
    assert lines[-1] == "2 passed, 0 failed"


@pytest.mark.parametrize("number", at_length_but([0, 1, 2], 1, 2))
def test_no_file_becomes_an_output(clone: Path, env: dict[str, str], number: int) -> None:
    """What is closed at the start is not what is opened next."""
    if number == 1:
        shutil.rmtree(clone / "build", ignore_errors=True)
    command = ["sh", "-c", f'exec "$@" {number}>&-', "sh", clone / "run", "test", "--quick"]
    result = subprocess.run(
        command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
    )
    assert result.returncode == 0, result.stdout + result.stderr
    for path in clone.rglob("*"):
        if path.is_file():
            assert b"2 passed, 0 failed" not in path.read_bytes(), path
