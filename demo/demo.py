# SPDX-License-Identifier: MIT
"""./run demo: a whole cockpit, of which one half is killed and comes back. As domains of
this machine, or as machines of their own.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import gid_console
from gid_evaluate import machine
from gid_vm.agent import GuestError
from gid_vm.folder import memory_folder

from demo import backdrop, desktops, judge, report
from demo.cluster_domain import ClusterDomain
from demo.cockpit import Cockpit
from demo.open_domain import OpenDomain
from demo.report import duration
from demo.timeline import Recorder
from lab.domains import desktop
from lab.domains.program import LabError
from lab.domains.progress import Progress
from lab.film import clip as clips
from lab.film import film

_AWAY = 2.0  # seconds that the open domain stays dead, at least
# The slowest stream has more than one frame for so many of the film.
_SLOWEST = 12
# At most, of pictures and pages.
_OUT_BYTES = 16 << 20

_ENDS = (signal.SIGTERM, signal.SIGHUP)


class Demo:
    """Everything that runs, and where it stands."""

    def __init__(self, options: argparse.Namespace, folder: Path, progress: Progress) -> None:
        self._seconds, self._window = options.seconds, options.window
        self.progress = progress
        self.clip = clips.find(options.clip, progress.say)
        self.folder = folder
        guests = _guests(options)
        self.cockpit = Cockpit(folder, guests, options.arch, options.container)
        # A guest's screen, and a window to look on, are one display.
        alone = bool(guests) or options.window or not desktop.kinds()
        self.displays = () if alone else desktops.DISPLAYS
        names = ["cluster", "cluster-lost", "open"]
        if self.displays:
            names += [*(display.name for display in self.displays), "displays"]
        self.pictures = {name: options.out / f"{name}.png" for name in names}
        self.sent = folder / "passenger-sent.png"  # what that display was to show
        self.scene = self.cockpit.scene
        self.recorder = Recorder()
        self.killed = self.returned = 0  # when, in ns
        self.played = 0.0  # seconds
        self.status: dict = {}  # gid-cluster's last
        self.copies: dict[str, int] = {}  # frames of each stream whose producer counts them itself
        self.scheduling = ""  # what gid-cluster got
        self.checked: dict = {}  # the last statistics of the checker
        self.logs: list[Path] = []  # of all domains, with the points of their timelines

    def run(self) -> None:
        try:
            self._start()
            self._play(self._seconds / 2, self._take_pictures)
            self._kill()
            self._return()
            self._play(self._seconds / 2, enough=True)
            self._stop()
            self.progress.begin("the cluster ends")
        except KeyboardInterrupt:
            if guests := self.cockpit.guests:
                names = " and ".join(sorted(guests))
                text = f"interrupted: waiting for {names} to power off; Ctrl-C again kills them"
                self.progress.say(text)
            raise
        except LabError:
            self.cockpit.keep_logs()
            raise
        finally:
            self.cockpit.close()

    # --- what happens ---

    def _start(self) -> None:
        if self.scene.divisor > 1:
            self.progress.update("without KVM all is slow: making the film smaller and slower")
            self.clip = clips.shrink(
                self.clip, self.scene.divisor, self.folder, self.scene.film_rate
            )
        # The film is known as far as it can be played, however busy the machine.
        known = self._seconds + self.scene.patience
        self.progress.update("cluster: starting")
        self.cluster = ClusterDomain(self.cockpit, self.clip, known, self._window, self.displays)
        self.scheduling = self.cluster.scheduling
        self.progress.done(f"cluster: gidd and gid-cluster ({self.scheduling})")
        if self.cluster.screen is not None:
            self.progress.say(f"  to look on: vncviewer {self.cluster.screen}")
        self.progress.update("cluster: learning the film's frames")
        self.cluster.check.start()
        self.progress.done("cluster: a receiver that knows every frame of the film")
        self.cluster.show()
        self.progress.update("open: starting")
        self.open = OpenDomain(self.cockpit, self.clip, bool(self.displays))
        self.open.start()
        self.progress.done("open: gidd, Weston with gid-buffer.so, film, camera, telltale")
        if self.displays:
            self.progress.done(f"open: {self.open.passenger}, with windows for the passenger")
        self._wait("the first frames of ", lambda: not self._missing(), self._missing)
        self.progress.done("the film flows, camera and telltale are live")
        self.recorder = Recorder()
        self.recorder.event("play")

    def _play(
        self,
        seconds: float,
        midway: Callable[[], None] | None = None,
        enough: bool = False,
    ) -> None:
        """`midway` is called once in the middle. `enough`: not before enough frames came by."""
        start = time.monotonic()
        while (elapsed := time.monotonic() - start) < seconds or (
            enough and not self._has_enough() and elapsed < self.scene.patience
        ):
            self._pause()
            self.progress.update(self._state())
            if midway is not None and elapsed >= seconds / 2:
                midway()
                midway = None
        if midway is not None:
            midway()
        self.played += time.monotonic() - start
        self.progress.done(self._state())

    def _take_pictures(self) -> None:
        """Of both displays; of the cluster's while all safety surfaces are live."""
        self.progress.begin("taking pictures of the displays")
        self.open.screenshot(self.pictures["open"])

        def taken() -> bool:
            before = self.cluster.roles()
            self.cluster.take_picture(self.pictures["cluster"])
            after = self.cluster.roles()
            return self.cluster.are_live() and all(
                role["state"] == "live"
                and role["transition_count"] == after[name]["transition_count"]
                for name, role in before.items()
            )

        self._wait("a picture with all safety surfaces live", taken)
        if self.displays:
            self._take_pictures_of_desktops()
        self.recorder.event("pictures")

    def _take_pictures_of_desktops(self) -> None:
        """When all windows are there: nothing moves any more on the passenger's display."""
        centre, passenger = desktops.CENTRE, desktops.PASSENGER
        self.cluster.take_picture(self.pictures[centre.name], centre.screen)

        def is_shown() -> bool:
            self.cluster.take_sent(self.sent, passenger.stream)
            self.cluster.take_picture(self.pictures[passenger.name], passenger.screen)
            return desktops.is_shown(self.pictures[passenger.name], self.sent)

        self._wait("the passenger's windows", is_shown)
        names = ("cluster", centre.name, passenger.name)
        backdrop.draw_displays(
            self.pictures["displays"], [(name, self.pictures[name]) for name in names]
        )

    def _kill(self) -> None:
        self.progress.begin("open: keeping what its programs wrote down")
        self._count_copies()
        self.open.keep()
        self._wait("the safety surfaces to be live", self.cluster.are_live)
        self.killed = self.recorder.event("open is killed")
        self.open.kill()
        self._wait("the fallbacks", self.cluster.are_lost)
        start, before = time.monotonic(), self.status["frames"]
        while (elapsed := time.monotonic() - start) < _AWAY or (
            self.status["frames"] < before + judge.GONE_ON and elapsed < self.scene.patience
        ):
            self._pause()
        self.progress.begin("taking a picture of what the cluster shows without open")
        self.cluster.take_picture(self.pictures["cluster-lost"])
        self.progress.done("open is killed: the cluster shows the fallbacks, and goes on")

    def _return(self) -> None:
        frames = self._film_frames()
        self.progress.update("open: starting again")
        self.returned = self.recorder.event("open starts again")
        self.open.start()
        self._wait("the safety surfaces to be live again", self.cluster.are_live)
        self._wait("the film to be back", lambda: self._film_frames() > frames)
        self.recorder.event("all live again")
        self.progress.done("open is back: all live again")

    def _stop(self) -> None:
        """Consumers first: what the producers count as dropped is not our going."""
        self.progress.begin("the receivers end, then open")
        self._count_copies()
        self.recorder.event("end")
        self.status = self.cluster.status()
        self.cluster.close_others()
        self.checked = self.cluster.check.counts()
        self.open.close()
        points = self.folder / "cluster-points.log"
        points.write_bytes(self.cluster.points)
        self.logs = [*self.open.logs, *self.open.points, points]

    # --- how it stands ---

    def _pause(self) -> None:
        time.sleep(self.scene.sample_seconds)
        self.cockpit.check()
        self._sample()

    def _sample(self) -> None:
        self.status = self.cluster.status()
        self.recorder.sample(self.status)

    def _named(self, kind: str) -> dict[str, dict]:
        """`roles` or `layers` of the last status."""
        return {part["name"]: part for part in self.status[kind]}

    def _wait(
        self,
        what: str,
        condition: Callable[[], bool],
        missing: Callable[[], list[str]] = list,
    ) -> None:
        """`missing`: what of it is not there yet."""
        end = time.monotonic() + self.scene.patience
        self._sample()
        while not condition():
            which = what + ", ".join(missing())
            if time.monotonic() > end:
                raise LabError(f"{which} did not come within {self.scene.patience:.0f} s")
            self.progress.update(f"waiting for {which}")
            self.cockpit.check()
            self._sample()
            time.sleep(self.scene.look_seconds)

    def _missing(self) -> list[str]:
        """What shows no frame yet."""
        tiles, layers = self.open.tiles, self._named("layers")
        frames = {
            **{f"{name} in cluster": layer["shown_frames"] for name, layer in layers.items()},
            "the receiver of movie-i420": self.cluster.check.counts().get("frames"),
        }
        frames |= {f"{name} in open": self.open.view(name).get("frames") for name in tiles}
        frames |= {
            f"{name} in cluster ({role['state']})": self.cluster.is_live(role)
            for name, role in self._named("roles").items()
        }
        return [name for name, shown in frames.items() if not shown]

    def _film_frames(self) -> int:
        return self._named("layers")["movie"]["shown_frames"]

    def _has_enough(self) -> bool:
        film = self._film_frames(), self.cluster.check.counts()["frames"]
        parts = self._named("layers") | self._named("roles")
        still = {display.name for display in self.displays}  # nothing moves there, or little
        least = min(parts[name]["shown_frames"] for name in parts.keys() - still)
        return min(film) >= self.scene.frames and least >= self.scene.frames // _SLOWEST

    def _count_copies(self) -> None:
        for stream, copied in self.cluster.copies().items():
            self.copies[stream] = self.copies.get(stream, 0) + copied

    def _state(self) -> str:
        film, counts = self._named("layers")["movie"], self.cluster.check.counts()
        latency = duration(film["latency_p50_ns"] / 1000)
        roles = [f"{name} {role['state']}" for name, role in self._named("roles").items()]
        checked = f"movie-i420 {counts['frames']} frames, {counts['wrong']} wrong"
        return " · ".join([f"movie {film['shown_frames']} frames, {latency}", checked, *roles])


