# SPDX-License-Identifier: MIT
"""`./run shell --with PACKAGE…`: a root with more in it, made once from the one that is there,
which stays as it is. On a small Debian, whose archive is a folder.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from machine import ROOT, Machine

NAME_OF = r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)"  # in a list of dependencies
NAME = "root-0123456789ab"
HASH = """\
read -r line
case $line in
"forky "*) cat >/dev/null; echo 0123456789abcdef ;;
*) echo "$line" | /usr/bin/sha256sum ;;
esac
"""
DPKG = Path("/var/lib/dpkg")
# Belongs to no package, and packages' scripts change it in place.
REGISTRY = "usr/share/registry"
CONTROL = """\
Package: {name}
Version: 1
Architecture: all
Maintainer: gidway <gidway@localhost>
Description: says hello
"""


def essential() -> set[str]:
    """The packages that apt needs to work, and theirs."""
    fields = "${Package}\t${Essential}\t${Pre-Depends}, ${Depends}\t${Provides}\n"
    query = ["dpkg-query", "--show", f"--showformat={fields}"]
    said = subprocess.run(query, check=True, capture_output=True, text=True).stdout
    needs: dict[str, list[str]] = {}
    real: dict[str, str] = {}  # the package, of its name and of what it stands for
    todo = ["apt"]
    for line in said.splitlines():
        name, is_essential, depends, provides = line.split("\t")
        needs[name] = re.findall(NAME_OF, depends)
        real |= {name: name} | {other: name for other in re.findall(NAME_OF, provides)}
        todo += [name] if is_essential == "yes" else []
    wanted = set()
    while todo:
        if (name := real.get(todo.pop())) is not None and name not in wanted:
            wanted.add(name)
            todo += needs[name]
    return wanted


def copy_packages(root: Path, names: set[str]) -> None:
    query = ["dpkg-query", "--listfiles", *names]
    listed = subprocess.run(query, check=True, capture_output=True, text=True).stdout
    wanted = [path for path in listed.splitlines() if path.startswith(("/usr/", "/etc/"))]
    wanted = [path for path in wanted if "/share/doc" not in path and Path(path).exists()]
    pack = subprocess.Popen(
        ["tar", "--create", "--no-recursion", "--files-from=-", "--ignore-failed-read"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with subprocess.Popen(["tar", "--extract", "-C", root], stdin=pack.stdout) as unpack:
        pack.stdin.write("\n".join(wanted).encode())
        pack.stdin.close()
    assert unpack.returncode == 0
    status = DPKG.joinpath("status").read_text().split("\n\n")
    kept = [one for one in status if one.partition("\n")[0].removeprefix("Package: ") in names]
    (root / "var/lib/dpkg/status").write_text("\n\n".join(kept) + "\n\n")
    for path in DPKG.glob("info/*"):
        if re.split(r"[:.](?=[^:.]*$|amd64|all)", path.name)[0] in names or path.stem == "format":
            shutil.copy(path, root / "var/lib/dpkg/info")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\n")


def make_package(folder: Path, name: str) -> None:
    made = folder / name
    (made / "DEBIAN").mkdir(parents=True)
    (made / "DEBIAN/control").write_text(CONTROL.format(name=name))
    scripts = {
        "DEBIAN/postinst": f"echo {name} >>/{REGISTRY}",
        f"usr/bin/{name}": f"cat /{REGISTRY}",
    }
    for path, text in scripts.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(f"#!/bin/sh\n{text}\n")
        (made / path).chmod(0o755)
    command = ["dpkg-deb", "--root-owner-group", "--build", made, folder]
    subprocess.run(["chmod", "-R", "go=rX", folder], check=True)  # whatever the umask
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("debian")
    folders = "boot dev proc sys tmp run var/log"
    folders += " var/lib/dpkg/info var/lib/apt/lists var/cache/apt/archives"
    for name in folders.split():
        (root / name).mkdir(parents=True)
    copy_packages(root, essential())
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    archive = root / "archive"
    for name in ("hello-one", "hello-two"):
        make_package(archive, name)
    listed = subprocess.run(
        ["dpkg-scanpackages", "."], cwd=archive, check=True, capture_output=True, text=True
    )
    (archive / "Packages").write_text(listed.stdout)
    (root / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/archive ./\n")
    for path in (root / "etc/apt/sources.list.d").glob("*"):
        path.unlink()
    (root / REGISTRY).write_text("base\n")
    (root / "etc/ssl/certs").mkdir(parents=True)
    for path in ("etc/ssl/certs/ca-certificates.crt", "etc/resolv.conf"):
        (root / path).touch()
    return root


@pytest.fixture
def machine(tmp_path: Path, debian: Path) -> Machine:
    """One whose root is there."""
    machine = Machine(tmp_path)
    machine.mounts.clear()  # it has what makes roots
    machine.add("sha256sum", HASH)
    cache = tmp_path / "cache" / "gidway"
    cache.mkdir()
    subprocess.run(["cp", "-al", debian, cache / NAME], check=True)
    return machine


def roots(machine: Machine) -> list[Path]:
    cache = machine.folder / "cache/gidway"
    return [path for path in cache.glob("root-*-with-*") if path.is_dir()]


def test_once_for_each_set(machine: Machine, debian: Path) -> None:
    words = ("--shell", "--with", "hello-one", "hello-one")
    first = machine.run(*words, user=ROOT)
    assert (first.returncode, first.stdout) == (0, "base\nhello-one\n"), first.stderr
    assert "Adding to the environment: hello-one" in first.stderr
    again = machine.run(*words, user=ROOT)
    assert (again.returncode, again.stdout, again.stderr) == (0, first.stdout, "")
    (larger,) = roots(machine)

    both = machine.run("--shell", "--with", "hello-two,hello-one", "hello-two", user=ROOT)
    assert sorted(both.stdout.split()) == ["base", "hello-one", "hello-two"], both.stderr
    words = ("--with", "hello-one", "--with", "hello-two", "hello-one")
    other = machine.run("--shell", *words, user=ROOT)
    assert (other.stdout, other.stderr) == (both.stdout, "")
    assert len(roots(machine)) == 2

    # The one that it was made from is as it was, and takes no second place.
    assert (debian / REGISTRY).read_text() == "base\n"
    assert not (debian / "usr/bin/hello-one").exists()
    assert "hello-one" not in (debian / "var/lib/dpkg/status").read_text()
    assert (larger / "usr/bin/dpkg").stat().st_ino == (debian / "usr/bin/dpkg").stat().st_ino
    plain = machine.run("--shell", "sh", "-c", "command -v hello-one || echo none", user=ROOT)
    assert plain.stdout == "none\n"


def test_what_debian_has_not(machine: Machine) -> None:
    result = machine.run("--shell", "--with", "hello-one nosuch", "true", user=ROOT)
    assert result.returncode == 1
    assert "run: Debian forky has no package nosuch (the whole log is " in result.stderr
    assert [path.suffix for path in roots(machine)] == [".partial"]
    result = machine.run("--shell", "--with", "hello-two", "hello-two", user=ROOT)
    assert result.stdout == "base\nhello-two\n", result.stderr
    assert [path.suffix for path in roots(machine)] == [""]  # what was left is gone


@pytest.mark.parametrize("word", ["-y", "./x.deb", "hello one;true", "Hello", "/x", ""])
def test_other_words_than_names_do_not_come_to_apt(machine: Machine, word: str) -> None:
    result = machine.run("--shell", "--with", word, "true", user=ROOT)
    assert result.returncode == 1
    assert "run: --with: " in result.stderr
    assert roots(machine) == []
