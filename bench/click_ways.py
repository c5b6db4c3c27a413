# SPDX-License-Identifier: MIT
"""What can stand between a program and the screen on which it is used: the ways of click.py.

Each is started between the program's place and the viewer's Weston. What is not here is told by
name, with the packages that bring it.
"""

import contextlib
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lab.domains.place import Place
from lab.domains.weston import Weston

RATE = 60
PARTS = Path(__file__).with_name("click")
LOCAL = "127.0.0.1"
LISTENS = "0A"  # in /proc/net/tcp
# Whatever the password is: no user's own is to be known. While it is measured, others on this
# machine could use the desktop as well, which has nothing but the target.
ANY_PASSWORD = b"auth required pam_permit.so\naccount required pam_permit.so\n"
WAYPIPE = ("waypipe", "--compress=none", "--no-gpu")
VNC_PAM = "/etc/pam.d/weston-remote-access"
SWAY = """\
output HEADLESS-1 mode {0}x{1}@{2}Hz
default_border none
for_window [app_id=".*"] fullscreen enable
"""


def output(name: str, size: tuple[int, int], reader: str, lend: str = "") -> str:
    mode = f"{size[0]}x{size[1]}"
    rate = f"@{RATE}" if name == "screen" else ""
    keys = f"name={name}\nstream={name}\nmode={mode}{rate}\ninput={reader}\nlend={lend}\n"
    return f"\n[gid-output]\n{keys}"


def python(script: str, *words: object) -> list[str]:
    return [sys.executable, str(PARTS / script), *map(str, words)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOCAL, 0))
        return probe.getsockname()[1]


@dataclass
class Scene:
    """The desk's servers listen at `address` and `port`, where the viewer finds them at LOCAL."""

    desk: Place  # of the program
    viewer: Place  # of the user
    size: tuple[int, int]
    change: str
    address: str = LOCAL
    port: int = field(default_factory=free_port)
    machine: int | None = None  # the process that all of the desk runs in; None: there is none
    parts: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)  # that end with it

    def reach(self, path: Path) -> Path:
        """A socket of the viewer's, as the desk's programs find it."""
        return path

    @property
    def user(self) -> str:
        """As the desk's programs are."""
        return self.desk.run(["id", "-un"]).strip()

    def program(self, *before: str, memory: str = "shm", **environment: str) -> None:
        """What is clicked on."""
        command = [*before, *python("target.py", *self.size, self.change, memory)]
        self.desk.start("target", command, **environment)

    def check(self) -> None:
        for place in (self.desk, self.viewer):
            place.check()


def kiosk(place: Place, shown: str) -> None:
    """Weston whose only output is the one of this section."""
    Weston(place, [shown], ["--no-outputs"], kind="kiosk").start()


def direct(scene: Scene) -> None:
    names = ("WAYLAND_DISPLAY", "XDG_RUNTIME_DIR")
    scene.program(**{name: scene.viewer.environment[name] for name in names})


def view(scene: Scene, lend: str = "") -> None:
    """The desk's output, in a window at the viewer's."""
    kiosk(scene.desk, output("desk", scene.size, "cluster", lend))
    words = ["gid-view", "--domain=open", "--stream=desk", "--input", "--fullscreen"]
    scene.viewer.start("viewer", words)
    scene.viewer.wait_until(
        "the desktop's taking of input",
        lambda: "input/desk is taken" in scene.viewer["viewer"].said(),
        "viewer",
    )


def gidway(scene: Scene) -> None:
    view(scene)
    scene.program()


def gidway_lent(scene: Scene) -> None:
    view(scene, str(Path(sys.executable).resolve()))
    scene.program(memory="gid")


def waypipe(scene: Scene) -> None:
    path = scene.viewer.folder / "waypipe.sock"
    path.unlink(missing_ok=True)  # that of a run before
    scene.viewer.start("viewer", [*WAYPIPE, f"--socket={path}", "client"])
    scene.viewer.wait_until("waypipe's start", path.exists, "viewer")
    words = [*WAYPIPE, f"--socket={scene.reach(path)}"]
    scene.program(*words, "server", "--", XDG_RUNTIME_DIR=str(scene.desk.folder))


# --- desktops with a server of their own ----------------------------------------------------------


def is_heard(place: Place, port: int) -> bool:
    """Whether a program there listens, by what the kernel says: it is not to be connected to."""
    sockets = place.read(Path("/proc/net/tcp")).decode().splitlines()[1:]
    return any(
        local.endswith(f":{port:04X}") and state == LISTENS
        for _, local, _, state, *_ in map(str.split, sockets)
    )


def desktop(scene: Scene, name: str, command: list[str], **environment: str) -> None:
    """A compositor that was never here before: the program's, once its socket is there."""
    desk = scene.desk
    folder = desk.folder / "desktop"
    desk.run(["sh", "-c", 'rm -rf "$0" && mkdir -m 700 "$0"', str(folder)])
    desk.start(name, command, XDG_RUNTIME_DIR=str(folder), **environment)

    def sockets() -> list[str]:
        names = desk.run(["ls", str(folder)]).split()
        return [one for one in names if one.startswith("wayland-") and not one.endswith(".lock")]

    desk.wait_until(f"the start of {name}", sockets, name)
    desk.environment |= {"XDG_RUNTIME_DIR": str(folder), "WAYLAND_DISPLAY": sockets()[0]}


