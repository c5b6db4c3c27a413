# SPDX-License-Identifier: MIT
"""The cluster's own Wayland clients, below the safety pictures, by gid-buffer-v1."""

import json
import subprocess

import numpy
from cockpit import Cockpit
from display import HEIGHT, WIDTH, Display, start_telltale, telltale_picture
from forwarding import ShmBuffers, Window, random_picture
from PIL import Image
from program import BUILD, Program, wait_for
from wayland import Display as Connection
from wayland import Object
from weston import protocol_files

# Below the telltale's region (40,20 320x80), and beside it.
CLIENT = """
[client gid-view]
x=0
y=10
width=320
height=80
"""


def start_view(cockpit: Cockpit, display: Display, *arguments: str) -> Program:
    command = [BUILD / "clients" / "gid-view", "--domain", "open", "--stream", "movie", *arguments]
    env = cockpit.env("cluster") | {"WAYLAND_DISPLAY": str(display.wayland)}
    view = Program(command, env, cockpit.folder)
    cockpit.programs.append(view)
    return view


def test_a_stream_below_a_telltale(cockpit: Cockpit) -> None:
    display = Display(cockpit, CLIENT)
    start_telltale(cockpit, "--stream", "movie", "--state", "10", "--cycle", "0")
    stats = cockpit.folder / "stats.json"
    view = start_view(cockpit, display, "--stats", str(stats))
    picture = telltale_picture(cockpit.folder, 10)

    def shown() -> bool:
        assert view.is_running(), view.stderr
        return numpy.array_equal(display.region(0, 10), picture)

    wait_for(shown, "the client's picture")
    assert view.stop() == 0
    assert json.loads(stats.read_text())
    wait_for(lambda: not display.screenshot().any(), "the window to go")
    assert display.program.is_running()


def test_safety_pictures_are_above(cockpit: Cockpit) -> None:
    role = "[role telltale]\ndomain=open\nx=40\ny=20\nwidth=320\nheight=80\n"
    display = Display(cockpit, role + "deadline-ms=10000\n" + CLIENT)
    start_telltale(cockpit, "--state", "15")
    display.wait_role("live")
    movie = start_telltale(cockpit, "--stream", "movie", "--state", "10")
    start_view(cockpit, display)
    safety = telltale_picture(cockpit.folder, 15)
    below = telltale_picture(cockpit.folder, 10)
    wait_for(
        lambda: numpy.array_equal(display.region(0, 10)[:, :40], below[:, :40]),
        "the client's picture beside the telltale",
    )
    assert numpy.array_equal(display.region(), safety)
    movie.kill()
    assert display.role()["state"] == "live"
    assert [t["reason"] for t in display.role()["transitions"]] == ["none"]


def test_meter_shows_every_frame(cockpit: Cockpit) -> None:
    """Its rate is a benchmark's business: here frames flow, and each of them is shown once."""
    display = Display(cockpit, "")
    env = cockpit.env("cluster") | {"WAYLAND_DISPLAY": str(display.wayland)}
    command = [BUILD / "clients" / "gid-meter", "--size", "640x240", "--seconds", "2"]
    meter = Program(command, env, cockpit.folder)
    cockpit.programs.append(meter)
    wait_for(lambda: display.screenshot().any(), "the dials")
    assert meter.wait() == 0, meter.stderr
    report = json.loads(meter.stdout)
    assert report["shown"] > 20
    assert report["drawn"] - report["shown"] <= 2
    assert report["interval_p50_us"] >= 15000
    assert display.status()["frames"] >= report["shown"]


