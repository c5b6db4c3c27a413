# SPDX-License-Identifier: MIT
"""gid-timeline join: each frame of gidway's streams on one line, from capture to light."""

import argparse
from collections.abc import Iterable

from .. import html, json_csv, sentences, text
from ..join import Joined, join
from ..reader import Loaded
from ..report import build
from .common import UserError, add_output, form_for, load, paint_for, title, write
from .report import SUFFIXES, check_page


def add(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "join",
        help="frames of gidway's streams across domains",
        description="Joins the gid_* points of all domains (Weston's timelines, and the files that "
        "GID_TIMELINE named), with the offsets between their clocks and how sure these are. csv "
        "has one line for each frame; html is the page of `report` with all that is in the logs.",
    )
    command.add_argument("logs", metavar="LOG", nargs="+", help="a log of any domain")
    command.add_argument("--stream", metavar="NAME", help="only this stream")
    add_output(command, ["text", "html", "json", "csv"], SUFFIXES)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    form = form_for(options, SUFFIXES)
    check_page(form, options.output)
    loaded = load(*options.logs)
    points = loaded.trace.gid
    streams, unknown = join(points)
    if not streams and unknown:
        raise UserError(
            "its gid_* points know gids only, not whose frames they are: add the file that "
            "GID_TIMELINE named for those who send or receive the stream"
        )
    if not streams:
        raise UserError("there are no gid_* points in it: was GID_TIMELINE set?")
    if options.stream:
        streams = [joined for joined in streams if joined.route.stream == options.stream]
        if not streams:
            there = ", ".join(sorted(points.streams))
            raise UserError(f"there is no stream {options.stream}; there are: {there}")
    write(options.output, _pieces(loaded, streams, unknown, form, options))
    return 0


def _pieces(
    loaded: Loaded, streams: list[Joined], unknown: int, form: str, options: argparse.Namespace
) -> Iterable[str | bytes]:
    if form == "html":
        built = build(loaded, title(options.logs), {})
        built.streams = streams
        return [html.render(built)]
    if form == "csv":
        return json_csv.frames_of_streams_csv(streams)
    if form == "json":
        document = {
            "points_of_unknown_frames": unknown,
            "streams": [json_csv.stream_data(joined) for joined in streams],
        }
        return [json_csv.json_text(document)]
    paint = paint_for(options.output)
    lines = [line for joined in streams for line in (*text.stream(joined, paint), "")]
    if unknown:
        belong = sentences.verb(unknown, "belongs", "belong")
        points = sentences.count(unknown, "point")
        lines.append(paint.dim(f"{points} {belong} to no frame that the logs name."))
    return ["\n".join(lines).rstrip("\n") + "\n"]
