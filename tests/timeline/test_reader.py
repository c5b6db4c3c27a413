# SPDX-License-Identifier: MIT
"""The reader takes what real logs contain, and loses no more than the line that is damaged."""

import logs
import pytest
from logs import MS, REFRESH, point, read, rows


def test_a_plain_run() -> None:
    trace, reader = read(logs.run(frames=20))
    assert (reader.other, reader.broken) == (0, 0)
    assert [output.name for output in trace.outputs] == ["DP-1"]
    assert [surface.label for surface in trace.surfaces] == ["film"]
    frames = rows(trace.frames)
    assert len(frames) == 20
    assert frames[0]["after_start"] == 1 and frames[1]["after_start"] == 0
    assert all(frame["posted"] - frame["begin"] == 2 * MS for frame in frames)
    assert frames[1]["base"] == frames[0]["shown"]
    updates = rows(trace.updates)
    assert len(updates) == 20
    assert all(update["shown"] - update["commit"] == 12 * MS for update in updates)


@pytest.mark.parametrize("chunk", [1, 7, 64, 1000])
def test_pieces_of_any_size_give_the_same(chunk: int | None) -> None:
    text = logs.run(frames=5)
    whole, _ = read(text)
    pieces, reader = read(text, chunk)
    assert rows(pieces.frames) == rows(whole.frames)
    assert rows(pieces.updates) == rows(whole.updates)
    assert reader.broken == 0


@pytest.mark.parametrize(
    "label",
    [
        'film "best of" 2024',
        'a", "main_surface":9',
        '{ "T":[1, 2], "N":"core_repaint_begin", "wo":1 }',
        "back\\slash and \\",
        "two\nlines",
        "null",
        '"',
        "öäü 動画 \u202e",
    ],
)
def test_labels_are_taken_as_they_are(label: str) -> None:
    text = logs.run(frames=2).replace(logs.surface(2, "film"), logs.surface(2, label))
    trace, reader = read(text)
    assert trace.surfaces[0].label == label
    assert len(rows(trace.frames)) == 2
    assert reader.broken == 0


def test_a_label_that_is_no_utf8_or_is_missing() -> None:
    text = logs.run(frames=1).encode().replace(b'"film"', b'"fi\xff\xfelm"')
    assert read(text)[0].surfaces[0].label == "fi\ufffd\ufffdlm"
    trace, _ = read(logs.run(frames=1).replace('"film"', "null"))
    assert trace.surfaces[0].label == "surface 2"


def test_a_changed_title_is_not_a_new_run() -> None:
    text = logs.run(frames=3) + logs.surface(2, "film - paused", main=7)
    text += point(101 * 10**9, "core_commit_damage", ws=2)
    trace, _ = read(text)
    assert len(trace.runs) == 1
    assert [(s.label, s.main, s.commits) for s in trace.surfaces] == [("film - paused", 7, 4)]


def test_a_surface_keeps_its_label_when_it_loses_its_role() -> None:
    text = logs.run(frames=3) + logs.surface(2, None) + logs.repaint(101 * 10**9)
    trace, _ = read(text)
    assert [(s.label, s.commits) for s in trace.surfaces] == [("film", 4)]


def test_runs_one_after_the_other() -> None:
    text = logs.run(frames=3) + logs.run(frames=4, start=200 * 10**9)
    trace, _ = read(text)
    assert [run.index for run in trace.runs] == [0, 1]
    assert [output.run for output in trace.outputs] == [0, 1]
    assert [row["output"] for row in rows(trace.frames)] == [0] * 3 + [1] * 4


def test_a_run_after_a_reboot_starts_with_an_earlier_time() -> None:
    trace, _ = read(logs.run(frames=3, start=900 * 10**9) + logs.run(frames=3, start=30 * 10**9))
    assert len(trace.runs) == 2
    assert trace.runs[0].last > trace.runs[1].last


def test_a_run_that_is_cut_off_by_the_next() -> None:
    first, second = logs.run(frames=3), logs.run(frames=4, start=200 * 10**9)
    for cut in range(len(first) - 120, len(first)):
        trace, reader = read(first[:cut] + second)
        assert len(trace.runs) == 2, first[cut - 40 : cut]
        assert len([row for row in rows(trace.frames) if row["output"] == 1]) == 4
        assert reader.broken <= 1


