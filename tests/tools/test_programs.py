# SPDX-License-Identifier: MIT
"""What all programs have in common: their exit status for wrong usage, what a pipe or a full disk
does to them, and that nothing takes the place of a standard stream that was closed."""

import errno
import itertools
import os
import pty
import re
import select
import signal
import socket
import subprocess
from pathlib import Path

import gid_console
import pytest
from installed import installed_commands
from lib.cockpit import Cockpit
from lib.program import BUILD, PATIENCE, TOP, python_env, wait_for

PATH = os.environ["PATH"]


# With the helper of gid-evaluate.
PROGRAMS = installed_commands() | {"gid-probe": BUILD / "tools/gid-evaluate/probe/gid-probe"}
IN_PYTHON = [name for name, path in PROGRAMS.items() if path.read_bytes()[:2] == b"#!"]
IN_C = [name for name in PROGRAMS if name not in IN_PYTHON]
OF_CLONE = {
    "demo": ["demo/demo.py", "--help"],
    "soak": ["lab/soak/soak.py", "--help"],
    "bench": ["bench/hop.py", "--help"],
    "vm": ["vm/vm.py", "--help"],
}


def test_the_programs_are_found() -> None:
    assert {"gidd", "gidctl", "gid-probe", "gid-cockpit"} <= PROGRAMS.keys()
    assert len(IN_PYTHON) == 4


