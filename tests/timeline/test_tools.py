# SPDX-License-Identifier: MIT
"""A log that went through a JSON tool is the same log: blanks, order, lines are its own choice."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import logs
import pytest
from gid_timeline import reader
from logs import MS, point, read, rewritten, rows
from test_fuzz import everything
from test_join import Cockpit

LABEL = 'film "best of" C:\\temp, öäü 動画 \u202e'
LOG = logs.run(frames=20, late={3}).encode() + b"".join(
    text.encode() for text in Cockpit(frames=5, unnamed=True).files.values()
)


@pytest.mark.parametrize("form", logs.FORMS)
@pytest.mark.parametrize("chunk", [None, 1, 61])
def test_nothing_is_lost(form: str, chunk: int | None) -> None:
    trace, found = read(rewritten(LOG, form), chunk)
    assert everything(trace, found)[:-1] == everything(*read(LOG))[:-1]
    assert (found.broken, found.other) == (0, 0)


@pytest.mark.parametrize("arguments", [["-c", "."], ["."], ["-S", "-c", "."], ["-s", "."]])
def test_jq_itself(arguments: list[str]) -> None:
    if not shutil.which("jq"):
        pytest.skip("there is no jq")
    done = subprocess.run(["jq", *arguments], input=LOG, capture_output=True, check=True)
    trace, found = read(done.stdout)
    assert everything(trace, found)[:-1] == everything(*read(LOG))[:-1]
    assert found.broken == 0 and found.other <= 2


def of_weston_1(log: bytes) -> bytes:
    """The same log, as Weston wrote it before version 2."""
    asked = b',\n\t"C": [\n\t\t{ "f":"weston_view_schedule_repaint", "l":1187, "ws":2 }\n\t] }\n'
    lines = log.replace(b"vblank_monotonic", b"vblank").splitlines(keepends=True)
    for i, line in enumerate(lines):
        if b'"core_repaint_' in line and b"vblank" not in line:
            lines[i] = line.replace(b" }\n", asked)
    return b"".join(lines)


@pytest.mark.parametrize("chunk", [None, 1, 61])
def test_a_log_of_weston_1(chunk: int | None) -> None:
    old = of_weston_1(LOG)
    assert b'"vblank":[' in old and old.count(b"\n") > 2 * LOG.count(b"\n")
    trace, found = read(old, chunk)
    assert everything(trace, found)[:-1] == everything(*read(LOG))[:-1]
    assert (found.broken, found.other) == (0, 0)


@pytest.mark.parametrize("rest", [b"", b'\t"C": [\n', b"what others write,\n", b"{\n"])
def test_a_point_of_weston_1_that_is_cut_off(rest: bytes) -> None:
    cut = b'{ "T":[1, 2], "N":"core_repaint_req", "wo":1,\n' + rest
    trace, found = read(cut + LOG)
    assert everything(trace, found)[:-1] == everything(*read(LOG))[:-1]
    assert (found.broken, found.other) == (1, rest.count(b"\n"))


@pytest.mark.parametrize("form", logs.FORMS)
def test_escaped_labels(form: str) -> None:
    declared = {"id": 2, "type": "weston_surface", "desc": LABEL, "main_surface": 7}
    text = logs.output(1) + logs.FORMS[form](declared) + "\n" + logs.repaint(100 * 10**9)
    (surface,) = read(text)[0].surfaces
    assert (surface.label, surface.main) == (LABEL, 7)


def test_a_label_that_is_escaped_in_westons_own_form() -> None:
    escaped = json.dumps(LABEL)[1:-1]
    (surface,) = read(logs.surface(2, escaped))[0].surfaces
    assert surface.label == LABEL


@pytest.mark.parametrize("label", [r"C:\new\table", r"C:\Users\x", "a\\", r"\ud800", r"\q"])
def test_backslashes_that_escape_nothing(label: str) -> None:
    """Weston writes labels as they are: such are no escapes, or are none that a label can mean."""
    (surface,) = read(logs.surface(2, label))[0].surfaces
    assert surface.label == label.replace(r"\ud800", "?")


def test_halves_of_characters(tmp_path: Path) -> None:
    """JSON can have them by escapes; nothing that is written can."""
    text = '{"id": 2, "type": "weston_surface", "desc": "fi\\ud800lm"}\n' + logs.run(frames=2)[60:]
    text += '{ "T":[200, 5], "N":"na\\udfffme" }\n'
    trace, found = read(text)
    assert trace.surfaces[0].label == "fi?lm"
    assert trace.unknown_names == {"na?me": 1}


@pytest.mark.parametrize(
    "line",
    [
        {"id": 1, "type": "weston_window", "name": "x"},
        {"id": True, "type": "weston_output", "name": "x"},
        {"id": -1, "type": "weston_output", "name": "x"},
        {"id": 1.0, "type": "weston_output", "name": "x"},
        {"id": 10**9, "type": "weston_output", "name": "x"},
        {"id": 1, "type": "weston_output", "name": 7},
        {"id": 1, "type": ["weston_output"], "name": "x"},
        {"id": 1, "type": "weston_surface", "desc": "x", "main_surface": "2"},
        {"id": 300, "type": "gid_domain", "name": "open"},
        {"id": 1, "type": "gid_domain", "name": "op en"},
        {"id": 1, "type": "gid_domain", "name": "open", "clock": 7},
        {"id": 1, "type": "gid_domain", "name": "open", "clock": "8f1c 1"},
    ],
)
def test_declarations_that_are_wrong(line: dict) -> None:
    trace, found = read(json.dumps(line) + "\n")
    assert (found.broken, found.other) == (1, 0)
    assert not (trace.outputs or trace.surfaces or trace.run.seats)


def test_an_object_that_is_never_closed_costs_no_line_after_it() -> None:
    good = logs.run(frames=6)
    lines = good.splitlines(keepends=True)
    lines.insert(8, "{\n")
    lines.insert(12, '{\n  "T": [\n    100,\n')
    trace, found = read("".join(lines))
    assert rows(trace.frames) == rows(read(good)[0].frames)
    assert (found.other, found.broken) == (4, 0)


# --- what a client's label can cost ---

PIECES = ['{ "T":[', '{ "id":', '{"T":[', '{ "T":[1, 2], "N":"x" ', '{ "T":{"N":', "{", '{"a":']
PIECES += [
    '{ "id":1, "type":"weston_surface", "desc":"',
    '{ "id":1, "type":"weston_output", "name":"a" }',
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_line_is_looked_at_a_few_times(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """580 times, once, each time to its end."""
    looked = []
    for name in ("_json", "_label"):
        function = getattr(reader, name)

        def count(text: bytes, function: Callable[[bytes], object] = function) -> object:
            looked.append(len(text))
            return function(text)

        monkeypatch.setattr(reader, name, count)
    line = (piece * 4096)[:4096] + "\n"
    trace, _ = read(line + point(100 * 10**9 - 7 * MS, "core_repaint_begin", wo=1))
    assert len(looked) <= 20
    assert [output.name for output in trace.outputs][-1:] == ["output 1"] or trace.outputs


@pytest.mark.parametrize("first", ['{ "id":2, "type":"weston_surface", "desc":"', "{"])
def test_what_goes_on_in_the_next_line_does_so_for_a_few(first: str) -> None:
    trace, found = read(first + "\n" * 5000 + logs.run(frames=3))
    assert found.lines > 5000
    assert found.broken <= 1 and found.other >= 4900
    assert len(rows(trace.frames)) == 3


def test_no_label_of_any_length_is_a_line_too_long() -> None:
    """Titles have at most 4 KiB in Wayland: six bytes for three where all of it is escaped."""
    label = "動画" * 680
    for text in (logs.surface(2, label), json.dumps(json.loads(logs.surface(2, label))) + "\n"):
        (surface,) = read(text, chunk=1000)[0].surfaces
        assert surface.label == label
