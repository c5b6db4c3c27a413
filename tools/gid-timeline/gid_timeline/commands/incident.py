# SPDX-License-Identifier: MIT
"""gid-timeline incident: the page of what gid-recorder had in memory."""

import argparse
import contextlib
import fcntl
import os

from .common import UserError, add_perfetto, open_log, perfetto_events


def add(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "incident",
        help="a page of a recording, which gid-recorder has made",
        description="Makes one page of what gid-recorder(1) had in memory: pictures beside roles "
        "and frames, and a trace for the Perfetto UI in it. gid-recorder itself runs this.",
    )
    command.add_argument("recording", metavar="RECORDING", help="or - for standard input")
    command.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="write to FILE (usually .html)"
    )
    add_perfetto(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    try:
        from .. import incident, recording
    except ImportError as error:  # of what no other command needs
        raise UserError(f"it needs Pillow (python3-pil): {error}") from error
    with open_log(options.recording) as file:
        try:
            recorded = recording.read(file)
        except recording.RecordingError as error:
            raise UserError(f"{options.recording}: {error}") from error
    more = incident.More()
    if options.perfetto:
        try:
            if os.path.exists(options.perfetto) and not os.path.isfile(options.perfetto):
                raise UserError(f"{options.perfetto}: it is no file")  # and could be without an end
            more.events = perfetto_events(options.perfetto, recorded.start, recorded.end)
        except (UserError, OSError) as error:  # the page is dearer than what could be in it, too
            more.missing = str(error)
    page = incident.render(recorded, more)
    _write(options.output, page.encode(errors="replace"))
    return 0


def _write(path: str, page: bytes) -> None:
    """All of it is on the disk, or it is told that it is not."""
    try:
        with open(path, "wb") as file:
            # So that a gid-recorder that is started again sees that it is still written.
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.write(page)
            file.flush()
            if file.seekable():
                os.fsync(file.fileno())
    except OSError as error:
        error.filename = path
        raise
