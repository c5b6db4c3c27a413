# SPDX-License-Identifier: MIT
"""gid-recorder: what its files have of an incident, its memory, and what may go wrong with both."""

import base64
import fcntl
import io
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from gid_timeline.perfetto_schema import INSTANT, MONOTONIC, Packet
from gid_vm.preload import Preload
from lib import hollow
from lib.cockpit import Cockpit
from lib.display import ROLE, WIDTH, Display, start_telltale, telltale_picture, with_deadline
from lib.length import at_length_but
from lib.program import BUILD, EMULATED, EMULATOR_KIB, SANITIZED, own_kib, wait_for
from PIL import Image

RECORDER = BUILD / "tools/gid-recorder/gid-recorder"
RESTLESS = BUILD / "tests/hostile/programs/hostile-restless"
FLOW = BUILD / "tests/tools/flow"
UNHEARD = BUILD / "tests/lib/programs/unheard.so"
PATH = f"{BUILD / 'tools/gid-timeline'}:{os.environ['PATH']}"
MIB = 1024  # KiB


class Recorder:
    """In the domain `cluster`, with a folder of its own."""

    def __init__(
        self,
        cockpit: Cockpit,
        *words: str | Path,
        under: tuple[str, ...] = (),
        **environment: str,
    ) -> None:
        self.folder = cockpit.folder / "incidents"
        status = cockpit.folder / "cluster.sock"
        options = [f"--folder={self.folder}", f"--status={status}", "--after=1", *words]
        environment["PATH"] = PATH
        command = [*under, RECORDER, *options]
        self.program = cockpit.run("cluster", command, "recorder", **environment)
        self.program.wait_output("gid-recorder: ready")

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("incident-*.html"))

    def wait_said(self, words: str, times: int = 1) -> None:
        wait_for(
            lambda: self.program.stderr.count(words) >= times,
            lambda: f"{times} times {words!r} in:\n{self.program.stderr}",
        )

    def wait_files(self, count: int) -> list[Path]:
        self.wait_said("gid-recorder: wrote ", count)
        return self.files

    def ask(self) -> "Page":
        """A file of what it has now."""
        count = self.program.stderr.count("gid-recorder: wrote ")
        self.program.signal(signal.SIGUSR1)
        self.wait_files(count + 1)
        return Page(self.files[-1])


