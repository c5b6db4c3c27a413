# SPDX-License-Identifier: MIT
"""gid-timeline join: each frame of gidway's streams on one line, from capture to light."""

import argparse

import orjson

from .. import json_csv, text
from ..gidpoints import GidPoints
from ..join import join
from .common import UserError, form_for, load, paint_for, write

_SUFFIXES = {".txt": "text", ".json": "json", ".csv": "csv"}


def add(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "join",
        help="frames of gidway's streams across domains",
        description="Joins the gid_* points of all domains (Weston's timelines, and the files that "
        "GID_TIMELINE named), with the offsets between their clocks and how sure these are.",
    )
    command.add_argument("logs", metavar="LOG", nargs="+", help="a log of any domain")
    command.add_argument("--stream", metavar="NAME", help="only this stream")
    command.add_argument(
        "--format",
        choices=["text", "json", "csv"],
        help="csv has one line for each frame (default: by the suffix of FILE, else text)",
    )
    command.add_argument("-o", "--output", metavar="FILE", help="write to FILE")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    form = form_for(options, _SUFFIXES)
    points = GidPoints()
    for name in options.logs:
        load(name, points)
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
            raise UserError(f"there is no stream {options.stream}; there are: {_names(points)}")
    if form == "csv":
        write(options.output, json_csv.frames_of_streams_csv(streams))
    elif form == "json":
        document = {
            "points_of_unknown_frames": unknown,
            "streams": [json_csv.stream_data(joined) for joined in streams],
        }
        option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        write(options.output, [orjson.dumps(document, option=option)])
    else:
        paint = paint_for(options.output)
        lines = [line for joined in streams for line in (*text.stream(joined, paint), "")]
        if unknown:
            lines.append(paint.dim(f"{unknown} points belong to no frame that the logs name."))
        write(options.output, ["\n".join(lines).rstrip("\n") + "\n"])
    return 0


def _names(points: GidPoints) -> str:
    return ", ".join(sorted(points.streams))
