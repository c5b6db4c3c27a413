# SPDX-License-Identifier: MIT
"""A drawing of telltales: which roles, lamps and states it has. gid-monitor(1) has the rules."""

import copy
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from . import sheet
from .errors import DesignError
from .svg import Box, Drawing

LAMPS_MAX = 8  # of a role: each state is a picture
OFF = "off"
_SIZE_MAX = 16384
_SVG = "{http://www.w3.org/2000/svg}"
_LINKS = ("href", "{http://www.w3.org/1999/xlink}href")
_LABEL = "{http://www.inkscape.org/namespaces/inkscape}label"
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_STYLE_LINK = re.compile(r"""\burl\(\s*["']?([^"')]*)""", re.IGNORECASE)
_IMPORT = re.compile(r"""@import\s+["']([^"']*)["']""", re.IGNORECASE)
_NO_RULE = re.compile(r"/\*.*?\*/|@namespace[^;]*;", re.DOTALL)
_EXACT = 1e-3  # of a pixel
_PIXELS = re.compile(r"([0-9]{1,9})(?:\.0+)?(?:px)?")

State = frozenset[str]  # the lamps that are lit


@dataclass(frozen=True)
class Part:
    """An element that is seen while its lamp is lit, or while it is not."""

    lamp: str
    is_lit: bool
    element: str  # its id

    def is_seen(self, state: State) -> bool:
        return (self.lamp in state) == self.is_lit


@dataclass(frozen=True)
class Role:
    name: str
    box: Box
    lamps: tuple[str, ...]  # as they are in the drawing
    parts: tuple[Part, ...]  # the first one below
    states: tuple[State, ...]

    def name_of(self, state: State) -> str:
        return "+".join(lamp for lamp in self.lamps if lamp in state) or OFF

    def seen(self, state: State) -> list[Part]:
        return [part for part in self.parts if part.is_seen(state)]


class Design:
    """`text`: the drawing itself, with all that is in it."""

    def __init__(self, path: Path) -> None:
        try:
            is_sheet = path.suffix == sheet.SUFFIX
            self.text = sheet.as_svg(path) if is_sheet else path.read_bytes()
            self._root = _parse(self.text)
        except ElementTree.ParseError as error:
            raise DesignError(f"{path}: it is no SVG: {error}") from None
        except (DesignError, LookupError, ValueError) as error:
            raise DesignError(f"{path}: {error}") from None  # also of its encoding
        try:
            self.width, self.height = self._size()
            _check_links(self._root)
            _check_ids(self._root)
            self.roles = tuple(self._roles())
            _check_places(self.roles, self.width, self.height)
            self._check_drawn()
        except DesignError as error:
            raise DesignError(f"{path}: {error}") from None

    def drawing(self, role: Role, seen: list[Part]) -> Drawing:
        """With these parts of the role, and whatever of the others."""
        root = copy.deepcopy(self._root)
        elements = {element.get("id"): element for element in root.iter()}
        shown = {part.element for part in seen}
        for part in role.parts:
            element = elements[part.element]
            display = "inline" if part.element in shown else "none"
            # A class may say that it is important, too: then what the element says itself counts.
            style = f"{element.get('style', '')};display:{display} !important"
            element.set("style", style.lstrip(";"))
        return Drawing(ElementTree.tostring(root), self.width, self.height)

    def _check_drawn(self) -> None:
        """Whether regions are where their numbers say: styles and drawings within it move, too."""
        root = copy.deepcopy(self._root)
        regions = {}
        for name, group in _called(root, "role-"):
            regions[name] = f"gid-monitor-{len(regions)}"
            _region(group).set("id", regions[name])
        drawing = Drawing(ElementTree.tostring(root), self.width, self.height)
        for role in self.roles:
            place = drawing.place(regions[role.name])
            wanted = (role.box.x, role.box.y, role.box.width, role.box.height)
            if any(abs(is_ - shall) > _EXACT for is_, shall in zip(place, wanted, strict=True)):
                at = " ".join(f"{number:g}" for number in place)
                raise DesignError(
                    f"role-{role.name}: its region is drawn at {at}, and its rect says "
                    f"{' '.join(map(str, wanted))}: write the numbers into the rect"
                )

    def _size(self) -> tuple[int, int]:
        if self._root.tag != f"{_SVG}svg":
            raise DesignError("it is no SVG")
        width = _pixels(self._root, "width")
        height = _pixels(self._root, "height")
        view = [word for word in re.split(r"[\s,]+", self._root.get("viewBox", "")) if word]
        if view and not _are_numbers(view, [0, 0, width, height]):
            raise DesignError(f"its viewBox must be 0 0 {width} {height}: a unit is a pixel")
        return width, height

    def _roles(self) -> Iterator[Role]:
        roles = list(_called(self._root, "role-"))
        if not roles:
            raise DesignError("no group is called role-NAME, by its id or its label")
        above = {child: parent for parent in self._root.iter() for child in parent}
        for name, group in roles:
            try:
                yield _role(name, group, above)
            except DesignError as error:
                raise DesignError(f"role-{name}: {error}") from None


def _are_numbers(words: list[str], numbers: list[int]) -> bool:
    try:
        return [float(word) for word in words] == numbers
    except ValueError:
        return False


def _parse(text: bytes) -> Element:
    parser = ElementTree.iterparse(io.BytesIO(text), events=("pi",))
    for _, instruction in parser:
        if (instruction.text or "").split()[:1] == ["xml-stylesheet"]:
            raise DesignError("its style sheet is another file: put it into the drawing")
    return parser.root


