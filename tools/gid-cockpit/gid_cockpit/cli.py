# SPDX-License-Identifier: MIT
"""The command line: gid-cockpit(1)."""

import argparse
import codecs
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import gid_console
from gid_console import printable, say
from gid_vm.initramfs import CannotBoot
from gid_vm.libvirt import to_xml
from gid_vm.qemu import Machine

from .access import own_folder
from .booting import Booting
from .configuration import (
    DEFAULT_CONFIG,
    DEFAULT_RUNTIME,
    FIRST_FILE,
    CockpitError,
    Configuration,
    read,
    read_for_services,
)
from .container import Container
from .daemon import Daemon
from .logs import log_folder
from .machine import Guest, make, work_folder
from .process import ENDS, uninterrupted
from .quadlet import to_quadlet
from .reload import reload as reload_one
from .start_lock import start_lock
from .state import (
    Runs,
    await_links,
    domain_state,
    in_order,
    is_file,
    journal_of,
    logs_of,
    missing_links,
    newer,
    read_anyway,
    runs,
)
from .unit import serve

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def paint(text: str, good: bool) -> str:
    if not gid_console.has_colours(sys.stdout):
        return text
    return f"\033[{32 if good else 31}m{text}\033[m"


# --- commands ---


def check(configuration: Configuration, options: argparse.Namespace) -> int:
    names = ", ".join(f"{domain.name} ({domain.number})" for domain in configuration.domains)
    print(f"{configuration.path}: no mistakes. Domains: {names}")
    return 0


def up(configuration: Configuration, options: argparse.Namespace) -> int:
    """All of them or none: where one does not start, those that did are ended again."""
    for number in ENDS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as after nohup
            signal.signal(number, signal.default_int_handler)
    started: list[Runs] = []
    chosen = in_order(configuration, options.domain)
    try:
        for one in chosen:
            if says_that_it_runs(configuration, one):
                continue
            with start_lock(configuration, one.domain):
                if says_that_it_runs(configuration, one):
                    continue  # another gid-cockpit has just started it
                with uninterrupted():
                    pid = one.start()
                    started.append(one)
            say(f"{one.domain.name}: {paint('started', True)} (process {pid})")
    except BaseException:
        end_started(started)
        raise
    wait_for_links(configuration, chosen)
    say_what_next(configuration, chosen)
    return 0


def says_that_it_runs(configuration: Configuration, one: Runs) -> bool:
    """Whether all of the domain runs already. CockpitError: it is of another cockpit."""
    pid = one.pid()
    if pid is None:
        return False
    note = check_file(configuration, one)
    if isinstance(one, Daemon) and one.lacks():
        return False
    say(f"{one.domain.name}: runs already (process {pid}){note}")
    return True


def end_started(started: list[Runs]) -> None:
    """The last one first. One that cannot be ended is told, and the others are ended."""
    for one in reversed(started):
        try:
            if isinstance(one, Container):
                one.stop_started()
            else:
                one.stop()
        except CockpitError as error:
            gid_console.tell(f"gid-cockpit: {error}")


def check_file(configuration: Configuration, one: Runs) -> str:
    """What is to be said of one that runs already. CockpitError: it is of another cockpit."""
    if isinstance(one, Guest):
        return f"; {newer(configuration)}" if one.is_outdated() else ""
    report = one.ask()
    if not is_file(report, configuration.path):
        other = report["configuration"]["file"]
        raise CockpitError(
            f"the gidd of {one.domain.name} runs with another file, {other}: end it by "
            f"gid-cockpit --config {shlex.quote(other)} down"
        )
    return f"; {newer(configuration)}" if report["configuration"]["is_newer"] else ""


def wait_for_links(configuration: Configuration, chosen: list[Runs]) -> None:
    """Until these, and others that run, have found each other where they share something."""
    names = {one.domain.name for one in chosen}
    guests = [one for one in chosen if isinstance(one, Guest)]
    if not guests:
        await_links(configuration, names)
    elif next(missing_links(configuration, names), None) is not None:
        booting = Booting(configuration, guests)
        booting.begin()
        await_links(configuration, names, booting.seconds, booting.look, booting.late)


