# SPDX-License-Identifier: MIT
"""The chapters that run wherever gidway is installed."""

from collections.abc import Iterable

from ..plan import Plan
from . import access, drawing, memory, messages, system_calls


def all_plans() -> list[Plan]:
    modules = (messages, system_calls, drawing, memory, access)
    return in_order(plan for module in modules for plan in module.PLANS)


def in_order(plans: Iterable[Plan]) -> list[Plan]:
    """That of the sections of the evaluation of 2017."""
    return sorted(plans, key=lambda plan: [_number(part) for part in plan.id.split(".")])


def _number(part: str) -> tuple[int, str]:
    """Sections of the report first, then the chapters of the other documents."""
    return (int(part), "") if part.isdigit() else (1000, part)
