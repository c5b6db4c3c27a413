# SPDX-License-Identifier: MIT
"""Somebody who follows a document, for all tests here."""

from collections.abc import Iterator

import pytest
from lib.document_reader import Reader


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = Reader()
    try:
        yield reader
    finally:
        reader.close()
