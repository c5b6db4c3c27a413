# SPDX-License-Identifier: MIT
"""A producer that is faster than gid-pipewire, which does all else that it has to do, too."""

import gid
from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.pipewire import CAMERA, HEIGHT, WIDTH, Pipewire
from lib.program import BUILD, Program, wait_for
from test_pipewire import paint


def test_it_ends(cockpit: Cockpit) -> None:
    pipewire = Pipewire(cockpit)
    file = pipewire.folder / "endless"
    preload = Preload(BUILD / "tests/lib/programs/endless.so")
    more = preload.env | {"ENDLESS": str(file)}
    try:
        with gid.Domain(str(cockpit.socket("open"))) as domain:
            producer = domain.producer("movie", "R8", WIDTH, HEIGHT)
            paint(producer, 99)
            command = [BUILD / "clients/gid-pipewire", "--domain=open", "--stream=movie"]
            camera = Program(command, pipewire.environment | more, pipewire.folder)
            wait_for(lambda: CAMERA in pipewire.nodes(), "the camera")
            file.touch()
            paint(producer, 98)
            wait_for(lambda: file.read_text() == "begun", "entries without end")
            assert camera.stop() == 0
    finally:
        pipewire.close()
