# SPDX-License-Identifier: MIT
"""scripts/layers and scripts/lint find what they look for, in a small repository made for it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]

TABLE = """
| part | may use | files |
|---|---|---|
| low | | |
| high | low | |
| tool | | tools/*.py |
| lab | the product | |
"""

KNOWN_CIRCLE = "| circle of calls | why |\n|---|---|\n| `low/a`, `low/b` | one object |\n"

SOUND = {
    "docs/architecture.md": TABLE,
    "low/base.h": "",
    "low/base.c": '#include "base.h"\nvoid base(void) {\n\tbase_more();\n}\n',
    "low/base_more.c": "void base_more(void) {\n\tbase();\n}\nstatic void a(void) {\n\ttwo();\n}\n",
    "low/two.c": "void two(void) {\n\ta(); /* base_more() */\n}\n",
    "high/top.c": '#include "base.h"\n#include <stdio.h>\n',
    "high/meson.build": "executable('high-one', 'top.c')\n",
    "lab/runs.py": "import base\nRUN = ['high-one', 'tools/one.py']\n",
    "low/base.py": "",
    "tools/one.py": "import json\nimport two\n",
    "tools/two.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import one\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def fill(repository: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    command = ["git", "-c", "safe.directory=*", "-C", repository, "add", "-A"]
    subprocess.run(command, check=True)


def layers(repository: Path) -> tuple[int, str]:
    command = [TOP / "scripts/layers", repository]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stderr == ""
    return result.returncode, result.stdout.strip()


def test_layers_that_hold(repository: Path) -> None:
    fill(repository, SOUND)
    assert layers(repository) == (0, "")


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        (
            {"low/base.c": '#include "top.h"\n', "high/top.h": ""},
            "low/base.c: low may not use high",
        ),
        (
            {"low/a.h": '#include "b.h"\n', "low/b.h": "", "low/b.c": '#include "a.h"\n'},
            "a circle of 2 files: low/a, low/b",
        ),
        ({"tools/two.py": "def late():\n    import one\n"}, "a circle of 2 files: tools/one"),
        (
            {"low/a.c": "void a(void) {\n\tb();\n}\n", "low/b.c": "int\nb (void)\n{\n  a ();\n}\n"},
            "a circle of calls: low/a, low/b",
        ),
        (
            {"low/base.h": "void three(void);\n", "low/a.c": "void three(void) {\n}\n"},
            "low/a.c: nobody calls three()",
        ),
        (
            {"docs/architecture.md": f"{TABLE}\n{KNOWN_CIRCLE}"},
            "no circle of calls any more: low/a, low/b",
        ),
        ({"new/a.py": ""}, "new/a.py: no part has it"),
        ({"high/base.h": ""}, "one name twice: high/base.h, low/base.h"),
        ({"low/long.c": "\n" * 901}, "low/long.c has 901 lines"),
        ({"tools/two.py": "from base import x\n"}, "tool may not use low"),
        ({"tools/two.py": "import runs\n"}, "tool may not use lab (lab/runs.py)"),
        ({"tools/two.py": "RUN = ['high-one']\n"}, "tool may not run what high has"),
        ({"tools/two.py": "RUN = PLACE / 'runs.py'\n"}, "tool may not run what lab has"),
        ({"tools/two.py": "RUN = ['python3', '-m', 'lab.runs']\n"}, "tool may not run what lab"),
    ],
)
def test_layers_that_do_not(repository: Path, files: dict[str, str], complaint: str) -> None:
    fill(repository, SOUND | files)
    status, said = layers(repository)
    assert status == 1
    assert complaint in said


def drawn(dot: str) -> dict[str, str]:
    """As docs/pictures/draw would draw it, as far as its words go."""
    labels = re.findall(r'label="([^"]*)"', dot)
    lines = [line for label in labels for line in label.split("\\n")]
    svg = "".join(f"<text>{line.replace('-', '&#45;')}</text>" for line in lines)
    return {"docs/pictures/layers.dot": dot, "docs/pictures/layers.svg": svg}


PICTURE = """
a [label="tools/ high/\\ngid-one"]
b [label="low/"]
c [label="libc"]
a -> b -> c
b -> a [style=dashed, label="later"]
"""
WITH_PICTURE = SOUND | {
    "docs/architecture.md": TABLE.replace("| tool | | tools/*.py |", "| tools | | |"),
    "high/meson.build": "executable('gid-one', 'top.c')\n",
    "lab/runs.py": "",
}


