# SPDX-License-Identifier: MIT
"""Protected roles: what happens to a frame on its way is seen where it is shown."""

import os
import signal
import subprocess

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import ROLE, Display, start_telltale
from lib.faults import PROTECTED, faults_of
from lib.keys import CMAC, IS_WHOLE, write_key
from lib.length import at_length_but
from lib.pipeline import gst_env
from lib.program import Program, wait_for


def role(profile: str) -> str:
    key = "protection-key=lamp.key\n" if profile == "cmac" else ""
    return ROLE + f"protection={profile}\n{key}good-frames=1\n"


def start_sink(cockpit: Cockpit, *properties: str) -> Program:
    """gidsink with live pictures of the role's size."""
    caps = "video/x-raw,format=BGRx,width=320,height=80,framerate=30/1"
    command = ["gst-launch-1.0", "-q", "videotestsrc", "is-live=true", "pattern=ball", "!", caps]
    command += ["!", "gidsink", "stream=safety/telltale", *properties]
    return cockpit.run("open", command, **gst_env({}, cockpit.folder / "registry.bin"))


@pytest.mark.parametrize("profile", ["crc64", CMAC])
def test_faults_on_the_way(cockpit: Cockpit, profile: str) -> None:
    """Each is seen, named, and the fallback is shown; without it the role is live again."""
    key = write_key(cockpit.folder)
    display = Display(cockpit, role(profile))
    fallback = display.region()
    for fault, reason in faults_of(profile).items():
        if fault == "replay" or fault == "other-profile" and not IS_WHOLE:
            continue  # see below; there is no other one
        sender = cockpit.run("open", [PROTECTED, fault, profile, key])
        display.wait_role("live")
        before = len(display.role()["transitions"])
        sender.signal(signal.SIGUSR1)
        wait_for(lambda before=before: len(display.role()["transitions"]) > before, fault)
        first = display.role()["transitions"][before]
        assert (first["to"], first["reason"]) == ("wrong", reason), fault
        display.wait_role("wrong", reason)
        assert numpy.array_equal(display.region(), fallback), fault
        sender.signal(signal.SIGUSR1)
        display.wait_role("live")
        sender.kill()
        display.wait_role("lost")


@pytest.mark.parametrize("profile", at_length_but(["crc64", CMAC], "crc64"))
def test_frames_of_before_after_the_end(cockpit: Cockpit, profile: str) -> None:
    """Whoever kept them needs no key to say that the stream ended, and to send them again. They are
    old, though they are no older than the deadline allows, and their numbers rise.
    """
    key = write_key(cockpit.folder)
    display = Display(cockpit, role(profile))
    fallback = display.region()
    sender = cockpit.run("open", [PROTECTED, "replay", profile, key])
    display.wait_role("live")
    shown = display.role()["shown_frames"]
    sender.signal(signal.SIGUSR1)
    display.wait_role("wrong", "old-frame")
    assert numpy.array_equal(display.region(), fallback)
    sender.signal(signal.SIGUSR1)
    display.wait_role("live")
    reasons = [change["reason"] for change in display.role()["transitions"]]
    assert reasons[0] == "none" and reasons[-2:] == ["old-frame", "none"], reasons
    assert display.role()["shown_frames"] > shown


@pytest.mark.skipif(not IS_WHOLE, reason="built without nettle")
def test_the_key_of_another_display(cockpit: Cockpit) -> None:
    """A producer that has another key is never live."""
    key = write_key(cockpit.folder)
    display = Display(cockpit, role("cmac"))
    key.write_text("00112233445566778899aabbccddeefe")
    cockpit.run("open", [PROTECTED, "pixel", "cmac", key])
    display.wait_transition("check-mismatch")
    wait_for(lambda: display.role()["frames"] > 30, "more frames")
    assert display.role()["shown_frames"] == 0


def test_who_does_not_protect(cockpit: Cockpit) -> None:
    """A content hash is no check: anybody can make it."""
    display = Display(cockpit, role("crc64"))
    start_telltale(cockpit)
    display.wait_transition("no-check")
    wait_for(lambda: display.role()["frames"] > 5, "more frames")
    assert display.role()["shown_frames"] == 0


@pytest.mark.parametrize("profile", at_length_but(["crc64", CMAC], CMAC))
def test_gidsink(cockpit: Cockpit, profile: str) -> None:
    """What it protects is live, also without a content hash; what it does not is none."""
    key = write_key(cockpit.folder)
    display = Display(cockpit, role(profile))
    keyed = [f"protection-key={key}"] if profile == "cmac" else []
    sink = start_sink(cockpit, f"protection={profile}", *keyed)
    display.wait_role("live")
    shown = display.role()["shown_frames"]
    wait_for(lambda: display.role()["shown_frames"] > shown + 10, "pictures that change")
    assert {t["reason"] for t in display.role()["transitions"]} == {"none"}
    sink.kill()
    display.wait_role("lost")
    start_sink(cockpit)
    display.wait_transition("no-check")


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        (("protection=cmac",), "protection=cmac needs protection-key=FILE"),
        (("protection-key=lamp.key",), "protection-key= is for protection=cmac alone"),
        (("protection=cmac", "protection-key=/nowhere"), "No such file"),
        (("protection=cmac", "protection-key=short.key"), "it has not 32 hexadecimal digits"),
        (("protection=cmac", "protection-key=open.key"), "others may read or write it"),
    ],
)
def test_mistakes_of_properties(cockpit: Cockpit, properties: tuple[str, ...], said: str) -> None:
    (cockpit.folder / "short.key").write_text("00112233")
    (cockpit.folder / "short.key").chmod(0o600)
    write_key(cockpit.folder).rename(cockpit.folder / "open.key")
    (cockpit.folder / "open.key").chmod(0o604)
    command = ["gst-launch-1.0", "videotestsrc", "num-buffers=1", "!", "gidsink"]
    found = subprocess.run(
        [*command, "stream=safety/telltale", *properties],
        cwd=cockpit.folder,
        env=os.environ | gst_env(cockpit.env("open"), cockpit.folder / "registry.bin"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert found.returncode != 0 and said in found.stdout + found.stderr
