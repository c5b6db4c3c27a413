# SPDX-License-Identifier: MIT
"""Programs that end as the lab asks them or ends them: an error of its own, or no answer."""

import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.domains.here import Here
from lab.domains.program import LabError
from lab.domains.there import Listener, There
from lab.isolation.cases import Case, Gpu, Leak
from lab.soak import parts, soak


def answer(path: Path, text: bytes, seconds: float = 0) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)

    def serve() -> None:
        port, _ = listener.accept()
        with listener, port:
            port.sendall(text)
            time.sleep(seconds)

    threading.Thread(target=serve, daemon=True).start()


@pytest.mark.parametrize("text", [b"", b'{"roles": ['])
def test_one_that_ends_as_it_answers(tmp_path: Path, text: bytes) -> None:
    place = Here("cluster", tmp_path / "cockpit.conf")
    answer(tmp_path / "status", text)
    assert place.ask(tmp_path / "status") is None


def test_one_that_does_not_answer(tmp_path: Path) -> None:
    place = Here("cluster", tmp_path / "cockpit.conf", patience=0.2)
    answer(tmp_path / "status", b"", 2)
    with pytest.raises(LabError, match="status of cluster does not answer"):
        place.ask(tmp_path / "status")


def test_one_that_ends_as_it_answers_in_a_guest() -> None:
    heard = Listener(5)
    later = time.monotonic_ns() + 10**12
    heard.hear("out", b'%d {"roles": [\n%d {"roles": []}\n' % (later, later + 1))
    heard.offset = 0
    assert heard.next() == {"roles": []}


def test_a_machine_that_ends_as_it_is_killed() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    pids = iter([process.pid, None])
    place = There.__new__(There)
    place.domain, place.patience = "open", 5
    place.guest = SimpleNamespace(pid=lambda: next(pids))
    place.agent = SimpleNamespace(close=lambda: None)
    place.kill()


# --- attacks --------------------------------------------------------------------------------------


def attacked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, case: Case, program: str, script: str
) -> dict[str, object]:
    """What was done by a hostile program that is this script."""
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    (folder / program).write_text(f"#!/bin/sh\n{script}\n")
    (folder / program).chmod(0o755)
    limit = SimpleNamespace(kills=True, kind="no", command=lambda *words: words, close=str)
    place = Here("open", folder / "cockpit.conf")
    cockpit = SimpleNamespace(open=SimpleNamespace(place=place, limit=lambda: limit))
    case.begin(cockpit)
    return case.end(cockpit)


COMPUTES = """\
trap 'echo "{\\"pictures\\": 7}"; exit' TERM
echo computes >&2
while :; do sleep 0.1; done"""


def test_an_attack_tells_what_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert attacked(tmp_path, monkeypatch, Gpu(), "gid-bench-gpu-hog", COMPUTES) == {"pictures": 7}


def test_an_attack_that_could_not_be_made_was_not_withstood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as where there is no OpenGL: the display was as undisturbed as before."""
    with pytest.raises(LabError, match=r"gpu ended by itself, status 1:\n.*no GL"):
        attacked(tmp_path, monkeypatch, Gpu(), "gid-bench-gpu-hog", "echo no GL >&2; exit 1")


def test_a_leak_may_be_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its control group, whose limit it was to reach."""
    found = attacked(tmp_path, monkeypatch, Leak(), "hostile-leak", "kill -9 $$")
    assert found == {"limit": "no", "status": -signal.SIGKILL}


def test_a_soak_that_trips_over_itself_broke(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its status would be that of one that was too short, which is no defect of a quick one."""

    def trip(tripping: soak.Soak) -> None:
        tripping.result.cases = 1
        raise KeyError("Pss")

    monkeypatch.setattr(soak.Soak, "run", trip)
    file = tmp_path / "parts"
    monkeypatch.setattr("sys.argv", ["soak", f"--out={tmp_path}", f"--parts={file}"])
    assert soak.main() == soak.BROKEN
    (part,) = parts.read(file)
    assert part.state == parts.BROKE and part.told == "It broke off: KeyError: 'Pss'"
    assert "Traceback" in capsys.readouterr().err
