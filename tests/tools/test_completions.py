# SPDX-License-Identifier: MIT
"""Completions: they offer what there is, and name all commands and options, in each shell."""

import json
import os
import pty
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from installed import installed_commands
from lib.cockpit import Cockpit
from lib.gidwire import Connection
from lib.program import BUILD, TOP, wait_for

COMPLETIONS = TOP / "tools" / "completions"
FILES = {
    "gidctl": TOP / "tools" / "gidctl" / "gidctl.bash",
    "gid-cockpit": TOP / "tools" / "gid-cockpit" / "gid-cockpit.bash",
}
# As the completions of other shells name them.
BUILT = (BUILD / "tools" / "completions" / "_gidway").read_text()
COMPLETED = BUILT.splitlines()[0].removeprefix("#compdef ").split()
COMMANDS = installed_commands()
THERE = [name for name in COMPLETED if name in COMMANDS]


def search_path(env: Mapping[str, str]) -> dict[str, str]:
    """With what was built."""
    return {"PATH": ":".join([*{str(path.parent) for path in COMMANDS.values()}, env["PATH"]])}


def complete(line: str, env: dict[str, str]) -> list[str]:
    """What bash offers for the last word of a line."""
    words = re.split(r"(?<!\\) ", line)
    file = FILES.get(words[0], FILES["gidctl"])
    done = subprocess.run(
        ["bash", COMPLETIONS / "offer.bash", file, *words],
        env=env | search_path(env),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return sorted(done.stdout.split())


def test_gidctl(cockpit: Cockpit) -> None:
    flow = cockpit.run("open", [BUILD / "tests/tools/flow", "produce", "movie", "20"], "flow")
    flow.wait_output("ready")
    env = cockpit.env("open")
    assert complete("gidctl s", env) == ["seal", "snap", "status"]
    assert complete("gidctl -d ", env) == ["cluster", "open"]
    assert complete("gidctl list sl", env) == ["slabs"]
    assert complete("gidctl list re", env) == ["readable"]
    assert complete("gidctl snap ", env) == ["cluster", "movie", "open"]
    assert complete("gidctl -d cluster snap ", env) == ["cluster", "open"]
    assert complete("gidctl -d cluster --json watch open ", env) == ["movie"]
    assert complete("gidctl revoke open mo", env) == ["movie"]
    assert complete("gidctl --domain=cl", env) == ["--domain=cluster"]
    assert complete("gidctl --domain = cl", env) == ["cluster"], "as bash has it"
    assert complete("gidctl --domain = open watch ", env) == ["cluster", "movie", "open"]
    assert complete("gidctl snap movie --output=/etc/passw", env)[0] == "--output=/etc/passwd"
    assert complete("gidctl snap movie -o /etc/passw", env)[0] == "/etc/passwd"
    if "gid-view" in THERE:
        assert complete("gid-view --domain ", env) == ["cluster", "open"]
        assert complete("gid-view --domain open --stream ", env) == ["movie"]
        assert complete("gid-view --desktop ", env) == ["cluster", "open"]
        assert complete("gid-view --desktop open --stream ", env) == ["movie"]


def test_streams_of_a_domain_that_cannot_be_asked(cockpit: Cockpit) -> None:
    """It runs on another machine: the reader's gidd has heard of them."""
    away = cockpit.socket("open").rename(cockpit.folder / "away")
    env = cockpit.env("cluster")
    with cockpit.connect("cluster") as other, Connection(away, "camera") as producer:
        assert other.publish("screen")[0] == producer.publish("camera/rear")[0] == 0
        wait_for(lambda: cockpit.status("cluster")["readable"], "word of the stream")
        for reader in (env, {key: value for key, value in env.items() if key != "GID_DOMAIN"}):
            assert complete("gidctl watch ", reader) == ["cluster", "open", "screen"]
            assert complete("gidctl watch open ", reader) == ["camera/rear"]
            assert complete("gidctl -d cluster snap open cam", reader) == ["camera/rear"]
        assert complete("gidctl -d ", env) == ["cluster"]
        if "gid-view" in THERE:
            assert complete("gid-view -d ", env) == ["cluster", "open"]
            assert complete("gid-view --reader ", env) == ["cluster"]
            assert complete("gid-view -d open -s ", env) == ["camera/rear"]
    away.rename(cockpit.socket("open"))


def test_gid_cockpit(cockpit: Cockpit) -> None:
    env = cockpit.env("open")
    file = f"gid-cockpit -c {cockpit.config_path}"
    assert complete("gid-cockpit st", env) == ["status"]
    assert complete(f"{file} up ", env) == ["cluster", "open"]
    assert complete(f"{file} logs -n 3 cl", env) == ["cluster"]
    assert complete(f"{file} logs --f", env) == ["--follow"]
    assert complete(f"{file} check ", env) == []
    assert complete(f"gid-cockpit up -c {cockpit.config_path} ", env) == ["cluster", "open"]
    made, evil = cockpit.folder / "made", cockpit.folder / "evil.conf"
    evil.write_text(f"[domain $(touch${{IFS}}{made})]\n[domain good ]\n")
    assert complete(f"gid-cockpit -c {evil} up ", env) == ["good"]
    assert not made.exists()
    assert complete("gid-cockpit down --c", env) == ["--config"]


def test_the_file_of_a_cockpit_as_it_is_typed(tmp_path: Path) -> None:
    """Its domains are offered, also where its name has to be quoted."""
    env = os.environ | {"HOME": str(tmp_path)}
    file = tmp_path / "my cockpit.conf"
    file.write_text("[domain open]\n[domain cluster]\n")
    quoted = str(file).replace(" ", "\\ ")
    for typed in (
        *(f"-c {quoted}", f"--config={quoted}", f"--config = {quoted}"),
        *("-c ~/my\\ cockpit.conf", f"logs -n 3 -c {quoted}", f"-c '{quoted}'", f'-c "{quoted}"'),
    ):
        command = "" if typed.startswith("logs") else "up "
        assert complete(f"gid-cockpit {typed} {command}", env) == ["cluster", "open"], typed
    for typed in ("--config=/etc/passw", "--config = /etc/passw", "-c /etc/passw"):
        assert any(one.endswith("/etc/passwd") for one in complete(f"gid-cockpit {typed}", env))


def test_a_file_of_somebody_else_runs_nothing(tmp_path: Path) -> None:
    """What stands in it in the place of a name may be a command."""
    file, ran = tmp_path / "cockpit.conf", tmp_path / "ran"
    file.write_text(f"[domain $(touch${{IFS}}{ran})]\n[ domain no]\n[domain open ]\nnumber=1\n")
    assert complete(f"gid-cockpit -c {file} up ", dict(os.environ)) == ["open"]
    assert not ran.exists()


def test_daemons(cockpit: Cockpit) -> None:
    env = cockpit.env("open")
    file = f"--config {cockpit.config_path}"
    assert complete(f"gidd {file} --domain ", env) == ["cluster", "open"]
    assert complete("gidd --config /etc/passw", env)[0] == "/etc/passwd"
    for name in {"gid-cluster", "gid-engine"} & set(THERE):
        assert complete(f"{name} -d ", env) == ["cluster", "open"]
        assert complete(f"{name} --che", env) == ["--check"]


def test_gid_timeline() -> None:
    env = dict(os.environ)
    assert complete("gid-timeline re", env) == ["report"]
    assert "--output" in complete("gid-timeline report --", env)
    assert complete("gid-timeline report /etc/passw", env)[0] == "/etc/passwd"


@pytest.mark.parametrize("name", THERE)
def test_all_options_are_offered(name: str) -> None:
    env = dict(os.environ)
    help_text = subprocess.run(
        [COMMANDS[name], "--help"], capture_output=True, text=True, check=True
    ).stdout
    options = set(re.findall(r"^ +(?:-\w(?: \S+)?, )?(--[a-z][a-z-]*)", help_text, re.M))
    assert len(options) > 1 and options - {"--usage"} <= set(complete(f"{name} -", env))


@pytest.mark.parametrize("name", FILES)
def test_all_commands_are_offered(name: str, cockpit: Cockpit) -> None:
    help_text = subprocess.run(
        [COMMANDS[name], "--help"], capture_output=True, text=True, check=True
    ).stdout
    listed = help_text.partition("Commands:\n" if name == "gidctl" else "COMMAND\n")[2]
    commands = re.findall(r"^  (?:  )?([a-z][a-z-]+) ", listed, re.M)
    assert len(commands) >= 7
    assert set(commands) <= set(complete(f"{name} ", cockpit.env("open")))


def test_names_of_files_are_quoted(tmp_path: Path) -> None:
    """In a terminal, for there alone bash quotes."""
    (tmp_path / "my cockpit.conf").touch()
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        env=os.environ | {"TERM": "dumb", "HOME": str(tmp_path), "PS1": ""},
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)

    def typed(text: str, expected: str) -> str:
        shown = b""
        os.write(ours, text.encode())
        while expected.encode() not in shown:
            shown += os.read(ours, 4096)
        return shown.decode()

    try:
        for file in FILES.values():
            typed(f"source {shlex.quote(str(file))}; echo be''gin\n", "begin")
        for words in ("gid-cockpit -c", "gidctl doctor -c", "gid-timeline report"):
            assert "my\\ cockpit.conf" in typed(f"\x15{words} my\t", "cockpit.conf")
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)


