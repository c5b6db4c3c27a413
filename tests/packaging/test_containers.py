# SPDX-License-Identifier: MIT
"""The files to copy: packaging/containers."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.documents import read_document
from lib.program import TOP

FOLDER = TOP / "packaging" / "containers"
QUADLETS = FOLDER / "quadlets"
GENERATORS = (
    "/usr/libexec/podman/quadlet",
    "/usr/lib/systemd/system-generators/podman-system-generator",
)


class Unit:
    """A unit file: sections, keys, and all values of each."""

    def __init__(self, path: Path) -> None:
        lines = path.read_text().splitlines()
        self.sections = {line[1:-1] for line in lines if line.startswith("[")}
        self.values: dict[str, list[str]] = {}
        for line in lines:
            key, found, value = line.partition("=")
            if found and not line.startswith("#"):
                self.values.setdefault(key, []).append(value)


@pytest.mark.parametrize("name", sorted(path.name for path in QUADLETS.glob("*.container")))
def test_a_container_has_what_it_needs_and_no_more(name: str) -> None:
    unit = Unit(QUADLETS / name)
    assert unit.sections == {"Unit", "Container", "Service", "Install"}
    for key, value in {
        "ReadOnly": "true",
        "DropCapability": "all",
        "NoNewPrivileges": "true",
        "Network": "none",
    }.items():
        assert unit.values[key] == [value], key
    (domain,) = (word.removeprefix("GID_DOMAIN=") for word in unit.values["Environment"])
    place = f"/run/gidway/{domain}"
    shared = [word for word in unit.values["Volume"] if "/run/gidway" in word]
    assert shared == [f"{place}:{place}:ro"]
    assert f"--security-opt=mask={place}/link" in unit.values["PodmanArgs"]
    assert unit.values["After"] == [f"gidd@{domain}.service"]


def test_what_is_stopped_ends_at_once() -> None:
    """gst-launch-1.0 handles SIGINT alone: as a container's first process it heeds no other one."""
    for path in QUADLETS.glob("*.container"):
        unit = Unit(path)
        is_film = unit.values["Exec"][0].startswith("gst-launch-1.0 ")
        assert ("--stop-signal=SIGINT" in unit.values["PodmanArgs"]) == is_film


def test_users_are_those_of_the_sockets() -> None:
    """Each container has a user of its own, whose group gidd's socket is for."""
    lines = (QUADLETS / "gidway-containers.sysusers").read_text().splitlines()
    users = {line.split()[2]: line.split()[1] for line in lines if line.startswith("u ")}
    seen = set()
    for path in QUADLETS.glob("*.container"):
        unit = Unit(path)
        (number,) = unit.values["User"]
        assert unit.values["Group"] == [number]
        (domain,) = (word.removeprefix("GID_DOMAIN=") for word in unit.values["Environment"])
        drop_in = Unit(QUADLETS / f"gidd@{domain}.socket.conf")
        assert drop_in.values["SocketGroup"] == [users[number]]
        seen.add(number)
    assert seen == set(users)


def place_of(path: Path) -> str:
    """Where it is copied to, as its first lines say: a file, or the folder of several."""
    head = "".join(line for line in path.read_text().splitlines(True) if line.startswith("#"))
    found = re.search(r"[Ff]or (?:root: )?(/etc/[\w@./-]*\w)", head)
    assert found is not None, path
    return found[1] if Path(found[1]).suffix else f"{found[1]}/{path.name}"


def copies() -> Iterator[tuple[str, str]]:
    """Which file the page has people copy, and where to."""
    blocks = read_document(TOP / "docs" / "containers.md").blocks
    text = "".join(block.text for block in blocks if block.section == "By quadlets")
    for line in re.findall(r"^sudo install -D -m 644 (.*)$", text, re.MULTILINE):
        words = line.split()
        if words[0] == "-t":
            for path in (path for name in words[2:] for path in QUADLETS.glob(name)):
                yield path.name, f"{words[1]}/{path.name}"
        else:
            name, place = words
            yield name, place


def test_the_page_copies_them_to_their_places() -> None:
    assert dict(copies()) == {path.name: place_of(path) for path in QUADLETS.iterdir()}


def test_the_safety_display_has_where_to_write() -> None:
    """Its domain's folder is read-only: status and state are beside it, in a folder of its user."""
    unit = Unit(QUADLETS / "gidway-safety.container")
    (command,) = unit.values["Exec"]
    found = re.search(r" --status (/\S+)/status\.sock", command)
    assert found is not None
    assert f"{found[1]}:{found[1]}" in unit.values["Volume"]
    folders = (QUADLETS / "gidway-containers.tmpfiles").read_text().splitlines()
    assert f"d {found[1]} 0750 gid-safety gid-safety" in folders


def quadlets() -> dict[str, Unit]:
    """By the domain that each has."""
    units = [Unit(path) for path in QUADLETS.glob("*.container")]
    return {unit.values["Environment"][0].removeprefix("GID_DOMAIN="): unit for unit in units}


def volumes_of(unit: Unit) -> set[str]:
    """Of the host, as podman has them."""
    return {word for word in unit.values["Volume"] if word.startswith("/")}


def same_words(words: list[str]) -> list[str]:
    """An option and its value are two words, or one."""
    return " ".join(words).replace("=", " ").split()


def services() -> Iterator[tuple[str, dict]]:
    yaml = pytest.importorskip("yaml")
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    for service in compose["services"].values():
        (word,) = service["environment"]
        yield word.removeprefix("GID_DOMAIN="), service


