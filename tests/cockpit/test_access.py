# SPDX-License-Identifier: MIT
"""Domains of other users: each gets at what is its own, and at nothing of another's."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from gid_cockpit import machine
from gid_cockpit.access import READ, WRITE, identity, let_in, user_of
from gid_cockpit.configuration import CockpitError, Configuration, Domain
from gid_cockpit.daemon import Daemon
from gid_cockpit.machine import Guest
from gid_cockpit.process import program
from gid_cockpit.reload import Here
from gid_vm.folder import memory_folder
from lib.program import PATIENCE, is_alive, wait_for
from test_cockpit import TWO_DOMAINS, Tool, tool  # noqa: F401

from lab.domains.configuration import configuration

pytestmark = pytest.mark.needs_root


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="gid-", dir=memory_folder()))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


def may(user: str, path: Path) -> str:
    """What the user may do with the file, by trying."""
    script = 'test -r "$1" && printf r; test -w "$1" && printf w; true'
    return subprocess.run(
        ["sh", "-c", script, "sh", str(path)],
        capture_output=True,
        text=True,
        **identity(pwd.getpwnam(user)),
    ).stdout


def test_each_guests_user_has_its_own_windows(folder: Path) -> None:
    mine, shared, others = (folder / name for name in ("mine", "shared", "others"))
    for path in (mine, shared, others):
        path.touch(0o600)
    nobody, daemon = (pwd.getpwnam(name).pw_uid for name in ("nobody", "daemon"))
    let_in(mine, {nobody: READ | WRITE})
    let_in(shared, {nobody: READ, daemon: READ | WRITE})
    let_in(others, {daemon: READ | WRITE})
    assert [may("nobody", path) for path in (mine, shared, others)] == ["rw", "r", ""]
    assert [may("daemon", path) for path in (mine, shared, others)] == ["", "rw", "rw"]
    let_in(shared, {})  # whoever is no longer named is out
    assert [may(user, shared) for user in ("nobody", "daemon")] == ["", ""]


def test_who_runs_a_domain() -> None:
    assert user_of(Domain("open", 1, None, frozenset())) is None
    assert user_of(Domain("open", 1, "root", frozenset())) is None  # we are
    assert user_of(Domain("open", 1, "nobody", frozenset())).pw_name == "nobody"
    with pytest.raises(CockpitError, match="no-such-user"):
        user_of(Domain("open", 1, "no-such-user", frozenset()))


USERS = {"open": "nobody", "cluster": "daemon"}


@pytest.fixture
def others(tool: Tool) -> Tool:  # noqa: F811
    """`open` is of the user nobody, `cluster` of root."""
    tool.folder.chmod(0o755)
    tool.write(TWO_DOMAINS.replace("local=*\n", "local=*\nuser=nobody\n"))
    return tool


def test_no_link_has_another_domain_ended(others: Tool) -> None:
    """A domain's user may do in its own folder what it likes."""
    assert others.run("up").returncode == 0
    pids = {name: domain["pid"] for name, domain in others.status().items()}
    own = others.runtime / "open" / "gidd.sock"
    own.unlink()
    own.symlink_to(others.runtime / "cluster" / "gidd.sock")
    result = others.run("down", "open")
    os.kill(pids["open"], signal.SIGKILL)
    own.unlink()
    assert (result.returncode, is_alive(pids["cluster"])) == (1, True)
    assert f"process {pids['cluster']}" in result.stderr


def chown(path: Path, user: str) -> None:
    entry = pwd.getpwnam(user)
    os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


@pytest.mark.parametrize("how", ["its own", "above", "link", "open"])
def test_a_place_that_others_can_change_is_refused(tool: Tool, how: str) -> None:  # noqa: F811
    """Root would make folders there and give them away: wherever a link leads."""
    above = tool.folder / "above"
    above.mkdir()
    tool.runtime = above / "run"
    tool.write(TWO_DOMAINS)
    if how == "link":
        (tool.folder / "real").mkdir()
        tool.runtime.symlink_to(tool.folder / "real")
        chown(tool.runtime, "nobody")
    else:
        tool.runtime.mkdir()
        chown({"above": above}.get(how, tool.runtime), "root" if how == "open" else "nobody")
        tool.runtime.chmod(0o777 if how == "open" else 0o755)
    result = tool.run("up")
    assert (result.returncode, list(tool.runtime.iterdir())) == (1, [])
    assert (
        f"others than root may change {above if how == 'above' else tool.runtime}" in result.stderr
    )


