# SPDX-License-Identifier: MIT
"""Whether the pictures of docs/pictures still say what the code is, for scripts/layers."""

import html
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

NODE = re.compile(r'\b(\w+) \[label="([^"]*)"')
EDGES = re.compile(r"\b\w+(?: -> \w+)+")
PROGRAM = re.compile(r"gid[a-z-]*")  # of ours; others are examples


def lines_of(label: str) -> list[str]:
    return label.split("\\n")


def is_below(part: str, folder: str) -> bool:
    return part == folder or part.startswith(f"{folder}/")


def layer_problems(
    dot: str, uses: dict[str, set[str]], files: Iterable[PurePath], programs: Iterable[str]
) -> Iterator[str]:
    """Of the picture of parts. `uses`: what each may use. Words that end in / are folders; dashed
    arrows are other things than use."""
    labels = dict(NODE.findall(dot))
    folders = {
        node: [word[:-1] for word in re.split(r"\\n|[ ,]+", label) if word.endswith("/")]
        for node, label in labels.items()
    }
    shown = {folder for found in folders.values() for folder in found}
    for part in uses:
        if not any(is_below(part, folder) for folder in shown):
            yield f"{part}/ is not there"
    for folder in sorted(shown):
        if not any(is_below(str(file.parent), folder) for file in files):
            yield f"there is no folder {folder}/"
    words = set(re.findall(r"[\w-]+", " ".join(labels.values()).replace("\\n", " ")))
    for name in sorted(programs):
        if PROGRAM.fullmatch(name) and name not in words:
            yield f"{name} is not there"
    for statement in re.split(r"[;\n]", dot):
        if "dashed" in statement:
            continue
        for chain in EDGES.findall(statement):
            nodes = chain.split(" -> ")
            for one, other in zip(nodes, nodes[1:], strict=False):
                if folders.get(one) and folders.get(other):
                    yield from arrow_problems(folders[one], folders[other], uses)


def arrow_problems(users: list[str], used: list[str], uses: dict[str, set[str]]) -> Iterator[str]:
    for part, may_use in uses.items():
        if any(is_below(part, user) for user in users) and any(
            is_below(other, folder) for other in may_use for folder in used
        ):
            return
    yield f"no part of {'/, '.join(users)}/ may use {'/, '.join(used)}/"


def walk_problems(dot: str, files: list[PurePath]) -> Iterator[str]:
    """A label of two lines, a word and a folder, is a file of that folder."""
    folders = {str(folder) for file in files for folder in file.parents}
    for _, label in NODE.findall(dot):
        match lines_of(label):
            case [word, folder] if folder in folders and " " not in word:
                found = (file.stem for file in files if is_below(str(file.parent), folder))
                if not any(word in stem for stem in found):
                    yield f"{folder} has no {word}"


def drawing_problems(dot: str, svg: str) -> Iterator[str]:
    """Each line of the source is in the drawing, and no other one."""
    texts = [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)", svg)]
    labels = [line for label in re.findall(r'label="([^"]*)"', dot) for line in lines_of(label)]
    if sorted(text.split() for text in texts) != sorted(label.split() for label in labels):
        yield "is not drawn as it is written: docs/pictures/draw"


def problems(
    folder: Path, uses: dict[str, set[str]], files: list[PurePath], programs: Iterable[str]
) -> Iterator[str]:
    """`folder` is docs/pictures; a repository without it has no pictures."""
    for source in sorted(folder.glob("*.dot")):
        dot = source.read_text()
        drawing = source.with_suffix(".svg")
        found = list(drawing_problems(dot, drawing.read_text() if drawing.exists() else ""))
        if source.stem == "layers":
            found += layer_problems(dot, uses, files, programs)
        else:
            found += walk_problems(dot, files)
        yield from (f"docs/pictures/{source.name}: {problem}" for problem in found)
