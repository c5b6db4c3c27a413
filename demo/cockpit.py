# SPDX-License-Identifier: MIT
"""The domains of the demo: their configuration, and where each of them is."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import backdrop
from here import Here
from place import DemoError, Place
from scene import FULL, GUESTS, TRANSLATED

_TOP = Path(__file__).resolve().parents[1]
sys.path += [str(_TOP / "vm"), str(_TOP / "tools" / "cockpit")]

from gid_cockpit.configuration import CockpitError, read  # noqa: E402
from gid_cockpit.machine import Guest  # noqa: E402
from gid_vm.accel import probe_accel  # noqa: E402
from gid_vm.guest import why_not  # noqa: E402
from there import There  # noqa: E402

_TOGETHER = """\
[cockpit]
runtime={runtime}

[domain open]
number=1
memory=1G
local=camera map movie symbols

[domain cluster]
number=2
local=canvas/* meter screen

[share open cluster]
streams=movie movie-i420 safety/* engine/*

[share cluster open]
streams=canvas/*
"""
_APART = """\
[cockpit]
runtime={runtime}

[domain open]
number=1
kind=guest
window=256M
local=camera map movie symbols

[domain cluster]
number=2
window=32M
local=canvas/* meter screen
{cluster}

[domain host]
number=3
kind=host
window=16M

# Memory is shared for each stream: so the engine gets at map and symbols, and the display at the
# camera's pictures, which come in safety/camera.
[share open cluster]
streams=movie movie-i420 map symbols camera safety/* engine/*

[share cluster open]
streams=canvas/*

[share open host]
"""
# With a screen of its own: a KMS device.
_CLUSTER_GUEST = """\
kind=guest
vm-display={width}x{height}
"""


class Cockpit:
    """`guests`: those of `open` and `cluster` that are machines of their own."""

    def __init__(self, folder: Path, guests: set[str]) -> None:
        self.folder, self._guests = folder, guests
        self.scene = FULL
        text = _TOGETHER
        if guests:
            if (reason := why_not()) is not None:
                raise DemoError(f"no guest can run here: {reason}")
            self.scene = GUESTS if probe_accel() == "kvm" else TRANSLATED
            text = _APART
        self._places: dict[str, Place] = {}
        width, height = backdrop.size(backdrop.CLUSTER, self.scene.divisor)
        cluster = _CLUSTER_GUEST.format(width=width, height=height) if "cluster" in guests else ""
        self._configuration = folder / "cockpit.conf"
        self._configuration.write_text(text.format(runtime=folder, cluster=cluster))

    @property
    def link(self) -> str:
        return "ivshmem" if self._guests else "local"

    def start(self, domain: str) -> Place:
        """Returns when its gidd can be connected to."""
        if self._guests and domain != "host" and "host" not in self._places:
            self.start("host")  # the hub, which makes what the others share
        return self._start_guest(domain) if domain in self._guests else self._start_gidd(domain)

    def _start_gidd(self, domain: str) -> Here:
        folder = self.folder / f"{domain}-files"
        folder.mkdir(exist_ok=True)
        place = self._places[domain] = Here(domain, folder, self.scene.patience)
        socket = self.folder / domain / "gidd.sock"
        socket.unlink(missing_ok=True)  # that of one that was killed
        command = ["gidd", f"--config={self._configuration}", f"--domain={domain}"]
        place.start("gidd", command)
        place.wait_until(f"the start of {domain}'s gidd", socket.exists)
        return place

    def _start_guest(self, domain: str) -> There:
        try:
            configuration = read(self._configuration)
            guest = Guest(configuration, configuration.by_name(domain))
            guest.start()
        except CockpitError as error:
            raise DemoError(str(error)) from None
        # Known before it has booted: whoever is interrupted meanwhile ends it, too.
        place = self._places[domain] = There(guest, self.scene.patience)
        place.wait_ready()
        return place

    def check(self) -> None:
        """Raises if a program has ended that should not have."""
        for place in self._places.values():
            place.check()

    @property
    def guests(self) -> set[str]:
        """The domains that run as machines of their own now."""
        return self._guests & self._places.keys()

    def keep_words(self) -> None:
        """What programs of guests said, which is gone with them, beside the logs of the others."""
        for name in self.guests:
            self._places[name].keep_words(self.folder)

    def close(self) -> None:
        """Guests before their hub, and all of them at once. Interrupted, it kills what is left."""
        guests = [self._places[name] for name in self.guests]
        others = [place for place in self._places.values() if place not in guests]
        try:
            with ThreadPoolExecutor(max(1, len(guests))) as pool:
                ends = [pool.submit(guest.stop_all) for guest in guests]
                try:
                    wait(ends)
                except KeyboardInterrupt:
                    self._kill(guests)  # which is what the threads wait for
                    raise
            for end in ends:
                end.result()
            for place in others:
                place.stop_all()
        except KeyboardInterrupt:
            self._kill(others)
            raise

    def _kill(self, places: list[Place]) -> None:
        for place in places:
            place.kill()
