# SPDX-License-Identifier: MIT
"""gidctl doctor --assurance: the assumptions of use, as they are on this machine and elsewhere."""

import ctypes
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from gid_vm.preload import Preload
from lib import own_mount
from lib.cockpit import DEFAULT_CONFIG, GIDCTL, Cockpit
from lib.program import BUILD, PATIENCE, TOP, wait_for

from lab.domains.configuration import configuration, section

WEAK_SEALS = BUILD / "tests/tools/weak_seals.so"
KIT = TOP / "assurance/assumptions.trlc"
SYSTEM = Path("/sys/devices/system")
UNAME26 = 0x0020000  # personality(): the kernel says that it is Linux 2.6

Finding = tuple[str, str, str]
Findings = dict[str, list[Finding]]


def doctor(
    env: dict[str, str], *arguments: str, before: Callable[[], None] | None = None
) -> tuple[int, str]:
    env = env | {"PATH": f"{BUILD / 'gidd'}:{env['PATH']}"}
    done = subprocess.run(
        [GIDCTL, "doctor", "--assurance", *arguments],
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=before,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def look(
    env: dict[str, str], *arguments: str, before: Callable[[], None] | None = None
) -> Findings:
    """Of each assumption the verdicts, what was found, and what to do."""
    status, text = doctor(env, "--json", *arguments, before=before)
    found: Findings = {}
    for one in json.loads(text):
        found.setdefault(one["what"], []).append((one["verdict"], one["found"], one["remedy"]))
    assert status == any(verdict == "bad" for rows in found.values() for verdict, _, _ in rows)
    return found


def nowhere(folder: Path) -> dict[str, str]:
    """The environment of a machine on which no gidd runs."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GID_")}
    return env | {"GID_RUNTIME_DIR": str(folder)}


def test_the_list_is_that_of_the_kit(tmp_path: Path) -> None:
    """Each one is looked for, or asked of people; and each that is not good says what to do."""
    assumed = re.findall(r"^Assumption (\w+) \{$(.+?)^\}$", KIT.read_text(), re.M | re.S)
    found = look(nowhere(tmp_path))
    assert set(found) == {name for name, _ in assumed}
    for name, fields in assumed:
        verdicts = {verdict for verdict, _, _ in found[name]}
        assert ("checked " in fields) == bool(verdicts - {"ask"}), name
    for verdict, _, remedy in (one for rows in found.values() for one in rows):
        assert (remedy == "") == (verdict == "ok")


def test_for_people(tmp_path: Path) -> None:
    _, text = doctor(nowhere(tmp_path), "--plain")
    assert "ask   Trusted_Host: does nobody but trusted programs run on the host?\n" in text
    assert re.search(r"\n\d+ ok, \d+ to note, \d+ bad, 5 to ask people\n$", text)


def test_where_nothing_runs_nothing_is_good(tmp_path: Path) -> None:
    found = look(nowhere(tmp_path), "--config", "/nonexistent.conf")
    for name, wanted in {
        "Own_Processors": "gid-cluster",
        "Users_Apart": "gidd",
        "Supervisor": "gidd",
    }.items():
        ((verdict, words, _),) = found[name]
        assert (verdict, words) == ("note", f"not looked at: no {wanted} answers here")
    assert found["Reviewed_Configuration"][0][0] == "bad"


def test_an_old_kernel(tmp_path: Path) -> None:
    """And one that is too old for machines that share memory."""

    def be_old() -> None:
        ctypes.CDLL(None).personality(UNAME26)

    ((verdict, words, remedy),) = look(nowhere(tmp_path))["Kernel_Version"]
    assert (verdict, words, remedy) == ("ok", f"Linux {os.uname().release}", "")
    ((verdict, words, remedy),) = look(nowhere(tmp_path), before=be_old)["Kernel_Version"]
    assert verdict == "bad" and words.startswith("Linux 2.6.")
    assert remedy == "Linux 5.14 or later"
    (tmp_path / "window").mkdir()
    (_, _, remedy) = look(nowhere(tmp_path), before=be_old)["Kernel_Version"][0]
    assert remedy == "machines share memory here: Linux 6.2 or later"


def test_sealed_memory(tmp_path: Path) -> None:
    good = ("ok", "seals hold, and readers cannot write", "")
    assert look(nowhere(tmp_path))["Sealed_Memory_Works"] == [good]
    preload = Preload(WEAK_SEALS)
    found = look(nowhere(tmp_path) | preload.env)
    preload.check("gidctl")
    ((verdict, words, _),) = found["Sealed_Memory_Works"]
    assert (verdict, words) == ("bad", "a reader's mapping can be made writable")


def test_processors(cockpit: Cockpit) -> None:
    config = cockpit.folder / "cluster.conf"
    config.write_text(
        section("display", "worst-frame=0 width=640 height=240")
        + section("role telltale", "domain=open width=320 height=80")
    )
    command = [BUILD / "cluster" / "gid-cluster", "--headless", f"--config={config}"]
    display = cockpit.run("cluster", command)
    display.wait_output("ready, with")
    env, socket = cockpit.env("cluster"), str(cockpit.socket("cluster"))
    for asked in ([], ["--domain", socket]):  # by its name, by its place
        ((verdict, words, remedy),) = look(env, *asked)["Own_Processors"]
        assert verdict == "bad" and words.startswith("gid-cluster runs on processor")
        assert remedy.endswith("see PROCESSORS in gid-cluster(1)")


def test_users(cockpit: Cockpit) -> None:
    alone = ("ok", "no program in domain open runs as gidd's user", "")
    assert look(cockpit.env("open"))["Users_Apart"] == [alone]
    with cockpit.connect("open", "stranger"):
        ((verdict, words, _),) = look(cockpit.env("open"))["Users_Apart"]
    assert verdict == "bad" and words.startswith("stranger runs as gidd's own user")


def test_a_gidd_in_a_container(make_cockpit: Callable[..., Cockpit]) -> None:
    """Its pid is that of another program here, which is judged in its place."""
    cockpit = make_cockpit(DEFAULT_CONFIG)
    cockpit.start("cluster")
    alone = ["unshare", "--user", "--map-current-user", "--pid", "--fork", "--kill-child"]
    cockpit.start("open", alone)
    with cockpit.connect("open", "stranger"):
        found = look(cockpit.env("open"))
    words = "not looked at: gidd of domain open is in another pid namespace"
    for assumption in ("Users_Apart", "Supervisor"):
        assert [row[:2] for row in found[assumption]] == [("note", words)]
    pid = cockpit.gidds["open"].pid
    (gidd,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    cockpit.kill("open")  # unshare passes no SIGTERM on, and its child ends after it
    wait_for(lambda: not Path(f"/proc/{gidd}").exists(), "the gidd below unshare to end")
    cockpit.restart("open")


@pytest.mark.parametrize("whom", ["", "1"])
def test_supervisor(make_cockpit: Callable[..., Cockpit], whom: str) -> None:
    """Who has only the environment of another that is watched is not watched."""
    cockpit = make_cockpit(DEFAULT_CONFIG)
    cockpit.start("cluster")
    settings = ["WATCHDOG_USEC=2000000", *([f"WATCHDOG_PID={whom}"] if whom else [])]
    cockpit.start("open", ["env", *settings])  # $NOTIFY_SOCKET is there
    env = cockpit.env("open")
    del env["GID_DOMAIN"]
    found = sorted(look(env)["Supervisor"], key=lambda row: "open" in row[1])
    assert [verdict for verdict, _, _ in found] == ["bad", "bad" if whom else "ok"]
    assert found[0][1] == "nobody watches gidd of domain cluster"
    if not whom:
        assert found[1][1] == "gidd of domain open is watched: a sign of life within 2.0 s"


def test_configuration(cockpit: Cockpit, tmp_path: Path) -> None:
    env = cockpit.env("open")
    good = ("ok", str(cockpit.config_path), "")
    assert [row for row in look(env)["Reviewed_Configuration"] if row[0] != "ask"] == [good]
    os.utime(cockpit.config_path, (2**32, 2**32))
    newer = look(env)["Reviewed_Configuration"][0]
    assert newer[:2] == ("note", f"{cockpit.config_path} is newer than what gidd read")
    bad = tmp_path / "bad.conf"
    bad.write_text("[domain x]\nnumber=0\n")
    verdicts = look(env, "--config", str(bad))["Reviewed_Configuration"]
    words = f"{bad}:2: number=0 is not a number from 1 to 254"
    assert ("bad", words, "gidd --check --config FILE lists all mistakes") in verdicts


def test_guests_without_a_disk(tmp_path: Path) -> None:
    file = tmp_path / "cockpit.conf"

    def found(rear: str) -> list[Finding]:
        file.write_text(
            configuration(
                {
                    "host": "kind=host window=1M",
                    "open": "kind=guest window=1M vm-disk=/a",
                    "rear": f"kind=guest window=1M {rear}",
                },
                {"open host": "movie"},
            )
        )
        return look(nowhere(tmp_path), "--config", str(file))["Guests_With_Disks"]

    assert found("vm-disk=/b") == [("ok", f"{file}: 2 guests, all with a disk", "")]
    ((verdict, words, _),) = found("")
    assert (verdict, words) == ("note", f"{file}: these guests read folders of the host: rear")
    file.unlink()
    ((verdict, words, _),) = look(nowhere(tmp_path), "--config", str(file))["Guests_With_Disks"]
    assert (verdict, words) == ("note", f"not looked at: {file} cannot be read")


# --- other machines -----------------------------------------------------------------------------


def look_at_machine(folder: Path, files: dict[str, str]) -> Findings:
    """Of a machine whose kernel has just these files in its folder of devices."""

    def become() -> None:
        own_mount.mount(SYSTEM)
        for name, text in files.items():
            path = SYSTEM / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    try:
        return look(nowhere(folder), before=become)
    except subprocess.SubprocessError as error:
        pytest.skip(f"no file system can be mounted here: {error}")


def test_memory_that_corrects_errors(tmp_path: Path) -> None:
    def found(files: dict[str, str]) -> Finding:
        (one,) = look_at_machine(tmp_path, files)["Memory_With_Ecc"]
        return one

    good = {"edac/mc/mc0/ue_count": "0\n", "edac/mc/mc1/ue_count": "0\n"}
    words = "2 memory controllers correct errors, and none was left"
    assert found(good) == ("ok", words, "")
    bad = found(good | {"edac/mc/mc1/ue_count": "3\n"})
    assert bad == ("bad", "3 errors were not corrected", "replace the memory")
    verdict, words, _ = found({"edac/mc/power": ""})
    assert verdict == "note" and words.startswith("this kernel knows of no memory")


@pytest.mark.parametrize(
    ("source", "verdict"), [("tsc", "ok"), ("refined-jiffies", "bad"), (None, "bad")]
)
def test_clock(tmp_path: Path, source: str | None, verdict: str) -> None:
    file = "clocksource/clocksource0/current_clocksource"
    found = look_at_machine(tmp_path, {} if source is None else {file: f"{source}\n"})
    words = f"the clock of all deadlines is {source or 'none that the kernel names'}"
    assert found["Power_And_Clock"][0][:2] == (verdict, words)
    assert found["Power_And_Clock"][1][0] == "ask"


def test_side_channels(tmp_path: Path) -> None:
    known = {
        "cpu/vulnerabilities/meltdown": "Mitigation: PTI\n",
        "cpu/vulnerabilities/srbds": "Not affected\n",
        "cpu/smt/active": "0\n",
    }
    assert [row[0] for row in look_at_machine(tmp_path, known)["Side_Channels"]] == ["ok", "ask"]
    open_ = known | {"cpu/vulnerabilities/mds": "Vulnerable: no microcode\n"}
    (verdict, words, _), *_ = look_at_machine(tmp_path, open_)["Side_Channels"]
    assert verdict == "bad" and words.endswith("does not prevent it: mds")
    shared = look_at_machine(tmp_path, known | {"cpu/smt/active": "1\n"})["Side_Channels"]
    assert [row[0] for row in shared] == ["ok", "note", "ask"]
    assert shared[1][1] == "two threads share each core and its caches"