def test_a_link_in_place_of_a_folder_is_not_given_away(others: Tool) -> None:
    """One that lies there from before, when the place was another's."""
    victim = others.folder / "victim"
    victim.mkdir()
    others.runtime.mkdir()
    (others.runtime / "open").symlink_to(victim)
    result = others.run("up", "open")
    assert (result.returncode, victim.stat().st_uid) == (1, 0)
    assert "must be a folder" in result.stderr
    assert list(victim.iterdir()) == []


def test_nor_to_a_file_of_anothers(folder: Path) -> None:
    """A hard link to root's file in a folder of a user's."""
    victim = folder / "victim"
    victim.touch(0o600)
    (folder / "open").mkdir()
    (folder / "open" / "1.2").hardlink_to(victim)
    chown(folder / "open", "nobody")
    with pytest.raises(CockpitError, match="no file of the owner"):
        let_in(folder / "open" / "1.2", {pwd.getpwnam("nobody").pw_uid: READ | WRITE})
    assert may("nobody", victim) == ""


def test_a_lying_gidd_has_no_other_read_again(others: Tool) -> None:
    """It says which process it is: one that is another user's gets no signal."""
    configuration = Configuration(others.config, others.runtime, ())
    daemon = Daemon(configuration, Domain("open", 1, "nobody", frozenset()))
    daemon.folder.mkdir(parents=True)
    chown(daemon.folder, "nobody")
    script = Path(others.folder, "gidd")
    script.write_text("#!/bin/sh\nread -r line\n")
    script.chmod(0o755)
    with subprocess.Popen(["./gidd"], cwd=others.folder, stdin=subprocess.PIPE) as victim:
        wait_for(lambda: program(victim.pid) == "gidd", "its name")
        with pytest.raises(CockpitError, match=f"process {victim.pid}"):
            Here(daemon).hang_up(victim.pid)
        assert victim.poll() is None
        victim.kill()


