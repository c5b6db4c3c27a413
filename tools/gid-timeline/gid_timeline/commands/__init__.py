# SPDX-License-Identifier: MIT
"""The subcommands: each module adds its options with add() and runs them."""
