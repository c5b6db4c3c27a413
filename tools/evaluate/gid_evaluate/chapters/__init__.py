# SPDX-License-Identifier: MIT
"""All chapters, in the order of the sections of the evaluation of 2017."""

from ..plan import Plan
from . import (
    cockpit,
    crossing,
    displays,
    frames,
    memory,
    messages,
    pictures,
    robustness,
    system_calls,
    virtual,
)


def all_plans() -> list[Plan]:
    modules = (
        *(messages, cockpit, crossing, system_calls, pictures, displays),
        *(memory, robustness, frames, virtual),
    )
    plans = [plan for module in modules for plan in module.PLANS]
    return sorted(plans, key=lambda plan: [_number(part) for part in plan.id.split(".")])


def _number(part: str) -> tuple[int, str]:
    """Sections of the report first, then the chapters of the other documents."""
    return (int(part), "") if part.isdigit() else (1000, part)
