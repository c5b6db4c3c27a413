# SPDX-License-Identifier: MIT
"""Errors that go to other processes."""

import copy
import errno
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import gid
import pytest

ERRORS = [kind for kind in vars(gid).values() if isinstance(kind, type) and issubclass(kind, OSError)]


def make(kind: type[gid.GidError]) -> gid.GidError:
    if kind is gid.ProtectionError:
        return gid.ProtectionError(errno.EBADMSG, "it has changed", "check-mismatch")
    return kind(errno.ESTALE, "it was taken back")


def fail() -> None:
    raise make(gid.ProtectionError)


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_can_be_copied(kind: type[gid.GidError]) -> None:
    error = make(kind)
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(again) is kind and vars(again) == vars(error)
        assert (again.errno, again.strerror, str(again)) == (error.errno, error.strerror, str(error))


def test_errors_come_out_of_a_pool() -> None:
    """One that could not be made again broke the pool, for all that is done in it."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        with pytest.raises(gid.ProtectionError, match="it has changed") as caught:
            pool.submit(fail).result(60)
        assert caught.value.reason == "check-mismatch"
        assert pool.submit(int).result(60) == 0