def open_popup(connection: Connection, parent: Object) -> tuple[Object, Object]:
    """As large as its parent, and above it. Its xdg_surface and xdg_popup."""
    wm = connection.bind("xdg_wm_base", 1)
    positioner = wm("create_positioner")
    positioner("set_size", WIDTH, HEIGHT)
    positioner("set_anchor_rect", WIDTH // 2, HEIGHT // 2, 1, 1)
    surface = connection.bind("wl_compositor", 4)("create_surface")
    xdg_surface = wm("get_xdg_surface", surface)
    popup = xdg_surface("get_popup", parent, positioner)
    surface("commit")
    xdg_surface("ack_configure", *xdg_surface.wait("configure"))
    surface("attach", ShmBuffers(connection).draw(random_picture(2)), 0, 0)
    surface("commit")
    connection.roundtrip()
    return xdg_surface, popup


def test_popups_of_what_is_gone(cockpit: Cockpit) -> None:
    """A menu ends with its window. What opens on it later is not shown, and does no harm."""
    display = Display(cockpit, "")
    with Connection(display.wayland, protocol_files()) as connection:
        window = Window(connection)
        window.show(ShmBuffers(connection).draw(random_picture(1)))
        xdg_surface, popup = open_popup(connection, window.xdg_surface)
        picture = random_picture(2)
        wait_for(lambda: numpy.array_equal(display.region(0, 0), picture), "the popup")
        window.toplevel("destroy")
        popup.wait("popup_done")
        window.xdg_surface("destroy")
        for _ in range(5):
            open_popup(connection, xdg_surface)
        wait_for(lambda: not display.screenshot().any(), "nothing")
    assert display.program.is_running()


def test_a_window_again(cockpit: Cockpit) -> None:
    """With another toplevel on the same surface. It is where that one is, and nowhere else."""
    places = ("[client a]\nx=0\ny=0\n", "[client b]\nx=0\ny=100\n")
    size = f"width={WIDTH}\nheight={HEIGHT}\n"
    display = Display(cockpit, "".join(place + size for place in places))
    with Connection(display.wayland, protocol_files()) as connection:
        window = Window(connection, "a")
        picture = ShmBuffers(connection).draw(random_picture(1))
        window.show(picture)
        wait_for(lambda: numpy.array_equal(display.region(0, 0), random_picture(1)), "the window")
        window.toplevel("destroy")
        window.xdg_surface.events.clear()
        window.toplevel = window.xdg_surface("get_toplevel")
        window.toplevel("set_app_id", "b")
        window.surface("attach", None, 0, 0)
        window.configured = False
        window.show(picture)
        wait_for(lambda: numpy.array_equal(display.region(0, 100), random_picture(1)), "it again")
        assert not display.region(0, 0).any()


def test_any_wlroots_compositor(cockpit: Cockpit) -> None:
    """The example of the wlroots library shows a stream, and outlives its producer."""
    socket = cockpit.folder / "example.sock"
    example = cockpit.run("cluster", [BUILD / "examples" / "compositor", socket])
    example.wait_output("ready")
    movie = start_telltale(cockpit, "--stream", "movie", "--state", "6")
    env = cockpit.env("cluster") | {"WAYLAND_DISPLAY": str(socket)}
    command = [BUILD / "clients" / "gid-view", "--domain", "open", "--stream", "movie"]
    cockpit.programs.append(Program(command, env, cockpit.folder))
    picture = telltale_picture(cockpit.folder, 6)

    def shown() -> bool:
        path = cockpit.folder / "example.png"
        assert Program(["grim", path], env, cockpit.folder).wait() == 0
        seen = numpy.asarray(Image.open(path).convert("RGB"))
        return numpy.array_equal(seen[:HEIGHT, :WIDTH], picture)

    wait_for(shown, "the stream's picture")
    movie.kill()
    assert example.stop() == 0


def test_background(cockpit: Cockpit) -> None:
    """Shown where nothing else is; one that cannot be read is none, and keeps nothing up."""
    picture = telltale_picture(cockpit.folder, 9)
    config = f"[display]\nbackground={cockpit.folder / 'telltale-9.png'}\nwidth=320\nheight=80\n"
    display = Display(cockpit, config)
    wait_for(lambda: numpy.array_equal(display.screenshot(), picture), "the background")
    display.program.stop()
    (cockpit.folder / "telltale-9.png").write_text("no picture")
    display = Display(cockpit, config)
    assert "no PNG that can be read" in display.program.stderr
    assert not display.screenshot().any()


def test_names_of_the_wlroots_library() -> None:
    """A compositor that links with it has names of its own."""
    library = BUILD / "wlroots" / "libgid-wlroots.a"
    command = ["nm", "--extern-only", "--defined-only", "--format=posix", library]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listing.splitlines() if " T " in line or " D " in line]
    assert names == ["gid_buffer_manager_create", "gid_buffer_manager_leave_yuv_to_driver"]
