# SPDX-License-Identifier: MIT
"""The command line: gid-cockpit(1)."""

import argparse
import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gid_vm.initramfs import CannotBoot
from gid_vm.libvirt import to_xml
from gid_vm.qemu import Machine

from .configuration import DEFAULT_CONFIG, CockpitError, Configuration, Domain, printable, read
from .daemon import Daemon
from .machine import Guest, make, window_kind, work_folder
from .reload import reload as reload_one
from .unit import serve

LINK_SECONDS = 10.0
GUEST_LINK_SECONDS = 180.0  # a guest boots first

# What ends a command as Ctrl-C does; the second when its terminal is closed.
ENDS = (signal.SIGTERM, signal.SIGHUP)


def paint(text: str, good: bool) -> str:
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return text
    return f"\033[{32 if good else 31}m{text}\033[m"


def say(text: str) -> None:
    """Whoever read it may have ended: what was begun is done all the same."""
    try:
        print(text, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# --- commands ---


def check(configuration: Configuration, options: argparse.Namespace) -> int:
    names = ", ".join(f"{domain.name} ({domain.number})" for domain in configuration.domains)
    print(f"{configuration.path}: no mistakes. Domains: {names}")
    return 0


Runs = Daemon | Guest


def runs(configuration: Configuration, domain: Domain) -> Runs:
    """What a domain runs in on this machine."""
    return (Guest if domain.kind == "guest" else Daemon)(configuration, domain)


def in_order(configuration: Configuration, names: list[str]) -> list[Runs]:
    """The hub first, for the guests' machines need what it makes, and the guests last."""
    rank = {"host": 0, "local": 1, "guest": 2}
    chosen = sorted(configuration.choose(names), key=lambda domain: rank[domain.kind])
    return [runs(configuration, domain) for domain in chosen]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C comes after this: what is being started is ours to end by then."""
    came: list[int] = []
    numbers = (signal.SIGINT, *ENDS)
    before = [signal.signal(number, lambda which, _: came.append(which)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt


def up(configuration: Configuration, options: argparse.Namespace) -> int:
    """All of them or none: where one does not start, those that did are ended again."""
    for number in ENDS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as after nohup
            signal.signal(number, signal.default_int_handler)
    started: list[Runs] = []
    chosen = in_order(configuration, options.domain)
    try:
        for one in chosen:
            pid = one.pid()
            if pid is not None:
                say(f"{one.domain.name}: runs already (process {pid})")
                continue
            with uninterrupted():
                pid = one.start()
                started.append(one)
            say(f"{one.domain.name}: {paint('started', True)} (process {pid})")
    except BaseException:
        for one in reversed(started):
            one.stop()
        raise
    wait_for_links(chosen)
    return 0


def wait_for_links(chosen: list[Runs]) -> None:
    """Until those that share something have found each other."""
    names = {one.domain.name for one in chosen}
    guests = [one for one in chosen if isinstance(one, Guest)]
    patience = GUEST_LINK_SECONDS if guests else LINK_SECONDS
    end = time.monotonic() + patience
    for daemon in chosen:
        if isinstance(daemon, Guest):
            continue  # its own gidd runs in it; the hub tells of its links
        while missing := [
            link
            for link in daemon.ask()["links"]
            if link["domain"] in names and link["state"] != "up"
        ]:
            for guest in guests:
                if guest.pid() is None:
                    raise CockpitError(f"the guest {guest.domain.name} ended:\n{guest.last()}")
            if time.monotonic() > end:
                link = missing[0]
                raise CockpitError(
                    f"the link of {daemon.domain.name} to {link['domain']} is not up: {link['why']}"
                )
            time.sleep(0.05)


def down(configuration: Configuration, options: argparse.Namespace) -> int:
    problems = 0
    for one in reversed(in_order(configuration, options.domain)):
        try:
            ended = one.stop()
            say(f"{one.domain.name}: {'ended' if ended else 'does not run'}")
        except CockpitError as error:
            print(f"gid-cockpit: {error}", file=sys.stderr)
            problems += 1
    return 1 if problems else 0


def reload(configuration: Configuration, options: argparse.Namespace) -> int:
    """All that run, as far as they can: one that refuses stays as it was, and says why."""
    problems = 0
    for one in in_order(configuration, options.domain):
        name = one.domain.name
        try:
            refused = reload_one(one) if one.pid() is not None else None
        except CockpitError as error:
            refused = str(error)
        if refused is None:
            say(f"{name}: does not run")
        elif refused == "":
            say(f"{name}: {paint('has read it again', True)}")
        else:
            say(f"{name}: {paint('stays as it was', False)}")
            print(f"gid-cockpit: {name}: {printable(refused)}", file=sys.stderr)
            problems += 1
    return 1 if problems else 0


def look(configuration: Configuration, domain: Domain) -> dict:
    """One domain for `status`."""
    one = runs(configuration, domain)
    found = {"domain": domain.name, "number": domain.number, "kind": domain.kind}
    found |= {"state": "down", "pid": None, "links": [], "why": ""}
    if domain.kind == "guest":
        found["windows"] = dict(zip(("kind", "why"), window_kind(domain), strict=True))
    try:
        found["pid"] = one.pid()
        if found["pid"] is not None:
            asked = one if isinstance(one, Daemon) else None
            found["links"] = (
                asked.ask()["links"] if asked else links_of_guest(configuration, domain)
            )
            found["state"] = "up"
    except CockpitError as error:
        found |= {"state": "bad", "why": str(error)}
    return found


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


def status(configuration: Configuration, options: argparse.Namespace) -> int:
    """0 where everything that was asked for is up, its links as well."""
    found = [look(configuration, domain) for domain in configuration.choose(options.domain)]
    links = [link for domain in found for link in domain["links"]]
    good = all(thing["state"] == "up" for thing in found + links)
    if options.json:
        print(json.dumps(found, indent="\t"))
        return 0 if good else 1
    width = max(len(domain["domain"]) for domain in found)
    for domain in found:
        process = f"process {domain['pid']}" if domain["pid"] else "no process"
        state = paint(f"{domain['state']:<4}", domain["state"] == "up")
        print(f"{domain['domain']:<{width}}  {domain['number']:>3}  {state}  {process}")
        if domain["why"]:
            print(f"{'':<{width}}       {domain['why']}")
        if "windows" in domain:
            print(f"{'':<{width}}       windows: {{kind}} ({{why}})".format(**domain["windows"]))
        for link in domain["links"]:
            state = paint(printable(link["state"]), link["state"] == "up")
            why = f": {printable(link['why'])}" if link["state"] != "up" else ""
            print(f"{'':<{width}}       link to {link['domain']} ({link['kind']}) {state}{why}")
    return 0 if good else 1


def machine_of(configuration: Configuration, name: str) -> Machine:
    """As `up` would start it from here."""
    work = work_folder(configuration.runtime)
    return make(configuration, configuration.choose([name])[0], work)


def qemu_args(configuration: Configuration, options: argparse.Namespace) -> int:
    words = machine_of(configuration, options.guest).arguments()
    if options.json:
        print(json.dumps(words))
        return 0
    lines = shlex.quote(words[0])
    for word in words[1:]:
        lines += (" \\\n  " if word.startswith("-") else " ") + shlex.quote(word)
    print(lines)
    return 0


def libvirt_xml(configuration: Configuration, options: argparse.Namespace) -> int:
    print(to_xml(machine_of(configuration, options.guest)), end="")
    return 0


def guest_of(configuration: Configuration, name: str) -> Guest:
    domain = configuration.choose([name])[0]
    if domain.kind != "guest":
        raise CockpitError(f"domain {domain.name} is not a guest: it has no kind=guest")
    return Guest(configuration, domain)


def screenshot(configuration: Configuration, options: argparse.Namespace) -> int:
    guest_of(configuration, options.guest).screenshot(options.picture)
    return 0


def guest(configuration: Configuration, options: argparse.Namespace) -> int:
    serve(configuration, guest_of(configuration, options.guest).domain)
    return 0


def run(configuration: Configuration, options: argparse.Namespace) -> int:
    chosen = guest_of(configuration, options.guest)
    words = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not words:
        raise CockpitError("which command? gid-cockpit run DOMAIN COMMAND [ARGUMENT...]")
    return chosen.run(words, Path.cwd())


# --- arguments ---


def make_parser(version: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gid-cockpit",
        description="Starts, stops and watches the gidway domains of one configuration.",
        epilog="See gid-cockpit(1), gidway.conf(5).",
    )
    parser.add_argument(
        "-c",
        "--config",
        type=Path,
        default=DEFAULT_CONFIG,
        metavar="FILE",
        help=f"the cockpit's configuration (default: {DEFAULT_CONFIG})",
    )
    parser.add_argument("-V", "--version", action="version", version=f"gid-cockpit {version}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for function, text in (
        (up, "start the gidd of each domain, or its guest, and wait until their links are up"),
        (down, "end the domains; guests are powered off"),
        (reload, "make all that run read the changed configuration"),
        (status, "which domains run, and their links"),
        (check, "look for mistakes in the configuration"),
    ):
        command = commands.add_parser(function.__name__, help=text, description=text)
        command.set_defaults(run=function)
        if function is not check:
            command.add_argument("domain", nargs="*", help="only these domains (default: all)")
        if function is status:
            command.add_argument("-j", "--json", action="store_true", help="JSON for programs")
    for function, text in (
        (qemu_args, "the command line of QEMU for a guest; makes what it boots from"),
        (libvirt_xml, "the same guest as a libvirt domain, for virsh define"),
        (screenshot, "a picture of a guest's screen, as a PNG"),
        (guest, "start a guest and wait until it ends, for a service manager"),
        (run, "run a command in a guest that is up"),
    ):
        name = function.__name__.replace("_", "-")
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=function)
        command.add_argument("guest", metavar="DOMAIN", help="a domain with kind=guest")
        if function is qemu_args:
            command.add_argument("-j", "--json", action="store_true", help="JSON for programs")
        if function is screenshot:
            command.add_argument("picture", type=Path, metavar="FILE", help="the PNG to write")
        if function is run:
            command.add_argument("command", nargs=argparse.REMAINDER, help="the command")
    return parser


def have_streams() -> None:
    """Python has none for those that were closed when it started."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))


def main(arguments: list[str] | None = None, version: str = "") -> int:
    """Runs the command line; `version` is what --version says."""
    have_streams()
    options = make_parser(version).parse_args(arguments)
    os.umask(0o022)  # what is made here is for the domains' users as well
    try:
        return options.run(read(options.config), options)
    except (CockpitError, CannotBoot) as error:
        print(f"gid-cockpit: {error}", file=sys.stderr)
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        print(f"gid-cockpit: {where}{error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 1