def say_what_next(configuration: Configuration, chosen: list[Runs]) -> None:
    runtime = ""
    if configuration.runtime != Path(os.environ.get("GID_RUNTIME_DIR") or DEFAULT_RUNTIME):
        runtime = f"export GID_RUNTIME_DIR={shlex.quote(str(configuration.runtime))}; "
    here = next((one.domain.name for one in chosen if isinstance(one, Daemon)), None)
    if here is not None:
        say(f"Now try: {runtime}gidctl -d {here} list")


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


def status(configuration: Configuration, options: argparse.Namespace) -> int:
    """0 where everything that was asked for is up, its links as well."""
    found = [domain_state(configuration, domain) for domain in configuration.choose(options.domain)]
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
        if domain["is_newer"]:
            print(f"{'':<{width}}       {newer(configuration)}")
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


def container_of(configuration: Configuration, name: str) -> Container:
    one = runs(configuration, configuration.choose([name])[0])
    if not isinstance(one, Container):
        raise CockpitError(f"domain {name} is not a container: it has no kind=container")
    return one


def podman_args(configuration: Configuration, options: argparse.Namespace) -> int:
    words = container_of(configuration, options.guest).arguments()
    print(json.dumps(words) if options.json else shlex.join(words))
    return 0


def quadlet(configuration: Configuration, options: argparse.Namespace) -> int:
    print(to_quadlet(container_of(configuration, options.guest), options.user), end="")
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
    one = runs(configuration, configuration.choose([options.guest])[0])
    if not isinstance(one, Guest | Container):
        raise CockpitError(
            f"domain {options.guest} is neither a guest nor a container: its programs run here"
        )
    return one.run(options.command, Path.cwd())


def logs(configuration: Configuration, options: argparse.Namespace) -> int:
    """By tail(1), which shows several with their names."""
    (domain,) = configuration.choose([options.log])
    paths = logs_of(configuration, domain)
    if not paths:
        raise CockpitError(
            f"{log_folder(configuration, domain.name)} has no log of {domain.name}: gid-cockpit "
            f"has not started it here; what systemd starts is in {journal_of(domain)}"
        )
    words = ["tail", "-n", str(options.lines), *(["-F"] if options.follow else []), "--", *paths]
    if sys.stdout.isatty():
        return show_as_text(words)
    status = subprocess.run(words).returncode
    return 0 if status == -signal.SIGPIPE else status  # who reads it had enough


def show_as_text(words: list[str | Path]) -> int:
    """What the command writes: a guest's, which a terminal must not obey. Colours are left out, and
    that its lines end in two characters."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with subprocess.Popen(words, stdout=subprocess.PIPE) as command:
        try:
            while data := command.stdout.read1():
                text = COLOUR.sub("", decoder.decode(data).replace("\r", ""))
                print(printable(text), end="", flush=True)
        except BaseException:
            command.terminate()
            raise
    return command.returncode


FIRST = """\
# A first cockpit: two domains on this machine. gidway.conf(5) has all keys.

[domain open]
number=1

[domain cluster]
number=2

