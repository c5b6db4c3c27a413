# SPDX-License-Identifier: MIT
"""labwc, headless: an ordinary compositor whose windows stack, as those of a desktop do.

It is none of the packages that tests bring: ./run shell --with labwc has it.
"""

import shutil
from pathlib import Path

from lib.sway import Ordinary

# It draws its pointer itself where the output cannot, also for who captures it without.
POINTER = (slice(90, 140), slice(90, 140))


def why_no_labwc() -> str | None:
    return None if shutil.which("labwc") else "there is no labwc here: ./run shell --with labwc"


class Labwc(Ordinary):
    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        super().__init__(folder, environment, "labwc", ())
