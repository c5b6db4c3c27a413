# SPDX-License-Identifier: MIT
"""What gid-cockpit has podman do, and what it says of that: with a podman that only takes notes."""

import json
import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from container import Cockpit
from gid_cockpit import container
from gid_cockpit.configuration import CockpitError, read
from lib.program import PATIENCE, wait_for

from lab.domains.configuration import configuration

PROGRAMS = ("gid-cockpit", "gidd", "gidctl")

FAKE = """\
#!{python} -IS
import json, os, re, sys
folder = os.path.dirname(os.path.abspath(__file__))
def read(name):
    try:
        return open(os.path.join(folder, name)).read()
    except FileNotFoundError:
        return ""
with open(os.path.join(folder, "calls"), "a") as calls:
    print(json.dumps(sys.argv[1:]), file=calls)
def passes(one, word):
    kind, _, what = word.removeprefix("--filter=").partition("=")
    key, _, value = what.partition("=")
    if kind == "name":
        return re.search(what, one["Names"][0])
    return one["Labels"].get(key) in ([value] if value else one["Labels"].values())
if sys.argv[1] == "ps":
    filters = [word for word in sys.argv if word.startswith("--filter=")]
    known = json.loads(read("ps") or "[]")
    print(json.dumps([one for one in known if all(passes(one, word) for word in filters)]))
    sys.exit(read("broken") or 0)
elif sys.argv[1] == "run" and read("fault"):
    sys.exit("Error: " + read("fault"))
elif sys.argv[1] == "run" and read("started"):
    os.rename(os.path.join(folder, "started"), os.path.join(folder, "ps"))
elif sys.argv[1] == "rm" and read("stuck"):
    sys.exit("Error: " + read("stuck"))
elif sys.argv[1] == "exec":
    exec(read("exec"))
"""


class Fake(Cockpit):
    def __init__(self) -> None:
        super().__init__()
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        program = self.bin / "podman"
        program.write_text(FAKE.format(python=sys.executable))
        program.chmod(0o755)
        self.env["PATH"] = f"{self.bin}:{self.env['PATH']}"

    def calls(self, command: str) -> list[list[str]]:
        lines = (self.bin / "calls").read_text().splitlines()
        return [words[1:] for words in map(json.loads, lines) if words[0] == command]

    def container(self, when: str = "ps", **keys: object) -> None:
        """What podman ps tells of from now on, or of when it is `started`."""
        found = {"State": "running", "Pid": 1, "ExitCode": 0, "Names": [self.name]}
        found["Labels"] = {container.LABEL: str(self.runtime / "open")}
        (self.bin / when).write_text(json.dumps([found | keys]))


@pytest.fixture
def fake() -> Iterator[Fake]:
    fake = Fake()
    yield fake
    fake.run("down")
    shutil.rmtree(fake.folder)


def words_of(fake: Fake) -> list[str]:
    result = fake.run("podman-args", "--json", "open")
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)[1:]


def test_the_command_line(fake: Fake) -> None:
    """It sees the socket of its own domain, and has no right that it does not need."""
    fake.set_keys("container-image=films:1\ncontainer-command=play 'a b' c\n")
    words = words_of(fake)
    assert words[-4:] == ["films:1", "play", "a b", "c"]
    options = words[:-4]
    for option in (
        "run",
        f"--name={fake.name}",
        "--pull=never",
        "--read-only",
        "--cap-drop=all",
        "--security-opt=no-new-privileges",
        "--security-opt=mask=/run/gidway/open/link",
        "--network=none",
        "--env=GID_DOMAIN=open",
        f"--volume={fake.runtime}/open:/run/gidway/open:ro",
    ):
        assert options.count(option) == 1, option
    assert sum(option.startswith("--volume") for option in options) == 1
    assert not any(option.startswith("--user") for option in options) or os.geteuid() == 0


def test_options_come_last(fake: Fake) -> None:
    """Podman takes the last of two, but of networks, which it joins all."""
    fake.set_keys("container-image=x\ncontainer-options=--network net1 --cap-add all\n")
    words = words_of(fake)
    assert words[-5:] == ["--network", "net1", "--cap-add", "all", "x"]
    assert "--network=none" not in words


