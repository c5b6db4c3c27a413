# SPDX-License-Identifier: MIT
"""Frames of gidway's streams, each from capture to light: the gid_* points put together."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .gidpoints import POINTS, GidPoints
from .table import NONE

_PRODUCER = ("capture", "submit", "freed")
_CONSUMER = ("receive", "commit", "shown", "released")
_LATEST = ("released", "freed")  # of several such points the last counts, of the others the first
_NUMBER = {name: number for number, name in enumerate(POINTS)}
_UNSET = {False: np.iinfo(np.int64).max, True: np.iinfo(np.int64).min}

Columns = dict[str, np.ndarray]


@dataclass(slots=True)
class Route:
    """The frames of one stream that one domain took, or that nobody took (`consumer` NONE).

    `times` has a column for each of POINTS, in ns of the clock of the domain it was written in,
    NONE where there was no such point; a row for each frame, in the order in which they came.
    """

    stream: str
    owner: int
    consumer: int
    sequence: np.ndarray
    gid: np.ndarray
    times: Columns


def routes(points: GidPoints) -> tuple[list[Route], int]:
    """All routes, and the number of points whose frame is not known."""
    rows = _load(points)
    unknown = _name_unnamed(rows)
    rows = {name: column[rows["sequence"] != NONE] for name, column in rows.items()}
    frame = ("stream", "owner", "sequence", "gid")
    rows["again"] = _count_again(rows, frame)
    frame += ("again",)
    streams = list(points.streams)
    found = []
    is_consumer = np.isin(rows["point"], [_NUMBER[name] for name in _CONSUMER])
    made = _merge(rows, ~is_consumer, frame, _PRODUCER)
    taken = _merge(rows, is_consumer, (*frame, "domain"), _CONSUMER)
    _pass_on_captures(made)
    place = _find(made, taken, frame)
    for name in _PRODUCER:
        known = np.append(made[name], NONE)
        taken[name] = known[place]
    lonely = np.ones(len(made["stream"]), dtype=bool)
    lonely[place[place >= 0]] = False
    alone = {name: column[lonely] for name, column in made.items()}
    alone |= {name: np.full(lonely.sum(), NONE) for name in (*_CONSUMER, "domain")}
    everything = {name: np.concatenate([taken[name], alone[name]]) for name in taken}
    for part in _split(everything, ("stream", "owner", "domain")):
        found.append(
            Route(
                streams[part["stream"][0]],
                int(part["owner"][0]),
                int(part["domain"][0]),
                part["sequence"],
                part["gid"],
                {name: part[name] for name in POINTS},
            )
        )
    return found, unknown


def _load(points: GidPoints) -> Columns:
    chunks = list(points.points.chunks())
    names = points.points.columns
    empty = np.empty(0, np.int64)
    return {name: np.concatenate([empty, *(chunk[name] for chunk in chunks)]) for name in names}


def _name_unnamed(rows: Columns) -> int:
    """Gives points that only have a gid the stream and sequence that it last had in their domain.

    Returns how many could not be named.
    """
    unnamed = rows["sequence"] == NONE
    if not unnamed.any():
        return 0
    naming = (_NUMBER["submit"], _NUMBER["receive"])
    names = ~unnamed & np.isin(rows["point"], naming)
    # At the same time, what names comes first.
    order = np.lexsort((unnamed, rows["time"], rows["gid"], rows["domain"]))
    source = np.where(names[order], np.arange(len(order)), -1)
    np.maximum.accumulate(source, out=source)
    mine = np.flatnonzero(unnamed[order])
    from_row, to_row = order[source[mine]], order[mine]
    same = source[mine] >= 0
    for name in ("domain", "gid"):
        same &= rows[name][from_row] == rows[name][to_row]
    for name in ("stream", "owner", "sequence"):
        rows[name][to_row[same]] = rows[name][from_row[same]]
    return int((~same).sum())


def _count_again(rows: Columns, frame: tuple[str, ...]) -> np.ndarray:
    """Which of the frames of the same name each point speaks of: the first submitted is 0.

    A producer that starts again counts from 1 again, but into new slabs: the gids differ. Where
    gidd started again with it, even those may come again. Then the point is of the frame last
    submitted before it, or, captured, of the next one.
    """
    again = np.empty(len(rows["time"]), dtype=np.int64)
    if len(again) == 0:
        return again
    table = np.stack([rows[name] for name in frame], axis=1)
    _, names = np.unique(table, axis=0, return_inverse=True)
    names = names.reshape(-1)
    submitted = (rows["point"] == _NUMBER["submit"]).astype(np.int64)
    captured = rows["point"] == _NUMBER["capture"]
    # At the same time: captured, submitted, and everything else.
    order = np.lexsort((~captured, ~captured & (submitted == 0), rows["time"], names))
    count = np.cumsum(submitted[order])
    firsts = np.flatnonzero(np.diff(names[order], prepend=-1))
    before = (count - submitted[order])[firsts]
    sizes = np.diff(np.append(firsts, len(order)))
    so_far = count - np.repeat(before, sizes)
    in_all = np.repeat(np.add.reduceat(submitted[order], firsts), sizes)
    number = np.where(captured[order], so_far, so_far - 1)
    again[order] = np.clip(number, 0, np.maximum(in_all - 1, 0))
    return again


def _merge(
    rows: Columns, which: np.ndarray, key: tuple[str, ...], names: tuple[str, ...]
) -> Columns:
    """One row for each key: the times of the named points; in the order of the keys."""
    rows = {name: column[which] for name, column in rows.items()}
    table = np.stack([rows[name] for name in key], axis=1)
    keys, inverse = np.unique(table, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    merged = dict(zip(key, keys.T, strict=True))
    for name in names:
        latest = name in _LATEST
        times = np.full(len(keys), _UNSET[latest])
        mine = rows["point"] == _NUMBER[name]
        take = np.maximum if latest else np.minimum
        take.at(times, inverse[mine], rows["time"][mine])
        merged[name] = np.where(times == _UNSET[latest], NONE, times)
    return merged


def _pass_on_captures(made: Columns) -> None:
    """A frame that a compositor forwards lies in the memory of a frame that it was given, and came
    to be when that did. Whoever forwards it only knows the gid, and when it did so.
    """
    gid, stream, submit = made["gid"], made["stream"], made["submit"]
    order = np.lexsort((submit, gid))
    order = order[submit[order] != NONE]
    if len(order) == 0:
        return
    # The memory is of the stream that sent it first.
    firsts = np.flatnonzero(np.diff(gid[order], prepend=gid[order][0] - 1))
    sizes = np.diff(np.append(firsts, len(order)))
    is_own = stream[order] == np.repeat(stream[order][firsts], sizes)
    source = np.maximum.accumulate(np.where(is_own, np.arange(len(order)), -1))
    from_row, to_row = order[source[~is_own]], order[~is_own]
    freed, capture = made["freed"][from_row], made["capture"][from_row]
    # Freed before, the memory had another picture by then.
    given = (capture != NONE) & ((freed == NONE) | (freed >= submit[to_row]))
    made["capture"][to_row[given]] = capture[given]


def _find(made: Columns, taken: Columns, key: tuple[str, ...]) -> np.ndarray:
    """For each taken frame the row of the made one, or -1."""
    count = len(made["stream"])
    both = np.concatenate(
        [np.stack([part[name] for name in key], axis=1) for part in (made, taken)]
    )
    _, inverse = np.unique(both, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    place = np.full(int(inverse.max(initial=-1)) + 1, -1)
    place[inverse[:count]] = np.arange(count)
    return place[inverse[count:]]


def _split(rows: Columns, key: tuple[str, ...]) -> Iterator[Columns]:
    came = rows["receive"]
    for name in ("submit", "commit", "shown", "released", "capture", "freed"):
        came = np.where(came == NONE, rows[name], came)
    order = np.lexsort((rows["sequence"], came, *(rows[name] for name in reversed(key))))
    for part in _runs(rows, order, key):
        yield {name: column[part] for name, column in rows.items()}


def _runs(rows: Columns, order: np.ndarray, key: tuple[str, ...]) -> Iterator[np.ndarray]:
    """The parts of `order` in which all of the key's columns stay the same."""
    if len(order) == 0:
        return
    changes = np.zeros(len(order) - 1, dtype=bool)
    for name in key:
        changes |= np.diff(rows[name][order]) != 0
    yield from np.split(order, np.flatnonzero(changes) + 1)
