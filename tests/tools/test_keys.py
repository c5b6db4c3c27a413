# SPDX-License-Identifier: MIT
"""Configurations: a key that a section has not is answered by those that it has, which are those of
the manual page; so is a value by the words that there are.
"""

import re
import subprocess
from pathlib import Path

import pytest
from installed import installed_commands
from lib.program import PATIENCE, TOP

COMMANDS = installed_commands()

GIDD = "[domain open]\nnumber=1\n[domain cluster]\nnumber=2\n[share open cluster]\nstreams=*\n"

GUEST = (
    "[domain host]\nnumber=1\nkind=host\n[domain open]\nnumber=2\nkind=guest\n"
    "[share open host]\nstreams=*\n"
)

# Of each section: the program, what must stand before it, its first line, and its manual page with
# the line there that begins it.
SECTIONS = {
    "cockpit": ("gidd", GIDD, "[cockpit]", "gidway.conf.5", "# [cockpit]"),
    "domain": ("gidd", GIDD, "[domain more]", "gidway.conf.5", "# [domain NAME]"),
    "share": ("gidd", GIDD, "[share cluster open]", "gidway.conf.5", "# [share OWNER READER]"),
    "client": ("gidd", GIDD, "[client open *]", "gidway.conf.5", "# [client DOMAIN USER]"),
    "link": (
        "gidd",
        GUEST,
        "[link open host]\nkind=ivshmem",
        "gidway.conf.5",
        "# [link ONE OTHER]",
    ),
    "engine": ("gid-engine", "", "[engine]", "gid-engine.8", "## [engine]"),
    "engine canvas": ("gid-engine", "", "[canvas a]", "gid-engine.8", "## [canvas NAME]"),
    "compose canvas": ("gid-compose", "", "[canvas]", "gid-compose.1", "## [canvas]"),
    "compose layer": ("gid-compose", "", "[layer a]", "gid-compose.1", "## [layer NAME]"),
    "display": ("gid-cluster", "", "[display]", "gid-cluster.1", "*[display]*"),
    "output": ("gid-cluster", "", "[output A]", "gid-cluster.1", "*[output* _NAME_*]*"),
    "layer": ("gid-cluster", "", "[layer a]", "gid-cluster.1", "*[layer* _NAME_*]*"),
    "role": ("gid-cluster", "", "[role a]", "gid-cluster.1", "*[role* _NAME_*]*"),
}

# Behind them: one mistake for sure, so that nobody measures what the rest would take.
NO_SECTION = "[no-such-section]\nx=1\n"


def mistakes(program: str, text: str, folder: Path) -> str:
    file = folder / "a.conf"
    file.write_text(text + NO_SECTION)
    command = [COMMANDS[program], "--check"]
    command += [file] if program == "gid-compose" else ["--config", file]
    said = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE).stderr
    assert "unknown section" in said, "it has read all of the file"
    return said


def keys_of(page: str, begin: str) -> dict[str, str]:
    """Those that the section explains, in bold at the begin of a paragraph, and how."""
    (path,) = TOP.glob(f"*/**/{page}.scd")
    _, _, rest = path.read_text().partition(f"\n{begin}\n")
    assert rest, f"{path} has no line {begin}"
    section = re.split(r"^(?:#|\*\[)", rest, maxsplit=1, flags=re.MULTILINE)[0]
    keys = {}
    heads = list(re.finditer(r"^\t?(\*[a-z-]+\*(?:[=,:].*)?)$", section, re.MULTILINE))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        names = head[1].partition(":")[0]
        found = re.findall(r"\*([a-z-]+)\*=", names) or re.findall(r"\*([a-z-]+)\*", names)
        text = section[head.start() : after.start() if after else None]
        keys |= dict.fromkeys(found, text)
    return keys


def words_of(key: str, said: str) -> list[str]:
    """Which values there are, where the answer to one that is none lists them."""
    found = re.search(rf"{key}=\? (?:must be|is not known; there are) (.*)", said)
    return re.findall(r"(?:^|, | or )([\w-]+)(?=, | or |$)", found[1]) if found else []


@pytest.mark.parametrize("name", SECTIONS)
def test_what_a_section_has(tmp_path: Path, name: str) -> None:
    program, before, section, page, begin = SECTIONS[name]
    if program not in COMMANDS:
        pytest.skip(f"this build has no {program}")
    said = mistakes(program, f"{before}{section}\nno-such-key=1\n", tmp_path)
    found = re.search(r'has no "no-such-key"; it has: (.*)', said)
    assert found, said
    keys = found[1].split(", ")
    assert len(keys) == len(set(keys))
    for key in keys:
        assert "has no" not in mistakes(program, f"{before}{section}\n{key}=1\n", tmp_path)
    if name == "output":  # the page says that they are those of [display]
        page, begin = SECTIONS["display"][3:]
    written = keys_of(page, begin)
    assert set(keys) | ({"worst-frame", "output"} if name == "output" else set()) == set(written)
    for key in keys:
        said = mistakes(program, f"{before}{section}\n{key}=?\n", tmp_path)
        for word in words_of(key, said):
            assert re.search(rf"(?<![a-z0-9-]){re.escape(word)}(?![a-z0-9-])", written[key]), word
