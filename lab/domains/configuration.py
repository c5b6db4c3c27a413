# SPDX-License-Identifier: MIT
"""Texts of configuration files: sections with keys, and the cockpit's file (gidway.conf(5))."""

import re
from collections.abc import Mapping

# Keys of a domain whose programs need many streams and large pictures.
GREAT = (
    "memory=4G client-memory=4G streams=256 client-streams=256 subscriptions=256 "
    "client-subscriptions=256 slabs=1024 client-slabs=1024 held=4096 client-held=4096"
)


def section(head: str, keys: str = "") -> str:
    """A section of any of gidway's files. Keys are separated by blanks: KEY=VALUE KEY=VALUE."""
    lines = re.split(r"\s+(?=[a-z-]+=)", keys.strip())
    return "\n".join([f"[{head}]", *filter(None, lines), ""])


def configuration(
    domains: Mapping[str, str], shares: Mapping[str, str] | None = None, runtime: object = None
) -> str:
    """The cockpit's configuration.

    `domains`: the keys of each domain, as in section(); the first domain has the number 1.
    `shares`: of each "OWNER READER" the streams, if any, and further keys of the share in further
    lines.
    """
    text = "" if runtime is None else section("cockpit", f"runtime={runtime}")
    for number, (name, keys) in enumerate(domains.items(), 1):
        text += section(f"domain {name}", f"number={number} {keys}")
    for pair, streams in (shares or {}).items():
        text += f"[share {pair}]\n" + (f"streams={streams}\n" if streams else "")
    return text
