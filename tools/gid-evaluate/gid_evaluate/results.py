# SPDX-License-Identifier: MIT
"""What benchmarks and probes gave: each measured once, however many chapters ask, and kept.

An evaluation may be measured in pieces, over days. What one piece has measured for chapters of
another lies in a folder beside the report, and is used as long as it is of the same gidway.
"""

import datetime
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .outcome import Broke

Key = tuple[str, ...]


@dataclass
class _Found:
    """A value, or what ended its measurement; and when that began, as ISO 8601 has it."""

    when: str
    value: Any = None
    error: Exception | None = None


@dataclass
class Results:
    """`folder`: where they are kept; None: nowhere. `version`: of what measures. `is_anew`: what
    was kept before is not asked."""

    folder: Path | None = None
    version: str = ""
    is_anew: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _locks: dict[Key, threading.Lock] = field(default_factory=dict)
    _found: dict[Key, _Found] = field(default_factory=dict)

    def prepare(self, *, goes_on: bool) -> None:
        """Makes the folder, without what earlier runs have kept unless this one goes on."""
        if not goes_on:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: Key, measure: Callable[[], Any]) -> tuple[Any, str]:
        """What it gave, which JSON can have, and when. What broke, or could not run, does so for
        each chapter: it is not tried again."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            found = self._found.get(key) or self._kept(key)
            if found is None:
                found = _measured(measure)
                self._keep(key, found)
            self._found[key] = found
        if found.error is not None:
            raise found.error
        return found.value, found.when

    def all_of(self, name: str) -> list[tuple[Key, Any]]:
        """Each that was measured under a key that begins so, with its value, the newest first."""
        for path in sorted(self.folder.glob("*.json")) if self.folder is not None else ():
            if (key := _key_of(path)) is not None and key not in self._found:
                if (found := self._kept(key)) is not None:
                    self._found[key] = found
        wanted = [
            (key, found)
            for key, found in list(self._found.items())
            if key[0] == name and found.error is None
        ]
        wanted.sort(key=lambda one: one[1].when, reverse=True)
        return [(key, found.value) for key, found in wanted]

    def _path(self, key: Key) -> Path:
        name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
        return self.folder / f"{name}.json"

    def _kept(self, key: Key) -> _Found | None:
        if self.folder is None or self.is_anew:
            return None
        try:
            kept = json.loads(self._path(key).read_text(encoding="utf-8"))
            if kept["key"] != list(key) or kept["version"] != self.version:
                return None
            error = Broke(kept["broke"]) if kept["broke"] else None
            return _Found(str(kept["when"]), kept["value"], error)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None  # it is measured then

    def _keep(self, key: Key, found: _Found) -> None:
        """What was not there may be there the next time; a mistake may have been mended."""
        if self.folder is None or not isinstance(found.error, (Broke, type(None))):
            return
        broke = str(found.error or "")
        kept = {"key": key, "version": self.version, "when": found.when, "broke": broke}
        path = self._path(key)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(kept | {"value": found.value}), encoding="utf-8")
        temporary.replace(path)


def _measured(measure: Callable[[], Any]) -> _Found:
    when = now()
    try:
        return _Found(when, measure())
    except Exception as error:
        return _Found(when, error=error)


def _key_of(path: Path) -> Key | None:
    try:
        return tuple(json.loads(path.read_text(encoding="utf-8"))["key"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
