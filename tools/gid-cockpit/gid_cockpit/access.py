# SPDX-License-Identifier: MIT
"""As whom domains' processes run, and what files those users are let at."""

import contextlib
import os
import pwd
import stat
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


def is_root() -> bool:
    """Whether we are the machine's root.

    That of a user namespace is an ordinary user outside of it, and can be led to nothing else.
    """
    try:
        owners = Path("/proc/self/uid_map").read_text().splitlines()
    except FileNotFoundError:
        return os.geteuid() == 0
    return os.geteuid() == 0 and any(line.split()[:2] == ["0", "0"] for line in owners)


def check_place(runtime: Path) -> None:
    """That nobody but root could put a link in the place of the folder, where we are root.

    CockpitError: somebody could, and have us make, give away and end what is not meant.
    """
    if not is_root():
        return
    for place in {runtime, *runtime.parents, runtime.resolve(), *runtime.resolve().parents}:
        try:
            status = place.lstat()
        except FileNotFoundError:
            continue  # we make it
        is_open = not stat.S_ISLNK(status.st_mode) and status.st_mode & 0o022
        if place != Path("/") and (
            status.st_uid != 0 or (is_open and not status.st_mode & stat.S_ISVTX)
        ):
            raise CockpitError(
                f"runtime={runtime}: others than root may change {place}, and could lead root "
                "elsewhere: choose another folder, or be the user whose it is"
            )


def own_folder() -> str:
    """One that a user has, in words of a shell. Without a session, as after su, the second."""
    has_session = Path(os.environ.get("XDG_RUNTIME_DIR", "")).is_absolute()
    return "$XDG_RUNTIME_DIR/gidway" if has_session else "$HOME/run"


def give(path: Path, user: pwd.struct_passwd | None) -> None:
    """Makes the folder `path`, as root, for whoever is to run there; None: that is root."""
    try:
        path.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as error:
        raise CockpitError(
            f"{error.filename}: {error.strerror}: name a folder of yours by GID_RUNTIME_DIR, "
            f"as {own_folder()}"
        ) from None
    if os.geteuid() == 0:
        number, group = (user.pw_uid, user.pw_gid) if user is not None else (0, 0)
        os.chown(path, number, group, follow_symlinks=False)


def let_in(path: Path, rights: Mapping[int, int]) -> None:
    """Gives users, by number, rights to a file of whose its folder is, and to no other's.

    Neither the folder nor the file may be a link: their owner could put one there.
    """
    entries = [(_OWNER, READ | WRITE, _NOBODY)]
    entries += [(_USER, rights[user], user) for user in sorted(rights)]
    entries += [(_GROUP, 0, _NOBODY), (_MASK, READ | WRITE, _NOBODY), (_OTHERS, 0, _NOBODY)]
    acl = _VERSION.pack(2) + b"".join(_ENTRY.pack(*entry) for entry in entries)
    flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.ExitStack() as stack:
        try:
            folder = os.open(path.parent, flags | os.O_DIRECTORY)
            stack.callback(os.close, folder)
            file = os.open(path.name, flags, dir_fd=folder)
            stack.callback(os.close, file)
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.fstat(folder).st_uid:
                raise CockpitError(f"{path}: this is no file of the owner of its folder")
            os.setxattr(f"/proc/self/fd/{file}", _ACL, acl)
        except OSError as error:
            raise CockpitError(f"{path}: its rights cannot be changed: {error.strerror}") from None
