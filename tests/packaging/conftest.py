# SPDX-License-Identifier: MIT
"""What `meson install` installs."""

import json
import re
import subprocess

import pytest
from lib.program import BUILD, PATIENCE


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """All names, as if the prefix were /usr."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(
        ["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", folder],
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    options = subprocess.run(
        ["meson", "introspect", "--buildoptions", BUILD], check=True, capture_output=True
    )
    prefix = next(
        option["value"] for option in json.loads(options.stdout) if option["name"] == "prefix"
    )
    names = {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }
    return {re.sub(f"^{re.escape(prefix.strip('/'))}/", "usr/", name) for name in names}
