# SPDX-License-Identifier: MIT
"""The figures of a well-formed log with one run, computed the plainest way. Shares no code with
gid-timeline: what both say must agree exactly.

As docs/timeline.md has it: a surface that was declared again goes by its last label, where it has
one (a client that leaves takes its surface's role away, and the label becomes null). Two surfaces
may have the same label.
"""

import json
import statistics
from collections.abc import Iterable
from pathlib import Path


def figures(path: Path) -> list[tuple[str, dict[str, dict]]]:
    """The name and the figures of each output and surface that has any, sorted."""
    names, updates, state, found = {}, {}, {}, {}

    def sample(owner: int, figure: str, start: int | None, end: int | None) -> None:
        if start is not None and end is not None:
            found.setdefault(owner, {}).setdefault(figure, []).append(end - start)

    for text in open(path):
        line = json.loads(text)
        if "id" in line:
            kind = line["type"].removeprefix("weston_")
            name = line.get("name") or line.get("desc")
            names[line["id"]] = name or names.get(line["id"], f"{kind} {line['id']}")
            continue
        name, wo, ws = line["N"], line.get("wo"), line.get("ws")
        now = line["T"][0] * 10**9 + line["T"][1]
        output = state.setdefault(wo, {})
        if name == "core_commit_damage":
            updates[ws] = now
        elif name == "core_repaint_req":
            output.setdefault("request", now)
        elif name == "core_repaint_begin":
            if "begin" in output:  # the frame before this one was never said to be shown
                output.pop("posted", None)
                output.pop("flushed", None)
            output["begin"] = now
            sample(wo, "request_to_begin", output.pop("request", None), now)
        elif name == "core_flush_damage":
            sample(ws, "commit_to_flush", updates.get(ws), now)
            sample(wo, "commit_to_flush", updates.get(ws), now)
            output.setdefault("flushed", []).append((ws, updates.pop(ws, None)))
        elif name == "core_repaint_posted":
            output["posted"] = now
            sample(wo, "repaint", output["begin"], now)
        elif name == "core_repaint_exit_loop":
            output.clear()
        elif name == "core_repaint_finished":
            shown = line["vblank_monotonic"][0] * 10**9 + line["vblank_monotonic"][1]
            if "begin" in output:
                sample(wo, "posted_to_shown", output.pop("posted", None), shown)
                del output["begin"]
                if not output.pop("fake", "base" not in output):
                    sample(wo, "interval", output["base"], shown)
                for surface, commit in output.pop("flushed", []):
                    sample(surface, "commit_to_shown", commit, shown)
                    sample(wo, "commit_to_shown", commit, shown)
                output["fake"] = False
            else:
                output["fake"] = True
            output["base"] = shown
    return in_order(
        (names[owner], {figure: summary(sorted(samples)) for figure, samples in figures.items()})
        for owner, figures in found.items()
    )


def in_order(
    named_figures: Iterable[tuple[str, dict[str, dict]]],
) -> list[tuple[str, dict[str, dict]]]:
    """Sorted by name and then by content, for names may be the same."""
    return sorted(named_figures, key=lambda part: (part[0], json.dumps(part[1], sort_keys=True)))


def journeys(paths: Iterable[Path]) -> dict[tuple[str, int, int], dict[str, int]]:
    """When each frame of a stream passed which point, as {(stream, owner, sequence): {point: T}}.

    For streams of one producer's life and one consumer, all on one clock.
    """
    lines = [json.loads(text) for path in paths for text in open(path) if '"N":"gid_' in text]
    lines.sort(key=lambda line: (line["T"], "stream" not in line))
    frames, named = {}, {}
    for line in lines:
        point, place = line["N"].removeprefix("gid_"), (line["domain"], line["gid"])
        if "stream" in line:
            key = (line["stream"], int(line["gid"].split(":")[0]), line["sequence"])
            if point in ("submit", "receive"):
                named[place] = key
        else:
            key = named.get(place)
        times = frames.setdefault(key, {})
        if point not in times or point in ("released", "freed"):
            times[point] = line["T"][0] * 10**9 + line["T"][1]
    frames.pop(None, None)
    return frames


def summary(x: list[int]) -> dict[str, float]:
    def quantile(per_mille: int) -> int:
        return x[max(-(-len(x) * per_mille // 1000), 1) - 1]

    fence = quantile(750) + 3 * (quantile(750) - quantile(250))
    return {
        "n": len(x),
        "mean_ns": round(sum(x) / len(x), 3),
        "sd_ns": round(statistics.stdev(x), 3) if len(x) > 1 else 0,
        "min_ns": x[0],
        "p50_ns": quantile(500),
        "p90_ns": quantile(900),
        "p99_ns": quantile(990),
        "p999_ns": quantile(999),
        "max_ns": x[-1],
        "outliers": sum(value > fence for value in x),
        "fence_ns": fence,
    }
