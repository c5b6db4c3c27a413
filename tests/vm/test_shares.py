# SPDX-License-Identifier: MIT
"""Control groups of domains, in a guest: a system where they are ours to write, without systemd."""

import json
import os
from collections.abc import Iterator

import pytest
from gid_vm.guest import Guest, why_not
from lib.program import BUILD

from lab.domains.configuration import configuration

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800),
]

CONFIG = configuration({"open": "", "cluster": ""}, {"open cluster": "*"}).encode()


@pytest.fixture(scope="module")
def guest() -> Iterator[Guest]:
    with Guest("shares", memory_mib=512) as guest:
        assert guest.run(["mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup"]).code == 0
        yield guest


def test_each_domain_has_a_share_of_its_own(guest: Guest) -> None:
    folders = (BUILD / "gidd", BUILD / "tools/gid-cockpit", BUILD / "tools/gidctl")
    env = {"PATH": ":".join([*map(str, folders), os.environ["PATH"]])}
    guest.run(["sh", "-c", "cat >/run/cockpit.conf"], stdin=CONFIG)

    def cockpit(*words: str) -> str:
        result = guest.run(["gid-cockpit", "-c", "/run/cockpit.conf", *words], env=env, timeout=180)
        assert result.code == 0, result.err
        return result.out

    cockpit("up")
    for domain in json.loads(cockpit("status", "--json")):
        group = f"/sys/fs/cgroup/gidway/{domain['domain']}"
        script = f"cd {group} && cat cgroup.procs memory.max pids.max cpu.weight"
        pid, memory, processes, weight = guest.run(["sh", "-c", script]).out.split()
        assert int(pid) == domain["pid"]
        assert 0 < int(memory) < 512 << 20
        assert (processes, weight) == ("300", "500")
    cockpit("down")
    assert guest.run(["ls", "/sys/fs/cgroup/gidway"]).out.count("cluster") == 0
