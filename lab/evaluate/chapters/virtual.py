# SPDX-License-Identifier: MIT
"""A cockpit whose other domain is a guest: start (5.4), load (5.1.2), films (5.7.2), cameras
(5.8.3), repaints (5.9.3), reboots (5.18), memory.
"""

import dataclasses
import statistics
from typing import Any

from gid_evaluate.plan import Goal, Shared
from gid_evaluate.result import Figure

from lab.evaluate.chapters import displays, pictures
from lab.evaluate.chapters.cockpit import LATE, TYPICAL
from lab.evaluate.chapters.robustness import CALM, REFRESH_HZ
from lab.evaluate.context import Context, Plan

SOURCE = "./run bench virtual --part "


def _rows(context: Context, part: str, what: str) -> list[dict]:
    return [row for row in context.in_guest(f"--part={part}") if row["what"] == what]


def _figure(name: str, value: float, unit: str, part: str, **more: object) -> Figure:
    n, spread = more.get("n", 1), more.get("spread", (value, value))
    return Figure(name, value, unit, n, spread, SOURCE + part, "guest")


def _start(context: Context) -> list[Figure]:
    context.notes.append(
        "The light's program is started when the guest is up. Its own start is part of the time to "
        "its light, and long where code is translated (TCG): beside it stands what the program "
        "takes to start and end once it was read."
    )
    return [
        _figure(row["who"], row["seconds"], "s", "start")
        for row in _rows(context, "start", "start")
    ]


def _load(context: Context) -> list[Figure]:
    figures = []
    for row in _rows(context, "load", "cpu"):
        spread = (row["cpu_percent_min"], row["cpu_percent_max"])
        unit = "% of its cores" if row["who"].startswith("guest") else "% of a core"
        value, n = row["cpu_percent"], row["n"]
        figures.append(_figure(row["who"], value, unit, "load", n=n, spread=spread))
    context.notes.append(
        "What QEMU takes is what the guest takes and what its virtualisation costs."
    )
    return figures


def _latency(context: Context) -> list[Figure]:
    (row,) = _rows(context, "load", "latency")
    spread, n = (0, row["max_ms"]), row["n"]
    return [
        _figure(TYPICAL, row["p50_ms"], "ms", "load", n=n, spread=spread),
        _figure(LATE.figure, row["p99_ms"], "ms", "load", n=n, spread=spread),
    ]


def _repaint(context: Context) -> list[Figure]:
    figures = []
    for row in _rows(context, "repaint", "repaint"):
        name = f"{row['who']}, repaint begun to posted"
        spread, n = (0, row["max_ms"]), row["repaints"]
        figures.append(_figure(name, row["mean_ms"], "ms", "repaint", n=n, spread=spread))
        figures.append(
            _figure(f"{name}, median", row["p50_ms"], "ms", "repaint", n=n, spread=spread)
        )
    context.notes.append("By the guest's own clock, and a film of 320x180: compare the two.")
    times = {row["who"]: row["p50_ms"] for row in _rows(context, "repaint", "repaint")}
    n = min(row["repaints"] for row in _rows(context, "repaint", "repaint"))
    ratio = times["gid"] / times["wl_shm"]
    native = displays.repaint(context)["ratios"]["repaint_p50_ms_gid_vs_wl_shm"]
    for goal, value in ((IN_GUEST, ratio), (ADDED, ratio / native)):
        figures.append(_figure(goal.figure, value, "", "repaint", n=n))
    return figures


def _film(context: Context) -> list[Figure]:
    return _beside_native(context, "film", FILM, NATIVE_FILM)


def _camera(context: Context) -> list[Figure]:
    context.notes.append("In the guest a live test picture stands for the camera.")
    return _beside_native(context, "camera", CAMERA, NATIVE_CAMERA)


