# SPDX-License-Identifier: MIT
"""The manual pages of commands name each option that --help names, and no other.

Options stand in bold in the pages' sources, as in `*-c*, *--config*=_FILE_`; those of other
programs do not.
"""

import functools
import re
import subprocess
from pathlib import Path

import pytest
from installed import installed_commands
from lib.program import PATIENCE, TOP
from lib.versions import gidway_version

# What every command has, and its page need not say.
COMMON = {"--help", "--usage", "--version"}
OPTION = r"--[a-z][a-z0-9-]*"


COMMANDS = installed_commands()


def page(name: str) -> str:
    pages = list(TOP.glob(f"*/**/{name}.[18].scd"))
    assert len(pages) == 1, (
        f"{name}: needs one manual page, {name}.1.scd beside its source: {pages}"
    )
    return pages[0].read_text()


def help_of(*command: str | Path) -> str:
    result = subprocess.run(
        [*command, "--help"], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    return result.stdout


@functools.cache
def helps(name: str) -> str:
    """The --help of the command, and those of its subcommands that have one."""
    text = help_of(COMMANDS[name])
    _, _, listed = text.partition("COMMAND\n")  # as argparse lists them
    subcommands = re.findall(r"^    ([a-z][a-z-]*)\s", listed, re.MULTILINE)
    return text + "".join(help_of(COMMANDS[name], word) for word in subcommands)


def options_in(text: str) -> dict[str, str]:
    """The long options that the text explains, each with its short name or "".

    They begin a line of it.
    """
    pairs = re.findall(rf"^ +(?:(-[a-zA-Z])(?: \S+)?, )?({OPTION})", text, re.MULTILINE)
    return {long: short for short, long in pairs if long not in COMMON}


def test_there_are_commands() -> None:
    assert {"gidd", "gidctl"} <= COMMANDS.keys()


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_and_version(name: str) -> None:
    """The same in all, whatever they are written in."""
    for option in ("-h", "--help", "-V", "--version"):
        result = subprocess.run(
            [COMMANDS[name], option], capture_output=True, text=True, timeout=PATIENCE
        )
        assert (result.returncode, result.stderr) == (0, ""), option
        if option in ("-V", "--version"):
            assert result.stdout == f"{name} {gidway_version()}\n"
        else:
            assert result.stdout.lower().startswith("usage: ")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_exit_status_of_a_wrong_option(name: str) -> None:
    result = subprocess.run(
        [COMMANDS[name], "--no-such-option"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert result.stdout == "" and result.stderr
    _, _, rest = page(name).partition("# EXIT STATUS\n")
    said = rest.partition("\n# ")[0]
    found = re.search(rf"(?<!\d){result.returncode}\*?(?: for|:|\n).*wrong", said)
    assert found, f"{result.returncode}: {said}"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_in_the_manual(name: str) -> None:
    said, written = options_in(helps(name)), page(name)
    assert said
    explained = re.findall(rf"^(?:\*(-[a-zA-Z])\*, )?\*({OPTION})\*", written, re.MULTILINE)
    assert {long: short for short, long in explained if long not in COMMON} == said


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_manual_speaks_of_no_other_option(name: str) -> None:
    spoken_of = set(re.findall(rf"\*({OPTION})", page(name)))
    assert spoken_of - options_in(helps(name)).keys() - COMMON == set()