# What cluster may read of open: the streams of these names, or patterns.
[share open cluster]
streams=movie camera/*
"""


def init(path: Path, options: argparse.Namespace) -> int:
    """A file to begin with; one that is there stays."""
    start = f"gid-cockpit --config {shlex.quote(str(path))} up"
    try:
        with path.open("x") as file:
            file.write(FIRST)
    except FileExistsError:
        raise CockpitError(
            f"{path}: there is such a file already: {start} starts its domains, --config names "
            "another file"
        ) from None
    except OSError as error:
        if error.filename is None:  # it was made, but not written, as on a full disk
            path.unlink()
        raise CockpitError(f"{path}: {error.strerror}") from None
    say(f"{path}: written. Now try:")
    if os.geteuid() != 0 and not os.environ.get("GID_RUNTIME_DIR"):
        say(f"  export GID_RUNTIME_DIR={own_folder()}")
    say(f"  {start}")
    return 0


# --- arguments ---


def make_parser(version: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gid-cockpit",
        description="Starts, stops and watches the gidway domains of one configuration.",
        epilog="See gid-cockpit(1), gidway.conf(5).",
    )
    add_config(parser, DEFAULT_CONFIG)
    parser.add_argument("-V", "--version", action="version", version=f"gid-cockpit {version}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for function, text in (
        (up, "start the gidd of each domain, or its guest, and wait until their links are up"),
        (down, "end the domains; guests are powered off"),
        (reload, "make all that run read the changed configuration"),
        (status, "which domains run, and their links"),
        (check, "look for mistakes in the configuration"),
    ):
        command = commands.add_parser(function.__name__, help=text, description=text)
        command.set_defaults(run=function, read=read_anyway if function in (down, status) else read)
        if function is not check:
            command.add_argument("domain", nargs="*", help="only these domains (default: all)")
        if function is status:
            command.add_argument("-j", "--json", action="store_true", help="JSON for programs")
    for function, what, text in (
        (qemu_args, "a guest", "the command line of QEMU for a guest; makes what it boots from"),
        (podman_args, "a container", "the command line of podman for a container"),
        (quadlet, "a container", "a container as a unit for podman, so that systemd runs it"),
        (libvirt_xml, "a guest", "a guest as a libvirt domain, for virsh define"),
        (screenshot, "a guest", "a picture of a guest's screen, as a PNG"),
        (guest, "a guest", "start a guest and wait until it ends, for a service manager"),
        (run, "a guest or a container", "run a command in a guest or a container while it is up"),
    ):
        name = function.__name__.replace("_", "-")
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=function, read=read_for_services if function is quadlet else read)
        command.add_argument("guest", metavar="DOMAIN", help=what)
        if function in (qemu_args, podman_args):
            command.add_argument("-j", "--json", action="store_true", help="JSON for programs")
        if function is quadlet:
            command.add_argument("user", metavar="USER", help="as whom its programs run")
        if function is screenshot:
            command.add_argument("picture", type=Path, metavar="FILE", help="the PNG to write")
        if function is run:
            command.add_argument("command", nargs=argparse.REMAINDER, help="the command")
            command.set_defaults(misused=command.error)
    add_logs(commands)
    text = "write a first configuration, of two domains"
    command = commands.add_parser("init", help=text, description=text)
    command.set_defaults(run=init, read=lambda path: FIRST_FILE if path == DEFAULT_CONFIG else path)
    for command in commands.choices.values():
        add_config(command, argparse.SUPPRESS)  # else it would undo the one before the command
    return parser


def add_config(parser: argparse.ArgumentParser, default: Path | str) -> None:
    parser.add_argument(
        "-c",
        "--config",
        type=Path,
        default=default,
        metavar="FILE",
        help=f"the cockpit's configuration (default: {DEFAULT_CONFIG})",
    )


def add_logs(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    text = "what a domain's gidd has written, a guest's console and QEMU, a container's programs"
    command = commands.add_parser("logs", help=text, description=text)
    command.set_defaults(run=logs, read=read_anyway)
    command.add_argument("log", metavar="DOMAIN")
    command.add_argument("-f", "--follow", action="store_true", help="and what is written from now")
    command.add_argument(
        "-n",
        "--lines",
        type=gid_console.whole_number(0, 10**9),
        default=50,
        metavar="N",
        help="so many of the last (default: 50)",
    )


def main(arguments: list[str] | None = None, version: str = "") -> int:
    """Runs the command line; `version` is what --version says."""

    def command() -> int:
        options = gid_console.parse(make_parser(version), arguments)
        if options.run is run:
            options.command = options.command[options.command[:1] == ["--"] :]
            if not options.command:
                options.misused("which command? gid-cockpit run DOMAIN COMMAND [ARGUMENT...]")
        os.umask(0o022)  # what is made here is for the domains' users as well
        return options.run(options.read(options.config), options)

    return gid_console.run("gid-cockpit", command, trouble=(CockpitError, CannotBoot))
