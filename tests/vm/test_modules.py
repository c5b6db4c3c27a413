# SPDX-License-Identifier: MIT
"""Which modules a guest is given, and what it is told to load before them.

The kernel's sources are not fetched here: the suite's guests do that.
"""

import os
from pathlib import Path

import pytest
from gid_vm import modules
from gid_vm.initramfs import CannotBoot, find_kernel
from gid_vm.modules import built_modules, module_files

RELEASE = "6.12.1+deb13-amd64"
NEEDS = {"vkms": "drm,drm_kms_helper", "visl": "v4l2-mem2mem,videodev", "v4l2-mem2mem": "videodev"}
MODINFO = """#!/bin/sh
case "$1" in
-k) test "$5" = vivid ;; # all that the kernel has
*)
	case "$(basename "$3" .ko)" in
{cases}
	esac
	;;
esac
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache in which all is built."""
    built = modules.modules_folder(RELEASE, tmp_path / "cache")
    built.mkdir(parents=True)
    for name in NEEDS:
        (built / f"{name}.ko").write_text(name)
    tools = tmp_path / "bin"
    tools.mkdir()
    cases = "".join(f"\t{name}) echo {needs} ;;\n" for name, needs in NEEDS.items())
    (tools / "modinfo").write_text(MODINFO.replace("{cases}", cases))
    (tools / "modinfo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    return built.parent


def files(cache: Path, *names: str) -> dict[str, bytes]:
    return module_files(Path("/lib/modules") / RELEASE, names, cache)


def test_a_module_comes_with_what_the_kernel_has_of_its_needs(cache: Path) -> None:
    assert files(cache, "vkms") == {
        "vkms.ko": b"vkms",
        "modules": b"vkms drm drm_kms_helper\n",
    }


def test_what_others_need_comes_before_them_and_once(cache: Path) -> None:
    found = files(cache, "visl", "v4l2-mem2mem", "visl")
    assert found["modules"] == b"v4l2-mem2mem videodev\nvisl videodev\n"
    assert found.keys() == {"visl.ko", "v4l2-mem2mem.ko", "modules"}


def test_the_kernels_own_are_only_named(cache: Path) -> None:
    assert files(cache, "vivid") == {"modules": b"vivid\n"}


def test_parameters_go_with_their_module(cache: Path) -> None:
    found = files(cache, "vkms enable_overlay=1", "vivid n_devs=2", "vkms")
    assert found["modules"] == b"vkms enable_overlay=1 drm drm_kms_helper\nvivid n_devs=2\n"


def test_an_unknown_one_is_refused_by_name(cache: Path) -> None:
    with pytest.raises(CannotBoot, match="has no module nosuch"):
        files(cache, "nosuch")


def test_without_headers_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CannotBoot, match="linux-headers-1.2.3-none"):
        built_modules("1.2.3-none", tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_build_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "fetch_sources", lambda release, work: work / "none.deb")
    monkeypatch.setattr(modules, "TOOLS", ())
    monkeypatch.setattr(modules, "INSTALLED", tmp_path)
    (tmp_path / RELEASE / "build").mkdir(parents=True)
    with pytest.raises(CannotBoot, match="dpkg-deb failed"):
        built_modules(RELEASE, tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["modules.lock"]


def test_the_newest_kernel_with_modules(tmp_path: Path) -> None:
    """By its number, and not by its letters."""
    for name in ("6.9.7-amd64", "6.12.1-amd64", "6.12.30-amd64"):
        (tmp_path / f"vmlinuz-{name}").touch()
    for name in ("6.9.7-amd64", "6.12.1-amd64"):
        (tmp_path / "modules" / name / "kernel").mkdir(parents=True)
    image, modules = find_kernel(tmp_path, tmp_path / "modules")
    assert image.name == "vmlinuz-6.12.1-amd64"
    assert modules == tmp_path / "modules/6.12.1-amd64/kernel"