def main() -> int:
    options = _parse()
    for number in _ENDS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as after nohup
            signal.signal(number, _end)
    progress = Progress()
    folder = Path(tempfile.mkdtemp(prefix="gidway-demo-", dir=memory_folder()))
    os.environ["GID_RUNTIME_DIR"] = str(folder)
    _take_registry(folder)
    film.Gst.init(None)
    wanted = True  # what is in the folder: to find out what went wrong
    try:
        _make_room(options.out)
        demo = Demo(options, folder, progress)
        demo.run()
        result = judge.build(demo)
        progress.begin("writing the report")
        report.write(options.out, result, demo.pictures)
        progress.begin("writing the timeline's page")
        report.write_timeline(options.out, demo.logs)
        wanted = not _conclude(result, options.out, demo.pictures.values(), progress)
    except (LabError, GuestError, film.FilmError, OSError) as error:
        progress.fail(str(error))
        wanted = any(folder.glob("**/*.log"))
        return 1
    except KeyboardInterrupt:
        progress.fail("interrupted")
        wanted = False
        return 130
    except SystemExit:
        wanted = False
        raise
    finally:
        if wanted:
            progress.say(f"The logs are in {folder}")
        else:
            shutil.rmtree(folder)
    return 1 if wanted else 0


def _end(number: int, _frame: object) -> None:
    """By the same way as Ctrl-C; once, for `timeout` and a terminal that goes send several."""
    for one in _ENDS:
        signal.signal(one, signal.SIG_IGN)
    sys.exit(128 + number)


