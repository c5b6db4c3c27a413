# SPDX-License-Identifier: MIT
"""The same tests of those kinds of display that want drivers which this machine's kernel may lack.

They run in a guest of each kind, all in one; what came of each of them is told here.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from gid_vm.initramfs import CannotBoot
from gid_vm.own_kernel import own_kernel, why_no_kernel
from kinds import MODULES
from lib.company import IS_LONG
from lib.program import BUILD, TOP, python_env

HERE = Path(__file__).parent
# What pictures are converted to is drawn in the same way, whatever it was: that is asked at length.
OF_FORMATS = ["test_colours.py", "test_formats.py"] if IS_LONG else []
# On vkms the usual run has composed roles in tests/vm/test_scanout.py, and those on planes in
# test_planes.py beside it.
KINDS = [kind for kind, modules in MODULES.items() if not modules or IS_LONG]
FILES = {kind: ["test_display.py", *OF_FORMATS] for kind in KINDS}
LIMIT = 1500  # seconds
pytestmark = pytest.mark.timeout(2 * LIMIT)

LINE = re.compile(r"^(ok|not ok) \d+ - \w+\.py::(\w+)\S*(?: # SKIP (.*))?", re.M)


@cache
def results(kind: str) -> tuple[list[tuple[str, str, str]], str]:
    """Of each test in turn: its verdict, its name, and why it was left out; and all that was said.

    None of them where there can be no such guest, with the reason.
    """
    modules = MODULES[kind]
    if (reason := why_no_kernel(modules)) is not None:
        return [], reason
    env = python_env() | {"GIDWAY_BUILD": str(BUILD), "GIDWAY_DISPLAY": kind}
    command = ["python3", str(TOP / "tests/pytest-tap")]
    command += [str(HERE / name) for name in FILES[kind]]
    try:
        with own_kernel("displays", modules) as guest:
            guest.run(["mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug"])
            said = guest.start(command, env=env).wait(LIMIT)
    except CannotBoot as error:
        return [], str(error)
    return LINE.findall(said.out), f"{said.out}\n{said.err}"


def asked() -> Iterator[tuple[str, str]]:
    """Of each kind all that it is asked."""
    for kind, files in FILES.items():
        for file in files:
            for name in re.findall(r"^def (test_\w+)", (HERE / file).read_text(), re.M):
                yield kind, name


@pytest.mark.parametrize(("kind", "name"), asked())
def test_in_a_guest(kind: str, name: str) -> None:
    found, said = results(kind)
    if not found and "1.." not in said:
        pytest.skip(f"gid-cluster of the kind {kind} is not tested: {said}")
    ours = [(verdict, why) for verdict, test, why in found if test == name]
    assert ours and all(verdict == "ok" for verdict, _ in ours), said
    reasons = [why for _, why in ours if why]
    if len(reasons) == len(ours):
        pytest.skip(f"{kind}: {reasons[0]}")
