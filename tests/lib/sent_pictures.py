# SPDX-License-Identifier: MIT
"""send-pictures in a domain, whose streams have a picture of the table each; and what is shown."""

import subprocess
from collections.abc import Iterator
from itertools import batched

import numpy
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.picture_formats import GREY
from lib.picture_table import HEIGHT, WIDTH, Case
from lib.program import BUILD, PATIENCE

ACROSS = 10  # pictures in a row
QUOTAS = "".join(
    f"{who}{what}=400\n"
    for who in ("", "client-")
    for what in ("slabs", "streams", "subscriptions")
)
COCKPIT = DEFAULT_CONFIG.replace("local=*\n", "local=*\n" + QUOTAS)
# What gid-cluster does not ask for: it would take ten times as long (to_rgb_is_slow()).
SLOW = GREY | {"GR88", "RX30", "RA30", "BX30", "BA30", "AYUV", "Y410", "Y412", "Y416"}
SLOW |= {f"{order}{bits}" for order in ("XR", "AR", "XB", "AB") for bits in ("48", "4H")}


class Sender:
    """In the domain `open`: which picture a stream has can change."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.folder = cockpit.folder
        self.process = subprocess.Popen(
            [BUILD / "tests/lib/programs/send-pictures"],
            env=cockpit.env("open"),
            stdin=subprocess.PIPE,
        )

    def __enter__(self) -> "Sender":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0

    def send(self, stream: str, case: Case) -> None:
        path = self.folder / f"{stream}.picture"
        new = path.with_suffix(".new")
        new.write_bytes(case.data)
        new.rename(path)
        words = [stream, case.fourcc, WIDTH, HEIGHT, case.matrix, case.range, path]
        self.process.stdin.write(("\t".join(map(str, words)) + "\n").encode())
        self.process.stdin.flush()

    def send_all(self, cases: list[Case], count: int) -> Iterator[tuple[Case, ...]]:
        """So many at a time, in streams p0, p1, …"""
        for batch in batched(cases, count):
            for i, case in enumerate(batch):
                self.send(f"p{i}", case)
            yield batch


def place(i: int) -> str:
    return f"x={i % ACROSS * WIDTH}\ny={i // ACROSS * HEIGHT}\n"


def wrong(batch: tuple[Case, ...], shown: numpy.ndarray) -> list[str]:
    """Which of the pictures are more than 1 of 255 from what the standards say, and how far."""
    found = []
    for i, case in enumerate(batch):
        x, y = i % ACROSS * WIDTH, i // ACROSS * HEIGHT
        off = numpy.abs(shown[y : y + HEIGHT, x : x + WIDTH] - case.rgb).max()
        if off > 1:
            found.append(f"{case}: {off:.1f} of 255")
    return found