def test_a_picture_that_holds(repository: Path) -> None:
    fill(repository, WITH_PICTURE | drawn(PICTURE))
    assert layers(repository) == (0, "")


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        (drawn(PICTURE.replace("tools/ ", "")), "tools/ is not there"),
        (drawn(PICTURE.replace("high/", "high/ higher/")), "there is no folder higher/"),
        (drawn(PICTURE.replace("gid-one", "gid-on")), "gid-one is not there"),
        (drawn(PICTURE.replace("a -> b", "b -> a")), "no part of low/ may use tools/, high/"),
        (
            drawn(PICTURE) | {"docs/pictures/layers.dot": f'{PICTURE}d [label="more"]\n'},
            "is not drawn as it is written",
        ),
        (
            drawn(PICTURE)
            | {"docs/pictures/walks.dot": 'a [label="base\\nlow"]; b [label="two\\nhigh"]'},
            "docs/pictures/walks.dot: high has no two",
        ),
    ],
)
def test_a_picture_that_does_not(repository: Path, files: dict[str, str], complaint: str) -> None:
    fill(repository, WITH_PICTURE | files)
    status, said = layers(repository)
    assert status == 1
    assert complaint in said


def lint(repository: Path, check: str) -> tuple[int, str]:
    script = repository / "scripts/lint"
    command = [script, check]
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}  # the checks look at all files there
    result = subprocess.run(command, capture_output=True, text=True, env=env)
    return result.returncode, result.stdout + result.stderr


LICENCE = "SPDX-License-Identifier"  # in pieces, for it is none of this file
GOOD_C = f"/* {LICENCE}: MIT */\nint main(void) {{\n\treturn 0;\n}}\n"
GOOD_INCLUDES = '#include "a.h"\n\n#include <errno.h>\n#include <stdio.h>\n\n#include "x.h"\n'
GOOD_NULL = "void f(int *p, bool b) {\n\tif (p == NULL || !b || !*p || !g->b) {\n\t}\n}\n"
TEN_WORDS = "Ten words that stand once on a page say enough.\n"

GOOD_PROSE = f"""x(1)

# NAME

The{" word" * 20}.
Then{" word" * 20}.

```
code{" code" * 20}
code{" code" * 20}
```

BGRx{", NV12" * 15},
YUY2{", NV21" * 15}

|  a
:  cell
"""
GOOD_XML = (TOP / "protocol/gid-buffer-v1.xml").read_text()


