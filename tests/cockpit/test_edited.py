# SPDX-License-Identifier: MIT
"""gid-cockpit where the file was edited, has mistakes, or is not there yet."""

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest
from gid_cockpit.configuration import DEFAULT_CONFIG, Configuration, Domain
from gid_cockpit.logs import log_folder
from gid_cockpit.machine import GIVEN, Guest
from lib.gidwire import Connection
from lib.program import wait_for
from test_cockpit import TWO_DOMAINS, Tool, tool  # noqa: F401

MISTAKES = {
    "a key that no share has": TWO_DOMAINS.replace("streams=movie", "movies=movie"),
    "a section without its end": TWO_DOMAINS.replace("[domain open]", "[domain open"),
    "a name that is none": TWO_DOMAINS.replace("[domain open]", "[domain op en]"),
    "no number": TWO_DOMAINS.replace("number=1", "number=one"),
    "a size that is none": TWO_DOMAINS.replace("number=1", "number=1\nvm-memory=much"),
    "a key before all sections": "x=1\nno key at all\n" + TWO_DOMAINS,
    "bytes that are no text": TWO_DOMAINS.replace("[domain open]", "[domain op\udcffen]"),
}


def wait_log(tool: Tool) -> Path:  # noqa: F811
    """The log of open's gidd. A process of its own writes it, which has just begun."""
    log = tool.runtime / "log" / "open" / "gidd.log"
    wait_for(lambda: log.exists() and "serving in" in log.read_text(), "the log")
    return log


@pytest.mark.parametrize("name", MISTAKES)
def test_what_runs_can_be_ended(tool: Tool, name: str) -> None:  # noqa: F811
    assert tool.run("up").returncode == 0
    text = MISTAKES[name].format(runtime=tool.runtime)
    tool.config.write_bytes(text.encode(errors="surrogateescape"))
    refused = tool.run("check")
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"gid-cockpit: {tool.config}:")
    assert "Traceback" not in refused.stderr
    status = tool.run("status")
    assert status.stderr == refused.stderr
    for domain in ("open", "cluster"):
        (line,) = [line for line in status.stdout.splitlines() if line.startswith(f"{domain} ")]
        assert " up " in line
    wait_log(tool)
    logs = tool.run("logs", "open")
    assert logs.returncode == 0 and "serving in" in logs.stdout
    down = tool.run("down")
    assert (down.returncode, down.stderr) == (0, refused.stderr)
    assert down.stdout.count(": ended\n") == 2
    assert not list(tool.runtime.glob("*/gidd.sock"))


def test_what_runs_by_another_file_stays(tool: Tool) -> None:  # noqa: F811
    assert tool.run("up", "open").returncode == 0
    other = tool.folder / "other.conf"
    other.write_text(f"[cockpit]\nruntime={tool.runtime}\n[domain hud]\nnumber=three\n")
    words = ["gid-cockpit", "--config", str(other), "down"]
    assert subprocess.run(words, env=tool.env, capture_output=True).returncode == 0
    assert tool.status()["open"]["state"] == "up"


def test_a_byte_that_is_no_text(tool: Tool) -> None:  # noqa: F811
    tool.config.write_bytes(b"[domain \xff]\nnumber=1\n")
    for command in ("check", "up", "reload"):
        result = tool.run(command)
        assert result.returncode == 1
        assert result.stderr.startswith(f"gid-cockpit: {tool.config}:1: ")
        assert "is not a domain's name" in result.stderr and "\\xff" in result.stderr
        assert result.stderr.count("\n") <= 2


def test_a_file_whose_name_is_no_text(tool: Tool) -> None:  # noqa: F811
    path = os.fsencode(tool.folder) + b"/k\xfc.conf"
    Path(os.fsdecode(path)).write_text(tool.config.read_text())
    words = [b"gid-cockpit", b"--config", path, b"check"]
    result = subprocess.run(words, env=tool.env, capture_output=True)
    assert (result.returncode, result.stderr) == (0, b"")


def test_a_folder_of_the_path_that_is_shut(tool: Tool) -> None:  # noqa: F811
    shut = tool.folder / "shut"
    shut.mkdir(mode=0)
    tool.env["PATH"] = f"{shut}:/nowhere::{tool.env['PATH']}"
    result = tool.run("check")
    shut.chmod(0o755)  # so that it can be removed
    assert (result.returncode, result.stderr) == (0, "")