# --- other shells ---


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of zsh and fish, as if all were installed here."""
    for name in COMPLETED:
        (tmp_path / name).symlink_to(FILES.get(name, FILES["gidctl"]))
    places = {"offer": COMPLETIONS / "offer.bash", "bash": tmp_path, "program": "gidctl"}
    for source, target in (("_gidway.in", "_gidway"), ("gidway.fish.in", "gidctl.fish")):
        text = (COMPLETIONS / source).read_text()
        for name, value in (places | {"programs": " ".join(COMPLETED)}).items():
            text = text.replace(f"@{name}@", str(value))
        (tmp_path / target).write_text(text)
    return tmp_path


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}: ./run shell --with {shell} has it")


def test_fish(cockpit: Cockpit, folder: Path) -> None:
    needs("fish")
    env = cockpit.env("open")
    for line, offered in (
        ("gidctl s", ["seal", "snap", "status"]),
        ("gidctl -d ", ["cluster", "open"]),
    ):
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {folder}/gidctl.fish; complete -C '{line}'"],
            env=env | search_path(env),
            capture_output=True,
            text=True,
        )
        assert (sorted(done.stdout.split()), done.stderr) == (offered, "")


def test_zsh(cockpit: Cockpit, folder: Path) -> None:
    """In a terminal, for there alone it completes."""
    needs("zsh")
    env = cockpit.env("open")
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        ["zsh", "-f", "-i"],
        env=env | search_path(env) | {"TERM": "dumb", "HOME": str(folder)},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""

    def typed(text: str, expected: str) -> None:
        nonlocal shown
        shown = b""
        os.write(ours, text.encode())
        while expected.encode() not in shown:
            shown += os.read(ours, 4096)

    try:
        typed(f"fpath=({folder} $fpath); autoload compinit; compinit -u; echo be''gin\n", "begin")
        typed("gidctl st\t", "gidctl status ")
        typed("\x15gidctl -d clu\t", "gidctl -d cluster ")
        typed("\x15gid-cockpit scr\t", "gid-cockpit screenshot ")
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)


def test_they_are_installed() -> None:
    installed = json.loads((BUILD / "meson-info/intro-installed.json").read_text()).values()
    for name in COMPLETED:
        assert any(one.endswith(f"/bash-completion/completions/{name}") for one in installed)
        assert any(one.endswith(f"/vendor_completions.d/{name}.fish") for one in installed)
    offer = re.search(r'bash "(/.+/offer\.bash)" "(/.+)/\$service"', BUILT)
    assert offer[1] in installed and f"{offer[2]}/gidctl" in installed
    assert any(re.search(r"/zsh/[a-z-]+/_gidway$", one) for one in installed)
