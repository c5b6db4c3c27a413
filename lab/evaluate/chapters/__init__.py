# SPDX-License-Identifier: MIT
"""All chapters: those of an installed gidway, and those that benchmarks measure."""

from gid_evaluate import chapters
from gid_evaluate.plan import Plan

from lab.evaluate.chapters import (
    cockpit,
    crossing,
    displays,
    frames,
    pictures,
    robustness,
    virtual,
)


def all_plans() -> list[Plan]:
    modules = (cockpit, crossing, displays, frames, pictures, robustness, virtual)
    measured = [plan for module in modules for plan in module.PLANS]
    return chapters.in_order([*chapters.all_plans(), *measured])
