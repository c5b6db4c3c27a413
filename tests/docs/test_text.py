# SPDX-License-Identifier: MIT
"""What holds for the text of all documents."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from lib.documents import DOCUMENTS, Document, anchor, read_document
from lib.program import BUILD, TOP

WORDS_MAX = 120  # of a paragraph
README_MAX = 120  # lines


@pytest.fixture(params=DOCUMENTS, ids=lambda path: str(path.relative_to(TOP)))
def document(request: pytest.FixtureRequest) -> Document:
    return read_document(request.param)


def test_paragraphs_are_short(document: Document) -> None:
    long = [
        f"{document.name}:{line}: {len(words.split())} words"
        for line, words in document.paragraphs
        if not words.startswith("|") and len(words.split()) > WORDS_MAX
    ]
    assert not long, "\n".join(long)


def test_links_lead_somewhere(document: Document) -> None:
    for link in document.links:
        name, _, anchor = link.partition("#")
        path = (document.path.parent / name).resolve() if name else document.path
        assert path.exists(), f"{document.name}: {link}: there is no such file"
        if anchor:
            anchors = read_document(path).anchors
            assert anchor in anchors, f"{document.name}: {link}: there is no such heading"


def project_folders() -> set[str]:
    """Not what users made beside them, such as out/. A copy without git has nothing of users."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=TOP, capture_output=True, text=True).stdout
    return {name.partition("/")[0] for name in listed.split("\0") if "/" in name} or {
        path.name for path in TOP.iterdir() if path.is_dir()
    }


def test_files_that_are_named_exist(document: Document) -> None:
    """Paths in `…` that begin with a folder of the project; `*` stands for anything."""
    folders = project_folders()
    text = " ".join(words for _, words in document.paragraphs)
    for word in re.findall(r"`([^`\s]+)`", text):
        first, slash, rest = word.partition("/")
        if slash and rest and first in folders and first != "build" and "…" not in word:
            name = re.sub(r"\{.*\}.*|[A-Z]{4,}.*", "*", word.partition("::")[0]).rstrip("/")
            assert list(TOP.glob(name)) or list(TOP.glob(name + ".[ch]")), (
                f"{document.name}: {word}: there is no such file"
            )


def test_tests_that_are_named_exist(document: Document) -> None:
    """`tests/…/FILE::FUNCTION`."""
    text = " ".join(words for _, words in document.paragraphs)
    named = re.findall(r"`(tests/[^`\s]+)::(\w+)`", text)
    for name, function in named:
        source = (TOP / name).read_text()
        begin = rf"^(?:def|static void|int) {function}\("
        assert re.search(begin, source, re.MULTILINE), f"{document.name}: {name}::{function}"
    assert len(named) > 50 or document.path != TOP / "docs/security.md"


TEST_NAME = r"\"[^\"\n`]*\"|'[^'\n`]*'|[\w./-]+"


def test_tests_that_are_to_be_run_exist(document: Document) -> None:
    """`./run test SUITE/NAME`, as meson knows them."""
    known = json.loads((BUILD / "meson-info/intro-tests.json").read_text())
    names = {
        f"{suite.rpartition(':')[2]}/{test['name']}" for test in known for suite in test["suite"]
    }
    text = document.path.read_text()
    for words in re.findall(rf"\./run test((?: (?:{TEST_NAME}))+)", text):
        for word in re.findall(TEST_NAME, words):
            name = word.strip("\"'")
            assert "/" not in name or name in names, f"{document.name}: {name}: no such test"


def test_commands_are_run_or_say_why_not(document: Document) -> None:
    for block in document.blocks:
        if block.language == "sh":
            marks = block.marks.keys() & {"in", "not-run"}
            assert len(marks) == 1, f"{document.name}:{block.line}: in=… or not-run=…"


def test_what_no_test_runs_is_told_to_readers(document: Document) -> None:
    """A mark is for tests only. Where it names none, the sentence before or behind says so."""
    for block in document.blocks:
        if "test" in block.marks.get("not-run", "test") or "./run " in block.marks["not-run"]:
            continue
        before = [words for line, words in document.paragraphs if line < block.line][-1:]
        behind = [words for line, words in document.paragraphs if line > block.line][:1]
        assert any("o test runs this" in words for words in before + behind), (
            f"{document.name}:{block.line}: say that no test runs this"
        )


