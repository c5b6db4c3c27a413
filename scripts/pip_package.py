# SPDX-License-Identifier: MIT
"""A tool that Debian does not have: one version of one package of PyPI, in the user's cache."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def bring(name: str, version: str, *, with_needs: bool = False) -> Path | None:
    """The folder with it; None, and why is printed: it is not there.

    What it depends on comes along only `with_needs`, in the versions of the day.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))  # a relative one counts for nothing
    cache = (named if named.is_absolute() else Path.home() / ".cache") / "gidway"
    folder = cache / f"{name}-{version}"
    if not folder.exists():
        partial = cache / f"{name}-{version}.{os.getpid()}"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--retries=1"]
        pip += [] if with_needs else ["--no-deps"]
        try:
            command = [*pip, "--root-user-action=ignore", f"--target={partial}"]
            command.append(f"{name}=={version}")
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
            partial.rename(folder)
        except (OSError, subprocess.SubprocessError) as error:
            said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
            print(f"{name} {version} cannot be installed by pip: {said[-1] if said else error}")
        finally:
            shutil.rmtree(partial, ignore_errors=True)  # another run was faster, or it failed
    return folder if folder.exists() else None
