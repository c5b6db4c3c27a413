# SPDX-License-Identifier: MIT
"""The text of a cockpit's configuration, as gidway.conf(5) has it."""

import re
from collections.abc import Mapping

# Of a domain whose programs have as many streams, and as large pictures, as they like.
GREAT = (
    "memory=4G client-memory=4G streams=256 client-streams=256 subscriptions=256 "
    "client-subscriptions=256 slabs=1024 client-slabs=1024 held=4096 client-held=4096"
)


def configuration(
    domains: Mapping[str, str], shares: Mapping[str, str] | None = None, runtime: object = None
) -> str:
    """Of each domain its keys, with blanks between them: KEY=VALUE KEY=VALUE. The first one has the
    number 1. Of each "OWNER READER" the streams, and in further lines more keys of that share."""
    text = "" if runtime is None else f"[cockpit]\nruntime={runtime}\n"
    for number, (name, keys) in enumerate(domains.items(), 1):
        lines = re.split(r"\s+(?=[a-z-]+=)", keys.strip())
        text += "\n".join([f"[domain {name}]", f"number={number}", *filter(None, lines), ""])
    for pair, streams in (shares or {}).items():
        text += f"[share {pair}]\nstreams={streams}\n"
    return text
