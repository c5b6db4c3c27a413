# SPDX-License-Identifier: MIT
"""gid-cockpit up, while a guest boots that the test plays."""

import socket
from collections.abc import Iterator

import pytest
from gid_cockpit import booting
from test_cockpit import Tool, tool  # noqa: F401

from lab.domains.configuration import configuration


@pytest.fixture
def guest(tool: Tool) -> Iterator[None]:  # noqa: F811
    """QEMU runs, and its console has said something."""
    for folder in ("open", "log/open"):
        (tool.runtime / folder).mkdir(mode=0o755, parents=True)
    said = "\x1b[0;32m  OK  \x1b[0m Reached target basic.target\r\n\x1bc\r\n"
    (tool.runtime / "log" / "open" / "console.log").write_text(said)
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.bind(str(tool.runtime / "open" / "monitor.sock"))
        monitor.listen(4096)  # nobody accepts those who look whether it is there
        yield


@pytest.mark.parametrize("accel", ["kvm", "tcg"])
@pytest.mark.usefixtures("guest")
def test_a_guest_that_takes_long(tool: Tool, accel: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """How far it is, how long it is waited for, and what to do then."""
    domains = {"host": "kind=host", "open": f"kind=guest\nvm-accel={accel}"}
    tool.write(configuration(domains, {"open host": "movie"}, runtime="{runtime}"))
    for which in ("kvm", "tcg"):
        seconds = 1.0 if which == accel else 1000.0
        monkeypatch.setattr(booting, f"{which.upper()}_SECONDS", seconds)
    monkeypatch.setattr(booting, "TELL_SECONDS", 0.5)
    result = tool.run("up")
    command = f"gid-cockpit --config {tool.config}"
    minutes = ", which takes minutes on a busy machine without KVM" if accel == "tcg" else ""
    missing = "the link of host to open is not up: "
    assert f"\nopen: booting{minutes}\n" in result.stdout
    assert f" s: {missing}" in result.stdout
    assert "\n  open says: OK   Reached target basic.target\n" in result.stdout
    assert result.stderr.startswith(f"gid-cockpit: {missing}")
    first, *then = result.stderr.splitlines()
    assert first.endswith(", after 1 s. The guests go on booting.")
    assert then == [f"Whether it is up: {command} status", f"What open says: {command} logs open"]
    assert result.returncode == 1
