# SPDX-License-Identifier: MIT
"""A guest with sources of every kind of frame: /dev/udmabuf, a virtual camera, and codecs."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from drivers import CODECS, HEIGHT, WIDTH, environment_of_codecs, sources
from gid_vm.guest import Guest
from gid_vm.initramfs import CannotBoot
from gid_vm.own_kernel import own_kernel
from lib.pipeline import film, make_registry, quoted
from lib.program import BUILD, python_env

HERE = Path(__file__).parent
SLOWLY = "identity sleep-time=100000"  # it must not end before the slowest screen has shown some
CODEC_NAMES = ["stateless", "stateful", "converter"]


def raw(pixels: str, width: int, height: int) -> str:
    return f"video/x-raw,format={pixels},width={width},height={height}"


def is_rgb(name: str) -> bool:
    return name.endswith(("rgb", "BGRx"))


def chosen(request: pytest.FixtureRequest, cases: list[dict]) -> list[dict]:
    """Those cases whose names the tests of this run have: others are of the suite long, or have had
    theirs.
    """
    calls = (getattr(item, "callspec", None) for item in request.session.items)
    names = {call.params.get("name") for call in calls if call is not None}
    return [case for case in cases if case["name"] in names]


def codec_sources() -> dict[str, tuple[str, str, int, int]]:
    """The kernel's test drivers: a stateless decoder, a stateful one, and a converter.

    With what they make.
    """
    decoder = f"filesrc location={quoted(film(WIDTH, HEIGHT, 300))} ! qtdemux ! h264parse"
    coded = sources("dmabuf", 300, "smpte")
    made = {
        "stateless": (f"{decoder} ! v4l2slh264dec", "NV12", WIDTH, HEIGHT),
        "stateful": (coded["stateful decoder"], "I420", 1280, 720),
        "converter": (coded["converter"], "YUY2", WIDTH, HEIGHT),
    }
    return {name: (f"{text} ! {SLOWLY}", *size) for name, (text, *size) in made.items()}


@dataclass
class Kinds:
    guest: Guest
    camera: str  # a device
    codecs: dict[str, str] | None  # the environment of programs that use them; None: it has none

    def run(self, script: str, cases: list[dict]) -> dict[str, dict]:
        """What a script of this folder says of each case, by its name."""
        environment = python_env() | {"GIDWAY_BUILD": str(BUILD)}
        lines = "".join(json.dumps(case) + "\n" for case in cases)
        words = ["python3", str(HERE / script), str(make_registry())]
        result = self.guest.start(words, env=environment, stdin=lines.encode()).wait(720)
        assert result.code == 0, f"{result.err[:3000]}\n{result.err[-3000:]}\n{result.out}"
        answers = [json.loads(line) for line in result.out.splitlines()]
        return {answer["name"]: answer for answer in answers}


@contextmanager
def guest_with_kinds(*modules: str) -> Iterator[Kinds]:
    """In one with these modules as well."""
    make_registry()
    with ExitStack() as stack:
        has_codecs = True
        try:
            guest = stack.enter_context(own_kernel("open", [*modules, *CODECS]))
        except CannotBoot as error:
            print(f"without codecs: {error}")
            has_codecs = False
            guest = stack.enter_context(own_kernel("open", modules))

        def run(*words: str) -> str:
            result = guest.run([*words], env={"GST_PLUGIN_PATH": str(BUILD / "gst")})
            assert result.code == 0, result.err
            return result.out

        run("modprobe", "vivid")
        command = "grep -l vivid-000-vid-cap /sys/class/video4linux/video*/name"
        camera = run("sh", "-c", command).split("/")[-2]
        codecs = environment_of_codecs(run) if has_codecs else None
        yield Kinds(guest, f"/dev/{camera}", codecs)
