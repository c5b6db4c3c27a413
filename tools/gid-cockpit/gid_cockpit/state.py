# SPDX-License-Identifier: MIT
"""What runs of a cockpit, and which of its links are up."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import gid_console

from .configuration import (
    CockpitError,
    Configuration,
    Domain,
    MistakesError,
    understand,
)
from .container import LOG as CONTAINER_LOG
from .container import Container
from .daemon import Daemon
from .logs import log_folder
from .machine import LOGS as GUEST_LOGS
from .machine import Guest, window_kind

Runs = Daemon | Guest

LINK_SECONDS = 10.0


def runs(configuration: Configuration, domain: Domain) -> Runs:
    """What a domain runs in on this machine."""
    kinds: dict[str, type[Runs]] = {"guest": Guest, "container": Container}
    return kinds.get(domain.kind, Daemon)(configuration, domain)


def in_order(configuration: Configuration, names: list[str]) -> list[Runs]:
    """The hub first, for the guests' machines need what it makes, and the guests last."""
    rank = {"host": 0, "local": 1, "guest": 2}
    chosen = sorted(configuration.choose(names), key=lambda domain: rank.get(domain.kind, 1))
    return [runs(configuration, domain) for domain in chosen]


# --- a file with mistakes ---


def read_anyway(path: Path) -> Configuration:
    """For what only looks, or ends what runs: mistakes are told, and are no hindrance."""
    configuration, mistakes = understand(path)
    if not mistakes:
        return configuration
    known = {domain.name for domain in configuration.domains}
    more = tuple(domain for domain in running(configuration) if domain.name not in known)
    if not known and not more:  # there is nothing to look at, or to end
        raise MistakesError(mistakes)
    gid_console.tell(f"gid-cockpit: {MistakesError(mistakes)}")
    return Configuration(configuration.path, configuration.runtime, configuration.domains + more)


def running(configuration: Configuration) -> Iterator[Domain]:
    """Domains whose gidds read this very file, whatever is in it now."""
    for place in sorted(configuration.runtime.glob("*/gidd.sock")):
        domain = Domain(place.parent.name, 0, None, frozenset())
        try:
            if Daemon(configuration, domain).pid() is None:
                continue
            report = Daemon(configuration, domain).ask()
        except CockpitError:
            continue
        if is_file(report, configuration.path):
            kind = "container" if Container(configuration, domain).known() else "local"
            yield Domain(domain.name, report["number"], None, frozenset(), kind)


def is_file(report: dict, path: Path) -> bool:
    """Whether it is the file that the gidd of this report has read."""
    return Path(report["configuration"]["file"]).resolve() == path.resolve()


# --- links ---


class MissingLink(NamedTuple):
    ends: set[str]
    why: str


def missing_links(configuration: Configuration, names: set[str]) -> Iterator[MissingLink]:
    """Why the domains of these names, and others that run, are not all joined yet."""
    here = {one.name for one in configuration.domains if runs(configuration, one).pid() is not None}
    for domain in configuration.domains:
        if domain.kind == "guest" or domain.name not in here:
            continue  # of a guest the hub tells
        report = Daemon(configuration, domain).ask()
        pairs = [({domain.name, link["domain"]}, link) for link in report["links"]]
        pairs += [({end["domain"] for end in pair["ends"]}, pair) for pair in report["pairs"]]
        for ends, link in pairs:
            if link["state"] != "up" and ends <= here and ends & names:
                one, other = sorted(ends, key=lambda name: name != domain.name)
                yield MissingLink(ends, f"the link of {one} to {other} is not up: {link['why']}")


def await_links(
    configuration: Configuration,
    names: set[str],
    seconds: float = LINK_SECONDS,
    look: Callable[[MissingLink], None] = lambda _: None,
    late: Callable[[MissingLink], str] = lambda missing: missing.why,
) -> None:
    """Until none is missing. `look` is called meanwhile. CockpitError: not in this time, `late`."""
    end = time.monotonic() + seconds
    while (missing := next(missing_links(configuration, names), None)) is not None:
        look(missing)
        if time.monotonic() > end:
            raise CockpitError(late(missing))
        time.sleep(0.05)


def links_of_guest(configuration: Configuration, guest: Domain) -> list[dict]:
    """As the host's gidd sees them, which joins them: what a guest says of itself is not asked."""
    hub = configuration.hub
    if hub is None or Daemon(configuration, hub).pid() is None:
        return []
    links = []
    for pair in Daemon(configuration, hub).ask()["pairs"]:
        ends = {end.pop("domain"): end for end in pair.pop("ends")}
        if guest.name in ends:
            del ends[guest.name]
            ((other, did),) = ends.items()
            links.append(pair | did | {"domain": other, "kind": "ivshmem"})
    return links


# --- logs ---


def logs_of(configuration: Configuration, domain: Domain) -> list[Path]:
    """Those that there are of what `up` has started."""
    # A guest of another cockpit may have had the name, and so the folder.
    more = {"guest": GUEST_LOGS, "container": (CONTAINER_LOG,)}
    names = ("gidd.log", *more.get(domain.kind, ()))
    folder = log_folder(configuration, domain.name)
    return [path for name in names if (path := folder / name).exists()]


def journal_of(domain: Domain) -> str:
    """What has those of what systemd starts."""
    return f"journalctl -u {'gid-guest' if domain.kind == 'guest' else 'gidd'}@{domain.name}"


# --- status ---


def why_down(configuration: Configuration, domain: Domain) -> str:
    """Where it is said why it does not run, and what starts it."""
    start = configuration.command(f"up {domain.name}")
    paths = logs_of(configuration, domain)
    if not paths:
        return (
            f"gid-cockpit has not started it here: {start} does. What systemd starts is in "
            f"{journal_of(domain)}"
        )
    return (
        f"{start} starts it. What it said last is in {paths[0].parent}: "
        f"{configuration.command(f'logs {domain.name}')}"
    )


def domain_state(configuration: Configuration, domain: Domain) -> dict:
    """One domain for `status`."""
    one = runs(configuration, domain)
    found = {"domain": domain.name, "number": domain.number, "kind": domain.kind}
    found |= {"state": "down", "pid": None, "links": [], "why": "", "is_newer": False}
    if domain.kind == "guest":
        found["windows"] = dict(zip(("kind", "why"), window_kind(domain), strict=True))
    try:
        found["pid"] = one.pid()
        if found["pid"] is None:
            if isinstance(one, Container) and (name := one.known()):
                raise CockpitError(f"its gidd does not run, but its container {name} is there")
            return found | {"why": why_down(configuration, domain)}
        if isinstance(one, Daemon):
            report = one.ask()
            found["links"] = report["links"]
            found["is_newer"] = report["configuration"]["is_newer"]
            if (why := one.lacks()) != "":
                raise CockpitError(why)
        else:
            found["links"] = links_of_guest(configuration, domain)
            found["is_newer"] = one.is_outdated()
        found["state"] = "up"
    except CockpitError as error:
        found |= {"state": "bad", "why": str(error)}
    return found


def newer(configuration: Configuration) -> str:
    again = configuration.command("reload")
    return f"{configuration.path} is newer than what gidd read: {again}"