def _check_links(top: Element) -> None:
    """What lies elsewhere librsvg would leave out without a word. A link to be followed is none."""
    for element in top.iter():
        links = [element.get(key, "").strip() for key in _LINKS if element.tag != f"{_SVG}a"]
        for text in (*element.attrib.values(), _style(element)):
            links += [link.strip() for link in _STYLE_LINK.findall(text)]
        for link in links:
            if link and not link.startswith(("#", "data:")):
                raise DesignError(f"{link[:80]} is another file: put it into the drawing")


def _style(element: Element) -> str:
    """The rules in an element of that kind, with each @import as url()."""
    if element.tag != f"{_SVG}style":
        return ""
    rules = _NO_RULE.sub("", "".join(element.itertext()))
    return _IMPORT.sub(r"url(\1)", rules)


def _check_ids(top: Element) -> None:
    """librsvg draws the first one of an id alone."""
    counts = Counter(element.get("id", "") for element in top.iter())
    for name, count in counts.items():
        if name and count > 1:
            raise DesignError(f"{count} elements have the id {name[:80]}")


def _pixels(element: Element, key: str) -> int:
    """A whole number, above 0 but for places."""
    match = _PIXELS.fullmatch(element.get(key, "0" if key in "xy" else "").strip())
    if match is None or not (key in "xy" or int(match[1]) > 0) or int(match[1]) > _SIZE_MAX:
        raise DesignError(f"{key}={element.get(key)!r} must be a whole number of pixels")
    return int(match[1])


def _called(top: Element, prefix: str) -> Iterator[tuple[str, Element]]:
    """Whose id or label begins so, with the rest of that."""
    for element in top.iter():
        for name in (element.get("id", ""), element.get(_LABEL, "")):
            if name.startswith(prefix):
                rest = name.removeprefix(prefix)
                if not _NAME.fullmatch(rest):
                    raise DesignError(f"{name}: a name has letters, digits, _ and -")
                yield rest, element
                break


def _region(group: Element) -> Element:
    region = next((child for child in group if child.tag == f"{_SVG}rect"), None)
    if region is None:
        raise DesignError("it has no rect, which is its region")
    return region


def _role(name: str, group: Element, above: dict[Element, Element]) -> Role:
    region = _region(group)
    moved: Element | None = region
    while moved is not None:
        if moved.get("transform"):
            raise DesignError("a transform moves its region: write the numbers into the rect")
        moved = above.get(moved)
    box = Box(*(_pixels(region, key) for key in ("x", "y", "width", "height")))
    parts = tuple(_parts(group))
    lamps = tuple(dict.fromkeys(part.lamp for part in parts if part.is_lit))
    if not 1 <= len(lamps) <= LAMPS_MAX:
        raise DesignError(f"it has {len(lamps)} lamps, of 1 to {LAMPS_MAX}: lamp-NAME")
    if OFF in lamps:
        raise DesignError(f"no lamp can be called {OFF}")
    for part in parts:
        if part.lamp not in lamps:
            raise DesignError(f"there is unlit-{part.lamp}, and no lamp-{part.lamp}")
    return Role(name, box, lamps, parts, _states(group.get("data-states"), lamps))


def _parts(group: Element) -> Iterator[Part]:
    order = {element: number for number, element in enumerate(group.iter())}
    found = [
        (prefix == "lamp-", *called)
        for prefix in ("lamp-", "unlit-")
        for called in _called(group, prefix)
    ]
    names = [(is_lit, lamp) for is_lit, lamp, _ in found]
    for is_lit, lamp, element in sorted(found, key=lambda one: order[one[2]]):
        what = f"{'lamp' if is_lit else 'unlit'}-{lamp}"
        if names.count((is_lit, lamp)) > 1:
            raise DesignError(f"there are two of {what}")
        if not element.get("id"):
            raise DesignError(f"{what} has a label, and no id")
        yield Part(lamp, is_lit, element.get("id", ""))


def _states(words: str | None, lamps: tuple[str, ...]) -> tuple[State, ...]:
    """All, where the drawing does not say which."""
    if words is None:
        return tuple(
            frozenset(lit)
            for count in range(len(lamps) + 1)
            for lit in itertools.combinations(lamps, count)
        )
    states = []
    for word in words.split():
        lit = frozenset() if word == OFF else frozenset(word.split("+"))
        if not lit <= set(lamps):
            raise DesignError(f"data-states: {word} is not of its lamps, {' '.join(lamps)}")
        states.append(lit)
    if not states or len(set(states)) != len(states):
        raise DesignError("data-states has none, or one twice")
    if dark := set(lamps) - frozenset().union(*states):
        raise DesignError(f"data-states: {min(dark)} is never lit")
    return tuple(states)


def _check_places(roles: tuple[Role, ...], width: int, height: int) -> None:
    if len({role.name for role in roles}) != len(roles):
        raise DesignError("two roles have one name")
    for role in roles:
        box = role.box
        if box.x + box.width > width or box.y + box.height > height:
            raise DesignError(f"role-{role.name}: its region leaves the drawing")
    for one, other in itertools.combinations(roles, 2):
        a, b = one.box, other.box
        if (
            a.x < b.x + b.width
            and b.x < a.x + a.width
            and a.y < b.y + b.height
            and b.y < a.y + a.height
        ):
            raise DesignError(f"role-{one.name} and role-{other.name} have places in common")
