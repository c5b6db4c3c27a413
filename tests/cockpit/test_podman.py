# SPDX-License-Identifier: MIT
"""Containers that run, where podman can: of an image of folders alone, to which /usr is lent."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import lib.cockpit
import pytest
from container import Cockpit
from gid_cockpit.configuration import read
from gid_cockpit.daemon import Daemon
from lib.program import BUILD, PATIENCE, TOP, wait_for

from lab.domains.contained import archive, has_groups

IMAGE = "localhost/gidway-test-folders"
FILES = TOP / "packaging" / "containers"
# What a container is lent beside its domain's folder, under the same path.
LENT = sorted({Path("/usr"), TOP} | (set() if BUILD.is_relative_to(TOP) else {BUILD}))
LOOK = """\
ls -A /run/gidway "/run/gidway/$GID_DOMAIN/link"
touch /x 2>/dev/null || touch "/run/gidway/$GID_DOMAIN/x" 2>/dev/null || echo read-only
sed -n 's/^CapEff:[[:space:]]*//p; s/^NoNewPrivs:[[:space:]]*//p' /proc/self/status
"""
DOES = {
    "open": f"'{BUILD}/examples/produce' movie",
    "cluster": f"'{BUILD}/examples/consume' -d open movie 5; echo status $?; sleep infinity",
}


@pytest.fixture(scope="module")
def podman() -> Iterator[str]:
    """A podman that works here."""
    program = shutil.which("podman")
    if program is None:
        pytest.skip("there is no podman")
    words = [program, "import", "-", IMAGE]
    done = subprocess.run(words, input=archive(), capture_output=True, timeout=PATIENCE)
    if done.returncode == 0:
        words = [program, "run", "--rm", "--network=none", "--read-only", "--volume=/usr:/usr:ro"]
        words += [IMAGE, "true"]
        done = subprocess.run(words, capture_output=True, timeout=PATIENCE)
    if done.returncode != 0:
        pytest.skip(f"podman does not work here: {done.stderr.decode(errors='replace').strip()}")
    yield program
    subprocess.run([program, "rmi", "--force", IMAGE], capture_output=True)


class Real(Cockpit):
    def __init__(self, podman: str) -> None:
        super().__init__()
        self.podman = podman
        self.keys("sleep infinity")

    def keys(self, command: str, options: str = "") -> None:
        """What is built is lent to it, too. No option has a `=`, as keys have."""
        for place in {TOP} if BUILD.is_relative_to(TOP) else {TOP, BUILD}:
            options += f" --volume '{place}:{place}:ro'"
        user = "user=root" if os.geteuid() == 0 else ""
        self.set_keys(
            f"container-image={IMAGE} container-command={command} "
            f"container-options=--volume /usr:/usr:ro {options} {user}"
        )

    def yes_runs(self) -> bool:
        script = "grep -lx yes /proc/[0-9]*/comm"
        return self.run("run", "open", "--", "sh", "-c", script).stdout != ""


@pytest.fixture
def real(podman: str) -> Iterator[Real]:
    real = Real(podman)
    yield real
    real.run("down")
    shutil.rmtree(real.folder)


def test_it_is_the_domain_and_sees_no_other(real: Real) -> None:
    result = real.run("up")
    assert (result.returncode, result.stderr) == (0, "")
    assert [domain["state"] for domain in real.status().values()] == ["up", "up"]
    script = (
        "ls /run/gidway; ls /run/gidway/open/link; touch /run/gidway/open/x || echo read-only; "
        "touch /x || echo read-only; sed -n 's/^CapEff:[[:space:]]*//p; "
        "s/^NoNewPrivs:[[:space:]]*//p' /proc/self/status; ls /sys/class/net; echo $GID_DOMAIN"
    )
    result = real.run("run", "open", "--", "sh", "-c", script)
    assert result.stdout.split() == [
        "open",
        "read-only",
        "read-only",
        "0000000000000000",
        "1",
        "lo",
        "open",
    ]
    # gidd answers it, and knows it by its number on the host.
    gidctl = BUILD / "tools" / "gidctl" / "gidctl"
    result = real.run("run", "open", "--", str(gidctl), "--json", "status")
    assert json.loads(result.stdout)["domain"] == "open"
    assert f"uid {os.geteuid()}): connected" in real.run("logs", "open").stdout


def test_exit_status(real: Real) -> None:
    real.run("up", "open")
    assert real.run("run", "open", "--", "sh", "-c", "exit 7").returncode == 7


def test_signals_reach_the_command(real: Real) -> None:
    real.run("up", "open")
    script = "trap 'echo got; exit 3' TERM; echo ready; sleep 60 & wait"
    words = ["gid-cockpit", "--config", str(real.config), "run", "open", "--", "sh", "-c", script]
    with subprocess.Popen(words, env=real.env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == "got\n"
        assert process.wait(PATIENCE) == 3


def test_nobody_reads_its_output(real: Real) -> None:
    """Then it ends, as it would here: podman alone would leave it running."""
    real.run("up", "open")
    words = ["gid-cockpit", "--config", str(real.config), "run", "open", "yes"]
    with subprocess.Popen(words, env=real.env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"y\n"
        process.stdout.close()
        process.wait(PATIENCE)
    wait_for(lambda: not real.yes_runs(), "the command has ended")


def test_it_ends_and_is_started_again(real: Real) -> None:
    real.run("up")
    subprocess.run([real.podman, "kill", real.name], check=True, capture_output=True)
    wait_for(lambda: real.status()["open"]["state"] == "bad", "the container has ended")
    domain = real.status()["open"]
    assert "its container has ended (exit status 137)" in domain["why"]
    assert [link["state"] for link in domain["links"]] == ["up"]  # which is gidd's
    assert "open: started" in real.run("up").stdout
    assert real.status()["open"]["pid"] == domain["pid"]


def test_a_gidd_that_begins_anew_is_found(real: Real, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the container that goes on. Its socket is another one, in the same folder."""
    real.run("up")
    words = [real.podman, "inspect", "--format={{.Id}}", real.name]
    before = subprocess.run(words, check=True, capture_output=True).stdout
    os.kill(real.status()["open"]["pid"], signal.SIGKILL)
    wait_for(lambda: real.status()["open"]["pid"] is None, "the end of gidd")
    monkeypatch.setenv("PATH", real.env["PATH"])
    configuration = read(real.config)
    Daemon(configuration, configuration.choose(["open"])[0]).start()
    assert subprocess.run(words, check=True, capture_output=True).stdout == before
    gidctl = BUILD / "tools" / "gidctl" / "gidctl"
    result = real.run("run", "open", "--", str(gidctl), "--json", "status")
    assert json.loads(result.stdout)["domain"] == "open"


