# SPDX-License-Identifier: MIT
"""The reference of libgid's API is made of its headers without a warning, and is complete."""

import os
import re
import subprocess
from pathlib import Path

from lib.program import TOP

HEADERS = TOP / "libgid" / "include" / "gid"


def test_doxygen_has_nothing_to_say_and_describes_each_function(tmp_path: Path) -> None:
    settings = Path(os.environ["DOXYFILE"]).read_text() + f'\nOUTPUT_DIRECTORY = "{tmp_path}"\n'
    made = subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert made.stderr == ""
    pages = "".join(page.read_text() for page in tmp_path.glob("html/*_8h.html"))
    for header in HEADERS.glob("*.h"):
        functions = re.findall(r"^\w[\w \t*]*\b(gid_\w+)\(", header.read_text(), re.M)
        assert functions
        for name in functions:
            assert f">{name}<" in pages or f" {name} " in pages or f"{name} " in pages, name
