# SPDX-License-Identifier: MIT
"""gid-cockpit: what it starts runs, what it ends is gone, and what it says is so."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import warm
from gid_vm.folder import memory_folder
from lib.company import IS_LONG
from lib.program import BUILD, PATIENCE, is_alive, wait_for

TWO_DOMAINS = """\
[cockpit]
runtime={runtime}
[domain cluster]
number=2            ; a comment
[domain open]
number=1
local=*
[share open cluster]
streams=movie
  camera/*
"""


PLACES_OF_A_USER = ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


class Tool:
    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gid-", dir=memory_folder()))
        self.runtime = self.folder / "run"
        self.config = self.folder / "cockpit.conf"
        self.write(TWO_DOMAINS)
        programs = [BUILD / "tools" / "gid-cockpit", BUILD / "gidd", BUILD / "tools" / "gidctl"]
        self.env = os.environ | {"PATH": ":".join([*map(str, programs), os.environ["PATH"]])}
        self.env.pop("GID_RUNTIME_DIR", None)

    def write(self, text: str) -> None:
        self.config.write_text(text.format(runtime=self.runtime))

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Tests ask it many things; those of the suite long start the program for each."""
        if IS_LONG:
            return self.start(*words)
        return warm.run(["--config", str(self.config), *words], self.env)

    def start(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["gid-cockpit", "--config", str(self.config), *words],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def status(self) -> dict[str, dict]:
        result = self.run("status", "--json")
        return {domain["domain"]: domain for domain in json.loads(result.stdout)}


@pytest.fixture
def tool() -> Iterator[Tool]:
    tool = Tool()
    yield tool
    tool.run("down")
    shutil.rmtree(tool.folder)


@pytest.mark.parametrize("option", ["-h", "--help", "-V", "--version"])
def test_help_and_version(tool: Tool, option: str) -> None:
    result = tool.start(option)
    assert (result.returncode, result.stderr) == (0, "")
    version = subprocess.run(
        ["gidctl", "--version"], env=tool.env, capture_output=True, text=True, check=True
    ).stdout.replace("gidctl", "gid-cockpit")
    if option in ("-h", "--help"):
        assert result.stdout.startswith("usage: gid-cockpit")
    else:
        assert result.stdout == version


def test_up_status_down(tool: Tool) -> None:
    result = tool.run("up")
    assert (result.returncode, result.stderr) == (0, "")
    status = tool.status()
    assert list(status) == ["open", "cluster"]  # by number
    assert [domain["state"] for domain in status.values()] == ["up", "up"]
    assert [(link["domain"], link["state"]) for link in status["open"]["links"]] == [
        ("cluster", "up")
    ]
    pids = [domain["pid"] for domain in status.values()]
    assert all(map(is_alive, pids))
    assert tool.run("status").returncode == 0

    result = tool.run("down")
    assert (result.returncode, result.stderr) == (0, "")
    assert not any(map(is_alive, pids))
    assert [domain["state"] for domain in tool.status().values()] == ["down", "down"]
    assert tool.run("status").returncode == 1
    assert "does not run" in tool.run("down").stdout


def test_up_again_starts_only_what_is_missing(tool: Tool) -> None:
    assert tool.run("up", "open").returncode == 0
    first = tool.status()
    assert (first["open"]["state"], first["cluster"]["state"]) == ("up", "down")
    assert tool.run("up").returncode == 0
    second = tool.status()
    assert second["open"]["pid"] == first["open"]["pid"]
    assert second["cluster"]["state"] == "up"
    assert tool.run("down", "cluster").returncode == 0
    assert tool.status()["open"]["pid"] == first["open"]["pid"]


def test_two_that_start_them_at_once(tool: Tool) -> None:
    """Whoever comes second waits, and finds them running."""
    programs, starts = tool.folder / "programs", tool.runtime / "starts"
    programs.mkdir()
    (programs / "gidd").write_text(
        f'#!/bin/sh\ncase "$*" in *--domain*) echo >>"{starts}"; sleep 2 ;; esac\n'
        f'exec "{BUILD / "gidd" / "gidd"}" "$@"\n'
    )
    (programs / "gidd").chmod(0o755)
    tool.env["PATH"] = f"{programs}:{tool.env['PATH']}"
    command = ["gid-cockpit", "--config", str(tool.config), "up"]
    with subprocess.Popen(command, env=tool.env, stdout=subprocess.PIPE, text=True) as first:
        wait_for(starts.exists, "the first start")
        second = tool.run("up")
        said, _ = first.communicate(timeout=PATIENCE)
    assert (second.returncode, second.stderr, first.returncode) == (0, "", 0)
    assert "open: started" in said and "open: runs already" in second.stdout
    assert starts.read_text() == "\n\n", "each of the two once"


def test_a_killed_gidd_is_seen_and_replaced(tool: Tool) -> None:
    assert tool.run("up").returncode == 0
    killed = tool.status()["open"]["pid"]
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: not is_alive(killed), "gidd to be gone")
    assert tool.status()["open"]["state"] == "down"
    told = tool.run("status").stdout
    assert told.count("no process") == 1
    # What is told can be typed: it shows the log, in the folder that is named, and starts gidd.
    logs = re.search(
        rf"What it said last is in {tool.runtime}/log/open: (gid-cockpit .* open)\n", told
    )
    assert logs is not None
    shown = subprocess.run(logs[1], shell=True, env=tool.env, capture_output=True, text=True)
    assert (shown.returncode, "serving in" in shown.stdout) == (0, True)
    start = re.search(r" (gid-cockpit .* up open) starts it", told)
    assert start is not None
    assert subprocess.run(start[1], shell=True, env=tool.env, capture_output=True).returncode == 0
    os.kill(tool.status()["open"]["pid"], signal.SIGKILL)
    wait_for(lambda: tool.status()["open"]["state"] == "down", "gidd to be gone again")
    assert tool.run("up").returncode == 0
    assert tool.status()["open"]["pid"] not in (None, killed)


def test_what_was_never_started_says_how(tool: Tool) -> None:
    tool.write(
        TWO_DOMAINS + "[domain far]\nnumber=3\nkind=guest\n[domain host]\nnumber=4\nkind=host\n"
    )
    told = tool.run("status").stdout
    command = f"gid-cockpit --config {shlex.quote(str(tool.config))} up"
    for name, unit in (("open", "gidd"), ("cluster", "gidd"), ("far", "gid-guest")):
        assert (
            f"gid-cockpit has not started it here: {command} {name} does. What systemd starts is "
            f"in journalctl -u {unit}@{name}\n"
        ) in told


def test_a_gidd_that_does_not_listen_is_killed(tool: Tool) -> None:
    assert tool.run("up", "open").returncode == 0
    pid = tool.status()["open"]["pid"]
    os.kill(pid, signal.SIGSTOP)
    result = tool.run("down", "open")
    assert (result.returncode, result.stderr) == (0, "")
    assert not is_alive(pid)


def test_where_one_does_not_start_none_is_left(tool: Tool) -> None:
    tool.runtime.mkdir()
    (tool.runtime / "cluster" / "link" / "gidd.lock").mkdir(parents=True)
    result = tool.run("up")
    assert result.returncode == 1
    assert "gidd of cluster ended" in result.stderr
    assert "gidd.lock" in result.stderr  # gidd's own words
    assert not (tool.runtime / "open" / "gidd.sock").exists()


def up_with_a_signal(tool: Tool, number: signal.Signals, *before: str) -> int:
    """The exit status of `up`, which gets the signal while it starts the first one."""
    late, go = tool.folder / "gidd", tool.folder / "go"
    real = shutil.which("gidd", path=tool.env["PATH"])
    late.write_text(
        f'#!/bin/sh\n[ "$1" = --check ] || until [ -e "{go}" ]; do sleep 0.05; done\n'
        f'exec "{real}" "$@"\n'
    )
    late.chmod(0o755)
    tool.env["PATH"] = f"{tool.folder}:{tool.env['PATH']}"
    words = [*before, "gid-cockpit", "--config", str(tool.config), "up"]
    process = subprocess.Popen(words, env=tool.env)
    wait_for((tool.runtime / "log" / "open" / "gidd.log").exists, "gidd to be started")
    process.send_signal(number)
    go.touch()
    return process.wait(PATIENCE)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_while_one_starts_none_is_left(tool: Tool, number: signal.Signals) -> None:
    assert up_with_a_signal(tool, number) == 130
    assert [domain["state"] for domain in tool.status().values()] == ["down", "down"]


def test_a_signal_that_is_ignored_ends_nothing(tool: Tool) -> None:
    """As after nohup, where the terminal is closed while one starts."""
    ignoring = ["env", "--ignore-signal=HUP"]
    assert up_with_a_signal(tool, signal.SIGHUP, *ignoring) == 0
    assert [domain["state"] for domain in tool.status().values()] == ["up", "up"]


def test_without_standard_streams(tool: Tool) -> None:
    shell = 'exec "$@" <&- >&- 2>&-'
    for command, status in (("up", 0), ("status", 0), ("reload", 0), ("down", 0), ("status", 1)):
        words = ["gid-cockpit", "--config", str(tool.config), command]
        done = subprocess.run(["sh", "-c", shell, "sh", *words], env=tool.env, timeout=PATIENCE)
        assert (command, done.returncode) == (command, status)


def test_nobody_reads_what_it_says(tool: Tool) -> None:
    """As of `gid-cockpit up | head -1`, and where the disk is full."""
    for command, state in (("up", "up"), ("reload", "up"), ("down", "down")):
        ours, theirs = os.pipe()
        os.close(ours)
        with os.fdopen(theirs, "w") as pipe, open("/dev/full", "w") as full:
            for output in (pipe, full):
                result = subprocess.run(
                    ["gid-cockpit", "--config", str(tool.config), command],
                    env=tool.env,
                    stdout=output,
                    stderr=subprocess.PIPE,
                    text=True,
                    timeout=PATIENCE,
                )
                assert (result.returncode, result.stderr) == (0, "")
        assert [domain["state"] for domain in tool.status().values()] == [state, state]


def test_nobody_reads_its_logs(tool: Tool) -> None:
    """As of `gid-cockpit logs open | head -1`, where tail(1) ends by a signal."""
    assert tool.run("up", "open").returncode == 0
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "w") as pipe:
        words = ["gid-cockpit", "--config", str(tool.config), "logs", "open"]
        result = subprocess.run(words, env=tool.env, stdout=pipe, stderr=subprocess.PIPE, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_file_as_some_editors_leave_it(tool: Tool) -> None:
    text = "; Küche\n" + TWO_DOMAINS.format(runtime=tool.runtime)
    for before, encoding in ((b"\xef\xbb\xbf", "utf-8"), (b"", "latin-1")):
        tool.config.write_bytes(before + text.encode(encoding))
        result = tool.run("check")
        assert (result.returncode, result.stderr) == (0, "")
        assert "open (1), cluster (2)" in result.stdout


def test_a_file_that_is_indented(tool: Tool) -> None:
    """Whatever gidd takes."""
    lines = TWO_DOMAINS.splitlines()
    keys = {"streams=movie": "  streams=movie", "number=1": "\tnumber=1"}
    text = "\n".join(keys.get(line, line) for line in lines).replace("local=*", "local=* ; [it]")
    tool.write(text.replace("[domain open]", "[domain open] # [the first]"))
    result = tool.run("check")
    assert (result.returncode, result.stderr) == (0, "")
    assert "open (1), cluster (2)" in result.stdout


@pytest.mark.parametrize("session", ["/run/user/1000", ""])
def test_a_runtime_folder_that_only_others_may_make(tool: Tool, session: str) -> None:
    """As /run/gidway, for who forgot to name another one; without a session, as after su."""
    tool.env |= {"GID_RUNTIME_DIR": "/proc/1/gidway", "XDG_RUNTIME_DIR": session}
    result = tool.run("up")
    assert result.returncode == 1
    assert result.stderr.startswith("gid-cockpit: /proc/1/gidway: ")
    place = "$XDG_RUNTIME_DIR/gidway" if session else "$HOME/run"
    assert f": name a folder of yours by GID_RUNTIME_DIR, as {place}\n" in result.stderr


def test_a_runtime_folder_from_here(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tool.folder)
    tool.env["GID_RUNTIME_DIR"] = "run"
    result = tool.run("up")
    assert (result.returncode, result.stderr) == (0, "")
    assert (tool.runtime / "open" / "gidd.sock").exists()
    monkeypatch.chdir("/")
    tool.env["GID_RUNTIME_DIR"] = str(tool.runtime)
    assert [domain["state"] for domain in tool.status().values()] == ["up", "up"]


def test_a_folder_for_temporary_files_with_a_long_name(tool: Tool) -> None:
    """A socket is there while a gidd starts, and its path has 107 bytes."""
    long = tool.folder / ("t" * 100)
    long.mkdir()
    tool.env["TMPDIR"] = str(long)
    result = tool.run("up")
    assert (result.returncode, result.stderr) == (0, "")


def test_a_user_without_a_name_and_a_home(tool: Tool) -> None:
    """As many containers have."""
    tool.env = {key: value for key, value in tool.env.items() if key not in PLACES_OF_A_USER}
    nobody = ["unshare", "--user", "--map-user=4321"]
    for words in (["--version"], ["check"], ["up"], ["logs", "open"], ["down"]):
        result = subprocess.run(
            [*nobody, "gid-cockpit", "--config", str(tool.config), *words],
            env=tool.env,
            capture_output=True,
            text=True,
        )
        assert (words, result.returncode, result.stderr) == (words, 0, "")
    # In /run there would be memory: logs are in the user's own folder, and there is none.
    tool.env["GID_RUNTIME_DIR"] = "/run/gidway"
    words = [*nobody, "gid-cockpit", "--config", str(tool.config), "logs", "open"]
    result = subprocess.run(words, env=tool.env, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.startswith("gid-cockpit: /.local/state/gidway/log/open has no log of open")


def test_words_that_no_shell_can_split(tool: Tool) -> None:
    guest = 'kind=guest\nvm-accel=tcg\nvm-options=-smbios "type=1\n'
    host = "[domain host]\nnumber=3\nkind=host\n[share open host]\nstreams=*\n"
    tool.write(TWO_DOMAINS.replace("local=*\n", guest) + host)
    result = tool.run("qemu-args", "open")
    assert result.returncode == 1
    assert "vm-options= of domain open: No closing quotation" in result.stderr


def test_reload(tool: Tool) -> None:
    """What may change does, in all that run; what may not is told, by line, and nothing changes."""
    assert tool.run("reload").stdout == "open: does not run\ncluster: does not run\n"
    assert tool.run("up").returncode == 0
    before = tool.status()
    both = TWO_DOMAINS + "[share cluster open]\nstreams=meter\n"
    tool.write(both.replace("local=*", "local=*\nslabs=7"))
    result = tool.run("reload")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "open: has read it again\ncluster: has read it again\n"
    assert limit(tool, "slabs") == 7

    tool.write(both.replace("number=2", "number=5").replace("local=*", "local=*\nslabs=9"))
    result = tool.run("reload")
    assert result.returncode == 1
    assert result.stdout == "open: stays as it was\ncluster: stays as it was\n"
    words = f"{tool.config}:3: number= of domain cluster has changed; gidd must be restarted"
    assert f"gid-cockpit: open: {words}" in result.stderr
    assert f"gid-cockpit: cluster: {words}" in result.stderr
    assert limit(tool, "slabs") == 7

    tool.write(both + "nonsense=1\n")
    result = tool.run("reload")  # no gidd is even asked
    assert result.returncode == 1 and "nonsense" in result.stderr and result.stdout == ""
    tool.write(both.replace("local=*", "local=*\nslabs=9"))
    assert tool.run("reload", "open").stdout == "open: has read it again\n"
    assert limit(tool, "slabs") == 9
    assert {name: now["pid"] for name, now in tool.status().items()} == {
        name: was["pid"] for name, was in before.items()
    }


def limit(tool: Tool, quota: str) -> int:
    """What gidd of `open` goes by."""
    result = subprocess.run(
        ["gidctl", "--domain", "open", "--json", "status"],
        env=tool.env | {"GID_RUNTIME_DIR": str(tool.runtime)},
        capture_output=True,
        text=True,
    )
    return {q["name"]: q["limit"] for q in json.loads(result.stdout)["quotas"]}[quota]


def test_reload_of_another_file(tool: Tool) -> None:
    assert tool.run("up", "open").returncode == 0
    other = tool.config.with_name("other.conf")
    shutil.copy(tool.config, other)
    result = subprocess.run(
        ["gid-cockpit", "--config", str(other), "reload", "open"],
        env=tool.env,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert f"the gidd of open reads another file, {tool.config}" in result.stderr


def test_check_tells_every_mistake_with_its_line(tool: Tool) -> None:
    assert tool.run("check").returncode == 0
    tool.write(TWO_DOMAINS.replace("number=1\n", "number=1\ncolour=red\n") + "nonsense=1\n")
    result = tool.run("check")
    assert result.returncode == 1
    assert f"{tool.config}:7:" in result.stderr
    assert f"{tool.config}:12:" in result.stderr
    assert tool.run("up").returncode == 1
    assert not tool.runtime.exists()


def test_mistakes_on_the_command_line(tool: Tool) -> None:
    result = tool.run("up", "kitchen")
    assert result.returncode == 1
    assert "no [domain kitchen]" in result.stderr
    assert "open cluster" in result.stderr
    result = tool.run()
    assert result.returncode == 2
    assert "which command? There are up, down, reload, " in result.stderr
    result = subprocess.run(
        ["gid-cockpit", "--config", "/no/such/file", "up"],
        env=tool.env,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "/no/such/file" in result.stderr


def test_the_file_behind_the_command(tool: Tool) -> None:
    """Where many other programs have it."""
    for words in (["status"], ["status", "open"]):
        result = warm.run([*words, "-c", str(tool.config)], tool.env)
        assert result.returncode == 1 and "open" in result.stdout, result.stderr
    result = warm.run(["--config", "/no/such/file", "check", f"--config={tool.config}"], tool.env)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_domain_of_another_user_takes_a_user_that_exists(tool: Tool) -> None:
    tool.write(TWO_DOMAINS.replace("local=*\n", "local=*\nuser=no-such-user\n"))
    result = tool.run("up", "open")
    assert result.returncode == 1
    assert "no-such-user" in result.stderr
    assert tool.status()["open"]["state"] == "down"