def _make_room(out: Path) -> None:
    """Better now than after all was measured: an error of a write does not name its file."""
    out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryFile(dir=out) as file:
            os.posix_fallocate(file.fileno(), 0, _OUT_BYTES)
    except OSError as error:
        raise LabError(
            f"{out} cannot take {_OUT_BYTES >> 20} MB: {error.strerror}. Name a folder by --out"
        ) from None


def _take_registry(folder: Path) -> None:
    """What programs know of GStreamer's plugins: of our own, for others may write theirs anew."""
    own = folder / "gstreamer-registry.bin"
    with suppress(KeyError, OSError):
        shutil.copy(os.environ["GST_REGISTRY"], own)
    os.environ["GST_REGISTRY"] = str(own)


def _conclude(result: dict, out: Path, pictures: Iterable[Path], progress: Progress) -> bool:
    """Says what came out, and where it is. Whether all is as it should be."""
    for check in result["checks"]:
        (progress.done if check["passed"] else progress.fail)(f"{check['what']}: {check['found']}")
    for name in (*pictures, out / "report.html", out / "timeline.html", out / "report.json"):
        progress.say(f"  {name}")
    progress.say(f"Open {(out / 'report.html').resolve().as_uri()} in a browser")
    return all(check["passed"] for check in result["checks"])


