# SPDX-License-Identifier: MIT
"""How much is played, and how soon what is missing counts as lost: as much as the machines bear."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scene:
    """`divisor`: of all sizes in pixels, the film's among them."""

    divisor: int
    film_rate: int | None  # frames a second; None: the film's own
    camera_rate: int  # the same
    refresh_rate: int  # of the display of open, in Hz
    telltale_ms: int  # from one picture to the next
    deadline_ms: int  # of the safety surfaces
    frozen_ms: int  # of the camera
    sample_seconds: float  # between looks at how it stands
    look_seconds: float  # the same while something is waited for
    frames: int  # of the film that come by at least, however short the demo
    patience: float  # seconds, for whatever takes longest; machines are shared


FULL = Scene(1, None, 30, 60, 250, 300, 2000, 0.1, 0.02, 120, 120)
# With KVM: what is done is the same, but a machine has to boot.
GUESTS = Scene(1, None, 30, 60, 250, 300, 2000, 0.3, 0.1, 120, 240)
# QEMU's translator takes ten times as long for everything that a guest does, and a look into a
# guest starts a program there. The rates are such that one processor has time left: where it has
# none, all wait for each other, and to start takes minutes.
TRANSLATED = Scene(2, 5, 5, 20, 1000, 2000, 20000, 0.5, 0.5, 20, 480)
