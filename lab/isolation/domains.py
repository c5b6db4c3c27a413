# SPDX-License-Identifier: MIT
"""The domains: `open`, which is attacked, and `cluster`, which must not be disturbed."""

from collections.abc import Iterable
from pathlib import Path

from lab.domains.configuration import section
from lab.domains.display import Display
from lab.domains.place import Place
from lab.domains.program import Program
from lab.domains.weston import Weston, role
from lab.film import clip, film
from lab.isolation.limit import Limit

# Of the telltale: 5.82 refreshes, so that changes occur at all phases of a refresh.
CYCLE_MS = 97
LEAK_LIMIT = 400 << 20  # bytes: reached after four seconds, in addition to the slabs
# Those of the telltale and of the hostile programs: their streams, and a forwarded surface.
ROLES = ("telltale", "flood", "scribble", "rings", "surface")
COSTLY = (1280, 720)  # of a role and a layer with the costliest pictures
_AREA = f"width={COSTLY[0]} height={COSTLY[1]}"
# The meter, and the costliest pictures below it on the screen.
FULL_SIZE = (
    section("layer meter", "width=1280 height=480")
    + section(
        "role costly",
        f"domain=open y=480 {_AREA} deadline-ms={{deadline}} formats=any transform=any",
    )
    + section("layer costly", f"domain=open stream=safety/film-costly y=1200 {_AREA}")
)


def role_of(domain: str, name: str, x: int, y: int, deadline_ms: int) -> str:
    """A section of gid-cluster's configuration."""
    keys = f"domain={domain} x={x} y={y} width=320 height=80 deadline-ms={deadline_ms}"
    return section(f"role {name}", keys)


class Open:
    """The attacked domain: Weston, a telltale, a film and its view. A live test picture is used as
    film, unless play_film() was called before the start.
    """

    film = "video/x-raw,format=BGRx,width=640,height=360,framerate=30/1"

    def __init__(self, place: Place) -> None:
        self.place = place
        self._film_file: Path | None = None

    def play_film(self) -> None:
        """Uses a film of H.264 with sound, decoded in a loop."""
        self._film_file = clip.with_sound(clip.find(None), 2, self.place.folder, 30)

    def _film_command(self) -> list[str]:
        sink = f"{self.film} ! gidsink name=sink stream=safety/film"
        if self._film_file is None:
            return ["gst-launch-1.0", "-q", *f"videotestsrc is-live=true ! {sink}".split()]
        return film.playing(f"{film.decode_both(self._film_file)} ! {sink}")

    def roles(self) -> Iterable[str]:
        """The programs that may have the safety surfaces of its Weston."""
        return [role("telltale", "gid-telltale"), role("surface", "hostile-flood")]

    @property
    def link_socket(self) -> Path:
        return self.place.gidd_socket.parent / "link" / "cluster.sock"

    @property
    def wayland_socket(self) -> Path:
        return self.place.folder / self.place.environment["WAYLAND_DISPLAY"]

    def start(self) -> None:
        """Starts all programs that do not run."""
        self.start_desktop()
        start, is_running = self.place.start, self.place.is_running
        if not is_running("telltale"):
            start("telltale", ["gid-telltale", "--role=telltale", f"--cycle={CYCLE_MS}"])
        if not is_running("film"):
            start("film", self._film_command())
        if not is_running("view"):
            start("view", ["gid-view", "--stream=safety/film"])

    def start_desktop(self) -> None:
        """Starts gidd and Weston, unless they run."""
        if not self.place.is_up():
            self.place.up()
        if not self.place.is_running("weston"):
            Weston(self.place, self.roles()).start()

    def limit(self) -> Limit:
        """A memory limit for a hostile program."""
        return Limit(LEAK_LIMIT)


class Cluster(Display):
    """gid-cluster with the meter. If protected, both have priority over all other programs, where
    permitted.
    """

    size, refresh, names = (1280, 1920), 60, ROLES
    more = FULL_SIZE  # of the configuration
    pacing = "bound"  # when its screen starts to compose
    meter: tuple[str, ...] = ()  # more options of gid-meter

    def __init__(self, place: Place, deadline_ms: int = 200, is_protected: bool = True) -> None:
        super().__init__(place)
        self._deadline_ms = deadline_ms
        self._is_protected = is_protected

    def configuration(self) -> str:
        width, height = self.size
        output = f"width={width} height={height} refresh={self.refresh} worst-frame=0"
        output += f" pacing={self.pacing}"
        text = section("display", output) + self.more.format(deadline=self._deadline_ms)
        for number, name in enumerate(self.names):
            x, y = 40 + 400 * (number % 3), 20 + 120 * (number // 3)
            text += role_of("open", name, x, y, self._deadline_ms)
        return text

    def start(self) -> None:
        self.place.up()
        realtime = ["--realtime"] if self._is_protected else []
        self.launch(self.configuration(), "--headless", *realtime, before=self._before())

    def _before(self) -> list[str]:
        return self.place.before_others() if self._is_protected else []

    def start_meter(self, seconds: float) -> Program:
        """Measures its frame rate, as gid-cluster reports it. 0 seconds: until it is stopped."""
        command = [*self._before(), "gid-meter", f"--seconds={seconds:.0f}", *self.meter]
        return self.place.start("meter", command)

    def start_stall(self) -> Program:
        """Measures the latency of the machine itself on this core, with priority over even the
        display.
        """
        return self.place.start("stall", [*self.place.before_others(20), "gid-bench-stall"])
