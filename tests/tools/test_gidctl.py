# SPDX-License-Identifier: MIT
"""gidctl shows what is there, in tables and in JSON, and says what to do where nothing is."""

import ctypes
import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import Export, memfd
from lib.program import BUILD, PATIENCE, wait_for

from lab.domains.wayland import weston_major

GIDCTL = BUILD / "tools" / "gidctl" / "gidctl"
PR_SET_THP_DISABLE = 41
FLOW = BUILD / "tests" / "tools" / "flow"
NAME_MAX = 63  # bytes
MORE = 70  # domains: 64 were asked once


def gidctl(
    cockpit: Cockpit, *arguments: str, domain: str | None = "open"
) -> subprocess.CompletedProcess[str]:
    env = cockpit.env(domain or "")
    env["PATH"] = f"{BUILD / 'gidd'}:{env['PATH']}"
    if domain is None:
        del env["GID_DOMAIN"]
    return subprocess.run(
        [GIDCTL, *arguments], env=env, capture_output=True, text=True, timeout=PATIENCE
    )


def shown(cockpit: Cockpit, *arguments: str, domain: str = "open") -> str:
    result = gidctl(cockpit, *arguments, domain=domain)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def as_json(cockpit: Cockpit, *arguments: str, domain: str = "open") -> dict:
    return json.loads(shown(cockpit, "--json", *arguments, domain=domain))


@pytest.fixture
def flowing(cockpit: Cockpit) -> Cockpit:
    """A stream `movie` of open, 50 frames a second, read by cluster, which holds two frames."""
    producer = cockpit.run("open", [FLOW, "produce", "movie", "50"], "producer")
    producer.wait_output("ready")
    consumer = cockpit.run("cluster", [FLOW, "consume", "open", "movie", "2"], "consumer")
    consumer.wait_output("ready")  # it lives through a restart of its gidd from now on

    def live() -> bool:
        reports = [cockpit.status(domain)["subscriptions"] for domain in ("open", "cluster")]
        return [[one["state"] for one in report] for report in reports] == [["live"], ["live"]]

    wait_for(live, "the subscription to be live")
    return cockpit


# --- nobody there ---


def test_no_gidd_says_how_to_start_one(make_cockpit: Callable[..., Cockpit]) -> None:
    cockpit = make_cockpit()
    for command in ("status", "list", "top"):
        result = gidctl(cockpit, command)
        assert (result.returncode, result.stdout) == (1, "")
        place = cockpit.socket("open")
        assert result.stderr == (
            f"gidctl: no gidd for domain 'open' at {place}: start it with "
            "`gid-cockpit --config FILE up`, or `gidd --config FILE --domain open`\n"
        )


def test_a_gidd_that_was_killed_says_the_same(cockpit: Cockpit) -> None:
    cockpit.kill("open")
    result = gidctl(cockpit, "status")
    assert result.returncode == 1
    assert "start it with `gid-cockpit --config FILE up`, or `gidd" in result.stderr


