# SPDX-License-Identifier: MIT
"""The texts of configurations: sections of keys, and the cockpit's as gidway.conf(5) has it."""

import re
from collections.abc import Mapping

# Of a domain whose programs have as many streams, and as large pictures, as they like.
GREAT = (
    "memory=4G client-memory=4G streams=256 client-streams=256 subscriptions=256 "
    "client-subscriptions=256 slabs=1024 client-slabs=1024 held=4096 client-held=4096"
)


def section(head: str, keys: str = "") -> str:
    """One of any of gidway's files. The keys have blanks between them: KEY=VALUE KEY=VALUE."""
    lines = re.split(r"\s+(?=[a-z-]+=)", keys.strip())
    return "\n".join([f"[{head}]", *filter(None, lines), ""])


def configuration(
    domains: Mapping[str, str], shares: Mapping[str, str] | None = None, runtime: object = None
) -> str:
    """Of each domain its keys, as section() has them. The first one has the number 1. Of each
    "OWNER READER" the streams, if it has any, and in further lines more keys of that share."""
    text = "" if runtime is None else section("cockpit", f"runtime={runtime}")
    for number, (name, keys) in enumerate(domains.items(), 1):
        text += section(f"domain {name}", f"number={number} {keys}")
    for pair, streams in (shares or {}).items():
        text += f"[share {pair}]\n" + (f"streams={streams}\n" if streams else "")
    return text