def test_an_image_that_is_not_there(real: Real) -> None:
    user = "user=root" if os.geteuid() == 0 else ""
    real.set_keys(f"container-image=localhost/gidway-none {user}")
    result = real.run("up", "open")
    assert result.returncode == 1
    # It may warn before, as of control groups of version 1.
    said = result.stderr.partition("podman does not start domain open:\n")[2]
    assert re.search(r"^Error: .*image not known", said, re.MULTILINE), result.stderr
    assert not (real.runtime / "open" / "gidd.sock").exists()


def test_a_foreign_user(podman: str, real: Real) -> None:
    """One of the image's own, as images have, is nobody to gidd."""
    if os.geteuid() == 0:
        pytest.skip("root's podman has no foreign users")
    words = [podman, "unshare", "cat", "/proc/self/uid_map"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    if [line.split()[2] for line in done.stdout.splitlines()] == ["1"]:
        pytest.skip("podman has a number for one user alone here: see subuid(5)")
    real.keys("sleep infinity", "--user 1000")
    result = real.run("up", "open")
    assert (result.returncode, result.stderr) == (0, "")
    gidctl = BUILD / "tools" / "gidctl" / "gidctl"
    result = real.run("run", "open", "--", str(gidctl), "status")
    assert result.returncode != 0
    assert "no access to domain 'open'" in result.stderr


def test_all_that_it_writes_is_in_the_log(real: Real) -> None:
    real.keys("sh -c 'echo to one; echo to other >&2; exec sleep infinity'")
    assert real.run("up", "open").returncode == 0
    wait_for(lambda: "to other" in real.run("logs", "open").stdout, "what it wrote is there")
    assert "to one" in real.run("logs", "open").stdout


def test_frames_cross_without_dev_shm(podman: str, real: Real) -> None:
    """However small it is: memory is passed by descriptors."""
    real.keys("sleep infinity", "--shm-size 1k")
    assert real.run("up").returncode == 0
    produce, consume = (str(BUILD / "examples" / name) for name in ("produce", "consume"))
    subprocess.run([podman, "exec", "--detach", real.name, produce, "movie"], check=True)
    result = subprocess.run(
        [consume, "-d", "open", "movie", "5"],
        env=real.env | {"GID_DOMAIN": "cluster", "GID_RUNTIME_DIR": str(real.runtime)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert result.returncode == 0, result.stderr


def told(podman: str, container: str) -> str:
    words = [podman, "logs", container]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    return done.stdout + done.stderr


def see_frames_cross(podman: str, containers: dict[str, str]) -> None:
    """Whose programs are the tests': what each sees, and that one has frames of the other."""
    reader = containers["cluster"]
    wait_for(
        lambda: "status 0" in told(podman, reader),
        lambda: f"frames of the other container: {told(podman, reader)}",
        pause=1,
    )
    for domain, container in containers.items():
        lines = told(podman, container).splitlines()
        head = ["/run/gidway:", domain, "", f"/run/gidway/{domain}/link:", "read-only"]
        assert lines[:7] == [*head, "0000000000000000", "1"]


@pytest.fixture
def domains() -> Iterator[lib.cockpit.Cockpit]:
    """Two of this machine, whose gidds run, and the file of a display."""
    cockpit = lib.cockpit.Cockpit()
    try:
        cockpit.start_all()
        for name in ("nothing", "status"):
            (cockpit.folder / name).mkdir()
        (cockpit.folder / "cluster.conf").write_text("")
        yield cockpit
    finally:
        cockpit.close()


def place_here(cockpit: lib.cockpit.Cockpit, path: str) -> str:
    """What is lent of the host, as the test has it."""
    places = {
        "/etc/gidway/cluster.conf": str(cockpit.folder / "cluster.conf"),
        "/run/gid-cluster/cluster": str(cockpit.folder / "status"),
        "/run/gidway-nothing": str(cockpit.folder / "nothing"),
    }
    return places.get(path) or path.replace("/run/gidway", str(cockpit.runtime))


def lend(pod: dict, cockpit: lib.cockpit.Cockpit) -> str:
    """Makes it one of the test's image, of this user, and what it runs: its domain's name."""
    spec = pod["spec"]
    (container,) = spec["containers"]
    domain = container["env"][0]["value"]
    container |= {"image": IMAGE, "command": ["sh", "-c", LOOK + DOES[domain]]}
    del container["args"]
    for name in ("runAsNonRoot", "runAsUser", "runAsGroup"):
        del spec["securityContext"][name]
    if not has_groups():
        del container["resources"]
    for volume in spec["volumes"]:
        volume["hostPath"]["path"] = place_here(cockpit, volume["hostPath"]["path"])
    for number, place in enumerate(LENT):
        name = f"lent{number}"
        spec["volumes"].append({"name": name, "hostPath": {"path": str(place)}})
        mount = {"name": name, "mountPath": str(place), "readOnly": True}
        container["volumeMounts"].append(mount)
    pod["metadata"]["name"] += f"-{os.getpid()}"
    return domain


def test_pods(podman: str, domains: lib.cockpit.Cockpit, tmp_path: Path) -> None:
    """Those for Kubernetes, by podman."""
    yaml = pytest.importorskip("yaml")
    documents = yaml.safe_load_all((FILES / "kubernetes.yaml").read_text())
    pods = [document for document in documents if document["kind"] == "Pod"]
    containers = {}
    for pod in pods:
        domain = lend(pod, domains)
        containers[domain] = f"{pod['metadata']['name']}-{pod['spec']['containers'][0]['name']}"
    file = tmp_path / "pods.yaml"
    file.write_text("\n---\n".join(map(json.dumps, pods)))
    play = [podman, "kube", "play", "--network=none", "--log-driver=k8s-file", str(file)]
    try:
        done = subprocess.run(play, capture_output=True, text=True, timeout=PATIENCE)
        if "finding pause binary" in done.stderr:
            pytest.skip("podman has no catatonit, which is each pod's first process")
        assert done.returncode == 0, done.stderr
        see_frames_cross(podman, containers)
    finally:
        names = [pod["metadata"]["name"] for pod in pods]
        words = [podman, "pod", "rm", "--force", "--ignore", "--time=0", *names]
        subprocess.run(words, capture_output=True, timeout=PATIENCE)


def test_compose(podman: str, domains: lib.cockpit.Cockpit, tmp_path: Path) -> None:
    """The services, by podman-compose."""
    yaml = pytest.importorskip("yaml")
    compose = shutil.which("podman-compose")
    if compose is None:
        pytest.skip("there is no podman-compose")
    found = yaml.safe_load((FILES / "compose.yaml").read_text())
    found["name"] = f"gidway-test-{os.getpid()}"
    containers = {}
    for name, service in found["services"].items():
        domain = service["environment"][0].removeprefix("GID_DOMAIN=")
        containers[domain] = service["container_name"] = f"{found['name']}-{name}"
        service |= {
            "image": IMAGE,
            "command": ["sh", "-c", (LOOK + DOES[domain]).replace("$", "$$")],
        }
        del service["user"]
        for key in () if has_groups() else ("mem_limit", "cpu_shares", "pids_limit"):
            del service[key]
        parts = [word.partition(":") for word in service["volumes"]]
        service["volumes"] = [f"{place_here(domains, path)}:{rest}" for path, _, rest in parts]
        service["volumes"] += [f"{place}:{place}:ro" for place in LENT]
    file = tmp_path / "compose.yaml"
    file.write_text(json.dumps(found))
    words = [compose, "--podman-path", podman, "--file", str(file)]
    log = tmp_path / "log"
    try:
        with log.open("w") as file:  # what stays of podman has it open, too
            done = subprocess.run(
                [*words, "up", "--detach"], stdout=file, stderr=file, timeout=PATIENCE
            )
        assert done.returncode == 0, log.read_text()
        see_frames_cross(podman, containers)
    finally:
        down = [*words, "down", "--timeout=0"]
        subprocess.run(down, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