def test_where_the_environment_lacks_the_place(tmp_path: Path) -> None:
    """The usual mistake in a second terminal."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GID_")}
    env["XDG_RUNTIME_DIR"] = str(tmp_path)
    words = [GIDCTL, "--domain", "nowhere", "status"]
    result = subprocess.run(words, env=env, capture_output=True, text=True)
    assert (
        "at /run/gidway/nowhere/gidd.sock: GID_RUNTIME_DIR is not set; set it, or " in result.stderr
    )
    (tmp_path / "gidway").mkdir()
    result = subprocess.run(words, env=env, capture_output=True, text=True)
    assert result.stderr.endswith(f"export GID_RUNTIME_DIR={tmp_path}/gidway\n")


def test_what_is_no_socket() -> None:
    result = subprocess.run([GIDCTL, "-d", "/dev/null", "status"], capture_output=True, text=True)
    assert result.stderr.startswith("gidctl: no gidd listens at /dev/null: ")


def test_which_of_several_domains(cockpit: Cockpit) -> None:
    result = gidctl(cockpit, "status", domain=None)
    assert result.returncode == 1
    assert "2 domains run here (" in result.stderr and "set GID_DOMAIN" in result.stderr
    assert result.stderr.endswith("; or name it: gidctl -d NAME\n")
    assert shown(cockpit, "status", "--domain", "cluster").startswith("Domain cluster, number 2")


def test_a_variable_that_is_empty_names_no_domain(cockpit: Cockpit) -> None:
    result = gidctl(cockpit, "status", domain="")
    assert result.stderr.endswith("; or name it: gidctl -d NAME\n")
    _, found = findings(cockpit, domain="")
    assert find(found, "domain open")[0][1] == "gidd answers, number 1"
    assert find(found, "domain cluster")[0][1] == "gidd answers, number 2"


def test_a_full_disk_is_told(cockpit: Cockpit) -> None:
    for words in (["status"], ["--json", "list"], ["top", "--once", "--interval", "0.1"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [GIDCTL, *words],
                env=cockpit.env("open"),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
        assert done.returncode == 1
        assert done.stderr.startswith("gidctl: standard output: ")
        shell = 'exec "$@" <&- >&- 2>&-'  # which is what was wanted
        done = subprocess.run(["sh", "-c", shell, "sh", GIDCTL, *words], env=cockpit.env("open"))
        assert done.returncode == 0


def test_top_ends_where_nothing_can_be_written(cockpit: Cockpit) -> None:
    words = [GIDCTL, "--json", "top", "--interval", "0.1"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, env=cockpit.env("open"), stdout=full, timeout=PATIENCE)
    assert done.returncode == 1


# --- status and list ---


def test_status(flowing: Cockpit) -> None:
    text = shown(flowing, "status")
    assert text.startswith("Domain open, number 1, gidd's pid ")
    assert "  to cluster (local): up\n" in text
    assert re.search(r"^  streams +1 +64 +1$", text, re.M)
    assert re.search(r"^  flow +\d+ +\d+ +\d+\.\d KiB +1 +1 +0$", text, re.M)
    report = as_json(flowing, "status")
    assert report == flowing.status("open") | {"clients": report["clients"]} | {
        key: report[key] for key in ("subscriptions", "quotas")
    }


def test_a_link_that_is_down_says_why(cockpit: Cockpit) -> None:
    cockpit.kill("cluster")
    wait_for(
        lambda: "to cluster (local): down, hung up" in shown(cockpit, "status"),
        "the link to be seen down",
    )


def test_list(flowing: Cockpit) -> None:
    text = shown(flowing, "list")
    slabs, streams, readable, subscriptions = text.split("\n\n")
    assert slabs.startswith("Slabs and grants\nGID")
    assert re.search(r"^1:\d+\.0#0 +open +memfd .* 16 +XR24 +64x32 +cluster ", slabs, re.M)
    assert re.search(r"^movie +1 +flow \(pid \d+, uid \d+\)$", streams, re.M)
    assert readable == "Readable of other domains\nnone"
    row = r"^movie +open +cluster +live +8 +drop new +- +link to cluster$"
    assert re.search(row, subscriptions, re.M)
    assert shown(flowing, "list", "streams") == streams.split("\n", 1)[1] + "\n"
    assert set(as_json(flowing, "list", "slabs", "streams")) == {"slabs", "streams"}


def test_what_may_be_read_of_others(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as producer:
        assert producer.publish("movie")[0] == 0
        wait_for(lambda: cockpit.status("cluster")["readable"], "word of the stream")
        table = shown(cockpit, "list", "readable", domain="cluster")
        assert re.fullmatch(r"STREAM +OF\nmovie +open\n", table)
        found = as_json(cockpit, "list", "readable", domain="cluster")
        assert found == {"readable": [{"domain": "open", "name": "movie"}]}


def test_a_long_description_is_cut(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner:
        fd = memfd(8192)
        owner.export(Export(generations=4096, description=b"x" * 61), fd)
        owner.export(Export(generations=4096, description=b"y" * 60), fd)
        owner.export(Export(generations=4096, description=("z" + "é" * 30).encode()), fd)
        os.close(fd)
        table = shown(cockpit, "list", "slabs")
        assert re.search(r" x{60} …$", table, re.M) and re.search(r" y{60}$", table, re.M)
        assert re.search(r" zé{29} …$", table, re.M), "no half of one"


def test_long_names_fit(cockpit: Cockpit) -> None:
    """Into a terminal, each in a row of its own; a pipe gets all of them."""
    name = "camera/" + "x" * (NAME_MAX - 7)
    with cockpit.connect("open", "p" * 15) as producer:
        assert producer.publish(name)[0] == 0
        for columns in (20, 80, 130):
            controller, program = in_terminal(cockpit, columns, "list", "streams")
            text = re.sub("\x1b\\[[0-9;]*[mHJ]", "", read_all(controller))
            assert program.wait(PATIENCE) == 0
            assert max(map(len, text.splitlines())) <= columns
            assert (name if columns == 130 else "camera/x") in text
            assert ("…" in text) == (columns < 130)
        assert name in shown(cockpit, "list", "streams")


def test_nothing_to_list(cockpit: Cockpit) -> None:
    assert shown(cockpit, "list", "slabs") == "none\n"
    parts = ("slabs", "streams", "readable", "subscriptions")
    assert as_json(cockpit, "list") == {part: [] for part in parts}


# --- top ---


@pytest.mark.parametrize("domain", ["open", "cluster"])
def test_top_once(flowing: Cockpit, domain: str) -> None:
    def measured() -> dict | None:
        """A busy machine may pause in a measurement, but not in each."""
        found = as_json(flowing, "top", "--once", "--interval", "1", domain=domain)
        (flow,) = found["subscriptions"]
        assert (flow["stream"], flow["domain"], flow["reader"]) == ("movie", "open", "cluster")
        is_flowing = 0 < flow["fps"] < 60 and flow.get("latency_us", {}).get("p99", 1e9) < 1e6
        return flow if is_flowing and flow["copied_frames"] and flow["held"] >= 2 else None

    flow = wait_for(measured, "a measurement of 50 frames a second")
    assert 0 < flow["latency_us"]["p50"] <= flow["latency_us"]["p99"]
    assert flow["credit"] == 8
    assert flow["copy_reasons"] == {"upstream-memory": flow["copied_frames"]}
    # the reader, which looks at no picture, has not asked its gidd for them
    picture = {"format": "XR24", "width": 64, "height": 32, "bytes": 8192}
    assert flow.get("picture") == (picture if domain == "open" else None)
    assert flow["copied_bytes"] == 8192 * flow["copied_frames"]

    def row() -> re.Match[str] | None:
        text = shown(flowing, "top", "--once", "--interval", "0.2", domain=domain)
        assert re.search(r"^STREAM +OF +READER +FPS +P50 +P99 +HELD +DROPPED +COPIED +STATE ", text)
        assert "\x1b" not in text
        return re.search(r"^movie +open +cluster +[\d.]+ +[\d.]+ (us|ms) .* live ", text, re.M)

    wait_for(row, "frames in the table")


def test_top_says_why_at_every_width(flowing: Cockpit) -> None:
    wait_for(lambda: "copied for" in shown(flowing, "top", "--once", "--interval", "0.1"), "a copy")
    for columns in (40, 80, 200):
        controller, top = in_terminal(flowing, columns, "top", "--once", "--interval", "0.1")
        text = re.sub("\x1b\\[[0-9;]*[mHJ]", "", read_all(controller))
        assert top.wait(PATIENCE) == 0
        assert re.search(r"^movie copied for cluster: upstream-memory \d+\r$", text, re.M)
        if columns >= 80:
            assert "DROPPED  COPIED" in text
        assert all(len(line) <= max(columns, 60) for line in text.splitlines())
        for heading in ("STATE", "FORMAT", "SIZE", "MB/S", "LEASES", "CLOCK", "CONSUMER"):
            assert heading in text, "no column is lost"


def test_top_of_all_domains(flowing: Cockpit) -> None:
    """Each subscription once, by the gidd that knows the program."""
    measured = as_json(flowing, "top", "--all", "--once", "--interval", "0.3")
    (flow,) = measured["subscriptions"]
    assert (flow["stream"], flow["domain"], flow["reader"]) == ("movie", "open", "cluster")
    assert flow["consumer"].startswith("flow (pid ")
    alone = as_json(flowing, "top", "--once", "--interval", "0.1")["subscriptions"][0]
    assert alone["consumer"] == "a program in cluster"


def test_top_of_more_domains(cockpit: Cockpit) -> None:
    """Each of the links is one that runs, to look at."""
    cockpit.run("open", [FLOW, "produce", "movie", "50"], "producer").wait_output("ready")
    cockpit.run("open", [FLOW, "consume", "open", "movie", "2"], "reader").wait_output("ready")
    for number in range(MORE):
        folder = cockpit.runtime / f"domain-{number}"
        folder.mkdir()
        (folder / "gidd.sock").symlink_to(cockpit.socket("open"))
    measured = as_json(cockpit, "top", "--all", "--once", "--interval", "0.1")
    assert len(measured["subscriptions"]) == 1 + MORE
    for number in range(MORE):
        shutil.rmtree(cockpit.runtime / f"domain-{number}")


def read_all(controller: int) -> str:
    text = b""
    try:
        while chunk := os.read(controller, 65536):
            text += chunk
    except OSError:  # the terminal's other end is closed
        pass
    os.close(controller)
    return text.decode()


@pytest.mark.parametrize("domain", ["open", "1"])
def test_revoking_what_nobody_has(flowing: Cockpit, domain: str) -> None:
    result = gidctl(flowing, "revoke", domain, "film*", "--from", "2")
    assert result.returncode == 0
    assert result.stderr.startswith(f"gidctl: nobody publishes film* in domain {domain} now: ")
    assert gidctl(flowing, "revoke", domain, "mov*").stderr == ""


def test_revoking_asks_the_owner(flowing: Cockpit) -> None:
    """Where several domains run, and nobody says which."""
    for owner in ("cluster", "2"):
        result = gidctl(flowing, "revoke", owner, "film", "--from", "open", domain=None)
        assert result.returncode == 0
        told = f"gidctl: nobody publishes film in domain {owner} now: "
        assert result.stderr.startswith(told)


def test_top_goes_on_in_lines_where_there_is_no_terminal(flowing: Cockpit) -> None:
    top = flowing.run("open", [GIDCTL, "--json", "top", "--interval", "0.1"], "top")
    wait_for(lambda: top.stdout.count("\n") >= 5, "five measurements")
    top.signal(signal.SIGINT)
    assert top.wait() == 0
    for line in top.stdout.splitlines():
        assert json.loads(line)["domain"] == "open"


def test_top_outlives_its_gidd(flowing: Cockpit) -> None:
    top = flowing.run("open", [GIDCTL, "--json", "top", "--interval", "0.1"], "top")
    wait_for(lambda: top.stdout.count("\n") >= 2, "two measurements")
    flowing.kill("open")
    wait_for(lambda: "gidctl: no report from gidd" in top.stderr, "its complaint")
    flowing.restart("open")
    before = top.stdout.count("\n")
    wait_for(lambda: top.stdout.count("\n") > before + 2, "more measurements")
    top.signal(signal.SIGTERM)
    assert top.wait() == 0


def test_top_counts_no_frame_of_before(cockpit: Cockpit) -> None:
    """A gidd that comes back numbers subscriptions anew: here the second one is the first."""
    cockpit.run("open", [FLOW, "produce", "movie", "500"], "producer").wait_output("ready")
    readers = []
    for _ in range(2):
        readers.append(cockpit.run("cluster", [FLOW, "consume", "open", "movie", "2"], "reader"))
        readers[-1].wait_output("ready")
    top = cockpit.run("cluster", [GIDCTL, "--json", "top", "--interval", "0.1"], "top")

    def flows() -> list[list[dict]]:
        return [json.loads(line)["subscriptions"] for line in top.stdout.splitlines()]

    wait_for(lambda: flows() and flows()[-1][-1]["received"] > 2000, "many frames")
    readers[0].kill()
    wait_for(lambda: len(flows()[-1]) == 1, "one subscription")
    before = len(flows())
    cockpit.restart("cluster")
    wait_for(lambda: sum(map(len, flows()[before:])) > 5, "more measurements")
    assert max(one["fps"] for flow in flows() for one in flow) < 1000


def on_terminal(cockpit: Cockpit, *arguments: str, kind: str = "xterm") -> str:
    """What it writes to a terminal until it was interrupted after three measurements."""
    leader, follower = pty.openpty()
    env = cockpit.env("open") | {"TERM": kind}
    process = subprocess.Popen([GIDCTL, *arguments], env=env, stdout=follower, stderr=follower)
    os.close(follower)
    text = ""
    try:
        while text.count("FPS") < 3:
            text += os.read(leader, 65536).decode()
        process.send_signal(signal.SIGINT)
        try:
            while chunk := os.read(leader, 65536):
                text += chunk.decode()
        except OSError:  # the terminal's other end is closed
            pass
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        os.close(leader)
    return text


def test_top_on_a_dumb_terminal(flowing: Cockpit) -> None:
    """Such a one shows control sequences as they are."""
    assert "\x1b" not in on_terminal(flowing, "top", "--interval", "0.1", kind="dumb")


def test_top_on_a_terminal(flowing: Cockpit) -> None:
    live = on_terminal(flowing, "top", "--interval", "0.1")
    assert live.startswith("\x1b[?25l") and live.endswith("\x1b[?25h")
    assert live.count("\x1b[H\x1b[J") >= 3 and "\x1b[32mlive\x1b[m" in live
    assert "\x1b" not in on_terminal(flowing, "--plain", "top", "--interval", "0.1")


@pytest.mark.parametrize("domain", ["open", "cluster"])
def test_subscriptions_outlive_a_gidd(flowing: Cockpit, domain: str) -> None:
    """Frames need no gidd, and the one that comes next shows where they flow."""
    flowing.restart(domain)

    def flows() -> bool:
        found = as_json(flowing, "top", "--once", "--interval", "0.3", domain="cluster")
        (one,) = found["subscriptions"] or [{"fps": 0}]
        return one["fps"] > 0 and (one["stream"], one["state"]) == ("movie", "live")

    wait_for(flows, "the subscription in gidctl top")
    listed = shown(flowing, "list", "subscriptions", domain="cluster")
    assert re.search(r"movie .*live", listed)


# --- doctor ---


def findings(cockpit: Cockpit, *arguments: str, domain: str | None = None) -> tuple[int, list]:
    result = gidctl(cockpit, "doctor", "--json", *arguments, domain=domain)
    assert result.stderr == ""
    return result.returncode, json.loads(result.stdout)


def find(found: list, what: str) -> list[tuple[str, str, str]]:
    return [(one["verdict"], one["found"], one["remedy"]) for one in found if one["what"] == what]


def test_doctor_on_a_healthy_cockpit(cockpit: Cockpit) -> None:
    status, found = findings(cockpit, "--config", str(cockpit.config_path))
    assert status == 0
    assert {one["verdict"] for one in found} <= {"ok", "note"}
    assert find(found, "configuration") == [("ok", str(cockpit.config_path), "")]
    assert find(found, "domain open") == [
        ("ok", "gidd answers, number 1", ""),
        ("ok", "the link to cluster is up", ""),
        (
            "note",
            "any program of the domain may publish streams safety/*",
            "allow it by publish= of a [client DOMAIN USER], and not by that of [client DOMAIN *]",
        ),
    ]
    assert len(find(found, "domain cluster")) == 3
    for one in found:
        assert (one["remedy"] == "") == (one["verdict"] == "ok")
    text = gidctl(cockpit, "doctor", "--config", str(cockpit.config_path)).stdout
    assert re.search(r"^ok    domain open: gidd answers, number 1$", text, re.M)
    assert re.search(r"\d+ ok, \d+ to note, 0 bad\n$", text)


def test_doctor_finds_what_is_wrong(cockpit: Cockpit, tmp_path: Path) -> None:
    cockpit.kill("cluster")
    bad = tmp_path / "bad.conf"
    bad.write_text("[domain x]\nnumber=0\n")
    status, found = findings(cockpit, "--config", str(bad))
    assert status == 1
    words = f"{bad}:2: number=0 is not a number from 1 to 254"
    remedy = "gidd --check --config FILE lists all mistakes"
    assert find(found, "configuration") == [("bad", words, remedy)]
    ((verdict, words, remedy),) = find(found, "domain cluster")
    assert verdict == "bad" and words.startswith("no gidd for domain 'cluster' at ")
    assert remedy == (
        "gid-cockpit --config FILE up cluster, systemctl start gidd@cluster, or gidd --config FILE "
        "--domain cluster"
    )
    link = find(found, "domain open")[1]
    assert link[0] == "note" and link[1].startswith("the link to cluster is down: ")
    assert link[2] == (
        f"start its gidd: gid-cockpit --config {cockpit.config_path} up cluster, or gidd --config "
        "FILE --domain cluster"
    )


def test_doctor_tells_of_large_pages() -> None:
    """A program whose parent forbids them has none, whatever kernel this is."""

    def forbid() -> None:
        assert ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0

    command = [GIDCTL, "doctor", "--json"]
    result = subprocess.run(command, preexec_fn=forbid, capture_output=True, text=True)
    ((verdict, words, remedy),) = find(json.loads(result.stdout), "large pages")
    assert verdict == "note" and words.startswith("the kernel gives none, so slabs take longer")
    assert "shmem_enabled" in remedy


def test_doctor_where_no_file_may_be_written() -> None:
    """As under `ulimit -f 0`: it says so, and goes on."""

    def forbid() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    command = [GIDCTL, "doctor", "--json"]
    result = subprocess.run(command, preexec_fn=forbid, capture_output=True, text=True)
    ((verdict, words, _),) = find(json.loads(result.stdout), "large pages")
    assert (verdict, words.rpartition(": ")[2]) == ("note", "File too large")


def test_doctor_where_nothing_runs(tmp_path: Path) -> None:
    env = {key: value for key, value in os.environ.items() if not key.startswith("GID_")}
    env["GID_RUNTIME_DIR"] = str(tmp_path / "gone")
    result = subprocess.run([GIDCTL, "doctor"], env=env, capture_output=True, text=True)
    assert f"bad   domains: none runs here: there is no {tmp_path}/gone\n" in result.stdout
    assert "→ start them: gid-cockpit --config FILE up\n" in result.stdout
    assert "runtime folder" not in result.stdout


def test_doctor_asks_gidd_for_its_file(cockpit: Cockpit) -> None:
    status, found = findings(cockpit)
    assert status == 0
    assert find(found, "configuration") == [("ok", str(cockpit.config_path), "")]


def test_doctor_warns_of_programs_of_gidds_user(cockpit: Cockpit) -> None:
    with cockpit.connect("open", "stranger"):
        _, found = findings(cockpit)
    words = "stranger runs as gidd's own user"
    (warning,) = (one for one in find(found, "domain open") if one[1].startswith(words))
    assert warning[0] == "note"
    assert warning[2] == "run gidd as a user of its own, and its programs as others"


def test_doctor_looks_where_weston_does(cockpit: Cockpit) -> None:
    libdir = subprocess.run(
        ["pkg-config", "--variable=libdir", f"libweston-{weston_major()}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    result = subprocess.run(
        [GIDCTL, "doctor"],
        env={k: v for k, v in cockpit.env("open").items() if k != "WESTON_MODULE_MAP"},
        capture_output=True,
        text=True,
    )
    assert f"Weston: {libdir}/weston/gid-buffer.so" in result.stdout


def in_terminal(cockpit: Cockpit, columns: int, *arguments: str) -> tuple[int, subprocess.Popen]:
    """Starts gidctl in a terminal of so many columns; gives the terminal's other end, too."""
    controller, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (40, columns))
    program = subprocess.Popen(
        [GIDCTL, *arguments], env=cockpit.env("open"), stdin=terminal, stdout=terminal
    )
    os.close(terminal)
    return controller, program


