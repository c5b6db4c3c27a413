# SPDX-License-Identifier: MIT
"""How `./run assurance` joins requirements and failures with what tests gave."""
