# SPDX-License-Identifier: MIT
"""words.py PROGRAM [WORD…]: whether a program of ours takes these words; or the help they ask for.

PROGRAM begins as ever, and ends when it has parsed its words. That takes nothing but Python,
without its site (-S): what of other packages it imports is empty here, and it can start nothing.

Status 0: it takes them. 2: it does not, and has said so. 3: that was its help. 4: nobody can tell.
"""

import argparse
import contextlib
import os
import runpy
import sys
import types
from importlib.machinery import ModuleSpec

GOOD, WRONG, HELPED, UNKNOWN = 0, 2, 3, 4


class Empty(types.ModuleType):
    """A module of another package, or anything in one."""

    def __init__(self, *_: object) -> None:
        super().__init__("empty")

    def __getattr__(self, name: str) -> "Empty":
        if name.startswith("__"):
            raise AttributeError(name)
        return Empty()

    def __call__(self, *_: object, **__: object) -> "Empty":
        return Empty()

    __or__ = __ror__ = __getitem__ = __call__
    __iter__ = __contains__ = None  # else Python would ask for [0], [1], … without an end


class Finder:
    """Of what is not here. Modules of Python's own may be wanting: it knows what to do."""

    @staticmethod
    def find_spec(name: str, *_: object) -> "ModuleSpec | None":
        is_pythons = name.partition(".")[0] in sys.stdlib_module_names
        return None if is_pythons else ModuleSpec(name, Finder, is_package=True)

    @staticmethod
    def create_module(spec: ModuleSpec) -> Empty:
        return Empty()

    @staticmethod
    def exec_module(module: types.ModuleType) -> None:
        pass


class Answer:
    """What argparse does, told."""

    told = UNKNOWN
    parse, show_help, refuse = (
        getattr(argparse.ArgumentParser, name) for name in ("parse_args", "print_help", "error")
    )


def parse_args(parser: argparse.ArgumentParser, *words: object) -> None:
    Answer.parse(parser, *words)
    Answer.told = GOOD
    sys.exit()


def print_help(parser: argparse.ArgumentParser, _: object = None) -> None:
    Answer.told = HELPED
    Answer.show_help(parser, sys.__stdout__)
    sys.__stdout__.flush()


def error(parser: argparse.ArgumentParser, message: str) -> None:
    Answer.told = WRONG
    Answer.refuse(parser, message)


def start_nothing(event: str, _: object) -> None:
    if event == "subprocess.Popen":
        raise FileNotFoundError(event)


def main() -> int:
    for replaced in (parse_args, print_help, error):
        setattr(argparse.ArgumentParser, replaced.__name__, replaced)
    sys.meta_path.append(Finder)
    sys.addaudithook(start_nothing)
    del sys.argv[0]
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except (Exception, SystemExit):
            pass  # whatever it is, what it did until then is the answer
    return Answer.told


os._exit(main())  # whether or not anybody still reads what was said
