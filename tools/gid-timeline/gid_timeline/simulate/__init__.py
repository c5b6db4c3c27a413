# SPDX-License-Identifier: MIT
"""Pacing policies in virtual time, with a vblank grid and misses that headless Weston lacks."""
