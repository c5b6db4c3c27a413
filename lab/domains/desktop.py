# SPDX-License-Identifier: MIT
"""An ordinary wlroots compositor without a screen; gid-capture can publish its output."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.domains.place import Place

SIZE = (1280, 720)  # labwc has no setting for its size
_SETTINGS = {"WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"}
_SWAY = """\
output HEADLESS-1 mode {width}x{height}@60Hz
default_border none
focus_follows_mouse no
{windows}
"""
_SWAY_WINDOW = '[title="{0.title}"] floating enable, move absolute position {0.x} {0.y}'
_LABWC = """\
<?xml version="1.0"?>
<labwc_config><windowRules>
{windows}
</windowRules></labwc_config>
"""
_LABWC_WHOLE = '<windowRule identifier="*"><action name="ToggleFullscreen"/></windowRule>'
_LABWC_WINDOW = '<windowRule title="*{0.title}*">'
_LABWC_WINDOW += '<action name="MoveTo" x="{0.x}" y="{0.y}"/></windowRule>'


@dataclass(frozen=True)
class Window:
    """The position of a window whose title has this word."""

    title: str
    x: int
    y: int


def kinds() -> list[str]:
    """The compositors that are installed, the better one first: labwc stacks windows as desktops
    do.
    """
    return [kind for kind in ("labwc", "sway") if shutil.which(kind)]


class Compositor:
    """A running compositor.

    `windows`: their positions; None: each window covers the whole output. `size`: the size of
    sway's output.
    """

    output = "HEADLESS-1"

    def __init__(
        self,
        place: Place,
        kind: str,
        windows: Iterable[Window] | None = None,
        size: tuple[int, int] = SIZE,
    ) -> None:
        """Returns when programs can connect to it, with `environment`."""
        self.place = place
        self.folder = place.folder / kind  # may have files of a killed compositor
        place.run(["sh", "-c", 'rm -rf "$0" && mkdir -m 700 "$0"', str(self.folder)])
        name, text, option = _sway(windows, size) if kind == "sway" else _labwc(windows)
        settings = place.write(f"{self.folder.name}/{name}", text.encode())
        command = [kind, option, str(settings if kind == "sway" else self.folder)]
        self.environment = {"XDG_RUNTIME_DIR": str(self.folder)}
        self.program = place.start(kind, command, **_SETTINGS, **self.environment)
        place.wait_until(f"the start of {kind}", self._sockets, kind)
        self.socket = self._sockets()[0]
        self.environment["WAYLAND_DISPLAY"] = self.socket.name

    def _sockets(self) -> list[Path]:
        return [path for path in self.folder.glob("wayland-*") if path.suffix != ".lock"]


class Desktop(Compositor):
    """A compositor whose output is published as the stream."""

    def __init__(
        self, place: Place, kind: str, stream: str, windows: Iterable[Window] | None = None
    ) -> None:
        super().__init__(place, kind, windows)
        words = ["gid-capture", f"--stream={stream}", "--no-cursor"]
        place.start("gid-capture", words, **self.environment)


def _sway(windows: Iterable[Window] | None, size: tuple[int, int]) -> tuple[str, str, str]:
    rules: Iterable[str] = ['[app_id=".*"] fullscreen enable']
    if windows is not None:
        rules = (_SWAY_WINDOW.format(window) for window in windows)
    lines = "\n".join(f"for_window {rule}" for rule in rules)
    return "config", _SWAY.format(width=size[0], height=size[1], windows=lines), "--config"


def _labwc(windows: Iterable[Window] | None) -> tuple[str, str, str]:
    """Uses a separate folder, without a user's settings, menus or programs that start
    automatically.
    """
    rules: Iterable[str] = [_LABWC_WHOLE]
    if windows is not None:
        rules = (_LABWC_WINDOW.format(window) for window in windows)
    return "rc.xml", _LABWC.format(windows="\n".join(rules)), "--config-dir"
