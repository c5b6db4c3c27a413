# SPDX-License-Identifier: MIT
"""What `./run` says and returns, as far as it can be seen from inside the environment."""

import ast
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from lib.length import at_length_but
from lib.program import BUILD, PATIENCE

TOP = Path(__file__).resolve().parents[2]


COMMANDS = (
    *("assurance", "bench", "build", "coverage", "demo", "docs", "evaluate", "faults", "figures"),
    *("fuzz", "lint", "man", "models", "options", "package", "places", "proofs", "rust", "shell"),
    *("soak", "stack", "test", "try-packages", "vm"),
)
# Words that are wrong as they stand.
WRONG = [
    ["man", "nosuch"],
    ["places", "nosuch"],
    ["places", "root", "nosuch"],
    ["package", "one", "two"],
    # pytest and cargo take the words of `rust`
    *([name, "--nosuch"] for name in COMMANDS if name != "rust"),
    *([name, "nosuch"] for name in ("docs", "faults", "models")),
    ["bench", "hop", "--nosuch"],
    ["vm", "no/name", "true"],
    ["shell", "--no-build", "--nosuch", "true"],
]


def run(*arguments: str, cwd: Path = TOP, top: Path = TOP) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"GIDWAY_INSIDE": os.environ.get("GIDWAY_INSIDE", "system")}
    command = [str(top / "run"), *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )


def test_help_names_every_command() -> None:
    result = run("--help")
    assert result.returncode == 0
    assert sorted(re.findall(r"^  ([a-z-]+) .*", result.stdout, re.MULTILINE)) == sorted(COMMANDS)
    for command in COMMANDS:
        assert re.search(rf"^  {command} .* \S", result.stdout, re.MULTILINE), command


# From outside, where words are looked at in the same way, all have the other one and wrong ones.
AT_LENGTH = pytest.mark.at_length


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["-h", pytest.param("--help", marks=AT_LENGTH)])
def test_every_command_has_a_help_of_its_own(command: str, option: str) -> None:
    result = run(command, option)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.lower().startswith(f"usage: ./run {command} ")


