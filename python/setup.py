# SPDX-License-Identifier: MIT
"""What pyproject.toml cannot express: cffi builds the extension."""

from setuptools import setup

setup(cffi_modules=["build_gid.py:for_setuptools"])
