# SPDX-License-Identifier: MIT
"""A domain whose programs are in a container: with a podman that starts them here and takes notes,
and with podman itself where that runs containers."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.program import BUILD, TOP, wait_for

from lab.domains import contained
from lab.domains.cockpit import Cockpit
from lab.domains.configuration import configuration
from lab.domains.contained import Contained
from lab.domains.program import LabError
from lab.isolation import container

FAKE = """\
#!{python}
import json, os, signal, subprocess, sys
folder = os.path.dirname(os.path.abspath(__file__))
def read(name):
    try:
        return open(os.path.join(folder, name)).read().split()
    except FileNotFoundError:
        return []
def note(name, text, mode="a"):
    with open(os.path.join(folder, name), mode) as file:
        print(text, file=file)
def end():
    for pid in read("pids"):
        try:
            os.killpg(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    note("pids", "", "w")
def is_running():
    try:
        return read("first") and open("/proc/%s/stat" % read("first")[0]).read().split()[2] != "Z"
    except OSError:
        return False
verb, words = sys.argv[1], sys.argv[2:]
note("calls", json.dumps(sys.argv[1:]))
if verb == "images":
    print(*read("image"))
elif verb == "import":
    note("image", len(open(os.path.join(folder, "calls")).readlines()), "w")
elif verb == "info":
    print(json.dumps(read("groups")))
elif verb == "ps":
    pid = int(read("first")[0]) if is_running() else 0
    found = {{"State": "running", "Pid": pid, "ExitCode": 0, "Names": read("name")}}
    found["Labels"] = dict([read("label")[0].split("=")]) if pid else {{}}
    print(json.dumps([found] if pid else []))
elif verb == "run" and "--detach" in words:
    end()
    (domain,) = (word for word in words if ":/run/gidway/" in word)
    for key in ("name", "label"):
        (said,) = (word for word in words if word.startswith("--%s=" % key))
        note(key, said.partition("=")[2], "w")
    note("runtime", os.path.dirname(domain.split(":")[0].removeprefix("--volume=")), "w")
    command = words[words.index("localhost/gidway-lab") + 1:]
    process = subprocess.Popen(command, start_new_session=True)
    note("first", process.pid, "w")
    note("pids", process.pid)
elif verb == "rm":
    end()
elif verb == "exec":
    while words[0].startswith("--"):
        key, _, value = words.pop(0).removeprefix("--env=").partition("=")
        os.environ[key] = value
    (os.environ["GID_RUNTIME_DIR"],) = read("runtime")
    process = subprocess.Popen(words[1:], start_new_session=True)
    note("pids", process.pid)
    if not is_running():
        process.kill()
    code = process.wait()
    sys.exit(code if code >= 0 else 128 - code)
"""


class Rig:
    """A cockpit with `open` in a container. `notes`: of a podman that only takes notes."""

    def __init__(self, folder: Path, notes: Path | None) -> None:
        keys = {"open": contained.keys("open", folder), "cluster": ""}
        text = configuration(keys, {"open cluster": "movie"}, folder)
        self.cockpit = Cockpit(folder, text, sessions=False, contained={"open": []})
        self._notes = notes
        self.place: Contained = self.cockpit.start("open")

    def calls(self, verb: str) -> list[list[str]]:
        assert self._notes is not None
        calls = map(json.loads, (self._notes / "calls").read_text().splitlines())
        return [words[1:] for words in calls if words[0] == verb]


def forget() -> None:
    """What was found out of podman."""
    contained.why_not.cache_clear()
    contained.controllers.cache_clear()


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are built, which the container has as well."""
    folders = [BUILD / "gidd", BUILD / "tools" / "gidctl"]
    monkeypatch.setenv("PATH", ":".join([*map(str, folders), os.environ["PATH"]]))


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "podman"
    program.write_text(FAKE.format(python=sys.executable))
    program.chmod(0o755)
    (folder / "groups").write_text("memory pids")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    forget()
    yield folder
    forget()


@pytest.fixture(params=["notes", "podman"])
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    notes = request.getfixturevalue("notes") if request.param == "notes" else None
    if (reason := contained.why_not()) is not None:
        pytest.skip(f"no container can run here: {reason}")
    runtime = tmp_path / "r"
    runtime.mkdir()
    rig = Rig(runtime, notes)
    yield rig
    rig.cockpit.kill()


def test_a_program(rig: Rig) -> None:
    """It is the domain's, and sees its folder; its gidd is none of the container's."""
    place = rig.place
    assert place.run(["sh", "-c", "cat; echo $GID_DOMAIN"], b"from here ") == "from here open\n"
    file = place.write("text", b"words")
    said = place.start("cat", ["cat", str(file)])
    assert (said.output(), said.status()) == ("words", 0)
    place.forget("cat")
    sleeper = place.start("sleeper", ["sleep", "infinity"])
    assert place.pids() == [sleeper.pid]
    assert place.run(["cat", f"/proc/{sleeper.pid}/comm"]) == "sleep\n"
    assert Path(f"/proc/{sleeper.pid_here}/comm").read_text() == "sleep\n"
    assert Path(f"/proc/{place['gidd'].pid_here}/comm").read_text() == "gidd\n"
    assert json.loads(place.run(["gidctl", "--json", "status"]))["domain"] == "open"


def test_how_it_ends(rig: Rig) -> None:
    place = rig.place
    assert place.start("seven", ["sh", "-c", "exit 7"]).wait(10) == 7
    assert place.start("sleeper", ["sleep", "infinity"]).stop(10) == -signal.SIGTERM
    deaf = place.start(
        "deaf", ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"]
    )
    wait_for(lambda: "ready" in deaf.printed(), "it listens to nobody")
    with pytest.raises(LabError, match="deaf does not end"):
        deaf.stop(0.5)
    assert not Path(f"/proc/{deaf.pid_here}").exists()
    with pytest.raises(LabError, match="false in open"):
        place.run(["false"])


def test_one_that_never_begins(rig: Rig) -> None:
    program = rig.place.start("nothing", ["/no/such/program"])
    assert program.wait(10) not in (0, None)
    program.signal(signal.SIGTERM)  # and nobody gets it


def test_the_container_alone_ends(rig: Rig) -> None:
    """Its gidd stays, and programs start again in another one."""
    place = rig.place
    gidd = place["gidd"].pid
    sleeper = place.start("sleeper", ["sleep", "infinity"])
    here = sleeper.pid_here
    place.end_container()
    assert sleeper.status() is not None
    assert not Path(f"/proc/{here}").exists()
    assert (place.is_up(), place.is_running("gidd")) == (False, True)
    place.up()
    assert (place.is_up(), place["gidd"].pid) == (True, gidd)
    assert place.run(["echo", "again"]) == "again\n"


def test_another_image(rig: Rig) -> None:
    """Nothing that ran goes on."""
    place = rig.place
    before = contained.podman("images", "--quiet", contained.IMAGE)
    sleeper = place.start("sleeper", ["sleep", "infinity"])
    place.update()
    assert sleeper.status() is not None
    assert place.is_up()
    assert contained.podman("images", "--quiet", contained.IMAGE) != before


def test_all_of_it_is_killed(rig: Rig) -> None:
    place = rig.place
    sleeper = place.start("sleeper", ["sleep", "infinity"])
    place.kill()
    assert not place.is_running("gidd") and not sleeper.is_running()
    place.up()
    assert place.is_up()


def test_another_place_after_one_that_was_killed(rig: Rig) -> None:
    """As a domain's next life has."""
    rig.place.kill()
    place = rig.cockpit.start("open")
    assert place.run(["echo", "again"]) == "again\n"


def test_all_of_it_is_stopped(rig: Rig) -> None:
    """And goes on."""
    place = rig.place
    script = "while :; do echo .; sleep 0.05; done"
    place.start("ticker", ["sh", "-c", script])
    wait_for(lambda: place["ticker"].printed(), "it ticks")
    place.signal_all(signal.SIGSTOP)
    if rig._notes is not None:
        assert [words[0] for words in rig.calls("pause")] == [place.container.name]
    else:
        time.sleep(0.3)
        before = place["ticker"].printed()
        time.sleep(0.3)
        assert place["ticker"].printed() == before
    place.signal_all(signal.SIGCONT)
    before = place["ticker"].printed()
    wait_for(lambda: place["ticker"].printed() > before, "it ticks again")


def test_without_control_groups_each_program_is_stopped(notes: Path, tmp_path: Path) -> None:
    """As podman of an ordinary user cannot pause, where control groups are of version 1."""
    (notes / "groups").write_text("")
    rig = Rig(tmp_path, notes)
    try:
        program = rig.place.start("sleeper", ["sleep", "infinity"])
        state = Path(f"/proc/{program.pid_here}/stat")
        rig.place.signal_all(signal.SIGSTOP)
        wait_for(lambda: state.read_text().split()[2] == "T", "it is stopped")
        rig.place.signal_all(signal.SIGCONT)
        wait_for(lambda: state.read_text().split()[2] == "S", "it goes on")
        assert rig.calls("pause") == []
    finally:
        rig.cockpit.kill()


def test_a_display_has_real_time_where_groups_share_it_out(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cpu.rt_runtime_us"
    monkeypatch.setattr(container, "_REAL_TIME", file)
    plain = ["--cap-add=SYS_NICE", "--cap-add=IPC_LOCK"]
    assert container.options_of("cluster") == plain
    file.write_text("950000\n")
    assert container.options_of("cluster") == [
        *plain,
        "--cgroup-parent=/",
        "--cpu-rt-runtime=855000",
    ]
    file.write_text("-1\n")  # it is not shared out
    assert container.options_of("cluster") == plain
    file.write_text("950000\n")
    (notes / "groups").write_text("")
    forget()
    assert container.options_of("cluster") == plain
    assert container.options_of("open") == []


def test_a_displays_workers_come_before_others(notes: Path) -> None:
    """By the weight of its group, as in the file to copy: they have no real time."""
    (notes / "groups").write_text("cpu memory pids")
    forget()
    (weight,) = (word for word in container.options_of("cluster") if "--cpu-shares" in word)
    copied = (TOP / "packaging" / "containers" / "qm.conf").read_text()
    assert weight in copied.partition("[domain cluster]")[2]
    (notes / "groups").write_text("memory pids")
    forget()
    assert not any("--cpu-shares" in word for word in container.options_of("cluster"))


def test_it_ends_with_us(rig: Rig) -> None:
    """However we end: nobody has the other end of what its first process reads then."""
    os.close(rig.place._alive)
    wait_for(lambda: not rig.place.is_up(), "the container has ended")


def test_without_podman(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    forget()
    assert contained.why_not() == "podman is not in $PATH"
    with pytest.raises(LabError, match=r"^podman is not in \$PATH$"):
        contained.has_groups()
    forget()