@pytest.mark.parametrize(
    ("check", "name", "good", "bad"),
    [
        ("format", "a.c", GOOD_C, GOOD_C.replace("\t", "    ")),
        ("files", "a.c", GOOD_C, "int x;\n"),
        ("files", "notes.txt", "x\n", "see {top}/scripts\n"),
        ("files", ".gitignore", "x\n", None),
        ("manuals", "x.1.scd", "x(1)\n\n# NAME\n\nx - y\n", "x\n"),
        ("protocols", "x.xml", GOOD_XML, GOOD_XML.replace("<copyright>", "<copied>")),
        ("shell", "x.sh", "#!/bin/sh\necho hello\n", "#!/bin/sh\nrm $1 foo'\n"),
        ("null", "a.c", GOOD_NULL, GOOD_NULL.replace("p == NULL", "!p")),
        ("null", "a.c", GOOD_NULL, "int f(struct x *p) {\n\treturn p ? p->x : 0;\n}\n"),
        ("null", "a.c", GOOD_NULL, "struct x {\n\tint *y;\n};\nint f() {\n\tif (x->y) {\n"),
        ("spelling", "x.txt", "the house\n", "teh house\n"),
        ("python", "x.py", "x = 1\n", "import os\n"),
        ("includes", "a.c", GOOD_INCLUDES, GOOD_INCLUDES.replace("errno", "string")),
        ("includes", "a.c", GOOD_INCLUDES, GOOD_INCLUDES.replace("\n\n", "\n")),
        (
            "includes",
            "x.c",
            '#include "x.h"\n\n#include <a.h>\n',
            '#include <a.h>\n\n#include "x.h"\n',
        ),
        ("prose", "x.1.scd", GOOD_PROSE, GOOD_PROSE.replace(".\nThen", "\nand then")),
        ("prose", "x.1.scd", GOOD_PROSE, GOOD_PROSE.replace(":  ", ":  word" + " word" * 25)),
        ("prose", "x.1.scd", GOOD_PROSE, GOOD_PROSE + "\n" + "wide " * 24 + "x\n"),
        ("prose", "x.1.scd", GOOD_PROSE, GOOD_PROSE + "\n" + "Words and words.\n" * 41),
        ("prose", "x.md", "Words and words.\n" * 40, "Words and words.\n" * 41),
        ("prose", "x.md", TEN_WORDS, f"{TEN_WORDS}\nor maps. {TEN_WORDS}"),
        ("one_place", "a.c", GOOD_C, "#include <ini.h>\n"),
        ("one_place", "x.py", "x = 1\n", "import configparser\n"),
        ("one_place", "gidd/a.c", GOOD_C, "#include <fnmatch.h>\n"),
        ("one_place", "gidd/core/a.c", GOOD_C, "bool b = config_share_find(c, o, r) != NULL;\n"),
        ("one_place", "bench/x.py", "x = 1\n", 'run(["gidd", f"--config={path}"])\n'),
        ("one_place", "tests/x.py", "x = 1\n", 'run([BUILD / "gidd/gidd", "--config", path])\n'),
        ("one_place", "tests/x.py", "x = 1\n", 'x = """\\\n[domain open]\nnumber=1\n"""\n'),
        ("one_place", "bench/x.py", "x = 1\n", 'x = f"""\n[role {name}]\nx=1\n"""\n'),
        ("one_place", "engine/a.c", GOOD_C, "static const double red = 0.2126;\n"),
        ("one_place", "gst/gidsink/a.c", GOOD_C, "void f(void) { self->wait.woken = 1; }\n"),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_a_check_fails_for_what_is_wrong(
    repository: Path, check: str, name: str, good: str, bad: str | None
) -> None:
    (repository / "scripts").mkdir()
    for file in (
        "scripts/lint",
        "scripts/analyse.py",
        "scripts/pip_package.py",
        "scripts/prose.py",
        ".clang-format",
        "ruff.toml",
    ):
        shutil.copy(TOP / file, repository / file)
    fill(repository, {name: good})
    status, said = lint(repository, check)
    if status == 77:
        pytest.skip(said)
    assert status == 0, said
    if bad is None:
        name, bad = ".hidden", ""
    fill(repository, {name: bad.replace("{top}", str(repository))})
    status, said = lint(repository, check)
    assert status == 1, said


def test_licences(repository: Path) -> None:
    for file in ("lint", "analyse.py", "pip_package.py", "prose.py"):
        (repository / "scripts").mkdir(exist_ok=True)
        shutil.copy(TOP / "scripts" / file, repository / "scripts")
    good = {
        "LICENSES/MIT.txt": "It is free.\n",
        "REUSE.toml": (
            'version = 1\n[[annotations]]\npath = ["**.md", "scripts/*", "REUSE.toml"]\n'
            f'SPDX-FileCopyrightText = "2026 X"\n{LICENCE} = "MIT"\n'
        ),
        "a.md": "# Text\n",
    }
    fill(repository, good)
    status, said = lint(repository, "licences")
    if status == 77:
        pytest.skip(said)
    assert status == 0, said
    for bad in ({"b.png": "x"}, {"a.c": f"/* {LICENCE}: GPL-2.0-only */\n"}):
        fill(repository, bad)
        status, said = lint(repository, "licences")
        assert status == 1 and next(iter(bad)) in said
        (repository / next(iter(bad))).unlink()


def test_subjects(repository: Path) -> None:
    (repository / "scripts").mkdir()
    for file in ("analyse.py", "pip_package.py", "prose.py"):
        shutil.copy(TOP / "scripts" / file, repository / "scripts")

    def commit(subject: str) -> str:
        name = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "safe.directory=*"]
        git = ["git", *name, "-C", repository]
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", subject], check=True)
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True)
        return head.stdout.strip()

    begin = commit("x")
    text = (TOP / "scripts/lint").read_text()
    text, count = re.subn('(?<=SUBJECTS_SINCE = )".*"', f'"{begin}"', text)
    assert count == 1
    (repository / "scripts/lint").write_text(text)
    (repository / "scripts/lint").chmod(0o755)
    commit("gidd, docs: Refuse a window of another size")
    assert lint(repository, "subjects")[0] == 0
    long = "gidd: Refuse " + "a window " * 7
    for bad in ("x", "gidd: refuse a window", "Refuse it", "gidd: Refuse it.", long):
        commit(bad)
        status, said = lint(repository, "subjects")
        assert status == 1
        assert bad.strip() in said
        subprocess.run(["git", "-C", repository, "reset", "-q", "--soft", "HEAD~1"], check=True)


def test_modules(repository: Path) -> None:
    (repository / "scripts").mkdir()
    for file in ("analyse.py", "pip_package.py", "prose.py"):
        shutil.copy(TOP / "scripts" / file, repository / "scripts")
    shutil.copy(TOP / "scripts/lint", repository / "scripts")
    sound = {
        "tests/a/one.py": "from lib.helper import x\n",
        "tests/lib/helper.py": "",
        "tests/b/two.py": "",
    }
    fill(repository, sound)
    assert lint(repository, "modules")[0] == 0
    for name, bad in (
        ("tests/a/one.py", "from two import x\n"),
        ("tests/a/one.py", "import sys\n\nsys.path.append('/x')\n"),
        ("scripts/one.py", "import sys\n\nsys.path[:0] = ['/x']\n"),
    ):
        fill(repository, sound | {name: bad})
        status, said = lint(repository, "modules")
        assert status == 1
        assert name in said
