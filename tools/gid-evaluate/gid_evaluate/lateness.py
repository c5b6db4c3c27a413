# SPDX-License-Identifier: MIT
"""The machine's own lateness while something is measured: what no program on it can beat."""

import threading
import time

PERIOD = 0.002  # s
NOISY_US = 1000  # a machine with nothing else to do wakes a sleeper sooner


class Lateness:
    """`with Lateness() as late: …` and then `late.worst_us`."""

    def __init__(self) -> None:
        self.worst_us = 0.0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Lateness":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ending.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ending.is_set():
            due = time.monotonic() + PERIOD
            time.sleep(PERIOD)
            self.worst_us = max(self.worst_us, (time.monotonic() - due) * 1e6)
