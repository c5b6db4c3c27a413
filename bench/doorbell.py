# SPDX-License-Identifier: MIT
"""Doorbells between a guest `open` and its host: the device's, whole ones, and frames."""

import contextlib
import json
import os
import select
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gid_vm.agent import Agent

from lab.domains.program import LabError

SECONDS = 120.0
ROUNDS = 4
ECHO = Path(__file__).with_name("doorbell") / "echo.py"


# How they go, and doorbell= of the guest for that.
WAYS = {"direct": "on", "relay": "relay", "link": "off"}


def seconds(out: str, count: int) -> list[float]:
    """Of so many lines, without those of the beginning."""
    times = [int(line) / 1e9 for line in out.splitlines()]
    if len(times) != count:
        raise LabError(f"of {count} rings came back {len(times)}")
    return times[count // 10 :]


def one_way(agent: Agent, size: tuple[int, int], count: int) -> list[float]:
    """Seconds from a guest's sending of a frame until a sleeping program of the host has it.

    As far as the guest's clock is known.
    """
    answering = subprocess.Popen(
        ["gid-bench-doorbell", "answer", "open", "movie"],
        env=os.environ | {"GID_DOMAIN": "host"},
        stdout=subprocess.PIPE,
        text=True,
    )
    words = ["gid-bench-doorbell", "ask", "movie", str(count), *map(str, size)]
    asking = agent.start(words).wait(SECONDS + count)
    if asking.code != 0:
        raise LabError(f"the guest sends no frames: {asking.err}")
    out, _ = answering.communicate(timeout=SECONDS)
    return seconds(out, count)


def trips_within(agent: Agent | None, domain: str, count: int) -> list[float]:
    """Seconds from a sleeping program to another one of the same domain, and back."""
    words = ["gid-bench-doorbell", "ask", "calm", str(count)]
    other = ["gid-bench-doorbell", "answer", domain, "calm"]
    if agent is not None:
        asking, answering = agent.start(words), agent.start(other)
        out = asking.wait(SECONDS + count).out
        answering.wait(SECONDS)
        return seconds(out, count)
    environment = os.environ | {"GID_DOMAIN": domain}
    with (
        subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as asking,
        subprocess.Popen(other, env=environment, stdout=subprocess.DEVNULL) as answering,
    ):
        out, _ = asking.communicate(timeout=SECONDS + count)
        answering.wait(SECONDS)
    return seconds(out, count)


@contextlib.contextmanager
def storm(agent: Agent) -> Iterator[None]:
    """A program of the guest rings one of the host as fast as it can, past both gidds."""
    environment = os.environ | {"GID_DOMAIN": "host"}
    words = ["gid-bench-doorbell", "answer", "open", "storm"]
    raging = agent.start(["gid-bench-doorbell", "storm", "storm"])
    with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL) as rung:
        try:
            raging.wait_for("rings", SECONDS)
            yield
        finally:
            raging.signal(9)
            raging.wait(SECONDS)
            rung.terminate()


def beside_a_storm(agent: Agent, count: int) -> dict[str, list[float]]:
    """What others have of one, by turns with none."""
    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for weather, context in (("calm", contextlib.nullcontext()), ("storm", storm(agent))):
            with context:
                part = count // ROUNDS
                for place, found in {
                    "host": trips_within(None, "host", part),
                    "guest": trips_within(agent, "open", part),
                    "host and guest": round_trips(agent, part),
                }.items():
                    times.setdefault(f"{place}, {weather}", []).extend(found)
    return times


def round_trips(agent: Agent, count: int) -> list[float]:
    """Seconds from a sleeping program of the host to one of the guest and back."""
    asking = subprocess.Popen(
        ["gid-bench-doorbell", "ask", "ping", str(count)],
        env=os.environ | {"GID_DOMAIN": "host"},
        stdout=subprocess.PIPE,
        text=True,
    )
    answering = agent.start(["gid-bench-doorbell", "answer", "host", "ping"])
    out, _ = asking.communicate(timeout=SECONDS + count)
    answering.wait(SECONDS)
    return seconds(out, count)


def read_host() -> dict:
    """What the host's gidd says of itself."""
    command = ["gidctl", "--domain", "host", "status", "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def read_link() -> dict:
    """To the guest, as the host's gidd sees it."""
    return next(link for link in read_host()["links"] if link["domain"] == "open")


def wait_for_link(ups: int, way: str) -> None:
    """Until it came up that often, and the two ring each other by the device, or over the link."""
    end = time.monotonic() + SECONDS
    while True:
        link = read_link()
        rung_by = "link" if way == "link" else "device"
        if link["state"] == "up" and link["ups"] >= ups and link["doorbells"]["way"] == rung_by:
            return
        if time.monotonic() > end:
            raise LabError(f"the guest's doorbells do not go by the {rung_by}")
        time.sleep(0.1)


def switch(agent: Agent, way: str) -> None:
    """The guest's gidd begins anew."""
    change = f"/^doorbell=/d; s/^number=1$/&\\ndoorbell={WAYS[way]}/"
    ups = read_link()["ups"]
    script = f"sed -i '{change}' /run/guest/gidway.conf && kill $(pidof gidd)"
    result = agent.start(["sh", "-c", script]).wait(SECONDS)
    if result.code != 0:
        raise LabError(f"the guest's gidd cannot be ended: {result.err}")
    wait_for_link(ups + 1, way)


def all_ways(
    agent: Agent, count: int, size: tuple[int, int], frames: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Round trips, and frames one way, each by turns, as whatever else the machine does changes.

    Ends with the link.
    """
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    latencies: dict[str, list[float]] = {way: [] for way in WAYS}
    wait_for_link(1, "direct")
    for _ in range(ROUNDS):
        for way in WAYS:
            switch(agent, way)
            times[way] += round_trips(agent, count // ROUNDS)
            latencies[way] += one_way(agent, size, frames // ROUNDS)
    return times, latencies


def connect(server: Path, host: int) -> tuple[int, int, list[int]]:
    """What QEMU would get: the eventfd that rings the guest, that of its ring, and all of them.

    `host`: the number of its domain.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(str(server))
        numbers, fds = [], []
        # Version, number, memory; of whoever it may ring the eventfds; its own vectors, of which
        # the first is for anything.
        while len(numbers) < 3 or numbers[-1] != numbers[1]:
            data, came, _, _ = socket.recv_fds(connection, 8, 1)
            numbers.append(struct.unpack("<q", data)[0])
            fds += came
    ringers = numbers[3:-1]
    if host not in ringers or len(fds) != len(numbers) - 2:
        raise LabError(f"the server of doorbells says {numbers}")
    return fds[-1], fds[1 + ringers.index(host)], fds


def bare(agent: Agent, server: Path, count: int, ping: Callable) -> list[float]:
    """The device by itself: a program in the guest answers each interrupt with a ring.

    After switch() to the link. (The host's gidd hears that ring as well.)
    """
    host = read_host()["number"]
    echo = agent.start(["python3", str(ECHO), str(host)])
    echo.wait_for("ready", SECONDS)
    there, back, fds = connect(server, host)
    poll = select.poll()
    poll.register(back, select.POLLIN)

    def empty() -> None:
        try:
            os.eventfd_read(back)
        except BlockingIOError:
            pass

    def once() -> None:
        os.eventfd_write(there, 1)
        if not poll.poll(SECONDS * 1000):
            raise LabError("the guest does not answer a ring")
        os.eventfd_read(back)

    empty()
    try:
        return ping(once, count)
    finally:
        echo.signal(9)
        for fd in fds:
            os.close(fd)
