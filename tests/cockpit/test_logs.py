# SPDX-License-Identifier: MIT
"""Where domains' logs go: nobody leads them elsewhere, and they stay small."""

import array
import contextlib
import fcntl
import os
import pwd
import shutil
import signal
import termios
import time
from pathlib import Path

import pytest
from gid_cockpit import logs
from gid_cockpit.configuration import CockpitError, Configuration
from gid_cockpit.logs import MOST_BYTES, Log, last_lines, log_folder
from lib.program import wait_for
from test_cockpit import TWO_DOMAINS, Tool, tool  # noqa: F401


def pending(pipe: int) -> int:
    """Bytes in it that nobody has read."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    return Configuration(tmp_path / "cockpit.conf", tmp_path / "run", ())


def test_a_log_in_memory_is_none(configuration: Configuration, tmp_path: Path) -> None:
    assert log_folder(configuration, "open") == tmp_path / "run" / "log" / "open"
    in_memory = Configuration(tmp_path, Path("/run/gidway"), ())
    assert log_folder(in_memory, "open").parts[1] != "run"


def test_each_cockpit_has_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of one user, in memory: else one's gidd would write into what the other one begins anew."""
    if os.geteuid() == 0:
        pytest.skip("root's logs are in /var/log")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    own = f"/run/user/{os.geteuid()}"
    places = ["/run/gidway", f"{own}/gidway", f"{own}/sender", f"{own}/receiver"]
    folders = [log_folder(Configuration(tmp_path, Path(place), ()), "open") for place in places]
    assert folders[0] == folders[1] == tmp_path / "gidway" / "log" / "open"
    assert len({*folders}) == 3


def test_where_the_home_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in many containers: it says what to do, and does not begin anew from each folder."""
    if os.geteuid() == 0:
        pytest.skip("root's logs are in /var/log")
    in_memory = Configuration(tmp_path, Path("/run/gidway"), ())
    monkeypatch.setenv("HOME", "/proc")
    for named in ("", "here"):
        monkeypatch.setenv("XDG_STATE_HOME", named)
        assert log_folder(in_memory, "open") == Path("/proc/.local/state/gidway/log/open")
        with pytest.raises(CockpitError, match="^/proc/.*, for logs: name .* by XDG_STATE"):
            Log(in_memory, "open", "gidd.log")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Log(in_memory, "open", "gidd.log") as log:
        assert log.path == tmp_path / "state" / "gidway" / "log" / "open" / "gidd.log"


def test_the_folders_are_ours_alone_whatever_the_umask(configuration: Configuration) -> None:
    """Debian gives users whose group is their own 002."""
    before = os.umask(0o002)
    try:
        with Log(configuration, "open", "gidd.log") as log:
            assert not log.path.parent.stat().st_mode & 0o022
            assert not log.path.parent.parent.stat().st_mode & 0o022
    finally:
        os.umask(before)


def test_it_is_there_at_once(configuration: Configuration) -> None:
    """Whoever looks for it after `up` finds it, however late its keeper is."""
    log = Log(configuration, "open", "gidd.log")
    was_there = log.path.exists()
    with log:
        os.write(log.pipe, b"before\n")
    assert was_there and log.last() == ["before"]
    with Log(configuration, "open", "gidd.log") as log:
        assert log.path.read_text() == ""  # and not the one before
        file = log.path.stat().st_ino
        os.write(log.pipe, b"hello\n")
    assert (log.last(), log.path.stat().st_ino) == (["hello"], file)
    assert log.path.with_name("gidd.log.1").read_text() == "before\n"


def test_where_no_file_can_be_made(configuration: Configuration) -> None:
    """As on a full disk: what is started goes on, and has a log when there is room."""
    folder = log_folder(configuration, "open")
    (folder / "gidd.log.1").mkdir(parents=True)
    (folder / "gidd.log").write_text("old")
    with Log(configuration, "open", "gidd.log") as log:
        assert log.path.read_text() == "old"
        (folder / "gidd.log.1").rmdir()
        os.write(log.pipe, b"hello\n")
    assert log.last() == ["hello"]


def test_however_much_is_written_it_stays_small(configuration: Configuration) -> None:
    with Log(configuration, "open", "gidd.log") as log:
        os.set_blocking(log.pipe, True)  # so that all of it comes
        line = b"x" * 1023 + b"\n"
        for _ in range(3 * MOST_BYTES // len(line)):
            os.write(log.pipe, line)
        os.write(log.pipe, b"the end\n")
    assert log.last()[-1] == "the end"
    sizes = {path.name: path.stat().st_size for path in log.path.parent.iterdir()}
    assert sizes.keys() == {"gidd.log", "gidd.log.1"}
    assert max(sizes.values()) <= MOST_BYTES


def test_it_goes_on_after_a_disk_that_was_full(configuration: Configuration) -> None:
    """As where no file can be made for a while, just when another one is begun."""
    with Log(configuration, "open", "gidd.log") as log:
        os.set_blocking(log.pipe, True)
        wait_for(log.path.exists, "the log")
        blocker = log.path.with_name("gidd.log.1")
        blocker.mkdir()  # nothing can take its place
        os.write(log.pipe, bytes(MOST_BYTES + 1))
        wait_for(lambda: log.path.stat().st_size > MOST_BYTES - 65536, "a full one")
        wait_for(lambda: pending(log.pipe) == 0, "all of it to be read")
        blocker.rmdir()
        os.write(log.pipe, b"hello\n")
    assert log.last() == ["hello"]


def test_a_user_with_many_pipes(
    configuration: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From some on, Linux makes no more of them larger."""
    monkeypatch.setattr(logs, "PIPE_BYTES", 1 << 30)  # which it does for nobody
    with Log(configuration, "open", "gidd.log") as log:
        os.write(log.pipe, b"hello\n")
    assert log.last() == ["hello"]