def test_top_fits_and_q_ends_it(cockpit: Cockpit) -> None:
    controller, program = in_terminal(cockpit, 60, "top", "--interval", "0.1")
    shown = b""
    while b"no subscriptions" not in shown:
        shown += os.read(controller, 4096)
    assert b"q ends" in shown
    lines = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown).decode().splitlines()
    (heading,) = {line for line in lines if line.startswith("STREAM")}
    assert len(heading) <= 60
    os.write(controller, b"q")
    assert program.wait(PATIENCE) == 0
    os.close(controller)


@pytest.mark.parametrize("option", ["-h", "--help", "-V", "--version"])
def test_help_and_version(option: str) -> None:
    result = subprocess.run([GIDCTL, option], capture_output=True, text=True, check=True)
    usage = option in ("-h", "--help")
    assert result.stdout.startswith("Usage: gidctl" if usage else "gidctl ")


def test_help_has_each_word_of_list() -> None:
    def said(*words: str) -> str:
        result = subprocess.run([GIDCTL, *words], capture_output=True, text=True)
        return result.stdout + result.stderr

    known = said("list", "gids").partition("; there are ")[2].splitlines()[0]
    (usage,) = re.findall(r" list \[(.*)\]…", said("--help"))
    assert usage.split("|") == known.replace(" and ", ", ").split(", ")


