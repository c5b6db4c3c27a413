# SPDX-License-Identifier: MIT
"""soak.html: a curve for each thing that was looked at, and what came of it. One file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from growth import Growth


@dataclass(frozen=True)
class Curve:
    """`grows`: None where that would be no defect."""

    name: str
    unit: str
    hours: Sequence[float]
    values: Sequence[float]
    growth: Growth
    grows: bool | None

    @property
    def verdict(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        slope, margin = self.growth.slope, self.growth.margin
        what = {None: "", True: ": IT GROWS", False: ": does not grow"}[self.grows]
        return f"{self.name}: {slope:+.3g} ± {margin:.2g}{unit} an hour{what}"

    @property
    def points(self) -> str:
        """Of a polyline, 0..100 across and down."""
        low, high, end = min(self.values), max(self.values), self.hours[-1] or 1
        span = (high - low) or 1
        return " ".join(
            f"{hour / end * 100:.2f},{98 - (value - low) / span * 96:.2f}"
            for hour, value in zip(self.hours, self.values, strict=True)
        )

    @property
    def range(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{min(self.values):.4g} to {max(self.values):.4g}{unit}"


def write_page(path: Path, curves: list[Curve], rounds: int, scheduling: str) -> None:
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    page = jinja2.Environment(loader=loader, autoescape=True).get_template("page.html.j2")
    grows = [curve.name for curve in curves if curve.grows]
    hours = curves[0].hours[-1]
    count = len(curves[0].hours)
    text = page.render(
        curves=curves, grows=grows, hours=hours, count=count, rounds=rounds, scheduling=scheduling
    )
    path.write_text(text, encoding="utf-8")
