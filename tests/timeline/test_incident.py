# SPDX-License-Identifier: MIT
"""gid-timeline incident: the page of a recording, by hand as gid-recorder writes one, in a browser;
and recordings that are none."""

import json
import random
import re
import resource
from pathlib import Path

import logs
import pytest
from gid_timeline.cli import main
from lib.browser import VIEWS, Browser
from lib.length import at_length_but

S = 10**9
NOW = 1000 * S  # when the recording was written
AT = NOW - 5 * S  # the incident


def change(role: str, before: str, after: str, reason: str, decided: int) -> dict:
    return {
        "role": role,
        "from": before,
        "to": after,
        "reason": reason,
        "due_ns": decided - 3_000_000,
        "decided_ns": decided,
        "last_frame_ns": decided - S // 2,
        "shown_ns": decided + 12_000_000,
    }


def head(timeline: bytes) -> dict:
    streams = [
        {"domain": "open", "name": "camera", "number": 1, "live": True},
        {"domain": "open", "name": "safety/telltale", "number": 1, "live": False},
    ]
    incident = change("telltale", "live", "lost", "died", AT)
    changes = [change("telltale", "waiting", "live", "none", NOW - 40 * S), incident]
    changes.append(change("telltale", "lost", "live", "none", AT + 3 * S))
    changes.append(change("camera", "live", "late", "deadline", AT + S))
    known = {"known_ns": NOW - S // 2}
    return {
        "version": 1,
        "domain": "cluster",
        "number": 2,
        "time_ns": AT,
        "noted_ns": AT + S // 3,
        "written_ns": NOW,
        "realtime_ns": 1_800_000_000 * S,
        "asked": False,
        "incident": incident,
        "others": 1,
        "seconds": 30,
        "rate": 4,
        "display": True,
        "changes": changes,
        "roles": [
            {"name": "telltale", "state": "live", "reason": "none"} | known,
            {"name": "camera", "state": "late", "reason": "deadline"} | known,
            {"name": "never", "state": "waiting", "reason": "starting"} | known,
        ],
        "streams": [one | {"unread": 0, "unread_reason": ""} for one in streams],
        "timelines": [{"file": "points.log", "bytes": len(timeline), "names_missing": False}],
    } | known


def points(stream: str) -> bytes:
    lines = []
    for number in range(1, 900):
        sent = NOW - 30 * S + number * S // 30
        for name, at, domain in (("submit", sent, 1), ("receive", sent + 300_000, 2)):
            stamp = f"[{at // S}, {at % S}]"
            lines.append(
                f'{{ "T":{stamp}, "N":"gid_{name}", "stream":"{stream}", "sequence":{number}, '
                f'"gid":"1:42.{number % 4}#7", "domain":{domain}, "by":"gid-recorder" }}\n'
            )
    return "".join(lines).encode()


def picture(stream: int, at: int, colour: tuple[int, int, int], **more: object) -> bytes:
    entry = {"stream": stream, "time_ns": at, "sequence": 7, "width": 64, "height": 32}
    entry |= {"transform": 0, "gap": "", "gap_ns": 0, "bytes": 64 * 32 * 3} | more
    return json.dumps(entry).encode() + b"\n" + bytes(colour) * (64 * 32)


def recording() -> bytes:
    timeline = logs.run(frames=300, start=NOW - 20 * S).encode()
    made = json.dumps(head(timeline)).encode() + b"\n" + timeline + b'{"points":true}\n'
    made += points("camera") + b'{"pictures":true}\n'
    for number in range(120):
        at = NOW - 30 * S + number * S // 4
        made += picture(0, at, (number * 2, 120, 250 - number * 2), transform=number % 2)
        if at < AT - S:
            last = {"gap": "gone", "gap_ns": AT} if at >= AT - S - S // 4 else {}
            made += picture(1, at, (200, 20, 20), **last)
    return made + b'{"end":true}\n'


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("incident")
    (folder / "incident.recording").write_bytes(recording())
    path = folder / "incident.html"
    assert main(["incident", str(folder / "incident.recording"), "-o", str(path)]) == 0
    return path


@pytest.mark.parametrize(("view", "width", "dark"), VIEWS)
def test_page(browser: Browser, page: Path, view: str, width: int, dark: bool) -> None:
    browser.open(page, width, dark)
    assert browser.errors() == []
    assert browser.overflow() <= 0
    assert browser.violations() == []
    assert browser.run("return document.title") == "Incident: telltale: live → lost, died"


SEEN = """show(arguments[0]);
return screens.map((one) => [one.told.textContent, one.note.hidden ? "" : one.note.textContent,
  one.image.hidden]);"""


def test_pictures_follow_the_time(browser: Browser, page: Path) -> None:
    browser.open(page, 1400, False)
    (before, light), (late, after) = (browser.run(SEEN, at * 1e6) for at in (-2.1, 1.6))
    assert before[0].startswith("frame 7, came at −2.250 s, 0.150 s ago")
    assert light[1:] == ["", False]
    assert late[0].startswith("frame 7, came at +1.500 s")
    assert after[1:] == ["no picture: it has no producer any more", False]
    size = browser.run("return [screens[0].image.naturalWidth, screens[0].image.naturalHeight]")
    assert size in ([32, 64], [64, 32])


def test_going_from_change_to_change(browser: Browser, page: Path) -> None:
    browser.open(page, 1400, False)
    browser.run("document.querySelector('[data-go=incident]').click()")
    seen = [browser.run("return now")]
    for way in ("change", "change", "change", "change-back", "change-back"):
        browser.run(f"document.querySelector('[data-go={way}]').click()")
        seen.append(browser.run("return now"))
    assert seen == [0, 1e6, 3e6, 3e6, 1e6, 0]
    browser.run("document.querySelectorAll('[data-at]')[1].click()")
    assert browser.run("return now") == 1e6
    here = "return [tapes[0].from, tapes[0].to, now + recorded.zero]"
    start, end, at = browser.run(here)
    assert start <= at <= end


def test_states_lie_beside_the_pictures(browser: Browser, page: Path) -> None:
    browser.open(page, 1400, False)
    found = browser.run("""return [...document.querySelectorAll('.strip[data-role] i')]
      .map((one) => [one.className, Math.round(parseFloat(one.style.left)), one.title]);""")
    states = [(name, left) for name, left, _ in found if name not in ("incident", "now")]
    assert states == [("live", 0), ("lost", 83), ("live", 93)] + [
        ("live", 0),
        ("late", 87),
        ("waiting", 0),
    ]
    assert "lost, died, from +0.000 s to +3.000 s" in [title for *_, title in found]


def test_the_trace_is_in_it(page: Path) -> None:
    text = page.read_text().partition('id="trace">')[2].partition("</script>")[0]
    events = json.loads(text)["traceEvents"]
    assert all(event["ph"] == "M" or event["ts"] >= 0 for event in events)
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert {"run 1, output DP-1", "streams", "roles of gid-cluster"} <= set(names)
    assert sum(event["ph"] == "b" and event["cat"] == "stream" for event in events) == 899


def test_a_timeline_of_the_consumer_alone(tmp_path: Path) -> None:
    """As of a gid-cluster that has GID_TIMELINE: what the recorder saw of frames is less."""
    lines = points("camera").splitlines(keepends=True)
    timeline = b"".join(line for line in lines if b"gid_receive" in line)
    made = json.dumps(head(timeline)).encode() + b"\n" + timeline + b'{"points":true}\n'
    made += points("camera") + b'{"pictures":true}\n{"end":true}\n'
    (tmp_path / "one.recording").write_bytes(made)
    path = tmp_path / "one.html"
    assert main(["incident", str(tmp_path / "one.recording"), "-o", str(path)]) == 0
    drawn = re.search(r'<script type="application/json">(.*?)</script>', path.read_text(), re.S)
    (stream,) = json.loads(drawn[1])["streams"]
    assert (stream["name"], len(stream["sequence"])) == ("camera", 899)


# --- what is none ---


def page_of(folder: Path, data: bytes) -> tuple[str, dict]:
    path = folder / "other.html"
    (folder / "other").write_bytes(data)
    assert main(["incident", str(folder / "other"), "-o", str(path)]) == 0
    text = path.read_text()
    return text, json.loads(re.search(r'id="recorded">(.*?)</script>', text, re.S)[1])


def test_no_role_is_known_without_a_display(tmp_path: Path) -> None:
    """What it showed last is not what it shows: the strips end where it answered last."""
    first = head(b"")
    before = [one for one in first["changes"] if one["decided_ns"] <= AT]
    known = {"known_ns": AT, "roles": [one | {"known_ns": AT} for one in first["roles"]]}
    _, recorded = page_of(tmp_path, other(display=False, changes=before, **known))
    assert recorded["to"] == 5e6
    assert [spans[-1]["to"] for spans in recorded["roles"]] == [0, 0, 0]


def test_an_incident_that_is_older_than_what_is_kept(tmp_path: Path) -> None:
    """On a busy machine making the page of another one took so long: nothing here shows it."""
    words = "The incident is older than what is kept"
    assert words in page_of(tmp_path, other(time_ns=NOW - 40 * S))[0]
    assert words not in page_of(tmp_path, recording())[0]


def test_a_role_that_the_display_has_no_more(tmp_path: Path) -> None:
    """It was started with another configuration: what the role was last, it is not now."""
    *roles, gone = head(b"")["roles"]
    text, recorded = page_of(tmp_path, other(roles=[*roles, gone | {"known_ns": AT}]))
    assert [spans[-1]["to"] for spans in recorded["roles"]] == [5e6, 5e6, 0]
    assert text.count(" any more, since ") == 1
    assert "gid-cluster of domain cluster has no role never any more, since +0.000 s." in text


def refused(tmp_path: Path, data: bytes, capsys: pytest.CaptureFixture) -> str:
    (tmp_path / "bad").write_bytes(data)
    out = tmp_path / "bad.html"
    status = main(["incident", str(tmp_path / "bad"), "-o", str(out)])
    told = capsys.readouterr().err
    assert (status, out.exists(), told.count("\n")) == (2, False, 1), told
    return told


@pytest.mark.parametrize("seed", at_length_but(range(20), *range(5)))
def test_a_recording_that_was_cut_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    whole = recording()
    cut = random.Random(seed).randrange(len(whole))
    assert "bad: " in refused(tmp_path, whole[:cut], capsys)


def other(**changes: object) -> bytes:
    """One whose first line has these in place of what is right."""
    line, _, rest = recording().partition(b"\n")
    return json.dumps(json.loads(line) | changes).encode() + b"\n" + rest


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"[]\n",
        b"{}\n",
        b'{"version":2}\n',
        b'{"version":1}\n',
        json.dumps(head(b"") | {"streams": 7}).encode() + b"\n",
        json.dumps(head(b"")).encode() + b'\n{"end":true}\n',
        recording().replace(b'"bytes": 6144', b'"bytes": -1', 1),
        recording().replace(b'"stream": 1', b'"stream": 9', 1),
        recording().replace(b'"width": 64', b'"width": 65', 1),
        other(time_ns="soon"),
        other(realtime_ns=-1),
        other(incident=None),
        other(roles=[{}]),
        recording().replace(b'"gap_ns": 0', b'"gap_ns": -1', 1),
    ],
    ids=range(16),
)
def test_what_is_no_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    told = refused(tmp_path, data, capsys)
    assert any(why in told for why in ("no recording", "too early", "another version"))


def test_a_picture_without_an_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a few bytes: it takes no memory before they are counted."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = recording().replace(b'"width": 64', b'"width": 64000', 1)
    told = refused(tmp_path, data.replace(b'"height": 32', b'"height": 32000', 1), capsys)
    assert "a picture of (64000, 32000)" in told
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + (1 << 20)


def test_a_full_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good").write_bytes(recording())
    assert main(["incident", str(tmp_path / "good"), "-o", "/dev/full"]) == 2
    assert capsys.readouterr().err == "gid-timeline: /dev/full: No space left on device\n"
