# SPDX-License-Identifier: MIT
"""Completions for bash: they offer what there is, and name all commands and options."""

import re
import subprocess
from pathlib import Path

import pytest
from cockpit import Cockpit
from program import BUILD, TOP

FILES = {
    "gidctl": TOP / "tools" / "gidctl" / "gidctl.bash",
    "gid-cockpit": TOP / "tools" / "cockpit" / "gid-cockpit.bash",
}
PATHS = {name: BUILD / file.parent.relative_to(TOP) for name, file in FILES.items()}


def complete(line: str, env: dict[str, str]) -> list[str]:
    """What bash offers for the last word of a line."""
    name, *_ = words = line.split(" ")
    function = "_" + name.replace("-", "_")
    script = f'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); {function}'
    script += '; [ ${#COMPREPLY[@]} = 0 ] || printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", FILES[name], *words],
        env=env | {"PATH": f"{PATHS['gidctl']}:{env['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return sorted(done.stdout.split())


def test_gidctl(cockpit: Cockpit) -> None:
    flow = cockpit.run("open", [BUILD / "tests/tools/flow", "produce", "movie", "20"], "flow")
    flow.wait_output("ready")
    env = cockpit.env("open")
    assert complete("gidctl s", env) == ["snap", "status"]
    assert complete("gidctl -d ", env) == ["cluster", "open"]
    assert complete("gidctl list sl", env) == ["slabs"]
    assert complete("gidctl snap ", env) == ["cluster", "movie", "open"]
    assert complete("gidctl -d cluster snap ", env) == ["cluster", "open"]
    assert complete("gidctl -d cluster --json watch open ", env) == ["movie"]
    assert complete("gidctl revoke open mo", env) == ["movie"]
    assert complete("gidctl snap movie -o /etc/passw", env)[0] == "/etc/passwd"


def test_gid_cockpit(cockpit: Cockpit) -> None:
    env = cockpit.env("open")
    file = f"gid-cockpit -c {cockpit.config_path}"
    assert complete("gid-cockpit st", env) == ["status"]
    assert complete(f"{file} up ", env) == ["cluster", "open"]
    assert complete(f"{file} logs -n 3 cl", env) == ["cluster"]
    assert complete(f"{file} logs --f", env) == ["--follow"]
    assert complete(f"{file} check ", env) == []


@pytest.mark.parametrize("name", FILES)
def test_all_are_offered(name: str, cockpit: Cockpit) -> None:
    help_text = subprocess.run(
        [PATHS[name] / name, "--help"], capture_output=True, text=True, check=True
    ).stdout
    env = cockpit.env("open")
    options = set(re.findall(r"^ +(?:-\w(?: \S+)?, )?(--[a-z]+)", help_text, re.M)) - {"--usage"}
    assert options <= set(complete(f"{name} -", env))
    listed = help_text.partition("Commands:\n" if name == "gidctl" else "COMMAND\n")[2]
    commands = re.findall(r"^  (?:  )?([a-z][a-z-]+) ", listed, re.M)
    assert len(commands) >= 7 and set(commands) <= set(complete(f"{name} ", env))


def test_they_are_installed() -> None:
    installed = (BUILD / "meson-info/intro-installed.json").read_text()
    for name in FILES:
        assert re.search(rf"/bash-completion/completions/{name}\"", installed)
    assert all(Path(file).exists() for file in FILES.values())
