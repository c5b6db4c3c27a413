# SPDX-License-Identifier: MIT
"""The result of a soak, and soak.html: a curve for each value, in one file."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import jinja2

from lab.soak.growth import LEAST, SURE, Growth, growth, which_grow
from lab.soak.samples import COUNTED, KIND

_WARM_PART = 0.1  # of the time: caches fill, programs run for the first time
# Shown beside the values that may grow: a busy machine causes them as well.
_BESIDE = (
    ("rate_hz", "the meter's lowest rate", "Hz"),
    ("gap_refreshes", "the meter's longest gap", "refreshes"),
    ("machine_late_refreshes", "how late the machine itself was", "refreshes"),
    ("film_hz", "the rate of rear's film in the cluster", "Hz"),
    ("film_latency_ms", "the mean latency of rear's film in the cluster", "ms"),
    ("telltale_latency_ms", "the telltale's median latency", "ms"),
    ("camera_latency_ms", "the median latency of rear's camera", "ms"),
    ("camera_transitions", "changes of state of rear's camera", ""),
)


@dataclass(frozen=True)
class Curve:
    """`grows`: None if growth is no defect here. `unnoticed`: how much of it may not be seen."""

    name: str
    unit: str
    hours: Sequence[float]
    values: Sequence[float]
    growth: Growth
    grows: bool | None = None
    unnoticed: float = 0.0

    @property
    def is_blind(self) -> bool:
        """Whether the value could have doubled, and nobody would know."""
        return self.grows is False and self.unnoticed >= fmean(self.values)

    @property
    def verdict(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        slope, margin = self.growth.slope, self.growth.margin
        what = {None: "", True: ": IT GROWS", False: ": does not grow"}[self.grows]
        what = ": too few samples to tell" if self.is_blind else what
        return f"{self.name}: {slope:+.3g} ± {margin:.2g}{unit} an hour{what}"

    @property
    def points(self) -> str:
        """The points of a polyline, in 0..100 by 0..100."""
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


@dataclass
class Result:
    samples: list[dict] = field(default_factory=list)
    cases: int = 0
    warm_rounds: float = math.inf  # hours of the first rounds of all cases
    scheduling: str = ""
    broken: str = ""  # why it ended early

    @property
    def hours(self) -> float:
        return self.samples[-1]["hours"] if self.samples else 0

    @property
    def warm(self) -> float:
        """The hours of warm-up: samples after it are judged."""
        return max(self.warm_rounds, _WARM_PART * self.hours)

    @property
    def judged(self) -> list[dict]:
        return [one for one in self.samples if one["hours"] >= self.warm]

    def curves(self) -> list[Curve]:
        hours = [sample["hours"] for sample in self.samples]
        first = len(self.samples) - len(self.judged)

        judged: list[tuple[str, str, float, list[float], Growth]] = []
        for program in self.samples[0]["programs"] if self.samples else ():
            for what, (unit, least) in COUNTED.items():
                values = [sample["programs"][program][what] for sample in self.samples]
                found = growth(hours[first:], values[first:])
                judged.append((f"{program}: {what}", unit, least, values, found))
        grow = which_grow([(found, least) for _, _, least, _, found in judged])
        curves = [
            Curve(name, unit, hours, values, found, grows, found.unnoticed(len(judged)))
            for (name, unit, _, values, found), grows in zip(judged, grow, strict=True)
        ]
        for key, name, unit in _BESIDE if self.samples else ():
            values = [sample[key] for sample in self.samples]
            found = growth(hours[first:], values[first:])
            curves.append(Curve(name, unit, hours, values, found))
        return curves

    @property
    def growing(self) -> list[str]:
        return [curve.name for curve in self.curves() if curve.grows]

    @property
    def blind(self) -> list[str]:
        return [curve.name for curve in self.curves() if curve.is_blind]

    @property
    def explained(self) -> list[str]:
        """For each program whose mappings grow: the kinds of mappings that have increased since the
        warm-up.
        """
        judged, told = self.judged, []
        for program in judged[0]["programs"] if judged else ():
            if f"{program}: mappings" in self.growing:
                before, after = (one["programs"][program] for one in (judged[0], judged[-1]))
                more = {
                    kind.removeprefix(KIND): after[kind] - before.get(kind, 0)
                    for kind in after
                    if kind.startswith(KIND) and after[kind] > before.get(kind, 0)
                }
                kinds = ", ".join(f"{kind} +{count}" for kind, count in more.items())
                told.append(f"{program}: more mappings are of: {kinds or 'no kind for long'}")
        return told

    @property
    def is_good(self) -> bool:
        is_told = len(self.judged) >= LEAST and not self.blind
        return is_told and not self.broken and not self.growing

    @property
    def verdict(self) -> str:
        if self.broken:
            return f"It broke off: {self.broken}"
        if self.growing:
            return " ".join([f"These grow: {', '.join(self.growing)}.", *self.explained])
        if not self.judged:
            return "It was too short: all of it was warm-up."
        if len(self.judged) < LEAST:
            return f"It was too short: after the warm-up are fewer than {LEAST} samples."
        if self.blind:
            return f"It was too short: these could have doubled unnoticed: {', '.join(self.blind)}."
        return "Nothing grows."


def write_page(path: Path, result: Result) -> None:
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    page = jinja2.Environment(loader=loader, autoescape=True).get_template("page.html.j2")
    text = page.render(result=result, counted=COUNTED, sure=SURE)
    path.write_text(text, encoding="utf-8")
