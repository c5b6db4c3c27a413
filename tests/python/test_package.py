# SPDX-License-Identifier: MIT
"""The package as users install it: by pip from its sdist, with types."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import gid
import pytest
from lib.program import BUILD, TOP, devenv

SOURCE = TOP / "python"


def run(*command: str | Path, **how: object) -> str:
    result = subprocess.run(command, capture_output=True, text=True, timeout=240, **how)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.skipif(find_spec("setuptools") is None, reason="there is no setuptools")
def test_pip_installs_the_sdist(tmp_path: Path) -> None:
    """Where libgid is found by pkg-config, as after its installation; here by the shell's."""
    source = shutil.copytree(
        SOURCE, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__")
    )
    make = "from setuptools.build_meta import build_sdist; print(build_sdist('.'))"
    archive = source / run(sys.executable, "-c", make, cwd=source, env=devenv()).split()[-1]
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {
        "add_types.c",
        "build_gid.py",
        "draft_type.c",
        "frame_calls.c",
        "frame_calls.h",
        "frame_type.c",
        "lock_type.c",
        "pictures_type.c",
        "reader_type.c",
        "pyproject.toml",
        "README.md",
        "gid/py.typed",
        "gid/_gid.pyi",
    } <= names
    target = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--quiet"]
    env = devenv() | {"PIP_BREAK_SYSTEM_PACKAGES": "1", "HOME": str(tmp_path)}
    run(*pip, "--no-index", "--target", target, archive, env=env)
    script = "import gid; print(gid.__file__); print(len(gid.formats()))"
    env = os.environ | {"PYTHONPATH": str(target), "LD_LIBRARY_PATH": str(BUILD / "libgid")}
    file, formats = run(sys.executable, "-c", script, env=env, cwd=tmp_path).split()
    assert Path(file).is_relative_to(target) and int(formats) == len(gid.formats())


def test_a_free_threaded_python_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a line of Python.h is all that its users hear."""
    spec = spec_from_file_location("build_gid", SOURCE / "build_gid.py")
    assert spec is not None and spec.loader is not None
    builder = module_from_spec(spec)
    spec.loader.exec_module(builder)
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: name == "Py_GIL_DISABLED")
    with pytest.raises(SystemExit, match="no free-threaded Python: take an ordinary one"):
        builder.for_setuptools()


def test_all_of_libgid_can_be_called() -> None:
    """What the headers declare is there; Python needs no change when one is added."""
    folder = TOP / "libgid" / "include" / "gid"
    text = "".join((folder / f"{name}.h").read_text() for name in ("gid", "domain", "stream"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    functions = set(re.findall(r"^[a-z][\w *]*?\b(gid_\w+)\(", text, re.M))
    assert len(functions) > 80
    assert functions <= set(dir(gid.lib))
    constants = set(re.findall(r"^\t(GID_[A-Z_0-9]+) =", text, re.M))
    constants |= set(re.findall(r"^#define (GID_\w+) +[^{\s\\]", text, re.M))
    assert len(constants) > 60 and constants <= set(dir(gid.lib))
    assert gid.lib.GID_FRAME_DELTA == 1 << 13 and gid.lib.GID_TIME_NONE == 2**64 - 1


def test_the_version_is_gidways() -> None:
    (version,) = re.findall(r"^  version: '(.*)',$", (TOP / "meson.build").read_text(), re.M)
    assert f'version = "{version}"' in (SOURCE / "pyproject.toml").read_text()


def test_everything_public_says_what_it_is() -> None:
    for name in gid.__all__:
        thing = getattr(gid, name)
        if name in ("ffi", "lib"):
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert value.__doc__, f"{name}.{member}"


def test_each_module_is_installed() -> None:
    listed = set(re.findall(r"'gid/(.*)'", (SOURCE / "meson.build").read_text()))
    there = {path.name for path in (SOURCE / "gid").iterdir() if path.is_file()}
    assert listed == there - {"meson.build"}


def test_the_document_names_each_format() -> None:
    page = (TOP / "docs" / "python.md").read_text()
    rows = re.search(r"^\| formats \|.*\n((?:\|.*\n)+)", page, re.M)
    first = "".join(row.split("|")[1] for row in rows[1].splitlines())
    assert set(re.findall(r"`(\w+)`", first)) == set(gid.formats())


@pytest.mark.skipif(find_spec("mypy") is None, reason="there is no mypy")
def test_types_are_right() -> None:
    """Those of the package, and of programs that use it."""
    examples = TOP / "examples" / "python"
    run(sys.executable, "-m", "mypy", "--strict", "gid", examples, cwd=SOURCE)