def _beside_native(context: Context, what: str, goal: Goal, wanted: str) -> list[Figure]:
    """The share of frames that were shown, of those sent in time: in the guest, and in the best
    native run, for a bad one would make the guest look good. Frames that the guest's CPU could not
    decode were not sent, and do not count.
    """
    guest = {row["who"]: row for row in _rows(context, "film", "shown")}[what]
    share, sent, rate = guest["shown_of_sent"], guest["sent"], guest["rate"]
    native = next(
        one for one in pictures.rates(pictures.shown(context), what) if one.name == wanted
    )
    best = native.spread[1]
    context.notes.append(
        "The guest's pictures are smaller, and fewer: compared is the share, with that of the best "
        "native run."
    )
    ratio = _figure(goal.figure, share / best, "share", "film", n=sent)
    return [
        dataclasses.replace(native, name=SHARE, value=best),
        _figure(SHARE, share, "share", "film", n=sent),
        _figure(f"{rate} a second: shown", share * rate, "fps", "film", n=sent),
        dataclasses.replace(ratio, system="both"),
    ]


def _memory(context: Context) -> list[Figure]:
    return [
        _figure(f"{row['who']}: PSS", row["kib"] / 1024, "MiB", "load")
        for row in _rows(context, "load", "memory")
    ]


def _reboot(context: Context) -> list[Figure]:
    return _cluster(_rows(context, "reboot", "rate"), "reboot")


def _attacks(context: Context) -> list[Figure]:
    rows = [row for row in _rows(context, "attacks", "rate") if row["who"] != "dma"]
    return _cluster(rows, "attacks")


def _devices(context: Context) -> list[Figure]:
    rows = [
        row for row in _rows(context, "attacks", "rate") if row["who"] in ("undisturbed", "dma")
    ]
    did = next(row["did"] for row in rows if row["who"] == "dma")
    tried, devices = did["tried"], did["devices"]
    # What the host finds in the files, and what the guest sees of it.
    changed = max(did["pages"], did["changed"])
    context.notes.append(
        f"{devices} devices of QEMU (edu), of which each writes {did['arrived'] / devices:g} page "
        "of the attacker's own memory first, to show that it can; and another try in "
        f"{1 + tried / max(1, did['nowhere']):.0f} at addresses where there is no memory. Of the "
        "machine's own devices, and of its IOMMU, this says nothing."
    )
    return [
        *_cluster(rows, "attacks"),
        _figure("tries at pages of other domains", tried, "tries", "attacks"),
        _figure(CHANGED.figure, changed, "pages", "attacks", n=tried),
        _figure(PASSED.figure, did["passed"], "pages", "attacks", n=devices),
    ]


def _access(context: Context) -> list[Figure]:
    rows = {row["who"]: row for row in _rows(context, "attacks", "rate")}
    did = rows["dma"]["did"]
    by_hand, by_devices = did["written"], did["tried"]
    succeeded = max(did["held"] + did["changed"], did["pages"])
    context.notes.append(
        "The owner is the cluster on the host. The attacker is the guest's kernel, which maps "
        "each window that it has as a device of its own."
    )
    return [
        _figure(
            "pages of others that the guest's processor wrote",
            did["held"],
            "pages",
            "attacks",
            n=by_hand,
        ),
        _figure(
            "pages of others that its devices wrote",
            did["changed"],
            "pages",
            "attacks",
            n=by_devices,
        ),
        _figure(
            "pages of others with what was written, as the host sees them",
            did["pages"],
            "pages",
            "attacks",
            n=by_hand + by_devices,
        ),
        _figure(SUCCEEDED.figure, succeeded, "successes", "attacks", n=by_hand + by_devices),
    ]


