# SPDX-License-Identifier: MIT
"""Rows of 64-bit integers that stay small in memory however long the log is."""

import os
import tempfile
from array import array
from collections.abc import Iterator

import numpy as np

NONE = -1  # a stamp or a number that the log did not give

_ROWS_IN_MEMORY = 65536
_ROWS_AT_ONCE = 131072


class Table:
    """A growing table with named columns. What does not fit in memory lies in an unnamed file.

    The file is made in $TMPDIR, else in /var/tmp: /tmp is memory itself on many systems.
    """

    def __init__(self, *columns: str) -> None:
        self.columns = columns
        self.rows = array("q")
        self.append = self.rows.extend
        self._file = None
        self._rows_in_file = 0

    def __len__(self) -> int:
        return self._rows_in_file + len(self.rows) // len(self.columns)

    def settle(self) -> None:
        """Move rows out of memory if there are many. Call it now and then, not for each row."""
        if len(self.rows) < _ROWS_IN_MEMORY * len(self.columns):
            return
        if self._file is None:
            folder = os.environ.get("TMPDIR", "/var/tmp")
            self._file = tempfile.TemporaryFile(dir=folder if os.path.isdir(folder) else None)
        self._file.seek(0, os.SEEK_END)
        self.rows.tofile(self._file)
        self._rows_in_file += len(self.rows) // len(self.columns)
        del self.rows[:]

    def chunks(self) -> Iterator[dict[str, np.ndarray]]:
        """The rows in the order they came, some at a time, each chunk by column name."""
        width = len(self.columns)
        if self._file is not None:
            self._file.seek(0)
            left = self._rows_in_file
            while left > 0:
                rows = min(left, _ROWS_AT_ONCE)
                flat = np.fromfile(self._file, dtype=np.int64, count=rows * width)
                yield dict(zip(self.columns, flat.reshape(rows, width).T, strict=True))
                left -= rows
        if self.rows:
            flat = np.array(self.rows, dtype=np.int64)
            yield dict(zip(self.columns, flat.reshape(-1, width).T, strict=True))

    def take_rows(self) -> list[tuple[int, ...]]:
        """Hand out the rows in memory and forget them (for following a log that never ends)."""
        width = len(self.columns)
        flat = self.rows.tolist()
        del self.rows[:]
        return [tuple(flat[i : i + width]) for i in range(0, len(flat), width)]
