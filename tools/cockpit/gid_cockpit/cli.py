# SPDX-License-Identifier: MIT
"""The command line: gid-cockpit(1)."""

import argparse
import json
import os
import sys
import time
from pathlib import Path

from .configuration import DEFAULT_CONFIG, CockpitError, Configuration, read
from .daemon import Daemon

LINK_SECONDS = 10.0


def paint(text: str, good: bool) -> str:
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return text
    return f"\033[{32 if good else 31}m{text}\033[m"


# --- commands ---


def check(configuration: Configuration, options: argparse.Namespace) -> int:
    names = ", ".join(f"{domain.name} ({domain.number})" for domain in configuration.domains)
    print(f"{configuration.path}: no mistakes. Domains: {names}")
    return 0


def up(configuration: Configuration, options: argparse.Namespace) -> int:
    """All of them or none: where one does not start, those that did are ended again."""
    started: list[Daemon] = []
    daemons = [Daemon(configuration, domain) for domain in configuration.choose(options.domain)]
    try:
        for daemon in daemons:
            pid = daemon.pid()
            if pid is not None:
                print(f"{daemon.domain.name}: runs already (process {pid})")
                continue
            pid = daemon.start()
            started.append(daemon)
            print(f"{daemon.domain.name}: {paint('started', True)} (process {pid})", flush=True)
    except CockpitError:
        for daemon in reversed(started):
            daemon.stop()
        raise
    wait_for_links(daemons)
    return 0


def wait_for_links(daemons: list[Daemon]) -> None:
    """Until those that share something have found each other."""
    names = {daemon.domain.name for daemon in daemons}
    end = time.monotonic() + LINK_SECONDS
    for daemon in daemons:
        while missing := [
            link
            for link in daemon.ask()["links"]
            if link["domain"] in names and link["state"] != "up"
        ]:
            if time.monotonic() > end:
                link = missing[0]
                raise CockpitError(
                    f"the link of {daemon.domain.name} to {link['domain']} is not up: {link['why']}"
                )
            time.sleep(0.05)


def down(configuration: Configuration, options: argparse.Namespace) -> int:
    problems = 0
    for domain in reversed(configuration.choose(options.domain)):
        try:
            ended = Daemon(configuration, domain).stop()
            print(f"{domain.name}: {'ended' if ended else 'does not run'}", flush=True)
        except CockpitError as error:
            print(f"gid-cockpit: {error}", file=sys.stderr)
            problems += 1
    return 1 if problems else 0


def look(daemon: Daemon) -> dict:
    """One domain for `status`."""
    found = {"domain": daemon.domain.name, "number": daemon.domain.number, "state": "down"}
    found |= {"pid": None, "links": [], "why": ""}
    try:
        found["pid"] = daemon.pid()
        if found["pid"] is not None:
            found["links"] = daemon.ask()["links"]
            found["state"] = "up"
    except CockpitError as error:
        found |= {"state": "bad", "why": str(error)}
    return found


def status(configuration: Configuration, options: argparse.Namespace) -> int:
    """0 where everything that was asked for is up, its links as well."""
    found = [look(Daemon(configuration, domain)) for domain in configuration.choose(options.domain)]
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
        for link in domain["links"]:
            state = paint(link["state"], link["state"] == "up")
            why = f": {link['why']}" if link["state"] != "up" else ""
            print(f"{'':<{width}}       link to {link['domain']} ({link['kind']}) {state}{why}")
    return 0 if good else 1


# --- arguments ---


def make_parser() -> argparse.ArgumentParser:
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
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for run, text in (
        (up, "start the gidd of each domain, and wait until their links are up"),
        (down, "end them"),
        (status, "which domains run, and their links"),
        (check, "look for mistakes in the configuration"),
    ):
        command = commands.add_parser(run.__name__, help=text, description=text)
        command.set_defaults(run=run)
        if run is not check:
            command.add_argument("domain", nargs="*", help="only these domains (default: all)")
        if run is status:
            command.add_argument("-j", "--json", action="store_true", help="JSON for programs")
    return parser


def main(arguments: list[str] | None = None) -> int:
    options = make_parser().parse_args(arguments)
    try:
        return options.run(read(options.config), options)
    except CockpitError as error:
        print(f"gid-cockpit: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 1
