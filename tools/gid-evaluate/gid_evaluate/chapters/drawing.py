# SPDX-License-Identifier: MIT
"""Drawing in the guest beside natively (5.6.3)."""

import dataclasses
import re

from ..outcome import Broke, NotRun
from ..plan import Context, Plan
from ..result import Figure
from ..systems import System
from .beside import guest_of, ratio_goal, ratios

# Small, because a guest without KVM and without a graphics card takes seconds for each frame.
SMALL = "160x90"
WINDOW = f"a window of {SMALL}"
DRAW_SMALL = [
    "sh",
    "-c",
    f"""\
folder=$(mktemp -d) && export XDG_RUNTIME_DIR="$folder" LP_NUM_THREADS=0 || exit
weston --backend=headless --renderer=gl --width=320 --height=180 --idle-time=0 \\
	--socket=drawing --log="$folder/log" 2>/dev/null &
weston=$!
trap 'kill "$weston"; wait; rm -r "$folder"' EXIT
while [ ! -e "$folder/drawing" ]; do
	kill -0 "$weston" || exit
	sleep 0.2
done
WAYLAND_DISPLAY=drawing glmark2-es2-wayland --size={SMALL} -b build:use-vbo=true:duration=5
""",
]


def _draw_everywhere(context: Context) -> list[Figure]:
    guest_of(context)
    if not context.is_full:
        raise NotRun("a full run only: it takes minutes in a guest that is translated")
    figures = [_draw_small(system) for system in context.systems]
    context.has_measured = True
    for system in context.more:
        with context.part(f"Not in {system.name}"):
            figures.append(_draw_small(system))
    return [*figures, *ratios(figures)]


def _draw_small(system: System) -> Figure:
    out = system.run(DRAW_SMALL, 400.0)
    found = re.search(r"FrameTime: ([\d.]+) ms", out)
    if found is None:
        raise Broke(f"{system.name}: glmark2: {out[-200:]}")
    rate = 1000 / float(found[1])
    source = "./run evaluate --full --chapters 5.6.3"
    return Figure(WINDOW, rate, "fps", 1, (rate, rate), source, system.name)


PLANS = [
    Plan(
        "5.6.3",
        "Drawing in the guest beside natively",
        "glmark2 in a small window of Weston's GL renderer, drawn by the processor, natively and "
        "in the guest.",
        _draw_everywhere,
        goals=(dataclasses.replace(ratio_goal(WINDOW, 0.9), only_full=True),),
        minutes=(0.0, 2),
        runs=lambda is_full: [DRAW_SMALL] if is_full else [],
    ),
]