class Page:
    """What is in a file, read without a browser."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text()
        self.recorded = self._json("recorded")
        self.trace = self._json("trace")

    def _json(self, name: str) -> dict:
        return json.loads(re.search(rf'id="{name}">(.*?)</script>', self.text, re.S)[1])

    def pictures(self, stream: str) -> list[dict]:
        (found,) = [one for one in self.recorded["streams"] if one["name"] == stream]
        return found["pictures"]


def image(picture: dict) -> np.ndarray:
    with Image.open(io.BytesIO(base64.b64decode(picture["jpeg"]))) as found:
        return np.asarray(found.convert("RGB")).astype(int)


def differ(one: np.ndarray, other: np.ndarray) -> float:
    """By how much, on average, of 255. JPEG itself is a few off."""
    return float(np.abs(one.astype(int) - other.astype(int)).mean())


def wait_shown(display: Display, more: int) -> None:
    """Until so many more frames of the role came to be shown: so the recorder has seen some."""
    before = display.role()["frames"]
    wait_for(lambda: display.role()["frames"] >= before + more, f"{more} frames")


def told_mib(text: str) -> list[float]:
    """What it said that it takes, and takes beside while it writes."""
    return [float(number) for number in re.findall(r"([\d.]+) MiB", text)]


# --- an incident ---


def test_a_producer_that_is_killed(cockpit: Cockpit) -> None:
    """One file, with the pictures of before and after, and the change, its reason and its time."""
    display = Display(cockpit)
    recorder = Recorder(cockpit, "open:safety/telltale", "screen", "--rate=10", "--width=640")
    telltale = start_telltale(cockpit, "--state", "5", "--cycle", "20")
    display.wait_role("live")
    wait_shown(display, 30)
    telltale.kill()
    lost = display.wait_role("lost", "died")
    (path,) = recorder.wait_files(1)
    assert re.fullmatch(r"incident-\d{8}-\d{6}\.\d{3}-telltale-lost\.html", path.name)
    page = Page(path)

    (spans,) = page.recorded["roles"]
    assert [one["state"] for one in spans][-2:] == ["live", "lost"]
    assert spans[-1]["reason"] == "died" and spans[-1]["from"] == 0
    change = lost["transitions"][-1]
    assert (change["to"], change["reason"]) == ("lost", "died")

    light = page.pictures("safety/telltale")
    assert len(light) >= 2 and all(one["at"] < 0 for one in light)
    assert light[-1]["gap"] == "gone" and abs(light[-1]["gapAt"]) < 1e6
    states = [telltale_picture(cockpit.folder, state) for state in range(16)]
    for one in light:
        assert one["size"] == [WIDTH, 80]
        assert min(differ(image(one), state) for state in states) < 6

    frames = [one["name"] for one in page.trace["traceEvents"] if one["ph"] == "b"]
    sequences = [int(name.split()[1]) for name in frames if name.startswith("safety/telltale ")]
    assert light[-1]["sequence"] == max(sequences), "of the very last frame, too"

    screen = page.pictures("screen")
    before = [one for one in screen if one["at"] < -0.1e6]
    after = [one for one in screen if one["at"] > 0]
    assert before and after, [one["at"] for one in screen]
    place = (slice(20, 100), slice(40, 360))
    assert differ(image(before[-1])[place], display.region()) > 20
    assert differ(image(after[-1])[place], display.region()) < 6

    check_trace(page, change)
    assert page.text.count("src=") == 0 and "http" not in re.sub(r'"jpeg":"[^"]*"', "", page.text)
    assert recorder.files == [path]


def check_trace(page: Page, change: dict) -> None:
    events = page.trace["traceEvents"]
    names = {one["args"]["name"] for one in events if one["name"] == "process_name"}
    assert {"streams", "roles of gid-cluster"} <= names
    (mark,) = [one for one in events if one["name"] == "incident"]
    assert mark["ts"] == change["decided_ns"] / 1000
    lost = [one for one in events if one["ph"] == "X" and one["name"] == "lost"]
    assert lost[-1]["ts"] == mark["ts"] and lost[-1]["args"] == {"reason": "died"}
    frames = [one for one in events if one["ph"] == "b" and "safety/telltale" in one["name"]]
    assert len(frames) >= 30
    assert all({"submit", "receive"} <= one["args"]["ms"].keys() for one in frames)


def test_a_change_that_is_no_incident(cockpit: Cockpit) -> None:
    """--on says which are; SIGUSR1 is one always, and SIGTERM waits for what is to be written."""
    display = Display(cockpit, with_deadline(3000))  # no busy machine is so late
    recorder = Recorder(cockpit, "open:safety/telltale", "--on=late", "--after=8", "--seconds=9")
    telltale = start_telltale(cockpit)
    display.wait_role("live")
    telltale.stop()
    display.wait_role("lost")
    telltale = start_telltale(cockpit)
    display.wait_role("live")
    telltale.signal(signal.SIGSTOP)
    display.wait_role("late")
    recorder.wait_said("telltale: live to late")
    telltale.signal(signal.SIGCONT)
    assert "to lost" not in recorder.program.stderr
    recorder.program.signal(signal.SIGUSR1)
    recorder.wait_said("a file is asked for: in the file that is to come")
    assert recorder.program.stop() == 0
    (path,) = recorder.files
    assert "and 1 more until the file was written" in Page(path).text


def test_the_frames_of_a_timeline(cockpit: Cockpit) -> None:
    """What GID_TIMELINE of other programs names: there frames have more than a reader sees."""
    points = cockpit.folder / "points.log"
    words = [FLOW, "produce", "movie", "30"]
    cockpit.run("open", words, "flow", GID_TIMELINE=str(points)).wait_output("ready")
    recorder = Recorder(cockpit, "open:movie", f"--timeline={points}")
    consume = [FLOW, "consume", "open", "movie", "0"]
    cockpit.run("cluster", consume, "consume", GID_TIMELINE=str(points)).wait_output("ready")
    wait_for(lambda: points.read_text().count("gid_released") > 60, "frames that came and went")
    page = recorder.ask()
    frames = [one for one in page.trace["traceEvents"] if one["ph"] == "b"]
    assert any({"submit", "receive", "released"} <= one["args"]["ms"].keys() for one in frames)
    assert "open → cluster" in page.text
    assert "gid-recorder" not in points.read_text(), "it is no part of the frames' way"


def wake_ups(pid: int) -> int:
    return int(re.search(r"\nvoluntary\S+\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


def test_one_wake_up_for_all_streams(cockpit: Cockpit) -> None:
    """However many frames come, it looks at all streams each 16 ms; no producer wakes it."""
    names = ("front", "rear", "left")
    for name in names:
        cockpit.run("open", [FLOW, "produce", name, "100"], name).wait_output("ready")
    recorder = Recorder(cockpit, *(f"open:{name}" for name in names))
    page = recorder.ask()
    assert all(page.pictures(name) for name in names)
    begun, before = time.monotonic(), wake_ups(recorder.program.pid)
    time.sleep(3)
    count, passed = wake_ups(recorder.program.pid) - before, time.monotonic() - begun
    assert count < 1.2 * passed * (1 / 0.016 + 4), "and each quarter of a second for all else"


def test_a_gidd_that_does_not_answer(cockpit: Cockpit) -> None:
    """Of a domain whose frames each have other memory: the other streams are kept as before."""
    recorder = Recorder(cockpit, "open:wild", "calm", "--rate=10", "--interval=0")
    cockpit.run("cluster", [FLOW, "produce", "calm", "30"], "flow").wait_output("ready")
    wild = cockpit.run("open", [RESTLESS, "unknown", "wild", "320", "80"], "wild")
    recorder.ask()  # both streams are read
    gidd = cockpit.gidds["open"]
    gidd.signal(signal.SIGSTOP)
    try:
        time.sleep(6)
        recorder.program.signal(signal.SIGUSR1)
        times = [one["at"] for one in Page(recorder.wait_files(2)[-1]).pictures("calm")]
    finally:
        gidd.signal(signal.SIGCONT)
    assert wild.is_running()
    # A link that does not answer is given up after 20 s.
    assert max(later - sooner for sooner, later in itertools.pairwise(times)) < 4e6
    assert times[-1] > -4e6


def test_memory_that_is_lent_again(cockpit: Cockpit) -> None:
    """It was taken away meanwhile, and has the number that it had: pictures go on."""
    recorder = Recorder(cockpit, "open:movie", "--rate=10", "--interval=0")
    cockpit.run("open", [FLOW, "produce", "movie", "30"], "flow").wait_output("ready")
    assert recorder.ask().pictures("movie")
    for domain in ("open", "cluster"):
        cockpit.kill(domain)
    cockpit.start("cluster")
    time.sleep(6)  # what is not found again in 5 s is taken away
    cockpit.start("open")
    cockpit.wait_links()
    wait_for(lambda: recorder.ask().pictures("movie")[-1]["at"] > 0, "new pictures")


def test_an_end_that_would_not_be_heard(cockpit: Cockpit) -> None:
    """Where there is no memory to listen for a slab's end there are no pictures of it, and the page
    says so: it would be read when it is another one."""
    file = cockpit.folder / "unheard"
    file.touch()
    preload = Preload(UNHEARD)
    recorder = Recorder(
        cockpit, "open:movie", "--rate=10", "--interval=0", UNHEARD=str(file), **preload.env
    )
    cockpit.run("open", [FLOW, "produce", "movie", "30"], "flow").wait_output("ready")
    recorder.program.wait_output("unheard: ")
    preload.check("gid-recorder")
    page = recorder.ask()
    assert page.pictures("movie") == []
    assert "of movie no picture could be made" in page.text and "not enough memory" in page.text
    file.unlink()
    wait_for(lambda: recorder.ask().pictures("movie"), "pictures")


@pytest.mark.skipif(not hollow.is_told(), reason="the kernel does not tell of pages")
def test_memory_with_holes(cockpit: Cockpit) -> None:
    """Of it there are no pictures, and the page says why."""
    recorder = Recorder(cockpit, "open:wild", "--rate=10", "--interval=0")
    cockpit.run("open", [RESTLESS, "hollow", "wild", "320", "80"], "wild")

    def told() -> Page | None:
        page = recorder.ask()
        return page if "of wild no picture could be made" in page.text else None

    page = wait_for(told, "the page to say so")
    assert page.pictures("wild") == [] and "memory with holes" in page.text


def test_a_clock_that_was_set_back(cockpit: Cockpit) -> None:
    """Files that are dated ahead are the oldest: what was written just now stays."""
    folder = cockpit.folder / "incidents"
    folder.mkdir()
    old = [folder / f"incident-2999010{day}-000000.000-asked.html" for day in range(1, 4)]
    for path in old:
        path.touch()
    recorder = Recorder(cockpit, "open:movie", "--keep=3", "--interval=0")
    for count in (1, 2):
        recorder.program.signal(signal.SIGUSR1)
        recorder.wait_said("gid-recorder: wrote ", count)
        wait_for(lambda: len(recorder.files) == 3, "one file less")
        new = [path for path in recorder.files if path not in old]
        assert len(new) == count and recorder.files == [*new, *old[count:]]


def test_a_role_that_changes_all_the_time(cockpit: Cockpit) -> None:
    """Its files are the ones that go: the only one of another role stays, though it is older."""
    folder = cockpit.folder / "incidents"
    folder.mkdir()
    names = ["1-telltale-lost", "2-camera-rear-late", "3-camera-rear-lost", "4-camera-late"]
    for name in names:
        (folder / f"incident-2020010{name[0]}-000000.000{name[1:]}.html").touch()
    recorder = Recorder(cockpit, "open:movie", "--keep=4", "--interval=0")

    def kept() -> list[str]:
        """Of those of 2020: what was asked for may be of a whole second, too."""
        old = [path.name for path in recorder.files if path.name.startswith("incident-2020")]
        return [name.partition(".000-")[2] for name in old]

    recorder.program.signal(signal.SIGUSR1)
    left = ["telltale-lost.html", "camera-rear-lost.html", "camera-late.html"]
    wait_for(lambda: kept() == left and len(recorder.files) == 4, lambda: f"{left}: {kept()}")
    recorder.program.signal(signal.SIGUSR1)
    recorder.wait_said("gid-recorder: wrote ", 2)
    wait_for(lambda: kept() == left and len(recorder.files) == 4, lambda: f"{left}: {kept()}")


# --- memory ---


MODES = ["formats", "narrow", "slabs", "restarts", "swapped", "leases"]


@pytest.mark.parametrize("mode", at_length_but(MODES, "formats", "slabs", "restarts"))
def test_a_stream_that_never_is_as_it_was(cockpit: Cockpit, mode: str) -> None:
    """Its memory is what it said before it began; it goes on, and its file can be read."""
    # Kept shorter than it lasts, so that everything is used.
    recorder = Recorder(cockpit, "open:wild", "--seconds=4", "--rate=10")
    idle = own_kib(recorder.program.pid)
    keeps, more = told_mib(recorder.program.stderr)
    wild = cockpit.run("open", [RESTLESS, mode, "wild", "320", "80"], "wild")
    time.sleep(6)
    most = own_kib(recorder.program.pid)
    assert wild.is_running(), wild.stderr
    assert most < keeps * MIB + 4 * MIB + EMULATOR_KIB, f"{most} KiB, {idle} of them before"
    assert more > keeps
    page = recorder.ask()
    assert recorder.program.is_running()
    for one in page.pictures("wild"):
        assert max(one["size"]) <= 320  # some are turned
        assert image(one).shape == (one["size"][1], one["size"][0], 3)
    if mode in ("formats", "slabs"):
        assert page.pictures("wild"), recorder.program.stderr
    wild.kill()
    assert recorder.program.stop() == 0


def test_a_flood_of_what_is_no_picture(cockpit: Cockpit) -> None:
    """It does not push the pictures out, nor take the recorder's time."""
    liar = cockpit.run("open", [BUILD / "tests/lib/programs/liar", "notes"], "liar")
    recorder = Recorder(cockpit, "open:left", "open:right")
    time.sleep(1)
    liar.signal(signal.SIGUSR1)
    time.sleep(3)
    page = recorder.ask()
    assert recorder.program.is_running()
    for stream in ("left", "right"):
        assert len(page.pictures(stream)) <= 30 * 4 + 1
    assert recorder.program.stop() == 0


