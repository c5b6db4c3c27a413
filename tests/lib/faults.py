# SPDX-License-Identifier: MIT
"""What can happen to the frames of a protected stream, made by a program of its own."""

from lib.program import BUILD

# Sends good frames; upon SIGUSR1 those with the fault, and upon the next one good ones again.
PROTECTED = BUILD / "tests/safety/protected"
STREAM = "safety/telltale"

# Of each of its faults the reason that is named where frames may be no older than 10 s.
FAULTS = {
    "pixel": "check-mismatch",
    "descriptor": "check-mismatch",
    "swap": "check-mismatch",
    "old-check": "check-mismatch",
    "repeat": "old-frame",
    "late": "age",
    "mix": "check-mismatch",
    "wrong-key": "check-mismatch",
    "other-profile": "no-check",
    "unprotected": "no-check",
    "replay": "old-frame",  # the stream ends before
}


def faults_of(profile: str) -> dict[str, str]:
    """Those that there can be with the profile."""
    return {
        fault: reason
        for fault, reason in FAULTS.items()
        if (fault, profile) != ("wrong-key", "crc64")  # it has no key
    }
