# SPDX-License-Identifier: MIT
"""./run evaluate [OPTION…]: measures a virtualised cockpit and writes a report, chapter by chapter.

As gid-evaluate, with the chapters that gidway's own benchmarks measure.
"""

import argparse
import contextlib
import shlex
import sys
from collections.abc import Iterator, Sequence

from gid_evaluate import plan
from gid_evaluate.cli import main
from gid_evaluate.machine import describe, version
from gid_evaluate.results import Key, Results
from gid_evaluate.site import Site
from gid_evaluate.systems import Native

from lab.evaluate.chapters import all_plans
from lab.evaluate.context import Context, InCockpit, Plan


class Source(Site):
    program = "./run evaluate"
    about = ""
    context = Context

    def plans(self) -> list[plan.Plan]:
        return all_plans()

    def boot(self, stack: contextlib.ExitStack) -> None:
        """Does nothing: one of the benchmarks boots the guest, once for all chapters."""

    @contextlib.contextmanager
    def measuring(
        self,
        options: argparse.Namespace,
        plans: Sequence[plan.Plan],
        native: Native,
        results: Results,
    ) -> Iterator[Context]:
        with super().measuring(options, plans, native, results) as context:
            if context.guest is None and not context.why_no_guest:
                context.virtual = _virtual(plans, options.full)
                context.guest = InCockpit(context.in_guest)
            yield context


def _virtual(plans: Sequence[plan.Plan], is_full: bool) -> tuple[Key, Key]:
    """The arguments of `./run bench virtual` for all of these chapters: how, and what."""
    parts = {part: None for one in plans if isinstance(one, Plan) for part in one.in_guest}
    lines = {shlex.join(words): None for one in plans for words in one.runs(is_full)}
    how = (f"--seconds={20 if is_full else 6}", f"--reboots={10 if is_full else 1}", "--go-on")
    return how, (*(f"--part={part}" for part in parts), *(f"--run={line}" for line in lines))


if __name__ == "__main__":
    sys.exit(main(site=Source(), version=version("gidctl"), describe=describe))
