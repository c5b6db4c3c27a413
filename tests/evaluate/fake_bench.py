# SPDX-License-Identifier: MIT
"""A bench/isolation.py that behaves as GID_TEST_BENCH says. Here a benchmark is what is tested."""

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

CASES = ("undisturbed", "flood", "gpu", "leak", "scribble", "messages", "restart")


def row(case: str, rate: float = 1.0, gap: float = 1.1, hz: float = 60.0) -> dict:
    """The last of three repetitions is that bad, the others are good; `hz`: the undisturbed rate,
    of which the rates are a part."""
    rates, gaps = [1.0, 1.0, rate], [1.0, 1.0, gap]
    return {
        "case": case,
        "repetitions": 3,
        "rate_hz": hz,
        "rate_hz_each": [hz * one for one in rates],
        "rate_vs_undisturbed": 1.0,
        "rate_vs_undisturbed_worst": rate,
        "rate_vs_undisturbed_each": rates,
        "longest_gap_refreshes": gap,
        "longest_gap_refreshes_each": gaps,
        "longest_gap_refreshes_median": 1.0,
    }


def answer(**changed: object) -> str:
    return json.dumps({"rows": [row(case) for case in CASES], "ratios": {}} | changed)


def with_case(name: str, **bad: float) -> str:
    return answer(rows=[row(case, **(bad if case == name else {})) for case in CASES])


ANSWERS = {
    "good": answer(),
    "again": answer(tried_again=["unixfd: hardly a frame"]),
    "a tenth slower": answer(rows=[row(case, hz=54.0) for case in CASES]),
    "one slow run": with_case("restart", rate=0.9),
    "one gap": with_case("restart", gap=2.5),
    "one gap undisturbed": with_case("undisturbed", gap=1.6),
    "no rows": answer(rows=[]),
    "no such rows": answer(rows=[{"case": "undisturbed"}]),
    "no ratios": json.dumps({"rows": [row(case) for case in CASES]}),
    "a list": "[1, 2]",
    "garbage": '{"rows": [',
    "nothing": "",
    "NaN": with_case("restart", rate=float("nan")),
    "infinity": with_case("restart", gap=float("inf")),
    "too large": answer().replace("1.0", "1e999"),
    "texts": answer().replace("1.0", '"fast"'),
    "never": answer().replace('"repetitions": 3', '"repetitions": 0'),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    options, _ = parser.parse_known_args()
    way = os.environ["GID_TEST_BENCH"]
    if way in ANSWERS:
        options.json.write_text(ANSWERS[way])
    elif way == "ends with a message":
        sys.exit("bench: restart: the cluster's display ended")
    elif way == "crashes":
        options.json.write_text(ANSWERS["good"])
        os.kill(os.getpid(), signal.SIGSEGV)
    elif way == "hangs":
        Path(os.environ["GID_TEST_PID"]).write_text(str(os.getpid()))
        time.sleep(1000)
    elif way == "wants":
        print("bench: there is no glmark2", file=sys.stderr)
        sys.exit(77)
    elif way == "says it wants nothing":
        sys.exit(77)


if __name__ == "__main__":
    main()
