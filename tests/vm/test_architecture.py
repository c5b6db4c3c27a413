# SPDX-License-Identifier: MIT
"""What a machine of another architecture is made of. None is booted here: see test_arm64.py."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from gid_cockpit.configuration import CockpitError, Configuration, Domain, MachineKeys
from gid_cockpit.machine import describe, window_kind
from gid_vm import architecture, initramfs, system
from gid_vm.architecture import ARM64, ARM64_16K, OWN, by_name
from gid_vm.initramfs import CannotBoot, find_kernel
from gid_vm.libvirt import to_xml
from gid_vm.qemu import Machine, Window
from gid_vm.root import shares
from gid_vm.system import System, build_of, folder_of_system, system_of, unpack, why_no_system

pytestmark = pytest.mark.skipif(OWN.linux == ARM64.linux, reason="that is this machine's own")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a QEMU and a build, as far as anybody looks at them."""
    (tmp_path / "bin").mkdir()
    for name in (ARM64.qemu, OWN.qemu):
        (tmp_path / "bin" / name).touch(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/usr/sbin")
    monkeypatch.setenv("GIDWAY_BUILD", str(tmp_path / "build"))
    return tmp_path


def after(arguments: list[str], option: str) -> list[str]:
    return [value for name, value in zip(arguments, arguments[1:], strict=False) if name == option]


def test_its_machine_is_no_pc(places: Path) -> None:
    machine = Machine("open", kernel=Path("/k"), windows=[Window(Path("/w"), 1 << 20, True, 1)])
    pc, arm = (replace(machine, arch=arch).arguments() for arch in (OWN, ARM64))
    assert Path(arm[0]).name == "qemu-system-aarch64"
    assert after(arm, "-M")[0].startswith("virt,")
    words = after(arm, "-append")[0].split()
    assert "console=ttyAMA0" in words
    assert not any(word.startswith("tsc") for word in words)
    # Without ACPI a device has no index.
    assert [d for d in after(pc, "-device") if d.endswith(",acpi-index=1")] != []
    assert [d for d in after(arm, "-device") if "acpi" in d] == []
    assert "ivshmem-plain,memdev=window0,id=window0-device" in after(arm, "-device")


def test_which_one_a_name_means() -> None:
    assert [by_name(name) for name in ("own", None)] == [OWN, OWN]
    assert by_name("arm64") is ARM64 and by_name("arm64-16k") is ARM64_16K
    assert (ARM64_16K.debian, ARM64_16K.is_own, OWN.is_own) == ("arm64", False, True)


def guest(**keys: object) -> tuple[Configuration, Domain]:
    kind = str(keys.pop("window_kind", "ivshmem"))
    machine = MachineKeys(arch="arm64", **keys)
    domain = Domain("open", 1, None, frozenset(), "guest", window_kind=kind, machine=machine)
    return Configuration(Path("/c"), Path("/run/gidway"), (domain,)), domain


def test_what_it_cannot_have_is_refused(places: Path) -> None:
    with pytest.raises(CockpitError, match="KVM runs no arm64 here"):
        describe(*guest(accel="kvm"))
    with pytest.raises(CockpitError, match="a guest of arm64 has no NVDIMMs"):
        describe(*guest(accel="tcg", window_kind="dax"))
    assert window_kind(guest(window_kind="auto")[1])[0] == "ivshmem"
    with pytest.raises(CannotBoot, match="no XML is made for a guest of arm64"):
        to_xml(Machine("open", arch=ARM64))


def test_what_is_missing_is_said_with_the_command_that_brings_it(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "GIDWAY_ARCH=arm64 ./run build" in str(why_no_system(ARM64, places))
    with pytest.raises(CannotBoot, match="GIDWAY_ARCH=arm64 ./run build"):
        system_of(ARM64_16K, places)
    (build_of(ARM64) / "gidd").mkdir(parents=True)
    (build_of(ARM64) / "gidd/gidd").touch()
    assert "./run vm --arch arm64 open true" in str(why_no_system(ARM64_16K, places))
    folder_of_system(ARM64, places).mkdir()
    assert why_no_system(ARM64_16K, places) is None
    assert system_of(ARM64_16K, places).build == places / "build-arm64"
    monkeypatch.setenv("PATH", str(places / "nothing"))
    assert "install qemu-system-arm" in str(why_no_system(ARM64, places))


def test_pages_of_16_kib_on_a_host_of_arm64(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a kernel that the host has for it, or not at all."""
    monkeypatch.setattr(architecture, "OWN", ARM64)
    monkeypatch.setattr(initramfs, "OWN", ARM64)
    monkeypatch.setattr(system, "OWN_SYSTEM", System(places))
    monkeypatch.setattr(system, "System", lambda kind: System(places, kind=kind))
    monkeypatch.setattr(system, "find_qemu", lambda arch: None)

    def install(release: str) -> None:
        (places / "lib/modules" / release / "kernel").mkdir(parents=True)
        (places / f"boot/vmlinuz-{release}").touch()

    (places / "boot").mkdir()
    install("6.12.1-arm64")
    assert system_of(ARM64).kernel()[0].name == "vmlinuz-6.12.1-arm64"
    refused = "no kernel arm64-16k with modules in .*: install linux-image-arm64-16k"
    with pytest.raises(CannotBoot, match=refused):
        system_of(ARM64_16K)
    assert re.fullmatch(refused, str(why_no_system(ARM64_16K)))
    assert why_no_system(ARM64) is None
    install("6.12.1-arm64-16k")
    assert system_of(ARM64_16K).kernel()[0].name == "vmlinuz-6.12.1-arm64-16k"
    assert system_of(ARM64_16K).build is None
    assert why_no_system(ARM64_16K) is None


def test_paths_of_the_build_are_those_of_the_other_one(places: Path) -> None:
    there = System(build=places / "b" / "build-arm64")
    path = f"{places}/build/gidd:/usr/bin:{places}/build:{places}/build-asan/gidd:/x{places}/built"
    other = f"{places}/b/build-arm64"
    assert there.translate(path) == (
        f"{other}/gidd:/usr/bin:{other}:{places}/build-asan/gidd:/x{places}/built"
    )
    assert System().translate(path) == path


def test_it_has_another_usr_under_the_same_path() -> None:
    lent, mounts = shares([Path("/usr"), Path("/clone")], Path("/system/usr"))
    assert [str(share.path) for share in lent] == ["/system/usr", "/clone"]
    assert [line.split(b"\t")[3] for line in mounts.splitlines()] == [b"/usr", b"/clone"]


def make_package(folder: Path, name: str, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / path).write_text(text)
    (folder / name / "DEBIAN").mkdir()
    control = f"Package: {name}\nVersion: 1\nArchitecture: arm64\nMaintainer: a <a@b>\n"
    (folder / name / "DEBIAN/control").write_text(f"{control}Description: a test\n")
    package = folder / f"{name}.deb"
    command = ["dpkg-deb", "--root-owner-group", "--build", folder / name, package]
    subprocess.run(command, check=True, capture_output=True)
    return package


def test_packages_become_a_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what their scripts would make of it."""
    monkeypatch.setattr(system, "BUILD_SECONDS", 60)
    users = {f"usr/share/base-passwd/{name}.master": "root:" for name in ("passwd", "group")}
    kernels = {}
    for release in ("6.1-arm64", "6.1-arm64-16k", "6.2-amd64"):
        kernels |= {f"boot/vmlinuz-{release}": "", f"usr/lib/modules/{release}/kernel/a": ""}
        kernels |= {f"usr/lib/modules/{release}/modules.{n}": "" for n in ("order", "builtin")}
    packages = [
        make_package(tmp_path, "base-passwd", users | {"etc/host.conf": "multi on"}),
        make_package(tmp_path, "texts", {"usr/share/doc/texts/copyright": "", "usr/share/a/b": ""}),
        make_package(tmp_path, "linux-image", kernels),
        make_package(tmp_path, "libblas3", {"usr/lib/arm/blas/libblas.so.3": "blas"}),
    ]
    root = unpack(packages, tmp_path)
    assert sorted(path.name for path in (root / "etc").iterdir()) == [
        "group",
        "host.conf",
        "passwd",
    ]
    assert sorted(path.name for path in (root / "usr/share").iterdir()) == ["a", "base-passwd"]
    assert (root / "lib").is_symlink()
    assert (root / "usr/lib/arm/libblas.so.3").read_text() == "blas"
    for kind in ("arm64", "arm64-16k"):
        image, modules = System(root, kind=f"-{kind}").kernel()
        assert (image.name, modules.parent.name) == (f"vmlinuz-6.1-{kind}", f"6.1-{kind}")
        assert (modules.parent / "modules.dep").exists()
    assert find_kernel(root / "boot", root / "lib/modules")[0].name == "vmlinuz-6.2-amd64"