def test_what_it_says_is_what_it_takes() -> None:
    """Before it begins, with no gidd; the more is kept, the more it says."""

    def said(*words: str) -> float:
        command = [RECORDER, "--check", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return told_mib(done.stdout)[0]

    base = said()
    picture = 320 * 240 * 3 / 2**20
    assert said("a") - base == pytest.approx(122 * picture, rel=0.05)
    assert said("a", "b", "--width=160") - base == pytest.approx(2 * 122 * picture / 4, rel=0.1)
    assert said("--timeline=x") - base == pytest.approx(8.25, abs=0.2)


def test_one_of_each_is_not_several() -> None:
    def said(*words: str) -> str:
        command = [RECORDER, "--check", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "keeps 30 s of 1 stream and 1 timeline in " in said("a", "--timeline=x")
    assert "keeps 30 s of 2 streams and 0 timelines in " in said("a", "b")


# --- files ---


def test_many_incidents(cockpit: Cockpit) -> None:
    """No more files than are to be kept, the newest; whole ones only."""
    recorder = Recorder(cockpit, "--after=0", "--interval=0", "--keep=3")
    names = []
    for _ in range(6):
        recorder.ask()
        names.append(recorder.files[-1].name)
    assert len(set(names)) == 6
    assert [path.name for path in recorder.files] == names[-3:]
    assert [path.name for path in recorder.folder.iterdir() if path.suffix != ".html"] == []


def test_incidents_that_come_too_soon(cockpit: Cockpit) -> None:
    recorder = Recorder(cockpit, "--after=0", "--interval=3600")
    recorder.ask()
    for count in range(1, 4):
        recorder.program.signal(signal.SIGUSR1)
        recorder.wait_said(f"too soon after the last file, {count} left out")
    assert len(recorder.files) == 1


def test_what_was_left_half_done(cockpit: Cockpit) -> None:
    """By one that was killed: it goes; what else is in the folder stays."""
    folder = cockpit.folder / "incidents"
    folder.mkdir()
    for name in ("incident-1.html.partial", "incident-0.html", "letter.html", "letter.partial"):
        (folder / name).write_text("x")
    recorder = Recorder(cockpit, "--keep=1", "--after=0")
    assert not (folder / "incident-1.html.partial").exists()
    recorder.ask()
    assert {path.name for path in folder.iterdir()} >= {"letter.html", "letter.partial"}
    assert len(list(folder.glob("incident-*"))) == 1


def test_what_another_run_had_not_named(cockpit: Cockpit) -> None:
    """It was killed, and what made its file was not: a page that is whole is no rubbish."""
    folder = cockpit.folder / "incidents"
    folder.mkdir()
    whole = "<!DOCTYPE html><html></html>"
    for name, content in {"1": whole, "2": whole[:-1], "3": whole}.items():
        (folder / f"incident-{name}.html.partial").write_text(content)
    with (folder / "incident-3.html.partial").open("rb") as written:
        fcntl.flock(written, fcntl.LOCK_EX)
        recorder = Recorder(cockpit, "--after=0", "--interval=0")
        names = {path.name for path in folder.iterdir()}
        assert names == {"incident-1.html", "incident-3.html.partial"}
        assert "incident-1.html: of another run" in recorder.program.stderr
    recorder.program.signal(signal.SIGUSR1)
    recorder.wait_said("gid-recorder: wrote ")
    recorder.wait_said("incident-3.html: of another run")
    assert (folder / "incident-3.html").read_text() == whole


def test_a_recorder_that_is_killed_while_it_writes(cockpit: Cockpit) -> None:
    """What was begun is there when the next one has written a file."""
    stand_in = cockpit.folder / "slow"
    stand_in.mkdir()
    (stand_in / "gid-timeline").write_text(
        f'#!/bin/sh\n"{BUILD}/tools/gid-timeline/gid-timeline" "$@"; ret=$?\n'
        f'touch "{stand_in}/made"; exit $ret\n'
    )
    (stand_in / "gid-timeline").chmod(0o755)
    folder = cockpit.folder / "incidents"
    words = [RECORDER, f"--folder={folder}", "--after=0", "--interval=0"]
    program = cockpit.run("cluster", words, "recorder", PATH=f"{stand_in}:{os.environ['PATH']}")
    program.wait_output("gid-recorder: ready")
    program.signal(signal.SIGUSR1)
    program.wait_output("a file is asked for")
    wait_for(lambda: children(program.pid), "it to have begun")
    os.kill(program.pid, signal.SIGKILL)  # not its children
    program.process.wait()
    wait_for((stand_in / "made").exists, "the page")
    (left,) = folder.iterdir()
    assert left.suffix == ".partial"
    recorder = Recorder(cockpit, "--interval=0")
    (found,) = folder.iterdir()
    assert found.name == left.stem and "of another run" in recorder.program.stderr


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_a_folder_that_is_taken_away(cockpit: Cockpit) -> None:
    """It is made again; one that cannot be written is told, and the recorder goes on."""
    recorder = Recorder(cockpit, "--interval=0", "--after=0")
    recorder.ask()
    shutil.rmtree(recorder.folder)
    recorder.ask()
    assert len(recorder.files) == 1
    shutil.rmtree(recorder.folder)
    recorder.folder.write_text("no folder")
    recorder.program.signal(signal.SIGUSR1)
    recorder.wait_said(": not written")
    assert "Not a directory" in recorder.program.stderr
    recorder.folder.unlink()
    recorder.ask()


@contextmanager
def small_disk(cockpit: Cockpit) -> Iterator[tuple[str, ...]]:
    """What runs a program whose folder `incidents` has room for 64 KiB."""
    script = 'mount -t tmpfs -o size=64k none "$0" && exec "$@"'
    folder = cockpit.folder / "incidents"
    folder.mkdir()
    under = ("unshare", "--user", "--map-current-user", "--keep-caps", "--mount")
    under += ("sh", "-c", script, str(folder))
    tried = subprocess.run([*under, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {tried.stderr}")
    yield under


def test_a_full_disk(cockpit: Cockpit) -> None:
    """It is told, nothing of the file stays, and the recorder goes on: the next incident has its
    file, however soon it comes."""
    with small_disk(cockpit) as under:
        recorder = Recorder(cockpit, "--interval=3600", "--after=0", under=under)
        inside = Path(f"/proc/{recorder.program.pid}/root/{recorder.folder}")
        full = inside / "full"
        with pytest.raises(OSError, match="No space left"), full.open("wb", 0) as file:
            while True:
                file.write(bytes(4096))
        for count in (1, 2):
            recorder.program.signal(signal.SIGUSR1)
            recorder.wait_said(": not written", count)
        assert recorder.program.stderr.count("No space left on device") == 2
        assert [path.name for path in inside.iterdir()] == ["full"]
        full.unlink()
        recorder.program.signal(signal.SIGUSR1)
        recorder.wait_said("gid-recorder: wrote ")
        assert recorder.program.stop() == 0


def test_a_maker_that_is_not_there(cockpit: Cockpit) -> None:
    tools = cockpit.folder / "tools"
    tools.mkdir()
    words = [RECORDER, f"--folder={cockpit.folder / 'incidents'}", "--after=0"]
    program = cockpit.run("cluster", words, "recorder", PATH=str(tools))
    program.wait_output("gid-recorder: ready")
    program.signal(signal.SIGUSR1)
    program.wait_output("there is no gid-timeline in $PATH")
    program.wait_output("not written")
    assert list((cockpit.folder / "incidents").iterdir()) == []
    assert program.stop() == 0


def test_a_maker_that_does_not_end(cockpit: Cockpit) -> None:
    """As one that waits for a disk: it is ended, and the next incident has its file."""
    tools = cockpit.folder / "tools"
    tools.mkdir()
    maker, folder = tools / "gid-timeline", cockpit.folder / "incidents"
    maker.write_text("#!/bin/sh\nexec sleep 600\n")
    maker.chmod(0o755)
    words = [RECORDER, f"--folder={folder}", "--after=0", "--interval=0", "--limit=5"]
    program = cockpit.run("cluster", words, "recorder", PATH=f"{tools}:{os.environ['PATH']}")
    program.wait_output("gid-recorder: ready")
    program.signal(signal.SIGUSR1)
    program.wait_output("gid-recorder: gid-timeline does not end within 5 s")
    program.wait_output("not written")
    assert list(folder.iterdir()) == [] and children(program.pid) == []
    maker.write_text('#!/bin/sh\ncat >"$4"\n')
    program.signal(signal.SIGUSR1)
    program.wait_output("gid-recorder: wrote ")
    assert program.stop() == 0


@pytest.mark.skipif(SANITIZED or EMULATED, reason="what runs it takes more")
def test_memory_that_is_not_there(cockpit: Cockpit) -> None:
    """It is told, and nothing begins."""
    idle = Path(f"/proc/{Recorder(cockpit).program.pid}/status").read_text()
    limit = int(re.search(r"VmPeak:\s+(\d+)", idle)[1]) + 16 * MIB
    timelines = [f"--timeline={number}" for number in range(8)]  # 8.25 MiB each
    folder = f"--folder={cockpit.folder / 'more'}"
    words = ["prlimit", f"--as={limit * 1024}", RECORDER, folder, *timelines]
    program = cockpit.run("cluster", words, "recorder")
    assert program.wait() == 1
    assert "gid-recorder: Cannot allocate memory\n" in program.stderr


def test_a_folder_that_cannot_be(cockpit: Cockpit) -> None:
    for folder, why in (("/proc/incidents", "No such file"), ("/dev/null", "Not a directory")):
        program = cockpit.run("cluster", [RECORDER, f"--folder={folder}"], "recorder")
        assert program.wait() == 1
        assert folder in program.stderr and why in program.stderr


def test_a_stream_that_may_not_be_read(cockpit: Cockpit) -> None:
    words = [RECORDER, f"--folder={cockpit.folder / 'incidents'}", "nosuch:movie"]
    program = cockpit.run("cluster", words, "recorder")
    assert program.wait() == 1
    assert "gid-recorder: nosuch:movie: " in program.stderr


# --- a display that lies ---


class FalseDisplay:
    """At the socket of a gid-cluster: who connects gets these bytes. None: no answer at all."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(cockpit.folder / "cluster.sock"))
        self.listener.listen(8)
        self.answer: bytes | None = b""
        self.once: list[bytes] = []  # what the next ones get in its place
        self.answered = 0
        self.held: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.answered += 1
            answer = self.once.pop() if self.once else self.answer
            if answer is None:
                self.held.append(peer)
                continue
            with peer:
                peer.settimeout(1)
                try:
                    peer.sendall(answer)
                except OSError:
                    pass

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for peer in self.held:
            peer.close()


def status(decided: int) -> bytes:
    change = {"from": "live", "to": "wrong", "reason": "<script>alert(1)</script>"}
    change |= {"due_ns": decided, "decided_ns": decided, "last_frame_ns": 0, "shown_ns": 0}
    role = {"name": "../../<b>light", "state": "wrong", "transitions": [change]}
    return json.dumps({"roles": [role]}).encode()


def told(now: int, **changes: int) -> bytes:
    """Roles with so many changes each, of these seconds."""
    roles = []
    for name, count in changes.items():
        times = [now + number for number in range(count)]
        change = {"from": "live", "to": "lost", "reason": "died", "last_frame_ns": 0, "shown_ns": 0}
        made = [change | {"due_ns": time, "decided_ns": time} for time in times]
        roles.append({"name": name, "state": "lost", "transitions": made})
    return json.dumps({"roles": roles}).encode()


def test_a_role_that_hides_no_other(cockpit: Cockpit) -> None:
    """It fails again and again: what happens to another one soon after that is written, too."""
    display = FalseDisplay(cockpit)
    try:
        recorder = Recorder(cockpit, "--after=0", "--interval=3600")
        now = time.monotonic_ns()
        display.answer = told(now, camera=1, telltale=0)
        recorder.wait_files(1)
        display.answer = told(now, camera=3, telltale=1)
        recorder.wait_said("too soon after the last file, 2 left out")
        first, second = recorder.wait_files(2)
        assert "-camera-lost" in first.name and "-telltale-lost" in second.name
    finally:
        display.close()


def test_a_role_that_the_display_has_no_more(cockpit: Cockpit) -> None:
    """It was started with another configuration: pages of that time say so."""
    display = FalseDisplay(cockpit)

    def seen() -> None:
        before = display.answered
        wait_for(lambda: display.answered > before + 1, "it to ask again")

    try:
        display.answer = told(0, camera=0, telltale=0)
        recorder = Recorder(cockpit, "--after=0", "--interval=0", "--seconds=3")
        seen()
        display.answer = told(0, telltale=0)
        seen()
        page = recorder.ask()
        assert "gid-cluster of domain cluster has no role camera any more" in page.text
        (gone, there) = page.recorded["roles"]
        assert gone[-1]["to"] < there[-1]["to"] == page.recorded["to"]
        wait_for(lambda: len(recorder.ask().recorded["roles"]) == 1, "it to be forgotten")
        assert "has no role" not in Page(recorder.files[-1]).text
    finally:
        display.close()


def test_a_display_that_says_anything(cockpit: Cockpit) -> None:
    display = FalseDisplay(cockpit)
    try:
        recorder = Recorder(cockpit)
        garbage = (b"", b"{", b"[1]", b'{"roles":{}}', b'{"roles":[{"name":1}]}', bytes(4 << 20))
        stateless = {"name": "light", "transitions": [{"decided_ns": time.monotonic_ns()}]}
        garbage += (json.dumps({"roles": [stateless]}).encode(),)
        for answer in (*garbage, b'{"roles":[' + b"[" * 100000, None):
            display.answer = answer
            before = display.answered
            wait_for(lambda seen=before: display.answered > seen + 1, "it to ask again")
            assert recorder.program.is_running()
        display.answer = status(time.monotonic_ns())
        (path,) = recorder.wait_files(1)
        assert path.parent == recorder.folder and "<script>alert" not in path.read_text()
        assert own_kib(recorder.program.pid) < 30 * MIB
        assert recorder.program.stop() == 0
    finally:
        display.close()


def test_a_display_that_has_no_answer_once(cockpit: Cockpit) -> None:
    """As where others of its user do not read theirs. It is there: that is no incident."""
    display = FalseDisplay(cockpit)
    display.answer = told(0)
    try:
        recorder = Recorder(cockpit)
        recorder.wait_said("follows gid-cluster of domain cluster")
        before = display.answered
        display.once = [b""]
        wait_for(lambda: display.answered > before + 2, "it to ask again")
        assert not display.once
        assert "waits for gid-cluster" not in recorder.program.stderr
    finally:
        display.close()


def test_names_that_are_cut_or_no_text(cockpit: Cockpit) -> None:
    """Of a display, in the middle of a character; of a file, in bytes of another encoding."""
    name = os.fsencode(cockpit.folder / "Wetter ") + b"\xe4\xff.log"
    Path(os.fsdecode(name)).write_text('{ "id":1, "type":"weston_output", "name":"DP-1" }\n')
    display = FalseDisplay(cockpit)
    try:
        recorder = Recorder(cockpit, os.fsdecode(b"--timeline=" + name))
        found = json.loads(status(time.monotonic_ns()))
        found["roles"][0]["detail"] = "x" + "\u00e9" * 60
        display.answer = json.dumps(found, ensure_ascii=False).encode()
        recorder.wait_files(1)
    finally:
        display.close()


def test_a_trace_of_perfetto(cockpit: Cockpit) -> None:
    """Its events come into the page; what is none, as what is not there, takes nothing from it."""
    trace = cockpit.folder / "Weston 15.pftrace"
    recorder = Recorder(cockpit, "--interval=0", "--after=0", f"--perfetto={trace}")
    assert "15.pftrace: No such file or directory" in recorder.ask().text
    packet = Packet(timestamp=time.monotonic_ns(), timestamp_clock_id=MONOTONIC)
    packet.track_event.type, packet.track_event.name = INSTANT, b"weston_output_repaint"
    data = packet.SerializeToString()
    trace.write_bytes(bytes([0x0A, len(data)]) + data)
    found = [one for one in recorder.ask().trace["traceEvents"] if one["ph"] == "i"]
    assert "weston_output_repaint" in [one["name"] for one in found]
    trace.write_bytes(b"no trace")
    assert "is no trace in Perfetto" in recorder.ask().text


def test_a_display_that_comes_and_goes(cockpit: Cockpit) -> None:
    """Its end is an incident, with what was seen before."""
    recorder = Recorder(cockpit, "open:safety/telltale", "--rate=10", "--on=live,gone")
    display = Display(cockpit, ROLE)
    recorder.wait_said("follows gid-cluster of domain cluster")
    start_telltale(cockpit, "--cycle", "20")
    recorder.wait_files(1)
    display.program.kill()
    recorder.wait_said("waits for gid-cluster of domain cluster")
    path = recorder.wait_files(2)[-1]
    assert path.name.endswith("-gid-cluster-gone.html")
    page = Page(path)
    assert "gid-cluster went from there to gone" in page.text
    (spans,) = page.recorded["roles"]
    assert spans[-1]["state"] == "live" and spans[-1]["to"] == 0, "as it was known last"
    assert any(one["at"] < 0 for one in page.pictures("safety/telltale"))
    assert "did not answer when this was written" in page.text
    Display(cockpit, ROLE)
    recorder.wait_said("follows gid-cluster", 2)


def test_a_display_that_ends_with_the_recorder(cockpit: Cockpit) -> None:
    """As a machine is shut down: no file, and nothing is waited for."""
    recorder = Recorder(cockpit, "--after=9", "--seconds=10")
    display = Display(cockpit, ROLE)
    recorder.wait_said("follows gid-cluster of domain cluster")
    display.program.stop()
    recorder.wait_said("gid-cluster: there to gone, it does not answer")
    assert recorder.program.stop() == 0
    assert recorder.files == []
