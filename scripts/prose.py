# SPDX-License-Identifier: MIT
"""The sentences of manuals (scdoc) and documents (Markdown), for ./run lint."""

import re
from collections.abc import Iterator

# A sentence ends here; what follows begins with a capital letter, a figure, or a word in marks.
END = re.compile(r"(?<=[.?!])[\"')*_]*\s+(?=[\"'(\[]*[A-Z0-9*_`])")

# What ends with a full stop and ends no sentence.
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf)\.$")

# A word has a letter or a figure in it.
WORD = re.compile(r"\S*[A-Za-z0-9]\S*")

# Names with commas between are no sentence, however many they are.
LIST = re.compile(r"(?:[\w\\]+, )+[\w\\]+")

ITEM = re.compile(r"(?:[-*.]|\d+\.) ")
CELL = re.compile(r"(?:[|:\[\]]|[\[|\]][<>-])[<>-]? +")  # of a table in scdoc


def paragraphs(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Of each paragraph, item or cell of prose its first line's number, and its text in a line."""
    is_manual = name.endswith(".scd")
    begins = re.compile(f"{ITEM.pattern}|{CELL.pattern}") if is_manual else ITEM
    no_prose = ("#", ";", "```", "[[") if is_manual else ("#", "|", "<", "```")
    literal = False
    lines: list[str] = []
    begun, indent = 0, ""
    for number, line in enumerate([*text.split("\n"), ""], 1):
        stripped = line.strip()
        depth = line[: len(line) - len(line.lstrip())]
        first = begins.match(stripped)
        ends = literal or not stripped or stripped.startswith(no_prose)
        literal ^= stripped.startswith("```")
        if lines and (ends or first or (is_manual and depth.count("\t") != indent.count("\t"))):
            yield begun, " ".join(lines)
            lines = []
        if ends:
            continue
        if not lines:
            begun, indent = number, depth
        lines.append(stripped[first.end() if first else 0 :].removesuffix("++"))


def sentences(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Of each sentence the number of its paragraph's first line, and the sentence."""
    for number, paragraph in paragraphs(name, text):
        begun = ""
        for part in END.split(paragraph):
            begun = f"{begun} {part}".strip()
            if ABBREVIATION.search(begun) is None:
                yield number, begun
                begun = ""
        if begun:
            yield number, begun


def count_words(sentence: str) -> int:
    return 1 if LIST.fullmatch(sentence) else len(WORD.findall(sentence))