def serve_by_weston(scene: Scene, backend: str, before: list[str], options: list[str]) -> None:
    core = f"[core]\nidle-time=0\n[output]\nname={backend}\nmode={scene.size[0]}x{scene.size[1]}\n"
    own = f"[{backend}]\nrefresh-rate={RATE}\n"
    configuration = scene.desk.write(f"weston-{backend}.ini", (core + own).encode())
    words = ["weston", f"--backend={backend}", "--renderer=pixman", "--shell=kiosk-shell.so"]
    words += [f"--config={configuration}", f"--address={scene.address}", f"--port={scene.port}"]
    words += [f"--width={scene.size[0]}", f"--height={scene.size[1]}", *options]
    desktop(scene, "weston", [*before, *words])
    wait_heard(scene, "weston")


def wait_heard(scene: Scene, name: str) -> None:
    scene.desk.wait_until(f"{name} to listen", lambda: is_heard(scene.desk, scene.port), name)


def show_by_vnc(scene: Scene) -> None:
    scene.viewer.start("viewer", python("vnc_viewer.py", LOCAL, scene.port, scene.user))
    scene.program()


def weston_vnc(scene: Scene) -> None:
    """Lets in who has the password of its user, by PAM: of which it sees one service of ours."""
    service = scene.desk.write("any-password", ANY_PASSWORD)
    own_pam = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(service), VNC_PAM]
    serve_by_weston(scene, "vnc", own_pam, ["--disable-transport-layer-security"])
    show_by_vnc(scene)


def weston_rdp(scene: Scene) -> None:
    key, certificate = (str(scene.desk.folder / name) for name in ("rdp.key", "rdp.crt"))
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days=2", "-subj=/CN=a"]
    scene.desk.run([*words, f"-keyout={key}", f"-out={certificate}"])
    options = [f"--rdp-tls-key={key}", f"--rdp-tls-cert={certificate}", "--no-resizeable"]
    serve_by_weston(scene, "rdp", [], options)
    where = [f"/v:{LOCAL}:{scene.port}", f"/size:{scene.size[0]}x{scene.size[1]}", "/f"]
    who = ["/sec:tls", "/cert:ignore", f"/u:{scene.user}", "/p:any"]
    scene.viewer.start("viewer", [RDP_VIEWER, *where, *who])
    scene.program()


def wayvnc(scene: Scene) -> None:
    text = SWAY.format(*scene.size, RATE)
    settings = {"WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1"}
    configuration = scene.desk.write("sway", text.encode())
    command = ["sway", "--config", str(configuration)]
    desktop(scene, "weston", command, WLR_RENDERER="pixman", **settings)
    words = ["wayvnc", "--output=HEADLESS-1", f"--max-fps={RATE}"]
    scene.desk.start("server", [*words, scene.address, str(scene.port)])
    wait_heard(scene, "server")
    show_by_vnc(scene)


LEAST = "direct"
OURS = "gidway"
LENT = "gidway-lent"
RDP_VIEWER = "wlfreerdp3"
WAYS: dict[str, Callable[[Scene], None]] = {
    LEAST: direct,
    OURS: gidway,
    LENT: gidway_lent,
    "waypipe": waypipe,
    "weston-vnc": weston_vnc,
    "weston-rdp": weston_rdp,
    "wayvnc": wayvnc,
}

# --- what is here ---------------------------------------------------------------------------------

VNC_LIBRARY = "import gi; gi.require_version('Gtk', '3.0'); gi.require_version('GtkVnc', '2.0')"
HAS_VNC_LIBRARY = (sys.executable, "-c", VNC_LIBRARY)
OWN_PAM = ("bwrap", "--dev-bind", "/", "/", "--ro-bind", "/dev/null", VNC_PAM, "true")
VNC_PACKAGES = ("gir1.2-gtk-vnc-2.0", "gir1.2-gtk-3.0")
# Of a way: what must work, and the packages that have it.
NEEDS: dict[str, tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]] = {
    "waypipe": ((("waypipe", "--version"),), ("waypipe",)),
    "weston-vnc": ((OWN_PAM, HAS_VNC_LIBRARY), ("bubblewrap", *VNC_PACKAGES)),
    "weston-rdp": (((RDP_VIEWER,), ("openssl", "version")), ("freerdp3-wayland", "openssl")),
    "wayvnc": (
        (("sway", "--version"), ("wayvnc", "--version"), HAS_VNC_LIBRARY),
        ("sway", "wayvnc", *VNC_PACKAGES),
    ),
}


def works(command: tuple[str, ...]) -> bool:
    """One of a single word is only looked for."""
    if shutil.which(command[0]) is None or len(command) == 1:
        return shutil.which(command[0]) is not None
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def why_not(way: str) -> str | None:
    """What it lacks here, in words; None: nothing."""
    commands, packages = NEEDS.get(way, ((), ()))
    lacking = [command[0] for command in commands if not works(command)]
    if not lacking:
        return None
    names = " ".join(packages)
    return f"{', '.join(lacking)} does not do here what it needs (./run shell --with {names})"
