# SPDX-License-Identifier: MIT
"""gid-cockpit with guests: it starts them, runs commands in them, and powers them off."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from gid_vm.folder import memory_folder
from gid_vm.guest import why_not
from gid_vm.libvirt import to_xml
from gid_vm.qemu import Machine
from lib import large_pages
from lib.program import BUILD, PATIENCE, wait_for

from lab.domains.configuration import configuration

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800),
]

CONFIG = configuration(
    {
        "open": "kind=guest window=16M vm-memory=512M vm-append=quiet",
        "cluster": "kind=guest window=4M vm-disk=/images/cluster,1.qcow2 vm-cpus=2 vm-accel=tcg "
        "vm-display=1280x480 vm-options=-device virtio-rng-pci",
        "host": "kind=host window=8M",
    },
    {"open host": "movie", "open cluster": "movie"},
    runtime="{runtime}",
)


# What the guests share is none of the host's business.
AMONG_THEMSELVES = configuration(
    {
        "host": "kind=host",
        "open": "kind=guest window=16M vm-memory=512M",
        "cluster": "kind=guest window=16M vm-memory=512M",
    },
    {"open cluster": "movie"},
    runtime="{runtime}",
)


class Tool:
    def __init__(self, config: str = CONFIG) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gid-", dir=memory_folder()))
        self.runtime = self.folder / "run"
        self.config = self.folder / "cockpit.conf"
        self.config.write_text(config.format(runtime=self.runtime))
        programs = [BUILD / "tools" / "gid-cockpit", BUILD / "gidd", BUILD / "tools" / "gidctl"]
        self.env = os.environ | {"PATH": ":".join([*map(str, programs), os.environ["PATH"]])}
        self.env.pop("GID_RUNTIME_DIR", None)

    def run(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = ["gid-cockpit", "--config", str(self.config), *words]
        return subprocess.run(
            command, env=self.env, cwd=cwd, capture_output=True, text=True, timeout=400
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = ["gid-cockpit", "--config", str(self.config), *words]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=self.env, stdout=pipe, stderr=pipe, text=True)

    def close(self) -> None:
        self.run("down")
        shutil.rmtree(self.folder)

    def host_status(self) -> str:
        env = self.env | {"GID_RUNTIME_DIR": str(self.runtime)}
        command = ["gidctl", "--domain", "host", "status", "--json"]
        return subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=PATIENCE
        ).stdout

    def arguments(self, domain: str, cwd: Path | None = None) -> list[str]:
        result = self.run("qemu-args", "--json", domain, cwd=cwd)
        assert result.returncode == 0, result.stderr
        return json.loads(steady(result.stdout))


@pytest.fixture(scope="module")
def tool() -> Iterator[Tool]:
    tool = Tool()
    yield tool
    tool.close()


@pytest.fixture
def work() -> Iterator[Path]:
    """Where somebody works; not below /dev, of which guests see nothing."""
    with tempfile.TemporaryDirectory(prefix="a cockpit ", dir="/var/tmp") as name:
        yield Path(name)


def steady(arguments: str) -> str:
    """Without the counter's rate, which is measured anew each time."""
    return re.sub(r"tsc_early_khz=\d+", "tsc_early_khz=1", arguments)


def after(arguments: list[str], option: str) -> list[str]:
    return [value for name, value in zip(arguments, arguments[1:], strict=False) if name == option]


def test_windows_are_writable_for_their_owner_alone(tool: Tool) -> None:
    for domain, others in (("open", {"cluster", "host"}), ("cluster", {"open"})):
        backends = [
            dict(pair.split("=", 1) for pair in words.split(",")[1:])
            for words in after(tool.arguments(domain), "-object")
        ]
        readonly = {(Path(b["mem-path"]).parent.name, b["readonly"] == "on") for b in backends}
        assert readonly == {(domain, False)} | {(other, True) for other in others}


def test_a_guest_with_a_disk_of_its_own(tool: Tool) -> None:
    arguments = tool.arguments("cluster")
    assert after(arguments, "-drive") == [
        "if=none,id=disk0,format=qcow2,file=/images/cluster,,1.qcow2"
    ]
    assert after(arguments, "-smp") == ["2"]
    assert "virtio-rng-pci" in after(arguments, "-device")
    assert "-kernel" not in arguments