def test_a_folder_that_is_too_deep(tool: Tool) -> None:  # noqa: F811
    tool.env["GID_RUNTIME_DIR"] = f"{tool.folder}/{'d' * 100}"
    for command in ("status", "up", "down"):
        result = tool.run(command)
        said = result.stdout + result.stderr
        assert result.returncode == 1
        assert "the path of the domain's socket is too long: set GID_RUNTIME_DIR to a" in said


def test_a_guest_whose_file_cannot_be_noted(tmp_path: Path) -> None:
    """As on a full disk: it runs all the same, and nobody is told of a newer file."""
    domain = Domain("open", 1, None, frozenset(), "guest")
    path = tmp_path / "cockpit.conf"
    path.write_text("now")
    guest = Guest(Configuration(path, tmp_path / "run", (domain,)), domain)
    guest.note_given(b"then")
    assert guest.is_outdated()
    note = log_folder(guest.configuration, "open") / GIVEN
    note.unlink()
    note.symlink_to("/dev/full")
    guest.note_given(b"now")
    assert not note.is_symlink() and not guest.is_outdated()


# --- edit, try ---


def test_a_file_that_is_newer_than_what_runs(tool: Tool) -> None:  # noqa: F811
    """Whatever is refused for it, and whoever is asked, says so, until it is read again."""
    shared = TWO_DOMAINS.replace("local=*\n", "")
    tool.write(shared)
    assert tool.run("up").returncode == 0
    env = tool.env | {"GID_RUNTIME_DIR": str(tool.runtime), "GID_DOMAIN": "open"}
    newer = f"{tool.config} is newer than what gidd read: gid-cockpit --config {tool.config} reload"

    def publish() -> str:
        """Why not."""
        with Connection(tool.runtime / "open" / "gidd.sock", "radar") as producer:
            return producer.publish("radar")[2]

    def doctor() -> str:
        return subprocess.run(["gidctl", "doctor"], env=env, capture_output=True, text=True).stdout

    refused = publish()
    assert "has no stream radar" in refused and "newer" not in refused
    tool.write(shared.replace("camera/*", "camera/* radar"))
    assert publish() == (
        f"the file is newer than what gidd read: gid-cockpit reload. By that: {refused}"
    )
    process = tool.status()["open"]["pid"]
    assert f"open: runs already (process {process}); {newer}\n" in tool.run("up").stdout
    assert newer in tool.run("status").stdout
    assert tool.status()["open"]["is_newer"] is True
    assert f"{tool.config} is newer than what gidd read" in doctor()
    assert tool.run("reload").returncode == 0
    assert "newer" not in tool.run("up").stdout + tool.run("status").stdout + doctor()
    assert publish() == ""


def test_a_file_that_cannot_be_taken_over_stays_newer(tool: Tool) -> None:  # noqa: F811
    assert tool.run("up").returncode == 0
    tool.write(TWO_DOMAINS.replace("number=1", "number=7"))
    assert tool.run("reload").returncode == 1
    assert tool.status()["open"]["is_newer"] is True


def test_another_file_runs_already(tool: Tool) -> None:  # noqa: F811
    assert tool.run("up", "open").returncode == 0
    other = tool.folder / "other.conf"
    shutil.copy(tool.config, other)
    words = ["gid-cockpit", "--config", str(other), "up"]
    result = subprocess.run(words, env=tool.env, capture_output=True, text=True)
    assert result.returncode == 1
    assert f"the gidd of open runs with another file, {tool.config}: end it by" in result.stderr
    assert tool.status()["open"]["state"] == "up"


def test_commands_that_are_told_can_be_pasted(tool: Tool) -> None:  # noqa: F811
    tool.config = tool.folder / "my cockpit.conf"
    tool.write(TWO_DOMAINS)
    assert tool.run("up").returncode == 0
    tool.write(TWO_DOMAINS + "\n")
    command = f"gid-cockpit --config '{tool.config}'"
    assert f"{command} reload\n" in tool.run("status").stdout
    tool.config = tool.folder / "other.conf"
    tool.write(TWO_DOMAINS)
    assert tool.run("up").stderr.endswith(f"{command} down\n")


def test_a_guest_of_another_cockpit_has_no_log_here(tool: Tool) -> None:  # noqa: F811
    assert tool.run("up").returncode == 0
    wait_log(tool).with_name("console.log").write_text("reboot: Power down\n")
    assert "serving" in (shown := tool.run("logs", "open").stdout)
    assert "Power down" not in shown


# --- the first steps ---


