# SPDX-License-Identifier: MIT
"""Measures a virtualised cockpit chapter by chapter, and says which goals are met."""
