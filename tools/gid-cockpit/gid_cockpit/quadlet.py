# SPDX-License-Identifier: MIT
"""The container of one domain as a quadlet: podman's generator has systemd run it by that."""

import grp
import pwd
import re
from collections.abc import Iterable

from .configuration import CockpitError
from .container import Container

TEXT = """\
# Domain {domain}, of {file}: gid-cockpit(1), quadlet.
#
# This is /etc/containers/systemd/gidway-{domain}.container. Its user comes in by the drop-in
# /etc/systemd/system/gidd@{domain}.socket.d/container.conf:
#
# [Socket]
# SocketGroup={group}
[Unit]
Description=Programs of gidway domain {domain}
Wants=gidd@{domain}.service
After=gidd@{domain}.service

[Container]
Image={image}
ContainerName=gidway-{domain}
{command}{options}
[Service]
Restart=always
# Of a program that SIGTERM ends, as when it is stopped: it has not failed.
SuccessExitStatus=143

[Install]
WantedBy=multi-user.target
"""


def quote(word: str) -> str:
    """A word of a command line, for systemd and for podman's generator, which read alike."""
    if word == "":
        raise CockpitError("podman's generator takes an empty word for the end of the command line")
    word = word.replace("%", "%%").replace("$", "$$")
    if re.fullmatch(r"[\w@%$:,./=+-]+", word):
        return word
    escaped = re.sub(r'[\x00-\x1f"\\]', lambda found: f"\\x{ord(found[0]):02x}", word)
    return f'"{escaped}"'


def lines(key: str, words: Iterable[str]) -> str:
    return "".join(f"{key}={quote(word)}\n" for word in words)


def find_user(name: str) -> pwd.struct_passwd:
    try:
        user = pwd.getpwuid(int(name)) if name.isdecimal() else pwd.getpwnam(name)
    except KeyError:
        raise CockpitError(f"{name}: there is no such user") from None
    if user.pw_uid == 0:
        raise CockpitError(f"{name}: its programs would be the machine's root: name another user")
    return user


def to_quadlet(container: Container, user_name: str) -> str:
    """With the options that `up` gives podman. `user_name`: as whom its programs run."""
    user = find_user(user_name)
    command = " ".join(map(quote, container.command()))
    return TEXT.format(
        domain=container.domain.name,
        file=container.configuration.path,
        group=grp.getgrgid(user.pw_gid).gr_name,
        image=quote(container.domain.container.image),
        command=f"Exec={command}\n" if command else "",
        options=lines("PodmanArgs", container.options([f"--user={user.pw_uid}:{user.pw_gid}"])),
    )
