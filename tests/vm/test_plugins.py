# SPDX-License-Identifier: MIT
"""What a guest is told of GStreamer's plugins is true here and now, whoever wrote it last."""

import os
import subprocess
from pathlib import Path

import pytest
from gid_vm import plugins
from lib.program import BUILD


@pytest.mark.parametrize("writer", ["nobody", "without our plugins", "not GStreamer"])
def test_our_plugins_are_known(
    writer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = tmp_path / "registry.bin"
    monkeypatch.setenv("GST_REGISTRY", str(registry))
    monkeypatch.delenv("GST_PLUGIN_PATH", raising=False)
    if writer == "without our plugins":
        subprocess.run(["gst-inspect-1.0", "--version"], check=True, stdout=subprocess.DEVNULL)
    elif writer == "not GStreamer":
        registry.write_bytes(b"no registry")
    monkeypatch.setenv("GST_PLUGIN_PATH", str(BUILD / "gst"))
    told = plugins.known()
    assert told
    registry.write_bytes(told)
    fixed = os.environ | {"GST_REGISTRY_UPDATE": "no"}
    found = subprocess.run(["gst-inspect-1.0", "--exists", "gidsink"], env=fixed)
    assert found.returncode == 0
