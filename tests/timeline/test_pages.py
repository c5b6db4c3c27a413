# SPDX-License-Identifier: MIT
"""The HTML report in a browser: on a wide screen and on a phone, in the light and in the dark."""

from pathlib import Path

import logs
import pytest
from gid_timeline.cli import main
from lib.browser import VIEWS, Browser

RECORDED = Path(__file__).with_name("recorded.log")  # has a stream, too
PHONE = 400


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "made.log").write_text(logs.run(frames=400, late={10, 50}))
    found = {}
    for log in (RECORDED, folder / "made.log"):
        found[log.stem] = folder / f"{log.stem}.html"
        assert main(["report", str(log), "-o", str(found[log.stem]), "--title", "A film"]) == 0
    return found


@pytest.mark.parametrize("name", ["recorded", "made"])
@pytest.mark.parametrize(("view", "width", "dark"), VIEWS)
def test_page(
    browser: Browser, pages: dict[str, Path], name: str, view: str, width: int, dark: bool
) -> None:
    browser.open(pages[name], width, dark)
    assert browser.errors() == []
    assert browser.overflow() <= 0
    assert browser.violations() == []


def test_title(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["made"], PHONE, False)
    assert browser.run("return document.title") == "Timeline of A film"


@pytest.mark.parametrize("width", [1400, PHONE])
def test_lanes_leave_room_for_frames(browser: Browser, pages: dict[str, Path], width: int) -> None:
    """The labels' part of the width, which were cut off at 250 pixels everywhere."""
    browser.open(pages["recorded"], width, False)
    share = browser.run("return lanes[0].gutter / lanes[0].canvas.clientWidth")
    assert share == 0 if width == PHONE else 0 < share <= 0.35
    uncut = browser.run(
        "const one = lanes[0], room = one.gutter ? one.gutter - 14 : one.canvas.clientWidth;"
        "return one.rows.every((row) => one.shorten(row.label, room) === row.label);"
    )
    assert uncut


def test_two_fingers_stretch_the_lanes(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["made"], PHONE, False)
    before, after, canvas = browser.run(
        """const one = lanes[0], canvas = one.canvas, box = canvas.getBoundingClientRect();
        const finger = (type, id, x) => canvas.dispatchEvent(new PointerEvent(type, {
          pointerId: id, pointerType: "touch", clientX: box.left + x, clientY: box.top + 20,
        }));
        canvas.setPointerCapture = () => {};
        const before = one.to - one.from;
        finger("pointerdown", 1, 100); finger("pointerdown", 2, 150);
        finger("pointermove", 2, 300);
        const after = one.to - one.from;
        finger("pointerup", 1, 100); finger("pointerup", 2, 300);
        return [before, after, canvas.classList.contains("moving")];"""
    )
    assert after == pytest.approx(before / 4)
    assert not canvas


def test_lanes_say_what_they_show(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["made"], 1400, False)
    browser.run("lanes[0].show(0, lanes[0].data.end)")
    words = browser.run("return document.querySelector('canvas').getAttribute('aria-label')")
    assert "400 frames, 2 of them late" in words


def test_dots_over_time_are_seen_in_the_dark(browser: Browser, pages: dict[str, Path]) -> None:
    """At least three pixels high and one wide, with a contrast of 3 to 1 to what is behind."""
    browser.open(pages["recorded"], PHONE, True)
    width, contrast = browser.run(
        """const light = (text) => {
          const [r, g, b] = text.match(/[\\d.]+/g).map((x) => x / 255)
            .map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const dots = getComputedStyle(document.querySelector(".course .latency"));
        const back = getComputedStyle(document.querySelector("article"));
        return [parseFloat(dots.strokeWidth),
          (light(dots.stroke) + 0.05) / (light(back.backgroundColor) + 0.05)];"""
    )
    assert width >= 3
    assert contrast >= 3
