# SPDX-License-Identifier: MIT
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
for folder in ("tools/timeline", "tests/compositor"):
    sys.path.insert(0, str(TOP / folder))
