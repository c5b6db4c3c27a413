# SPDX-License-Identifier: MIT
"""The documents, taken apart: their paragraphs, links and blocks of code.

What follows the language of a block says what tests do with it, and is not shown by browsers:

    ```sh in=1                      run in terminal 1, until its prompt comes back
    ```sh in=each                   run in each terminal, before anything else
    ```sh in=2 until="ready"        started there; the reader goes on when it has written this,
                                    a regular expression; with at=3 when terminal 3 shows it
    ```sh in=1 needs=guest          only where QEMU's guests can run
    ```sh not-run="needs a screen"  not run, for this reason
    ```ini file=cockpit.conf        written to this file
    <!-- stop: 1,2 -->              Ctrl-C in these terminals
"""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from lib.program import TOP

DOCUMENTS = sorted({*TOP.glob("*.md"), *TOP.glob("docs/*.md"), *TOP.glob("*/README.md")})


def anchor(heading: str) -> str:
    """Where a link to it leads, as GitHub has it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


@dataclass
class Block:
    """Code between two fences."""

    line: int  # of the first fence
    language: str
    marks: dict[str, str]
    text: str = ""
    section: str = ""  # the heading that it is under


@dataclass
class Document:
    path: Path
    blocks: list[Block] = field(default_factory=list)
    paragraphs: list[tuple[int, str]] = field(default_factory=list)  # first line, words

    @property
    def name(self) -> str:
        return str(self.path.relative_to(TOP))

    @property
    def anchors(self) -> set[str]:
        """Of its headings."""
        headings = re.findall(r"^#+ (.*)$", self.path.read_text(), re.MULTILINE)
        return set(map(anchor, headings))

    @property
    def links(self) -> list[str]:
        """To files of the project, and to headings."""
        text = "\n".join(words for _, words in self.paragraphs)
        targets = re.findall(r"\]\(([^)\s]+)\)", text)
        return [target for target in targets if not re.match(r"[a-z]+:", target)]


def read_marks(words: str, where: str) -> dict[str, str]:
    pairs = [word.partition("=") for word in shlex.split(words)]
    marks = {key: value for key, _, value in pairs}
    unknown = marks.keys() - {"at", "file", "in", "needs", "not-run", "until"}
    assert not unknown, f"{where}: no such mark: {unknown}"
    return marks


def read_document(path: Path) -> Document:
    document = Document(path)
    block: Block | None = None
    paragraph: list[str] = []
    section = ""

    def end_paragraph(line: int) -> None:
        if paragraph:
            document.paragraphs.append((line - len(paragraph), " ".join(paragraph)))
            paragraph.clear()

    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = re.match(r"\s*```(\S*)\s*(.*)", line)
        stop = re.fullmatch(r"<!-- stop: (\S+) -->", line)
        if fence and block is None:
            end_paragraph(number)
            where = f"{document.name}:{number}"
            block = Block(number, fence[1], read_marks(fence[2], where), section=section)
        elif stop and block is None:
            document.blocks.append(Block(number, "stop", {}, stop[1], section))
        elif fence:
            document.blocks.append(block)
            block = None
        elif block is not None:
            block.text += line + "\n"
        elif not line.strip():
            end_paragraph(number)
        else:
            if re.match(r"#+ ", line):
                section = line.lstrip("# ")
            if re.match(r"\s*([-*] |\d+\. |#|\|)", line):
                end_paragraph(number)
            paragraph.append(line.strip())
    assert block is None, f"{document.name}: the block of line {block.line} has no end"
    end_paragraph(number + 1)
    return document
