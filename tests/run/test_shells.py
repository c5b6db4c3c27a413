# SPDX-License-Identifier: MIT
"""Several `./run shell` of one clone: what runs in one of them works together with what runs in
another, for an ordinary user as well, whose shells are made of user namespaces.
"""

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from lib.program import BUILD, PATIENCE, TOP, Program, wait_for
from machine import SETUP, Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.make_root()
    return machine


class Shell(Program):
    """One in which a program waits; `inner` is that program's number."""

    def __init__(self, machine: Machine, name: str) -> None:
        told = machine.folder / f"{name}-is"
        script = 'echo $$ >"$0.part"; mv "$0.part" "$0"; exec sleep 600'
        command = [SETUP, "--shell", "sh", "-c", script, told]
        super().__init__(command, machine.env_here(), machine.folder, name)
        wait_for(told.exists, "the shell")
        self.inner = int(told.read_text())


def program_of(machine: Machine, pid: int) -> str:
    """Of a process, as seen from one more shell."""
    return machine.run_here("--shell", "readlink", f"/proc/{pid}/exe").stdout.strip()


def test_each_tells_what_the_others_run(machine: Machine) -> None:
    first = Shell(machine, "first")
    second = Shell(machine, "second")
    assert program_of(machine, first.inner) == "/usr/bin/sleep"
    first.kill()  # whoever was first: the others are still together
    third = Shell(machine, "third")
    assert program_of(machine, second.inner) == "/usr/bin/sleep"
    second.kill()
    assert program_of(machine, third.inner) == "/usr/bin/sleep"
    third.kill()
    last = Shell(machine, "last")  # after the end of all
    assert program_of(machine, last.inner) == "/usr/bin/sleep"


def test_where_a_login_has_no_folder_for_sockets(tmp_path: Path) -> None:
    """As after `su`: shells that need no root have one in common; other commands their own."""
    machine = Machine(tmp_path)
    machine.hide("dpkg-query")
    (machine.first / "dpkg-query").symlink_to("/usr/bin/dpkg-query")  # all is installed here
    script = 'echo "$XDG_RUNTIME_DIR"; stat -c %a "$XDG_RUNTIME_DIR"'
    first, second = (machine.run_here("--shell", "sh", "-c", script) for _ in range(2))
    folder, mode = first.stdout.splitlines()
    assert (second.stdout, mode) == (first.stdout, "700")
    assert Path(folder).is_relative_to(machine.folder / "cache") and Path(folder).is_dir()
    alone = machine.run_here("sh", "-c", script).stdout.splitlines()[0]
    assert alone != folder and not Path(alone).exists()


def test_many_that_begin_at_once(machine: Machine) -> None:
    go = machine.folder / "go"
    script = 'readlink /proc/self/ns/user; until test -e "$0"; do sleep 0.1; done'
    command = [SETUP, "--shell", "sh", "-c", script, go]
    shells = [Program(command, machine.env_here(), machine.folder) for _ in range(6)]
    for shell in shells:
        shell.wait_output("user:")
    go.touch()
    assert [shell.wait() for shell in shells] == [0] * 6
    assert len({shell.stdout for shell in shells}) == 1


def test_a_namespace_that_has_the_number_of_an_old_one_is_not_theirs(machine: Machine) -> None:
    Shell(machine, "first").kill()
    (record,) = (machine.folder / "cache" / "gidway" / "run").glob("*.namespace")
    command = ["unshare", "--user", "sh", "-c", "readlink /proc/self/ns/user; exec sleep 600"]
    stranger = Program(command, log_dir=machine.folder)
    stranger.wait_output("user:")
    record.write_text(stranger.stdout)
    result = machine.run_here("--shell", "readlink", "/proc/self/ns/user")
    assert result.returncode == 0
    assert result.stdout != stranger.stdout


def typed(machine: Machine, words: str, **env: str) -> str:
    """What a terminal shows of a shell in which these are typed."""
    ours, theirs = pty.openpty()
    command = [SETUP, "--shell", "bash", "--rcfile", TOP / "scripts" / "shell.rc"]
    ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    process = subprocess.Popen(
        command, env=machine.env_here() | env, start_new_session=True, **ends
    )
    os.close(theirs)
    os.write(ours, words.encode())
    shown = b""
    try:
        while more := os.read(ours, 4096):
            shown += more
    except OSError:  # how a terminal tells that nobody is left
        pass
    os.close(ours)
    assert process.wait(PATIENCE) == 0
    return shown.decode().replace("\r\n", "\n")


def test_a_shell_says_what_it_is_and_which_domain(machine: Machine) -> None:
    shown = typed(machine, "GID_DOMAIN=open\nexit\n")
    outside = machine.folder / "cache" / "gidway" / "run"
    assert f"Its /run is that of all shells of this clone; outside it is {outside}/" in shown
    assert "./run shell --with PACKAGE…" in shown
    assert "[gidway] " in shown and "[gidway open] " in shown
    silent = machine.run_here("--shell", "true")
    assert (silent.stdout, silent.stderr) == ("", "")


def test_a_shell_completes_words_and_has_the_manuals(machine: Machine) -> None:
    """As where gidway is installed."""
    words = "gid-cockpit lo\t\nman 5 gidway.conf | head -n 1\nexit\n"
    shown = typed(machine, words, GIDWAY_BUILD=str(BUILD))
    assert "gid-cockpit logs " in shown
    assert re.search(r"gidway\.conf\(5\) .* gidway\.conf\(5\)$", shown, re.M)
