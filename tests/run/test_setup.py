# SPDX-License-Identifier: MIT
"""What `./run` asks for and says before it makes an environment: as an ordinary user whose machine
has nothing yet.
"""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from lib.program import PATIENCE, TOP, Program, wait_for
from machine import ROOT, SETUP, Machine

KEYS = Path("/usr/share/keyrings")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_all_that_is_missing_is_asked_for_at_once(machine: Machine) -> None:
    machine.hide("bwrap")
    machine.hide("newuidmap")
    machine.mounts += ["--tmpfs", str(KEYS)]
    result = machine.run("true")
    assert result.returncode == 1
    names = "bubblewrap debootstrap debian-archive-keyring uidmap"
    command = f"apt-get install --no-install-recommends {names}"
    assert result.stderr == (
        f"run: gidway needs {names} to make its Debian forky root. Please run:\n"
        f"  sudo apt-get update && sudo {command}\n"
        f"or as root:\n  apt-get update && {command}\n"
    )


def test_apt_without_lists_may_have_all(machine: Machine) -> None:
    """As in a new image of a cloud or a container: who brings the lists has no root made."""
    machine.release("forky")
    result = machine.run("true")
    assert result.returncode == 1
    assert "Please run:\n  sudo apt-get update && sudo apt-get satisfy " in result.stderr
    assert "or as root:\n  apt-get update && apt-get satisfy " in result.stderr


def test_what_is_to_be_run_for_all_packages_fits_on_a_screen(machine: Machine) -> None:
    """And names each of them, as apt understands it. There are more than a hundred."""
    machine.release("forky")
    said = machine.run("true").stderr
    assert len(said.splitlines()) < 10 and len(said) < 1000
    command = said.partition("sudo apt-get update && sudo ")[2].partition("or as root")[0]
    machine.add("apt-get", 'test $# = 3 && echo "$3"')
    env = os.environ | {"PATH": f"{machine.first}:{os.environ['PATH']}"}
    result = subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True)
    named = [names.strip() for names in result.stdout.split(",")]
    lines = (line.partition("#")[0].strip() for line in (TOP / "packages.txt").open())
    assert named == [names for names in lines if names]


def test_debootstrap_is_found_where_an_ordinary_user_does_not_look(machine: Machine) -> None:
    machine.hide("bwrap")
    machine.add("debootstrap", "exit 1", machine.sbin)
    machine.add("newuidmap", "exit 1")
    result = machine.run("true")
    assert result.returncode == 1
    assert "install --no-install-recommends bubblewrap\n" in result.stderr
    assert "debootstrap" not in result.stderr


def test_a_system_that_has_all_is_asked_for_more(machine: Machine) -> None:
    """There --with makes no root of its own."""
    machine.hide("dpkg-query")
    (machine.first / "dpkg-query").symlink_to("/usr/bin/dpkg-query")
    result = machine.run("--shell", "--with", "bash nosuch", "true", suite="")
    assert (result.returncode, result.stdout) == (1, "")
    command = "apt-get install --no-install-recommends nosuch"
    assert "gidway needs nosuch for --with. Please run:\n" in result.stderr
    assert f"\n  sudo apt-get update && sudo {command}\n" in result.stderr
    result = machine.run("--shell", "--with", "bash", "echo", "there", suite="")
    assert (result.stdout, result.stderr) == ("there\n", "")


def test_a_full_disk_is_told_before_anything_is_fetched(machine: Machine) -> None:
    machine.add("debootstrap", "exit 1")
    machine.add("df", "echo ' Avail'; echo '  1234'")
    result = machine.run("true", user=ROOT)
    assert result.returncode == 1
    assert f"4.2 GB in {machine.folder}/cache/gidway, where 1234 MB are free" in result.stderr
    assert "XDG_CACHE_HOME" in result.stderr


@pytest.mark.skipif(
    not os.environ.get("GIDWAY_INSIDE", "").startswith("root-"), reason="the system is its own"
)
def test_what_it_asks_for_is_what_it_takes() -> None:
    """The root, and the packages that it is made from: these were 837 MB, for 3,083 MB of root."""
    asked = re.search(r"make_root (\d+) .Preparing", SETUP.read_text())[1]
    du = ["du", "--summarize", "--block-size=1M", "--one-file-system", "/usr"]
    done = subprocess.run(du, capture_output=True, text=True)
    assert int(done.stdout.split()[0]) * 1.27 < int(asked)
    written = (TOP / "docs/troubleshooting.md").read_text()
    assert f"needs {int(asked) / 1000:.1f} GB in `~/.cache`" in written


