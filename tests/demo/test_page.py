# SPDX-License-Identifier: MIT
"""The demo's report.html in a browser, made of a run's figures that are known."""

import re
import struct
import zlib
from pathlib import Path

import pytest
from lib.browser import VIEWS, Browser

from demo import report

LATENCY = {"count": 300, "p50": 830, "p99": 2400, "max": 5100}


def stream(receiver: str, copies: dict[str, int]) -> dict:
    count = sum(copies.values())
    return {
        "receiver": receiver,
        "frames": 300,
        "dropped": 0,
        "copied_frames": count,
        "copied_bytes": count * 1382400,
        "copy_reasons": copies,
        "latency_from_to": "submit to shown",
        "latency_us": LATENCY | {"histogram": [[500, 10], [800, 200], [1600, 90], [5000, 1]]},
        "capture_to_submit_us": LATENCY | {"p50": 53400} if copies else None,
        "capture_to_shown_us": LATENCY | {"p50": 61200} if copies else None,
    }


RUN = {
    "version": "gidway 0.1.0",
    "date": "2026-11-22 11:00 +0000",
    "link": "local",
    "seconds": 5.0,
    "clip": "bigbuckbunny.mp4",
    "scheduling": "SCHED_RR 1",
    "meter": {
        "shown": 400,
        "rate": 57.5,
        "interval_p50_us": 17400,
        "interval_p99_us": 18000,
        "interval_max_us": 21000,
    },
    "checks": [
        {"passed": True, "what": "every frame is the decoder's", "found": "300 of 300"},
        {"passed": False, "what": "no frame is copied", "found": "12 were"},
    ],
    "streams": {
        "movie": stream("gid-view, in gid-cluster", {}),
        "movie-i420": stream("gidsrc, every frame compared", {"startup": 3}),
        "telltale": stream("gid-cluster, as safety/telltale", {"forwarded": 12}),
    },
    "displays": {
        name: {
            "repaints": 400,
            "rate": rate,
            "repaint_ms": {"mean": 1.1, "p50": 1.0, "p99": 2.2, "max": 3.3},
        }
        for name, rate in (("cluster", 60.0), ("open", 38.5), ("open, after its return", None))
    },
    "machine": {"processor": "A processor with a rather long name @ 3.00GHz", "cores": 2},
    "timeline": {
        "end": 9.5,
        "events": [
            {"at": 0.0, "what": "the film starts"},
            {"at": 4.0, "what": "open is killed"},
            {"at": 6.0, "what": "open starts again"},
            {"at": 9.5, "what": "the end"},
        ],
        "roles": {
            name: [
                {
                    "at": at,
                    "from": before,
                    "to": state,
                    "reason": reason,
                    "shown_after_ms": after,
                }
                for at, before, state, reason, after in (
                    (0.5, "waiting", "live", "none", 12.5),
                    (4.1, "live", "lost", "died", 9.3),
                    (6.2, "lost", "lost", "hidden", 0.0),
                    (6.5, "lost", "live", "none", 5.7),
                    (7.0, "live", "late", "a-reason-of-tomorrow", None),
                )
            ]
            for name in ("camera", "telltale")
        },
        "cluster_fps": [[at / 2, 57.5] for at in range(1, 19)],
    },
}


def picture(path: Path) -> Path:
    """A PNG of one grey pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixel = zlib.compress(b"\0\x80")
    body = chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    one = picture(folder / "one.png")
    report.write(folder, RUN, {name: one for name in ("cluster", "open", "cluster-lost")})
    return folder / "report.html"


@pytest.mark.parametrize(("view", "width", "dark"), VIEWS)
def test_page(browser: Browser, page: Path, view: str, width: int, dark: bool) -> None:
    browser.open(page, width, dark)
    assert browser.errors() == []
    assert browser.overflow() <= 0
    assert browser.violations() == []
    cut = browser.run(
        "return [...document.querySelectorAll('.card')]"
        ".filter((one) => one.scrollWidth > one.clientWidth).length"
    )
    assert cut == 0, "columns are cut off"


def test_what_it_says(page: Path) -> None:
    text = page.read_text()
    assert "gidway 0.1.0, 2026-11-22" in text
    assert '<a href="timeline.html">' in text
    assert "3 × decoded before the memory was agreed on" in text
    assert "12 × a plain wl_shm client" in text
    assert "57 to 59" not in text
    assert "38.5" in text and "about 38 pictures a second" in text
    assert "53 ms" in text and "61 ms" in text
    assert text.count("1 frame<") == 3 and "1 frames" not in text
    assert text.count("<caption>") == text.count("<table")


def test_what_happened_is_said_in_words(page: Path) -> None:
    table = page.read_text().partition("What happened when")[2].partition("</table>")[0]
    rows = [re.sub(r"<[^>]+>", "|", row) for row in table.split("<tr>")]
    assert any("lost → live" in row and "all checks pass" in row for row in rows)
    (still, _) = (row for row in rows if "its stream is there again" in row)
    assert "still lost" in still and "ms" not in still
    assert "none" not in table and "lost → lost" not in table and "0.0 ms" not in table
    assert "hidden" not in table
    assert 'class="bad">still' not in table
    assert "a-reason-of-tomorrow" in table


def test_each_stream_has_a_histogram(page: Path) -> None:
    text = page.read_text()
    for name in RUN["streams"]:
        assert f'aria-label="Histogram of the latency of {name}"' in text.replace("\n", " ")


def test_pictures_open_large(browser: Browser, page: Path) -> None:
    browser.open(page, 1400, False)
    opened = browser.run(
        """document.querySelectorAll(".picture")[1].click();
        const dialog = document.querySelector("dialog"), image = dialog.querySelector("img");
        const found = [dialog.open, image.alt, image.src.slice(0, 10)];
        dialog.click();
        return [...found, dialog.open];"""
    )
    assert opened == [True, "The display of open: film, camera and telltale", "data:image", False]
