# SPDX-License-Identifier: MIT
"""Pictures as designed, and pictures that are not, before gid-cluster's own code."""

import dataclasses
import json
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy

from . import changes, make
from .changes import Changed, Subject
from .design import Design, Role
from .errors import DesignError
from .native import LIVE, Monitor
from .renderers import NAMES, REFERENCE, Layers, Renderer, renderer
from .svg import Picture

START_NS = 10**15  # more than all times that go back from it
REFRESH_NS = 16_666_667
ON_ITS_WAY_NS = 5_000_000  # from a producer to the display
EXAMPLES = 5  # of what was not seen
STALE = "stale"
OTHER_RENDERER = "another renderer"


@dataclass
class Tally:
    """Of one kind of change. `unchanged`: it made no difference to the picture, and is left out."""

    frames: int = 0
    seen: int = 0
    unchanged: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    _pictures: set[int] = field(default_factory=set)

    def add(self, reason: str, what: str, picture: Picture | None = None) -> None:
        self.frames += 1
        self.reasons[reason] += 1
        self.seen += reason != LIVE
        if picture is not None:
            self._pictures.add(hash((picture.shape, picture.tobytes())))
        if reason == LIVE and len(self.examples) < EXAMPLES:
            self.examples.append(what)

    def as_json(self) -> dict:
        return {
            "frames": self.frames,
            "seen": self.seen,
            "missed": self.frames - self.seen,
            "different_pictures": len(self._pictures),
            "made_no_difference": self.unchanged,
            "reasons": dict(self.reasons),
            "missed_examples": self.examples,
        }