def test_compose_has_what_the_quadlets_have() -> None:
    seen = {}
    for domain, service in services():
        unit = seen[domain] = quadlets()[domain]
        assert service["read_only"] is True and service["network_mode"] == "none"
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges"]
        assert service["image"] == unit.values["Image"][0]
        assert service["user"] == f"{unit.values['User'][0]}:{unit.values['Group'][0]}"
        command = service["command"]
        words = command if isinstance(command, list) else command.split()
        assert same_words(words) == same_words(unit.values["Exec"][0].split())
        nothing = f"/run/gidway-nothing:/run/gidway/{domain}/link:ro"
        assert set(service["volumes"]) == volumes_of(unit) | {nothing}
        assert f"{service['mem_limit']}".upper() == unit.values["MemoryMax"][0]
        assert str(service["pids_limit"]) == unit.values["TasksMax"][0]
        assert str(service["oom_score_adj"]) == unit.values["OOMScoreAdjust"][0]
        stops = "--stop-signal=SIGINT" in unit.values["PodmanArgs"]
        assert service.get("stop_signal") == ("SIGINT" if stops else None)
    assert seen.keys() == quadlets().keys()
    folders = (QUADLETS / "gidway-containers.tmpfiles").read_text().splitlines()
    assert "d /run/gidway-nothing 0555 root root" in folders


def documents() -> list[dict]:
    yaml = pytest.importorskip("yaml")
    return list(yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text()))


def test_pods_have_what_the_quadlets_have() -> None:
    seen = set()
    for pod in (document for document in documents() if document["kind"] == "Pod"):
        spec = pod["spec"]
        (container,) = spec["containers"]
        (environment,) = container["env"]
        domain = environment["value"]
        unit = quadlets()[domain]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert str(spec["securityContext"]["runAsUser"]) == unit.values["User"][0]
        assert str(spec["securityContext"]["runAsGroup"]) == unit.values["Group"][0]
        assert spec["automountServiceAccountToken"] is False
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["image"] == unit.values["Image"][0]
        assert same_words(container["args"]) == same_words(unit.values["Exec"][0].split())
        assert container["resources"]["limits"]["memory"] == f"{unit.values['MemoryMax'][0]}i"
        sources = {volume["name"]: volume for volume in spec["volumes"]}
        mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
        shared = {
            f"{sources[mount['name']]['hostPath']['path']}:{path}"
            + (":ro" if mount.get("readOnly") else "")
            for path, mount in mounts.items()
        }
        nothing = f"/run/gidway-nothing:/run/gidway/{domain}/link:ro"
        assert shared == volumes_of(unit) | {nothing}
        seen.add(domain)
    assert seen == quadlets().keys()


def test_no_pod_has_a_network() -> None:
    (policy,) = (one for one in documents() if one["kind"] == "NetworkPolicy")
    labels = policy["spec"]["podSelector"]["matchLabels"]
    pods = [one for one in documents() if one["kind"] == "Pod"]
    assert all(pod["metadata"]["labels"].items() >= labels.items() for pod in pods)
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert not policy["spec"].keys() & {"ingress", "egress"}


def test_images_are_those_that_are_built() -> None:
    built = set(re.findall(r" AS (\w+)$", (FOLDER / "Containerfile").read_text(), re.MULTILINE))
    for path in QUADLETS.glob("*.container"):
        (image,) = Unit(path).values["Image"]
        assert image.removeprefix("localhost/gidway-") in built


@pytest.fixture
def generated(tmp_path: Path) -> Path:
    """The services that podman's own generator makes of them."""
    generator = next(filter(shutil.which, GENERATORS), None)
    if generator is None:
        pytest.skip("there is no quadlet generator: it comes with podman 4.4")
    sources, services = tmp_path / "sources", tmp_path / "services"
    for folder in (sources, services):
        folder.mkdir()
    for path in QUADLETS.glob("gidway-*.[cv]o*"):
        shutil.copy(path, sources)
    result = subprocess.run(
        [generator, services, services, services],
        env={"QUADLET_UNIT_DIRS": str(sources)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return services


def test_quadlet_takes_them(generated: Path) -> None:
    names = {"gidway-safety.service", "gidway-qm.service", "gidway-qm-volume.service"}
    assert {path.name for path in generated.glob("*.service")} == names
    started = {path.name for path in (generated / "multi-user.target.wants").iterdir()}
    assert started == {"gidway-safety.service", "gidway-qm.service"}
    for name in started:
        text = (generated / name).read_text()
        assert " --read-only" in text and "no-new-privileges" in text


def verify(folder: Path) -> str:
    """What systemd says of the services in it."""
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no"]
    services = sorted(map(str, folder.glob("*.service")))
    return subprocess.run([*command, *services], capture_output=True, text=True).stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_takes_them(generated: Path) -> None:
    assert verify(generated) == ""
    service = generated / "gidway-qm.service"
    service.write_text(service.read_text().replace("MemoryMax=1G", "MemoryMax=1X"))
    assert "Invalid memory limit" in verify(generated)


def test_build_says_what_is_missing(tmp_path: Path) -> None:
    build = FOLDER / "build"
    result = subprocess.run([build, tmp_path], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == (
        f"build: {tmp_path} has no packages of gidway: ./run package makes them\n"
    )
    result = subprocess.run([build, "--nothing"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (
        2,
        "build: there is no option --nothing: build --help\n",
    )
    result = subprocess.run([build, "--from"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (2, "build: --from which image? build --help\n")
    result = subprocess.run([build, "--help"], capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.startswith("Usage: ")