def test_doctor_wants_machines_to_share_memory() -> None:
    """If there are machines: a cockpit of this one alone shares nothing by files."""

    def look(folder: Path) -> list[tuple[str, str, str]]:
        words = [GIDCTL, "doctor", "--json", "--config", "/nonexistent.conf"]
        env = os.environ | {"GID_RUNTIME_DIR": str(folder)}
        result = subprocess.run(words, env=env, capture_output=True, text=True)
        return find(json.loads(result.stdout), "runtime folder")

    assert look(Path("/dev/shm")) == [("ok", "/dev/shm is in memory", "")]
    assert look(Path("/proc")) == []
    folder = BUILD / "on-a-disk"
    (folder / "window").mkdir(parents=True)
    try:
        found = look(folder)
    finally:
        shutil.rmtree(folder)
    remedy = "choose one in memory, such as runtime=/run/gidway"
    words = f"{folder} is on a disk, so all memory that machines share is written to it"
    memory = ("ok", f"{folder} is in memory", "")  # where clones are kept there
    assert found in ([("note", words, remedy)], [memory])


def test_doctor_where_nothing_is(make_cockpit: Callable[..., Cockpit]) -> None:
    cockpit = make_cockpit()
    status, found = findings(cockpit, "--config", "/nonexistent.conf")
    assert status == 1
    assert find(found, "configuration")[0][1] == "/nonexistent.conf: No such file or directory"
    ((verdict, words, remedy),) = find(found, "domains")
    assert (verdict, words) == ("bad", f"none runs here: there is no {cockpit.runtime}")
    assert remedy == "start them: gid-cockpit --config FILE up"


