# SPDX-License-Identifier: MIT
"""Every mistake in a configuration is named with its file and line, all of them at once."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lib.program import BUILD, PATIENCE, TOP

GIDD = BUILD / "gidd" / "gidd"
NO_SIZE = "is not a size: a number, with K, M, G or T behind it or nothing"
WHOLE = "(no line)"  # of a mistake
GOOD = "[domain open]\nnumber=1\n[domain cluster]\nnumber=2\n"
GUEST = (
    "[domain host]\nnumber=1\nkind=host\n[domain open]\nnumber=2\nkind=guest\n"
    "[share open host]\nstreams=*\n"
)
NO_NAME = "is not a domain's name: at most 63 letters, digits and - _ ."
WORDS = ((2, "one"), (4, "two"))  # that are no numbers
NO_COMMENT = "behind a value a comment begins with ; and not with #"
NO_GLOB = (
    "can match no stream name: those have up to 63 letters, digits and - _ . with / between them, "
    "patterns also * ? [ ]"
)
SECTIONS = (
    "unknown section; there are [cockpit], [domain NAME], [share OWNER READER], "
    "[client DOMAIN USER] and [link ONE OTHER]"
)

NO_SCREEN = "is neither none nor a size as 1280x480, of 200 to 8192 pixels"

MISTAKES: dict[str, tuple[str, list[str]]] = {
    "nothing": ("", [f"{WHOLE} the file has no [domain NAME]"]),
    "comments only": ("# x\n; y\n", ["2: the file has no [domain NAME]"]),
    "a key before all sections": (
        "number=1\n" + GOOD,
        ['1: "number" stands before the first [section]'],
    ),
    "no key": (GOOD + "nonsense\n", ["5: neither [section] nor key=value"]),
    "a section without end": (GOOD + "[domain x\n", ["5: a [section] without its ]"]),
    "an unknown section": (GOOD + "[doman x]\nnumber=3\n", [f"5: {SECTIONS}"]),
    "a key behind its section": (
        GOOD + "[share open cluster] streams=movie\n",
        ['5: "streams=movie" stands behind the section: give it its own line'],
    ),
    "a section behind another": (
        GOOD + "[domain x][domain y]\nnumber=3\n",
        ['5: "[domain y]" stands behind the section: give it its own line'],
    ),
    "an empty section": (GOOD + "[]\n", [f"5: {SECTIONS}"]),
    "a domain without name": (GOOD + "[domain]\n", ["5: must be [domain NAME]"]),
    "a domain of two names": (GOOD + "[domain a b]\n", ["5: must be [domain NAME]"]),
    "a client of one": (GOOD + "[client open]\n", ["5: must be [client DOMAIN USER]"]),
    "a client of no domain": (GOOD + "[client x *]\n", ["5: there is no [domain x]"]),
    "no user": (
        GOOD + "[client open a/b]\n",
        ['5: "a/b" is not a user: give a name, a number, or *'],
    ),
    "what is in no user's name": (
        GOOD + "[client open a:b]\n[client open an*]\n[client open a\u202eb]\n",
        [
            '5: "a:b" is not a user: give a name, a number, or *',
            '6: "an*" is not a user: give a name, a number, or *',
            '7: "a\u202eb" is not a user: give a name, a number, or *',
        ],
    ),
    "a user of two words": (
        GOOD + "[client open CORP\\anna b]\n",
        ["5: must be [client DOMAIN USER]"],
    ),
    "a user twice": (
        GOOD + "[client open *]\n[client open *]\n",
        ["6: user * of domain open is in line 5 already"],
    ),
    "a client's key": (
        GOOD + "[client open *]\nx=1\n",
        [
            '6: a client has no "x"; it has: publish, read, import, status, memory, pieces, '
            "slabs, streams, subscriptions, held, clients"
        ],
    ),
    "a client's switch": (
        GOOD + "[client open *]\nimport=no\n",
        ["6: import=no is neither on nor off"],
    ),
    "a share of one": (GOOD + "[share open]\n", ["5: must be [share OWNER READER]"]),
    "a share of three": (GOOD + "[share open cluster x]\n", ["5: must be [share OWNER READER]"]),
    "a name with a slash": (GOOD + "[domain a/b]\n", [f'5: "a/b" {NO_NAME}']),
    "a name that is too long": (GOOD + f"[domain {'a' * 64}]\n", [f'5: "{"a" * 64}" {NO_NAME}']),
    "a name of a folder": (GOOD + "[domain ..]\n", [f'5: ".." {NO_NAME}']),
    "a domain twice": (
        GOOD + "[domain open]\nnumber=3\n",
        ["5: domain open is in line 1 already"],
    ),
    "a number twice": (
        GOOD + "[domain hud]\nnumber=1\n",
        ["5: domain hud has the number 1 of domain open"],
    ),
    "no number": ("[domain open]\n", ["1: domain open needs number=1..254"]),
    "number 0": (
        "[domain open]\nnumber=0\n",
        ["2: number=0 is not a number from 1 to 254"],
    ),
    "number 255": (
        "[domain open]\nnumber=255\n",
        ["2: number=255 is not a number from 1 to 254"],
    ),
    "a number that is none": (
        GOOD + "slabs=many\n",
        ["5: slabs=many is not a number from 0 to 16777215"],
    ),
    "a negative number": (GOOD + "slabs=-1\n", ["5: slabs=-1 is not a number from 0 to 16777215"]),
    "a number with a rest": (
        GOOD + "slabs=5x\n",
        ["5: slabs=5x is not a number from 0 to 16777215"],
    ),
    "an unknown unit": (
        GOOD + "memory=5P\n",
        [f"5: memory=5P {NO_SIZE}"],
    ),
    "more than fits": (
        GOOD + "memory=9999999999999G\n",
        [f"5: memory=9999999999999G {NO_SIZE}"],
    ),
    "more than 64 bits": (
        GOOD + "memory=99999999999999999999\n",
        [f"5: memory=99999999999999999999 {NO_SIZE}"],
    ),
    "a value twice": (
        "[domain open]\nnumber=1\nnumber=2\n",
        ["3: number= is in line 2 of this section already"],
    ),
    "a value twice, and others between": (
        GOOD + "memory=1G\nuser=root\nslabs=9\nmemory=2G\n[domain hud]\nnumber=3\nuser=root\n"
        "kind=local\nuser=daemon\n",
        [
            "8: memory= is in line 5 of this section already",
            "13: user= is in line 11 of this section already",
        ],
    ),
    "a value twice in a link": (
        GUEST + "[link open host]\nkind=ivshmem\nsilence=1\nkind=ivshmem\nsilence=2\n",
        [
            "12: kind= is in line 10 of this section already",
            "13: silence= is in line 11 of this section already",
        ],
    ),
    "a runtime folder twice": (
        "[cockpit]\nruntime=/a\n" + GOOD + "[cockpit]\nruntime=/b\n",
        ["8: runtime= is in line 2 already"],
    ),
    "a value that goes on": (
        "[domain open]\nnumber=1\n  2\n",
        ["3: number= of line 2 is no list: its value cannot go on here"],
    ),
    "too little for a machine": (
        GOOD + "vm-memory=0\n",
        ["5: vm-memory=0 is not a size from 64M to 1T"],
    ),
    "an architecture that no guest has": (
        GOOD + "vm-arch=arm\n",
        ["5: vm-arch=arm must be own, arm64 or arm64-16k"],
    ),
    "a wrong section that others need": (
        "[doman open]\nnumber=1\n[share open cluster]\nstreams=*\n[client open *]\n",
        [f"1: {SECTIONS}"],
    ),
    "no such key of a share": (
        GOOD + "[share open cluster]\nstream=movie\n",
        ['6: a share has no "stream"; it has: streams, held'],
    ),
    "no such key of the cockpit": (
        "[cockpit]\nrun=/tmp\n" + GOOD,
        ['2: the cockpit has no "run"; it has: runtime'],
    ),
    "a relative folder": (
        "[cockpit]\nruntime=run\n" + GOOD,
        ["2: runtime=run is not an absolute path"],
    ),
    "no value": (GOOD + "group=\n", ["5: group has no value"]),
    "a share with nobody": (
        GOOD + "[share open nobody]\nstreams=x\n",
        ["5: there is no [domain nobody]"],
    ),
    "a share with itself": (
        GOOD + "[share open open]\n",
        ["5: a domain needs no section to share with itself"],
    ),
    "a share twice": (
        GOOD + "[share open cluster]\n[share open cluster]\n",
        ["6: what open shares with cluster is in line 5 already"],
    ),
    "a stream that cannot be": (
        GOOD + "[share open cluster]\nstreams=ok mövie\n",
        [f'6: "mövie" {NO_GLOB}'],
    ),
    "a stream in a further line": (
        GOOD + "[share open cluster]\nstreams=ok\n  also a~b\n",
        [f'7: "a~b" {NO_GLOB}'],
    ),
    "a list that is longer than a line": (
        GOOD + "[share open cluster]\nstreams=" + "\n ".join(["x" * 63, "x" * 62 + "*"] * 3) + "\n",
        [],
    ),
    "a stream that is too long": (
        GOOD + f"[client open *]\npublish=ok {'x' * 64}\n",
        [f'6: "{"x" * 64}" {NO_GLOB}'],
    ),
    "a stream to be read that cannot be": (
        GOOD + "[client open *]\nread=ok also\n  a~b\n",
        [f'7: "a~b" {NO_GLOB}'],
    ),
    "a glob that is too long": (
        GOOD + f"[share open cluster]\nstreams={'x' * 64}*\n",
        [f'6: "{"x" * 64}*" {NO_GLOB}'],
    ),
    "streams that begin and end with a slash": (
        GOOD + "[share open cluster]\nstreams=/camera\n camera/\n",
        [f'6: "/camera" {NO_GLOB}', f'7: "camera/" {NO_GLOB}'],
    ),
    "a kind that is none": (
        GOOD + "kind=ghost\n",
        ["5: kind=ghost must be local, container, host or guest"],
    ),
    "a machine of no guest": (
        GOOD + "vm-cpus=2\nvm-memory=1G\n",
        ["5: a key vm-... is of a guest alone: domain cluster has no kind=guest"],
    ),
    "a container that is none": (
        GOOD + "container-image=films\n",
        ["5: a key container-... is of a container alone: domain cluster has no kind=container"],
    ),
    "a machine of a kind that is none": (
        GOOD + "kind=vm\nvm-cpus=2\n",
        ["5: kind=vm must be local, container, host or guest"],
    ),
    "two numbers that are none": (
        "[domain open]\nnumber=one\n[domain cluster]\nnumber=two\n",
        [f"{line}: number={word} is not a number from 1 to 254" for line, word in WORDS],
    ),
    "a comment of another form": (
        "[domain open]\nnumber=1 # the first\nlocal=movie #all\n",
        [
            "2: number=1 # the first is not a number from 1 to 254",
            f"2: {NO_COMMENT}",
            f'3: "#all" {NO_GLOB}',
            f"3: {NO_COMMENT}",
        ],
    ),
    "a container of no image": (
        GOOD + "kind=container\n",
        ["3: domain cluster is a container: it needs container-image="],
    ),
    "a guest without a host": (
        GOOD + "kind=guest\n",
        [
            "3: domain cluster is a guest: one domain must have kind=host, whose gidd joins it "
            "to the others"
        ],
    ),
    "two hosts": (
        GOOD + "kind=host\n[domain hud]\nnumber=3\nkind=host\n",
        ["6: domain cluster has kind=host already"],
    ),
    "a window that is no power of two": (
        GOOD + "window=3M\n",
        ["5: window=3M is not a power of two from 1M to 64G"],
    ),
    "a small window": (
        GOOD + "window=512K\n",
        ["5: window=512K is not a power of two from 1M to 64G"],
    ),
    "a window without a number": (
        GOOD + "window=big\n",
        ["5: window=big is not a power of two from 1M to 64G"],
    ),
    "a doorbell that is neither on nor off": (
        GOOD + "doorbell=maybe\n",
        ["5: doorbell=maybe is neither on nor relay nor off"],
    ),
    "a screen without a height": (
        GOOD + "vm-display=1280\n",
        [f"5: vm-display=1280 {NO_SCREEN}"],
    ),
    "a screen that is too small": (
        GOOD + "vm-display=1280x199\n",
        [f"5: vm-display=1280x199 {NO_SCREEN}"],
    ),
    "a screen with something behind it": (
        GOOD + "vm-display=1280x480x32\n",
        [f"5: vm-display=1280x480x32 {NO_SCREEN}"],
    ),
    "a window of no kind": (
        GOOD + "window-kind=nvdimm\n",
        ["5: window-kind=nvdimm must be ivshmem, dax or auto"],
    ),
    "a small window with pages": (
        GOOD + "window=8M\nwindow-kind=auto\n",
        ["3: window-kind= of domain cluster needs window=16M"],
    ),
    "a device without a path": (
        GOOD + "window-device=ivshmem0\n",
        ["5: window-device=ivshmem0 is not an absolute path"],
    ),
    "a port without a path": (
        GOOD + "control=port0\n",
        ["5: control=port0 is not an absolute path"],
    ),
    "a guest on our own kernel": (
        GOOD.replace("number=1", "number=1\nkind=guest").replace("number=2", "number=2\nkind=host")
        + "[share open cluster]\n[link open cluster]\nkind=local\n",
        ["8: a guest is another machine: its links cannot be of kind local"],
    ),
    "a window that nobody needs": (
        GOOD + "[share open cluster]\n[link open cluster]\nkind=ivshmem\n",
        ["6: a link of kind ivshmem needs a guest at one end, and something that the two share"],
    ),
    "a link without kind": (GOOD + "[link open cluster]\n", ["5: a link needs kind="]),
    "a link of unknown kind": (
        GOOD + "[link open cluster]\nkind=pigeon\n",
        ['5: this gidd knows no link of kind "pigeon"'],
    ),
    "a key that a kind of link has not": (
        GOOD + "[link open cluster]\ncolour=red\nkind=local\n",
        ['6: a link of kind local has no "colour"; it has: kind'],
    ),
    "a link that is silent for too long": (
        GUEST + "[link open host]\nkind=ivshmem\nsilence=3601\n",
        ["11: silence=3601 is not a number from 1 to 3600"],
    ),
    "a link twice": (
        GOOD + "[link open cluster]\nkind=local\n[link cluster open]\nkind=local\n",
        ["7: the link of cluster and open is in line 5 already"],
    ),
    "a line that is too long": (
        GOOD + f"local={'x ' * 100}\n",
        ["5: longer than 197 bytes; a list goes on in the next line when that begins with a space"],
    ),
    "a line longer than a buffer of files": (
        GOOD + f"local={'x' * 9000}\ngroup=a b\n",
        [
            "5: longer than 197 bytes; a list goes on in the next line when that begins with a "
            "space",
        ],
    ),
    "no text": (GOOD + "x" * (3 << 20), ["5: a line without an end: this is no text"]),
    "a control character": (GOOD + "group=vi\x1b[31mdeo\n", ["5: a control character"]),
    "a NUL": (GOOD + "group=video\0\n", ["5: a control character"]),
    "everything at once": (
        "x=1\n[domain open]\nnumber=2\n[foo]\nbar=1\n[share open b]\nheld=x\n",
        [
            '1: "x" stands before the first [section]',
            f"4: {SECTIONS}",
            "7: held=x is not a number from 0 to 16777215",
        ],
    ),
}


def check(path: Path | str, *arguments: str) -> tuple[int, list[str]]:
    result = subprocess.run(
        [GIDD, "--check", "--config", str(path), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (result.stdout == "") == (result.returncode != 0)
    return result.returncode, result.stderr.splitlines()


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(tmp_path: Path, name: str) -> None:
    text, lines = MISTAKES[name]
    path = tmp_path / "cockpit.conf"
    path.write_text(text)
    wanted = [f"{path}:{line}".replace(f":{WHOLE}", ":") for line in lines]
    assert check(path) == (1 if lines else 0, wanted)


def test_keys_that_are_named_are_right(tmp_path: Path) -> None:
    """Those that the message for a wrong one lists, which are those of the manual."""
    path = tmp_path / "cockpit.conf"
    path.write_text(GOOD + "colour=red\nclient-clients=3\n")
    _, lines = check(path)
    assert [line.partition("; it has: ")[0] for line in lines] == [
        f'{path}:5: a domain has no "colour"',
        f'{path}:6: a domain has no "client-clients"',
    ]
    keys = lines[0].partition("; it has: ")[2].split(", ")
    path.write_text("[domain open]\n" + "".join(f"{key}=\n" for key in keys))
    assert not [line for line in check(path)[1] if "has no" in line and "has no value" not in line]
    manual = (TOP / "gidd" / "gidway.conf.5.scd").read_text()
    assert [key for key in keys if f"*{key}*=" not in manual] == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("slbas", "slabs"),
        ("oorbell", "doorbell"),
        ("memoryy", "memory"),
        ("contro1", "control"),
        ("vm_disk", "vm-disk"),
        ("colour", ""),
        ("l", ""),
    ],
)
def test_what_a_misspelt_key_may_mean(tmp_path: Path, typed: str, meant: str) -> None:
    path = tmp_path / "cockpit.conf"
    path.write_text(GOOD + f"{typed}=x\n")
    (line,) = check(path)[1]
    but = f", but {meant}=" if meant else ""
    assert line.startswith(f'{path}:5: a domain has no "{typed}"{but}; it has: number, local, ')


def test_what_is_right_has_no_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "cockpit.conf"
    for good in (
        GOOD,
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD + "memory = 12K ; a comment\n# another\n  \n",
        GOOD + "memory=2T\n",
        GOOD + "[share open cluster]\nstreams=a, b,c\n  d/*\n  [a-z]?\n",
        GOOD + "[share open cluster]\n[share cluster open]\n",
        GOOD + "[share open cluster] \n[share cluster open]\t; a comment\n[client open *]# one\n",
        GOOD + "[client open anna@corp.local]\n[client open CORP\\anna]\n[client open host$]\n",
        GOOD + "[link cluster open]\nkind=local\n",
        "[domain one]\nnumber=254",
        f"[domain {'a' * 63}]\nnumber=1\n",
    ):
        path.write_text(good)
        assert check(path) == (0, []), good


def test_what_there_may_be_at_most_is_told(tmp_path: Path) -> None:
    """Of each domain by its quotas, and the sum of their memory."""
    path = tmp_path / "cockpit.conf"
    path.write_text(
        "[domain open]\nnumber=1\nmemory=3M\nslabs=7\n"
        "[domain cluster]\nnumber=2\nmemory=5M\npieces=33\nheld=9\nclients=4\n"
    )
    command = [GIDD, "--check", "--config", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and done.stderr == ""
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["domain", "memory", "pieces", "slabs", "streams", "subscriptions", "held", "clients"],
        ["open", "3M", "526", "7", "64", "256", "2048", "128"],
        ["cluster", "5M", "33", "1024", "64", "256", "9", "4"],
        "all domains together share at most 8M of memory".split(),
    ]


def read_json(path: Path) -> tuple[int, dict[str, Any]]:
    command = [GIDD, "--check", "--json", "--config", str(path)]
    result = subprocess.run(command, capture_output=True, timeout=PATIENCE)
    return result.returncode, json.loads(result.stdout.decode(errors="surrogateescape"))


def test_as_json(tmp_path: Path) -> None:
    """What gid-cockpit starts gidds and guests by: in any encoding, and with any punctuation."""
    path = tmp_path / "cockpit.conf"
    text = GOOD + "user=a\nkind=host\n[domain g]\nnumber=7\nkind=guest\nvm-memory=2G\nvm-cpus=3\n"
    text += "vm-accel=tcg\nvm-arch=arm64-16k\nvm-display=640x480\nwindow-kind=auto\n"
    text += 'doorbell=off\nvm-append=a\t"b\\c\n'
    text += "[share g cluster]\n"
    path.write_bytes(text.encode() + b"[cockpit]\nruntime=/r\xfc\xc3\xbcn\n")
    status, found = read_json(path)
    assert status == 0
    assert os.fsencode(found["runtime"]) == b"/r\xfc\xc3\xbcn"
    domains = {domain["name"]: domain for domain in found["domains"]}
    assert [domains[name]["joined"] for name in ("open", "cluster", "g")] == [
        [],
        ["g"],
        ["cluster"],
    ]
    assert (domains["cluster"]["user"], domains["open"]["user"]) == ("a", None)
    guest = domains["g"]
    machine, container = guest.pop("machine"), guest.pop("container")
    assert guest == {
        "name": "g",
        "number": 7,
        "kind": "guest",
        "doorbell": False,
        "window-kind": "auto",
        "user": None,
        "joined": ["cluster"],
    }
    assert machine == {
        "memory": 2 << 30,
        "cpus": 3,
        "accel": "tcg",
        "arch": "arm64-16k",
        "width": 640,
        "height": 480,
        "append": 'a\t"b\\c',
        "disk": None,
        "kernel": None,
        "initrd": None,
        "options": None,
    }
    assert container == {"image": None, "command": None, "options": None}


def test_a_container_as_json(tmp_path: Path) -> None:
    path = tmp_path / "cockpit.conf"
    keys = (
        "kind=container\ncontainer-image=a:1\ncontainer-command=b 'c d'\ncontainer-options=-v e\n"
    )
    path.write_text(GOOD + keys)
    status, found = read_json(path)
    assert status == 0
    cluster = found["domains"][1]
    assert cluster["kind"] == "container"
    assert cluster["container"] == {"image": "a:1", "command": "b 'c d'", "options": "-v e"}


def test_as_json_with_mistakes(tmp_path: Path) -> None:
    """What is understood without them, for who looks at what runs, and ends it."""
    path = tmp_path / "cockpit.conf"
    path.write_text(GOOD + "kind=ghost\n[doman x]\nnumber=3\n[domain late]\nnumber=x\n")
    status, found = read_json(path)
    assert status == 1
    assert [(domain["name"], domain["number"]) for domain in found["domains"]] == [
        ("open", 1),
        ("cluster", 2),
        ("late", 0),
    ]


def test_the_example_is_right() -> None:
    assert check(TOP / "gidd" / "gidway.conf.example") == (0, [])


def test_a_file_that_is_not_there() -> None:
    assert check("/nonexistent.conf") == (1, ["/nonexistent.conf: No such file or directory"])


def test_a_folder(tmp_path: Path) -> None:
    assert check(tmp_path) == (1, [f"{tmp_path}: Is a directory"])


def test_each_line_that_is_none_is_told(tmp_path: Path) -> None:
    path = tmp_path / "cockpit.conf"
    path.write_text(GOOD + "nonsense\n; a remark\n\n[nothing\nmore of it\n")
    first = GOOD.count("\n") + 1
    status, lines = check(path)
    assert status == 1
    told = [line.removeprefix(f"{path}:").partition(":")[0] for line in lines]
    assert told == [str(first), str(first + 3), str(first + 4)]
    assert lines[0] == f"{path}:{first}: neither [section] nor key=value"


def test_a_file_that_is_something_else(tmp_path: Path) -> None:
    """Such as a film: that it is one is said, and not of each of its lines."""
    path = tmp_path / "film.mp4"
    path.write_bytes(b"\x01\n" * 100_000)
    status, lines = check(path)
    assert status == 1
    assert f"{path}:101: after so many mistakes the rest is not read" in lines
    assert len(lines) < 110


def start(path: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    env = {key: value for key, value in os.environ.items() if key != "GID_DOMAIN"}
    result = subprocess.run(
        [GIDD, "--config", str(path), *arguments],
        env=env | {"GID_RUNTIME_DIR": str(path.parent / "run")} | variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return result.returncode, result.stderr


def test_which_domain(tmp_path: Path) -> None:
    path = tmp_path / "cockpit.conf"
    path.write_text(GOOD)
    which = f"gidd: which domain? Name it with --domain; {path} has: open cluster\n"
    assert start(path) == (2, which)
    none = f"gidd: {path} has no [domain hud]; it has: open cluster\n"
    assert start(path, "--domain", "hud") == (1, none)


def test_variables_that_are_empty(tmp_path: Path) -> None:
    """As if they were not there, as for the programs."""
    path = tmp_path / "gidway.conf"
    none = {"GID_DOMAIN": "", "GID_RUNTIME_DIR": ""}
    path.write_text(GOOD)
    assert "which domain? Name it with --domain" in start(path, **none)[1]
    path.write_text("[cockpit]\nruntime=/proc/none\n[domain open]\nnumber=1\n")
    assert "cannot make /proc/none" in start(path, **none)[1]


def test_no_configuration(tmp_path: Path) -> None:
    path = tmp_path / "none.conf"
    words = "gidd: write one, see gidway.conf(5), or name another with --config\n"
    assert start(path) == (1, f"{path}: No such file or directory\n{words}")


def test_users_and_groups_must_exist(tmp_path: Path) -> None:
    path = tmp_path / "cockpit.conf"
    path.write_text("[domain open]\nnumber=1\ngroup=no-such-group\n")
    words = "gidd[open]: group=no-such-group of domain open: there is no such group\n"
    assert start(path) == (1, words)
    path.write_text(GOOD + "user=no-such-user\n[share open cluster]\n")
    status, words = start(path, "--domain", "open")
    assert status == 1
    assert "gidd[open]: user=no-such-user of domain cluster: there is no such user\n" in words


def test_a_place_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "cockpit.conf"
    path.write_text(f"[domain {'a' * 63}]\nnumber=1\n")
    status, words = start(path)
    assert status == 1
    assert "the path of the domain's socket is too long: set GID_RUNTIME_DIR" in words