def values(unit: str, key: str) -> list[list[str]]:
    """Of each line of that key its words, as systemd and podman's generator take them."""
    found = []
    for line in re.findall(rf"^{key}=(.*)$", unit, re.MULTILINE):
        words = re.findall(r'"([^"]*)"|([^" ]+)', line)
        plain = [quoted or bare for quoted, bare in words]
        plain = [re.sub(r"\\x(..)", lambda code: chr(int(code[1], 16)), word) for word in plain]
        found.append([word.replace("%%", "%").replace("$$", "$") for word in plain])
    return found


ODD = """a 'b "c d\\e' 100% '$HOME' é"""
ODD_WORDS = ["a", 'b "c d\\e', "100%", "$HOME", "é"]
ODD_KEYS = f"container-image=films:1\ncontainer-command={ODD}\ncontainer-options=--memory 1g\n"


def test_podmans_generator_takes_it(fake: Fake) -> None:
    generator = shutil.which("/usr/lib/systemd/system-generators/podman-system-generator")
    if generator is None:
        pytest.skip("there is no quadlet generator: it comes with podman 4.4")
    fake.set_keys(ODD_KEYS)
    unit = fake.folder / "gidway-open.container"
    unit.write_text(fake.run("quadlet", "open", "nobody").stdout)
    subprocess.run(
        [generator, *3 * [fake.folder]],
        env={"QUADLET_UNIT_DIRS": str(fake.folder)},
        check=True,
    )
    service = (fake.folder / "gidway-open.service").read_text()
    (command,) = re.findall("^ExecStart=(.*)$", service, re.MULTILINE)
    words = [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(command)]
    assert words[-6:] == ["films:1", *ODD_WORDS]
    assert {"--read-only", "--network=none", "--cap-drop=all"} < set(words)


def test_a_quadlet_has_the_same_options(fake: Fake) -> None:
    """As which user its programs run is said besides: by root's systemd."""
    fake.set_keys(ODD_KEYS)
    words = words_of(fake)
    assert words[-6:] == ["films:1", *ODD_WORDS]
    nobody = pwd.getpwnam("nobody")
    for name in ("nobody", str(nobody.pw_uid)):
        result = fake.run("quadlet", "open", name)
        assert (result.returncode, result.stderr) == (0, "")
        unit = result.stdout
        assert values(unit, "Exec") == [ODD_WORDS]
        assert values(unit, "Image") == [["films:1"]]
        options = [word for (word,) in values(unit, "PodmanArgs")]
        user = f"--user={nobody.pw_uid}:{nobody.pw_gid}"
        assert options.count(user) == 1
        options.remove(user)
        assert options == words[words.index("--hostname=open") : -6]
        assert re.search(r"^# SocketGroup=\S+$", unit, re.MULTILINE)
        assert values(unit, "After") == [["gidd@open.service"]]
        assert values(unit, "SuccessExitStatus") == [["143"]]  # 128 + SIGTERM, of who is stopped


def test_a_quadlet_is_for_services(fake: Fake) -> None:
    """They have nothing of the environment of the shell in which it is written."""
    fake.set_keys("container-image=films:1\n")
    written = fake.run("quadlet", "open", "nobody").stdout
    assert f"--volume={fake.runtime}/open:/run/gidway/open:ro" in written
    fake.env["GID_RUNTIME_DIR"] = "/run/user/1000/gidway"
    assert fake.run("quadlet", "open", "nobody").stdout == written
    del fake.env["GID_RUNTIME_DIR"]


def test_no_quadlet(fake: Fake) -> None:
    for domain, user, why in (
        ("cluster", "nobody", "domain cluster is not a container: it has no kind=container"),
        ("open", "nosuchuser", "nosuchuser: there is no such user"),
        ("open", "0", "0: its programs would be the machine's root: name another user"),
    ):
        result = fake.run("quadlet", domain, user)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == f"gid-cockpit: {why}\n"
    fake.set_keys("container-image=films:1\ncontainer-command=a '' b\n")
    assert "takes an empty word for the end" in fake.run("quadlet", "open", "nobody").stderr
    fake.set_keys("container-image=films:1\n")
    assert values(fake.run("quadlet", "open", "nobody").stdout, "Exec") == []


