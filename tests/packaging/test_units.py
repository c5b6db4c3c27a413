# SPDX-License-Identifier: MIT
"""The units of systemd: without mistakes, and with a sandbox around each service."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from gid_cockpit.process import START_SECONDS
from lib.program import BUILD, PATIENCE, TOP

SERVICES = sorted((BUILD / "packaging").glob("*@.service"))
OF_USERS = sorted((BUILD / "packaging/systemd/user").glob("*@.service"))
SOCKETS = sorted((TOP / "packaging" / "systemd").glob("*@.socket"))
PROGRAMS = {
    "gidd@": BUILD / "gidd" / "gidd",
    "gid-cluster@": BUILD / "cluster" / "gid-cluster",
    "gid-engine@": BUILD / "engine" / "gid-engine",
    "gid-guest@": BUILD / "tools" / "gid-cockpit" / "gid-cockpit",
    "gid-pipewire@": BUILD / "clients" / "gid-pipewire",
}
READERS = [unit for unit in SERVICES if unit.stem != "gid-guest@"]  # those with our library
needs_pipewire = pytest.mark.skipif(
    not PROGRAMS["gid-pipewire@"].exists(), reason="this build has no gid-pipewire"
)
MOST_EXPOSED = 1.5  # as systemd-analyze counts, of 10


def ids(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | {"SYSTEMD_LOG_LEVEL": "warning", "SYSTEMD_PAGER": "", "LC_ALL": "C"},
    )


def settings(unit: Path) -> dict[str, str]:
    return dict(re.findall(r"^(\w+)=(.*)$", unit.read_text(), re.MULTILINE))


def test_there_is_one_for_each_daemon() -> None:
    assert {"gidd@", "gid-guest@"} <= set(ids(SERVICES))
    assert ids(SOCKETS) == ["gidd@"]


def test_a_guests_qemu_has_its_time() -> None:
    """What gid-cockpit gives it, and as much again for gid-cockpit itself."""
    (unit,) = (unit for unit in SERVICES if unit.stem == "gid-guest@")
    assert int(settings(unit)["TimeoutStartSec"]) >= 2 * START_SECONDS


@pytest.mark.parametrize("unit", [*READERS, *OF_USERS], ids=lambda unit: unit.stem)
def test_a_wrong_option_is_not_tried_again(unit: Path) -> None:
    """A line of /etc/default that nobody mends would else fill the journal for ever."""
    program = PROGRAMS[unit.stem]
    if not program.exists():
        pytest.skip(f"this build has no {program.name}")
    ended = subprocess.run([program, "--nonsense"], capture_output=True, timeout=PATIENCE)
    assert settings(unit).get("RestartPreventExitStatus") == str(ended.returncode)


def verify(folder: Path, units: list[Path], *options: str) -> None:
    for unit in units:
        text = unit.read_text()
        if unit.suffix == ".service":
            program = f'ExecStart="{PROGRAMS[unit.stem]}"'  # there may be a space in its path
            text = re.sub(r"^ExecStart=\S+", program, text, flags=re.M)
            assert program in text
        (folder / unit.name).write_text(text)
    result = analyze("verify", "--man=no", *options, *map(str, folder.iterdir()))
    assert (result.returncode, result.stderr) == (0, "")


def test_they_have_no_mistakes(tmp_path: Path) -> None:
    verify(tmp_path, [*SERVICES, *SOCKETS])


@needs_pipewire
def test_those_of_users_have_no_mistakes(tmp_path: Path) -> None:
    """Nor any that only a user's systemd finds."""
    verify(tmp_path, OF_USERS, "--user")


@needs_pipewire
def test_a_camera_of_a_user() -> None:
    """It is back whenever PipeWire is, may ask for the pages of others, and stays in the user's
    own namespace, by which gidd knows it."""
    (unit,) = OF_USERS
    has = settings(unit)
    assert has["Restart"] == "always" and has["StartLimitIntervalSec"] == "0"
    assert has["BindsTo"] == has["After"] == has["WantedBy"] == "pipewire.service"
    assert filters(unit) == ["@system-service", "cachestat mincore"]
    assert not [key for key in has if key.startswith(("Private", "Protect"))]


@pytest.mark.parametrize("unit", SERVICES, ids=ids(SERVICES))
def test_each_has_a_sandbox(unit: Path) -> None:
    result = analyze("security", "--offline=true", "--no-pager", str(unit))
    found = re.search(r"exposure level for .*: (\d+\.\d+)", result.stdout)
    assert found is not None, result.stdout + result.stderr
    print(found[0])
    assert float(found[1]) <= MOST_EXPOSED, result.stdout


@pytest.mark.parametrize("unit", SERVICES, ids=ids(SERVICES))
def test_each_is_bounded_and_back_at_once(unit: Path) -> None:
    has = settings(unit)
    assert has["User"] not in ("", "root")
    assert {"CPUWeight", "LimitNOFILE", "MemoryMax", "OOMScoreAdjust", "TasksMax"} <= set(has)
    assert has["Restart"] in ("always", "on-failure")
    number, unit_of_time = re.fullmatch(r"(\d+)(ms)", has["RestartSec"]).groups()
    assert unit_of_time == "ms" and int(number) < 1000
    assert has["StartLimitIntervalSec"] == "0"


@pytest.mark.parametrize("unit", SERVICES, ids=ids(SERVICES))
def test_the_filter_lets_through_what_is_needed(unit: Path) -> None:
    """A helper thread takes another scheduling class; nothing loads modules or debugs others."""
    has = filters(unit)
    assert has[0] == "@system-service"
    denied = {name for names in has if names.startswith("~") for name in names[1:].split()}
    assert "@privileged" in denied
    assert "@resources" not in denied
    service = calls("@system-service")
    assert {"sched_setscheduler", "memfd_create", "mlockall"} <= service
    assert not {"init_module", "ptrace", "bpf", "mount", "reboot"} & service


@pytest.mark.parametrize("unit", READERS, ids=ids(READERS))
def test_who_reads_memory_of_others_may_ask_for_its_pages(unit: Path) -> None:
    """No group of systemd's for services has these calls, and what the kernel does not answer is
    taken for good."""
    allowed = {name for names in filters(unit) for name in names.split()}
    assert {"cachestat", "mincore"} <= allowed | calls("@system-service")


def test_what_is_confined_is_let_through() -> None:
    """What the display's thread may call by its own filter, it may by that of its unit."""
    confined = set(re.findall(r"SCMP_SYS\((\w+)\)", (TOP / "cluster/confine.c").read_text()))
    (unit,) = (unit for unit in SERVICES if unit.stem == "gid-cluster@")
    allowed = {name for names in filters(unit) for name in names.split()}
    assert confined <= allowed | (calls("@system-service") - calls("@privileged"))


def filters(unit: Path) -> list[str]:
    return re.findall(r"^SystemCallFilter=(.*)$", unit.read_text(), re.MULTILINE)


def calls(group: str) -> set[str]:
    """All system calls of one of systemd's groups."""
    names: set[str] = set()
    for line in analyze("syscall-filter", group).stdout.splitlines()[1:]:
        word = line.strip()
        if word.startswith("@"):
            names |= calls(word)
        elif word and not word.startswith("#"):
            names.add(word)
    return names