def test_paths_begin_in_the_folder_of_the_file(work: Path) -> None:
    """Wherever gid-cockpit is started: QEMU has a folder of its own."""
    boots = "vm-disk=a.img /b.qcow2 vm-kernel=boot/linux vm-initrd=boot/initrd"
    keys = {"host": "kind=host", "open": f"kind=guest window=4M vm-accel=tcg {boots}"}
    config = configuration({**keys, "cluster": "kind=guest window=4M"}, {"open cluster": "movie"})
    tool = Tool(config)
    try:
        arguments = tool.arguments("open", cwd=work)
    finally:
        shutil.rmtree(tool.folder)
    disks = [words.rpartition("file=")[2] for words in after(arguments, "-drive")]
    assert disks == [f"{tool.folder}/a.img", "/b.qcow2"]
    assert after(arguments, "-kernel") == [f"{tool.folder}/boot/linux"]
    assert after(arguments, "-initrd") == [f"{tool.folder}/boot/initrd"]


def test_a_disk_is_what_its_name_says_whatever_the_guest_wrote_into_it(tmp_path: Path) -> None:
    disk = tmp_path / "disk.img"
    disk.write_bytes(b"QFI\xfb" + bytes(508))
    machine = Machine("open", disks=[disk])
    assert f"format=raw,file={disk}" in after(machine.arguments(), "-drive")[0]
    driver = ElementTree.fromstring(to_xml(machine)).find("devices/disk/driver")
    assert driver.get("type") == "raw"


def test_no_guest_is_lent_what_domains_share(tool: Tool) -> None:
    """A folder for run-time files in a clone would be read by every guest that is lent it."""
    runtime = tempfile.mkdtemp(prefix="run-", dir=BUILD)
    config = tool.folder / "lent.conf"
    config.write_text(CONFIG.format(runtime=runtime))
    try:
        result = tool.run("--config", str(config), "qemu-args", "open")
    finally:
        shutil.rmtree(runtime)
    assert result.returncode == 1
    assert f"runtime={runtime}: guests without vm-disk= can read" in result.stderr


def test_the_shell_has_the_same_arguments(tool: Tool) -> None:
    text = steady(tool.run("qemu-args", "open").stdout)
    words = subprocess.run(["sh", "-c", f"printf '%s\\n' {text}"], capture_output=True, text=True)
    assert words.stdout.splitlines() == tool.arguments("open")


def test_doorbells(tool: Tool) -> None:
    """One vector for each domain that may ring; none where the configuration says so."""
    for domain, vectors in (("open", 66), ("cluster", 65)):
        arguments = tool.arguments(domain)
        path = tool.runtime / "bell" / f"{domain}.sock"
        assert f"socket,id=doorbell,path={path}" in after(arguments, "-chardev")
        device = next(d for d in after(arguments, "-device") if d.startswith("ivshmem-doorbell"))
        assert f"vectors={vectors}," in device
        assert "intel-iommu,intremap=on" in after(arguments, "-device")
    text = tool.config.read_text()
    tool.config.write_text(text.replace("kind=host", "kind=host\ndoorbell=off"))
    try:
        assert not any("ivshmem-doorbell" in word for word in tool.arguments("open"))
    finally:
        tool.config.write_text(text)


def test_libvirt_has_the_same_machine(tool: Tool) -> None:
    domain = ElementTree.fromstring(tool.run("libvirt-xml", "open").stdout)
    arguments = tool.arguments("open")
    assert domain.findtext("name") == "open"
    assert domain.findtext("memory") == "512"
    assert domain.findtext("os/kernel") == after(arguments, "-kernel")[0]
    assert steady(domain.findtext("os/cmdline")) == after(arguments, "-append")[0]
    # A kernel that is not packed starts again when the machine wakes from S3.
    with open(domain.findtext("os/kernel"), "rb") as kernel:
        is_packed = kernel.read(4) != b"\x7fELF"
    assert ("ICH9-LPC.disable_s3=1" not in after(arguments, "-global")) == is_packed
    assert (domain.find("pm/suspend-to-mem") is None) == is_packed
    ports = {
        c.find("target").get("name"): c.find("source").get("path") for c in domain.iter("channel")
    }
    assert ports.keys() == {"org.gidway.link", "org.gidway.agent"}
    for path in ports.values():
        assert any(f"path={path}," in words for words in after(arguments, "-chardev"))
    qemu = "{http://libvirt.org/schemas/domain/qemu/1.0}"
    bell = next(
        s for s in domain.iter("shmem") if s.find("model").get("type") == "ivshmem-doorbell"
    )
    assert f"path={bell.find('server').get('path')}" in after(arguments, "-chardev")[-1]
    assert bell.find("msi").get("vectors") == "66"
    words = [arg.get("value") for arg in domain.iter(f"{qemu}arg")]
    assert after(words, "-object") == after(arguments, "-object")


