# SPDX-License-Identifier: MIT
"""A cockpit for measurements: starts and stops its domains."""

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import zip_longest
from pathlib import Path

from gid_cockpit.configuration import CockpitError, read

from lab.domains.contained import Contained
from lab.domains.here import Here
from lab.domains.place import Place
from lab.domains.program import PATIENCE, LabError
from lab.domains.there import There


class Cockpit:
    """The domains of a configuration.

    `guests`: domains that run as virtual machines. `contained`: domains whose programs run in
    containers, with further options of podman. `sessions`: as in Here. Programs find the cockpit by
    $GID_RUNTIME_DIR, and their domain by $GID_DOMAIN.
    """

    def __init__(
        self,
        folder: Path,
        text: str,
        guests: Collection[str] = (),
        patience: float = PATIENCE,
        sessions: bool = True,
        contained: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.folder, self._guests, self._patience = folder, set(guests), patience
        self._contained = contained or {}
        self._sessions = sessions
        self.configuration = folder / "cockpit.conf"
        self.configuration.write_text(text)
        os.environ["GID_RUNTIME_DIR"] = str(folder)
        # The hub creates the memory that guests share: it starts before them, and ends after them.
        self._hub = self._find_hub() if guests else None
        self._places: dict[str, Place] = {}

    def _find_hub(self) -> str | None:
        try:
            hub = read(self.configuration).hub
        except CockpitError as error:
            raise LabError(str(error)) from None
        return None if hub is None else hub.name

    def place(self, domain: str, core: int | None = None, devices: Sequence[str] = ()) -> Place:
        """A place that does not run yet. `core`, `devices`: as in Here and There."""
        if domain in self._guests:
            place = There(domain, self.configuration, core, self._patience, devices)
        else:
            words = domain, self.configuration, core, self._patience, self._sessions
            options = self._contained.get(domain)
            place = Here(*words) if options is None else Contained(*words, options)
        # Registered before it has booted, so that an interruption meanwhile ends it as well.
        self._places[domain] = place
        return place

    def start(self, domain: str, core: int | None = None, devices: Sequence[str] = ()) -> Place:
        """Returns when its gidd accepts connections."""
        if self._hub is not None and self._hub not in {domain, *self._places}:
            self.start(self._hub)
        place = self.place(domain, core, devices)
        place.up()
        return place

    def __getitem__(self, domain: str) -> Place:
        return self._places[domain]

    def check(self) -> None:
        """Raises if a program has ended unexpectedly."""
        for place in self._places.values():
            place.check()

    @property
    def guests(self) -> set[str]:
        """The domains that run as virtual machines now."""
        return self._guests & self._places.keys()

    def logs(self, lines: int = 8) -> str:
        """The last lines of each program's output."""
        ends = []
        for domain, place in self._places.items():
            for name, text in place.logs().items():
                said = text.splitlines()[-lines:]
                ends += [f"--- {domain}-{name}", *said] if said else []
        return "\n".join(ends)

    def keep_logs(self) -> None:
        """Saves the output of the guests' programs beside the other logs: it is lost with the
        guests.
        """
        for domain in self.guests:
            for name, text in self._places[domain].logs().items():
                (self.folder / f"{domain}-{name}.log").write_text(text)

    def kill(self) -> None:
        """Kills all domains: guests before their hub."""
        for place in sorted(self._places.values(), key=lambda place: place.domain == self._hub):
            place.kill()

    def close(self) -> None:
        """Stops the guests in parallel, then their hub. If interrupted, it kills the remaining
        ones.
        """
        guests = [self._places[name] for name in self.guests]
        others = [place for place in self._places.values() if place not in guests]
        try:
            with ThreadPoolExecutor(max(1, len(guests))) as pool:
                ends = [pool.submit(guest.stop_all) for guest in guests]
                try:
                    wait(ends)
                except KeyboardInterrupt:
                    _kill(guests)  # which ends the threads' waits
                    raise
            for end in ends:
                end.result()
            for place in others:
                place.stop_all()
        except KeyboardInterrupt:
            _kill(others)
            raise


def _kill(places: list[Place]) -> None:
    for place in places:
        place.kill()


@contextlib.contextmanager
def gidds(
    text: str, folder: Path, domains: Sequence[str], cores: Sequence[int | None] = ()
) -> Iterator[Cockpit]:
    """Runs a gidd for each of these domains, in this order. `cores`: as in Here."""
    cockpit = Cockpit(folder, text, sessions=False)
    try:
        for domain, core in zip_longest(domains, cores):
            cockpit.start(domain, core)
        yield cockpit
    finally:
        cockpit.close()
