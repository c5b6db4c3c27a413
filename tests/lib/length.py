# SPDX-License-Identifier: MIT
"""Tables of which the usual run has a few cases: all others are of the suite long."""

from collections.abc import Iterable
from typing import Any

import pytest


def at_length_but(cases: Iterable[Any], *usual: Any) -> list[Any]:
    """Those of a parametrised test. A case of several arguments is a tuple."""
    cases = list(cases)
    assert all(one in cases for one in usual), "a case that there is not"
    return [case if case in usual else _at_length(case) for case in cases]


def _at_length(case: Any) -> Any:
    marks = [pytest.mark.at_length]
    if isinstance(case, type(pytest.param())):  # it has a name, or is skipped somewhere
        return pytest.param(*case.values, marks=[*case.marks, *marks], id=case.id)
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=marks)
