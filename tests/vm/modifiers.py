# SPDX-License-Identifier: MIT
"""Runs in a guest: frames with a modifier on their way to gidsrc and to compositors.

modifiers.py REGISTRY   writes one JSON object: what came of them, by the names below.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from gid_vm.folder import memory_folder
from lib.cockpit import Cockpit
from lib.pipeline import Pipeline, gst_env
from lib.program import BUILD, Program, wait_for

SECONDS = 300  # for a few frames under TCG
XRGB8888, NV12 = 0x34325258, 0x3231564E
MODIFIER = 0x0100000000000004  # rows in tiles, and a plane that says how they are compressed
LINEAR = 0
CREDIT = 4


class Cluster:
    """The domain that shows what `open` plays."""

    def __init__(self, registry: Path) -> None:
        self.cockpit = Cockpit()
        self.registry = self.cockpit.folder / "registry.bin"
        shutil.copy(registry, self.registry)
        self.cockpit.start_all()
        self.folder = Path(tempfile.mkdtemp(dir=memory_folder()))
        name = f"XR24:{MODIFIER:#018x}"
        env = gst_env(self.cockpit.env("open"), self.registry)
        self.source = Program([BUILD / "tests/vm/tiled-source", "film", name], env, self.folder)

    def receive(self, *options: str) -> dict:
        """By gidsrc: what its caps and some of its frames say."""
        text = "gidsrc domain=open stream=film ! fakesink name=watch sync=false"
        kept = Pipeline(self.cockpit, "cluster", text, *options)
        try:
            kept.wait_frames(4, SECONDS)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.source.stderr}") from None
        found = {"caps": kept.caps, "frames": kept.frames[:4], "errors": kept.errors()}
        kept.tell("quit")
        found["status"] = kept.wait(SECONDS)
        return found

    def hold(self) -> dict:
        """By a program that gives nothing back before it is told to: what its bus says."""
        source = f"gidsrc name=src domain=open stream=film credit={CREDIT}"
        text = f"{source} ! fakesink name=watch sync=false"
        kept = Pipeline(self.cockpit, "cluster", text, "--video-meta", "2", "--hold", "100")

        def warnings() -> list[str]:
            return [line["text"] for line in kept.lines("bus") if line["bus"] == "warning"]

        found = {"warnings": wait_for(warnings, "a warning", SECONDS), "held": len(kept.frames)}
        kept.tell("release")
        kept.wait_frames(2 * CREDIT, SECONDS)
        found |= {"stats": kept.stats("src"), "errors": kept.errors()}
        kept.tell("quit")
        found["status"] = kept.wait(SECONDS)
        return found

    def view(self, fourcc: int, modifier: int, answer: str, done: str) -> dict:
        """By gid-view, before a compositor that has only one format: until one of both said so."""
        socket = self.folder / f"{answer}-{fourcc:x}-{modifier:x}"
        command = [BUILD / "tests/vm/taking-compositor", socket, hex(fourcc), hex(modifier), answer]
        env = self.cockpit.env("cluster") | {"XDG_RUNTIME_DIR": str(self.folder)}
        compositor = Program(command, env, self.folder)
        compositor.wait_output("ready", SECONDS)
        words = [BUILD / "clients/gid-view", "-d", "open", "-s", "film"]
        shown = Program(words, env | {"WAYLAND_DISPLAY": str(socket)}, self.folder)
        (compositor if answer == "take" else shown).wait_output(done, SECONDS)
        found = {"ended": not shown.is_running() or shown.stop(), "view": shown.stderr}
        compositor.kill()
        return found | {"told": compositor.stdout.splitlines()}

    def close(self) -> None:
        self.cockpit.close()


def main() -> None:
    cluster = Cluster(Path(sys.argv[1]))
    answer = {
        "received": cluster.receive("--video-meta", "2"),
        "without crop": cluster.receive("--video-meta", "1"),
        "held": cluster.hold(),
        "taken": cluster.view(XRGB8888, MODIFIER, "take", "attach\nattach\nattach"),
        "failed": cluster.view(XRGB8888, MODIFIER, "refuse", "cannot be shown"),
        "linear": cluster.view(XRGB8888, LINEAR, "refuse", "the compositor cannot show"),
        "other": cluster.view(NV12, MODIFIER, "refuse", "the compositor cannot show"),
        "afterwards": cluster.receive("--video-meta", "2"),
        "source": cluster.source.is_running(),
    }
    cluster.close()
    print(json.dumps(answer))


main()