# --- how it is called ---


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Usage: gidctl"),
        (["stauts"], 'there is no command "stauts"; there are: status, list, top, watch, '),
        (["status", "now"], 'status takes no "now"'),
        (["list", "gids"], 'no "gids"; there are slabs, streams, readable and subscriptions'),
        (["top", "--interval", "0"], "--interval must be a number from 0.05 to 3600, not 0"),
        (["top", "--frobnicate"], "unrecognized option"),
        # As of a script whose variable is empty.
        (["revoke", "open", "movie", "--from="], "--from takes a domain: all others lose it only"),
        (["seal", "--from=cluster"], "seal takes no --from"),
        (["--once", "list"], "list takes no --once"),
        (["status", "-c", "file"], "status takes no --config"),
        (["top", "--wait=1"], "top takes no --wait"),
    ],
)
def test_wrong_calls(arguments: list[str], words: str) -> None:
    result = subprocess.run([GIDCTL, *arguments], capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode != 0
    assert words in result.stderr


def test_help_names_every_command() -> None:
    result = subprocess.run([GIDCTL, "--help"], capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode == 0
    for command in ("status", "list", "top", "doctor"):
        assert re.search(rf"^  {command} ", result.stdout, re.M)
    listed = result.stdout.partition("Commands:\n")[2].partition("\n\n")[0]
    assert all(line.startswith("  ") for line in listed.splitlines()), "no line is too long"


def test_programs_of_other_pid_namespaces(cockpit: Cockpit) -> None:
    """A gidd in a container has no number of those outside, nor have containers of each other."""
    cockpit.kill("open")
    alone = ["unshare", "--user", "--map-current-user", "--pid", "--fork", "--kill-child"]
    cockpit.start("open", alone)
    with cockpit.connect("open", "stranger"):
        who = f"another pid namespace, uid {os.getuid()}"
        cockpit.wait_log("open", f"stranger ({who}): connected")
        row = re.search(r"^ *stranger +(.*?) +\d+ +0 B", shown(cockpit, "status"), re.MULTILINE)
        assert row and row[1] == "another pid namespace"
    pid = cockpit.gidds["open"].pid
    (gidd,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    cockpit.kill("open")  # unshare passes no SIGTERM on, and its child ends after it
    wait_for(lambda: not Path(f"/proc/{gidd}").exists(), "the gidd below unshare to end")
    cockpit.restart("open")
