# SPDX-License-Identifier: MIT
"""How `./run test` finds, runs and counts the tests of meson's build folders."""