def _cluster(rows: list[dict], part: str) -> list[Figure]:
    """Its rate and gaps, of which the worst counts."""
    figures, ratios, gaps = [], [], []
    for row in rows:
        name, ratio, n = row["who"], row["rate_vs_undisturbed"], row["frames"]
        figures.append(_figure(f"{name}, frames a second", row["rate_hz"], "Hz", part, n=n))
        gap = row["longest_gap_refreshes"]
        figures.append(_figure(f"{name}, longest gap", gap, "refreshes", part, n=n))
        if name == "undisturbed":
            calm = row["rate_hz"] / REFRESH_HZ
            figures.append(_figure(CALM.figure, calm, "share", part, n=n))
        else:
            figures.append(_figure(f"{name}, rate of undisturbed", ratio, "share", part, n=n))
            ratios.append(ratio)
            gaps.append(gap)
    n, rates, longest = len(ratios), (min(ratios), max(ratios)), (min(gaps), max(gaps))
    return [
        *figures,
        _figure(RATE.figure, rates[0], "share", part, n=n, spread=rates),
        _figure(GAP.figure, longest[1], "refreshes", part, n=n, spread=longest),
    ]


def _decode(context: Context) -> list[Figure]:
    """The cost of gid memory to the decoder in the guest, relative to its cost natively."""
    rows = _rows(context, "decode", "decode")
    figures, ratios = [], []
    for system in ("guest", "native"):
        each = {row["who"]: row["each"] for row in rows if row["where"] == system}
        turns = [ours / bare for ours, bare in zip(each["gid"], each["fakesink"], strict=True)]
        for name, values, unit in (
            *((f"into {who}", rates, "frames/s of CPU") for who, rates in each.items()),
            (INTO_GID, turns, "share"),
        ):
            median, spread = statistics.median(values), (min(values), max(values))
            figure = _figure(name, median, unit, "decode", n=len(values), spread=spread)
            figures.append(dataclasses.replace(figure, system=system))
        ratios.append(figures[-1].value)
    ratio = _figure(DECODED.figure, ratios[0] / ratios[1], "share", "decode", n=len(turns))
    return [*figures, dataclasses.replace(ratio, system="both")]


SHARE = "shown of sent"
NATIVE_FILM = "gid-cluster, 25 a second, worst run: shown of sent"
NATIVE_CAMERA = "gid-cluster, 30 a second, worst run: shown of sent"
# The goals of the evaluation of 2017. A share is a ratio already, so an emulated guest, which sends
# fewer frames, has them too.
FILM = Goal("film shown of sent: guest, ratio to native", 0.94, is_least=True)
CAMERA = Goal("camera shown of sent: guest, ratio to native", 0.99, is_least=True)
RATE = Goal("lowest rate of all cases", 0.99, is_least=True)
GAP = Goal("longest gap of all cases", 2.0)
INTO_GID = "into gid memory, ratio to fakesink"
DECODED = Goal(f"{INTO_GID}: guest, ratio to native", round(1 / 1.1, 3), is_least=True)
CHANGED = Goal("pages of other domains that devices changed", 0)
SUCCEEDED = Goal("accesses that succeeded", 0)
PASSED = Goal("pages that devices wrote past the guest's IOMMU, without a mapping", 0)
IN_GUEST = Goal("time of a repaint in the guest, gid, ratio to wl_shm", 1.01)
# Emulation affects both memories alike: gid's relative cost must be the same natively and in a
# guest.
ADDED = Goal("that ratio, to the native one", 1.1)

BOOT = Shared("virtual", (0.8, 0.8))
MINUTES = {
    "start": (0.0, 0.0),
    "load": (1.7, 5),
    "film": (0.6, 0.6),
    "decode": (0.6, 2),
    "attacks": (0.5, 2.5),
    "reboot": (0.0, 10),
    "repaint": (0.5, 1),
}


def _in_guest(part: str, *more: Shared) -> dict[str, Any]:
    """The common keys of the plans of this part of `./run bench virtual`."""
    shares = (BOOT, Shared(f"virtual --part={part}", MINUTES[part]), *more)
    return {"minutes": (0.0, 0.0), "shares": shares, "in_guest": (part,)}