def test_gidctl_only_asks(others: Tool) -> None:
    """Where a domain's user has put a link to what never answers in its socket's place."""
    (others.runtime / "open").mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent:
        silent.bind(str(others.folder / "victim"))
        silent.listen()
        for name in ("gidd.sock", "cluster.sock"):
            (others.runtime / "open" / name).symlink_to(others.folder / "victim")
        before = others.folder.joinpath("victim").lstat()
        result = subprocess.run(
            ["gidctl", "--domain", "open", "status"],
            env=others.env | {"GID_RUNTIME_DIR": str(others.runtime)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    assert result.returncode != 0 and "open" in result.stderr
    assert others.folder.joinpath("victim").lstat() == before


LISTENER = (
    "import socket, sys, time; s = socket.socket(socket.AF_UNIX); "
    "s.bind(sys.argv[1]); s.listen(); time.sleep(600)"
)


@contextmanager
def listening(place: Path, user: str = "root") -> Iterator[subprocess.Popen]:
    words = [sys.executable, "-c", LISTENER, str(place)]
    with subprocess.Popen(words, **identity(pwd.getpwnam(user))) as process:
        try:
            wait_for(place.exists, "it to listen")
            yield process
        finally:
            process.kill()


@pytest.fixture
def guest(folder: Path) -> Guest:
    """One whose user is nobody, who owns its folder."""
    nobody = pwd.getpwnam("nobody")
    domain = Domain("open", 1, "nobody", frozenset(), kind="guest")
    guest = Guest(Configuration(folder / "conf", folder, (domain,)), domain)
    guest.folder.mkdir()
    shutil.chown(guest.folder, nobody.pw_uid, nobody.pw_gid)
    return guest


def test_nor_any_other_process(folder: Path, guest: Guest) -> None:
    """QEMU's name is not known, so it could be any that listens."""
    with listening(folder / "victim") as victim:
        guest.monitor.symlink_to(folder / "victim")
        for use in (guest.stop, lambda: guest.run(["true"], Path("/"))):
            with pytest.raises(CockpitError, match=f"process {victim.pid}"):
                use()
        assert victim.poll() is None


def test_nor_another_guest_powered_off(
    folder: Path, guest: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "POWER_OFF_SECONDS", 0.5)
    with socket.socket(socket.AF_UNIX) as other, listening(guest.monitor, "nobody") as qemu:
        other.bind(str(folder / "other"))
        other.listen()
        other.settimeout(PATIENCE)
        (guest.folder / "agent.sock").symlink_to(folder / "other")
        assert guest.stop()
        assert qemu.wait(PATIENCE) == -signal.SIGTERM
        said, _ = other.accept()
        said.settimeout(PATIENCE)
        assert said.recv(100) == b""


CONNECT = """
import socket, sys
with socket.socket(socket.AF_UNIX, int(sys.argv[2])) as gidd:
    gidd.connect(sys.argv[1])
"""


def who_may_connect(path: Path, kind: socket.SocketKind) -> list[str]:
    words = [sys.executable, "-c", CONNECT, str(path), str(int(kind))]
    tried = {
        user: subprocess.run(words, capture_output=True, text=True, **identity(pwd.getpwnam(user)))
        for user in ("daemon", "nobody", "sys")
    }
    assert {result.stderr.splitlines()[-1] for result in tried.values() if result.returncode} == {
        "PermissionError: [Errno 13] Permission denied"
    }
    return [user for user, result in tried.items() if result.returncode == 0]


def test_two_domains_of_two_users(others: Tool) -> None:
    """Neither may give its socket away; all the same the other one comes in, and nobody else."""
    text = others.config.read_text()
    others.config.write_text(text.replace("number=2 ", "number=2\nuser=daemon\n;"))
    result = others.run("up")
    assert (result.returncode, result.stderr) == (0, "")
    status = others.status()
    owners = {name: Path(f"/proc/{one['pid']}").stat().st_uid for name, one in status.items()}
    assert owners == {name: pwd.getpwnam(user).pw_uid for name, user in USERS.items()}
    assert [link["state"] for one in status.values() for link in one["links"]] == ["up", "up"]
    path = others.runtime / "open" / "link" / "cluster.sock"
    assert who_may_connect(path, socket.SOCK_SEQPACKET) == ["daemon", "nobody"]


def test_a_group_that_the_domains_user_is_not_in(others: Tool) -> None:
    others.config.write_text(
        others.config.read_text() + "\n[domain hud]\nnumber=3\nuser=nobody\ngroup=sys\n"
    )
    result = others.run("up", "hud")
    assert (result.returncode, result.stderr) == (0, "")
    path = others.runtime / "hud" / "gidd.sock"
    assert who_may_connect(path, socket.SOCK_SEQPACKET) == ["nobody", "sys"]


def test_temporary_files_that_are_roots_alone(others: Tool) -> None:
    """As pam_tmpdir has them: another user's gidd still says that it is ready."""
    own = others.folder / "own"
    own.mkdir(mode=0o700)
    others.env["TMPDIR"] = str(own)
    result = others.run("up")
    assert (result.returncode, result.stderr) == (0, "")


HUB = configuration(
    {"host": "kind=host window=1M user=daemon", "open": "kind=guest window=1M user=nobody"},
    {"open host": "movie"},
    runtime="{runtime}",
)


def test_a_guest_of_another_user_than_the_hubs(others: Tool) -> None:
    others.write(HUB)
    result = others.run("up", "host")
    assert (result.returncode, result.stderr) == (0, "")
    for folder in ("hub", "bell"):
        path = others.runtime / folder / "open.sock"
        assert who_may_connect(path, socket.SOCK_STREAM) == ["daemon", "nobody"]


@pytest.mark.parametrize("umask", [0o027, 0o077])
def test_whatever_the_umask(others: Tool, umask: int) -> None:
    """Of roots that are careful: a domain's user still gets to its folder, its programs as well."""
    before = os.umask(umask)
    try:
        result = others.run("up")
    finally:
        os.umask(before)
    assert (result.returncode, result.stderr) == (0, "")
    folders = [others.runtime, *(others.runtime / name for name in ("open", "cluster"))]
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o755] * 3
