# SPDX-License-Identifier: MIT
"""QEMU guests: how one is described, started, talked to and ended."""
