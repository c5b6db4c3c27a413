# SPDX-License-Identifier: MIT
"""The module of SELinux in a guest that enforces it, linked with all of Debian's: the daemons do
what they are for, and nothing of it is refused; what is not theirs is."""

import bz2
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from gid_vm.agent import Command, Result
from gid_vm.guest import Guest, why_not
from lib.program import BUILD, PATIENCE, TOP, wait_for

from lab.domains.configuration import configuration, section

MODULE = TOP / "packaging" / "policy" / "selinux"
DEVEL = Path("/usr/share/selinux/devel/Makefile")
DEBIAN_POLICY = Path("/usr/share/selinux/default")
PLACES = f"{os.environ['PATH']}:/usr/sbin:/sbin"
LINK = shutil.which("semodule_link", path=PLACES)
EXPAND = shutil.which("semodule_expand", path=PLACES)
VERSION = "33"  # of the policy: any kernel from 5.8 on takes it
BINARIES = [BUILD / name for name in ("gidd/gidd", "cluster/gid-cluster", "tools/gidctl/gidctl")]
LIBRARY = BUILD / "libgid" / "libgid.so.0"
CONFIG = configuration(
    dict.fromkeys(("open", "cluster"), ""), {"open cluster": "movie"}, "/run/gidway"
)
DISPLAY = section("display", "width=320 height=240")
DISPLAY += section("layer film", "domain=open stream=movie width=64 height=64")
LENT = "unlabeled_t"  # what the kernel takes files for that the host lends
OURS = ("gidd_t", "gid_cluster_t")
PROGRAMS = ("films_t", "viewers_t")
# A domain's programs, as somebody writes the policy of one. GStreamer is not what is tried here:
# they may do all else.
PROGRAM = """
type {type};
domain_type({type})
permissive {type};
type {type}_tmpfs;
files_tmpfs_file({type}_tmpfs)
fs_tmpfs_filetrans({type}, {type}_tmpfs, file)
allow {type} {type}_tmpfs:file {{ manage_file_perms map }};
gidway_client({type})
gidway_memory({type}_tmpfs)
role system_r types {type};
allow kernel_t {type}:process transition;
allow kernel_t {type}:process2 nosuid_transition;
"""
# Of the guest alone: who starts the daemons there, as systemd does elsewhere, is the kernel's first
# process; and libraries are the host's, which have no labels.
GUEST = """\
policy_module(gidway_guest, 1.0)
gen_require(`
	role system_r;
	type kernel_t, lent_t, gidd_t, gidd_exec_t, gid_cluster_t, gid_cluster_exec_t;
')
domtrans_pattern(kernel_t, gidd_exec_t, gidd_t)
domtrans_pattern(kernel_t, gid_cluster_exec_t, gid_cluster_t)
allow { gidd_t gid_cluster_t } lent_t:dir list_dir_perms;
allow { gidd_t gid_cluster_t } lent_t:file { mmap_exec_file_perms ioctl lock };
allow { gidd_t gid_cluster_t } lent_t:lnk_file read_lnk_file_perms;
"""
SETUP = """set -e
mount -t selinuxfs selinuxfs /sys/fs/selinux
echo 0 >/proc/sys/kernel/printk_ratelimit
for place in /usr/local /run/gidway /run/gid-cluster /etc/gidway; do
	mkdir -p $place
	mount -t tmpfs tmpfs $place
done
mkdir /usr/local/bin /usr/local/lib /etc/selinux
printf 'SELINUX=enforcing\nSELINUXTYPE=default\n' >/etc/selinux/config
cat >/run/policy
cp "$1" /usr/local/lib/
shift
cp "$@" /usr/local/bin/
dd if=/run/policy of=/sys/fs/selinux/load bs=64M iflag=fullblock 2>/dev/null
label() {
	type=$1
	shift
	chcon -h system_u:object_r:$type:s0 "$@"
}
label root_t /
label usr_t /usr/local
label bin_t /usr/local/bin /usr/local/bin/* /bin /sbin
label lib_t /usr/local/lib /usr/local/lib/* /lib /lib64
label etc_t /etc
find /etc -xdev -mindepth 1 -exec chcon -h system_u:object_r:etc_t:s0 {} +
label ld_so_cache_t /etc/ld.so.cache
label var_run_t /run
label gidd_exec_t /usr/local/bin/gidd
label gid_cluster_exec_t /usr/local/bin/gid-cluster
label gidway_etc_t /etc/gidway
label gidway_runtime_t /run/gidway /run/gid-cluster
label device_t /dev
label null_device_t /dev/null
label zero_device_t /dev/zero
label urandom_device_t /dev/urandom
"""

pytestmark = [
    pytest.mark.skipif(not DEVEL.exists(), reason="no selinux-policy-dev"),
    pytest.mark.skipif(not DEBIAN_POLICY.exists(), reason="no selinux-policy-default"),
    pytest.mark.skipif(None in (LINK, EXPAND), reason="no semodule-utils"),
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(900),
]


def run(folder: Path, *words: str | Path) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=10 * PATIENCE)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """All of Debian's modules, ours, and the guest's."""
    folder = tmp_path_factory.mktemp("policy") / "module"
    shutil.copytree(MODULE, folder)
    text = GUEST + "".join(PROGRAM.format(type=name) for name in PROGRAMS)
    (folder / "gidway_guest.te").write_text(text.replace("lent_t", LENT))
    run(folder, "make", "-f", DEVEL, "NAME=default", "gidway.pp", "gidway_guest.pp")
    names = []
    for path in sorted(DEBIAN_POLICY.glob("*.pp.bz2")):
        names.append(path.name.removesuffix(".bz2"))
        (folder / names[-1]).write_bytes(bz2.decompress(path.read_bytes()))
    names.remove("base.pp")
    run(folder, LINK, "-o", "linked", "base.pp", *names, "gidway.pp", "gidway_guest.pp")
    run(folder, EXPAND, "-a", "-c", VERSION, "linked", "policy")
    return (folder / "policy").read_bytes()


