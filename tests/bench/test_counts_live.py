# SPDX-License-Identifier: MIT
"""No picture at 60 a second takes more system calls than it did.

Who finds a processor late finds others awake or asleep, and calls more: nothing may compute beside.
"""

import pytest
from benches import WRITTEN, bench, written_counts

pytestmark = pytest.mark.timeout(900)


def test_no_picture_takes_more_calls_than_it_did() -> None:
    written_counts()
    run = bench("counts", "--only", "live", "--against", WRITTEN)
    print(run.stdout)
    assert run.returncode == 0, run.stdout + run.stderr