def test_a_quote_without_its_end(fake: Fake) -> None:
    fake.set_keys("container-image=x\ncontainer-command=it's\n")
    result = fake.run("podman-args", "open")
    assert result.returncode == 1
    assert "container-command= of domain open: No closing quotation" in result.stderr


def test_of_a_domain_that_is_none(fake: Fake) -> None:
    result = fake.run("podman-args", "cluster")
    assert (result.returncode, result.stdout) == (1, "")
    assert "domain cluster is not a container: it has no kind=container" in result.stderr
    result = fake.run("run", "cluster", "true")
    assert "domain cluster is neither a guest nor a container" in result.stderr


def test_without_podman(fake: Fake, tmp_path: Path) -> None:
    """Nothing is started; the domains that are no containers are none the worse."""
    for name in ("python3", "setpriv", "sh"):
        if (found := shutil.which(name)) is not None:
            (tmp_path / name).symlink_to(found)
    programs = [Path(shutil.which(name, path=fake.env["PATH"]) or "") for name in PROGRAMS]
    fake.env["PATH"] = ":".join(map(str, [*(path.parent for path in programs), tmp_path]))
    result = fake.run("up", "open")
    assert result.returncode == 1
    assert result.stderr == (
        "gid-cockpit: domain open is a container, and podman, which runs those, is not in $PATH: "
        "install podman\n"
    )
    assert not (fake.runtime / "open" / "gidd.sock").exists()
    assert fake.run("up", "cluster").returncode == 0
    result = fake.run("down")
    assert (result.returncode, result.stderr) == (0, "")


def test_what_podman_says(fake: Fake) -> None:
    """The gidd that was started for it is ended again."""
    (fake.bin / "fault").write_text("localhost/none: image not known")
    result = fake.run("up", "open")
    assert result.returncode == 1
    assert result.stderr == (
        "gid-cockpit: podman does not start domain open:\nError: localhost/none: image not known\n"
    )
    assert fake.status()["open"]["state"] == "down"


def test_one_that_ends_at_once(fake: Fake) -> None:
    fake.container(State="exited", ExitCode=3)
    result = fake.run("up", "open")
    assert result.returncode == 1
    assert "domain open: its container has ended (exit status 3)" in result.stderr


def test_one_that_ends_at_once_is_not_left(fake: Fake) -> None:
    """Nor is its gidd, which was started for it."""
    fake.container("started", State="exited", ExitCode=3)
    assert fake.run("up", "open").returncode == 1
    assert fake.calls("rm") == [["--force", "--time=10", fake.name]]
    (fake.bin / "ps").unlink()  # as podman rm does
    assert fake.status()["open"]["state"] == "down"


def test_one_that_cannot_be_ended_is_no_hindrance(fake: Fake) -> None:
    """Where another one does not start: what is told last is why it does not."""
    domains = {"first": "", "open": "kind=container container-image=x", "last": ""}
    shares = {"first open": "movie", "open last": "movie"}
    fake.config.write_text(configuration(domains, shares, fake.runtime))
    fake.container("started")
    (fake.bin / "stuck").write_text("it is stuck")
    fake.runtime.mkdir()
    (fake.runtime / "last").write_text("in the way")
    result = fake.run("up")
    assert result.returncode == 1
    stuck, why = result.stderr.splitlines()
    assert stuck == "gid-cockpit: podman, for domain open: Error: it is stuck"
    assert why == f"gid-cockpit: {fake.runtime}/last/gidd.sock: Not a directory"
    (fake.bin / "ps").unlink()
    (fake.runtime / "last").unlink()
    assert [domain["state"] for domain in fake.status().values()] == ["down"] * 3