@pytest.mark.parametrize("command", ["status", "down", "check"])
def test_a_file_of_mistakes_alone(tool: Tool, command: str) -> None:  # noqa: F811
    """No domain of it is known, and none runs."""
    tool.config.write_text("[domain größe]\nnumber=1\n")
    done = tool.start(command)
    assert (done.returncode, done.stdout) == (1, "")
    said = f'gid-cockpit: {tool.config}:1: "größe" is not a domain\'s name: '
    assert done.stderr.startswith(said) and done.stderr.count("\n") == 1


def test_from_nothing(tmp_path: Path, tool: Tool) -> None:  # noqa: F811
    """What each command says next is what one does next."""
    env = tool.env | {"GID_RUNTIME_DIR": str(tool.runtime)}

    def sh(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", line], env=env, cwd=tmp_path, capture_output=True, text=True
        )

    written = sh("gid-cockpit init")
    assert (written.returncode, written.stderr) == (0, "")
    again = sh("gid-cockpit init")
    assert again.stderr.startswith("gid-cockpit: cockpit.conf: there is such a file already: ")
    assert "gid-cockpit --config cockpit.conf up" in again.stderr
    full = sh("ulimit -f 0; gid-cockpit --config full.conf init")  # nothing can be written there
    assert (full.returncode, full.stderr) == (1, "gid-cockpit: full.conf: File too large\n")
    nowhere = sh("gid-cockpit --config nowhere/a.conf init")
    assert nowhere.stderr == "gid-cockpit: nowhere/a.conf: No such file or directory\n"
    assert [file.name for file in tmp_path.iterdir()] == ["cockpit.conf"]
    if not DEFAULT_CONFIG.exists():
        hint = "this folder has a cockpit.conf, which you can name with --config\n"
        assert sh("gid-cockpit up").stderr.endswith(hint)
    up = written.stdout.splitlines()[-1].strip()
    assert up == "gid-cockpit --config cockpit.conf up"
    try:
        started = sh(up)
        assert (started.returncode, started.stderr) == (0, "")
        last = started.stdout.splitlines()[-1]
        assert last == "Now try: gidctl -d open list"
        assert sh(last.removeprefix("Now try: ")).returncode == 0
    finally:
        sh("gid-cockpit --config cockpit.conf down")


def test_what_next_where_the_file_says_the_place(tool: Tool) -> None:  # noqa: F811
    last = tool.run("up").stdout.splitlines()[-1]
    assert last == f"Now try: export GID_RUNTIME_DIR={tool.runtime}; gidctl -d open list"
    line = last.removeprefix("Now try: ")
    assert subprocess.run(["sh", "-c", line], env=tool.env, capture_output=True).returncode == 0


def test_logs(tool: Tool) -> None:  # noqa: F811
    none = tool.run("logs", "open")
    assert none.returncode == 1 and "journalctl -u gidd@open" in none.stderr
    assert tool.run("logs", "nobody").returncode == 1
    assert tool.run("up").returncode == 0
    log = wait_log(tool)
    shown = tool.run("logs", "open", "-n", "1000")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == log.read_text()
    follow = subprocess.Popen(
        ["gid-cockpit", "--config", str(tool.config), "logs", "-f", "open"],
        env=tool.env,
        stdout=subprocess.PIPE,
    )
    os.set_blocking(follow.stdout.fileno(), False)
    seen = b""

    def has_more() -> bool:
        nonlocal seen
        seen += follow.stdout.read() or b""
        return b"configuration read again" in seen

    try:
        assert tool.run("reload").returncode == 0
        wait_for(has_more, "the log to go on")
    finally:
        follow.terminate()
        follow.wait()
        follow.stdout.close()


def test_logs_reach_a_terminal_as_text_alone(tool: Tool) -> None:  # noqa: F811
    """A guest, or a program in a container, may write there what it likes."""
    assert tool.run("up", "open").returncode == 0
    log = wait_log(tool)
    with log.open("ab") as file:
        file.write(b"a\x1b[2Jb\x1b[31mc\xc2\x9bd\xe2\x80\xaee\xfff\r\n")
    words = ["gid-cockpit", "--config", str(tool.config), "logs", "-n", "1", "open"]
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(words, env=tool.env, stdout=theirs, stderr=subprocess.PIPE)
        shown = os.read(ours, 4096)
    finally:
        os.close(theirs)
        os.close(ours)
    assert (done.returncode, done.stderr) == (0, b"")
    assert shown.decode() == r"a\x1b[2Jbc\x9bd\u202ee" + "\N{REPLACEMENT CHARACTER}" + "f\r\n"
