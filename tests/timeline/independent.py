# SPDX-License-Identifier: MIT
"""The figures of a well-formed log with one run, computed the plainest way. Shares no code with
gid-timeline: what both say must agree exactly."""

import json
import statistics


def figures(path):
    names, updates, state, found = {}, {}, {}, {}

    def sample(owner, figure, start, end):
        if start is not None and end is not None:
            found.setdefault(names[owner], {}).setdefault(figure, []).append(end - start)

    for text in open(path):
        line = json.loads(text)
        if "id" in line:
            names[line["id"]] = line.get("name") or line.get("desc")
            continue
        name, wo, ws = line["N"], line.get("wo"), line.get("ws")
        now = line["T"][0] * 10**9 + line["T"][1]
        output = state.setdefault(wo, {})
        if name == "core_commit_damage":
            updates[ws] = now
        elif name == "core_repaint_req":
            output.setdefault("request", now)
        elif name == "core_repaint_begin":
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
                sample(wo, "posted_to_shown", output.pop("posted"), shown)
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
    return {
        owner: {figure: summary(sorted(samples)) for figure, samples in figures.items()}
        for owner, figures in found.items()
    }


def summary(x):
    def quantile(per_mille):
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
