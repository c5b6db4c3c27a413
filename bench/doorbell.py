# SPDX-License-Identifier: MIT
"""Round trips of doorbells between a guest `open` and its host: the device's, and whole ones."""

import json
import os
import select
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import common
from gid_vm.agent import Agent

SECONDS = 120.0
ROUNDS = 4
HOST = 3  # its domain
ECHO = Path(__file__).with_name("doorbell") / "echo.py"


def through_gidds(agent: Agent, count: int) -> list[float]:
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
    times = [int(line) / 1e9 for line in out.splitlines()]
    if len(times) != count:
        raise common.BenchError(f"of {count} rings came back {len(times)}")
    return times[count // 10 :]


def way_of_rings() -> str:
    """By what the host and the guest ring each other; "" until they have met."""
    command = ["gidctl", "--domain", "host", "status", "--json"]
    status = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    link = next(link for link in status["links"] if link["domain"] == "open")
    return link["doorbells"]["way"] if link["state"] == "up" else ""


def wait_for_way(way: str) -> None:
    end = time.monotonic() + SECONDS
    while way_of_rings() != way:
        if time.monotonic() > end:
            raise common.BenchError(f"the guest's doorbells do not go by the {way}")
        time.sleep(0.1)


def switch(agent: Agent, way: str) -> None:
    """The guest's gidd begins anew, and has the "device", or leaves it alone for the "link"."""
    if way_of_rings() == way:
        return
    change = r"s/^number=1$/&\ndoorbell=off/" if way == "link" else "/^doorbell=off$/d"
    script = f"sed -i '{change}' /run/guest/gidway.conf && kill $(pidof gidd)"
    result = agent.start(["sh", "-c", script]).wait(SECONDS)
    if result.code != 0:
        raise common.BenchError(f"the guest's gidd cannot be ended: {result.err}")
    wait_for_way(way)


def both_ways(agent: Agent, count: int) -> dict[str, list[float]]:
    """By turns, as whatever else the machine does is different each time. Ends with the link."""
    times: dict[str, list[float]] = {"device": [], "link": []}
    wait_for_way("device")
    for _ in range(ROUNDS):
        for way, found in times.items():
            switch(agent, way)
            found += through_gidds(agent, count // ROUNDS)
    return times


def connect(server: Path) -> tuple[int, int, list[int]]:
    """What QEMU would get: the eventfd that rings the guest, that of its ring, and all of them."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(str(server))
        numbers, fds = [], []
        # Version, number, memory; the host, whom it may ring; its own vector.
        for _ in range(5):
            data, came, _, _ = socket.recv_fds(connection, 8, 1)
            numbers.append(struct.unpack("<q", data)[0])
            fds += came
    if numbers[3] != HOST or numbers[4] != numbers[1] or len(fds) != 3:
        raise common.BenchError(f"the server of doorbells says {numbers}")
    return fds[2], fds[1], fds


def bare(agent: Agent, server: Path, count: int, ping: Callable) -> list[float]:
    """The device by itself: a program in the guest answers each interrupt with a ring.

    After switch() to the link. (The host's gidd hears that ring as well.)
    """
    echo = agent.start(["python3", str(ECHO), str(HOST)])
    echo.wait_for("ready", SECONDS)
    there, back, fds = connect(server)
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
            raise common.BenchError("the guest does not answer a ring")
        os.eventfd_read(back)

    empty()
    try:
        return ping(once, count)
    finally:
        echo.signal(9)
        for fd in fds:
            os.close(fd)
