# SPDX-License-Identifier: MIT
"""How measuring can end without figures: something is not there, or something broke."""

WANTING = 77  # exit status of gidway's own programs where something is not there


class NotRun(Exception):
    """What is not there that a chapter needs, in a sentence: nothing was measured."""


class CannotRun(NotRun):
    """The same of a command on a system."""


class Broke(Exception):
    """How something broke while it was being measured, in a sentence."""