def test_a_last_line_cut_anywhere() -> None:
    text = logs.run(frames=3)
    for cut in range(len(text) - 80, len(text)):
        trace, reader = read(text[:cut])
        assert len(rows(trace.frames)) in (2, 3)
        assert reader.broken <= 1


def test_other_text_between_and_before_lines() -> None:
    lines = logs.run(frames=4).splitlines()
    lines.insert(3, "[12:30:01.100] Loading module '/usr/lib/weston/gid-buffer.so'")
    lines.insert(0, "Date: 2024-03-01 CET")
    lines[6] = "Nov 21 04:26:01 host weston[77]: " + lines[6]
    lines[9] += " [12:30:02.000] EGL version: 1.5"
    trace, reader = read("\r\n".join(lines) + "\r\n")
    assert len(rows(trace.frames)) == 4
    assert reader.other == 2
    assert reader.broken == 0


def test_binary_rubbish_and_endless_lines() -> None:
    text = logs.run(frames=2).encode()
    rubbish = bytes(range(256)) * 40 + b"{" * 100_000 + b"\n" + b'{ "T":[' * 5000 + b"\n"
    trace, _ = read(text + rubbish + b'{"T":' + b"[" * 3000 + b"\n", chunk=4096)
    assert len(rows(trace.frames)) == 2