class Stand:
    """A role under trial, which gets a frame each refresh."""

    def __init__(self, config: Path, subject: Subject) -> None:
        self.subject = subject
        self.now = START_NS
        self.monitor = Monitor(config, subject.role.name, self.now)
        self._sequence = 0
        self._good = subject.renderers[0].draw(subject.role.states[0])
        self.recover()

    def receive(self, picture: Picture, sequence: int | None = None, age: int | None = None) -> str:
        """Without a sequence it is the next one; without an age it comes at once."""
        self.now += REFRESH_NS
        if sequence is None:
            self._sequence += 1
            sequence = self._sequence
        if age is None:
            age = min(ON_ITS_WAY_NS, self.monitor.deadline // 2)
        return self.monitor.receive(picture, sequence, self.now - age, self.now)

    def recover(self) -> None:
        """Good frames bring it back."""
        for _ in range(self.monitor.good_frames):
            reason = self.receive(self._good)
        if reason != LIVE:
            raise DesignError(f"{self.subject.role.name}: good frames are refused: {reason}")

    def change(self, changed: Changed, tally: Tally) -> None:
        if numpy.array_equal(changed.picture, changed.right):
            tally.unchanged += 1
            return
        tally.add(self.receive(changed.picture), changed.what, changed.picture)
        self.recover()

    def stale(self, chance: random.Random, tally: Tally) -> None:
        """A picture that is right, and not new."""
        deadline = self.monitor.deadline
        kind = chance.randrange(3)
        if kind == 0:
            before = chance.randint(0, min(self._sequence - 1, 100))
            reason, what = self.receive(self._good, self._sequence - before), "an old frame again"
        elif kind == 1:
            age = deadline + chance.randint(1, deadline)
            reason, what = self.receive(self._good, age=age), f"submitted {age} ns ago"
        else:
            late = deadline + chance.randint(1, REFRESH_NS)
            self.now += late
            reason, what = self.monitor.tick(self.now), f"no frame for {late} ns"
        tally.add(reason, what)
        self.recover()


@dataclass(frozen=True)
class Outcome:
    frames: int
    seed: int
    renderers: dict[str, str]
    tallies: dict[str, Tally]
    drawn: Counter[str]  # frames as designed, by whom
    false_alarms: list[str]
    seconds: float

    @property
    def is_good(self) -> bool:
        return not self.false_alarms and all(
            one.frames == one.seen for one in self.tallies.values()
        )

    def as_json(self) -> dict:
        return {
            "frames": self.frames,
            "seed": self.seed,
            "renderers": self.renderers,
            "changed": {kind: tally.as_json() for kind, tally in self.tallies.items()},
            "as_designed": dict(self.drawn),
            "false_alarms": len(self.false_alarms),
            "false_alarm_examples": self.false_alarms[:EXAMPLES],
            "seconds": round(self.seconds, 1),
        }

    def table(self) -> Iterator[str]:
        yield f"{'change':26} {'frames':>8} {'pictures':>8} {'seen':>8} {'missed':>6}  seen as"
        for kind, tally in self.tallies.items():
            told = tally.as_json()
            reasons = ", ".join(
                f"{reason} {count}" for reason, count in tally.reasons.most_common()
            )
            yield (
                f"{kind:26} {tally.frames:8} {told['different_pictures'] or '':>8} "
                f"{tally.seen:8} {told['missed']:6}  {reasons}"
            )
            yield from (f"  missed: {example}" for example in tally.examples)
        for name, count in self.drawn.items():
            yield f"as designed, by {name:10} {count:8} frames  ({self.renderers[name]})"
        yield f"false alarms {len(self.false_alarms)}"
        yield from (f"  {alarm}" for alarm in self.false_alarms[:EXAMPLES])


def _show_designed(
    stands: list[Stand], frames: int, chance: random.Random
) -> tuple[Counter[str], list[str]]:
    """Each frame is drawn anew, by one renderer after the other."""
    drawn: Counter[str] = Counter()
    alarms = []
    for number in range(frames):
        stand = stands[number % len(stands)]
        renderers = stand.subject.renderers
        drawer = renderers[number // len(stands) % len(renderers)]
        state = chance.choice(stand.subject.role.states)
        reason = stand.receive(drawer.draw(state))
        drawn[drawer.name] += 1
        if reason != LIVE:
            role = stand.subject.role
            alarms.append(f"{role.name} {role.name_of(state)} by {drawer.name}: {reason}")
            stand.recover()
    return drawn, alarms


def _change(stands: list[Stand], frames: int, chance: random.Random) -> dict[str, Tally]:
    """As many of each kind."""
    tallies = {kind: Tally() for kind in (*changes.KINDS, STALE)}
    for kind, tally in tallies.items():
        make_change = changes.KINDS.get(kind)
        able = [
            one for one in stands if make_change is None or changes.can(make_change, one.subject)
        ]
        for number in range(frames // len(tallies) if able else 0):
            stand = able[number % len(able)]
            if make_change is None:
                stand.stale(chance, tally)
            else:
                stand.change(make_change(stand.subject, chance), tally)
    return tallies


def _copy(folder: Path, copy: Path, subjects: list[Subject]) -> None:
    """What is read of the folder, but for outputs, which are somewhere else in a configuration."""
    try:
        text = (folder / make.CONFIG).read_text(encoding="utf-8")
    except UnicodeError as error:
        raise DesignError(f"{folder / make.CONFIG}: {error}") from None
    lines = [line for line in text.splitlines() if not line.startswith("output=")]
    (copy / make.CONFIG).write_text("\n".join(lines) + "\n", encoding="utf-8")
    for subject in subjects:
        shutil.copy(folder / make.hashes_name(subject.role), copy)


def _allow_only(copy: Path, subject: Subject, one: Renderer) -> Subject:
    pictures = {one.name: {state: one.draw(state) for state in subject.role.states}}
    hashes = make.hashes(make.Made(subject.role, pictures, {}))
    (copy / make.hashes_name(subject.role)).write_text(hashes, encoding="utf-8")
    return dataclasses.replace(subject, renderers=(one,))


def _with_one_renderer(copy: Path, subjects: list[Subject]) -> Tally:
    """Where only the reference may draw, each picture of another one is seen that differs."""
    tally = Tally()
    alone = [_allow_only(copy, subject, subject.renderers[0]) for subject in subjects]
    for subject, only in zip(subjects, alone, strict=True):
        stand = Stand(copy / make.CONFIG, only)
        for state in subject.role.states:
            right = only.renderers[0].draw(state)
            for one in subject.renderers[1:]:
                what = f"{subject.role.name_of(state)} by {one.name}"
                stand.change(Changed(one.draw(state), right, what), tally)
    return tally


def _renderers(folder: Path) -> list[str]:
    """Whose pictures are allowed: the reference is the first one."""
    file = folder / make.SUMMARY
    try:
        names = json.loads(file.read_text(encoding="utf-8"))["renderers"]
        unknown = set(names) - set(NAMES)
    except FileNotFoundError:
        raise DesignError(f"{folder} is no folder that `gid-monitor make` has written") from None
    except (ValueError, KeyError, TypeError) as error:
        raise DesignError(f"{file}: gid-monitor has not made it: {error}") from None
    if unknown:
        raise DesignError(f"{file}: there is no renderer {min(unknown)}")
    return [REFERENCE, *(name for name in names if name != REFERENCE)]


def run(folder: Path, frames: int, seed: int) -> Outcome:
    """`frames`: so many that are as designed, and so many that are not."""
    begin = time.monotonic()
    chance = random.Random(seed)
    names = _renderers(folder)
    design = Design(folder / make.DRAWING)
    subjects = [_subject(design, role, names) for role in design.roles]
    with tempfile.TemporaryDirectory(prefix="gid-") as name:
        copy = Path(name)
        _copy(folder, copy, subjects)
        stands = [Stand(copy / make.CONFIG, subject) for subject in subjects]
        tallies = _change(stands, frames, chance)
        drawn, alarms = _show_designed(stands, frames, chance)
        if len(names) > 1:
            tallies[OTHER_RENDERER] = _with_one_renderer(copy, subjects)
    versions = {one.name: one.version for one in subjects[0].renderers}
    seconds = time.monotonic() - begin
    return Outcome(frames, seed, versions, tallies, drawn, alarms, seconds)


def _subject(design: Design, role: Role, names: list[str]) -> Subject:
    layers = Layers(design, role)
    return Subject(role, layers, tuple(renderer(name, layers) for name in names))
