# SPDX-License-Identifier: MIT
"""The recorder in Python, of a stream that has no frame."""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from lib.program import TOP


class Domain:
    """And its consumer, whose stream ends at once."""

    stats = {"missed": 0}

    def __enter__(self) -> "Domain":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def consumer(self, *_: object, **__: object) -> "Domain":
        return self

    def __iter__(self) -> "Domain":
        return self

    def __next__(self) -> None:
        raise StopIteration


def test_a_stream_that_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "gid", SimpleNamespace(Domain=Domain, Frame=object))
    monkeypatch.setattr(sys, "argv", ["record.py", "bar", "3", str(tmp_path / "film.raw")])
    runpy.run_path(str(TOP / "examples/python/record.py"), run_name="__main__")
    assert capsys.readouterr().out == "0 frames, 0 missed\n"