@pytest.mark.parametrize(
    "line",
    [
        '{ "T":[1, 2], "N":"core_repaint_begin" }',
        '{ "T":[1, 2], "N":"core_repaint_begin", "wo":"1" }',
        '{ "T":[1, 2], "N":"core_repaint_begin", "wo":-1 }',
        '{ "T":[1, 2], "N":"core_repaint_begin", "wo":99999999999999999999 }',
        '{ "T":[1], "N":"core_repaint_begin", "wo":1 }',
        '{ "T":[-1, 2], "N":"core_repaint_begin", "wo":1 }',
        '{ "T":[1, 9999999999], "N":"core_repaint_begin", "wo":1 }',
        '{ "T":[99999999999999999999999, 2], "N":"core_repaint_begin", "wo":1 }',
        '{ "T":[1.5, 2], "N":"core_repaint_begin", "wo":1 }',
        '{ "T":[1, 2], "N":7, "wo":1 }',
        '{ "T":[1, 2], "N":"core_repaint_finished", "wo":1, "vblank_monotonic":[5] }',
        '{ "T":[1, 2], "N":"core_repaint_finished", "wo":1, "vblank_monotonic":null }',
        '{ "id":1, "type":"weston_window", "name":"x" }',
        '{ "id":9999999999, "type":"weston_output", "name":"x" }',
        '{ "T":[1, 2], "N":"gid_submit", "stream":"movie" }',
    ],
)
def test_damaged_lines_are_counted_and_do_nothing(line: str) -> None:
    good = logs.run(frames=3)
    half = good.index("\n", len(good) // 2) + 1
    trace, reader = read(good[:half] + line + "\n" + good[half:])
    assert reader.broken == 1
    assert rows(trace.frames) == rows(read(good)[0].frames)
    assert len(trace.runs) == 1


def test_a_label_that_never_ends_is_over_with_the_next_point() -> None:
    """Found by the fuzzer: also where that point is a line that was seen before."""
    good = logs.run(frames=6)
    lines = good.splitlines(keepends=True)
    lines.insert(20, '{ "id":1, "type":"weston_output", "name":"DP-2\n')
    lines.insert(24, 'the rest" }\n')
    trace, reader = read("".join(lines))
    assert (reader.broken, reader.other) == (1, 1)
    assert [output.name for output in trace.outputs] == ["DP-1"]
    assert rows(trace.frames) == rows(read(good)[0].frames)


def test_times_with_odd_digits_are_no_times() -> None:
    """What int() would take, but Weston never writes."""
    good = logs.run(frames=3)
    begin = point(100 * 10**9 - 7 * MS, "core_repaint_begin", wo=1)
    for number in ("+9993000000"[:9], "9_9300000", "993.00000", "٩٩٣"):
        odd = begin.replace("993000000", number)
        assert odd != begin
        trace, reader = read(good.replace(begin, odd))
        assert reader.broken == 1
        assert len(rows(trace.frames)) == 2


def test_undeclared_outputs_and_surfaces_get_names() -> None:
    """A flight recorder's ring has lost its oldest lines."""
    text = "".join(logs.run(frames=3).splitlines(keepends=True)[2:])
    trace, _ = read('e_monotonic":[100, 5] }\n' + text)
    assert [output.name for output in trace.outputs] == ["output 1"]
    assert [surface.label for surface in trace.surfaces] == ["surface 2"]
    assert len(rows(trace.frames)) == 3


def test_gpu_lines_come_late_and_in_pairs() -> None:
    time = 100 * 10**9
    text = logs.output(1) + logs.repaint(time) + logs.repaint(time + REFRESH)
    text += point(time + 2 * REFRESH, "renderer_gpu_begin", gpu=time - 6 * MS, wo=1)
    text += point(time + 2 * REFRESH + 9, "renderer_gpu_end", gpu=time - 2 * MS, wo=1)
    text += point(time + 2 * REFRESH + 99, "renderer_gpu_end", gpu=time, wo=1)
    trace, _ = read(text)
    (row,) = rows(trace.gpu)
    assert (row["begin"], row["end"]) == (time - 6 * MS, time - 2 * MS)


# What Weston's timeline.c writes, and in which order its other sources call for it: in 15 and 16
# commits are applied, and repaints begin, only when the output latches. Ids are the subscription's.
_DECLARED = """\
{ "id":1, "type":"weston_output", "name":"headless" }
{ "id":2, "type":"weston_surface", "desc":"weston-simple-egl: 'EGL "demo"'" }
{ "id":3, "type":"weston_surface", "desc":null, "main_surface":2 }
"""
_FRAME_14 = """\
{ "T":[100, 1000], "N":"core_repaint_enter_loop", "wo":1 }
{ "T":[100, 2000], "N":"core_repaint_finished", "wo":1, "vblank_monotonic":[100, 1500] }
{ "T":[100, 3000], "N":"core_commit_damage", "ws":2 }
{ "T":[100, 4000], "N":"core_repaint_req", "wo":1 }
{ "T":[100, 5000], "N":"core_commit_damage", "ws":3 }
{ "T":[100, 9000000], "N":"core_repaint_begin", "wo":1 }
{ "T":[100, 9001000], "N":"core_flush_damage", "ws":2, "wo":1 }
{ "T":[100, 9002000], "N":"core_flush_damage", "ws":3, "wo":1 }
{ "T":[100, 9900000], "N":"core_repaint_posted", "wo":1 }
{ "T":[100, 12000000], "N":"renderer_gpu_begin", "gpu":[100, 9100000], "wo":1 }
{ "T":[100, 12001000], "N":"renderer_gpu_end", "gpu":[100, 11100000], "wo":1 }
{ "T":[100, 16668000], "N":"core_repaint_finished", "wo":1, "vblank_monotonic":[100, 16668166] }
{ "T":[100, 16669000], "N":"core_repaint_restart", "wo":1 }
{ "T":[100, 26000000], "N":"core_repaint_exit_loop", "wo":1 }
"""
_FRAME_15 = _FRAME_14.replace("[100, 5000]", "[100, 8999000]")
_FRAME_16 = (
    '{ "id":4, "type":"weston_seat", "name":"default" }\n'
    '{ "T":[100, 500], "N":"event ts", "seat":4, "event ts":[99, 999999999] }\n' + _FRAME_15
)


@pytest.mark.parametrize(
    ("text", "second_commit", "input_events"),
    [(_FRAME_14, 5000, 0), (_FRAME_15, 8_999_000, 0), (_FRAME_16, 8_999_000, 1)],
    ids=["14", "15", "16"],
)
def test_every_kind_of_line_of_a_version(text: str, second_commit: int, input_events: int) -> None:
    trace, reader = read(_DECLARED + text)
    second = 100 * 10**9
    assert (reader.broken, reader.other, trace.unknown_names) == (0, 0, {})
    (output,) = trace.outputs
    assert (output.name, output.loops, output.exits, output.restarts) == ("headless", 1, 1, 1)
    assert [(surface.label, surface.main, surface.commits) for surface in trace.surfaces] == [
        ("weston-simple-egl: 'EGL \"demo\"'", None, 1),
        ("surface 3", 2, 1),
    ]
    (frame,) = rows(trace.frames)
    assert {name: frame[name] - second for name in ("request", "begin", "posted", "shown")} == {
        "request": 4000,
        "begin": 9 * MS,
        "posted": 9_900_000,
        "shown": 16_668_166,
    }
    assert [(row["surface"], row["commit"] - second) for row in rows(trace.updates)] == [
        (0, 3000),
        (1, second_commit),
    ]
    (gpu,) = rows(trace.gpu)
    assert (gpu["begin"] - second, gpu["end"] - second) == (9_100_000, 11_100_000)
    assert trace.run.input_events == input_events
    assert len(trace.runs) == 1


def test_weston_16_seats_and_input_events() -> None:
    time = 100 * 10**9
    text = logs.output(1) + '{ "id":4, "type":"weston_seat", "name":"default" }\n'
    text += point(time, "event ts", seat=4, event=time - 3000) * 3
    text += logs.surface(5, "film") + logs.repaint(time + REFRESH, ws=5)
    trace, reader = read(text)
    assert reader.broken == 0
    assert trace.run.seats == {4: "default"}
    assert trace.run.input_events == 3
    assert len(rows(trace.updates)) == 1


def test_points_of_later_versions_are_named_not_lost() -> None:
    text = logs.run(frames=2) + point(200 * 10**9, "core_fifo_wait", ws=2) * 2
    trace, reader = read(text)
    assert trace.unknown_names == {"core_fifo_wait": 2}
    assert reader.broken == 0


def test_a_repaint_that_fails_or_is_never_stamped() -> None:
    from gid_timeline.trace import FAILED, SHOWN, UNSTAMPED

    time = 100 * 10**9
    text = logs.output(1)
    text += point(time, "core_repaint_begin", wo=1) + point(time + MS, "core_repaint_posted", wo=1)
    text += point(time + 2 * MS, "core_repaint_exit_loop", wo=1)
    text += point(time + 3 * MS, "core_repaint_begin", wo=1)
    text += logs.repaint(time + REFRESH, ws=3)
    text += point(time + 2 * REFRESH, "core_repaint_begin", wo=1)
    trace, _ = read(text)
    frames = rows(trace.frames)
    assert [row["how"] for row in frames] == [FAILED, UNSTAMPED, SHOWN, UNSTAMPED]
    assert [row["shown"] >= 0 for row in frames] == [False, False, True, False]


def test_superseded_commits_are_counted_and_the_last_one_is_shown() -> None:
    time = 100 * 10**9
    early = point(time - 15 * MS, "core_commit_damage", ws=2)
    trace, _ = read(logs.output(1) + early + logs.repaint(time))
    assert trace.surfaces[0].commits == 2
    assert trace.surfaces[0].superseded == 1
    assert [row["commit"] for row in rows(trace.updates)] == [time - 12 * MS]


def test_what_a_hostile_log_declares_is_bounded() -> None:
    from gid_timeline import trace as limits

    text = "".join(logs.surface(i, f"s{i}") for i in range(limits.SURFACES_MAX + 500))
    text += "".join(logs.output(1, f"o{i}") for i in range(limits.RUNS_MAX + 500))
    text += "".join(point(10**9 + i, f"name {i}", wo=1) for i in range(1000))
    trace, _ = read(text)
    assert trace.folded
    assert len(trace.surfaces) == limits.SURFACES_MAX
    assert len(trace.runs) <= limits.RUNS_MAX
    assert len(trace.outputs) == limits.OUTPUTS_MAX
    assert len(trace.unknown_names) == 100


def test_two_outputs_side_by_side() -> None:
    time = 100 * 10**9
    lines = []
    for number, name in ((1, "DP-1"), (3, "HDMI-A-1")):
        lines += (logs.output(number, name)).splitlines()
        for i in range(10):
            frame = logs.repaint(time + i * REFRESH, wo=number, ws=number + 1, begin=-number * MS)
            lines += frame.splitlines()
    lines.sort(key=lambda line: (0, 0) if "id" in line else (1, line.split('"N"')[0].zfill(50)))
    trace, _ = read("\n".join(lines) + "\n")
    frames = rows(trace.frames)
    assert sorted(row["output"] for row in frames) == [0] * 10 + [1] * 10
    begins = {row["output"]: row["shown"] - row["begin"] for row in frames}
    assert begins == {0: MS, 1: 3 * MS}
