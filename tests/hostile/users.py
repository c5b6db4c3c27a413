# SPDX-License-Identifier: MIT
"""Programs of two users in one domain."""

from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.gidwire import Connection
from lib.program import BUILD

OTHER_USER = BUILD / "tests/lib/programs/other_user.so"
STRANGER = 54321  # by other_user.so


class Users:
    """A cockpit, and who comes into its domain `open` as a stranger."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.cockpit = cockpit
        self.others = cockpit.folder / "others"
        self.preload = Preload(OTHER_USER)

    def start(self) -> None:
        settings = self.preload.env | {"OTHER_PEERS": str(self.others)}
        self.cockpit.start("open", ["env", *(f"{key}={value}" for key, value in settings.items())])
        self.preload.check("gidd")

    def stranger(self) -> Connection:
        self.others.touch()
        try:
            return self.cockpit.connect("open", "stranger")
        finally:
            self.others.unlink()

    def mine(self, program: str = "test") -> Connection:
        return self.cockpit.connect("open", program)
