# SPDX-License-Identifier: MIT
"""Who draws a role: librsvg alone, or one that puts above each other what librsvg has drawn."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from .design import Design, Part, Role, State
from .errors import DesignError
from .native import GlComposer, Placed, compose_by_pixman
from .svg import OPAQUE, Canvas, Drawing, Picture, empty

_ALPHA = 24  # its lowest bit


@dataclass(frozen=True)
class Placing:
    """A part, away from its place by so many pixels, and larger about its middle."""

    part: Part
    x: int = 0
    y: int = 0
    scale: float = 1


class Layers:
    """What a role's pictures are put together from."""

    def __init__(self, design: Design, role: Role) -> None:
        self.design, self.role = design, role
        self.drawing = design.drawing(role, list(role.parts))
        self.base = self._draw(design.drawing(role, []))
        if (self.base < OPAQUE).any():
            raise DesignError(f"role-{role.name}: its region can be seen through")
        self._pictures: dict[tuple[str, float], Picture] = {}
        self._middles: dict[str, tuple[float, float]] = {}

    def picture(self, part: Part, scale: float = 1) -> Picture:
        """With all around it transparent."""
        key = part.element, scale
        if key not in self._pictures:
            self._pictures[key] = self._draw(self.drawing, Placing(part, scale=scale))
        return self._pictures[key]

    def covered(self, part: Part) -> numpy.ndarray:
        """Of each pixel, whether the part has drawn it."""
        return self.picture(part) >> _ALPHA != 0

    def middle(self, part: Part) -> tuple[float, float]:
        """Of what can be seen of it, in the drawing."""
        if part.element not in self._middles:
            rows, columns = numpy.nonzero(self.covered(part))
            if not len(rows):
                raise DesignError(f"role-{self.role.name}: {part.element} cannot be seen")
            self._middles[part.element] = (
                self.role.box.x + (int(columns.min()) + int(columns.max()) + 1) / 2,
                self.role.box.y + (int(rows.min()) + int(rows.max()) + 1) / 2,
            )
        return self._middles[part.element]

    def draw_on(self, picture: Picture, drawing: Drawing, placing: Placing | None = None) -> None:
        box = self.role.box
        with Canvas(picture) as canvas:
            canvas.move(-box.x, -box.y)
            if placing is not None:
                canvas.move(placing.x, placing.y)
            if placing is not None and placing.scale != 1:
                canvas.scale(placing.scale, *self.middle(placing.part))
            drawing.draw(canvas, placing.part.element if placing is not None else None)

    def _draw(self, drawing: Drawing, placing: Placing | None = None) -> Picture:
        picture = empty(self.role.box.width, self.role.box.height)
        self.draw_on(picture, drawing, placing)
        return picture


class Renderer(ABC):
    name: str

    def __init__(self, layers: Layers) -> None:
        self._layers = layers

    @property
    def version(self) -> str:
        return self.name

    def draw(self, state: State) -> Picture:
        """Anew."""
        return self.compose([Placing(part) for part in self._layers.role.seen(state)])

    @abstractmethod
    def compose(self, placings: Sequence[Placing]) -> Picture:
        """The base with these parts, the first one below. Opaque."""


class _Librsvg(Renderer):
    """Each picture is one drawing; parts that were moved are drawn above its base."""

    name = "librsvg"

    def __init__(self, layers: Layers) -> None:
        super().__init__(layers)
        self._drawings = {
            state: layers.design.drawing(layers.role, layers.role.seen(state))
            for state in layers.role.states
        }

    def draw(self, state: State) -> Picture:
        picture = empty(self._layers.role.box.width, self._layers.role.box.height)
        self._layers.draw_on(picture, self._drawings[state])
        return picture | OPAQUE

    def compose(self, placings: Sequence[Placing]) -> Picture:
        picture = self._layers.base.copy()
        for placing in placings:
            self._layers.draw_on(picture, self._layers.drawing, placing)
        return picture | OPAQUE


class _Composing(Renderer):
    def compose(self, placings: Sequence[Placing]) -> Picture:
        layers = self._layers
        placed: list[Placed] = [(layers.base, 0, 0)]
        placed += [(layers.picture(one.part, one.scale), one.x, one.y) for one in placings]
        return self._compose(placed) | OPAQUE

    @abstractmethod
    def _compose(self, placed: Sequence[Placed]) -> Picture: ...


class _Pixman(_Composing):
    name = "pixman"

    def _compose(self, placed: Sequence[Placed]) -> Picture:
        box = self._layers.role.box
        return compose_by_pixman(placed, box.width, box.height)


class _Gl(_Composing):
    name = "gl"

    def __init__(self, layers: Layers) -> None:
        super().__init__(layers)
        self._composer = GlComposer(layers.role.box.width, layers.role.box.height)

    @property
    def version(self) -> str:
        return self._composer.name

    def _compose(self, placed: Sequence[Placed]) -> Picture:
        return self._composer.compose(placed)


_ALL = {kind.name: kind for kind in (_Librsvg, _Pixman, _Gl)}
NAMES = tuple(_ALL)
REFERENCE = _Librsvg.name  # whom the others may differ from by the tolerance


def renderer(name: str, layers: Layers) -> Renderer:
    return _ALL[name](layers)