def test_up_status_down(fake: Fake) -> None:
    fake.container()
    result = fake.run("up")
    assert (result.returncode, result.stderr) == (0, "")
    assert len(fake.calls("run")) == 1  # and of cluster none
    assert fake.status()["open"]["state"] == "up"
    result = fake.run("up")
    assert "open: runs already" in result.stdout
    assert len(fake.calls("run")) == 1
    result = fake.run("reload")
    assert (result.returncode, result.stderr) == (0, "")

    fake.container(State="exited", ExitCode=137)
    domain = fake.status()["open"]
    assert domain["state"] == "bad"
    assert domain["why"] == (
        f"its container has ended (exit status 137): gid-cockpit --config {fake.config} logs open "
        "has what it said"
    )
    fake.run("up")  # and says that it has ended again
    assert len(fake.calls("run")) == 2

    fake.container()
    result = fake.run("down")
    assert (result.returncode, result.stderr) == (0, "")
    assert fake.calls("rm") == [["--force", "--time=10", fake.name]]


def test_another_cockpits_container(fake: Fake) -> None:
    """Of a domain of the same name: it is another container, and both can run."""
    (name,) = (word for word in words_of(fake) if word.startswith("--name="))
    text = fake.config.read_text()
    fake.config = fake.folder / "other.conf"
    fake.config.write_text(text)
    assert f"--name={fake.name}" in words_of(fake)
    assert f"--name={fake.name}" != name


def move(fake: Fake) -> str:
    """The file of the cockpit, after which a container is called now. Returns the name before."""
    before = fake.name
    fake.config = fake.config.rename(fake.folder / "moved.conf")
    assert fake.name != before
    return before


def test_down_after_the_file_has_moved(fake: Fake) -> None:
    fake.container()
    assert fake.run("up", "open").returncode == 0
    before = move(fake)
    assert fake.status()["open"]["state"] == "up"
    result = fake.run("down", "open")
    assert (result.returncode, result.stdout) == (0, "open: ended\n")
    assert fake.calls("rm") == [["--force", "--time=10", before]]


def test_up_after_the_file_has_moved(fake: Fake) -> None:
    """One that has ended by then makes room for the next one, of another name."""
    fake.container(State="exited")
    before = move(fake)
    fake.container("started")
    (fake.bin / "ps").write_text((fake.bin / "ps").read_text().replace(fake.name, before))
    assert fake.run("up", "open").returncode == 0
    assert fake.calls("rm") == [["--force", "--time=10", before]]
    (words,) = fake.calls("run")
    assert f"--name={fake.name}" in words


def test_one_that_is_paused(fake: Fake) -> None:
    fake.container()
    assert fake.run("up").returncode == 0
    fake.container(State="paused")
    domain = fake.status()["open"]
    assert (domain["state"], domain["why"]) == (
        "bad",
        f"its container is paused: podman unpause {fake.name}",
    )


def test_down_with_a_mistake_in_the_file(fake: Fake) -> None:
    """The section of the domain cannot be understood: its container is ended all the same."""
    fake.container()
    assert fake.run("up", "open").returncode == 0
    fake.config.write_text(fake.config.read_text().replace("[domain open]", "[doman open]"))
    result = fake.run("down")
    assert "open: ended" in result.stdout
    assert fake.calls("rm") == [["--force", "--time=10", fake.name]]


def test_down_with_a_mistake_where_podman_does_not_work(fake: Fake) -> None:
    """What runs without it is ended."""
    assert fake.run("up", "cluster").returncode == 0
    (fake.bin / "broken").write_text("cannot find newuidmap")
    fake.config.write_text(fake.config.read_text().replace("[domain open]", "[doman open]"))
    result = fake.run("down")
    assert "cluster: ended" in result.stdout
    assert "newuidmap" not in result.stderr