def _guests(options: argparse.Namespace) -> set[str]:
    if options.vms == 2:
        return {"open", "cluster"}
    return {"open"} if options.vm or options.arch is not None else set()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./run demo",
        description="Two domains, on this machine or as machines of their own. In `open` GStreamer "
        "decodes a film and has a camera, and Weston shows both, with a telltale. In `cluster` "
        "gid-cluster shows the film, the camera and the telltale from the very memory they were "
        "drawn into, and watches over the last two. On two more displays it shows ordinary windows "
        "of `open`: of its Weston, and of labwc or sway. In the middle `open` is killed, and comes "
        "back.",
    )
    parser.add_argument(
        "--seconds", type=_seconds, default=10, metavar="N", help="how long to play (default: 10)"
    )
    parser.add_argument(
        "--clip",
        metavar="FILE",
        help="any film that GStreamer can decode (default: Big Buck Bunny)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("out"),
        metavar="DIR",
        help="where the pictures, report.json and report.html go (default: out)",
    )
    parser.add_argument(
        "--vm",
        action="store_true",
        help="with `open` as a QEMU guest; without KVM everything is smaller and slower",
    )
    parser.add_argument(
        "--container",
        action="store_true",
        help="with the programs of `open` in a container, by podman",
    )
    parser.add_argument(
        "--arch",
        choices=("arm64", "arm64-16k"),
        help="with `open` as a guest of this architecture, beside a `cluster` of this machine's. "
        "It takes what ./run vm --arch does",
    )
    parser.add_argument("-V", "--version", action=Version, help="show the version")
    parser.add_argument(
        "--vms", type=int, choices=(1, 2), default=1, help="2: `cluster` is a guest, too"
    )
    parser.add_argument(
        "--window",
        action="store_true",
        help="with cluster's display in a window of this desktop, to look on",
    )
    options = parser.parse_args()
    if options.container and _guests(options):
        parser.error("--container: open is a guest or a container")
    if options.window and options.vms == 2:
        parser.error("--window: with --vms 2 cluster's display is the guest's own screen")
    if options.window and not {"WAYLAND_DISPLAY", "DISPLAY"} & os.environ.keys():
        parser.error("--window: there is no desktop: neither WAYLAND_DISPLAY nor DISPLAY is set")
    return options


class Version(argparse.Action):
    """That of what is built, which is asked only when somebody wants to know."""

    def __init__(self, **options: object) -> None:
        super().__init__(nargs=0, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"{parser.prog}: {machine.gidway()}")
        parser.exit()


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 1 <= seconds <= 86400:
        raise argparse.ArgumentTypeError(f"must be 1 to 86400, not {text}")
    return seconds


if __name__ == "__main__":
    sys.exit(gid_console.run("demo", main))