@pytest.mark.parametrize("said", ["", "cache"])
def test_without_HOME_it_is_where_the_users_home_is(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """As for a service, which has no such variable. A cache that is relative counts for nothing."""
    home = machine.folder / "home"
    passwd = machine.folder / "passwd"
    passwd.write_text(f"one:x:{ROOT}:{ROOT}::{home}:/bin/sh\n")
    machine.mounts += ["--bind", str(passwd), "/etc/passwd"]
    machine.env = {"XDG_CACHE_HOME": said}
    machine.add("debootstrap", "exit 1")
    machine.add("df", "echo Avail; echo 1234")
    monkeypatch.delenv("HOME", raising=False)
    result = machine.run("true", user=ROOT)
    assert f"4.2 GB in {home}/.cache/gidway, where 1234 MB are free" in result.stderr


def with_users(machine: Machine, subuid: str) -> None:
    """Some of the machine's, and who has which numbers for user namespaces."""
    for name, text in (("passwd", "one:x:1001:1001::/:/bin/sh\n"), ("subuid", subuid)):
        (machine.folder / name).write_text(text)
        machine.mounts += ["--bind", str(machine.folder / name), f"/etc/{name}"]
    machine.mounts += ["--bind", str(machine.folder / "subuid"), "/etc/subgid"]
    machine.add("debootstrap", "exit 1")
    machine.add("newuidmap", "exit 1")
    machine.add("df", "echo Avail; echo 1234")


def test_a_user_without_numbers_gets_those_that_nobody_has(machine: Machine) -> None:
    with_users(machine, "two:100000:65536\nthree:300000:65536\n")
    result = machine.run("true", user=1001)
    assert result.stderr == (
        "run: one has no numbers for user namespaces, please run as root:\n"
        "  usermod --add-subuids 365536-431071 --add-subgids 365536-431071 one\n"
    )


@pytest.mark.parametrize("who", ["one", "1001"])
def test_a_user_with_numbers_goes_on(machine: Machine, who: str) -> None:
    with_users(machine, f"{who}:100000:65536\n")
    assert "where 1234 MB are free" in machine.run("true", user=1001).stderr


def test_a_user_without_a_name_is_told_once(machine: Machine) -> None:
    with_users(machine, "one:100000:65536\n")
    result = machine.run("true", user=4321)
    assert result.stderr.startswith("run: user 4321 has no name on this system, ")
    assert (result.stderr.count("4321"), "usermod" in result.stderr) == (1, False)


def test_a_folder_that_cannot_be_made_is_told_with_what_to_do(machine: Machine) -> None:
    machine.env = {"XDG_CACHE_HOME": "/proc/cache"}
    result = machine.run("true", user=ROOT)
    assert result.returncode == 1
    assert "/proc/cache" in result.stderr
    assert "run: name a folder for the environment by XDG_CACHE_HOME\n" in result.stderr


def test_an_archive_that_cannot_be_reached_is_asked_about(machine: Machine) -> None:
    machine.add("debootstrap", "exit 1")
    machine.add("df", "echo Avail; echo 99999")
    machine.add("setpriv", "echo 'E: Failed getting release file http://a/b' >&2; exit 1")
    result = machine.run("true", user=ROOT)
    assert result.returncode == 1
    assert "does this machine reach " in result.stderr
    assert "setup-forky.log" in result.stderr


def test_a_shell_has_the_desktops_display(machine: Machine) -> None:
    """Its socket lies in /run, which the shell has of its own."""
    machine.make_root()
    desktop = machine.folder / "desktop"
    desktop.mkdir()
    (desktop / "auth").write_text("cookie")
    machine.env = {"XDG_RUNTIME_DIR": str(desktop), "WAYLAND_DISPLAY": "wayland-7"}
    machine.env |= {"DISPLAY": ":0", "XAUTHORITY": str(desktop / "auth")}
    script = 'if test -S "$WAYLAND_DISPLAY"; then echo "$WAYLAND_DISPLAY"; cat "$XAUTHORITY"; fi'
    with socket.socket(socket.AF_UNIX) as listener:
        folder = os.open(desktop, os.O_RDONLY)  # for its path may be too long
        listener.bind(f"/proc/self/fd/{folder}/wayland-7")
        os.close(folder)
        for option in ("--shell", "--display"):
            result = machine.run_here(option, "sh", "-c", script)
            assert result.stdout == "/run/desktop/wayland\ncookie"
        assert machine.run_here("sh", "-c", script).stdout == ""  # every other command is alone


@pytest.mark.parametrize("place", ["root", "system"])
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
@pytest.mark.parametrize("is_for_all", [False, True])
def test_a_command_that_is_ended_tidies_up(
    machine: Machine, place: str, number: signal.Signals, is_for_all: bool
) -> None:
    """As by `timeout`, or by a terminal that is closed: those tell the whole group."""
    if place == "root":
        machine.make_root()
    else:
        machine.hide("dpkg-query")
        (machine.first / "dpkg-query").symlink_to("/usr/bin/dpkg-query")  # all is installed here
    begun, tidied = machine.folder / "begun", machine.folder / "tidied"
    script = f"trap 'sleep 0.3; echo >>{tidied}; exit 7' {number.name[3:]}; touch {begun}; "
    script += "while :; do sleep 0.05; done"
    command = [str(SETUP), "sh", "-c", script]
    process = subprocess.Popen(command, env=machine.env_here(), start_new_session=True)
    try:
        wait_for(begun.exists, "the command")
        (os.killpg if is_for_all else os.kill)(process.pid, number)
        assert process.wait(PATIENCE) == 7
        assert tidied.exists()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("place", ["root", "system"])
def test_after_nohup_the_end_of_a_terminal_ends_nothing(machine: Machine, place: str) -> None:
    if place == "root":
        machine.make_root()
    else:
        machine.hide("dpkg-query")
        (machine.first / "dpkg-query").symlink_to("/usr/bin/dpkg-query")
    begun, go = machine.folder / "begun", machine.folder / "go"
    script = f"touch {begun}; until [ -e {go} ]; do sleep 0.05; done; exit 7"
    command = ["nohup", str(SETUP), "sh", "-c", script]
    process = subprocess.Popen(command, env=machine.env_here(), start_new_session=True)
    try:
        wait_for(begun.exists, "the command")
        os.killpg(process.pid, signal.SIGHUP)
        go.touch()
        assert process.wait(PATIENCE) == 7
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_a_command_has_its_input(machine: Machine) -> None:
    machine.make_root()
    command = [str(SETUP), "cat"]
    result = subprocess.run(command, input=b"word", env=machine.env_here(), capture_output=True)
    assert (result.stdout, result.stderr) == (b"word", b"")


def ccache_of(machine: Machine, **chosen: str) -> list[str]:
    """Where what is compiled is kept, how much of it, and whether nothing is."""
    machine.make_root()
    names = ("CCACHE_DIR", "CCACHE_MAXSIZE", "CCACHE_DISABLE")
    machine.env |= dict.fromkeys(names, "") | chosen
    script = 'printf "%s\\n" "$CCACHE_DIR" "$CCACHE_MAXSIZE" "$CCACHE_DISABLE"'
    return machine.run_here("sh", "-c", script).stdout.splitlines()


def test_what_is_compiled_is_kept_in_the_cache_and_has_a_bound(machine: Machine) -> None:
    folder = machine.folder / "cache" / "gidway" / "ccache"
    assert ccache_of(machine) == [str(folder), "1G", ""]
    assert folder.is_dir()


def test_a_place_that_the_user_chose_keeps_its_size(machine: Machine) -> None:
    assert ccache_of(machine, CCACHE_DIR=str(machine.folder)) == [str(machine.folder), "", ""]


def test_nothing_is_kept_where_nobody_can_write(machine: Machine) -> None:
    """ccache itself would fail there."""
    assert ccache_of(machine, CCACHE_DIR="/proc/nowhere") == ["/proc/nowhere", "", "1"]


def hits(folder: Path) -> int:
    command = ["ccache", "--print-stats"]
    env = os.environ | {"CCACHE_DIR": str(folder)}
    told = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    return int(re.search(r"(?m)^direct_cache_hit\t(\d+)", told)[1])


def test_a_second_build_compiles_nothing_anew(tmp_path: Path) -> None:
    """But for packages: those who made them say so."""
    top, cache = tmp_path / "sample", tmp_path / "ccache"
    make_sample(top, "executable('hello', 'hello.c')\n")
    for more, expected in ({}, 0), ({}, 1), ({"CCACHE_DISABLE": "1"}, 1):
        build_sample(top, CCACHE_DIR=str(cache), CCACHE_DEPEND="1", **more)
        assert hits(cache) == expected
        shutil.rmtree(top / "build")


def make_sample(top: Path, meson: str) -> None:
    """A project of one program that scripts/build builds."""
    (top / "scripts").mkdir(parents=True)
    for name in ("run", "scripts/build", "scripts/say.sh"):
        shutil.copy(TOP / name, top / name)
    (top / "hello.c").write_text("int main(void) { return 0; }\n")
    (top / "meson.build").write_text(f"project('sample', 'c')\n{meson}")


def build_sample(top: Path, **more: str) -> Callable[..., subprocess.CompletedProcess]:
    """Builds it; what runs commands in its environment."""
    env = os.environ | {"GIDWAY_BUILD": str(top / "build"), "GIDWAY_INSIDE": "system"} | more
    run = partial(subprocess.run, env=env, check=True, capture_output=True, text=True)
    run([top / "scripts" / "build"])
    return run


def test_a_run_that_waits_for_another_to_build_says_so(tmp_path: Path) -> None:
    make_sample(tmp_path, "executable('hello', 'hello.c')\n")
    build = tmp_path / "build"
    build.mkdir()
    folder = os.open(build, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    env = os.environ | {"GIDWAY_BUILD": str(build), "GIDWAY_INSIDE": "system"}
    waiting = Program([tmp_path / "scripts" / "build"], env, tmp_path)
    waiting.wait_output("Waiting for another run, which works in build\n")
    assert not (build / "build.ninja").exists()
    os.close(folder)
    assert waiting.wait() == 0
    assert (build / "hello").exists()


def test_a_copy_of_a_clone_and_its_build_uses_its_own(tmp_path: Path) -> None:
    """meson remembers where a folder was: the copy's programs were those of the first."""
    first, copy = tmp_path / "first", tmp_path / "a copy"
    make_sample(
        first,
        "executable('hello', 'hello.c')\n"
        "places = {'PATH': meson.project_build_root(), 'MORE': meson.project_build_root()}\n"
        "meson.add_devenv(places, method: 'prepend')\n",
    )

    def built(top: Path) -> str:
        words = [top / "run", "shell", "sh", "-c", 'command -v hello; echo "$MORE"']
        return build_sample(top, MORE="mine")(words).stdout

    assert built(first) == f"{first}/build/hello\n{first}/build:mine\n"
    shutil.copytree(first, copy)
    compiled = copy / "build" / "hello.p" / "hello.c.o"
    before = compiled.stat().st_mtime
    assert built(copy) == f"{copy}/build/hello\n{copy}/build:mine\n"
    assert compiled.stat().st_mtime == before, "what is compiled stays"


def test_a_build_goes_on_without_the_packages_that_it_found(tmp_path: Path) -> None:
    """After `./run shell --with libmore-dev` the next build knew no rule to make libmore.so."""
    library = tmp_path / "libmore.a"
    make_sample(
        tmp_path / "sample",
        "c = meson.get_compiler('c')\n"
        f"more = c.find_library('more', dirs: '{tmp_path}', required: false)\n"
        "executable('hello', 'hello.c', dependencies: more)\n",
    )
    subprocess.run(["ar", "rc", library], check=True)
    build_sample(tmp_path / "sample", GIDWAY_WITH="emacs-nox libmore-dev")
    settings = tmp_path / "sample" / "build" / "meson-private" / "coredata.dat"
    before = settings.stat().st_mtime_ns
    build_sample(tmp_path / "sample", GIDWAY_WITH="cmake emacs-nox libmore-dev")
    assert settings.stat().st_mtime_ns == before, "with others in addition it stays as it is"
    library.unlink()
    build_sample(tmp_path / "sample")
