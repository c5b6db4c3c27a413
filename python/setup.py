# SPDX-License-Identifier: MIT
"""What pyproject.toml cannot say: the extension is made by cffi."""

from setuptools import setup

setup(cffi_modules=["build_gid.py:for_setuptools"])