def test_a_screen(tool: Tool) -> None:
    """Where the configuration has one, QEMU and libvirt have it, too."""
    arguments = tool.arguments("cluster")
    screen = tool.runtime / "cluster" / "screen.sock"
    assert "virtio-gpu-pci,id=display,xres=1280,yres=480" in after(arguments, "-device")
    assert after(arguments, "-vnc") == [f"unix:{screen}"]
    devices = ElementTree.fromstring(tool.run("libvirt-xml", "cluster").stdout).find("devices")
    assert devices.find("video/model").get("type") == "virtio"
    assert devices.find("video/model/resolution").attrib == {"x": "1280", "y": "480"}
    assert devices.find("graphics/listen").get("socket") == str(screen)
    assert not any("virtio-gpu" in word for word in tool.arguments("open"))
    for domain, reason in (
        ("open", "has no screen"),
        ("cluster", "the guest cluster does not run"),
    ):
        result = tool.run("screenshot", domain, str(tool.folder / "screen.png"))
        assert result.returncode == 1 and reason in result.stderr


def test_a_domain_that_is_no_guest_has_no_machine(tool: Tool) -> None:
    for command in (
        ("qemu-args", "host"),
        ("libvirt-xml", "host"),
        ("screenshot", "host", "x.png"),
    ):
        result = tool.run(*command)
        assert result.returncode == 1 and "kind=guest" in result.stderr


def test_guests_need_their_hub(tool: Tool) -> None:
    result = tool.run("up", "open")
    assert result.returncode == 1
    assert "the gidd of host does not run" in result.stderr
    assert re.search(r"gid-cockpit --config \S+ up host open$", result.stderr.strip())