LANGUAGES = {*"c cmake ini make meson python rust sh stop text".split()}  # text: none


def test_each_block_says_what_it_is(document: Document) -> None:
    for block in document.blocks:
        assert block.language in LANGUAGES, f"{document.name}:{block.line}: {block.language!r}"
        assert block.language != "text" or "$ " not in block.text, (
            f"{document.name}:{block.line}: commands are of the language sh"
        )


def test_the_readme_is_short() -> None:
    assert len((TOP / "README.md").read_text().splitlines()) <= README_MAX


def test_every_document_is_in_the_index() -> None:
    index = read_document(TOP / "docs/README.md")
    listed = {(index.path.parent / link.partition("#")[0]).resolve() for link in index.links}
    missing = {
        str(path.relative_to(TOP))
        for path in map(Path.resolve, DOCUMENTS)
        if path not in listed and path != index.path
    }
    assert not missing, f"docs/README.md does not name {missing}"


def test_every_manual_is_in_the_index() -> None:
    index = (TOP / "docs/README.md").read_text()
    pages = {f"`{page.stem[:-2]}({page.stem[-1]})`" for page in TOP.glob("[!b]*/**/*.scd")}
    assert "`gidctl(1)`" in pages
    assert not {page for page in pages if page not in index}


def test_every_benchmark_is_in_the_table() -> None:
    table = read_document(TOP / "docs/benchmarks.md")
    rows = " ".join(words for _, words in table.paragraphs if words.startswith("|"))
    benches = {path.stem for path in TOP.glob("bench/*.py") if os.access(path, os.X_OK)}
    assert "isolation" in benches
    assert not {name for name in benches if not re.search(rf"`{name}`|bench {name}\b", rows)}


HEADINGS_MAX = 6  # of a page without a list of them


def test_a_long_page_begins_with_its_headings(document: Document) -> None:
    """And a list of them has all of them, in their words."""
    text = re.sub(r"^```.*?^```", "", document.path.read_text(), flags=re.M | re.S)
    begin, *rest = re.split(r"^## ", text, flags=re.M)
    headings = [section.partition("\n")[0] for section in rest]
    listed = re.findall(r"^- \[(.*?)\]\(#[^()]*\)(?::.*)?$", begin, re.M)
    assert listed in ([], headings), f"{document.name}: its list is not that of its headings"
    linked = set(re.findall(r"\]\(#([^()]*)\)", begin))
    missing = set(map(anchor, headings)) - linked
    assert len(headings) <= HEADINGS_MAX or not missing, f"{document.name}: no link to {missing}"


def literals() -> str:
    """The texts of all programs, with what they are told by `%` left out."""
    found = []
    for pattern in (
        "*/*.[ch]",
        "clients/*/*.c",
        "cluster/*/*.[ch]",
        "common/*/*.c",
        "gidd/*/*.[ch]",
        "gst/*/*.c",
        "tools/*/*.c",
    ):
        for path in TOP.glob(pattern):
            source = re.sub(r'"\s*\n\s*"', "", path.read_text())
            found += re.findall(r'"((?:[^"\\\n]|\\.)*)"', source)
    for path in (*TOP.glob("tools/*/*/*.py"), *TOP.glob("vm/gid_vm/**/*.py")):
        found.append(re.sub(r'"\s*\n\s*f?"', "", path.read_text()))
    for path in (TOP / "run", TOP / "scripts/debian-root"):
        found.append(path.read_text().replace("\\\n", ""))
    return "\n".join(found)


def test_messages_are_those_of_the_programs() -> None:
    """Each message that troubleshooting.md explains is one that a program of ours has."""
    known = literals()
    explained = 0
    for line, words in read_document(TOP / "docs/troubleshooting.md").paragraphs:
        cell = words.split("|")[1].strip() if words.startswith("| `") else ""
        if re.search(r"\(from [\w' ]+\)$", cell):  # of other programs
            continue
        for message in re.findall(r"`([^`]+)`", cell):
            explained += 1
            assert message in known, f"line {line}: no program says {message!r}"
    assert explained > 60