def test_a_writer_never_waits_for_its_log(configuration: Configuration) -> None:
    with Log(configuration, "open", "gidd.log") as log:
        log.keeper.send_signal(signal.SIGSTOP)  # as a disk that hangs
        start = time.monotonic()
        for _ in range(9999):
            with contextlib.suppress(BlockingIOError):
                os.write(log.pipe, bytes(4096))
        assert time.monotonic() - start < 30
        log.keeper.send_signal(signal.SIGCONT)
    assert log.last()


def test_a_link_is_not_followed(configuration: Configuration, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = log_folder(configuration, "open")
    folder.mkdir(parents=True)
    (folder / "gidd.log").symlink_to(victim)
    (folder / "gidd.log.1").symlink_to(victim)
    with Log(configuration, "open", "gidd.log") as log:
        os.write(log.pipe, b"hello\n")
    assert log.last() == ["hello"]
    assert victim.read_text() == "precious"
    assert not log.path.is_symlink()


def test_a_folder_that_others_write_is_refused(
    configuration: Configuration, tmp_path: Path
) -> None:
    folder = log_folder(configuration, "open")
    folder.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CockpitError, match="log"):
        Log(configuration, "open", "gidd.log")
    folder.unlink()
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(CockpitError, match="others may write"):
        Log(configuration, "open", "gidd.log")


@pytest.mark.needs_root
def test_a_domains_user_does_not_get_a_file_of_roots_overwritten(tool: Tool) -> None:  # noqa: F811
    """What it puts into its own folder before root starts its gidd again."""
    nobody = pwd.getpwnam("nobody")
    tool.folder.chmod(0o755)
    victim = tool.folder / "victim"
    victim.write_text("precious")
    folder = tool.runtime / "open"
    folder.mkdir(parents=True)
    for name in ("gidd.log", "gidd.log.1"):
        (folder / name).symlink_to(victim)
    shutil.chown(folder, nobody.pw_uid, nobody.pw_gid)
    tool.write(TWO_DOMAINS.replace("local=*\n", "local=*\nuser=nobody\n"))
    result = tool.run("up", "open")
    assert result.returncode == 0, result.stderr
    log = tool.runtime / "log" / "open" / "gidd.log"
    assert tool.run("down").returncode == 0
    # Whoever writes it has its beginning, and its end, after gidd's own.
    wait_for(lambda: log.exists() and last_lines(log), "gidd's last words")
    assert log.stat().st_uid == 0
    assert victim.read_text() == "precious"
