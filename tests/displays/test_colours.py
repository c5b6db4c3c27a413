# SPDX-License-Identifier: MIT
"""Layers in every format with every kind of colours, beside what the table says that they are."""

import numpy
import pytest
from kinds import start
from lib.cockpit import Cockpit
from lib.picture_table import HEIGHT, WIDTH, Case, cases
from lib.sent_pictures import COCKPIT, SLOW, Sender, place, wrong


@pytest.mark.cockpit(COCKPIT)
def test_every_format_in_all_colours(cockpit: Cockpit) -> None:
    count = 30
    size = f"width={WIDTH}\nheight={HEIGHT}\n"
    layers = [f"[layer p{i}]\ndomain=open\nfit=none\n{size}{place(i)}" for i in range(count)]
    display = start(cockpit, "".join(layers))
    wanted = [case for case in cases() if case.fourcc not in SLOW]
    seen: list[str] = []
    with Sender(cockpit) as sender:
        for batch in sender.send_all(wanted, count):

            def are_right(shown: numpy.ndarray, batch: tuple[Case, ...] = batch) -> bool:
                seen[:] = wrong(batch, shown)
                return not seen

            display.wait_right(are_right, lambda: "\n".join(["the right pixels", *seen]))
