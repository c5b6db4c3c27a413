# SPDX-License-Identifier: MIT
"""Pictures that are not as designed: each kind is one thing that a renderer gets wrong."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy

from .design import Role, State
from .renderers import Layers, Placing, Renderer
from .svg import OPAQUE, Picture, channels

COLOUR_STEP = 8  # of 255
_SHIFTS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
_SCALES = [1 + percent / 100 for percent in range(-10, 11) if percent != 0]
_BITS = (0, 8, 16)  # where blue, green and red begin


@dataclass(frozen=True)
class Subject:
    """One role, and who draws it."""

    role: Role
    layers: Layers
    renderers: tuple[Renderer, ...]

    def states(self, parts: int) -> list[State]:
        """In which at least so many parts are seen."""
        return [state for state in self.role.states if len(self.role.seen(state)) >= parts]

    def some(self, chance: random.Random, parts: int = 1) -> tuple[State, Renderer]:
        return chance.choice(self.states(parts)), chance.choice(self.renderers)

    def placings(self, state: State) -> list[Placing]:
        return [Placing(part) for part in self.role.seen(state)]


@dataclass(frozen=True)
class Changed:
    """`right`: the picture that should have come."""

    picture: Picture
    right: Picture
    what: str


def _compose(
    subject: Subject,
    chance: random.Random,
    change: Callable[[list[Placing]], str],
    parts: int = 1,
) -> Changed:
    state, renderer = subject.some(chance, parts)
    placings = subject.placings(state)
    what = change(placings)
    name = subject.role.name_of(state)
    return Changed(
        renderer.compose(placings), renderer.draw(state), f"{name} by {renderer.name}: {what}"
    )


def _chosen(placings: Sequence[Placing], chance: random.Random) -> tuple[Sequence[int], str]:
    """One part, or all of them."""
    number = chance.randrange(len(placings) + 1)
    if number == len(placings):
        return range(len(placings)), "all"
    return [number], placings[number].part.element


def moved(subject: Subject, chance: random.Random) -> Changed:
    def change(placings: list[Placing]) -> str:
        x, y = chance.choice(_SHIFTS)
        numbers, which = _chosen(placings, chance)
        for number in numbers:
            placings[number] = replace(placings[number], x=x, y=y)
        return f"{which} moved by {x},{y}"

    return _compose(subject, chance, change)


def scaled(subject: Subject, chance: random.Random) -> Changed:
    def change(placings: list[Placing]) -> str:
        scale = chance.choice(_SCALES)
        numbers, which = _chosen(placings, chance)
        for number in numbers:
            placings[number] = replace(placings[number], scale=scale)
        return f"{which} drawn {scale:.2f} times as large"

    return _compose(subject, chance, change)


def missing(subject: Subject, chance: random.Random) -> Changed:
    def change(placings: list[Placing]) -> str:
        return f"{placings.pop(chance.randrange(len(placings))).part.element} is missing"

    return _compose(subject, chance, change)


def swapped(subject: Subject, chance: random.Random) -> Changed:
    """Two parts, each in the other one's place."""

    def change(placings: list[Placing]) -> str:
        one, other = chance.sample(range(len(placings)), 2)
        middles = [subject.layers.middle(placings[number].part) for number in (one, other)]
        x, y = (round(b - a) for a, b in zip(*middles, strict=True))
        placings[one] = replace(placings[one], x=x, y=y)
        placings[other] = replace(placings[other], x=-x, y=-y)
        return f"{placings[one].part.element} and {placings[other].part.element} swapped"

    return _compose(subject, chance, change, parts=2)


def coloured(subject: Subject, chance: random.Random) -> Changed:
    """Of one part, in one colour or more."""
    state, renderer = subject.some(chance)
    part = chance.choice(subject.role.seen(state))
    steps = [0, 0, 0]
    while not any(steps):
        steps = [chance.choice((-COLOUR_STEP, 0, COLOUR_STEP)) for _ in _BITS]
    right = renderer.draw(state)
    colours = channels(right)
    colours[subject.layers.covered(part)] += numpy.array(steps, numpy.int16)
    words = numpy.full(right.shape, OPAQUE, numpy.uint32)
    for number, bits in enumerate(_BITS):
        words |= numpy.clip(colours[..., number], 0, 255).astype(numpy.uint32) << bits
    name = subject.role.name_of(state)
    what = f"{name} by {renderer.name}: {part.element} by {steps} of blue, green, red"
    return Changed(words, right, what)


def resized(subject: Subject, chance: random.Random) -> Changed:
    """The whole picture, twice as large or half as large."""
    state, renderer = subject.some(chance)
    right = renderer.draw(state)
    if chance.random() < 0.5:
        picture, what = right.repeat(2, axis=0).repeat(2, axis=1), "twice as large"
    else:
        picture, what = numpy.ascontiguousarray(right[::2, ::2]), "half as large"
    name = subject.role.name_of(state)
    return Changed(picture, right, f"{name} by {renderer.name}: all of it {what}")


Kind = Callable[[Subject, random.Random], Changed]

KINDS: Mapping[str, Kind] = {
    "moved by a pixel": moved,
    f"colour ± {COLOUR_STEP}": coloured,
    "one lamp missing": missing,
    "two lamps swapped": swapped,
    "a lamp of another scale": scaled,
    "a picture of another size": resized,
}


def can(kind: Kind, subject: Subject) -> bool:
    """Whether there is such a change of the role."""
    return kind is not swapped or bool(subject.states(2))