def test_root_needs_a_user(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is no root in its container, then."""
    monkeypatch.setenv("PATH", fake.env["PATH"])
    monkeypatch.setattr(container, "is_root", lambda: True)
    assert "give it a user=" in mistake(fake)
    me = pwd.getpwuid(os.geteuid())
    fake.set_keys(f"container-image=x\nuser={me.pw_name}\n")
    assert "--user=0:0" in of_open(fake).arguments()  # who is root in our namespace
    monkeypatch.setattr(container, "user_of", lambda domain: me)
    assert f"--user={me.pw_uid}:{me.pw_gid}" in of_open(fake).arguments()


def of_open(fake: Fake) -> container.Container:
    configuration = read(fake.config)
    (domain,) = configuration.choose(["open"])
    return container.Container(configuration, domain)


def mistake(fake: Fake) -> str:
    with pytest.raises(CockpitError) as caught:
        of_open(fake).arguments()
    return str(caught.value)


# --- what it may not do ---


def test_an_option_that_begins_like_a_network(fake: Fake) -> None:
    fake.set_keys("container-image=x\ncontainer-options=--network-alias films\n")
    assert "--network=none" in words_of(fake)
    fake.set_keys("container-image=x\ncontainer-options=--net=host\n")
    assert "--network=none" not in words_of(fake)


def test_of_another_place(fake: Fake) -> None:
    """A cockpit elsewhere has a domain of that name: its container is not ours."""
    fake.container(Labels={container.LABEL: str(fake.folder / "elsewhere" / "open")})
    assert fake.status()["open"]["state"] == "down"
    result = fake.run("down")
    assert (result.returncode, result.stderr) == (0, "")
    assert fake.calls("rm") == []


def test_what_ran_before_goes_on(fake: Fake) -> None:
    """Where another domain does not start, of this one only what was started for it is ended."""
    fake.container()
    assert fake.run("up", "open").returncode == 0
    pid = fake.status()["open"]["pid"]
    fake.container(State="exited")
    fake.container("started")
    gidd = fake.runtime / "cluster"
    gidd.write_text("in the way")
    result = fake.run("up", "open", "cluster")
    assert result.returncode == 1 and "cluster" in result.stderr
    assert len(fake.calls("rm")) == 1
    assert fake.status()["open"]["pid"] == pid
    gidd.unlink()


def test_a_gidd_of_another_cockpit(fake: Fake) -> None:
    """No container is joined to it."""
    fake.container()
    assert fake.run("up", "open").returncode == 0
    fake.container(State="exited")
    text, first = fake.config.read_text(), fake.config
    fake.config = fake.folder / "other.conf"
    fake.config.write_text(text)
    result = fake.run("up", "open")
    assert result.returncode == 1
    assert "the gidd of open runs with another file" in result.stderr
    assert len(fake.calls("run")) == 1
    fake.config = first


def test_a_container_without_its_gidd(fake: Fake) -> None:
    fake.container()
    domain = fake.status()["open"]
    assert (domain["state"], domain["why"]) == (
        "bad",
        f"its gidd does not run, but its container {fake.name} is there",
    )


def command_in(fake: Fake, script: str) -> subprocess.Popen:
    """gid-cockpit run, where podman exec is this script; until that has begun."""
    began = fake.folder / "began"
    (fake.bin / "exec").write_text(f"import time\nopen({str(began)!r}, 'w')\n{script}")
    fake.container()
    words = ["gid-cockpit", "--config", str(fake.config), "run", "open", "true"]
    process = subprocess.Popen(words, env=fake.env)
    wait_for(began.exists, "podman exec")
    return process


def test_one_that_never_tells_its_number(fake: Fake) -> None:
    """Signals end podman then."""
    with command_in(fake, "time.sleep(1000)") as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM


def test_one_that_tells_more_than_a_number(fake: Fake) -> None:
    """Nobody reads it: podman gets SIGPIPE's error, as whoever writes to nobody."""
    script = "import os\nfor _ in range(1 << 20): os.write(3, b'1' * 4096)"
    with command_in(fake, script) as process:
        assert process.wait(PATIENCE) == 1


def test_podman_that_does_not_answer(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its store may be locked for as long as it takes."""
    monkeypatch.setattr(container, "PODMAN_SECONDS", 0.5)
    slow = fake.bin / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 1000\n")
    slow.chmod(0o755)
    monkeypatch.setattr(container, "podman", lambda domain: str(slow))
    monkeypatch.setenv("PATH", fake.env["PATH"])
    with pytest.raises(CockpitError, match="podman ps, for domain open: no answer in"):
        of_open(fake).lacks()


def test_for_the_shell(fake: Fake) -> None:
    """The command line for the shell is that of --json."""
    fake.set_keys("container-image=x\ncontainer-command=echo 'a b'\n")
    line = fake.run("podman-args", "open").stdout
    split = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True
    )
    assert split.stdout.splitlines()[1:] == words_of(fake)
