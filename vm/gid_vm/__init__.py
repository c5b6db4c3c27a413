# SPDX-License-Identifier: MIT
"""QEMU guests: their description, start, control and end."""
