# SPDX-License-Identifier: MIT
"""What systemd and the packages' scripts do as root, on paths that a service could lead elsewhere.

The attack itself is made where systemd runs: packaging/guest-checks, by ./run try-packages. Here is
what makes it harmless: every path is one that docs/security.md lists, and each folder above it is
root's.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest
from lib.followed import listed
from lib.program import BUILD, PATIENCE, TOP

SYSTEMD = TOP / "packaging" / "systemd"
DEBIAN = TOP / "packaging" / "debian"
UNITS = [*sorted((BUILD / "packaging").glob("*@.service")), *sorted(SYSTEMD.glob("*@.socket"))]
SCRIPTS = [*sorted(DEBIAN.glob("*.p*inst")), *sorted(DEBIAN.glob("*.p*rm"))]
# Where systemd makes a folder that it gives to the service's user.
FOLDERS = {"RuntimeDirectory": "/run", "CacheDirectory": "/var/cache", "StateDirectory": "/var/lib"}
FOLDERS |= {"LogsDirectory": "/var/log", "ConfigurationDirectory": "/etc"}
# Settings that only say what the service itself sees.
SEEN = {"ReadWritePaths", "ReadOnlyPaths", "InaccessiblePaths", "DeviceAllow", "ExecStart"}
SEEN |= {"Environment", "Documentation"}


def settings(unit: Path) -> list[tuple[str, str]]:
    found = re.findall(r"^(\w+)=(.*)$", unit.read_text(), re.MULTILINE)
    return [(key, value.replace("%i", "NAME")) for key, value in found]


def user_of(unit: Path) -> str:
    return dict(settings(unit)).get("User", "root")


def given(unit: Path) -> set[str]:
    """The folders that systemd makes for the unit's user."""
    return {
        f"{FOLDERS[key]}/{name.partition(':')[0]}"
        for key, value in settings(unit)
        if key in FOLDERS
        for name in value.split()
    }


def tmpfiles() -> dict[str, str]:
    """Whose each folder is that systemd-tmpfiles makes."""
    lines = (SYSTEMD / "gidd.tmpfiles").read_text().splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    assert {word[0] for word in words} == {"d"}
    return {word[1]: word[3] for word in words}


def followed_by(unit: Path) -> set[str]:
    """Paths that systemd itself goes to, as root."""
    values = [value for key, value in settings(unit) if key not in SEEN | FOLDERS.keys()]
    return given(unit) | set(re.findall(r"(?:^|[\s=:+-])(/[^\s:']+)", "\n".join(values)))


def as_root(unit: Path) -> list[str]:
    """Commands that run with root's rights, whoever the unit's user is: systemd.service(5)."""
    user = user_of(unit)
    commands = [(key, value) for key, value in settings(unit) if key.startswith("Exec")]
    return [
        f"{key}={value}"
        for key, value in commands
        if user == "root" or re.match(r"[-@:|]*[+!]", value)
    ]


def owners() -> dict[str, str]:
    """All folders that are given to somebody, by whom."""
    found = {path: user for path, user in tmpfiles().items() if user != "root"}
    for unit in UNITS:
        found |= dict.fromkeys(given(unit), user_of(unit))
    assert {"root"}.isdisjoint(found.values())
    return found


def check_above(path: str) -> None:
    """Nobody but root changes what leads there; a pattern in the path stands for any name."""
    for parent in Path(path).parents:
        for folder, user in owners().items():
            pattern = re.escape(folder).replace("NAME", "[^/]+")
            # NAME may stand for a guest's, whose folder is another domain's than this one.
            if re.fullmatch(pattern, str(parent)) and "NAME" not in Path(folder).name:
                raise AssertionError(f"{path}: {folder} belongs to {user}")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_no_command_of_a_unit_is_roots(unit: Path) -> None:
    """What root runs in a folder that a service has had is led anywhere by a link in it."""
    if unit.suffix == ".service":
        assert user_of(unit) != "root"
    assert as_root(unit) == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_each_path_of_a_unit_is_listed(unit: Path) -> None:
    assert followed_by(unit) == listed().get(unit.name, set())


def test_each_folder_of_tmpfiles_is_listed() -> None:
    assert set(tmpfiles()) == listed()["gidd.tmpfiles"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_each_path_of_a_maintainer_script_is_listed(script: Path) -> None:
    text = re.sub(r"^#.*$", "", script.read_text(), flags=re.MULTILINE)
    paths = set(re.findall(r"(?:^|[\s\"'=])(/[^\s\"';]+)", text))
    paths = {path for path in paths if path != "/dev/null"}
    assert paths == listed().get(script.name, set())
    for word in ("chown", "chmod", "ln", "mv", "cp", "install", "touch", "tee", "mkdir"):
        assert not re.search(rf"(?m)^\s*(?:\S+=\S+ )*{word}\b", text), word


@pytest.mark.parametrize("script", sorted(DEBIAN.glob("*.postrm")), ids=lambda script: script.name)
def test_a_purge_follows_no_link(script: Path, tmp_path: Path) -> None:
    """Whatever a service left in its folders; the script's own paths, below another root."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "precious").write_text("mine")
    text = script.read_text()
    for path in listed()[script.name]:
        text = text.replace(path, f"{tmp_path}{path}")
        if path.startswith(("/run/", "/var/")):
            folder = Path(f"{tmp_path}{path}/open")
            folder.mkdir(parents=True)
            (folder / "link").symlink_to(victim)
            (folder.parent / "other").symlink_to(victim)
            (folder / "file").hardlink_to(victim / "precious")
    (tmp_path / "programs").mkdir()
    for name in ("userdel", "groupdel"):
        (tmp_path / "programs" / name).symlink_to("/bin/true")
    environment = os.environ | {"PATH": f"{tmp_path}/programs:{os.environ['PATH']}"}
    subprocess.run(
        ["sh", "-c", text, "postrm", "purge"], env=environment, check=True, timeout=PATIENCE
    )
    assert (victim / "precious").read_text() == "mine"
    assert not (tmp_path / "run" / "gidway").exists()
    assert not (tmp_path / "var" / "cache" / "gid-guest").exists()


def test_no_service_owns_a_folder_on_the_way() -> None:
    for paths in listed().values():
        for path in paths:
            if path.startswith("/"):
                check_above(path)


def test_that_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: gidd's own was the folder of all domains, in which root gave folders away."""
    with pytest.raises(AssertionError, match="belongs to gid"):
        check_above("/run/gidway/NAME/link/anything")
    monkeypatch.setitem(globals(), "tmpfiles", lambda: {"/run/gidway": "gidd"})
    with pytest.raises(AssertionError, match="/run/gidway belongs to gidd"):
        check_above("/run/gidway/NAME")