@pytest.mark.parametrize("name", PROGRAMS)
def test_wrong_usage_has_one_exit_status(name: str) -> None:
    done = subprocess.run([PROGRAMS[name], "--no-such-option"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


MISUSES = [
    "gidctl",
    "gidctl nosuch",
    "gidctl list nosuch",
    "gidctl status nosuch",
    "gidctl revoke",
    "gidctl revoke open",
    "gidctl snap",
    "gidctl snap movie",
    "gidctl snap movie -n 2 -o x.png",
    "gidctl snap movie -o x.jpg",
    "gidctl watch",
    "gidctl top --interval 0",
    "gid-view",
    "gid-compose",
    "gid-probe",
    "gid-probe message",
    "gid-cockpit",
    "gid-cockpit nosuch",
    "gid-cockpit run",
    "gid-cockpit run open",
    "gid-timeline",
    "gid-monitor",
    "gid-monitor make drawing.svg",
    "gid-monitor test folder --frames 0",
    "gid-evaluate --chapters nosuch",
    "gid-recorder --rate 0",
    "gid-recorder --on nosuch",
    "gid-recorder --seconds 5 --after 5",
    "gid-recorder open:",
    "gid-timeline incident -",
]


@pytest.mark.parametrize("words", MISUSES)
def test_wrong_words(words: str, tmp_path: Path) -> None:
    name, *arguments = words.split()
    env = {key: value for key, value in os.environ.items() if not key.startswith("GID_")}
    done = subprocess.run(
        [PROGRAMS[name], *arguments], env=env, cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr and "Traceback" not in done.stderr


# Those that take words have one before it. To gid-recorder each is a stream.
FIRST_WORDS = {"gid-compose": ["FILE"], "gidctl": ["status"]}


@pytest.mark.parametrize("name", sorted(set(IN_C) - {"gid-probe", "gid-recorder"}))
def test_a_word_too_many_is_named(name: str) -> None:
    words = [*FIRST_WORDS.get(name, []), "stray"]
    done = subprocess.run([PROGRAMS[name], *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.match(rf"{name}: .*\bstray\b", done.stderr)


@pytest.mark.parametrize(
    ("kind", "no_color", "colours"),
    [("xterm", "", True), ("xterm", "1", False), ("dumb", "", False)],
)
def test_what_terminals_show(
    kind: str, no_color: str, colours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", kind)
    monkeypatch.setenv("NO_COLOR", no_color)
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        assert gid_console.obeys(terminal) == (kind != "dumb")
        assert gid_console.has_colours(terminal) == colours
    os.close(ours)


SENDERS_AND_READERS = [
    name
    for name in ("capture", "input", "meter", "pipewire", "telltale", "view")
    if f"gid-{name}" in PROGRAMS
]


@pytest.mark.parametrize("name", SENDERS_AND_READERS)
def test_a_name_that_no_stream_can_have(name: str) -> None:
    """It says what such names are."""
    words = [PROGRAMS[f"gid-{name}"], "--domain", "open", "--stream", "my film"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    what = "my film cannot be a stream's name: those have up to 63 letters"
    assert done.stderr.startswith(f"gid-{name}: --stream: {what}")


@pytest.mark.parametrize("words", ["gid-cockpit --confg x up", "gid-timeline --refesh 60 report"])
def test_an_option_before_the_command_is_named(words: str) -> None:
    """And not the word behind it, as a command that there is not."""
    name, option, *more = words.split()
    done = subprocess.run([PROGRAMS[name], option, *more], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"\n{name}: error: unrecognized arguments: {option}\n")


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}  # as Latin-1 locales are


@pytest.mark.parametrize("name", IN_PYTHON)
def test_all_is_utf8_whatever_the_locale(name: str, tmp_path: Path) -> None:
    done = subprocess.run([PROGRAMS[name], "--größe"], env=os.environ | ASCII, capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.endswith("unrecognized arguments: --größe\n".encode())


NUMBERS = [
    "gid-cluster --realtime",
    "gid-cluster --seconds",
    "gid-cluster --tolerance",
    "gid-meter --rate",
    "gid-recorder --keep",
    "gid-recorder --seconds",
    "gid-view --credit",
    "gid-cockpit logs open --lines",
    "gid-monitor test folder --frames",
    "gid-timeline simulate --seed",
    "gidctl watch movie --frames",
]


# These may have a point in them.
DECIMALS = [
    "gid-map --still",
    "gid-timeline compare one two --confidence",
    "gid-timeline follow - --interval",
    "gid-timeline simulate --miss-rate",
    "gidctl top --interval",
    "gidctl snap movie --wait",
]
NEVER = ["+5", " 5", "5 ", "0x5", "five", "", "-1", "1e308", "inf", "nan", "1.2.3", "."]


# All programs in Python read numbers by one function, and a start of each takes long: of these one
# option of each kind has all texts, and each option has one that no other error would be told of.
READ_ALIKE = {
    option
    for option in NUMBERS + DECIMALS
    if option.split()[0] in IN_PYTHON
    and option not in ("gid-cockpit logs open --lines", "gid-timeline simulate --miss-rate")
}


@pytest.mark.parametrize(
    ("text", "option"),
    [
        pytest.param(
            text,
            option,
            marks=[pytest.mark.at_length] if option in READ_ALIKE and text != "0x5" else [],
        )
        for text, option in itertools.product(NEVER, NUMBERS + DECIMALS)
    ],
)
def test_a_number_is_of_figures_alone(option: str, text: str) -> None:
    """What is read in another way than it was meant is found late."""
    name, *words, last = option.split()
    if name not in PROGRAMS:
        pytest.skip("it is not built")
    command = [PROGRAMS[name], *words, f"{last}={text}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    word = rf"'?{re.escape(text)}'?"
    told = rf"^{name}.*\b{last[2:]}:? must be a number from [\d.]+ to [\d.]+, not {word}$"
    assert re.search(told, done.stderr, re.M)


def test_manuals_say_so() -> None:
    """Each that has a word on its exit status."""
    silent = []
    for page in TOP.glob("**/*.scd"):
        status = re.search(r"^# EXIT STATUS\n(.*?)(^# |\Z)", page.read_text(), re.M | re.S)
        if status and not re.search(r"\b2\b.*(wrong|No result)", status[1], re.S):
            silent.append(page.name)
    assert silent == []


# --- output that cannot be written ---


def commands(cockpit: Cockpit, tmp_path: Path) -> dict[str, list[str | Path]]:
    """What prints something, of each program in Python."""
    config = ["--config", cockpit.config_path]
    found = {f"{name} --help": [PROGRAMS[name], "--help"] for name in IN_PYTHON}
    found |= {f"{name} --version": [PROGRAMS[name], "--version"] for name in IN_PYTHON}
    found |= {name: [TOP / words[0], *words[1:]] for name, words in OF_CLONE.items()}
    for words in (["status"], ["status", "--json"], ["check"], ["reload"], ["up"]):
        found[f"gid-cockpit {' '.join(words)}"] = [PROGRAMS["gid-cockpit"], *config, *words]
    found["gid-evaluate --plan"] = [PROGRAMS["gid-evaluate"], "--plan", "--out", tmp_path]
    return found


@pytest.fixture(
    params=[
        pytest.param("", id="buffered"),
        pytest.param("1", id="unbuffered", marks=pytest.mark.at_length),
    ]
)
def env(request: pytest.FixtureRequest, cockpit: Cockpit) -> dict[str, str]:
    path = f"{BUILD / 'gidd'}:{BUILD / 'tools/gidctl'}:{PATH}"
    settings = {"PATH": path, "PYTHONUNBUFFERED": request.param}
    return cockpit.env("open") | python_env() | settings


def test_a_full_disk(cockpit: Cockpit, tmp_path: Path, env: dict[str, str]) -> None:
    """It is told in a line, with a status that is not 0, also by the interpreter's end."""
    for name, words in commands(cockpit, tmp_path).items():
        with open("/dev/full", "w") as full:
            run = words if words[0] in PROGRAMS.values() else ["python3", "-P", *words]
            done = subprocess.run(run, env=env, stdout=full, stderr=subprocess.PIPE, text=True)
        if name in ("gid-cockpit up", "gid-cockpit reload"):
            # What it says on its way is not what it was asked for.
            assert (name, done.returncode, done.stderr) == (name, 0, "")
            continue
        assert "No space left on device" in done.stderr, name
        assert done.returncode in (1, 2) and done.stderr.count("\n") == 1, (name, done.stderr)


@pytest.mark.parametrize("name", IN_PYTHON)
def test_a_full_disk_is_told_without_a_buffer(name: str) -> None:
    """Also of a help, whose errors argparse forgives: all that print do it in one place."""
    for target, told in (("/dev/full", "No space left on device\n"), ("", "")):
        ours, theirs = os.pipe()
        os.close(ours)
        with open(target, "w") if target else os.fdopen(theirs, "w") as output:
            env = os.environ | {"PYTHONUNBUFFERED": "1"}
            words = [PROGRAMS[name], "--help"]
            done = subprocess.run(words, env=env, stdout=output, stderr=subprocess.PIPE, text=True)
        assert done.stderr.endswith(told) and done.stderr.count("\n") == bool(told)
        assert (done.returncode == 0) == (not told)


@pytest.mark.parametrize("name", IN_C)
def test_a_full_disk_is_told_by_each(name: str) -> None:
    for option in ("--help", "--version"):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [PROGRAMS[name], option], stdout=full, stderr=subprocess.PIPE, text=True
            )
        told = f"{name}: standard output: No space left on device\n"
        assert (done.returncode, done.stderr) == (1, told)


@pytest.mark.skipif("gid-telltale" not in PROGRAMS, reason="it is not built")
@pytest.mark.parametrize(
    "path, why",
    [("/nowhere/x.png", "No such file or directory"), ("/dev/full", "No space left on device")],
)
def test_why_a_picture_is_not_written(path: str, why: str) -> None:
    words = [PROGRAMS["gid-telltale"], "--png", path]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"gid-telltale: {path}: {why}\n")


def test_a_reader_that_had_enough(cockpit: Cockpit, tmp_path: Path, env: dict[str, str]) -> None:
    for name, words in commands(cockpit, tmp_path).items():
        run = words if words[0] in PROGRAMS.values() else ["python3", "-P", *words]
        ours, theirs = os.pipe()
        os.close(ours)
        with os.fdopen(theirs, "w") as pipe:
            done = subprocess.run(run, env=env, stdout=pipe, stderr=subprocess.PIPE, text=True)
        assert (name, done.returncode, done.stderr) == (name, 0, "")


# --- an interrupt before a program is there ---

SLOW = """
import os, time
os.close(int(os.environ["THERE"]))
time.sleep(600)
"""


@pytest.mark.parametrize("module", ["argparse", "pathlib"])
@pytest.mark.parametrize("name", IN_PYTHON)
def test_an_early_interrupt_is_no_traceback(name: str, module: str, tmp_path: Path) -> None:
    """While it imports what it is made of, which takes a second on a busy machine."""
    (tmp_path / f"{module}.py").write_text(SLOW)
    ours, theirs = os.pipe()
    env = os.environ | {"THERE": str(theirs)}
    env["PYTHONPATH"] = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    program = subprocess.Popen(
        [PROGRAMS[name], "--version"], env=env, pass_fds=[theirs], stderr=subprocess.PIPE, text=True
    )
    os.close(theirs)
    assert os.read(ours, 1) == b""  # it imports
    os.close(ours)
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=PATIENCE)
    assert (program.returncode, said) == (-signal.SIGINT, "")


# --- standard streams that are closed ---

# With what each waits, early: for a file, or for an answer of gidd, a compositor or PipeWire.
WAITING = {
    "gid-capture": ["--stream", "picture"],
    "gid-cluster": ["--config", "FILE"],
    "gid-compose": ["FILE"],
    "gid-engine": ["--config", "FILE"],
    "gid-input": ["--domain", "other", "--stream", "picture"],
    "gid-map": [],
    "gid-meter": [],
    "gid-pipewire": ["--stream", "picture"],
    "gid-recorder": [],
    "gid-probe": ["message", "ping", "other"],
    "gid-telltale": [],
    "gid-view": ["--stream", "picture"],
    "gidctl": ["status"],
    "gidd": ["--config", "FILE"],
}


class Silent:
    """All that a program can ask, none of which answers."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "file"
        os.mkfifo(self.file)
        (folder / "silent").mkdir()
        self.sockets = {
            folder / "silent/gidd.sock": socket.SOCK_SEQPACKET,
            folder / "wayland-0": socket.SOCK_STREAM,
            folder / "pipewire-0": socket.SOCK_STREAM,
        }
        self.listening = [self._listen(path, kind) for path, kind in self.sockets.items()]
        self.env = os.environ | {
            "GID_RUNTIME_DIR": str(folder),
            "GID_DOMAIN": "silent",
            "GID_ANSWER_SECONDS": str(int(PATIENCE)),
            "XDG_RUNTIME_DIR": str(folder),
            "PIPEWIRE_RUNTIME_DIR": str(folder),
            "WAYLAND_DISPLAY": "wayland-0",
        }

    @staticmethod
    def _listen(path: Path, kind: int) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, kind)
        listener.bind(str(path))
        listener.listen()
        return listener

    def is_asked(self) -> bool:
        if select.select(self.listening, [], [], 0)[0]:
            return True
        try:
            os.open(self.file, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            assert error.errno == errno.ENXIO  # nobody reads it
            return False
        return True


def test_of_each_program_it_is_known_what_it_waits_for() -> None:
    assert WAITING.keys() >= set(IN_C)


@pytest.mark.parametrize("name", IN_C)
def test_nothing_takes_the_place_of_what_was_closed(name: str, tmp_path: Path) -> None:
    """What a program writes for people went to the socket that was opened first."""
    silent = Silent(tmp_path)
    words = [str(silent.file) if word == "FILE" else word for word in WAITING[name]]
    program = subprocess.Popen(
        ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", PROGRAMS[name], *words], env=silent.env
    )
    try:
        wait_for(silent.is_asked, f"{name} to ask")
        assert program.poll() is None
        for number in range(3):
            assert os.readlink(f"/proc/{program.pid}/fd/{number}") == "/dev/null"
    finally:
        program.kill()
        program.wait()
