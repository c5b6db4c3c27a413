# SPDX-License-Identifier: MIT
"""The soak's own modules, whose judgement is tested without a soak."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "soak"))