def test_up_run_status_down(tool: Tool, work: Path) -> None:
    """And the guest sees the folder that it was started from: commands run there."""
    (work / "mine.conf").write_text("of the user")
    result = tool.run("up", "host", "open", cwd=work)
    assert result.returncode == 0, result.stderr
    assert "\nopen: booting, " in result.stdout
    # The very arguments that qemu-args tells of.
    status = {d["domain"]: d for d in json.loads(tool.run("status", "--json").stdout)}
    assert [status[name]["state"] for name in ("host", "open", "cluster")] == ["up", "up", "down"]
    command = Path(f"/proc/{status['open']['pid']}/cmdline").read_text()
    assert steady(command).split("\0")[:-1] == tool.arguments("open", work)
    said = Path(f"/proc/{status['open']['pid']}/status").read_text()
    assert "\nSeccomp:\t2\n" in said and "\nNoNewPrivs:\t1\n" in said
    links = status["open"]["links"]
    assert {(link["domain"], link["kind"], link["state"]) for link in links} == {
        ("host", "ivshmem", "up"),
        ("cluster", "ivshmem", "down"),
    }
    inside = tool.run("run", "open", "--", "sh", "-c", "hostname; echo wrong >&2; exit 7")
    # On a busy machine it is told that the guest is waited for.
    said = [line for line in inside.stderr.splitlines() if " does not answer yet: " not in line]
    assert (inside.stdout, said, inside.returncode) == ("open\n", ["wrong"], 7)
    inside = tool.run("run", "open", "sh", "-c", "pwd; cat mine.conf; echo x >new", cwd=work)
    assert inside.stdout == f"{work}\nof the user"
    assert "Read-only" in inside.stderr and not (work / "new").exists()
    # From elsewhere: there as well, which is said.
    elsewhere = tool.run("run", "open", "pwd", cwd=tool.folder)
    assert (elsewhere.stdout, elsewhere.returncode) == (f"{work}\n", 0)
    assert f"does not see the folder {tool.folder}: the command runs in {work}" in elsewhere.stderr
    if large_pages.are_there():
        assert large_pages.seen_by(status["open"]["pid"], "/window/open/") > 0
    assert "runs already" in tool.run("up", "open").stdout

    changed = tool.config.read_text().replace("[domain open]\n", "[domain open]\nslabs=9\n")
    tool.config.write_text(changed)
    # The guest cannot see it: the host tells, and what is refused in the guest says whom to ask.
    newer = f"{tool.config} is newer than what gidd read: gid-cockpit --config {tool.config} reload"
    assert f"{newer}\n" in tool.run("up", "open").stdout
    assert newer in tool.run("status", "open").stdout
    telltale = BUILD / "clients" / "gid-telltale"
    refused = tool.run("run", "open", "--", str(telltale), "--stream", "radar")
    assert "by the file as the host gave it (after a change: gid-cockpit reload): the c" in (
        refused.stderr
    )
    result = tool.run("reload")
    assert (result.returncode, result.stderr) == (0, "")
    assert "newer" not in tool.run("up", "open").stdout + tool.run("status", "open").stdout
    assert "open: has read it again\n" in result.stdout
    report = json.loads(tool.run("run", "open", "--", "gidctl", "--json", "status").stdout)
    assert {quota["name"]: quota["limit"] for quota in report["quotas"]}["slabs"] == 9

    def way() -> tuple[str, str]:
        links = json.loads(tool.host_status())["links"]
        link = next(link for link in links if link["domain"] == "open")
        return link["state"], link["doorbells"]["way"]

    # The guest's device is one of the hub that was there when it began.
    wait_for(lambda: way() == ("up", "device"), "doorbells by the device")
    for command in ("down", "up"):
        assert tool.run(command, "host").returncode == 0
    wait_for(lambda: way() == ("up", "link"), "doorbells over the link")

    program = tool.start("run", "open", "--", "sh", "-c", "echo begun; exec sleep 1000")
    assert program.stdout.readline() == "begun\n"
    result = tool.run("down")
    assert (result.returncode, result.stderr) == (0, "")
    assert "open: ended" in result.stdout
    assert program.communicate(timeout=PATIENCE) == (
        "",
        "gid-cockpit: the guest open has ended, and what ran in it\n",
    )
    assert program.returncode == 1
    wait_for(lambda: not Path(f"/proc/{status['open']['pid']}/exe").exists(), "QEMU to be gone")


@pytest.mark.at_length
def test_guests_that_share_only_among_themselves() -> None:
    """As under most hypervisors. tests/ivshmem has the same of domains that are processes."""
    tool = Tool(AMONG_THEMSELVES)
    try:
        result = tool.run("up")
        assert result.returncode == 0, result.stderr
        found = json.loads(tool.run("status", "--json").stdout)
        links = [(link["domain"], link["state"]) for one in found for link in one["links"]]
        assert links == [("cluster", "up"), ("open", "up")]
    finally:
        tool.close()


def lends(command: str, folder: Path) -> bool:
    return f"-virtfs 'local,path={folder},mount_tag=" in command


def test_what_is_no_folder_to_work_in(work: Path) -> None:
    """Where all domains' files are: they would be every guest's to read. Or one that is gone."""
    tool = Tool()
    try:
        assert lends(tool.run("qemu-args", "open", cwd=work).stdout, work)
        tool.config.write_text(CONFIG.format(runtime=work / "run"))
        result = tool.run("qemu-args", "open", cwd=work)
        assert result.returncode == 1 and f"guests without vm-disk= can read all of {work}" in (
            result.stderr
        )
        (work / "run" / "open").mkdir(parents=True)
        for inside in (work / "run", work / "run" / "open"):
            result = tool.run("qemu-args", "open", cwd=inside)
            assert result.returncode == 0, result.stderr
            assert not lends(result.stdout, inside)
        gone = work / "gone"
        gone.mkdir()
        script = (
            f"cd '{gone}' && rmdir '{gone}' && exec gid-cockpit -c {tool.config} qemu-args open"
        )
        result = subprocess.run(["sh", "-c", script], env=tool.env, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
    finally:
        tool.close()
