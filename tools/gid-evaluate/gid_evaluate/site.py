# SPDX-License-Identifier: MIT
"""What there is to measure with, where gid-evaluate runs: an installed gidway."""

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence

from gid_vm.accel import probe_accel
from gid_vm.agent import GuestError
from gid_vm.guest import Guest, why_not
from gid_vm.initramfs import CannotBoot
from gid_vm.own_kernel import UmlGuest
from gid_vm.uml import why_no_uml

from .chapters import all_plans
from .outcome import CannotRun
from .plan import Context, Plan
from .results import Results
from .systems import Booted, Native, System


class Site:
    program = "gid-evaluate"
    about = (
        "Chapters that gidway's own benchmarks measure are not among its chapters: ./run evaluate "
        "in gidway's source has those, too."
    )
    context = Context

    def plans(self) -> list[Plan]:
        return all_plans()

    @contextlib.contextmanager
    def measuring(
        self,
        options: argparse.Namespace,
        plans: Sequence[Plan],
        native: Native,
        results: Results,
    ) -> Iterator[Context]:
        """What these plans run with, while the guest runs, if there is one."""
        with contextlib.ExitStack() as stack:
            guest, how, why_not = self._guest(options, stack)
            context = self.context(options.full, native, guest, why_not, how, results)
            if not options.guest and how == "tcg" and why_no_uml() is None:
                context.more = (self.boot_program(stack),)
            yield context

    def boot(self, stack: contextlib.ExitStack) -> System | None:
        """A guest of our own."""
        guest = stack.enter_context(Guest("evaluate", accel=probe_accel(), cpus=2))
        return Booted(lambda: guest, prefix="./run vm ")

    def boot_program(self, stack: contextlib.ExitStack) -> System:
        """User-mode Linux, which is booted by who first asks it. What is only computed takes no
        longer in it than natively; what its kernel is asked for does."""
        return Booted(lambda: stack.enter_context(UmlGuest("evaluate")), "uml")

    def _guest(
        self, options: argparse.Namespace, stack: contextlib.ExitStack
    ) -> tuple[System | None, str, str]:
        """The guest, how it runs, and why there is none."""
        if options.guest == "none":
            return None, "none", "none was wanted"
        if options.guest:
            return self._reach(options.guest)
        if (reason := why_not()) is not None:
            return None, "none", reason
        try:
            return self.boot(stack), probe_accel(), ""
        except (CannotBoot, GuestError) as error:
            return None, "none", str(error).splitlines()[0]

    def _reach(self, command: str) -> tuple[System | None, str, str]:
        guest = Native(command, "guest")
        try:
            guest.answer()
        except CannotRun as error:
            print(f"{self.program}: {error}: going on without a guest", file=sys.stderr)
            return None, command, str(error)
        return guest, command, f"only a guest that is booted here, not one reached by {command}"