def seen_from_outside(
    folder: Path, *words: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What enters the environment finds a script here that only says so."""
    for path in TOP.iterdir():
        if path.name not in ("build", "scripts"):
            (folder / path.name).symlink_to(path)
    (folder / "run").unlink()
    (folder / "run").write_bytes((TOP / "run").read_bytes())
    (folder / "scripts").mkdir()
    for path in (TOP / "scripts").iterdir():
        (folder / "scripts" / path.name).symlink_to(path)
    (folder / "scripts/debian-root").unlink()
    (folder / "scripts/debian-root").write_text("#!/bin/sh\necho entered\n")
    for path in (folder / "run", folder / "scripts/debian-root"):
        path.chmod(0o755)
    mine = {name: value for name, value in os.environ.items() if name != "GIDWAY_INSIDE"}
    return subprocess.run(
        [folder / "run", *words],
        env=mine | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_helps_need_no_environment(tmp_path: Path, command: str) -> None:
    result = seen_from_outside(tmp_path, command, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.lower().startswith(f"usage: ./run {command} ")


BENCHES = sorted(path.stem for path in (TOP / "bench").glob("*.py"))


@pytest.mark.parametrize("name", at_length_but(BENCHES, "click", "common", "counts", "pacing"))
def test_nor_do_those_of_benchmarks(tmp_path: Path, name: str) -> None:
    if not os.access(TOP / f"bench/{name}.py", os.X_OK):
        return  # a part of one
    result = seen_from_outside(tmp_path, "bench", name, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"usage: ./run bench {name} ")


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_words_are_refused_before_the_environment(tmp_path: Path, words: list[str]) -> None:
    result = seen_from_outside(tmp_path, *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.strip()


@pytest.mark.parametrize("words", [["vm", "--nosuch"], ["demo", "--nosuch"]], ids=" ".join)
def test_the_clone_may_have_any_name(tmp_path: Path, words: list[str]) -> None:
    """Each of these means something to some shell, or to what reads its words."""
    folder = tmp_path / "Käfer & 'Größe' (2) $HOME 100% \"#\\"
    folder.mkdir()
    result = seen_from_outside(folder, *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert "nosuch" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        *(["demo", "--seconds=3"], ["evaluate", "--version"], ["rust", "--nosuch"]),
        *(["vm", "open", "ls", "--help"], ["shell", "--", "ls", "--help"], ["bench", "hop"]),
        *(["test", "unit"], ["build", "folder", "-Dtests=false"]),
    ],
    ids=" ".join,
)
def test_others_enter_it(tmp_path: Path, words: list[str]) -> None:
    result = seen_from_outside(tmp_path, *words)
    assert (result.returncode, result.stdout, result.stderr) == (0, "entered\n", "")


@pytest.mark.parametrize("words", [[], ["--help"]], ids=["list", "help"])
@pytest.mark.parametrize("command", ["bench", "man"])
def test_lists_need_no_environment(tmp_path: Path, command: str, words: list[str]) -> None:
    result = seen_from_outside(tmp_path, command, *words)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"Usage: ./run {command} NAME")


@pytest.mark.parametrize("command", ["build", "lint", "shell"])
def test_helps_where_there_is_no_python(tmp_path: Path, command: str) -> None:
    """As on a small new Debian: options that Python shows are not shown."""
    programs, clone = tmp_path / "programs", tmp_path / "clone"
    programs.mkdir()
    clone.mkdir()
    for path in Path("/usr/bin").iterdir():
        if not path.name.startswith("python"):
            (programs / path.name).symlink_to(path)
    result = seen_from_outside(clone, command, "--help", PATH=str(programs))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.lower().startswith(f"usage: ./run {command}")


def test_a_script_that_says_what_it_is_is_a_command(tmp_path: Path) -> None:
    for name in ("run", "scripts/say.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((TOP / name).read_bytes())
    (tmp_path / "run").chmod(0o755)
    script = tmp_path / "scripts/greet"
    script.write_text('#!/bin/sh\n# ./run greet NAME: says hello\necho "hello $1"\n')
    script.chmod(0o755)
    (tmp_path / "scripts/helper").write_text("#!/bin/sh\n# not a command\n")
    assert "\n  greet NAME                 says hello\n" in run("--help", top=tmp_path).stdout
    assert run("greet", "you", top=tmp_path).stdout == "hello you\n"
    assert run("helper", top=tmp_path).returncode == 2


def test_a_manual_is_shown() -> None:
    listed = run("man").stdout
    assert "\n  gidctl.1\n" in listed
    assert "no such manual: gidctll" in run("man", "gidctll").stderr


def test_without_a_command_it_shows_the_usage() -> None:
    result = run()
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Usage: ./run")


@pytest.mark.parametrize("arguments", [["dmeo"], ["bench", "nosuch"], ["bench", "../demo/demo"]])
def test_unknown_names_are_refused(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert (
        f"no such {'benchmark' if len(arguments) > 1 else 'command'}: {arguments[-1]}"
        in result.stderr
    )


@pytest.mark.parametrize(
    "arguments",
    [
        *(pytest.param(words, id=" ".join(words), marks=AT_LENGTH) for words in WRONG),
        *([name, "nosuch"] for name in ("fuzz", "lint", "options", "proofs")),
    ],
    ids=" ".join,
)
def test_wrong_usage_has_one_exit_status(arguments: list[str]) -> None:
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.strip()


def test_a_build_folder_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIDWAY_BUILD", "/proc/build")
    result = run("shell", "true")
    assert (result.returncode, result.stdout) == (1, "")
    what = "name another folder for the build by GIDWAY_BUILD"
    assert result.stderr == f"run: /proc/build cannot be written: {what}\n"


def test_packages_come_with_a_new_shell_only() -> None:
    result = run("shell", "--with", "jq")
    assert (result.returncode, result.stdout) == (1, "")
    assert "leave this one first" in result.stderr


def test_an_architecture_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that there is has an environment of its own, which is not this one."""
    for name, code, words in (
        ("arm46", 2, "GIDWAY_ARCH=arm46 is none of arm64, armhf and riscv64"),
        ("riscv64", 1, "GIDWAY_ARCH=riscv64 has an environment of its own: leave this shell first"),
    ):
        monkeypatch.setenv("GIDWAY_ARCH", name)
        result = run("build")
        assert (result.returncode, result.stdout) == (code, "")
        assert result.stderr == f"run: {words}\n"


@pytest.mark.parametrize("command", ["test", "coverage"])
def test_an_unknown_suite_is_refused(command: str) -> None:
    """Before anything is built."""
    result = run(command, "unit", "nosuch")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "no such suite: nosuch; there are: " in result.stderr
    assert {"fuzz", "run", "unit"} <= set(result.stderr.rpartition(": ")[2].split())


def test_the_help_says_what_each_suite_is_for() -> None:
    """Each folder is a suite that can be named, and its sentence fits a table."""
    rows = re.findall(r"^  ([a-z]+) +([^ ].*)$", run("test", "--help").stdout, re.MULTILINE)
    folders = {path.parent.name for path in (TOP / "tests").glob("*/meson.build")}
    assert {name for name, _ in rows} == folders
    tests = json.loads((BUILD / "meson-info/intro-tests.json").read_text())
    suites = {suite.partition(":")[2] for test in tests for suite in test["suite"]}
    assert folders <= suites | {"fuzz"}


def test_an_unknown_test_of_a_suite_is_told_with_those_that_there_are() -> None:
    """As they are typed: some have spaces in their names."""
    result = run("test", "timeline/nosuch")
    assert (result.returncode, result.stdout) == (2, "")
    message, _, names = result.stderr.partition("; there are: ")
    assert message == "run: no such test: timeline/nosuch"
    assert {"timeline/timeline report", "timeline/timeline compare"} <= set(shlex.split(names))
    assert all(name.startswith("timeline/") for name in shlex.split(names))


def test_a_command_gets_its_arguments_its_folder_and_gives_its_status(tmp_path: Path) -> None:
    script = 'printf "%s|" "$PWD" "$@"; exit 7'
    result = run("shell", "--no-build", "sh", "-c", script, "sh", "a b", "", "*", cwd=tmp_path)
    assert result.returncode == 7
    assert result.stdout == f"{tmp_path}|a b||*|"
    assert result.stderr == ""


def test_the_environment_has_every_package() -> None:
    lines = [re.sub("#.*", "", line) for line in (TOP / "packages.txt").read_text().splitlines()]
    needed = [line.split(" | ") for line in map(str.strip, lines) if line]
    names = [name for choice in needed for name in choice]
    assert len(names) == len(set(names))
    query = ["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Package}\n"]
    result = subprocess.run(query, capture_output=True, text=True, check=True)
    installed = {line[10:] for line in result.stdout.splitlines() if line.startswith("installed ")}
    assert [choice for choice in needed if not installed & set(choice)] == []


def test_every_case_that_needs_root_is_of_the_suite_root() -> None:
    listed = re.findall(r"'(\w+/test_\w+)'", (TOP / "tests/root/meson.build").read_text())
    marked = [
        str(path.relative_to(TOP / "tests").with_suffix(""))
        for path in (TOP / "tests").glob("*/test_*.py")
        if "pytest.mark." + "needs_root" in path.read_text()
    ]
    assert sorted(listed) == sorted(marked)


def test_every_case_at_length_is_of_the_suite_long() -> None:
    """A file with such cases has a row for them; else nothing would run them."""
    rows = json.loads((BUILD / "meson-info/intro-tests.json").read_text())
    listed = {
        Path(word).parts[-2:]
        for row in rows
        if "gidway:long" in row["suite"] and "at_length" in row["cmd"]
        for word in row["cmd"]
        if word.endswith(".py")
    }
    marked = {
        path.parts[-2:]
        for path in (TOP / "tests").glob("*/test_*.py")
        if re.search(r"mark\.at_length|at_length_but\(", path.read_text())
    }
    assert listed == marked


def test_what_is_not_tested_under_emulation_is_told() -> None:
    """The page and the runner have the same tests and the same reasons."""
    page = (TOP / "docs/boards.md").read_text().replace("`", "")
    kinds = "from testing.kinds import EMULATED_WITHOUT as w; print(*w.items(), sep='\\n')"
    command = ["python3", "-c", kinds]
    path = os.environ | {"PYTHONPATH": str(TOP / "scripts")}
    listed = subprocess.run(command, env=path, capture_output=True, text=True, check=True).stdout
    without = dict(ast.literal_eval(line) for line in listed.splitlines())
    row = re.compile(r"^\| (\w+/[\w ]+) \| (.*) \|$", re.MULTILINE)
    assert dict(row.findall(page)) == without
