# SPDX-License-Identifier: MIT
"""The profiles of AppArmor compile, and refuse a daemon what is not its own, or its domain's; the
module of SELinux compiles."""

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_vm.agent import Command, Result
from gid_vm.guest import Guest, why_not
from lib.program import BUILD, PATIENCE, TOP, wait_for

from lab.domains.configuration import configuration, section

POLICY = TOP / "packaging" / "policy"
PROFILES = sorted(path for path in (POLICY / "apparmor").iterdir() if path.is_file())
OF_ANY_DOMAIN = POLICY / "apparmor" / "abstractions" / "gidd"
OF_ONE_DOMAIN = POLICY / "apparmor-domain" / "gidd-NAME"
PARSER = shutil.which("apparmor_parser", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
BINARIES = [BUILD / name for name in ("gidd/gidd", "tools/gidctl/gidctl", "cluster/gid-cluster")]
LIBRARY = BUILD / "libgid" / "libgid.so.0"
INSTALLED = {"LD_LIBRARY_PATH": "/usr/local/lib"}
DOMAINS = dict.fromkeys(("open", "cluster", "left", "right", "third"), "")
SHARES = {"open cluster": "movie", "left right": "movie"}
CONFIG = configuration(DOMAINS, SHARES, "/run/gidway")
DISPLAY = section("display", "width=320 height=240")
DISPLAY += section("layer film", "domain=open stream=movie width=64 height=64")
FORBIDDEN = "/root/forbidden.conf"
SETUP = f"""set -e
mount -t securityfs securityfs /sys/kernel/security
mount -t tmpfs tmpfs /usr/local
mkdir -p /usr/local/bin /usr/local/lib /run/gidway
cp "$1" /usr/local/lib/
shift
cp "$@" /usr/local/bin/
tar -xz -C /etc
cp /etc/gidway/gidway.conf {FORBIDDEN}
"""

MODULE = POLICY / "selinux"
DEVEL = Path("/usr/share/selinux/devel/Makefile")
# Of a program in a domain, as somebody writes one.
CLIENT = """\
policy_module(films, 1.0)
type films_t;
domain_type(films_t)
type films_tmpfs_t;
files_tmpfs_file(films_tmpfs_t)
gidway_client(films_t)
gidway_memory(films_tmpfs_t)
"""

needs_devel = pytest.mark.skipif(not DEVEL.exists(), reason="no selinux-policy-dev")
needs_parser = pytest.mark.skipif(PARSER is None, reason="no apparmor_parser (Debian: apparmor)")
needs_guest = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


def parse(profile: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(PARSER), "--skip-kernel-load", "--skip-cache", *options]
    command += ["--Include", str(POLICY / "apparmor"), str(profile)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


@needs_parser
@pytest.mark.parametrize("profile", [*PROFILES, OF_ONE_DOMAIN], ids=lambda path: path.name)
def test_each_compiles(profile: Path) -> None:
    result = parse(profile)
    assert result.returncode == 0, result.stderr
    assert "error" not in result.stderr.lower()


@pytest.mark.parametrize("profile", [OF_ANY_DOMAIN, OF_ONE_DOMAIN], ids=lambda path: path.name)
def test_windows_that_gidd_writes_it_can_lock(profile: Path) -> None:
    """In a guest they are PCI devices or dax, which these tests do not have. It locks what its
    programs use of them."""
    windows = r"^ +(\S*(?:resource2|/dev/dax|/window/)\S*) (\S*w\S*),$"
    rules = re.findall(windows, profile.read_text(), re.MULTILINE)
    assert rules != []
    assert [path for path, rights in rules if "k" not in rights] == []


@needs_parser
def test_a_mistake_is_found(tmp_path: Path) -> None:
    broken = tmp_path / "gidd"
    text = next(path for path in PROFILES if path.name == "gidd").read_text()
    broken.write_text(text.replace("@{run}/gidway/** rwk,", "@{run}/gidway/{** rwk,"))
    assert parse(broken).returncode != 0


def of_etc() -> bytes:
    """An archive of what the parser and the daemons read there. A guest has an /etc of its own."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as files:
        for name in ("abi", "abstractions", "tunables"):
            files.add(f"/etc/apparmor.d/{name}", f"apparmor.d/{name}")
        files.add(POLICY / "apparmor" / "abstractions", "apparmor.d/abstractions")
        texts = {"gidway/gidway.conf": CONFIG, "gidway/cluster.conf": DISPLAY}
        for name in ("left", "right"):
            text = OF_ONE_DOMAIN.read_text().replace("NAME", name)
            texts[f"apparmor.d/gidd-{name}"] = text
        for name, text in texts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            files.addfile(entry, io.BytesIO(text.encode()))
    return archive.getvalue()


@pytest.fixture(scope="module")
def guest() -> Iterator[Guest]:
    """Four daemons run in it: two under the profile, and two each under that of its domain."""
    with Guest("policy", memory_mib=768) as guest:
        setup = ["sh", "-c", SETUP, "setup", str(LIBRARY), *map(str, BINARIES)]
        result = guest.run(setup, stdin=of_etc())
        assert result.code == 0, result.err
        profiles = [*map(str, PROFILES), "/etc/apparmor.d/gidd-left", "/etc/apparmor.d/gidd-right"]
        loaded = guest.run([str(PARSER), "--skip-cache", "--replace", *profiles])
        assert loaded.code == 0, loaded.err
        for domain in ("open", "cluster"):
            daemon = guest.start(["sh", "-c", f"exec /usr/local/bin/gidd -d {domain} 2>&1"])
            daemon.wait_for("serving", PATIENCE)
        for domain in ("left", "right"):
            guest.start(under(f"gidd-{domain}", domain)).wait_for("serving", PATIENCE)
        yield guest


def under(profile: str, domain: str) -> list[str]:
    """The command that starts a daemon under that profile, as AppArmorProfile= of systemd does."""
    choose = f"echo exec {profile} >/proc/self/attr/exec"
    return ["sh", "-c", f"{choose} && exec /usr/local/bin/gidd -d {domain} 2>&1"]


def denied(guest: Guest) -> list[str]:
    return re.findall(r"apparmor=\"DENIED\".*", guest.run(["dmesg"]).out)


def send(guest: Guest, domain: str) -> Command:
    source = "videotestsrc is-live=true ! video/x-raw,width=64,height=64,format=BGRx"
    return guest.start(
        ["gst-launch-1.0", "-q", *f"{source} ! gidsink stream=movie".split()],
        env={"GID_DOMAIN": domain, "GID_RUNTIME_DIR": "/run/gidway"},
    )


def read(guest: Guest, owner: str, domain: str) -> Result:
    return guest.run(
        ["gst-launch-1.0", "-q", *f"gidsrc domain={owner} stream=movie num-buffers=10".split()]
        + ["!", "fakesink"],
        env={"GID_DOMAIN": domain, "GID_RUNTIME_DIR": "/run/gidway"},
    )


@pytest.fixture(scope="module")
def film(guest: Guest) -> Command:
    return send(guest, "open")


@needs_parser
@needs_guest
@pytest.mark.timeout(600)
def test_frames_pass_under_the_profile(guest: Guest, film: Command) -> None:
    labels = guest.run(["sh", "-c", "cat $(printf '/proc/%s/attr/current ' $(pidof gidd))"]).out
    profiles = ("gidd", "gidd", "gidd-left", "gidd-right")
    assert sorted(labels.splitlines()) == [f"{profile} (enforce)" for profile in profiles]
    reader = read(guest, "open", "cluster")
    assert reader.code == 0, reader.err
    assert film.code is None
    assert denied(guest) == []


@needs_parser
@needs_guest
@pytest.mark.timeout(600)
def test_frames_pass_under_profiles_of_one_domain_each(guest: Guest) -> None:
    film = send(guest, "left")
    reader = read(guest, "left", "right")
    assert reader.code == 0, reader.err
    assert film.code is None
    assert denied(guest) == []


@needs_parser
@needs_guest
@pytest.mark.timeout(600)
def test_a_film_is_shown_under_the_profile(guest: Guest, film: Command) -> None:
    """Without a screen; who asks how it is does so under a profile, too."""
    config = "/etc/gidway/cluster.conf"
    words = ["gid-cluster", "--headless", "--domain", "cluster", "--config", config]
    command = ["sh", "-c", f"exec /usr/local/bin/{' '.join(words)} 2>&1"]
    display = guest.start(command, env=INSTALLED)
    display.wait_for("ready, with", PATIENCE)

    def shown() -> bool:
        words = ["/usr/local/bin/gidctl", "-d", "cluster", "top", "--once", "--json"]
        told = guest.run(words, env=INSTALLED)
        return told.code == 0 and json.loads(told.out)["display"]["layers"][0]["state"] == "live"

    wait_for(shown, "the film")
    label = guest.run(["sh", "-c", "cat /proc/$(pidof gid-cluster)/attr/current"]).out
    assert label.strip() == "gid-cluster (enforce)"
    assert (display.code, film.code) == (None, None)
    assert denied(guest) == []


@needs_parser
@needs_guest
@pytest.mark.timeout(600)
def test_what_is_not_its_own_is_refused(guest: Guest) -> None:
    """The same daemon reads that file where no profile holds it: as a copy with another name."""
    words = ["-c", FORBIDDEN, "-d", "nobody"]
    held = guest.run(["/usr/local/bin/gidd", *words])
    assert held.code != 0
    assert any(f'name="{FORBIDDEN}"' in line for line in denied(guest))
    assert guest.run(["cp", "/usr/local/bin/gidd", "/usr/local/bin/free"]).code == 0
    before = denied(guest)
    free = guest.run(["/usr/local/bin/free", *words])
    assert "nobody" in free.err
    assert denied(guest) == before


@needs_parser
@needs_guest
@pytest.mark.timeout(600)
def test_a_daemon_is_kept_out_of_other_domains(guest: Guest) -> None:
    """Under the profile of one domain it cannot serve another, which any gidd's lets it do."""
    kept_out = guest.run(under("gidd-left", "third"))
    assert kept_out.code != 0
    assert any('profile="gidd-left"' in line for line in denied(guest))
    before = denied(guest)
    guest.start(under("gidd", "third")).wait_for("serving", PATIENCE)
    assert denied(guest) == before


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A copy of the sources, beside a program's own."""
    folder = tmp_path / "module"
    shutil.copytree(MODULE, folder)
    (folder / "films.te").write_text(CLIENT)
    return folder


def compiled(folder: Path) -> subprocess.CompletedProcess[str]:
    command = ["make", "-f", DEVEL, "NAME=default", "gidway.pp", "films.pp"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)


@needs_devel
def test_the_module_compiles(module: Path) -> None:
    result = compiled(module)
    assert result.returncode == 0, result.stdout + result.stderr
    assert (module / "gidway.pp").exists() and (module / "films.pp").exists()


@needs_devel
def test_a_mistake_in_the_module_is_found(module: Path) -> None:
    source = module / "gidway.te"
    source.write_text(source.read_text().replace("type gidd_tmpfs_t,", "type gidd_tmpf_t,"))
    assert compiled(module).returncode != 0