@pytest.fixture(scope="module")
def guest(policy: bytes) -> Iterator[Guest]:
    """Enforcing, with two gidds in it."""
    arguments = ["security=selinux", "selinux=1", "enforcing=0"]
    with Guest("selinux", memory_mib=1024, kernel_arguments=arguments) as guest:
        words = ["sh", "-c", SETUP, "setup", str(LIBRARY), *map(str, BINARIES)]
        result = guest.run(words, stdin=policy)
        assert result.code == 0, result.out + result.err
        for name, text in (("gidway", CONFIG), ("cluster", DISPLAY)):
            path = f"/etc/gidway/{name}.conf"
            script = f"cat >{path}; chcon system_u:object_r:gidway_etc_t:s0 {path}"
            assert guest.run(["sh", "-c", script], stdin=text.encode()).code == 0
        assert guest.run(["sh", "-c", "echo 1 >/sys/fs/selinux/enforce"]).code == 0
        for domain in ("open", "cluster"):
            start_in(guest, "gidd_t", "gidd", "-d", domain).wait_for("serving", PATIENCE)
        yield guest


def start_in(guest: Guest, label: str, *words: str, domain: str = "") -> Command:
    """A program under that type, of which all that it prints is one text."""
    command = ["runcon", f"system_u:system_r:{label}:s0", *words]
    script = ["sh", "-c", 'exec "$@" 2>&1', "sh", *command]
    places = {"GID_DOMAIN": domain, "GID_RUNTIME_DIR": "/run/gidway"}
    path = {"PATH": f"/usr/local/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": "/usr/local/lib"}
    is_ours = label in OURS
    return guest.start(script, env=path if is_ours else places)


def denied(guest: Guest, of: Sequence[str] = OURS) -> list[str]:
    """What was refused to those types, or would be: whom, what and of which type."""
    found = []
    for line in guest.run(["dmesg"]).out.splitlines():
        if match := re.search(
            r"avc:\s+denied\s+(\{.*?\}) .*?scontext=\w+:\w+:(\w+)\S* tcontext=\w+:\w+:(\w+)\S* "
            r"tclass=(\w+)",
            line,
        ):
            what, source, target, kind = match.groups()
            if source in of:
                found.append(f"{source} {target}:{kind} {what} {line[-300:]}")
    return found


def of_gidway(guest: Guest) -> list[str]:
    """What programs of domains would be refused of the daemons, and of each other."""
    found = []
    for line in denied(guest, PROGRAMS):
        source, target = line.replace(":", " ").split()[:2]
        is_of_other = target in PROGRAMS and target != source
        if is_of_other or target.startswith("gid"):
            found.append(line)
    return found


@pytest.fixture(scope="module")
def film(guest: Guest) -> Command:
    source = "videotestsrc is-live=true ! video/x-raw,width=64,height=64,format=BGRx"
    words = ["gst-launch-1.0", "-q", *f"{source} ! gidsink stream=movie".split()]
    return start_in(guest, "films_t", *words, domain="open")


def read(guest: Guest) -> Result:
    words = "gidsrc domain=open stream=movie num-buffers=10 ! fakesink".split()
    program = start_in(guest, "viewers_t", "gst-launch-1.0", "-q", *words, domain="cluster")
    return program.wait(PATIENCE * 10)


def test_frames_pass(guest: Guest, film: Command) -> None:
    assert guest.run(["cat", "/sys/fs/selinux/enforce"]).out.strip() == "1"
    labels = guest.run(["sh", "-c", "cat $(printf '/proc/%s/attr/current ' $(pidof gidd))"]).out
    assert re.findall(r"\w+_t", labels) == ["gidd_t", "gidd_t"]
    reader = read(guest)
    assert reader.code == 0, reader.out
    assert film.code is None
    assert denied(guest) == [] and of_gidway(guest) == []


def test_a_film_is_shown(guest: Guest, film: Command) -> None:
    """Without a screen."""
    words = ["--headless", "--domain", "cluster", "--config", "/etc/gidway/cluster.conf"]
    shows = start_in(guest, "gid_cluster_t", "gid-cluster", *words)
    shows.wait_for("ready, with", PATIENCE)
    told = ["/usr/local/bin/gidctl", "-d", "cluster", "top", "--once", "--json"]

    def shown() -> bool:
        said = guest.run(told, env={"LD_LIBRARY_PATH": "/usr/local/lib"})
        display = json.loads(said.out).get("display") if said.code == 0 else None
        return display is not None and display["layers"][0]["state"] == "live"

    wait_for(shown, "the film", pause=1)
    label = guest.run(["sh", "-c", "cat /proc/$(pidof gid-cluster)/attr/current"]).out
    assert "gid_cluster_t" in label
    assert (shows.code, film.code) == (None, None)
    assert denied(guest) == []


def test_what_is_not_its_own_is_refused(guest: Guest) -> None:
    """The same file, by the same program, which may read it where it is of gidway's."""
    path = "/root/other.conf"
    script = f"cp /etc/gidway/gidway.conf {path}; chcon system_u:object_r:user_home_t:s0 {path}"
    assert guest.run(["sh", "-c", script]).code == 0
    held = start_in(guest, "gidd_t", "gidd", "-c", path, "-d", "nobody").wait(PATIENCE)
    assert held.code != 0 and "nobody" not in held.out
    assert any("user_home_t" in line or "/root" in line for line in denied(guest))
