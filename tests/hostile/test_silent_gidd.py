# SPDX-License-Identifier: MIT
"""A domain whose gidd never answers, and whose frames each have other memory: it is waited for by
nobody who has something else to do. A link that does not answer is given up after 20 s."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lib.cockpit import Cockpit
from lib.engine import start_engine
from lib.pipeline import send
from lib.program import BUILD, wait_for
from lib.session import Session

RESTLESS = BUILD / "tests/hostile/programs/hostile-restless"
CAMERA = "videotestsrc is-live=true ! video/x-raw,format=BGRx,width=64,height=48,framerate=30/1"
ENGINE = "[canvas panel]\ndomain=open\nmemory=16M\nslots=6\nlist-ms=60000\nlease-ms=60000\n"
LAYOUT = (
    "[canvas]\nengine=open\nname=panel\nwidth=64\nheight=48\n"
    "[layer a]\ndomain=cluster\nstream={}\n[layer b]\nstream=movie\n"
)
SOON_S = 8


@contextmanager
def silent(cockpit: Cockpit, domain: str, stream: str) -> Iterator[None]:
    """A producer of it, which is read, in a domain whose gidd says nothing any more."""
    cockpit.run(domain, [RESTLESS, "unknown", stream, "64", "48"], "restless")

    def is_read() -> bool:
        return any(one["name"] == stream and one["subscriptions"] for one in streams())

    def streams() -> list[dict]:
        return cockpit.status(domain)["streams"]

    wait_for(is_read, f"a reader of {stream}")
    cockpit.gidds[domain].signal(signal.SIGSTOP)
    try:
        yield
    finally:
        cockpit.gidds[domain].signal(signal.SIGCONT)


def wait_written(stats: Path) -> None:
    """What it writes each second."""
    for _ in range(2):
        stats.unlink(missing_ok=True)
        wait_for(stats.exists, "what it does each second", SOON_S)


def test_gid_view(cockpit: Cockpit, tmp_path: Path) -> None:
    """With its cursors: whoever looks can close it, or let the pointer and the keys go."""
    session = Session(cockpit, tmp_path)
    stats = tmp_path / "stats.json"
    try:
        send(cockpit, CAMERA, "")
        command = [BUILD / "clients/gid-view", "--domain=open", "--stream=movie", "--input"]
        view = session.weston.client([*command, f"--stats={stats}"], GID_ANSWER_SECONDS="30")
        view.wait_output("showing movie")
        with silent(cockpit, "open", "cursor/movie"):
            wait_written(stats)
            assert view.stop() == 0
    finally:
        session.finish()


def test_gid_compose(cockpit: Cockpit) -> None:
    """There are other layers, and a file that may change."""
    start_engine(cockpit, ENGINE, "open")
    send(cockpit, CAMERA, "")
    path, stats = cockpit.folder / "panel.ini", cockpit.folder / "stats.json"
    path.write_text(LAYOUT.format("wild"))
    command = [BUILD / "tools/gid-compose/gid-compose", f"--stats={stats}", path]
    composing = cockpit.run("open", command)
    wait_for(stats.exists, "pictures")
    with silent(cockpit, "cluster", "wild"):
        wait_written(stats)
        assert composing.stop() == 0
