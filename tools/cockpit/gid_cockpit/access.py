# SPDX-License-Identifier: MIT
"""As whom domains' processes run, and what files those users are let at."""

import os
import pwd
import struct
from collections.abc import Mapping
from pathlib import Path

from .configuration import CockpitError, Domain

KVM = Path("/dev/kvm")

# A POSIX access control list, as the kernel takes it: a version, then tag, rights and number each.
_ACL = "system.posix_acl_access"
_VERSION, _ENTRY = struct.Struct("<I"), struct.Struct("<HHI")
_OWNER, _USER, _GROUP, _MASK, _OTHERS = 0x01, 0x02, 0x04, 0x10, 0x20
_NOBODY = 0xFFFFFFFF
READ, WRITE = 4, 2


def user_of(domain: Domain) -> pwd.struct_passwd | None:
    """As whom the domain runs, where that is another than we are."""
    if domain.user is None:
        return None
    try:
        user = pwd.getpwnam(domain.user)
    except KeyError:
        raise CockpitError(
            f"user={domain.user} of domain {domain.name}: there is no such user"
        ) from None
    if user.pw_uid == os.geteuid():
        return None
    if os.geteuid() != 0:
        what = "guest" if domain.kind == "guest" else "gidd of domain"
        raise CockpitError(
            f"only root can start the {what} {domain.name}, which runs as user={domain.user}"
        )
    return user


def identity(user: pwd.struct_passwd | None, device: Path | None = None) -> dict[str, object]:
    """For subprocess; with the group of `device`, where that is given."""
    if user is None:
        return {}
    groups = set(os.getgrouplist(user.pw_name, user.pw_gid))
    if device is not None and device.exists():
        groups.add(device.stat().st_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": sorted(groups)}


def let_in(path: Path, rights: Mapping[int, int]) -> None:
    """Gives users, by number, rights to a file of ours that is nobody else's."""
    entries = [(_OWNER, READ | WRITE, _NOBODY)]
    entries += [(_USER, rights[user], user) for user in sorted(rights)]
    entries += [(_GROUP, 0, _NOBODY), (_MASK, READ | WRITE, _NOBODY), (_OTHERS, 0, _NOBODY)]
    acl = _VERSION.pack(2) + b"".join(_ENTRY.pack(*entry) for entry in entries)
    try:
        os.setxattr(path, _ACL, acl, follow_symlinks=False)
    except OSError as error:
        raise CockpitError(f"{path}: its rights cannot be changed: {error.strerror}") from None