PLANS = [
    Plan(
        "5.1.2",
        "Processor time of a virtual machine",
        "The same cockpit with the other domain in a guest: QEMU, the daemons and the cluster on "
        "the host, and what the guest's own kernel counts.",
        _load,
        **_in_guest("load"),
    ),
    Plan(
        "5.4.3",
        "Start of a virtual machine",
        "From the start of QEMU until the guest's gidd answers, a light that is drawn there is "
        "live on the cluster, and Weston runs there; and from when the guest is up to its light.",
        _start,
        goals=(Goal("guest is up to a live light, drawn without Weston", 1.0),),
        **_in_guest("start"),
    ),
    Plan(
        "5.7.2",
        "A film in the guest beside natively",
        "A film (H.264) is decoded in the guest and shown by gid-cluster on the host: frames shown "
        "of those that were sent, beside a film that another process of the host sends.",
        _film,
        goals=(FILM,),
        **_in_guest("film", pictures.RUN),
    ),
    Plan(
        "5.7.4.2",
        "Decoding in the guest beside natively",
        "A film is decoded in the guest as fast as it goes, into gid memory and into a sink that "
        "drops it: frames for each second of processor time, and the ratio of the two to the "
        "native one of the same film.",
        _decode,
        goals=(DECODED,),
        **_in_guest("decode"),
    ),
    Plan(
        "5.8.3",
        "A camera in the guest beside natively",
        "The same with a source that sends its frames at fixed times.",
        _camera,
        goals=(CAMERA,),
        **_in_guest("film", pictures.RUN),
    ),
    Plan(
        "5.16.2.2",
        "Attacks of another machine",
        "The cluster's meter counts its own frames while programs of the guest leak memory and "
        "slabs, overwrite all that they can write, and send random messages.",
        _attacks,
        goals=(CALM, RATE, GAP),
        **_in_guest("attacks"),
    ),
    Plan(
        "5.17.2",
        "Devices that write by themselves",
        "Devices of the guest are told to write (DMA): first past the guest's IOMMU, which has no "
        "page mapped for them; then, let through by the guest's kernel, into the windows of other "
        "domains. Counted are pages that have what they wrote, as the host and the guest see them; "
        "and the cluster's frames meanwhile.",
        _devices,
        goals=(CHANGED, PASSED, CALM, RATE, GAP),
        **_in_guest("attacks"),
    ),
    Plan(
        "5.18.2",
        "Reboot of the other machine",
        "The cluster's meter counts its own frames while programs of the guest commit pictures as "
        "fast as they are taken, and while the guest is reset and boots again with all programs: "
        "ten times in a full run.",
        _reboot,
        goals=(CALM, RATE, GAP),
        **_in_guest("reboot"),
    ),
    Plan(
        "5.9.3.2",
        "Repaint of a guest's compositor",
        "A small moving picture full screen in a Weston of the guest, once in gid memory and once "
        "in wl_shm: from the beginning of a repaint to when it is posted, by Weston's timeline.",
        _repaint,
        goals=(IN_GUEST, ADDED),
        **_in_guest("repaint", displays.REPAINT),
    ),
    Plan(
        "5.19.2",
        "Memory of a virtual machine",
        "PSS of QEMU, which has the guest's memory and its window, and of the host's daemons; and "
        "of the programs in the guest.",
        _memory,
        **_in_guest("load"),
    ),
    Plan(
        "5.21.2",
        "Illegal access from another machine",
        "The guest's kernel writes into the windows of other domains, which it may read, by its "
        "processor and by its devices. Counted are pages that have what was written.",
        _access,
        goals=(SUCCEEDED,),
        **_in_guest("attacks"),
    ),
    Plan(
        "5.22.2",
        "From a change of a guest's picture to light",
        "A telltale changes in the guest, at all phases of a refresh; from when the guest's Weston "
        "has its commit until gid-cluster's output on the host shows it. The way from the telltale "
        "to its Weston is not in it.",
        _latency,
        goals=(LATE,),
        **_in_guest("load"),
    ),
]
