# SPDX-License-Identifier: MIT
"""The last line of `./run test`: what meson and pytest report is what is counted."""

import subprocess
import sys
from pathlib import Path

import pytest

COMMON = Path(__file__).resolve().parents[1] / "common"

PROJECT = """
project('sample')
tap = find_program('{common}/pytest-tap')
test('cases', tap, args: files('test_cases.py'), protocol: 'tap')
test('broken', tap, args: files('test_broken.py'), protocol: 'tap')
test('plain', find_program('true'))
test('exit', find_program('false'))
test('absent', find_program('sh'), args: ['-c', 'exit 77'])
test('slow', find_program('sleep'), args: '60', timeout: 1)
"""

CASES = """
import pytest

def test_good(): print('1..0 # not for meson')
def test_bad(): assert 1 == 2
@pytest.mark.parametrize('n', [1, 2])
def test_each(n): pass
def test_skipped(): pytest.skip('# of reasons')
@pytest.mark.xfail(strict=True)
def test_expected(): assert False
@pytest.fixture
def broken(): raise OSError
def test_error(broken): pass
"""


def count(*junit: Path) -> tuple[int, list[str]]:
    command = [sys.executable, str(COMMON / "count.py"), *map(str, junit)]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout.strip().splitlines()


@pytest.fixture
def junit(tmp_path: Path) -> Path:
    """The report of a small project of its own, in which every outcome occurs."""
    (tmp_path / "meson.build").write_text(PROJECT.format(common=COMMON))
    (tmp_path / "test_cases.py").write_text(CASES)
    (tmp_path / "test_broken.py").write_text("import nosuchmodule\n")
    build = tmp_path / "build"
    subprocess.run(["meson", "setup", build, tmp_path], check=True, capture_output=True)
    subprocess.run(["meson", "test", "-C", build], capture_output=True, timeout=60)
    return build / "meson-logs/testlog.junit.xml"


def test_every_case_is_counted_once(junit: Path) -> None:
    status, lines = count(junit)
    assert status == 1
    assert lines[-1] == "4 passed, 5 failed, 3 skipped"
    assert len([line for line in lines if line.startswith("FAILED ")]) == 5
    assert "  assert 1 == 2" in lines


def test_a_folder_without_results_is_a_failure(tmp_path: Path) -> None:
    status, lines = count(tmp_path / "build-asan/meson-logs/testlog.junit.xml")
    assert (status, lines) == (
        1,
        ["FAILED build-asan: no tests were run", "0 passed, 1 failed"],
    )


def test_nothing_at_all_is_not_a_success() -> None:
    assert count() == (1, ["0 passed, 0 failed"])
